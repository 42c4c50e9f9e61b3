/* db.h — storage behind one interface. SQL never leaves this folder; JSON, HTTP and logging never enter it.
 *
 * One process, one `struct db`. The sqlite engine keeps one writer connection (also the only checkpointer) and
 * read-only readers; a lock file refuses a second server. Calls may come from any thread unless they say otherwise:
 * each serialises on the engine's own mutex. Errors: ERR_NOT_FOUND, ERR_CONFLICT, ERR_BUSY, ERR_FULL, ERR_CORRUPT,
 * ERR_IO, ERR_UNSUPPORTED (database from a newer binary).
 */
#ifndef SUANPAN_DB_DB_H
#define SUANPAN_DB_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/embed.h"
#include "base/err.h"
#include "planner/core/catalog.h"

struct db;

struct db_config {
    const char *path;                     /* file; ":memory:" is allowed in tests */
    const struct embed_table *migrations; /* "0001_catalog.sql", ... */
    const struct embed_table *seed;       /* "gpus.csv", ...; loaded when the catalog is empty. NULL = no seeding */
    bool read_only;                       /* `plan`, `check`: no lock, no migration, no seeding */
    bool create;                          /* create the file when it is missing */
    int64_t quick_check_max_bytes;        /* skip quick_check above this size; 0 = always run it */
};

struct db_status {
    int schema_version;
    int64_t catalog_revision;
    bool writable;
    bool corrupt; /* a read or write hit corruption: readiness must go red */
    uint64_t busy_retries;
};

/* What an engine provides; contract tests (tests/db/db_contract.c) run against this table. */
struct db_ops {
    const char *name; /* "sqlite" */
    int (*open)(const struct db_config *config, struct db **ret, struct err *err);
    void (*close)(struct db *db);
    int (*status)(struct db *db, struct db_status *ret, struct err *err);
    /* A new snapshot in a new arena owned by *ret (catalog->arena); indexed (catalog_index), constants not bound. */
    int (*load_catalog)(struct db *db, struct catalog **ret, struct err *err);
    int (*catalog_revision)(struct db *db, int64_t *ret, struct err *err);
    /* Appends prices (never changes one): closes the open interval of the same subject/mode/unit/class at
     * effective_from and raises the catalog revision, all in one transaction. ERR_CONFLICT where it would change
     * history or an id is taken, ERR_NOT_FOUND for a reference to nothing, ERR_INVALID for a row that cannot be (a
     * price of 0 that is neither free nor quote_only, a derived one without its rule, a missing date). */
    int (*append_prices)(struct db *db, const struct price *prices, size_t n, int64_t *ret_revision, struct err *err);
    int (*backup)(struct db *db, const char *to_path, struct err *err); /* integrity-checked before it returns 0 */
    int (*check)(struct db *db, struct err *err);    /* integrity, foreign keys, schema against the embedded one */
    int (*maintain)(struct db *db, struct err *err); /* checkpoint, optimize: to be called when idle */
};

extern const struct db_ops db_sqlite;

#endif
