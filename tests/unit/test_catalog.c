/* test_catalog.c — looking up what is for sale: names, dates, rates, and 100,000 price rows. */
#include <criterion/criterion.h>
#include <string.h>

#include "planner/core/catalog.h"

#define N(a) (sizeof(a) / sizeof *(a))
#define MICROS 1000000LL

static struct gpu gpus[] = {
    {.id = "h100-sxm5-80g", .name = "H100-SXM5-80G", .memory_gb = 80, .usable_gib = 79},
    {.id = "a100-sxm4-80g", .name = "A100-80G-SXM4", .memory_gb = 80, .usable_gib = 79},
    {.id = "rtx-4090-24g", .name = "RTX 4090", .memory_gb = 24, .usable_gib = 22},
};
static struct gpu_alias aliases[] = {{"NVIDIA H100 80GB HBM3", &gpus[0]}, {"A100-80G", &gpus[1]}};
static struct provider providers[] = {{.id = "idc-b"}, {.id = "idc-a", .kind = PROVIDER_UNIVERSITY}};

static struct sku sku_of(const char *id, const struct provider *p, const struct gpu *g)
{
    return (struct sku){.id = id, .provider = p, .gpu = g, .gpus_per_node = 8, .max_nodes = 4};
}

static date_t day(const char *text)
{
    date_t d = DATE_NONE;
    cr_assert_eq(date_parse(text, &d), 0, "%s", text);
    return d;
}

static struct price sku_price(const char *id, const struct sku *s, enum pricing_mode mode, int64_t micros, date_t from,
                              date_t to)
{
    return (struct price){.id = id,
                          .subject = SUBJECT_SKU,
                          .sku = s,
                          .mode = mode,
                          .currency = "CNY",
                          .micros = micros,
                          .unit = UNIT_GPU_HOUR,
                          .effective_from = from,
                          .effective_to = to};
}

static struct catalog base_catalog(struct arena *a)
{
    return (struct catalog){.arena = a,
                            .gpus = gpus,
                            .n_gpus = N(gpus),
                            .aliases = aliases,
                            .n_aliases = N(aliases),
                            .providers = providers,
                            .n_providers = N(providers)};
}

Test(catalog, a_card_is_found_however_it_is_spelt)
{
    struct arena *a = arena_new(1 << 20);
    struct catalog c = base_catalog(a);
    cr_expect_null(catalog_gpu(&c, "h100-sxm5-80g"), "nothing before the index is built");
    struct err err = {0};
    cr_assert_eq(catalog_index(&c, &err), 0, "%s", err.detail);
    static const struct {
        const char *name;
        int gpu;
    } cases[] = {
        {"h100-sxm5-80g", 0},
        {"H100-SXM5-80G", 0},
        {"H100 SXM5 80GB", 0},
        {"NVIDIA H100 80GB HBM3", 0},
        {"NVIDIA A100-SXM4-80GB", 1},
        {"a100 80g", 1},
        {"A100_80G", 1},
        {"NVIDIA GeForce RTX 4090", 2},
        {"rtx4090", 2},
        {"RTX-4090-24GB", 2},
        {"h100", -1},
        {"", -1},
        {"---", -1},
        {"rtx 4090 d", -1},
        {"a name that is far longer than any card of any maker has ever been called, and then some more of it", -1},
    };
    for (size_t i = 0; i < N(cases); i++) {
        const struct gpu *g = catalog_gpu(&c, cases[i].name);
        cr_expect_eq(g, cases[i].gpu < 0 ? NULL : &gpus[cases[i].gpu], "%s", cases[i].name);
    }
    cr_expect_null(catalog_gpu(&c, NULL));
    cr_expect_eq(catalog_provider(&c, "idc-a"), &providers[1]);
    cr_expect_null(catalog_provider(&c, "idc-"));
    cr_expect_null(catalog_sku(&c, "x"));
    arena_free(a);
}

