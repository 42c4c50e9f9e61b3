/* db_contract.c — see db_contract.h. */
#include "tests/db/db_contract.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/test_catalog.h"

#define OK(call) cr_assert_eq((call), 0, "%s: %s", err_name(err.code), err.detail)
#define FAILS(call, expected)                                                                                          \
    do {                                                                                                               \
        err = (struct err){0};                                                                                         \
        cr_assert_eq((call), -1, "must fail");                                                                         \
        cr_assert_eq(err.code, (expected), "%s: %s", err_name(err.code), err.detail);                                  \
    } while (0)

struct place {
    char path[300];
    struct db_config config;
};

static void place_init(struct place *p, const struct engine *e, const char *folder, const char *name)
{
    e->new_place(folder, name, p->path);
    p->config =
        (struct db_config){.path = p->path, .migrations = &embed_migrations, .seed = &embed_seed, .create = true};
}

static struct db *open_place(const struct engine *e, const struct place *p)
{
    struct err err = {0};
    struct db *db = NULL;
    OK(e->ops->open(&p->config, &db, &err));
    return db;
}

static struct catalog *load(const struct engine *e, struct db *db)
{
    struct err err = {0};
    struct catalog *c = NULL;
    OK(e->ops->load_catalog(db, &c, &err));
    return c;
}

static int64_t revision(const struct engine *e, struct db *db)
{
    struct err err = {0};
    int64_t r = -1;
    OK(e->ops->catalog_revision(db, &r, &err));
    return r;
}

/* A new hourly price of a SKU of the shipped catalog, from a day that is after all of the seed's. */
static struct price hourly(const struct catalog *c, const char *sku, const char *id, int64_t micros, date_t from)
{
    const struct price *old = catalog_sku_price(c, catalog_sku(c, sku), MODE_HOURLY, "", date_from_civil(2026, 12, 1));
    cr_assert_not_null(old);
    struct price p = *old;
    p.id = id;
    p.micros = micros;
    p.micros_high = 0;
    p.effective_from = from;
    p.effective_to = DATE_NONE;
    p.observed_on = from;
    p.state = PRICE_FIRM;
    p.rule = "";
    p.source = "contract test";
    p.confidence = "high";
    return p;
}

static const char sku_id[] = "hefei-hightech-idc-a100-sxm4-80g-x8";
static date_t first_day(void)
{
    return date_from_civil(2027, 1, 1);
}

static int64_t hourly_on(const struct catalog *c, date_t on)
{
    const struct price *p = catalog_sku_price(c, catalog_sku(c, sku_id), MODE_HOURLY, "", on);
    return p ? p->micros : -1;
}

static void first_open_seeds(const struct engine *e, const char *folder)
{
    struct err err = {0};
    struct place p;
    struct db_status status;
    place_init(&p, e, folder, "a");
    struct db *db = open_place(e, &p);
    OK(e->ops->status(db, &status, &err));
    cr_assert_eq(status.schema_version, (int)embed_migrations.n);
    cr_assert_eq(status.catalog_revision, 1);
    cr_assert(status.writable && !status.corrupt);
    cr_assert_eq(status.busy_retries, 0u);
    struct catalog *c = load(e, db);
    cr_assert_eq(c->revision, 1);
    cr_assert_gt(c->n_prices, 150u);
    cr_assert_not_null(catalog_sku(c, sku_id));
    test_catalog_free(c);
    e->ops->close(db);
}

static void reopening_keeps_the_data(const struct engine *e, const char *folder)
{
    struct err err = {0};
    struct place p;
    int64_t r = 0;
    place_init(&p, e, folder, "a");
    struct db *db = open_place(e, &p);
    struct catalog *c = load(e, db);
    struct price price = hourly(c, sku_id, "pr_x", 11 * 1000000, first_day());
    OK(e->ops->append_prices(db, &price, 1, &r, &err));
    cr_assert_eq(r, 2);
    size_t n = c->n_prices;
    test_catalog_free(c);
    e->ops->close(db);
    db = open_place(e, &p);
    cr_assert_eq(revision(e, db), 2, "the same seed is not applied twice");
    c = load(e, db);
    cr_assert_eq(c->n_prices, n + 1);
    cr_assert_eq(hourly_on(c, first_day()), 11 * 1000000);
    test_catalog_free(c);
    e->ops->close(db);
}

