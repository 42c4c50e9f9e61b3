/* test_migrate.c — from empty, from every older version, twice, and everything that must be refused. */
#include <criterion/criterion.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/db.h"
#include "tests/db/scratch.h"
#include "tests/support/test_catalog.h"

#define TEXT(s) (const unsigned char *)(s), sizeof(s) - 1

static const char step2[] =
    "CREATE TABLE extra (id INTEGER PRIMARY KEY, gpu_id TEXT NOT NULL REFERENCES gpus (id)) STRICT;"
    "CREATE INDEX extra_gpu ON extra (gpu_id);"
    "INSERT INTO extra (id, gpu_id) SELECT 1, id FROM gpus ORDER BY id LIMIT 1;";
static const char step3[] = "CREATE TABLE extra2 (id INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT;"
                            "INSERT INTO extra2 SELECT id, gpu_id FROM extra; DROP TABLE extra;"
                            "ALTER TABLE extra2 RENAME TO extra;";

/* The shipped migrations and two more, as a later binary would carry them. */
static struct embed_table later(struct embed_file files[16])
{
    size_t n = embed_migrations.n;
    static char names[2][32];
    cr_assert_leq(n + 2, 16u);
    snprintf(names[0], sizeof names[0], "%04zu_extra.sql", n + 1);
    snprintf(names[1], sizeof names[1], "%04zu_rebuilt.sql", n + 2);
    memcpy(files, embed_migrations.files, n * sizeof *files);
    files[n] = (struct embed_file){names[0], TEXT(step2)};
    files[n + 1] = (struct embed_file){names[1], TEXT(step3)};
    return (struct embed_table){files, n + 2};
}

static enum err_code open_code(struct db_config config)
{
    struct err err = {0};
    struct db *db = NULL;
    if (db_sqlite.open(&config, &db, &err) == 0) {
        db_sqlite.close(db);
        return ERR_NONE;
    }
    cr_assert_null(db);
    return err.code;
}

static int schema_version(struct db_config config)
{
    struct err err = {0};
    struct db_status status;
    struct db *db = scratch_open(&db_sqlite, &config);
    cr_assert_eq(db_sqlite.status(db, &status, &err), 0, "%s", err.detail);
    cr_assert_eq(db_sqlite.check(db, &err), 0, "%s", err.detail);
    db_sqlite.close(db);
    return status.schema_version;
}

Test(migrate, from_empty_from_every_older_version_and_twice)
{
    struct embed_file files[16];
    struct embed_table all = later(files);
    static const struct embed_table nothing = {NULL, 0};
    for (size_t from = 1; from <= all.n; from++) {
        struct scratch s;
        scratch_make(&s);
        struct db_config config = scratch_config(&s);
        struct embed_table old = {files, from};
        config.migrations = &old;
        config.seed = &nothing; /* the shipped rows want the newest columns */
        cr_assert_eq(schema_version(config), (int)from);
        config.seed = &embed_seed;
        config.migrations = &all;
        cr_assert_eq(schema_version(config), (int)all.n);
        cr_assert_eq(schema_version(config), (int)all.n);
        scratch_remove(&s);
    }
}

