/* The market: lower bounds are lower bounds, and the cheapest offer found is the cheapest there is. */
#include <criterion/criterion.h>
#include <math.h>

#include "planner/drafting/build.h"
#include "planner/market/market_index.h"
#include "planner/offers/engine.h"
#include "planner/reserve/reserve.h"
#include "tests/support/small_market.h"
#include "tests/support/synthetic_catalog.h"
#include "tests/support/test_catalog.h"

static struct build *build_of(const struct catalog *c, const struct workload *w, struct arena *arena)
{
    struct plan_request *q = arena_alloc(arena, sizeof *q);
    struct build *b = arena_alloc(arena, sizeof *b);
    struct err err = {0};
    *q = (struct plan_request){.catalog = c, .workload = w};
    date_parse("2026-11-30", &q->as_of);
    cr_assert_eq(build_init(b, q, arena, &err), 0, "%s", err.detail);
    return b;
}

static struct build *build_on(const struct workload *w, struct arena *arena)
{
    return build_of(test_catalog_bound(), w, arena);
}

/* CNY of one card for 30 days, and for an hour by the hour, as market_find orders them. */
static double month_of(const struct offer *o)
{
    double node = o->by_node ? o->node_month_micros / o->sku->gpus_per_node : INFINITY;
    return fmin(node, o->by_card ? o->card_month_micros : INFINITY) / 1e6;
}

static double hour_of(const struct offer *o)
{
    double least = INFINITY;
    for (size_t i = 0; i < o->n_rates; i++)
        if (o->rates[i].days == 0)
            least = fmin(least, (double)o->rates[i].quantity_milli / 1000 * (double)o->rates[i].unit_micros / 1e6 /
                                    (o->rates[i].per_card ? 1 : o->sku->gpus_per_node));
    return least;
}

Test(offers_market, bounds_are_below_every_price)
{
    struct workload w;
    struct arena *arena = arena_new(16 << 20);
    workload_init(&w);
    struct build *b = build_on(&w, arena);
    const struct market_index *m = test_catalog_bound()->market;
    size_t priced = 0;
    for (size_t i = 0; i < test_catalog_bound()->n_skus; i++) {
        const struct offer *o = market_offer(&b->market, &test_catalog_bound()->skus[i], "partner");
        if (o == NULL)
            continue;
        priced++;
        cr_expect_leq((double)m->month_bound[i] * 0.9999, month_of(o), "%s: %f above %f a month", o->sku->id,
                      (double)m->month_bound[i], month_of(o));
        cr_expect_leq((double)m->hour_bound[i] * 0.9999, hour_of(o), "%s", o->sku->id);
    }
    cr_expect_gt(priced, 150);
    arena_free(arena);
}

static bool allowed(const struct build *b, const struct sku *s, const struct market_query *q)
{
    return s->gpu == q->gpu && (q->provider_kinds & 1u << s->provider->kind) && s->max_nodes >= q->nodes &&
           (!q->data_stays || s->provider->data_stays) && market_provider_allowed(&b->market, s->provider, false);
}

/* Months and years of other lengths: the index is made with 30 and 365 days, its bounds are scaled so that they stay
 * below every price, and the cheapest by the month is found. */
Test(offers_market, months_of_other_lengths_have_their_bounds)
{
    static const double cases[][3] = {{31, 730, 365}, {28, 730, 365}, {30, 600, 365}, {31, 600, 366}, {28, 744, 360}};
    const struct catalog *c = test_catalog_bound();
    const struct market_index *index = c->market;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct assumption_override o[] = {
            {"month_days", cases[k][0]}, {"month_hours", cases[k][1]}, {"year_days", cases[k][2]}};
        struct workload w;
        struct arena *arena = arena_new(16 << 20);
        workload_init(&w);
        w.overrides = o;
        w.n_overrides = 3;
        struct build *b = build_on(&w, arena);
        for (size_t i = 0; i < c->n_skus; i++) {
            const struct offer *offer = market_offer(&b->market, &c->skus[i], NULL);
            if (offer != NULL)
                cr_expect_leq((double)index->month_bound[i] * b->market.month_scale * 0.999, month_of(offer),
                              "case %zu: %s", k, offer->sku->id);
        }
        for (size_t g = 0; g < c->n_gpus; g++) {
            const struct market_query q = {.gpu = &c->gpus[g], .provider_kinds = MARKET_ANY_PROVIDER};
            const struct offer *found[1];
            double least = INFINITY;
            for (size_t i = 0; i < c->n_skus; i++) {
                const struct offer *offer =
                    allowed(b, &c->skus[i], &q) ? market_offer(&b->market, &c->skus[i], NULL) : NULL;
                least = offer != NULL ? fmin(least, month_of(offer)) : least;
            }
            if (market_find(&b->market, &q, found, 1) == 1)
                cr_expect_float_eq(month_of(found[0]), least, 1e-6 * least, "case %zu: %s", k, c->gpus[g].id);
        }
        arena_free(arena);
    }
}

