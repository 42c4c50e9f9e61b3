/* Where a service's peak is cut between the ends of a line: over the seed's own lines and services drawn at random, no
 * cut on a fine grid costs less than the one that is found, whatever cards stand at the ends. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "planner/offers/hybrid_draft.h"
#include "planner/offers/hybrid_peaks.h"
#include "planner/reserve/reserve.h"
#include "planner/reserve/reserve_try.h"
#include "tests/support/draw.h"
#include "tests/support/test_catalog.h"

static uint64_t state = 20261130;

static double uniform(void)
{
    return draw_uniform(&state);
}

static int pick(int n)
{
    return draw_below(&state, n);
}

static struct workload draw(void)
{
    static const char *const models[] = {"qwen2.5-0.5b", "qwen2.5-7b", "qwen2.5-14b", "qwen2.5-32b", "llama-2-70b"};
    struct workload w;
    workload_init(&w);
    const struct model *m = NULL;
    while (m == NULL)
        m = catalog_model(test_catalog_bound(), models[pick(5)]);
    w.model = *m;
    w.training.stated = true; /* what is validated is the job, not the service */
    w.training.method = METHOD_LORA;
    w.training.tokens = 1e8;
    w.serving.stated = true;
    const double load = exp(log(0.5) + uniform() * log(120));
    if (pick(3) > 0)
        w.serving.requests_per_s = load;
    else if (pick(2) == 0)
        w.serving.users = floor(load * 300) + 1;
    else
        w.serving.concurrency = floor(load * 8) + 1;
    w.serving.peak_factor = 1.5 + pick(8) / 2.0;
    w.serving.input_tokens = 200 + pick(3000);
    w.serving.output_tokens = 50 + pick(800);
    w.serving.weight_bits = pick(2) == 0 ? 16 : 8;
    w.serving.months = 1 + pick(12);
    w.serving.months_stated = true;
    w.serving.spare_replicas = pick(2);
    w.serving.hours_per_day = pick(3) == 0 ? 10 : 0;
    return w;
}

static struct build *build_of(const struct workload *w, struct arena *arena)
{
    struct err err = {0};
    struct plan_request *q = arena_alloc(arena, sizeof *q);
    struct build *b = arena_alloc(arena, sizeof *b);
    *q = (struct plan_request){.catalog = test_catalog_bound(), .workload = w};
    date_parse("2026-11-30", &q->as_of);
    cr_assert_eq(build_init(b, q, arena, &err), 0, "%s", err.detail);
    cr_assert_eq(reserve_build(b, &err), 0, "%s", err.detail);
    return b;
}

/* Units of this machine for a share of the mean; 0: it cannot. */
static int units_for(struct build *b, const struct offer *o, double share, bool spare)
{
    struct serving load = b->reserve.serving;
    struct serving_sizing z;
    struct err err = {0};
    load = hybrid_peaks_load(&load, share, spare);
    if (build_sizing(b, o->sku, &load, &z, &err) != 0 || !z.feasible)
        return 0;
    return reserve_units(o, o->by_card, z.gpus, z.gpus_per_replica);
}

/* The same; 0 also where its supplier does not list so many. */
static int units_of(struct build *b, const struct offer *o, double share, bool spare)
{
    const int units = units_for(b, o, share, spare);
    return reserve_over(o, o->by_card, units) > 0 ? 0 : units;
}

static double cost_of(const struct build *b, const struct offer *o, int base, int units)
{
    const struct reserve_batch none = {.requests = 0};
    struct bill bill;
    int64_t net, tax;
    if (reserve_bill(o, o->by_card, reserve_hours_of(b, &b->reserve), base, units, &none, &bill, &net, &tax) != 0)
        return INFINITY;
    return (double)net + (double)tax;
}

static size_t machines_of(struct build *b, const struct provider *p, const struct offer **ret)
{
    const struct sku *skus[64];
    const size_t n = market_cheapest_of(&b->market, p, false, skus, 0, 64);
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const struct offer *o = market_offer(&b->market, skus[i], NULL);
        bool twice = o == NULL;
        for (size_t k = 0; k < found && !twice; k++)
            twice = ret[k]->sku->gpu == o->sku->gpu;
        if (!twice)
            ret[found++] = o;
    }
    return found;
}

/* The least of all cuts on a grid, on any cards of one maker at both ends. */
static double least_of_grid(struct build *b, const struct provider *home, const struct provider *cloud)
{
    enum { STEPS = 240 };
    const double peak = b->reserve.serving.peak_factor;
    const struct offer *at_home[64], *at_cloud[64];
    const size_t n_home = machines_of(b, home, at_home), n_cloud = machines_of(b, cloud, at_cloud);
    double best = INFINITY;
    for (size_t i = 0; i < n_home; i++) {
        const int base = units_of(b, at_home[i], 1, true), whole = units_for(b, at_home[i], peak, true);
        int last = 0;
        for (int s = STEPS - 1; s >= 0 && base > 0; s--) { /* of those with as many at home, the largest share */
            const double share = 1 + (peak - 1) * s / STEPS;
            const int units = units_of(b, at_home[i], share, true);
            if (units == 0 || units == last || units >= whole) /* as many carry all of it */
                continue;
            last = units;
            const double near = cost_of(b, at_home[i], base, units);
            for (size_t k = 0; k < n_cloud && near < best; k++) {
                if (strcmp(at_home[i]->sku->gpu->vendor, at_cloud[k]->sku->gpu->vendor) != 0)
                    continue;
                const int burst = units_of(b, at_cloud[k], peak - share, false);
                if (burst > 0)
                    best = fmin(best, near + cost_of(b, at_cloud[k], 0, burst));
            }
        }
    }
    return best;
}

Test(hybrid_peaks, no_cut_on_a_grid_costs_less, .timeout = 120)
{
    enum { SERVICES = 80 };
    const struct catalog *c = test_catalog_bound();
    int compared = 0, exact = 0;
    double worst = 0;
    for (int i = 0; i < SERVICES; i++) {
        const struct workload w = draw();
        struct arena *arena = arena_new(64u << 20);
        struct build *b = build_of(&w, arena);
        struct err err = {0};
        struct hybrid_pair p;
        struct reserve_plan split;
        const char *why = NULL;
        const struct dedicated_line *line = &c->lines[pick((int)c->n_lines)];
        if (b->reserve.offer != NULL && hybrid_pair_of(b, line, &p) && hybrid_peaks_ends(b, p.home, p.cloud)) {
            cr_assert_eq(hybrid_peaks_split(hybrid_peaks_open(b, &err), p.home, p.cloud, INFINITY, &split, &why), 0,
                         "%s", err.detail);
            const double least = least_of_grid(b, p.home, p.cloud);
            const double mine = split.offer != NULL ? (double)(split.net + split.tax) : INFINITY;
            if (isfinite(mine)) {
                cr_expect_lt(split.burst.share, 1);
                cr_expect_geq(split.units, split.base);
            }
            if (isfinite(least) && isfinite(mine)) {
                compared++;
                exact += mine <= least * (1 + 1e-4); /* a fen a line apart */
                worst = fmax(worst, mine / least - 1);
            }
        }
        arena_free(arena);
    }
    cr_log_info("%d splits: %d no dearer than the best of the grid, worst %.2f %%", compared, exact, 100 * worst);
    cr_expect_gt(compared, SERVICES / 4, "%d", compared);
    cr_expect_geq(exact * 100, compared * 99, "%d of %d", exact, compared);
    cr_expect_lt(worst, 0.005, "worst %.1f %%", 100 * worst);
}
