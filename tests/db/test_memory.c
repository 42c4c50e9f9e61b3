/* test_memory.c — SQLite's n-th allocation fails, for every n that matters: a clean error, nothing half done, no leak,
 * and the same call again works. */
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "db/db.h"
#include "tests/db/scratch.h"
#include "tests/support/test_catalog.h"

static sqlite3_mem_methods memory;
static long memory_left = -1; /* allocations until one fails; -1 = never */
static long memory_failures;

static bool out_of_memory(void)
{
    if (memory_left < 0 || memory_left-- > 0)
        return false;
    memory_failures++; /* one failure, then memory again: memory_left is -1 now */
    return true;
}

static void *failing_malloc(int n)
{
    return out_of_memory() ? NULL : memory.xMalloc(n);
}

static void *failing_realloc(void *p, int n)
{
    return out_of_memory() ? NULL : memory.xRealloc(p, n);
}

static void install(void)
{
    sqlite3_mem_methods failing;
    cr_assert_eq(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory), SQLITE_OK);
    failing = memory;
    failing.xMalloc = failing_malloc;
    failing.xRealloc = failing_realloc;
    cr_assert_eq(sqlite3_config(SQLITE_CONFIG_MALLOC, &failing), SQLITE_OK);
}

struct scene {
    struct scratch s;
    struct db *db;
    struct catalog *base;
    int pairs;
};

typedef int (*step_fn)(struct scene *scene, struct err *err);

static int append(struct scene *scene, struct err *err)
{
    char id[32];
    int64_t r;
    snprintf(id, sizeof id, "pr_memory_%d", scene->pairs + 1);
    struct price p = {.id = id,
                      .subject = SUBJECT_SKU,
                      .mode = MODE_HOURLY,
                      .currency = "CNY",
                      .unit = UNIT_NODE_HOUR,
                      .sku = catalog_sku(scene->base, "hefei-hightech-idc-a100-sxm4-80g-x8"),
                      .micros = 1,
                      .granularity_milli_h = 1000,
                      .effective_from = date_from_civil(2027, 1, 1) + scene->pairs,
                      .effective_to = DATE_NONE,
                      .observed_on = 0,
                      .state = PRICE_FIRM,
                      .source = "t",
                      .confidence = "high"};
    int rc = db_sqlite.append_prices(scene->db, &p, 1, &r, err);
    scene->pairs += rc == 0;
    return rc;
}

static int load(struct scene *scene, struct err *err)
{
    struct catalog *c = NULL;
    int rc = db_sqlite.load_catalog(scene->db, &c, err);
    if (rc == 0)
        test_catalog_free(c);
    else
        cr_assert_null(c);
    return rc;
}

static int check(struct scene *scene, struct err *err)
{
    return db_sqlite.check(scene->db, err);
}

static int maintain(struct scene *scene, struct err *err)
{
    return db_sqlite.maintain(scene->db, err);
}

static int backup(struct scene *scene, struct err *err)
{
    char copy[300];
    scratch_path(&scene->s, "copy.db", copy);
    int rc = db_sqlite.backup(scene->db, copy, err);
    cr_assert_eq(scratch_exists(copy), rc == 0, "a file where there is no backup, or none where there is one");
    unlink(copy);
    return rc;
}

static int reopen(struct scene *scene, struct err *err)
{
    struct db *db = NULL;
    struct db_config config = {.path = ":memory:", .migrations = &embed_migrations, .seed = &embed_seed};
    int rc = db_sqlite.open(&config, &db, err);
    (void)scene;
    if (rc == 0)
        db_sqlite.close(db);
    else
        cr_assert_null(db);
    return rc;
}

Test(memory, fails_at_any_point, .timeout = 200)
{
    static const struct {
        const char *name;
        step_fn step;
        int dense, least; /* every n up to `dense`, then ever larger steps; at least so many must fail */
    } cases[] = {{"append", append, 5000, 50}, {"load", load, 300, 20},       {"check", check, 200, 20},
                 {"backup", backup, 200, 20},  {"maintain", maintain, 50, 1}, {"open", reopen, 60, 30}};
    struct scene scene = {0};
    struct err err = {0};
    install();
    scratch_make(&scene.s);
    struct db_config config = scratch_config(&scene.s);
    scene.db = scratch_open(&db_sqlite, &config);
    cr_assert_eq(db_sqlite.load_catalog(scene.db, &scene.base, &err), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int failed = 0;
        for (long n = 0;; n += n < cases[i].dense ? 1 : n / 4) {
            int64_t r = 0;
            err = (struct err){0};
            memory_left = n;
            memory_failures = 0;
            int rc = cases[i].step(&scene, &err);
            bool met = memory_failures > 0;
            memory_left = -1;
            if (rc != 0)
                cr_assert(met && (err.code == ERR_NOMEM || err.code == ERR_IO), "%s, allocation %ld: %s: %s",
                          cases[i].name, n, err_name(err.code), err.detail);
            failed += rc != 0;
            cr_assert_eq(db_sqlite.catalog_revision(scene.db, &r, &err), 0, "%s, allocation %ld: %s", cases[i].name, n,
                         err.detail);
            cr_assert_eq(r, 1 + scene.pairs, "%s, allocation %ld", cases[i].name, n);
            if (!met)
                break;
        }
        cr_assert_geq(failed, cases[i].least, "%s: only %d failures", cases[i].name, failed);
        cr_assert_eq(cases[i].step(&scene, &err), 0, "%s: with memory again: %s", cases[i].name, err.detail);
    }
    struct db_status status;
    cr_assert_eq(db_sqlite.status(scene.db, &status, &err), 0);
    cr_assert(!status.corrupt, "no memory is no damage");
    test_catalog_free(scene.base);
    db_sqlite.close(scene.db);
    scratch_remove(&scene.s);
}
