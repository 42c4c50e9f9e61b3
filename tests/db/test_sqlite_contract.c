/* test_sqlite_contract.c — holds the sqlite engine to the storage contract. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/db/db_contract.h"
#include "tests/db/scratch.h"

static void new_place(const char *folder, const char *name, char out[300])
{
    snprintf(out, 300, "%s/%s.db", folder, name);
}

Test(sqlite, keeps_the_contract)
{
    static const struct engine engine = {&db_sqlite, new_place, 1};
    for (size_t i = 0; i < db_contracts_n; i++) {
        struct scratch s;
        scratch_make(&s);
        fprintf(stderr, "  contract: %s\n", db_contracts[i].name);
        db_contracts[i].run(&engine, s.folder);
        scratch_remove(&s);
    }
}
