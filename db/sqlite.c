/* sqlite.c — the sqlite engine behind db_ops: who may write, who may read, in which order things open and close.
 *
 * One writer connection (all writes, all checkpoints) and one read-only reader, each under its own mutex, so that a
 * snapshot can be loaded while prices are appended. A ":memory:" database has only the writer, shared under one lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/backup.h"
#include "db/catalog_load.h"
#include "db/conn.h"
#include "db/db.h"
#include "db/lockfile.h"
#include "db/migrate.h"
#include "db/price_append.h"
#include "db/seed.h"

#define WAL_PAGES_MAX 1000

struct side {
    pthread_mutex_t mutex;
    struct conn conn;
};

struct db {
    struct side writer, reader;
    struct side *read;  /* &reader, or &writer for ":memory:" */
    struct side *write; /* &writer, or NULL when read-only */
    const struct embed_table *migrations;
    int lock_fd;
};

static struct conn *take(struct side *s)
{
    pthread_mutex_lock(&s->mutex);
    return &s->conn;
}

static void give(struct side *s)
{
    pthread_mutex_unlock(&s->mutex);
}

static bool in_memory(const char *path)
{
    return strcmp(path, ":memory:") == 0;
}

/* The file is made by us, before SQLite opens it, so that its mode (and that of -wal and -shm) is ours alone. */
static int ensure_file(const char *path, bool create, int64_t *ret_size, struct err *err)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        if (errno != ENOENT)
            return err_set(err, ERR_IO, "cannot look at the database file (errno %d)", errno);
        if (!create)
            return err_set(err, ERR_NOT_FOUND, "there is no database file");
        int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
            return err_set(err, errno == ENOSPC ? ERR_FULL : ERR_IO, "cannot create the database file (errno %d)",
                           errno);
        close(fd);
        st.st_size = 0;
    } else if (!S_ISREG(st.st_mode)) {
        return err_set(err, ERR_IO, "the database path is not a regular file");
    }
    *ret_size = (int64_t)st.st_size;
    return 0;
}

/* Looks through a read-only connection first: a database that will be refused must stay as it is, byte for byte. */
static int inspect(const struct db_config *config, int *ret_version, struct err *err)
{
    struct conn look;
    if (conn_open(&look, config->path, CONN_READER, err) != 0)
        return -1;
    int rc = migrate_inspect(&look, config->migrations, ret_version, err);
    conn_close(&look);
    return rc;
}

static int start_writer(struct db *db, const struct db_config *config, int64_t size, struct err *err)
{
    struct conn *w = &db->writer.conn;
    if (conn_open(w, config->path, CONN_WRITER, err) != 0 || conn_begin_service(w, err) != 0)
        return -1;
    bool check = size > 0 && (config->quick_check_max_bytes == 0 || size <= config->quick_check_max_bytes);
    if ((check && backup_quick_check(w, err) != 0) || migrate_run(w, config->migrations, err) != 0 ||
        migrate_verify(w, config->migrations, err) != 0)
        return -1;
    db->write = &db->writer;
    if (config->seed && seed_apply(w, config->seed, err) != 0)
        return -1;
    /* nobody reads yet: what migrations, the seed or a crash left in the log goes into the file */
    conn_checkpoint(w, SQLITE_CHECKPOINT_TRUNCATE, NULL);
    return 0;
}

static int open_for_service(struct db *db, const struct db_config *config, struct err *err)
{
    int64_t size = 0;
    int version = 0;
    if (in_memory(config->path)) {
        db->read = &db->writer;
        return start_writer(db, config, 0, err);
    }
    if (lockfile_take(config->path, &db->lock_fd, err) != 0 ||
        ensure_file(config->path, config->create, &size, err) != 0 ||
        (size > 0 && inspect(config, &version, err) != 0) || start_writer(db, config, size, err) != 0)
        return -1;
    return conn_open(&db->reader.conn, config->path, CONN_READER, err);
}

/* On read-only media, and with no log beside the file that would have to be read as well. */
static bool unchangeable(const char *path)
{
    char text[PATH_MAX];
    struct stat st;
    if ((size_t)snprintf(text, sizeof text, "%s-wal", path) >= sizeof text || (stat(text, &st) == 0 && st.st_size > 0))
        return false;
    text[strlen(path)] = '\0';
    char *slash = strrchr(text, '/');
    if (slash)
        slash[slash == text ? 1 : 0] = '\0';
    return access(slash ? text : ".", W_OK) != 0;
}

static int open_for_reading(struct db *db, const struct db_config *config, struct err *err)
{
    int version = 0, newest = 0;
    int64_t size = 0;
    struct conn *r = &db->reader.conn;
    if (ensure_file(config->path, false, &size, err) != 0 ||
        (unchangeable(config->path) ? conn_open_immutable(r, config->path, err)
                                    : conn_open(r, config->path, CONN_READER, err)) != 0 ||
        migrate_inspect(&db->reader.conn, config->migrations, &version, err) != 0 ||
        migrate_newest(config->migrations, &newest, err) != 0)
        return -1;
    if (version < newest)
        return err_set(err, ERR_CONFLICT, "the database has schema %d of %d: start the server once", version, newest);
    return 0;
}

