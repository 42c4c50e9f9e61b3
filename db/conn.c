/* conn.c — opening and driving one SQLite connection.
 *
 * Connections are opened without SQLite's own mutexes: each is used under the engine's mutex only (sqlite.c). All
 * writes and all checkpoints go through the one writer, because SQLite before 3.51.3 can corrupt a WAL database when
 * a checkpoint and another connection's commit race (docs/storage.md).
 */
#include "db/conn.h"

#include <limits.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"

static int on_busy(void *data, int tries)
{
    struct conn *c = data;
    const int nap_ms = 5;
    c->busy_retries++;
    if (tries * nap_ms >= DB_BUSY_TIMEOUT_MS)
        return 0;
    nanosleep(&(struct timespec){.tv_nsec = nap_ms * 1000000L}, NULL);
    return 1;
}

/* A row that cannot be, a reference to nothing, or a clash with what is there. */
static enum err_code constraint_code(int rc)
{
    if (rc == SQLITE_CONSTRAINT_CHECK || rc == SQLITE_CONSTRAINT_NOTNULL || rc == SQLITE_CONSTRAINT_DATATYPE)
        return ERR_INVALID;
    return rc == SQLITE_CONSTRAINT_FOREIGNKEY ? ERR_NOT_FOUND : ERR_CONFLICT;
}

static enum err_code code_of(int rc)
{
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return ERR_BUSY;
    case SQLITE_FULL:
        return ERR_FULL;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return ERR_CORRUPT;
    case SQLITE_CONSTRAINT:
        return constraint_code(rc);
    case SQLITE_NOMEM:
        return ERR_NOMEM;
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return ERR_IO;
    default:
        return ERR_INTERNAL;
    }
}

int conn_fail(struct conn *c, int rc, const char *what, struct err *err)
{
    enum err_code code = code_of(rc);
    if (code == ERR_CORRUPT)
        c->corrupt = true;
    return err_set(err, code, "%s: %s", what, c->handle ? sqlite3_errmsg(c->handle) : sqlite3_errstr(rc));
}

static int on_commit(void *data, sqlite3 *handle, const char *name, int pages)
{
    struct conn *c = data;
    (void)handle;
    (void)name;
    c->wal_pages = pages;
    return SQLITE_OK;
}

static int pragmas(struct conn *c, const char *const *list, struct err *err)
{
    for (; *list; list++)
        if (conn_run(c, *list, err) != 0)
            return -1;
    return 0;
}

static int harden(struct conn *c, enum conn_role role, struct err *err)
{
    static const struct {
        int op, value;
    } options[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_DQS_DDL, 0},
                   {SQLITE_DBCONFIG_DQS_DML, 0},        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                   {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_FKEY, 1}};
    static const char *const common[] = {"PRAGMA cell_size_check=ON", "PRAGMA temp_store=MEMORY", NULL};
    static const char *const reader[] = {"PRAGMA query_only=ON", NULL};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        int rc = sqlite3_db_config(c->handle, options[i].op, options[i].value, (int *)NULL);
        if (rc != SQLITE_OK)
            return conn_fail(c, rc, "configure", err);
    }
    sqlite3_limit(c->handle, SQLITE_LIMIT_SQL_LENGTH, 256 * 1024);
    sqlite3_limit(c->handle, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_busy_handler(c->handle, on_busy, c);
    sqlite3_wal_hook(c->handle, on_commit, c); /* also takes the place of automatic checkpoints */
    if (pragmas(c, common, err) != 0)
        return -1;
    return role == CONN_READER ? pragmas(c, reader, err) : 0;
}