/* Newer, tampered with, with a gap, changed by hand. */
Test(migrate, refuses_what_is_not_its_own)
{
    struct embed_file files[16], changed[16];
    struct embed_table all = later(files), gap, tampered;
    struct scratch s;
    scratch_make(&s);
    struct db_config config = scratch_config(&s);
    config.migrations = &all;
    cr_assert_eq(open_code(config), ERR_NONE);
    /* as a restored backup lies there: without a log, so that even switching it on would show */
    scratch_meddle(s.db, "PRAGMA journal_mode=DELETE");
    size_t n;
    unsigned char *before = scratch_read(s.db, &n);

    /* from a newer binary: refused, and not one byte is different */
    config.migrations = &embed_migrations;
    cr_assert_eq(open_code(config), ERR_UNSUPPORTED);
    size_t m;
    unsigned char *after = scratch_read(s.db, &m);
    cr_assert(n == m && memcmp(before, after, n) == 0, "a newer database was touched");
    config.read_only = true;
    cr_assert_eq(open_code(config), ERR_UNSUPPORTED);
    config.read_only = false;
    free(after);

    /* a migration with another text than the one that was applied */
    size_t extra = embed_migrations.n;
    memcpy(changed, files, sizeof files);
    changed[extra] =
        (struct embed_file){files[extra].name, TEXT("CREATE TABLE extra (id INTEGER PRIMARY KEY) STRICT;")};
    tampered = (struct embed_table){changed, all.n};
    config.migrations = &tampered;
    cr_assert_eq(open_code(config), ERR_CONFLICT);

    /* a binary whose own list has a gap */
    memcpy(changed, files, sizeof files);
    changed[extra] = files[extra + 1];
    gap = (struct embed_table){changed, extra + 1};
    config.migrations = &gap;
    cr_assert_eq(open_code(config), ERR_INTERNAL);

    /* marks that do not belong to the version */
    config.migrations = &all;
    scratch_write(s.db, before, n);
    scratch_meddle(s.db, "DELETE FROM schema_migrations WHERE version = 1");
    cr_assert_eq(open_code(config), ERR_CONFLICT);
    scratch_write(s.db, before, n);
    scratch_meddle(s.db, "DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations)");
    cr_assert_eq(open_code(config), ERR_CONFLICT);

    /* a schema that was changed by hand */
    scratch_write(s.db, before, n);
    scratch_meddle(s.db, "CREATE INDEX mine ON gpus (name)");
    cr_assert_eq(open_code(config), ERR_CORRUPT);
    scratch_write(s.db, before, n);
    cr_assert_eq(open_code(config), ERR_NONE);
    free(before);
    scratch_remove(&s);
}

Test(migrate, refuses_other_files)
{
    struct scratch s;
    scratch_make(&s);
    struct db_config config = scratch_config(&s);
    static const char text[] = "This is a letter, not a database. It is longer than the header of one, so that nobody "
                               "can say that it was merely cut short somewhere along the way.";
    scratch_write(s.db, text, sizeof text);
    cr_assert_eq(open_code(config), ERR_CORRUPT);
    size_t n;
    unsigned char *same = scratch_read(s.db, &n);
    cr_assert(n == sizeof text && memcmp(same, text, n) == 0);
    free(same);
    unlink(s.db);
    scratch_meddle(s.db, "CREATE TABLE somebody_elses (x)");
    cr_assert_eq(open_code(config), ERR_CONFLICT);
    unlink(s.db);
    scratch_meddle(s.db, "PRAGMA application_id=7; PRAGMA user_version=1; CREATE TABLE t (x)");
    cr_assert_eq(open_code(config), ERR_CONFLICT);
    unlink(s.db);
    cr_assert_eq(mkdir(s.db, 0700), 0);
    cr_assert_eq(open_code(config), ERR_IO);
    rmdir(s.db);
    scratch_write(s.db, "", 0); /* an empty file is an empty database */
    cr_assert_eq(open_code(config), ERR_NONE);
    scratch_remove(&s);
}

/* A migration that fails half-way leaves the version before it, and the next binary goes on from there. */
Test(migrate, a_failing_migration_changes_nothing)
{
    struct embed_file files[16];
    struct embed_table all = later(files);
    struct scratch s;
    scratch_make(&s);
    struct db_config config = scratch_config(&s);
    static const char half[] = "CREATE TABLE extra (id INTEGER PRIMARY KEY) STRICT; INSERT INTO extra VALUES (1); "
                               "INSERT INTO nowhere VALUES (1);";
    static const char dangling[] =
        "CREATE TABLE extra (id INTEGER PRIMARY KEY, gpu_id TEXT NOT NULL REFERENCES gpus (id)) STRICT;"
        "INSERT INTO extra VALUES (1, 'no such card');";
    struct embed_file *extra = &files[embed_migrations.n];
    const struct embed_file good = *extra;
    config.migrations = &embed_migrations;
    cr_assert_eq(open_code(config), ERR_NONE);
    config.migrations = &all;
    extra->data = (const unsigned char *)half, extra->size = sizeof half - 1;
    cr_assert_eq(open_code(config), ERR_INTERNAL);
    extra->data = (const unsigned char *)dangling, extra->size = sizeof dangling - 1;
    cr_assert_eq(open_code(config), ERR_CORRUPT);
    config.migrations = &embed_migrations;
    cr_assert_eq(schema_version(config), (int)embed_migrations.n);
    *extra = good;
    config.migrations = &all;
    cr_assert_eq(schema_version(config), (int)all.n);
    scratch_remove(&s);
}

static int statements_left;

