/* test_crash.c — what must survive: a killed process, a power cut, a full or broken disk, a damaged file. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "db/db.h"
#include "tests/db/fault_vfs.h"
#include "tests/db/scratch.h"
#include "tests/support/test_catalog.h"

static const char sku_a[] = "hefei-hightech-idc-a100-sxm4-80g-x8";
static const char sku_b[] = "hefei-hightech-idc-h800-sxm5-80g-x8";
enum { UNIT = 1000000 };

/* The n-th pair of prices: one of each SKU, with the same number, in one call. Half a pair must never be seen. */
static int append_pair(struct db *db, const struct catalog *c, int n, int64_t *ret_revision, struct err *err)
{
    char ids[2][64];
    struct price pair[2];
    const char *const skus[2] = {sku_a, sku_b};
    for (int i = 0; i < 2; i++) {
        snprintf(ids[i], sizeof ids[i], "pr_crash_%c_%d", 'a' + i, n);
        pair[i] = (struct price){.id = ids[i],
                                 .subject = SUBJECT_SKU,
                                 .sku = catalog_sku(c, skus[i]),
                                 .mode = MODE_HOURLY,
                                 .currency = "CNY",
                                 .unit = UNIT_NODE_HOUR,
                                 .micros = (int64_t)n * UNIT,
                                 .granularity_milli_h = 1000,
                                 .effective_from = date_from_civil(2027, 1, 1) + n,
                                 .effective_to = DATE_NONE,
                                 .observed_on = date_from_civil(2026, 11, 30),
                                 .state = PRICE_FIRM,
                                 .source = "crash test",
                                 .confidence = "high"};
    }
    return db_sqlite.append_prices(db, pair, 2, ret_revision, err);
}

struct outcome {
    int highest; /* number of the newest pair */
    int64_t revision;
};

/* Opens, checks everything, and reads which pairs are there: 1 .. highest without a gap, each of them whole. */
static struct outcome inspect(const char *path)
{
    struct err err = {0};
    struct db_config config = {.path = path, .migrations = &embed_migrations, .seed = &embed_seed};
    struct outcome o = {0};
    struct catalog *c = NULL;
    struct db *db = scratch_open(&db_sqlite, &config);
    cr_assert_eq(db_sqlite.check(db, &err), 0, "%s", err.detail);
    cr_assert_eq(db_sqlite.load_catalog(db, &c, &err), 0, "%s", err.detail);
    int seen[2] = {0, 0};
    for (size_t i = 0; i < c->n_prices; i++) {
        const struct price *p = &c->prices[i];
        if (strncmp(p->id, "pr_crash_", 9) != 0)
            continue;
        int side = p->id[9] == 'b', n = (int)(p->micros / UNIT);
        seen[side]++;
        o.highest = n > o.highest ? n : o.highest;
    }
    cr_assert_eq(seen[0], o.highest, "pairs are missing");
    cr_assert_eq(seen[1], o.highest, "half a pair is missing");
    o.revision = c->revision;
    cr_assert_eq(o.revision, 1 + o.highest, "the revision counts every append");
    test_catalog_free(c);
    db_sqlite.close(db);
    return o;
}

/* Appends for ever and reports each answered number; is killed. */
static void append_until_killed(const struct db_config *config, int from, int report)
{
    struct err err = {0};
    struct db *db = NULL;
    struct catalog *c = NULL;
    int64_t r;
    if (db_sqlite.open(config, &db, &err) != 0 || db_sqlite.load_catalog(db, &c, &err) != 0)
        _exit(3);
    for (int n = from;; n++) {
        if (append_pair(db, c, n, &r, &err) != 0)
            _exit(4);
        if (write(report, &n, sizeof n) != sizeof n)
            _exit(5);
        if (n % 7 == 0 && db_sqlite.maintain(db, &err) != 0)
            _exit(6);
    }
}