static int open_with(struct conn *c, const char *path, int flags, enum conn_role role, struct err *err)
{
    *c = (struct conn){0};
    int rc = sqlite3_open_v2(path, &c->handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (rc != SQLITE_OK) {
        conn_fail(c, rc, "open", err);
        conn_close(c);
        return -1;
    }
    if (harden(c, role, err) != 0) {
        conn_close(c);
        return -1;
    }
    return 0;
}

int conn_open(struct conn *c, const char *path, enum conn_role role, struct err *err)
{
    return open_with(c, path, role == CONN_READER ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE, role, err);
}

int conn_open_immutable(struct conn *c, const char *path, struct err *err)
{
    struct buf uri;
    buf_init(&uri, 4 * PATH_MAX);
    buf_adds(&uri, "file:");
    for (const char *p = path; *p; p++)
        if (*p == '?' || *p == '#' || *p == '%')
            buf_addf(&uri, "%%%02X", (unsigned)*p);
        else
            buf_addc(&uri, *p);
    buf_adds(&uri, "?immutable=1");
    int rc = buf_failed(&uri) ? err_set(err, ERR_RANGE, "the database path is too long")
                              : open_with(c, uri.data, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, CONN_READER, err);
    buf_done(&uri);
    return rc;
}

/* Some file systems have no shared memory; there SQLite stays in another mode without calling it an error. */
static int expect_wal(struct conn *c, struct err *err)
{
    _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
    if (conn_prepare(c, "PRAGMA journal_mode", &stmt, err) != 0)
        return -1;
    int rc = sqlite3_step(stmt);
    if (rc != SQLITE_ROW)
        return conn_fail(c, rc, "journal mode", err);
    const char *mode = (const char *)sqlite3_column_text(stmt, 0);
    if (strcmp(mode, "wal") == 0 || strcmp(mode, "memory") == 0)
        return 0;
    return err_set(err, ERR_IO, "no write-ahead log on this file system (journal mode is %s)", mode);
}

int conn_begin_service(struct conn *c, struct err *err)
{
    /* no automatic checkpoints: the hook set by harden has taken their place, and setting the pragma would undo it */
    static const char *const list[] = {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL",
                                       "PRAGMA journal_size_limit=16777216", NULL};
    return pragmas(c, list, err) == 0 ? expect_wal(c, err) : -1;
}

int conn_checkpoint(struct conn *c, int mode, struct err *err)
{
    /* never wait for a reader: the next checkpoint folds in what this one left, and writes would stand still */
    sqlite3_busy_handler(c->handle, NULL, NULL);
    int rc = sqlite3_wal_checkpoint_v2(c->handle, NULL, mode, NULL, NULL);
    sqlite3_busy_handler(c->handle, on_busy, c);
    return rc == SQLITE_OK || (rc & 0xff) == SQLITE_BUSY ? 0 : conn_fail(c, rc, "checkpoint", err);
}

void conn_close(struct conn *c)
{
    sqlite3_close_v2(c->handle);
    c->handle = NULL;
}

int conn_prepare(struct conn *c, const char *sql, sqlite3_stmt **ret, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(c->handle, sql, -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return conn_fail(c, rc, "prepare", err);
    *ret = stmt;
    return 0;
}

int conn_step_done(struct conn *c, sqlite3_stmt *stmt, struct err *err)
{
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_DONE)
        return 0;
    if (rc == SQLITE_ROW)
        return err_set(err, ERR_INTERNAL, "a row where none was expected");
    return conn_fail(c, rc, "write", err);
}

int conn_run(struct conn *c, const char *sql, struct err *err)
{
    _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
    if (conn_prepare(c, sql, &stmt, err) != 0)
        return -1;
    int rc = sqlite3_step(stmt);
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : conn_fail(c, rc, sql, err);
}

int conn_int64(struct conn *c, const char *sql, int64_t *ret, struct err *err)
{
    _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
    if (conn_prepare(c, sql, &stmt, err) != 0)
        return -1;
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_DONE)
        return err_set(err, ERR_NOT_FOUND, "no row");
    if (rc != SQLITE_ROW)
        return conn_fail(c, rc, "read", err);
    *ret = sqlite3_column_int64(stmt, 0);
    return 0;
}

void conn_rollback(struct conn *c)
{
    if (c->handle && !sqlite3_get_autocommit(c->handle))
        conn_run(c, "ROLLBACK", NULL);
}
