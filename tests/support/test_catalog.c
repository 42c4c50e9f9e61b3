/* test_catalog.c — see test_catalog.h. */
#include "tests/support/test_catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "planner/offers/engine.h"

static struct catalog *load(const struct embed_table *seed)
{
    struct err err = {0};
    struct db *db = NULL;
    struct catalog *c = NULL;
    struct db_config config = {.path = ":memory:", .migrations = &embed_migrations, .seed = seed};
    if (db_sqlite.open(&config, &db, &err) != 0 || db_sqlite.load_catalog(db, &c, &err) != 0) {
        fprintf(stderr, "test catalog: %s: %s (%s)\n", err_name(err.code), err.detail, err.pointer);
        abort();
    }
    db_sqlite.close(db);
    return c;
}

struct catalog *test_catalog(void)
{
    static struct catalog *shipped;
    if (!shipped)
        shipped = load(&embed_seed);
    return shipped;
}

struct catalog *test_catalog_bound(void)
{
    struct catalog *c = test_catalog();
    struct err err = {0};
    if (c->training == NULL && engine_bind(c, &err) != 0) {
        fprintf(stderr, "test catalog: %s: %s (%s)\n", err_name(err.code), err.detail, err.pointer);
        abort();
    }
    return c;
}

static int is_basis(const char *name)
{
    return strcmp(name, "gpus.csv") == 0 || strcmp(name, "models.csv") == 0 || strncmp(name, "assumptions_", 12) == 0 ||
           strncmp(name, "calibration_", 12) == 0;
}

struct catalog *test_catalog_of(const struct test_csv *files, size_t n)
{
    struct embed_file *list = calloc(n + embed_seed.n, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        list[count++] = (struct embed_file){files[i].name, (const unsigned char *)files[i].text, strlen(files[i].text)};
    for (size_t k = 0; k < embed_seed.n; k++) {
        int named = 0;
        for (size_t i = 0; i < n; i++)
            named |= strcmp(files[i].name, embed_seed.files[k].name) == 0;
        if (!named && is_basis(embed_seed.files[k].name))
            list[count++] = embed_seed.files[k];
    }
    struct catalog *c = load(&(struct embed_table){list, count});
    free(list);
    return c;
}

void test_catalog_free(struct catalog *c)
{
    if (c)
        arena_free(c->arena);
}