static void engine_close(struct db *db)
{
    if (!db)
        return;
    conn_close(&db->reader.conn);
    if (db->write) {
        /* best effort: a WAL that was not folded in is read again at the next start */
        conn_run(&db->writer.conn, "PRAGMA analysis_limit=400", NULL);
        conn_run(&db->writer.conn, "PRAGMA optimize", NULL);
        conn_checkpoint(&db->writer.conn, SQLITE_CHECKPOINT_TRUNCATE, NULL);
    }
    conn_close(&db->writer.conn);
    lockfile_release(db->lock_fd);
    pthread_mutex_destroy(&db->writer.mutex);
    pthread_mutex_destroy(&db->reader.mutex);
    free(db);
}

static int engine_open(const struct db_config *config, struct db **ret, struct err *err)
{
    struct db *db = calloc(1, sizeof *db);
    if (!db)
        return err_set(err, ERR_NOMEM, "database");
    pthread_mutex_init(&db->writer.mutex, NULL);
    pthread_mutex_init(&db->reader.mutex, NULL);
    db->lock_fd = -1;
    db->read = &db->reader;
    db->migrations = config->migrations;
    int rc = config->read_only ? open_for_reading(db, config, err) : open_for_service(db, config, err);
    if (rc != 0) {
        engine_close(db);
        return -1;
    }
    *ret = db;
    return 0;
}

static void add_counters(struct side *s, struct db_status *status)
{
    struct conn *c = take(s);
    status->busy_retries += c->busy_retries;
    status->corrupt = status->corrupt || c->corrupt;
    give(s);
}

static int engine_status(struct db *db, struct db_status *ret, struct err *err)
{
    struct db_status s = {.writable = db->write != NULL};
    int64_t version = 0;
    struct conn *c = take(db->read);
    int rc = conn_int64(c, "PRAGMA user_version", &version, err);
    if (rc == 0)
        rc = conn_int64(c, "SELECT revision FROM catalog_meta WHERE id = 1", &s.catalog_revision, err);
    give(db->read);
    add_counters(db->read, &s);
    if (db->write && db->write != db->read)
        add_counters(db->write, &s);
    s.schema_version = (int)version;
    /* counters and the corrupt mark are worth having even when the read failed: that is when they matter */
    *ret = s;
    return rc;
}

static int engine_load_catalog(struct db *db, struct catalog **ret, struct err *err)
{
    int rc = catalog_load(take(db->read), ret, err);
    give(db->read);
    return rc;
}

static int engine_catalog_revision(struct db *db, int64_t *ret, struct err *err)
{
    int rc = conn_int64(take(db->read), "SELECT revision FROM catalog_meta WHERE id = 1", ret, err);
    give(db->read);
    return rc;
}

static int engine_append_prices(struct db *db, const struct price *prices, size_t n, int64_t *ret_revision,
                                struct err *err)
{
    if (!db->write)
        return err_set(err, ERR_CONFLICT, "the database is open for reading only");
    struct conn *w = take(db->write);
    int rc = price_append(w, prices, n, ret_revision, err);
    /* the answer is durable already; keeping the log short must not turn it into a failure */
    if (rc == 0 && w->wal_pages > WAL_PAGES_MAX)
        conn_checkpoint(w, SQLITE_CHECKPOINT_PASSIVE, NULL);
    give(db->write);
    return rc;
}

static int engine_backup(struct db *db, const char *to_path, struct err *err)
{
    struct side *s = db->write ? db->write : db->read;
    int rc = backup_write(take(s), to_path, err);
    give(s);
    return rc;
}

static int engine_check(struct db *db, struct err *err)
{
    struct conn *c = take(db->read);
    int rc = backup_check_integrity(c, err);
    if (rc == 0)
        rc = migrate_verify(c, db->migrations, err);
    give(db->read);
    return rc;
}

static int engine_maintain(struct db *db, struct err *err)
{
    if (!db->write)
        return err_set(err, ERR_CONFLICT, "the database is open for reading only");
    struct conn *w = take(db->write);
    int rc = conn_run(w, "PRAGMA analysis_limit=400", err);
    if (rc == 0)
        rc = conn_run(w, "PRAGMA optimize", err);
    if (rc == 0)
        rc = conn_checkpoint(w, SQLITE_CHECKPOINT_TRUNCATE, err);
    give(db->write);
    return rc;
}

const struct db_ops db_sqlite = {
    .name = "sqlite",
    .open = engine_open,
    .close = engine_close,
    .status = engine_status,
    .load_catalog = engine_load_catalog,
    .catalog_revision = engine_catalog_revision,
    .append_prices = engine_append_prices,
    .backup = engine_backup,
    .check = engine_check,
    .maintain = engine_maintain,
};