/* SIGKILL in a loop: nothing that was answered is lost, nothing is half there, and the lock is free again. */
Test(crash, kill_9_loses_nothing_that_was_answered, .timeout = 120)
{
    struct scratch s;
    scratch_make(&s);
    struct db_config config = scratch_config(&s);
    db_sqlite.close(scratch_open(&db_sqlite, &config));
    int answered = 0;
    for (int round = 0; round < 12; round++) {
        int report[2], n, here = 0;
        cr_assert_eq(pipe(report), 0);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            close(report[0]);
            append_until_killed(&config, answered + 1, report[1]);
        }
        close(report[1]);
        /* let some answers come, then strike at a moment that has nothing to do with them */
        while (here < 3 + round % 5 && read(report[0], &n, sizeof n) == sizeof n) {
            answered = n;
            here++;
        }
        nanosleep(&(struct timespec){.tv_nsec = 100000L * (round * 37 % 50)}, NULL);
        kill(child, SIGKILL);
        while (read(report[0], &n, sizeof n) == sizeof n)
            answered = n;
        close(report[0]);
        int status;
        waitpid(child, &status, 0);
        cr_assert(WIFSIGNALED(status), "round %d: the writer ended by itself: %x", round, status);
        struct outcome o = inspect(s.db);
        cr_assert_geq(o.highest, answered, "round %d: %d was answered, %d is there", round, answered, o.highest);
        cr_assert_leq(o.highest, answered + 1, "round %d", round);
        answered = o.highest;
    }
    cr_assert_geq(answered, 36);
    scratch_remove(&s);
}

/* What is on disk when only synced bytes survive: every answered append. */
Test(crash, power_cut_loses_nothing_that_was_answered, .timeout = 120)
{
    struct scratch s;
    char wal[310], cut[300], cut_wal[310];
    struct err err = {0};
    struct catalog *c = NULL;
    int64_t r;
    scratch_make(&s);
    struct db_config config = scratch_config(&s);
    fault_vfs_install();
    snprintf(wal, sizeof wal, "%s-wal", s.db);
    scratch_path(&s, "cut.db", cut);
    snprintf(cut_wal, sizeof cut_wal, "%s-wal", cut);
    struct db *db = scratch_open(&db_sqlite, &config);
    cr_assert_eq(db_sqlite.load_catalog(db, &c, &err), 0);
    for (int n = 1; n <= 12; n++) {
        cr_assert_eq(append_pair(db, c, n, &r, &err), 0, "%s", err.detail);
        if (n % 5 == 0)
            cr_assert_eq(db_sqlite.maintain(db, &err), 0, "%s", err.detail);
        unlink(cut);
        unlink(cut_wal);
        cr_assert_eq(fault_vfs_power_cut(s.db, cut), 0);
        fault_vfs_power_cut(wal, cut_wal);
        cr_assert_eq(inspect(cut).highest, n, "after %d answers", n);
    }
    test_catalog_free(c);
    db_sqlite.close(db);
    scratch_remove(&s);
}

/* The disk fills up, or breaks, at the n-th write or sync of an append, for every n: the append fails with the right
 * class, earlier data is readable meanwhile, and once there is room again everything goes on. */
