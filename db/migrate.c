/* migrate.c — numbered, checksummed, forward-only migrations.
 *
 * The version mark (PRAGMA user_version and the row in schema_migrations) is written in the transaction of the
 * migration's own statements, so a process killed at any point leaves either the old schema or the new one.
 */
#include "db/migrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sha256.h"

static const char marks_sql[] = "CREATE TABLE IF NOT EXISTS schema_migrations ("
                                "version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, "
                                "applied_at_ms INTEGER NOT NULL) STRICT";

static int version_of(const char *name)
{
    int v = 0;
    for (int i = 0; i < 4; i++) {
        if (name[i] < '0' || name[i] > '9')
            return -1;
        v = v * 10 + (name[i] - '0');
    }
    return name[4] == '_' ? v : -1;
}

int migrate_newest(const struct embed_table *migrations, int *ret, struct err *err)
{
    for (size_t i = 0; i < migrations->n; i++)
        if (version_of(migrations->files[i].name) != (int)i + 1)
            return err_set(err, ERR_INTERNAL, "migration %s: expected number %04zu", migrations->files[i].name, i + 1);
    *ret = (int)migrations->n;
    return 0;
}

int migrate_inspect(struct conn *c, const struct embed_table *migrations, int *ret_version, struct err *err)
{
    int newest = 0;
    int64_t version = 0, application = 0, objects = 0;
    if (migrate_newest(migrations, &newest, err) != 0 || conn_int64(c, "PRAGMA user_version", &version, err) != 0 ||
        conn_int64(c, "PRAGMA application_id", &application, err) != 0 ||
        conn_int64(c, "SELECT count(*) FROM sqlite_schema", &objects, err) != 0)
        return -1;
    if (application != DB_APPLICATION_ID && (application != 0 || objects != 0))
        return err_set(err, ERR_CONFLICT, "the file is a database of another program");
    if (version > newest)
        return err_set(err, ERR_UNSUPPORTED,
                       "the database has schema %lld, this binary knows %d: a newer binary made it", (long long)version,
                       newest);
    *ret_version = (int)version;
    return 0;
}

static int check_applied(struct conn *c, const struct embed_table *migrations, int version, struct err *err)
{
    _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
    if (version == 0)
        return 0;
    if (conn_prepare(c, "SELECT version, sha256 FROM schema_migrations ORDER BY version", &stmt, err) != 0)
        return -1;
    int seen = 0, rc;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        char hex[SHA256_HEX];
        if (sqlite3_column_int(stmt, 0) != seen + 1 || seen >= version)
            return err_set(err, ERR_CONFLICT, "migration marks have a gap after %04d", seen);
        sha256_hex(migrations->files[seen].data, migrations->files[seen].size, hex);
        if (strcmp(hex, (const char *)sqlite3_column_text(stmt, 1)) != 0)
            return err_set(err, ERR_CONFLICT, "migration %s was applied with another text",
                           migrations->files[seen].name);
        seen++;
    }
    if (rc != SQLITE_DONE)
        return conn_fail(c, rc, "read migration marks", err);
    if (seen != version)
        return err_set(err, ERR_CONFLICT, "schema version is %d, but %d migrations are marked", version, seen);
    return 0;
}

static int execute(struct conn *c, const struct embed_file *file, struct err *err)
{
    char *sql = strndup((const char *)file->data, file->size);
    if (!sql)
        return err_set(err, ERR_NOMEM, "migration text");
    int rc = sqlite3_exec(c->handle, sql, NULL, NULL, NULL);
    free(sql);
    return rc == SQLITE_OK ? 0 : conn_fail(c, rc, file->name, err);
}