static int die_at_statement(unsigned type, void *ctx, void *p, void *x)
{
    (void)ctx, (void)p, (void)x;
    if (type == SQLITE_TRACE_STMT && --statements_left == 0)
        kill(getpid(), SIGKILL);
    return 0;
}

static int trace_every_connection(sqlite3 *h, char **error, const void *api)
{
    (void)error, (void)api;
    sqlite3_trace_v2(h, SQLITE_TRACE_STMT, die_at_statement, NULL);
    return SQLITE_OK;
}

/* Opens (and migrates, and seeds) in a child that kills itself when it begins its n-th statement. True = it died. */
static bool open_and_die(const struct db_config *config, int n)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct err err = {0};
        struct db *db = NULL;
        statements_left = n;
        sqlite3_auto_extension((void (*)(void))trace_every_connection);
        _exit(db_sqlite.open(config, &db, &err) == 0 ? 0 : 3);
    }
    int status = 0;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 0), "n %d: status %x", n, status);
    return WIFSIGNALED(status);
}

#ifdef __SANITIZE_ADDRESS__
enum { STATEMENT_STEP = 7 }; /* a fork copies the shadow: a sample is enough where the plain build tries every one */
#else
enum { STATEMENT_STEP = 1 };
#endif

/* Killed between any two statements of opening an empty file and of upgrading an old one: the next start completes. */
Test(migrate, killed_between_any_two_statements, .timeout = 120)
{
    static const struct embed_table no_seed_rows = {NULL, 0};
    struct embed_file files[16];
    struct embed_table all = later(files);
    for (int old = 0; old < 2; old++) {
        int deaths = 0;
        for (int n = 1; n < 400; n += STATEMENT_STEP) {
            struct scratch s;
            scratch_make(&s);
            struct db_config config = scratch_config(&s);
            config.seed = &no_seed_rows;
            if (old)
                cr_assert_eq(open_code(config), ERR_NONE);
            config.migrations = &all;
            bool died = open_and_die(&config, n);
            deaths += died;
            cr_assert_eq(schema_version(config), (int)all.n, "killed at statement %d", n);
            scratch_remove(&s);
            if (!died)
                break;
        }
        cr_assert_geq(deaths * STATEMENT_STEP, old ? 20 : 40, "only %d statements", deaths);
    }
}

static struct embed_file seed_of(const char *name, const char *text)
{
    return (struct embed_file){name, (const unsigned char *)text, strlen(text)};
}

#define PROVIDERS                                                                                                      \
    "id,name_zh,name_en,kind,city,tier,support_level,source,confidence\np,甲,P,local_idc,hefei,t,ticket,t,high\n"
#define SKUS "id,provider_id,gpu_id,gpus_per_node,form,source,confidence\ns,p,g,8,bare_metal,t,high\n"
#define GPUS_OF(memory)                                                                                                \
    "id,name,vendor,gpu_class,memory_gb,usable_gib,rentable,confidence,source\ng,G,V,ampere," memory ",79,yes,high,"   \
    "t\n"
#define PRICES "id,subject,sku_id,mode,currency,unit,price,effective_from,observed_on,state,source,confidence\n"
#define PRICE(id, price, from) id ",sku,s,hourly,CNY,node_hour," price "," from "," from ",firm,t,high\n"

/* A later binary brings another seed: reference rows follow it, prices are only added. */
Test(seed, a_new_seed_is_merged)
{
    struct err err = {0};
    struct scratch s;
    scratch_make(&s);
    struct db_config config = scratch_config(&s);
    const struct embed_file first[] = {seed_of("gpus.csv", GPUS_OF("80")), seed_of("providers.csv", PROVIDERS),
                                       seed_of("skus.csv", SKUS),
                                       seed_of("prices.csv", PRICES PRICE("a", "100", "2026-01-01"))};
    const struct embed_file second[] = {
        seed_of("gpus.csv", GPUS_OF("96")), seed_of("providers.csv", PROVIDERS), seed_of("skus.csv", SKUS),
        seed_of("prices.csv", PRICES PRICE("a", "999", "2026-01-01") PRICE("b", "90", "2026-06-01"))};
    const struct embed_table old_seed = {first, 4}, new_seed = {second, 4};
    config.seed = &old_seed;
    cr_assert_eq(open_code(config), ERR_NONE);
    config.seed = &new_seed;
    for (int again = 0; again < 2; again++) {
        struct db *db = scratch_open(&db_sqlite, &config);
        struct catalog *c = NULL;
        cr_assert_eq(db_sqlite.load_catalog(db, &c, &err), 0, "%s", err.detail);
        cr_assert_eq(c->revision, 2, "merged once");
        cr_assert_eq(c->gpus[0].memory_gb, 96);
        cr_assert_eq(c->n_prices, 2u);
        const struct sku *sku = catalog_sku(c, "s");
        cr_assert_eq(catalog_sku_price(c, sku, MODE_HOURLY, "", date_from_civil(2026, 5, 31))->micros, 100000000,
                     "a price that was used stays as it was");
        cr_assert_eq(catalog_sku_price(c, sku, MODE_HOURLY, "", date_from_civil(2026, 6, 1))->micros, 90000000);
        test_catalog_free(c);
        db_sqlite.close(db);
    }
    scratch_remove(&s);
}