Test(catalog, the_price_in_force_on_the_day)
{
    struct arena *a = arena_new(1 << 20);
    struct catalog c = base_catalog(a);
    struct sku skus[] = {sku_of("s2", &providers[0], &gpus[0]), sku_of("s1", &providers[1], &gpus[1])};
    struct price prices[] = {
        sku_price("p1", &skus[0], MODE_HOURLY, 1 * MICROS, day("2026-01-01"), day("2026-06-01")),
        sku_price("p2", &skus[0], MODE_HOURLY, 2 * MICROS, day("2026-06-01"), DATE_NONE),
        sku_price("p3", &skus[0], MODE_HOURLY, 3 * MICROS, day("2027-01-01"), DATE_NONE),
        sku_price("p4", &skus[0], MODE_MONTHLY, 4 * MICROS, DATE_NONE, DATE_NONE),
        sku_price("p5", &skus[0], MODE_HOURLY, 5 * MICROS, day("2026-08-01"), day("2026-08-15")),
        sku_price("p6", &skus[1], MODE_HOURLY, 6 * MICROS, day("2026-01-01"), DATE_NONE),
        sku_price("p7", &skus[1], MODE_HOURLY, 7 * MICROS, day("2026-01-01"), DATE_NONE),
        sku_price("p8", &skus[0], MODE_MONTHLY, 8 * MICROS, DATE_NONE, DATE_NONE),
    };
    prices[6].user_class = "internal";
    prices[7].term_months = 12;
    c.skus = skus, c.n_skus = N(skus), c.prices = prices, c.n_prices = N(prices);
    struct err err = {0};
    cr_assert_eq(catalog_index(&c, &err), 0, "%s", err.detail);
    static const struct {
        int sku;
        enum pricing_mode mode;
        const char *user_class, *on, *want;
    } cases[] = {
        {0, MODE_HOURLY, NULL, "2025-12-31", NULL},       {0, MODE_HOURLY, NULL, "2026-01-01", "p1"},
        {0, MODE_HOURLY, "", "2026-05-31", "p1"},         {0, MODE_HOURLY, NULL, "2026-06-01", "p2"},
        {0, MODE_HOURLY, NULL, "2026-08-01", "p5"},       {0, MODE_HOURLY, NULL, "2026-08-15", "p2"},
        {0, MODE_HOURLY, NULL, "2026-12-31", "p2"},       {0, MODE_HOURLY, NULL, "2030-01-01", "p3"},
        {0, MODE_MONTHLY, NULL, "2026-01-01", "p4"},      {0, MODE_ANNUAL, NULL, "2026-01-01", NULL},
        {1, MODE_HOURLY, NULL, "2026-07-01", "p6"},       {1, MODE_HOURLY, "internal", "2026-07-01", "p7"},
        {1, MODE_HOURLY, "external", "2026-07-01", "p6"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        const struct price *p =
            catalog_sku_price(&c, &skus[cases[i].sku], cases[i].mode, cases[i].user_class, day(cases[i].on));
        cr_expect_str_eq(p == NULL ? "none" : p->id, cases[i].want == NULL ? "none" : cases[i].want, "case %zu", i);
    }
    cr_expect_eq(skus[0].n_prices, 6u);
    for (size_t i = 0; i < skus[0].n_prices; i++)
        cr_expect_eq(c.prices[skus[0].first_price + i].sku, &skus[0]);
    arena_free(a);
}

Test(catalog, other_subjects_fall_back_to_any_provider)
{
    struct arena *a = arena_new(1 << 20);
    struct catalog c = base_catalog(a);
    struct price prices[] = {
        {.id = "n1", .subject = SUBJECT_NETWORK, .subject_id = "ib-400", .unit = UNIT_NODE_MONTH, .micros = 1},
        {.id = "n2",
         .subject = SUBJECT_NETWORK,
         .subject_id = "ib-400",
         .provider = &providers[0],
         .unit = UNIT_NODE_MONTH,
         .micros = 2},
        {.id = "e1", .subject = SUBJECT_EGRESS, .subject_id = "idc-a", .provider = &providers[1], .unit = UNIT_GB},
    };
    for (size_t i = 0; i < N(prices); i++)
        prices[i].effective_from = prices[i].effective_to = DATE_NONE;
    c.prices = prices, c.n_prices = N(prices);
    struct err err = {0};
    cr_assert_eq(catalog_index(&c, &err), 0, "%s", err.detail);
    date_t on = day("2026-11-30");
    const struct price *p = catalog_price(&c, SUBJECT_NETWORK, "ib-400", &providers[0], UNIT_NODE_MONTH, on);
    cr_assert_not_null(p);
    cr_expect_str_eq(p->id, "n2");
    p = catalog_price(&c, SUBJECT_NETWORK, "ib-400", &providers[1], UNIT_NODE_MONTH, on);
    cr_assert_not_null(p);
    cr_expect_str_eq(p->id, "n1");
    cr_expect_null(catalog_price(&c, SUBJECT_NETWORK, "ib-400", &providers[1], UNIT_GB, on));
    p = catalog_price(&c, SUBJECT_EGRESS, NULL, &providers[1], UNIT_GB, on);
    cr_assert_not_null(p);
    cr_expect_str_eq(p->id, "e1");
    cr_expect_null(catalog_price(&c, SUBJECT_EGRESS, NULL, &providers[0], UNIT_GB, on));
    arena_free(a);
}

Test(catalog, rates_and_taxes_of_the_day)
{
    struct arena *a = arena_new(1 << 20);
    struct catalog c = base_catalog(a);
    struct fx_rate rates[] = {
        {"USD", "CNY", day("2026-10-01"), 7100000, "bank"},
        {"USD", "CNY", day("2026-11-01"), 7200000, "bank"},
        {"EUR", "CNY", day("2026-11-01"), 7800000, "bank"},
    };
    struct tax_code taxes[] = {
        {.code = "service_6", .rate_bp = 600, .valid_from = day("2016-05-01"), .valid_to = DATE_NONE},
        {.code = "goods", .rate_bp = 1600, .valid_from = day("2018-05-01"), .valid_to = day("2019-04-01")},
        {.code = "goods", .rate_bp = 1300, .valid_from = day("2019-04-01"), .valid_to = DATE_NONE},
    };
    c.fx_rates = rates, c.n_fx_rates = N(rates), c.tax_codes = taxes, c.n_tax_codes = N(taxes);
    struct err err = {0};
    cr_assert_eq(catalog_index(&c, &err), 0, "%s", err.detail);
    int64_t rate = 0;
    date_t on = 0;
    cr_assert_eq(catalog_fx(&c, "USD", "CNY", day("2026-10-31"), &rate, &on), 0);
    cr_expect(rate == 7100000 && on == day("2026-10-01"));
    cr_assert_eq(catalog_fx(&c, "USD", "CNY", day("2026-11-30"), &rate, &on), 0);
    cr_expect(rate == 7200000 && on == day("2026-11-01"));
    cr_expect_eq(catalog_fx(&c, "USD", "CNY", day("2026-09-30"), &rate, &on), -1, "no rate of the future");
    cr_assert_eq(catalog_fx(&c, "CNY", "USD", day("2026-11-30"), &rate, &on), 0);
    cr_expect_eq(rate, 138889, "the inverse, rounded once");
    int64_t amount = 0;
    cr_assert_eq(catalog_convert(&c, "CNY", "USD", day("2026-11-30"), 120000000, &amount), 0);
    cr_expect_eq(amount, 16666667, "120 yuan at 7.2 to the last digit: %ld", (long)amount);
    cr_assert_eq(catalog_convert(&c, "USD", "CNY", day("2026-10-31"), 120000000, &amount), 0);
    cr_expect_eq(amount, 852000000);
    cr_expect_eq(catalog_convert(&c, "USD", "EUR", day("2026-11-30"), 1, &amount), -1);
    cr_expect_eq(catalog_convert(&c, "USD", "CNY", day("2026-11-30"), INT64_MAX / 2, &amount), -1, "past int64");
    cr_assert_eq(catalog_fx(&c, "CNY", "CNY", day("2026-11-30"), &rate, &on), 0);
    cr_expect_eq(rate, MICROS);
    cr_expect_eq(catalog_fx(&c, "USD", "EUR", day("2026-11-30"), &rate, &on), -1);
    int64_t bp = 0;
    cr_assert_eq(catalog_tax(&c, "goods", day("2019-03-31"), &bp), 0);
    cr_expect_eq(bp, 1600);
    cr_assert_eq(catalog_tax(&c, "goods", day("2019-04-01"), &bp), 0);
    cr_expect_eq(bp, 1300);
    cr_expect_eq(catalog_tax(&c, "goods", day("2018-04-30"), &bp), -1);
    cr_expect_eq(catalog_tax(&c, "service_13", day("2026-11-30"), &bp), -1);
    arena_free(a);
}

Test(catalog, refuses_dangling_and_duplicate_rows)
{
    struct arena *a = arena_new(1 << 20);
    struct err err = {0};
    struct catalog c = base_catalog(a);
    struct sku skus[] = {sku_of("s1", &providers[0], &gpus[0]), sku_of("s1", &providers[0], &gpus[0])};
    c.skus = skus, c.n_skus = 2;
    cr_expect_eq(catalog_index(&c, &err), -1);
    cr_expect_eq(err.code, ERR_CORRUPT);
    cr_expect_str_eq(err.pointer, "s1");
    skus[1] = sku_of("s2", NULL, &gpus[0]);
    cr_expect_eq(catalog_index(&c, &err), -1, "a SKU of nobody");
    c.n_skus = 1;
    struct price p[] = {sku_price("p", &skus[1], MODE_HOURLY, 1, DATE_NONE, DATE_NONE)};
    c.prices = p, c.n_prices = 1;
    cr_expect_eq(catalog_index(&c, &err), -1, "a price of no SKU");
    p[0].sku = &skus[0];
    cr_expect_eq(catalog_index(&c, &err), 0, "%s", err.detail);
    struct gpu_alias two[] = {{"a100-sxm4-80g", &gpus[0]}};
    c.aliases = two, c.n_aliases = 1;
    cr_expect_eq(catalog_index(&c, &err), -1, "one spelling, two cards");
    c.n_aliases = 0;
    const struct param twice[] = {{.key = "x"}, {.key = "a"}, {.key = "x"}};
    c.params = (struct param_table){twice, 3};
    cr_expect_eq(catalog_index(&c, &err), -1, "a parameter twice");
    c.params.n = 2;
    cr_expect_eq(catalog_index(&c, &err), 0);
    cr_expect_not_null(param_find(&c.params, "a"));
    cr_expect_not_null(param_find(&c.params, "x"));
    cr_expect_null(param_find(&c.params, "b"));
    arena_free(a);
}

/* 100,000 rows: 100 SKUs with a thousand days of history each; every day finds its own row, whatever the order. What
 * a look-up costs is shown by make bench. */
Test(catalog, a_hundred_thousand_prices)
{
    enum { SKUS = 100, ROWS = 1000, LOOKUPS = 200000 };
    struct arena *a = arena_new((size_t)256 << 20);
    struct catalog c = base_catalog(a);
    struct sku *skus = arena_array(a, SKUS, sizeof *skus);
    struct price *prices = arena_array(a, SKUS * ROWS, sizeof *prices);
    cr_assert(skus != NULL && prices != NULL);
    for (int s = 0; s < SKUS; s++)
        skus[s] = sku_of(arena_printf(a, "sku-%03d", s), &providers[s % 2], &gpus[s % 3]);
    for (int i = 0; i < SKUS * ROWS; i++) { /* in an order that nobody sorted */
        int r = (int)((long long)i * 7919 % (SKUS * ROWS));
        prices[i] = sku_price(arena_printf(a, "pr_%06d", r), &skus[r / ROWS], MODE_HOURLY, r, r % ROWS, r % ROWS + 1);
    }
    c.skus = skus, c.n_skus = SKUS, c.prices = prices, c.n_prices = SKUS * ROWS;
    struct err err = {0};
    cr_assert_eq(catalog_index(&c, &err), 0, "%s", err.detail);
    size_t found = 0;
    for (int i = 0; i < LOOKUPS; i++) {
        int s = i % SKUS, on = i / SKUS % (2 * ROWS);
        const struct price *p = catalog_sku_price(&c, &skus[s], MODE_HOURLY, NULL, on);
        if (p != NULL) {
            if (p->micros != s * ROWS + on) /* an assertion a lookup would be the larger part */
                cr_assert_fail("lookup %d: %lld", i, (long long)p->micros);
            found++;
        } else if (on < ROWS) {
            cr_assert_fail("lookup %d finds nothing", i);
        }
    }
    cr_expect_eq(found, (size_t)LOOKUPS / 2);
    arena_free(a);
}