static int mark(struct conn *c, const struct embed_file *file, int version, struct err *err)
{
    _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
    char hex[SHA256_HEX], pragma[64];
    struct timespec now;
    if (conn_prepare(c, "INSERT INTO schema_migrations (version, name, sha256, applied_at_ms) VALUES (?, ?, ?, ?)",
                     &stmt, err) != 0)
        return -1;
    sha256_hex(file->data, file->size, hex);
    clock_gettime(CLOCK_REALTIME, &now);
    sqlite3_bind_int(stmt, 1, version);
    sqlite3_bind_text(stmt, 2, file->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 3, hex, -1, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 4, (sqlite3_int64)now.tv_sec * 1000 + now.tv_nsec / 1000000);
    if (conn_step_done(c, stmt, err) != 0)
        return -1;
    snprintf(pragma, sizeof pragma, "PRAGMA user_version=%d", version);
    return conn_run(c, pragma, err);
}

static int no_dangling_rows(struct conn *c, struct err *err)
{
    _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
    if (conn_prepare(c, "PRAGMA foreign_key_check", &stmt, err) != 0)
        return -1;
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        return err_set(err, ERR_CORRUPT, "a row of %s refers to nothing", (const char *)sqlite3_column_text(stmt, 0));
    return rc == SQLITE_DONE ? 0 : conn_fail(c, rc, "check references", err);
}

static int apply(struct conn *c, const struct embed_file *file, int version, struct err *err)
{
    char application[64];
    snprintf(application, sizeof application, "PRAGMA application_id=%d", DB_APPLICATION_ID);
    if (conn_run(c, "BEGIN IMMEDIATE", err) != 0)
        return -1;
    if (conn_run(c, application, err) != 0 || conn_run(c, marks_sql, err) != 0 || execute(c, file, err) != 0 ||
        mark(c, file, version, err) != 0 || no_dangling_rows(c, err) != 0 || conn_run(c, "COMMIT", err) != 0) {
        conn_rollback(c);
        return -1;
    }
    return 0;
}

int migrate_run(struct conn *c, const struct embed_table *migrations, struct err *err)
{
    int version = 0, rc = 0;
    if (migrate_inspect(c, migrations, &version, err) != 0 || check_applied(c, migrations, version, err) != 0)
        return -1;
    if ((size_t)version == migrations->n)
        return 0;
    /* a no-op inside a transaction, therefore here: a migration may rebuild a table that others refer to */
    if (conn_run(c, "PRAGMA foreign_keys=OFF", err) != 0)
        return -1;
    for (size_t i = (size_t)version; i < migrations->n && rc == 0; i++)
        rc = apply(c, &migrations->files[i], (int)i + 1, err);
    if (conn_run(c, "PRAGMA foreign_keys=ON", rc == 0 ? err : NULL) != 0)
        rc = -1;
    return rc;
}

static int fingerprint(struct conn *c, char out[SHA256_HEX], struct err *err)
{
    static const char sql[] = "SELECT type, name, tbl_name, ifnull(sql, '') FROM sqlite_schema "
                              "WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name";
    static const char digits[] = "0123456789abcdef";
    _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
    struct sha256 hash;
    unsigned char bytes[SHA256_BYTES];
    int rc;
    if (conn_prepare(c, sql, &stmt, err) != 0)
        return -1;
    sha256_init(&hash);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
        for (int i = 0; i < 4; i++)
            sha256_add(&hash, sqlite3_column_text(stmt, i), (size_t)sqlite3_column_bytes(stmt, i) + 1);
    if (rc != SQLITE_DONE)
        return conn_fail(c, rc, "read schema", err);
    sha256_end(&hash, bytes);
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[SHA256_HEX - 1] = '\0';
    return 0;
}

int migrate_verify(struct conn *c, const struct embed_table *migrations, struct err *err)
{
    char stored[SHA256_HEX], ours[SHA256_HEX];
    struct conn fresh;
    if (fingerprint(c, stored, err) != 0 || conn_open(&fresh, ":memory:", CONN_WRITER, err) != 0)
        return -1;
    int rc = migrate_run(&fresh, migrations, err);
    if (rc == 0)
        rc = fingerprint(&fresh, ours, err);
    conn_close(&fresh);
    if (rc == 0 && strcmp(stored, ours) != 0)
        rc = err_set(err, ERR_CORRUPT, "the stored schema is not the one the migrations make: changed by hand?");
    return rc;
}