static void appending_closes_the_open_interval(const struct engine *e, const char *folder)
{
    struct err err = {0};
    struct place p;
    int64_t r = 0;
    place_init(&p, e, folder, "a");
    struct db *db = open_place(e, &p);
    struct catalog *before = load(e, db);
    int64_t old = hourly_on(before, first_day());
    struct price price = hourly(before, sku_id, "pr_x", 123456789, first_day());
    OK(e->ops->append_prices(db, &price, 1, &r, &err));
    cr_assert_eq(r, 2);
    cr_assert_eq(revision(e, db), 2);
    cr_assert_eq(hourly_on(before, first_day()), old, "a snapshot never changes");
    struct catalog *after = load(e, db);
    cr_assert_eq(after->revision, 2);
    cr_assert_eq(hourly_on(after, first_day()), 123456789);
    cr_assert_eq(hourly_on(after, first_day() - 1), old, "the day before has the old price");
    size_t open = 0, closed = 0;
    for (size_t i = 0; i < after->n_prices; i++) {
        const struct price *q = &after->prices[i];
        if (q->subject != SUBJECT_SKU || strcmp(q->sku->id, sku_id) != 0 || q->mode != MODE_HOURLY)
            continue;
        open += q->effective_to == DATE_NONE;
        closed += q->effective_to == first_day();
    }
    cr_assert_eq(open, 1u);
    cr_assert_eq(closed, 1u);
    test_catalog_free(before);
    test_catalog_free(after);
    e->ops->close(db);
}

/* Everything that can be stored comes back equal. */
static void a_price_comes_back_whole(const struct engine *e, const char *folder)
{
    struct err err = {0};
    struct place p;
    int64_t r;
    place_init(&p, e, folder, "a");
    struct db *db = open_place(e, &p);
    struct catalog *c = load(e, db);
    struct price in = hourly(c, sku_id, "pr_whole", 0, first_day());
    in.sku = catalog_sku(c, "ustc-a100-sxm4-80g-x8");
    in.micros = 9007199254740993; /* not a double */
    in.micros_high = INT64_MAX;
    in.mode = MODE_ANNUAL;
    in.term_months = 36;
    in.unit = UNIT_NODE_YEAR;
    memcpy(in.currency, "USD", 4);
    in.tax_included = true;
    in.granularity_milli_h = 17;
    in.deposit_ppm = 2000000;
    in.user_class = "external";
    in.off_peak_only = true;
    in.effective_to = date_from_civil(2199, 12, 31);
    in.observed_on = date_from_civil(1970, 1, 1);
    in.state = PRICE_DERIVED;
    in.rule = "some_rule";
    in.spot_interruptions_per_h = 0.125;
    in.source = "O'Neill \"quoted\", 来源;--";
    in.source_url = "https://example.com/?a=b&c=%20";
    in.note = "line one\nline two";
    OK(e->ops->append_prices(db, &in, 1, &r, &err));
    struct catalog *after = load(e, db);
    const struct price *out = NULL;
    for (size_t i = 0; i < after->n_prices; i++)
        if (strcmp(after->prices[i].id, "pr_whole") == 0)
            out = &after->prices[i];
    cr_assert_not_null(out);
    cr_assert_eq(out->micros, in.micros);
    cr_assert_eq(out->micros_high, in.micros_high);
    cr_assert_eq(out->mode, in.mode);
    cr_assert_eq(out->term_months, 36);
    cr_assert_eq(out->unit, in.unit);
    cr_assert_str_eq(out->currency, "USD");
    cr_assert(out->tax_included && out->off_peak_only && !out->free_of_charge);
    cr_assert_eq(out->granularity_milli_h, 17);
    cr_assert_eq(out->deposit_ppm, 2000000);
    cr_assert_str_eq(out->user_class, "external");
    cr_assert_eq(out->effective_from, in.effective_from);
    cr_assert_eq(out->effective_to, in.effective_to);
    cr_assert_eq(out->observed_on, 0);
    cr_assert_eq(out->state, PRICE_DERIVED);
    cr_assert_str_eq(out->rule, "some_rule");
    cr_assert_float_eq(out->spot_interruptions_per_h, 0.125, 0);
    cr_assert_str_eq(out->source, in.source);
    cr_assert_str_eq(out->source_url, in.source_url);
    cr_assert_str_eq(out->note, in.note);
    cr_assert_str_eq(out->sku->id, "ustc-a100-sxm4-80g-x8");
    test_catalog_free(c);
    test_catalog_free(after);
    e->ops->close(db);
}

