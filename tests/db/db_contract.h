/* db_contract.h — what every storage engine must do, written against db_ops and nothing else.
 *
 * An engine's test file lists db_contracts[] and runs each with the engine (test_sqlite_contract.c). A second engine is
 * held to the same list by giving its own `ops` and `new_place`.
 */
#ifndef SUANPAN_TESTS_DB_DB_CONTRACT_H
#define SUANPAN_TESTS_DB_DB_CONTRACT_H

#include <stddef.h>

#include "db/db.h"

struct engine {
    const struct db_ops *ops;
    /* A place (path, connection string) without a database in it, inside `folder`. */
    void (*new_place)(const char *folder, const char *name, char out[300]);
    /* Exclusive to one server at a time? */
    int one_server;
};

struct contract {
    const char *name;
    void (*run)(const struct engine *e, const char *folder);
};

extern const struct contract db_contracts[];
extern const size_t db_contracts_n;

#endif