Test(crash, full_and_broken_disk, .timeout = 120)
{
    static const struct {
        int code;
        enum err_code expected;
    } kinds[] = {{SQLITE_FULL, ERR_FULL}, {SQLITE_IOERR_WRITE, ERR_IO}};
    struct scratch s;
    struct err err = {0};
    struct catalog *c = NULL;
    int64_t r;
    scratch_make(&s);
    struct db_config config = scratch_config(&s);
    fault_vfs_install();
    struct db *db = scratch_open(&db_sqlite, &config);
    cr_assert_eq(db_sqlite.load_catalog(db, &c, &err), 0);
    int pair = 0, failed = 0;
    for (int k = 0; k < 2; k++) {
        for (int n = 0; n < 40; n++) {
            fault_vfs = (struct fault_vfs){.fail_after = n, .code = kinds[k].code};
            err = (struct err){0};
            int rc = append_pair(db, c, pair + 1, &r, &err);
            int met = fault_vfs.failures;
            fault_vfs = (struct fault_vfs){.fail_after = -1};
            if (rc == 0) {
                pair++;
                cr_assert_eq(met, 0, "a failed write was answered with success");
                break;
            }
            cr_assert_eq(err.code, kinds[k].expected, "call %d: %s: %s", n, err_name(err.code), err.detail);
            failed++;
            cr_assert_eq(db_sqlite.catalog_revision(db, &r, &err), 0, "reads go on: %s", err.detail);
            cr_assert_eq(r, 1 + pair, "nothing of the failed append is seen");
        }
        cr_assert_eq(append_pair(db, c, pair + 1, &r, &err), 0, "room again: %s", err.detail);
        pair++;
        cr_assert_eq(r, 1 + pair);
    }
    cr_assert_geq(failed, 4, "%d failures were tried", failed);
    /* a backup onto the full disk fails, and leaves no file that looks like one */
    char copy[300];
    scratch_path(&s, "copy.db", copy);
    fault_vfs = (struct fault_vfs){.fail_after = 3, .code = SQLITE_FULL};
    err = (struct err){0};
    cr_assert_eq(db_sqlite.backup(db, copy, &err), -1);
    cr_assert_eq(err.code, ERR_FULL, "%s", err.detail);
    cr_assert(!scratch_exists(copy));
    fault_vfs = (struct fault_vfs){.fail_after = -1};
    cr_assert_eq(db_sqlite.backup(db, copy, &err), 0, "%s", err.detail);
    test_catalog_free(c);
    db_sqlite.close(db);
    cr_assert_eq(inspect(s.db).highest, pair);
    cr_assert_eq(inspect(copy).highest, pair);
    scratch_remove(&s);
}

/* The same while the file is being created, migrated and seeded. */
Test(crash, full_disk_at_the_first_start, .timeout = 120)
{
    fault_vfs_install();
    int failed = 0;
    for (int n = 0; n < 4000; n += 1 + n / 6) {
        struct scratch s;
        struct err err = {0};
        struct db *db = NULL;
        scratch_make(&s);
        struct db_config config = scratch_config(&s);
        fault_vfs = (struct fault_vfs){.fail_after = n, .code = SQLITE_FULL};
        int rc = db_sqlite.open(&config, &db, &err);
        fault_vfs = (struct fault_vfs){.fail_after = -1};
        if (rc == 0)
            db_sqlite.close(db);
        else
            cr_assert_eq(err.code, ERR_FULL, "write %d: %s: %s", n, err_name(err.code), err.detail);
        failed += rc != 0;
        cr_assert_eq(inspect(s.db).highest, 0, "the next start completes it");
        scratch_remove(&s);
        if (rc == 0)
            break;
    }
    cr_assert_geq(failed, 10, "%d failures were tried", failed);
}

