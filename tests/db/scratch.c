/* scratch.c — see scratch.h. */
#include "tests/db/scratch.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/test_catalog.h"

void scratch_make(struct scratch *s)
{
    /* memory where there is some: these tests flush thousands of times, and what they test is not the disk */
    const char *tmp = getenv("TMPDIR");
    if (!tmp)
        tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(s->folder, sizeof s->folder, "%s/suanpan-db-XXXXXX", tmp);
    cr_assert_not_null(mkdtemp(s->folder));
    scratch_path(s, "t.db", s->db);
}

void scratch_remove(struct scratch *s)
{
    DIR *d = opendir(s->folder);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", s->folder, e->d_name);
        if (e->d_name[0] != '.')
            unlink(path);
    }
    if (d)
        closedir(d);
    rmdir(s->folder);
}

void scratch_path(const struct scratch *s, const char *name, char out[300])
{
    snprintf(out, 300, "%s/%s", s->folder, name);
}

unsigned char *scratch_read(const char *path, size_t *ret_n)
{
    FILE *f = fopen(path, "rb");
    cr_assert_not_null(f, "%s", path);
    fseek(f, 0, SEEK_END);
    *ret_n = (size_t)ftell(f);
    rewind(f);
    unsigned char *data = malloc(*ret_n + 1);
    cr_assert_eq(fread(data, 1, *ret_n, f), *ret_n);
    fclose(f);
    return data;
}

void scratch_write(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "wb");
    cr_assert_not_null(f, "%s", path);
    cr_assert_eq(fwrite(data, 1, n, f), n);
    cr_assert_eq(fclose(f), 0);
}

bool scratch_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

void scratch_copy(const char *from, const char *to)
{
    size_t n;
    unsigned char *data = scratch_read(from, &n);
    scratch_write(to, data, n);
    free(data);
}

void scratch_meddle(const char *path, const char *sql)
{
    sqlite3 *h = NULL;
    char *text = NULL;
    cr_assert_eq(sqlite3_open(path, &h), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(h, sql, NULL, NULL, &text), SQLITE_OK, "%s", text);
    sqlite3_close(h);
}

struct db_config scratch_config(const struct scratch *s)
{
    return (struct db_config){.path = s->db, .migrations = &embed_migrations, .seed = &embed_seed, .create = true};
}

struct db *scratch_open(const struct db_ops *ops, const struct db_config *config)
{
    struct err err = {0};
    struct db *db = NULL;
    cr_assert_eq(ops->open(config, &db, &err), 0, "%s: %s (%s)", err_name(err.code), err.detail, err.pointer);
    return db;
}