/* Refused appends, each offered after a good price in the same call: nothing of the call may stay. */
static void refused_appends_leave_nothing(const struct engine *e, const char *folder)
{
    struct err err = {0};
    struct place place;
    int64_t r = 0;
    place_init(&place, e, folder, "a");
    struct db *db = open_place(e, &place);
    struct catalog *c = load(e, db);
    struct price first = hourly(c, sku_id, "pr_first", 1000000, first_day());
    OK(e->ops->append_prices(db, &first, 1, &r, &err));
    struct sku stranger = *catalog_sku(c, sku_id);
    stranger.id = "no-such-sku";
    struct price good = hourly(c, "hefei-hightech-idc-h100-sxm5-80g-x8", "pr_good", 5000000, first_day());
    const struct price base = hourly(c, sku_id, "pr_bad", 2000000, first_day() + 10);
    struct {
        struct price price;
        enum err_code code;
    } cases[] = {{base, ERR_CONFLICT}, {base, ERR_CONFLICT}, {base, ERR_CONFLICT}, {base, ERR_NOT_FOUND},
                 {base, ERR_INVALID},  {base, ERR_INVALID},  {base, ERR_INVALID},  {base, ERR_INVALID},
                 {base, ERR_INVALID},  {base, ERR_INVALID},  {base, ERR_INVALID},  {base, ERR_INVALID}};
    cases[0].price.effective_from = first_day();     /* the day its predecessor began */
    cases[1].price.effective_from = first_day() - 1; /* before it */
    cases[2].price.id = "pr_first";                  /* an id that is taken */
    cases[3].price.sku = &stranger;
    cases[4].price.micros = 0; /* not said to be free */
    cases[5].price.state = PRICE_QUOTE_ONLY;
    cases[6].price.rule = "a rule, but not derived";
    cases[7].price.state = PRICE_DERIVED; /* without a rule */
    cases[8].price.effective_from = DATE_NONE;
    cases[9].price.observed_on = DATE_NONE;
    cases[10].price.micros = -1;
    cases[11].price.source = "";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct price both[2] = {good, cases[i].price};
        err = (struct err){0};
        r = 77;
        cr_assert_eq(e->ops->append_prices(db, both, 2, &r, &err), -1, "case %zu", i);
        cr_assert_eq(err.code, cases[i].code, "case %zu: %s: %s", i, err_name(err.code), err.detail);
        cr_assert_eq(r, 77, "case %zu: untouched on failure", i);
        cr_assert_eq(revision(e, db), 2, "case %zu", i);
    }
    struct catalog *after = load(e, db);
    cr_assert_eq(after->n_prices, c->n_prices + 1);
    OK(e->ops->append_prices(db, &base, 1, &r, &err));
    struct price inside = base; /* into an interval that is closed by now */
    inside.id = "pr_inside";
    inside.effective_from = first_day() + 5;
    FAILS(e->ops->append_prices(db, &inside, 1, &r, &err), ERR_CONFLICT);
    test_catalog_free(c);
    test_catalog_free(after);
    e->ops->close(db);
}

static void reading_only(const struct engine *e, const char *folder)
{
    struct err err = {0};
    struct place p;
    struct db *reader = NULL;
    struct db_status status;
    int64_t r = 0;
    place_init(&p, e, folder, "a");
    struct db_config missing = p.config;
    missing.read_only = true;
    FAILS(e->ops->open(&missing, &reader, &err), ERR_NOT_FOUND);
    missing = p.config;
    missing.create = false;
    FAILS(e->ops->open(&missing, &reader, &err), ERR_NOT_FOUND);
    struct db *server = open_place(e, &p);
    p.config.read_only = true;
    reader = open_place(e, &p); /* beside the server: `suanpan plan`, `check`, `backup` */
    OK(e->ops->status(reader, &status, &err));
    cr_assert(!status.writable);
    struct catalog *c = load(e, reader);
    struct price price = hourly(c, sku_id, "pr_x", 1000000, first_day());
    FAILS(e->ops->append_prices(reader, &price, 1, &r, &err), ERR_CONFLICT);
    FAILS(e->ops->maintain(reader, &err), ERR_CONFLICT);
    OK(e->ops->check(reader, &err));
    OK(e->ops->append_prices(server, &price, 1, &r, &err));
    cr_assert_eq(revision(e, reader), 2, "sees what the server committed");
    test_catalog_free(c);
    e->ops->close(reader);
    e->ops->close(server);
}

static void a_second_server_is_refused(const struct engine *e, const char *folder)
{
    struct err err = {0};
    struct place p;
    struct db *second = NULL;
    if (!e->one_server)
        return;
    place_init(&p, e, folder, "a");
    struct db *first = open_place(e, &p);
    FAILS(e->ops->open(&p.config, &second, &err), ERR_BUSY);
    cr_assert_null(second);
    cr_assert_eq(revision(e, first), 1, "the first one is not disturbed");
    e->ops->close(first);
    second = open_place(e, &p);
    e->ops->close(second);
}

