/* What must hold of every plan, over the shipped catalog and many kinds of request. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/money.h"
#include "planner/advice/plan_make.h"
#include "tests/support/test_catalog.h"

struct ask {
    const char *model;
    enum method method;
    double tokens;
    int runs, parallel;
    enum team team;
    enum priority priority;
    bool sensitive, spot;
    int deadline_days; /* 0 = none */
    int64_t budget;
    const char *city, *currency;
};

static const struct ask ASKS[] = {
    {"qwen2.5-7b", METHOD_LORA, 1e8, 1, 1, TEAM_NONE, PRIORITY_CHEAPEST, false, false, 0, 0, "hefei", "CNY"},
    {"qwen2.5-7b", METHOD_FULL_FINETUNE, 2e9, 3, 1, TEAM_SLURM, PRIORITY_BALANCED, false, true, 60, 0, NULL, "CNY"},
    {"qwen2.5-14b", METHOD_FULL_FINETUNE, 5e9, 8, 4, TEAM_EXPERT, PRIORITY_FASTEST, false, false, 40, 0, NULL, "CNY"},
    {"qwen2.5-14b", METHOD_QLORA, 1e9, 2, 2, TEAM_SINGLE_NODE, PRIORITY_BALANCED, true, false, 0, 5000000, "wuhan",
     "CNY"},
    {"llama-2-70b", METHOD_FULL_FINETUNE, 1e9, 1, 1, TEAM_KUBERNETES, PRIORITY_CHEAPEST, false, true, 90, 0, NULL,
     "USD"},
    {"llama-2-70b", METHOD_QLORA, 3e8, 1, 1, TEAM_UNSTATED, PRIORITY_BALANCED, true, false, 20, 0, "shenzhen", "CNY"},
    {"llama-2-70b", METHOD_PRETRAIN, 2e10, 1, 1, TEAM_EXPERT, PRIORITY_FASTEST, false, false, 0, 0, NULL, "CNY"},
    {"qwen2.5-7b", METHOD_EMBEDDING, 1e10, 1, 1, TEAM_UNSTATED, PRIORITY_CHEAPEST, false, true, 0, 0, NULL, "CNY"},
    {"qwen2.5-7b", METHOD_FULL_FINETUNE, 1e11, 1, 1, TEAM_SLURM, PRIORITY_CHEAPEST, false, false, 400, 900000000, NULL,
     "CNY"},
};

static struct workload workload_of(const struct ask *a)
{
    struct workload w;
    workload_init(&w);
    w.model = *catalog_model(test_catalog_bound(), a->model);
    w.training.stated = true;
    w.training.method = a->method;
    w.training.tokens = a->tokens;
    w.training.runs = a->runs;
    w.training.parallel_runs = a->parallel;
    w.training.dataset_gb = 100;
    w.priority = a->priority;
    memcpy(w.currency, a->currency, 4);
    w.constraints.team = a->team;
    w.constraints.data_sensitive = a->sensitive;
    w.constraints.allow_spot = a->spot;
    w.constraints.city = a->city;
    w.constraints.egress_gb = 50;
    w.constraints.budget_minor = a->budget;
    memcpy(w.constraints.budget_currency, "CNY", 4);
    date_parse("2027-01-04", &w.constraints.start_on);
    if (a->deadline_days > 0)
        w.constraints.deadline_on = w.constraints.start_on + a->deadline_days;
    return w;
}

static void check_lines(const struct option *o)
{
    int64_t net = 0, tax = 0, sections = 0;
    for (size_t i = 0; i < o->cost.n_lines; i++) {
        const struct cost_line *l = &o->cost.lines[i];
        int64_t minor;
        cr_expect_eq(money_line(l->quantity_milli, l->unit_price_micros, &minor), 0);
        cr_expect_eq(minor, l->minor, "a line can be recomputed by hand");
        cr_expect(l->price != NULL || l->assumption != NULL, "a figure without a source");
        cr_expect(l->price == NULL || l->price->state != PRICE_QUOTE_ONLY);
        cr_expect(l->unused_share >= 0 && l->unused_share < 1, "unused %f", l->unused_share);
        net += l->minor;
        tax += l->tax_minor;
    }
    for (int s = 0; s < SECTION_COUNT; s++)
        sections += o->cost.by_section[s];
    cr_expect_eq(net, o->cost.net);
    cr_expect_eq(tax, o->cost.tax);
    cr_expect_eq(net + tax, o->cost.total);
    cr_expect_eq(sections, net);
    cr_expect_gt(o->cost.total, 0);
    cr_expect_leq(o->cost.low, o->cost.total);
    cr_expect_geq(o->cost.high, o->cost.total);
    cr_expect_eq(o->reserve.total, o->cost.by_section[SECTION_INFERENCE_RESERVE]);
}

