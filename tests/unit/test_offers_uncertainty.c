/* The sample: fixed points that fill every dimension evenly, and what is read from them. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "planner/advice/plan_make.h"
#include "planner/advice/sobol.h"
#include "planner/advice/uncertainty.h"
#include "tests/support/test_catalog.h"

Test(uncertainty, every_dimension_takes_every_value_once)
{
    for (int d = 0; d < SOBOL_DIMENSIONS; d++) {
        uint8_t points[SOBOL_POINTS];
        bool seen[SOBOL_POINTS] = {false};
        sobol_dimension(d, points);
        for (int i = 0; i < SOBOL_POINTS; i++) {
            cr_expect(!seen[points[i]], "dimension %d", d);
            seen[points[i]] = true;
        }
    }
}

/* In two dimensions every 16 x 16 cell... is too much to ask of all pairs, but quadrants are filled evenly. */
Test(uncertainty, pairs_of_dimensions_fill_the_quadrants)
{
    for (int d = 0; d < 10; d++)
        for (int e = 0; e < d; e++) {
            uint8_t x[SOBOL_POINTS], y[SOBOL_POINTS];
            int count[4] = {0};
            sobol_dimension(d, x);
            sobol_dimension(e, y);
            for (int i = 0; i < SOBOL_POINTS; i++)
                count[(x[i] >= 128) * 2 + (y[i] >= 128)]++;
            for (int k = 0; k < 4; k++)
                cr_expect_eq(count[k], SOBOL_POINTS / 4, "dimensions %d and %d: %d", d, e, count[k]);
        }
}

/* Each option is sampled in dimensions of its own, as many of a kind as are shown: what is said of one tells little of
 * another. */
Test(uncertainty, no_two_options_share_a_dimension)
{
    static double normal[SOBOL_DIMENSIONS][SOBOL_POINTS];
    double z[SOBOL_POINTS], square = 0, most = 0;
    sobol_normal(z);
    for (int d = 0; d < SOBOL_DIMENSIONS; d++) {
        uint8_t x[SOBOL_POINTS];
        sobol_dimension(d, x);
        for (int i = 0; i < SOBOL_POINTS; i++)
            normal[d][i] = z[x[i]];
    }
    for (int i = 0; i < SOBOL_POINTS; i++)
        square += z[i] * z[i];
    for (int d = 0; d < SOBOL_DIMENSIONS; d++)
        for (int e = 0; e < d; e++) {
            double sum = 0;
            for (int i = 0; i < SOBOL_POINTS; i++)
                sum += normal[d][i] * normal[e][i];
            most = fmax(most, fabs(sum / square));
        }
    cr_expect_lt(most, 0.25, "correlated by %.3f", most);
    enum { OF_A_KIND = 8 };
    struct draft drafts[KIND_COUNT * OF_A_KIND], *items[KIND_COUNT * OF_A_KIND];
    bool taken[KIND_COUNT * OF_A_KIND] = {false};
    for (int i = 0; i < KIND_COUNT * OF_A_KIND; i++) {
        drafts[i].kind = (enum option_kind)(i % KIND_COUNT);
        items[i] = &drafts[i];
    }
    const struct option_list l = {items, KIND_COUNT * OF_A_KIND, KIND_COUNT * OF_A_KIND};
    for (size_t i = 0; i < l.n; i++) {
        const int place = uncertainty_place(&l, i);
        cr_assert(place >= 0 && 5 + 2 * place + 1 < SOBOL_DIMENSIONS, "option %zu at %d", i, place);
        cr_expect(!taken[place], "option %zu at %d", i, place);
        taken[place] = true;
    }
}

Test(uncertainty, normal_quantiles)
{
    double z[SOBOL_POINTS];
    sobol_normal(z);
    for (int k = 0; k < SOBOL_POINTS; k++) {
        cr_expect_float_eq(erfc(-z[k] / sqrt(2)) / 2, (k + 0.5) / SOBOL_POINTS, 1e-8);
        cr_expect(k == 0 || z[k] > z[k - 1]);
    }
}

static struct plan plan_with(struct workload *w, struct arena *arena)
{
    struct catalog *c = test_catalog_bound();
    struct plan plan;
    struct err err = {0};
    if (w->model.params <= 0)
        w->model = *catalog_model(c, "qwen2.5-14b");
    struct plan_request q = {.catalog = c, .workload = w};
    date_parse("2026-11-30", &q.as_of);
    cr_assert_eq(plan_make(&q, arena, &plan, &err), 0, "%s at %s", err.detail, err.pointer);
    return plan;
}

static struct workload single_job(void)
{
    struct workload w;
    workload_init(&w);
    w.training.stated = true;
    w.training.method = METHOD_FULL_FINETUNE;
    w.training.tokens = 2e10;
    w.training.runs = 2;
    for (int k = 1; k < KIND_COUNT; k++)
        w.constraints.kinds[k] = false;
    date_parse("2027-01-04", &w.constraints.start_on);
    return w;
}

/* A later deadline is never met with less probability; shares are shares. */
Test(uncertainty, deadline_probability_grows_with_the_deadline)
{
    static const char *card[] = {"a100-sxm4-80g"};
    double before = 0;
    for (int days = 10; days <= 400; days += 30) {
        struct arena *arena = arena_new(4 << 20);
        struct workload w = single_job();
        struct assumption_override one = {"options_per_kind", 1};
        w.constraints.gpus = card;
        w.constraints.n_gpus = 1;
        w.priority = PRIORITY_CHEAPEST;
        w.overrides = &one;
        w.n_overrides = 1;
        w.constraints.deadline_on = w.constraints.start_on + days;
        struct plan p = plan_with(&w, arena);
        cr_assert_eq(p.n_options, 1);
        double now = p.options[0].finish.deadline_probability;
        cr_expect(now >= 0 && now <= 1);
        cr_expect_geq(now, before - 1e-12, "%d days", days);
        cr_expect_eq(p.options[0].feasible, now >= 0.8);
        before = now;
        arena_free(arena);
    }
    cr_expect_float_eq(before, 1, 1e-12);
}

/* A reading of the same machine narrows the band of the finish. */
Test(uncertainty, measured_is_narrower)
{
    static const char *card[] = {"a100-sxm4-80g"};
    double width[2];
    for (int k = 0; k < 2; k++) {
        struct arena *arena = arena_new(4 << 20);
        struct workload w = single_job();
        w.constraints.gpus = card;
        w.constraints.n_gpus = 1;
        w.measured.stated = k == 1;
        w.measured.gpu = "a100-sxm4-80g";
        w.measured.gpus = 8;
        w.measured.tokens_per_s = k == 1 ? 21000 : 0;
        struct plan p = plan_with(&w, arena);
        const struct finish *f = &p.options[0].finish;
        width[k] = (f->high_days - f->low_days) / f->expected_days;
        arena_free(arena);
    }
    cr_expect_lt(width[1], width[0], "%f against %f", width[1], width[0]);
}