static void backup_and_restore(const struct engine *e, const char *folder)
{
    struct err err = {0};
    struct place p, copy;
    int64_t r = 0;
    place_init(&p, e, folder, "a");
    place_init(&copy, e, folder, "copy");
    struct db *db = open_place(e, &p);
    struct catalog *c = load(e, db);
    struct price price = hourly(c, sku_id, "pr_x", 4242, first_day());
    OK(e->ops->append_prices(db, &price, 1, &r, &err));
    OK(e->ops->backup(db, copy.path, &err));
    FAILS(e->ops->backup(db, copy.path, &err), ERR_CONFLICT);
    struct price later = hourly(c, sku_id, "pr_y", 4343, first_day() + 1);
    OK(e->ops->append_prices(db, &later, 1, &r, &err));
    e->ops->close(db);
    db = open_place(e, &copy); /* a backup is a database: restoring is starting with it */
    cr_assert_eq(revision(e, db), 2);
    struct catalog *restored = load(e, db);
    cr_assert_eq(hourly_on(restored, first_day() + 1), 4242);
    OK(e->ops->check(db, &err));
    OK(e->ops->append_prices(db, &later, 1, &r, &err));
    cr_assert_eq(r, 3);
    test_catalog_free(c);
    test_catalog_free(restored);
    e->ops->close(db);
    FAILS(e->ops->open(
              &(struct db_config){.path = "/nowhere/at/all/a.db", .migrations = &embed_migrations, .create = true}, &db,
              &err),
          ERR_IO);
}

static void looking_after(const struct engine *e, const char *folder)
{
    struct err err = {0};
    struct place p;
    place_init(&p, e, folder, "a");
    struct db *db = open_place(e, &p);
    OK(e->ops->check(db, &err));
    OK(e->ops->maintain(db, &err));
    OK(e->ops->maintain(db, &err));
    OK(e->ops->check(db, &err));
    e->ops->close(db);
    e->ops->close(NULL);
}

struct worker {
    const struct engine *e;
    struct db *db;
    const struct catalog *base;
    const char *sku;
    int rounds, failures;
    bool writes;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < w->rounds; i++) {
        struct err err = {0};
        int64_t r = 0;
        struct catalog *c = NULL;
        char id[80];
        snprintf(id, sizeof id, "pr_%s_%d", w->sku, i);
        if (w->writes) {
            struct price p = hourly(w->base, w->sku, id, 1000000 + i, first_day() + i);
            w->failures += w->e->ops->append_prices(w->db, &p, 1, &r, &err) != 0;
        } else if (w->e->ops->load_catalog(w->db, &c, &err) == 0) {
            w->failures += c->revision < 1 || c->n_prices < w->base->n_prices;
            /* one revision, one price: a snapshot is of one moment */
            w->failures += c->n_prices - w->base->n_prices != (size_t)(c->revision - 1);
            test_catalog_free(c);
        } else {
            w->failures++;
        }
    }
    return NULL;
}

static void many_threads(const struct engine *e, const char *folder)
{
    struct place p;
    pthread_t threads[4];
    place_init(&p, e, folder, "a");
    struct db *db = open_place(e, &p);
    struct catalog *base = load(e, db);
    struct worker w[4] = {{e, db, base, sku_id, 20, 0, true},
                          {e, db, base, "hefei-hightech-idc-h100-sxm5-80g-x8", 20, 0, true},
                          {e, db, base, sku_id, 10, 0, false},
                          {e, db, base, sku_id, 10, 0, false}};
    for (int i = 0; i < 4; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, work, &w[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(w[i].failures, 0, "worker %d", i);
    cr_assert_eq(revision(e, db), 41);
    struct err err = {0};
    struct db_status status;
    OK(e->ops->status(db, &status, &err));
    cr_assert_eq(status.busy_retries, 0u, "one writer never waits for a lock");
    test_catalog_free(base);
    e->ops->close(db);
}

const struct contract db_contracts[] = {
    {"first_open_seeds", first_open_seeds},
    {"reopening_keeps_the_data", reopening_keeps_the_data},
    {"appending_closes_the_open_interval", appending_closes_the_open_interval},
    {"a_price_comes_back_whole", a_price_comes_back_whole},
    {"refused_appends_leave_nothing", refused_appends_leave_nothing},
    {"reading_only", reading_only},
    {"a_second_server_is_refused", a_second_server_is_refused},
    {"backup_and_restore", backup_and_restore},
    {"looking_after", looking_after},
    {"many_threads", many_threads},
};
const size_t db_contracts_n = sizeof db_contracts / sizeof *db_contracts;
