/* Provider quality as money: faults, repairs, set-up and support by tier, all of it data. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "planner/drafting/quality.h"
#include "planner/offers/kinds.h"
#include "tests/support/small_market.h"
#include "tests/support/test_catalog.h"

static struct catalog *market;
static struct arena *arena;

static void setup(void)
{
    market = small_market();
    arena = arena_new(32 << 20);
}

static void teardown(void)
{
    arena_free(arena);
    test_catalog_free(market);
}

TestSuite(quality, .init = setup, .fini = teardown);

Test(quality, lost_share_by_hand)
{
    const struct quality q = {
        .failure_factor = 2, .repair_hours = 8, .failure_card_hours = 45000, .restart_hours = 0.5};
    /* 64 cards fail every 703 h at the reference; twice that at this tier, 8.5 h each, less what is reckoned already */
    cr_expect_float_eq(quality_lost_share(&q, 64), 64.0 / 45000 * (2 * 8.5 - 0.5), 1e-12);
    const struct quality same = {.failure_factor = 1, .failure_card_hours = 45000, .restart_hours = 0.5};
    cr_expect_float_eq(quality_lost_share(&same, 64), 0, 1e-12);
}

Test(quality, tiers_are_data_and_unknown_tiers_cost_nothing)
{
    struct workload w = small_workload(market);
    struct build *b = small_build(market, &w, arena);
    static const char *const worse_to_better[] = {"market", "campus", "hpc", "local", "cloud"};
    const struct provider unknown = {.id = "x", .tier = "nobody-knows"};
    for (size_t i = 0; i < sizeof worse_to_better / sizeof *worse_to_better; i++) {
        const struct provider p = {.id = "x", .tier = worse_to_better[i]};
        cr_expect_geq(quality_lost_share(quality_of(b, &p), 64), 0);
        if (i > 0) {
            const struct provider worse = {.id = "x", .tier = worse_to_better[i - 1]};
            cr_expect_leq(quality_of(b, &p)->setup_hours, quality_of(b, &worse)->setup_hours + 8, "%s", p.tier);
            cr_expect_leq(quality_of(b, &p)->failure_factor, quality_of(b, &worse)->failure_factor, "%s", p.tier);
        }
    }
    cr_expect_float_eq(quality_lost_share(quality_of(b, &unknown), 1024), 0, 1e-12);
    cr_expect_float_eq(quality_of(b, &unknown)->debug_factor, 1, 1e-12);
}

/* The same machine at a worse tier: the same job costs more and ends no sooner. */
Test(quality, a_worse_tier_costs_money)
{
    struct option_list out[2] = {0};
    for (int i = 0; i < 2; i++) {
        struct workload w = small_workload(market);
        struct assumption_override o[] = {{"tier_local_setup_hours", i ? 48 : 0},
                                          {"tier_local_repair_hours", i ? 72 : 0},
                                          {"tier_local_failure_factor", i ? 5 : 1},
                                          {"tier_local_debug_factor", i ? 1.5 : 1}};
        w.training.tokens = 2e10;
        w.overrides = o;
        w.n_overrides = 4;
        struct build *b = small_build(market, &w, arena);
        struct err err = {0};
        cr_assert_eq(option_single_build(b, &out[i], &err), 0, "%s", err.detail);
        cr_assert_gt(out[i].n, 0);
        cr_expect_eq(note_find(&out[i].items[0]->reasons, "provider_quality") != NULL, i == 1);
    }
    int compared = 0;
    for (size_t k = 0; k < out[0].n * out[1].n; k++) {
        const struct draft *good = out[0].items[k / out[1].n], *bad = out[1].items[k % out[1].n];
        if (good->shape.gpus_per_node != bad->shape.gpus_per_node)
            continue;
        compared++;
        cr_expect_gt(bad->base->total, good->base->total, "%d cards", good->shape.gpus_per_node);
        cr_expect_geq(bad->base->schedule.finish_days, good->base->schedule.finish_days);
    }
    cr_expect_gt(compared, 0);
}