static void check_phases(const struct plan *p, const struct option *o, date_t start)
{
    int64_t minor = 0;
    for (size_t i = 0; i < o->n_phases; i++) {
        const struct phase *f = &o->phases[i];
        cr_expect_geq(f->start_on, start);
        cr_expect_geq(f->end_on, f->start_on, "%s of %s", phase_name(f->code), p->options[0].label);
        cr_expect(i == 0 || f->start_on >= o->phases[i - 1].start_on, "phases in their order");
        cr_expect(!f->has_gate || (f->gate.text.code != NULL && f->gate.saved_minor >= 0));
        cr_expect(f->hours <= 0 || f->gpus == 0 || f->minor > 0, "%s is free", phase_name(f->code));
        cr_expect(!f->has_gate || f->gate.saved_minor <= o->cost.net);
        minor += f->minor;
    }
    cr_expect_eq(minor, o->cost.net, "every line is divided over the phases that take place");
    cr_expect_leq(o->finish.low_days, o->finish.expected_days);
    cr_expect_geq(o->finish.high_days, o->finish.expected_days);
    cr_expect_gt(o->finish.expected_days, 0);
}

static void check_option(const struct plan *p, const struct option *o, const struct workload *w)
{
    check_lines(o);
    check_phases(p, o, w->constraints.start_on);
    for (size_t i = 0; i < o->n_supply; i++) {
        cr_expect_not_null(o->supply[i].price);
        cr_expect_str_not_empty(o->supply[i].price->source);
        cr_expect_neq(o->supply[i].price->observed_on, DATE_NONE);
    }
    cr_expect_gt(o->reasons.n, 0);
    cr_expect(o->scores.overall > 0 && o->scores.overall <= 1, "%f", o->scores.overall);
    cr_expect(!o->finish.has_deadline || (o->finish.deadline_probability >= 0 && o->finish.deadline_probability <= 1));
    cr_expect(!o->feasible || !o->finish.has_deadline || o->finish.deadline_probability >= 0.8);
}

static void check_plan(const struct plan *p, const struct workload *w)
{
    double sure = 0;
    bool answered[KIND_COUNT] = {false}, infeasible = false;
    for (size_t i = 0; i < p->n_options; i++) {
        const struct option *o = &p->options[i];
        check_option(p, o, w);
        cr_expect_eq(o->rank, (int)i + 1);
        cr_expect(!(o->feasible && infeasible), "a feasible option behind an infeasible one");
        infeasible |= !o->feasible;
        answered[o->kind] |= o->feasible;
        sure += o->probability_cheapest;
    }
    cr_expect_leq(sure, 1 + 1e-9);
    for (size_t i = 0; i < p->n_infeasible; i++) {
        cr_expect(!answered[p->infeasible[i].kind], "a kind both offered and refused");
        answered[p->infeasible[i].kind] = true;
        cr_expect_gt(p->infeasible[i].reasons.n, 0);
    }
    for (int k = 0; k < KIND_COUNT; k++)
        cr_expect(answered[k], "kind %d is neither offered nor refused", k);
}

static struct plan plan_of(const struct workload *w, struct arena *arena)
{
    struct plan plan;
    struct err err = {0};
    struct plan_request q = {.catalog = test_catalog_bound(), .workload = w};
    date_parse("2026-11-30", &q.as_of);
    cr_assert_eq(plan_make(&q, arena, &plan, &err), 0, "%s at %s", err.detail, err.pointer);
    return plan;
}

Test(properties, every_plan)
{
    for (size_t i = 0; i < sizeof ASKS / sizeof *ASKS; i++) {
        struct arena *arena = arena_new(4 << 20);
        struct workload w = workload_of(&ASKS[i]);
        struct plan p = plan_of(&w, arena);
        check_plan(&p, &w);
        arena_free(arena);
    }
}

/* More allowed can only help: what was feasible stays so, the cheapest gets no dearer. */
Test(properties, spot_never_costs_more)
{
    struct arena *arena = arena_new(8 << 20);
    struct workload w = workload_of(&ASKS[0]);
    w.constraints.kinds[KIND_UNIVERSITY_TIME] = w.constraints.kinds[KIND_HYBRID_CLOUD] = false;
    struct plan without = plan_of(&w, arena);
    w.constraints.allow_spot = true;
    struct plan with = plan_of(&w, arena);
    int64_t least[2] = {INT64_MAX, INT64_MAX};
    for (size_t i = 0; i < without.n_options; i++)
        least[0] = without.options[i].cost.total < least[0] ? without.options[i].cost.total : least[0];
    for (size_t i = 0; i < with.n_options; i++)
        least[1] = with.options[i].cost.total < least[1] ? with.options[i].cost.total : least[1];
    cr_expect_leq(least[1], least[0]);
    arena_free(arena);
}

Test(properties, priority_orders)
{
    struct workload w = workload_of(&ASKS[1]);
    struct arena *arena = arena_new(16 << 20);
    w.priority = PRIORITY_CHEAPEST;
    struct plan cheap = plan_of(&w, arena);
    w.priority = PRIORITY_FASTEST;
    struct plan fast = plan_of(&w, arena);
    cr_assert(cheap.recommended != NULL && fast.recommended != NULL);
    cr_expect_leq(cheap.options[0].cost.total, fast.options[0].cost.total);
    cr_expect_leq(fast.options[0].finish.expected_days, cheap.options[0].finish.expected_days);
    cr_expect_float_eq(cheap.weights.cost, 0.7, 1e-9);
    cr_expect_float_eq(fast.weights.time, 0.7, 1e-9);
    arena_free(arena);
}