/* Faults of a seed file are named with file and row, and nothing of the seed stays. */
Test(seed, faults_are_named)
{
    static const struct {
        const char *file, *text, *where, *what;
    } cases[] = {
        {"gpus.csv", "id,name,memry\n", "gpus.csv:1", "unknown column 'memry'"},
        {"gpus.csv", "id,id\n", "gpus.csv:1", "twice"},
        {"gpus.csv", "id,name,vendor\na,b\n", "gpus.csv:2", "2 cells under a header of 3"},
        {"gpus.csv", "id,name\n\"a,b\n", "gpus.csv", "row 2"},
        {"gpus.csv", "id,name,vendor,gpu_class,memory_gb,usable_gib,confidence,source\ng,G,V,ampere,eighty,79,high,t\n",
         "gpus.csv:2", "'eighty' is not a number"},
        {"gpus.csv", "id,name,vendor,gpu_class,memory_gb,usable_gib,confidence,source\ng,G,V,ampere,nan,79,high,t\n",
         "gpus.csv:2", "'nan' is not a number"},
        {"gpus.csv", "id,name,vendor,gpu_class,memory_gb,usable_gib,confidence,source\ng,G,V,amper,80,79,high,t\n",
         "gpus.csv:2", "'amper' is not one of"},
        {"gpus.csv", "id,name,vendor,gpu_class,memory_gb,usable_gib,confidence,source\ng,G,V,ampere,80,79,high,\n",
         "gpus.csv:2", "source: must not be empty"},
        {"gpus.csv", "id,name,vendor,gpu_class,rentable,confidence,source\ng,G,V,ampere,yes,high,t\n", "gpus.csv:2",
         "CHECK"},
        {"gpu_aliases.csv", "alias,gpu_id\nx,nothing\n", "gpu_aliases.csv:2", "FOREIGN KEY"},
        {"assumptions_x.csv",
         "name,value,min,max,unit,overridable,evidence,source\nm,1,0,2,h,yes,e,s\nm,1,0,2,h,yes,e,s\n",
         "assumptions_x.csv:3", "UNIQUE"},
        {"assumptions_x.csv", "name,value,min,max,unit,overridable,evidence,source\nm,3,0,2,h,yes,e,s\n",
         "assumptions_x.csv:2", "CHECK"},
        {"fx_rates.csv", "base,quote,on_date,rate,source\nUSD,cny,2026-01-01,7.1,s\n", "fx_rates.csv:2", "currency"},
        {"fx_rates.csv", "base,quote,on_date,rate,source\nUSD,CNY,2026-02-30,7.1,s\n", "fx_rates.csv:2", "day"},
        {"fx_rates.csv", "base,quote,on_date,rate,source\nUSD,CNY,2026-02-03,7.1234567,s\n", "fx_rates.csv:2",
         "6 places"},
        {"surprise.csv", "id\n", "surprise.csv", "no table"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        struct db *db = NULL;
        const struct embed_file file = seed_of(cases[i].file, cases[i].text);
        const struct embed_table seed = {&file, 1};
        struct db_config config = {.path = ":memory:", .migrations = &embed_migrations, .seed = &seed};
        cr_assert_eq(db_sqlite.open(&config, &db, &err), -1, "case %zu", i);
        cr_assert_str_eq(err.pointer, cases[i].where, "case %zu: %s", i, err.detail);
        cr_assert_not_null(strstr(err.detail, cases[i].what), "case %zu: %s", i, err.detail);
    }
}
