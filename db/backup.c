/* backup.c — copying the live database page by page, and checking databases. */
#include "db/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A check that could not read a page reports it as a finding, with the code of why: no memory is no damage. */
static int code_of_finding(const char *text)
{
    static const char mark[] = "unable to get the page. error code=";
    const char *at = strstr(text, mark);
    long code = at ? strtol(at + sizeof mark - 1, NULL, 10) : SQLITE_CORRUPT;
    return code > 0 && code < 65536 ? (int)code : SQLITE_CORRUPT;
}

static int first_finding(struct conn *c, const char *pragma, struct err *err)
{
    _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
    if (conn_prepare(c, pragma, &stmt, err) != 0)
        return -1;
    int rc = sqlite3_step(stmt);
    if (rc != SQLITE_ROW)
        return conn_fail(c, rc, pragma, err);
    const char *text = (const char *)sqlite3_column_text(stmt, 0);
    if (!text)
        return err_set(err, ERR_NOMEM, "%s", pragma);
    if (strcmp(text, "ok") == 0)
        return 0;
    int code = code_of_finding(text);
    if (code != SQLITE_CORRUPT)
        return conn_fail(c, code, pragma, err);
    c->corrupt = true;
    return err_set(err, ERR_CORRUPT, "%.120s", text);
}

int backup_quick_check(struct conn *c, struct err *err)
{
    return first_finding(c, "PRAGMA quick_check(1)", err);
}

int backup_check_integrity(struct conn *c, struct err *err)
{
    _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
    if (first_finding(c, "PRAGMA integrity_check(1)", err) != 0 ||
        conn_prepare(c, "PRAGMA foreign_key_check", &stmt, err) != 0)
        return -1;
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_DONE)
        return 0;
    if (rc != SQLITE_ROW)
        return conn_fail(c, rc, "foreign_key_check", err);
    return err_set(err, ERR_CORRUPT, "a row of %s refers to nothing", (const char *)sqlite3_column_text(stmt, 0));
}

/* Source pages are read through `from`; it is the writer, or a reader in another process. */
static int copy_pages(struct conn *from, struct conn *to, struct err *err)
{
    sqlite3_backup *b = sqlite3_backup_init(to->handle, "main", from->handle, "main");
    if (!b)
        return conn_fail(to, sqlite3_errcode(to->handle), "backup", err);
    int rc;
    do
        rc = sqlite3_backup_step(b, 256);
    while (rc == SQLITE_OK);
    sqlite3_backup_finish(b);
    /* an error of the source is reported by the step, not by either handle */
    return rc == SQLITE_DONE ? 0 : conn_fail(to, rc, sqlite3_errstr(rc), err);
}

static int write_copy(struct conn *from, const char *path, struct err *err)
{
    struct conn to;
    if (conn_open(&to, path, CONN_WRITER, err) != 0)
        return -1;
    int rc = copy_pages(from, &to, err);
    /* one plain file, no -wal beside it; also flushes */
    if (rc == 0)
        rc = conn_run(&to, "PRAGMA journal_mode=DELETE", err);
    conn_close(&to);
    return rc;
}

static int check_copy(const char *path, struct err *err)
{
    struct conn copy;
    if (conn_open(&copy, path, CONN_READER, err) != 0)
        return -1;
    int rc = backup_check_integrity(&copy, err);
    conn_close(&copy);
    return rc;
}

static int flush_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int rc = fsync(fd);
    close(fd);
    return rc;
}

int backup_write(struct conn *from, const char *to_path, struct err *err)
{
    char partial[PATH_MAX];
    struct stat st;
    if ((size_t)snprintf(partial, sizeof partial, "%s.partial", to_path) >= sizeof partial)
        return err_set(err, ERR_RANGE, "the backup path is too long");
    if (lstat(to_path, &st) == 0)
        return err_set(err, ERR_CONFLICT, "the backup file exists already");
    unlink(partial); /* of a backup that was killed */
    int fd = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_set(err, errno == ENOSPC ? ERR_FULL : ERR_IO, "cannot create the backup file (errno %d)", errno);
    close(fd);
    int rc = write_copy(from, partial, err);
    if (rc == 0)
        rc = check_copy(partial, err);
    if (rc == 0 && flush_file(partial) != 0)
        rc = err_set(err, ERR_IO, "cannot flush the backup (errno %d)", errno);
    /* link, not rename: never over a file that appeared meanwhile */
    if (rc == 0 && link(partial, to_path) != 0)
        rc = err_set(err, errno == EEXIST ? ERR_CONFLICT : ERR_IO, "cannot name the backup (errno %d)", errno);
    unlink(partial);
    return rc;
}