Test(crash, read_only_disk)
{
    struct scratch s;
    struct err err = {0};
    struct db *db = NULL;
    scratch_make(&s);
    struct db_config config = scratch_config(&s);
    db_sqlite.close(scratch_open(&db_sqlite, &config));
    fault_vfs_install();
    fault_vfs.refuse_writers = 1;
    cr_assert_eq(db_sqlite.open(&config, &db, &err), -1);
    cr_assert_eq(err.code, ERR_IO, "%s", err.detail);
    fault_vfs.refuse_writers = 0;
    cr_assert_eq(inspect(s.db).highest, 0);
    /* a folder in which nothing can be made, seen by somebody who is not root: no new database, but reading goes */
    char odd[300];
    scratch_path(&s, "odd #1? 100%.db", odd);
    scratch_copy(s.db, odd);
    fflush(NULL);
    cr_assert_eq(chmod(odd, 0644), 0);
    cr_assert_eq(chmod(s.folder, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(9);
        char path[400];
        struct catalog *c = NULL;
        snprintf(path, sizeof path, "%s/new.db", s.folder);
        config.path = path;
        if (db_sqlite.open(&config, &db, &err) != -1 || err.code != ERR_IO)
            _exit(1);
        config.path = odd;
        config.read_only = true;
        if (db_sqlite.open(&config, &db, &err) != 0 || db_sqlite.load_catalog(db, &c, &err) != 0)
            _exit(2);
        _exit(db_sqlite.check(db, &err) == 0 && c->n_prices > 150 ? 0 : 3);
    }
    int status;
    waitpid(child, &status, 0);
    chmod(s.folder, 0755);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
    scratch_remove(&s);
}

static void damage(const char *path, size_t from, size_t n)
{
    int fd = open(path, O_WRONLY);
    unsigned char junk[4096];
    memset(junk, 0xa5, sizeof junk);
    cr_assert_geq(fd, 0);
    for (size_t at = from; at < from + n; at += sizeof junk)
        cr_assert_eq(pwrite(fd, junk, sizeof junk, (off_t)at), (ssize_t)sizeof junk);
    close(fd);
}

/* A damaged file is refused at the start; damage met in service turns the status red and is never answered as data. */
Test(crash, corrupt_file)
{
    struct scratch s;
    struct err err = {0};
    struct db *db = NULL;
    struct catalog *c = NULL;
    struct db_status status;
    struct stat st;
    scratch_make(&s);
    struct db_config config = scratch_config(&s);
    db_sqlite.close(scratch_open(&db_sqlite, &config));
    cr_assert_eq(stat(s.db, &st), 0);
    cr_assert_eq(st.st_mode & 0777, 0600, "the database is its owner's alone");
    size_t n;
    unsigned char *good = scratch_read(s.db, &n);
    size_t half = n / 4096 / 2 * 4096; /* rows; the schema and the marks of the migrations are in front */
    damage(s.db, half, n - half);
    cr_assert_eq(db_sqlite.open(&config, &db, &err), -1);
    cr_assert_eq(err.code, ERR_CORRUPT, "%s: %s", err_name(err.code), err.detail);
    config.quick_check_max_bytes = 4096; /* the check at the start skipped: the damage is met later */
    db = scratch_open(&db_sqlite, &config);
    cr_assert_eq(db_sqlite.status(db, &status, &err), 0);
    cr_assert(!status.corrupt);
    cr_assert_eq(db_sqlite.load_catalog(db, &c, &err), -1);
    cr_assert_eq(err.code, ERR_CORRUPT, "%s", err.detail);
    db_sqlite.status(db, &status, &err);
    cr_assert(status.corrupt);
    cr_assert_eq(db_sqlite.check(db, &err), -1);
    cr_assert_eq(err.code, ERR_CORRUPT, "%s", err.detail);
    char copy[300];
    scratch_path(&s, "copy.db", copy);
    cr_assert_eq(db_sqlite.backup(db, copy, &err), -1, "a damaged database is no backup");
    cr_assert_eq(err.code, ERR_CORRUPT, "%s", err.detail);
    cr_assert(!scratch_exists(copy));
    db_sqlite.close(db);
    scratch_write(s.db, good, n / 2); /* cut short */
    char name[320];
    snprintf(name, sizeof name, "%s-wal", s.db);
    unlink(name);
    config.quick_check_max_bytes = 0;
    cr_assert_eq(db_sqlite.open(&config, &db, &err), -1);
    cr_assert_eq(err.code, ERR_CORRUPT, "%s", err.detail);
    scratch_write(s.db, good, n);
    free(good);
    cr_assert_eq(inspect(s.db).highest, 0);
    scratch_remove(&s);
}
