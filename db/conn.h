/* conn.h — one SQLite connection: how it is opened, prepared, run, and how its errors read. */
#ifndef SUANPAN_DB_CONN_H
#define SUANPAN_DB_CONN_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define DB_APPLICATION_ID 0x53504e31 /* "SPN1", in the file header */
#define DB_BUSY_TIMEOUT_MS 2000

struct conn {
    sqlite3 *handle;
    uint64_t busy_retries; /* waits for a lock; should stay 0 */
    bool corrupt;          /* some call met corruption */
    int wal_pages;         /* in the write-ahead log after the last commit */
};

enum conn_role { CONN_WRITER, CONN_READER };

/* Opens and hardens. The writer's file exists already; journal and durability are set by conn_begin_service. */
int conn_open(struct conn *c, const char *path, enum conn_role role, struct err *err);
/* A reader of a file in a folder that cannot be written: there is no room for the log's shared memory, and nobody who
 * could change the file. */
int conn_open_immutable(struct conn *c, const char *path, struct err *err);
/* WAL, synchronous=FULL, no automatic checkpoint: only once it is known that the file is ours and not newer. */
int conn_begin_service(struct conn *c, struct err *err);
/* SQLITE_CHECKPOINT_PASSIVE or _TRUNCATE; on the writer only. */
int conn_checkpoint(struct conn *c, int mode, struct err *err);
void conn_close(struct conn *c); /* harmless when never opened */

/* Translates the connection's last error; `what` says what was tried. Notes corruption. Returns -1. */
int conn_fail(struct conn *c, int rc, const char *what, struct err *err);

int conn_prepare(struct conn *c, const char *sql, sqlite3_stmt **ret, struct err *err);
/* Steps a statement that yields no row. */
int conn_step_done(struct conn *c, sqlite3_stmt *stmt, struct err *err);
/* One statement without parameters or rows ("BEGIN IMMEDIATE", ...). */
int conn_run(struct conn *c, const char *sql, struct err *err);
/* First column of the first row of a statement without parameters; ERR_NOT_FOUND without a row. */
int conn_int64(struct conn *c, const char *sql, int64_t *ret, struct err *err);
/* Ends a transaction after a failure; says nothing of its own. */
void conn_rollback(struct conn *c);

static inline void stmt_finalize(sqlite3_stmt **stmt)
{
    sqlite3_finalize(*stmt);
}
#define _cleanup_stmt_ __attribute__((cleanup(stmt_finalize)))

#endif
