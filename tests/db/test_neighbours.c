/* test_neighbours.c — what others did to the file or its folder: meddled rows, held locks, paths that lead nowhere. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/db.h"
#include "tests/db/scratch.h"
#include "tests/support/test_catalog.h"

/* A stored value that the schema lets pass and the code does not know, a reference to nothing, a missing row. */
Test(neighbours, meddled_rows_are_corruption)
{
    static const struct {
        const char *sql;
        const char *what;
        bool check_finds_it;
    } cases[] = {
        {"UPDATE gpus SET gpu_class = 'nonsense' WHERE id = 'h20-sxm5-96g'", "gpu_class 'nonsense'", false},
        {"UPDATE skus SET intra = 'string and tin' WHERE id IN (SELECT id FROM skus LIMIT 1)", "intra", false},
        {"UPDATE prices SET effective_from = '2026-13-01' WHERE id IN (SELECT id FROM prices LIMIT 1)",
         "effective_from", false},
        {"PRAGMA foreign_keys=OFF; UPDATE skus SET gpu_id = 'gone' WHERE id IN (SELECT id FROM skus LIMIT 1)", "gpu_id",
         true},
        {"DELETE FROM catalog_meta", "", false},
        {"INSERT INTO calibration SELECT * FROM assumptions LIMIT 1", "both an assumption and a calibration", false},
        {"INSERT INTO gpu_aliases SELECT 'h800x', 'h20-sxm5-96g'; INSERT INTO gpu_aliases SELECT 'h-800-x', "
         "'h800-sxm5-80g'",
         "names both", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scratch s;
        struct err err = {0};
        struct db *db = NULL;
        struct catalog *c = NULL;
        scratch_make(&s);
        struct db_config config = scratch_config(&s);
        db_sqlite.close(scratch_open(&db_sqlite, &config));
        scratch_meddle(s.db, cases[i].sql);
        config.read_only = true;
        db = scratch_open(&db_sqlite, &config);
        cr_assert_eq(db_sqlite.load_catalog(db, &c, &err), -1, "case %zu", i);
        cr_assert(err.code == ERR_CORRUPT || err.code == ERR_NOT_FOUND, "case %zu: %s: %s", i, err_name(err.code),
                  err.detail);
        cr_assert_not_null(strstr(err.detail, cases[i].what), "case %zu: %s", i, err.detail);
        cr_assert_null(c);
        if (cases[i].check_finds_it) {
            cr_assert_eq(db_sqlite.check(db, &err), -1);
            cr_assert_eq(err.code, ERR_CORRUPT);
            cr_assert_not_null(strstr(err.detail, "refers to nothing"), "%s", err.detail);
        }
        db_sqlite.close(db);
        scratch_remove(&s);
    }
}

/* Somebody holds the write lock, against the rules: an append waits, counts its waits, and gives up as BUSY. */
Test(neighbours, a_held_write_lock)
{
    struct scratch s;
    struct err err = {0};
    struct catalog *c = NULL;
    struct db_status status;
    sqlite3 *other = NULL;
    int64_t r = 0;
    scratch_make(&s);
    struct db_config config = scratch_config(&s);
    struct db *db = scratch_open(&db_sqlite, &config);
    cr_assert_eq(db_sqlite.load_catalog(db, &c, &err), 0);
    struct price p = *catalog_sku_price(c, catalog_sku(c, "hefei-hightech-idc-a100-sxm4-80g-x8"), MODE_HOURLY, "",
                                        date_from_civil(2026, 12, 1));
    p.id = "pr_x";
    p.effective_from = date_from_civil(2027, 1, 1);
    cr_assert_eq(sqlite3_open(s.db, &other), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    cr_assert_eq(db_sqlite.append_prices(db, &p, 1, &r, &err), -1);
    cr_assert_eq(err.code, ERR_BUSY, "%s: %s", err_name(err.code), err.detail);
    cr_assert_eq(db_sqlite.status(db, &status, &err), 0, "reading is not disturbed");
    cr_assert_gt(status.busy_retries, 10u);
    cr_assert(!status.corrupt);
    cr_assert_eq(db_sqlite.maintain(db, &err), 0, "a checkpoint that cannot be is no fault");
    cr_assert_eq(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
    cr_assert_eq(db_sqlite.append_prices(db, &p, 1, &r, &err), 0, "%s", err.detail);
    test_catalog_free(c);
    db_sqlite.close(db);
    scratch_remove(&s);
}

/* A reader that holds its snapshot does not stop writers, checkpoints or backups. */
Test(neighbours, a_long_reader)
{
    struct scratch s;
    struct err err = {0};
    sqlite3 *other = NULL;
    sqlite3_stmt *stmt = NULL;
    scratch_make(&s);
    struct db_config config = scratch_config(&s);
    struct db *db = scratch_open(&db_sqlite, &config);
    cr_assert_eq(sqlite3_open_v2(s.db, &other, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_prepare_v2(other, "SELECT id FROM prices", -1, &stmt, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
    cr_assert_eq(db_sqlite.maintain(db, &err), 0, "%s", err.detail);
    struct db_status status;
    cr_assert_eq(db_sqlite.status(db, &status, &err), 0);
    cr_assert_eq(status.busy_retries, 0u, "nobody waits for a reader");
    sqlite3_finalize(stmt);
    sqlite3_close(other);
    db_sqlite.close(db);
    scratch_remove(&s);
}

Test(neighbours, places_that_cannot_be)
{
    struct scratch s;
    struct err err = {0};
    struct db *db = NULL;
    char path[6000], other[300];
    scratch_make(&s);
    struct db_config config = scratch_config(&s);
    memset(path, 'a', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    config.path = path;
    cr_assert_eq(db_sqlite.open(&config, &db, &err), -1);
    cr_assert_eq(err.code, ERR_RANGE, "%s", err.detail);
    config = scratch_config(&s);
    scratch_path(&s, "t.db.lock", other);
    cr_assert_eq(symlink("/etc/hostname", other), 0);
    cr_assert_eq(db_sqlite.open(&config, &db, &err), -1, "a lock that is a link is not followed");
    cr_assert_eq(err.code, ERR_IO, "%s", err.detail);
    unlink(other);
    db = scratch_open(&db_sqlite, &config);
    cr_assert_eq(db_sqlite.backup(db, path, &err), -1);
    cr_assert_eq(err.code, ERR_RANGE, "%s", err.detail);
    cr_assert_eq(db_sqlite.backup(db, "/nowhere/at/all/copy.db", &err), -1);
    cr_assert_eq(err.code, ERR_IO, "%s", err.detail);
    cr_assert_eq(db_sqlite.backup(db, s.db, &err), -1, "never over a file that is there");
    cr_assert_eq(err.code, ERR_CONFLICT, "%s", err.detail);
    scratch_path(&s, "copy.db.partial", other); /* of a backup that was killed */
    scratch_write(other, "junk", 4);
    scratch_path(&s, "copy.db", other);
    cr_assert_eq(db_sqlite.backup(db, other, &err), 0, "%s", err.detail);
    struct stat st;
    cr_assert_eq(stat(other, &st), 0);
    cr_assert_eq(st.st_mode & 0777, 0600);
    db_sqlite.close(db);
    scratch_path(&s, "t.db.lock", other);
    cr_assert(scratch_exists(other), "the lock file stays: removing it would let two servers lock two files");
    scratch_remove(&s);
}

/* Rows of 64 KiB and 64 cells are read; one more is refused with its row. */
Test(neighbours, seed_rows_have_limits)
{
    static char text[200000];
    struct err err = {0};
    struct db *db = NULL;
    struct embed_file file = {.name = "schedulers.csv", .data = (const unsigned char *)text};
    struct embed_table seed = {&file, 1};
    struct db_config config = {.path = ":memory:", .migrations = &embed_migrations, .seed = &seed};
    int n = snprintf(text, sizeof text, "id,name,note,source\nslurm,Slurm,");
    memset(text + n, 'x', 65000);
    file.size = (size_t)n + 65000 + (size_t)snprintf(text + n + 65000, 100, ",s\n");
    cr_assert_eq(db_sqlite.open(&config, &db, &err), 0, "%s", err.detail);
    db_sqlite.close(db);
    memset(text + n, 'x', 70000);
    file.size = (size_t)n + 70000 + (size_t)snprintf(text + n + 70000, 100, ",s\n");
    cr_assert_eq(db_sqlite.open(&config, &db, &err), -1);
    cr_assert_not_null(strstr(err.detail, "row 2: too long"), "%s", err.detail);
    memset(text, ',', 70);
    text[70] = '\n';
    file.size = 71;
    cr_assert_eq(db_sqlite.open(&config, &db, &err), -1);
    cr_assert_not_null(strstr(err.detail, "row 1: too long"), "%s", err.detail);
    static const unsigned char mark[] = "\xEF\xBB\xBFid,name,source\nslurm,Slurm,s\n"; /* as Excel writes it */
    file.data = mark;
    file.size = sizeof mark - 1;
    cr_assert_eq(db_sqlite.open(&config, &db, &err), 0, "%s", err.detail);
    db_sqlite.close(db);
}
