/* fuzz_catalog.h — the shipped catalog for fuzz entries, made once a process. */
#ifndef SUANPAN_TESTS_FUZZ_FUZZ_CATALOG_H
#define SUANPAN_TESTS_FUZZ_FUZZ_CATALOG_H

#include <stdlib.h>

#include "api/api.h"
#include "db/db.h"
#include "planner/offers/engine.h"

extern const struct embed_table embed_migrations, embed_seed;

static inline const struct catalog *fuzz_catalog(void)
{
    static struct catalog *catalog;
    if (!catalog) {
        struct err err;
        struct db *db = NULL;
        struct db_config config = {.path = ":memory:", .migrations = &embed_migrations, .seed = &embed_seed};
        api_init();
        if (db_sqlite.open(&config, &db, &err) || db_sqlite.load_catalog(db, &catalog, &err) ||
            engine_bind(catalog, &err))
            abort();
        db_sqlite.close(db);
    }
    return catalog;
}

#endif