Test(offers_market, finds_the_cheapest)
{
    const char *cities[] = {NULL, "hefei", "wuhan", "shenzhen", "nowhere"};
    for (size_t k = 0; k < sizeof cities / sizeof *cities; k++) {
        struct workload w;
        struct arena *arena = arena_new(16 << 20);
        workload_init(&w);
        w.constraints.city = cities[k];
        struct build *b = build_on(&w, arena);
        for (size_t g = 0; g < test_catalog_bound()->n_gpus; g++) {
            struct market_query q = {.gpu = &test_catalog_bound()->gpus[g],
                                     .provider_kinds = 1u << PROVIDER_LOCAL_IDC | 1u << PROVIDER_PUBLIC_CLOUD,
                                     .nodes = (int)(k % 2) + 1,
                                     .data_stays = k == 1};
            const struct offer *found[2];
            size_t n = market_find(&b->market, &q, found, 2);
            double least = INFINITY;
            for (size_t i = 0; i < test_catalog_bound()->n_skus; i++) {
                const struct sku *s = &test_catalog_bound()->skus[i];
                const struct offer *o = allowed(b, s, &q) ? market_offer(&b->market, s, NULL) : NULL;
                least = o != NULL ? fmin(least, month_of(o)) : least;
            }
            cr_expect_eq(n > 0, isfinite(least), "%s in %s", q.gpu->id, cities[k] != NULL ? cities[k] : "any city");
            cr_expect(n == 0 || month_of(found[0]) <= least + 1e-9, "%s: %f is not the least %f", q.gpu->id,
                      n > 0 ? month_of(found[0]) : 0, least);
            cr_expect(n < 2 || found[0] != found[1]);
        }
        arena_free(arena);
    }
}

/* What a plan has looked at is at hand in a plan made of it, whichever SKU has another price there: in a market of
 * thousands of SKUs, those that share a place in the cache too. */
Test(offers_market, a_plan_again_finds_what_the_plan_has_seen)
{
    enum { PRICES = 6000, SAME_PLACE = 1024, LOOKED_AT = 40 };
    struct catalog *c = synthetic_catalog(PRICES);
    struct err err = {0};
    struct workload w;
    struct arena *arena = arena_new(64 << 20);
    size_t seen[2 * LOOKED_AT];
    cr_assert_eq(engine_bind(c, &err), 0, "%s", err.detail);
    cr_assert_gt(c->n_skus, SAME_PLACE + LOOKED_AT);
    workload_init(&w);
    struct build *b = build_of(c, &w, arena);
    for (size_t i = 0; i < 2 * LOOKED_AT; i++) {
        seen[i] = i / 2 + i % 2 * SAME_PLACE;
        (void)market_offer(&b->market, &c->skus[seen[i]], NULL);
    }
    for (size_t k = 0; k < 2 * LOOKED_AT; k++) {
        struct build *again = build_of(c, &w, arena);
        again->day.reprice = (struct reprice){SUBJECT_SKU, c->skus[seen[k]].id, 2};
        market_inherit(&b->market, &again->market);
        for (size_t i = 2 * LOOKED_AT; i-- > 0;) { /* the one behind first: nothing fills the place before it */
            const struct offer *was = market_offer(&b->market, &c->skus[seen[i]], NULL);
            const struct offer *is = market_offer(&again->market, &c->skus[seen[i]], NULL);
            if (i != k)
                cr_expect_eq(is, was, "%s, with another price of %s", c->skus[seen[i]].id, c->skus[seen[k]].id);
            else if (was != NULL)
                cr_expect_eq(is->rates[0].unit_micros, 2 * was->rates[0].unit_micros, "%s", c->skus[seen[i]].id);
        }
    }
    arena_free(arena);
    test_catalog_free(c);
}

/* A re-plan asks what another price of the same machine changes: at one provider as anywhere. */
Test(offers_market, another_price_holds_for_a_reserve_at_one_provider)
{
    struct catalog *c = small_market();
    struct arena *arena = arena_new(16 << 20);
    struct workload w = small_workload(c);
    w.serving.stated = true;
    w.serving.requests_per_s = 1;
    w.serving.input_tokens = w.serving.output_tokens = 256;
    w.serving.months = 3;
    struct build *b = small_build(c, &w, arena);
    struct reserve_plan as_is, dearer;
    struct err err = {0};
    const struct provider *idc = catalog_provider(c, "idc");
    cr_assert_eq(reserve_at(b, idc, &as_is, &err), 0, "%s", err.detail);
    b->day.reprice = (struct reprice){SUBJECT_SKU, "idc-a100", 2};
    cr_assert_eq(reserve_at(b, idc, &dearer, &err), 0, "%s", err.detail);
    cr_assert(as_is.offer != NULL && dearer.offer != NULL);
    cr_expect_eq(dearer.net, 2 * as_is.net);
    arena_free(arena);
    test_catalog_free(c);
}
