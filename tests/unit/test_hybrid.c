/* hybrid_cloud: what may leave bursts, the line, staging and egress are paid, the split is the best of those tried. */
#include <criterion/criterion.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "planner/costing/costing.h"
#include "planner/drafting/quality.h"
#include "planner/offers/hybrid_peaks.h"
#include "planner/offers/hybrid_serving.h"
#include "planner/offers/kinds.h"
#include "planner/offers/option_hybrid.h"
#include "planner/reserve/reserve.h"
#include "tests/support/small_fixture.h"

TestSuite(hybrid, .init = small_setup, .fini = small_teardown);

static struct option_list options_of(const struct workload *w, struct build **ret)
{
    struct option_list out = {0};
    struct err err = {0};
    *ret = small_build(market, w, arena);
    cr_assert_eq(option_hybrid_build(*ret, &out, &err), 0, "%s", err.detail);
    return out;
}

static struct workload parallel_workload(void)
{
    struct workload w = small_workload(market);
    w.training.tokens = 4e9;
    w.training.runs = 8;
    w.training.parallel_runs = 4;
    w.training.dataset_gb = 900;
    return w;
}

static const struct draft_extra *extra_of(const struct draft *d, enum section section)
{
    for (int i = 0; i < d->n_extras; i++)
        if (d->extras[i].section == section)
            return &d->extras[i];
    return NULL;
}

/* The local and the outside train step; asserts that both are there. */
static void train_steps(const struct draft *d, const struct draft_step **local, const struct draft_step **out)
{
    *local = *out = NULL;
    for (int i = 0; i < d->n_steps; i++)
        if (d->steps[i].phase == PHASE_TRAIN)
            *(strcmp(d->groups[d->steps[i].group].role, "burst") == 0 ? out : local) = &d->steps[i];
    cr_assert(*local && *out);
}

Test(hybrid, split_balances_both_sides_in_whole_runs)
{
    const struct {
        int runs, lanes_local, lanes_out;
        double hours_local, hours_out;
    } cases[] = {{8, 2, 2, 10, 10}, {8, 3, 1, 10, 10}, {9, 1, 1, 20, 10}, {2, 1, 1, 1, 1000}, {100, 7, 3, 3, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct hybrid_range r = {.runs = cases[i].runs,
                                       .lanes = 64,
                                       .month_hours = 720,
                                       .most_out = cases[i].runs,
                                       .local = {.hours = cases[i].hours_local, .most_lanes = 64},
                                       .out = {.hours = cases[i].hours_out, .most_lanes = 64}};
        const int l = cases[i].lanes_local, o = cases[i].lanes_out, out = hybrid_balanced_runs(&r, l, o);
        cr_expect(hybrid_cut_allowed(&r, &(struct hybrid_cut){l, o, out}), "case %zu: %d out", i, out);
        /* moving one run either way does not end sooner */
        const double end =
            fmax(hybrid_end_hours(r.runs - out, l, r.local.hours), hybrid_end_hours(out, o, r.out.hours));
        for (int moved = out - 1; moved <= out + 1; moved += 2)
            if (hybrid_cut_allowed(&r, &(struct hybrid_cut){l, o, moved}))
                cr_expect_leq(
                    end,
                    fmax(hybrid_end_hours(r.runs - moved, l, r.local.hours), hybrid_end_hours(moved, o, r.out.hours)) +
                        1e-9,
                    "case %zu", i);
    }
}

/* Of many cuts only some are weighed: those that a rough reckoning likes, and steps from the best. The true weights
 * differ from the rough ones by whole months, a deadline and a line: still the lightest of all is found in four of
 * five, and one within a fiftieth always. */
struct hill {
    struct hybrid_range r;
    double deadline_days;
};

static double hill_weight(void *ctx, const struct hybrid_cut *c)
{
    const struct hill *h = ctx;
    const double local = hybrid_end_hours(h->r.runs - c->runs_out, c->lanes_local, h->r.local.hours);
    const double out = hybrid_end_hours(c->runs_out, c->lanes_out, h->r.out.hours);
    const double days = 20 + ceil(fmax(local, out) / 24);
    const double cost = 90000 + c->lanes_local * ceil(local / 720) * h->r.local.month +
                        c->lanes_out * ceil(out) * h->r.out.hour + 15000 * ceil(fmax(local, out) / 720);
    return days > h->deadline_days ? 1e6 + days : h->r.by_cost * log(cost) + h->r.by_time * log(days);
}

Test(hybrid, the_lightest_cut_is_found_among_many)
{
    int cases = 0, exact = 0;
    double worst = 0;
    for (int runs = 12; runs <= 96; runs += 28)
        for (int lanes = 4; lanes <= 12; lanes += 4)
            for (double by_cost = 0.2; by_cost <= 0.8; by_cost += 0.3)
                for (double hours = 40; hours <= 400; hours *= 3) {
                    struct hill h = {.deadline_days = by_cost > 0.4 ? 1000 : 60 + hours};
                    struct hybrid_cut found;
                    double weight, best = INFINITY;
                    h.r = (struct hybrid_range){.runs = runs,
                                                .lanes = lanes,
                                                .month_hours = 720,
                                                .most_out = runs * 3 / 4,
                                                .local = {hours, 16, 120, 45000},
                                                .out = {hours * 0.7, 16, 140, 80000},
                                                .fixed_cost = 100000,
                                                .fixed_days = 20,
                                                .days_a_day = 1,
                                                .cost_a_day = 500,
                                                .by_cost = by_cost,
                                                .by_time = 1 - by_cost};
                    const int tried = hybrid_cut_best(&h.r, hill_weight, &h, 128, &found, &weight);
                    cr_expect(tried > 0 && tried <= 128);
                    cr_expect(hybrid_cut_allowed(&h.r, &found));
                    for (int l = 1; l < lanes; l++)
                        for (int o = 1; l + o <= lanes; o++)
                            for (int out = o; out < runs; out++) {
                                const struct hybrid_cut c = {l, o, out};
                                if (hybrid_cut_allowed(&h.r, &c))
                                    best = fmin(best, hill_weight(&h, &c));
                            }
                    cases++;
                    exact += weight <= best + 1e-12;
                    worst = fmax(worst, exp(weight - best) - 1);
                }
    cr_expect_lt(worst, 0.02, "worst miss of the lightest cut: %.1f %%", 100 * worst);
    cr_expect_gt(exact, cases * 8 / 10, "%d of %d exact", exact, cases);
}

Test(hybrid, staging_takes_its_time_at_the_lines_rate)
{
    /* 900 GB x 8 / (10 Gbit/s x 0.8) = 900 s */
    cr_expect_float_eq(hybrid_staging_hours(900, 10, 0.8), 0.25, 1e-9);
    cr_expect_float_eq(hybrid_staging_hours(0, 10, 0.8), 0, 1e-9);
}

Test(hybrid, baseline_stays_local_and_runs_burst_over_the_line)
{
    struct workload w = parallel_workload();
    struct build *b;
    struct option_list out = options_of(&w, &b);
    cr_assert_eq(out.n, 1);
    const struct draft *d = out.items[0];
    const struct draft_step *local, *burst;
    train_steps(d, &local, &burst);
    for (int i = 0; i < d->n_steps; i++)
        if (d->steps[i].phase == PHASE_VALIDATE || d->steps[i].phase == PHASE_DEVELOP)
            cr_expect_eq(d->groups[d->steps[i].group].offer->sku->provider->kind, PROVIDER_LOCAL_IDC);
    cr_expect_eq(d->groups[local->group].offer->sku->provider->kind, PROVIDER_LOCAL_IDC);
    cr_expect_eq(d->groups[burst->group].offer->sku->provider->kind, PROVIDER_PUBLIC_CLOUD);
    cr_expect_leq(local->units + burst->units, 4);
    cr_expect_gt(burst->beside, 0);
    cr_expect_float_eq(burst->wait_days * 24, 0.25, 1e-9, "staging: %g h", burst->wait_days * 24);
    /* both sides together do all eight runs */
    const struct note *split = note_find(&d->reasons, "hybrid_split");
    cr_assert(split);
    cr_expect_float_eq(split->args[0].number + split->args[1].number, 8, 1e-9);
    const double upload_h = 2.5; /* 900 GB over the customer's own 1 Gbit/s at 0.8, before anything can run */
    const double faults =
        1 + quality_lost_share(quality_of(b, d->groups[local->group].offer->sku->provider), d->shape.gpus_per_node);
    cr_expect_float_eq((local->hours / faults - upload_h) * fmin(local->units, split->args[0].number),
                       split->args[0].number * d->estimate->training.wall_hours, 1e-6);
    const struct draft_extra *egress = extra_of(d, SECTION_EGRESS);
    cr_assert(egress);
    cr_expect_eq(egress->unit_micros, 800000);
    bool line = false;
    for (int i = 0; i < d->n_extras; i++)
        if (d->extras[i].item && strcmp(d->extras[i].item, "idc--cloud") == 0) {
            line = true;
            cr_expect_eq(d->extras[i].unit_micros, 15000000000);
            cr_expect_eq(d->extras[i].basis, EXTRA_PER_MONTH);
        }
    cr_expect(line, "the line is not paid for");
}

Test(hybrid, nothing_to_burst)
{
    static const struct {
        int parallel, shareable; /* -1 = not stated */
        bool sensitive;
        enum tri can;
        const char *why; /* NULL: offered */
    } cases[] = {{1, -1, true, TRI_NO, "data_sensitive"},
                 {1, -1, false, TRI_UNSTATED, "one_run_at_a_time"},
                 {4, -1, true, TRI_NO, "data_sensitive"},
                 {4, -1, true, TRI_UNSTATED, "data_sensitive"},
                 {4, 0, true, TRI_NO, "data_sensitive"},
                 {4, 0, false, TRI_UNSTATED, "nothing_shareable"},
                 {1, 4, true, TRI_NO, "one_run_at_a_time"},
                 {0, 4, true, TRI_NO, NULL},
                 {4, 1, true, TRI_NO, NULL},
                 {4, 5, true, TRI_NO, NULL},
                 {4, -1, true, TRI_YES, NULL},
                 {4, -1, false, TRI_UNSTATED, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct workload w = parallel_workload();
        w.training.parallel_runs = cases[i].parallel;
        w.training.shareable_runs = cases[i].shareable;
        w.constraints.data_sensitive = cases[i].sensitive;
        w.constraints.can_desensitise = cases[i].can;
        struct build *b;
        struct option_list out = options_of(&w, &b);
        const struct note *refusal = note_find(&b->refusals[KIND_HYBRID_CLOUD], "nothing_to_burst");
        cr_assert_eq(refusal != NULL, cases[i].why != NULL, "case %zu", i);
        cr_expect_eq(out.n > 0, cases[i].why == NULL, "case %zu", i);
        if (refusal)
            cr_expect_str_eq(refusal->args[0].text, cases[i].why, "case %zu", i);
    }
}

/* Data that may not leave, not even desensitised: the runs that use none of it burst, and nothing waits for
 * desensitising; the answer says which runs those are. */
Test(hybrid, only_what_may_leave_bursts)
{
    for (int shareable = 1; shareable <= 8; shareable++) {
        struct workload w = parallel_workload();
        w.training.shareable_runs = shareable;
        w.constraints.data_sensitive = true;
        w.constraints.can_desensitise = TRI_NO;
        w.priority = PRIORITY_FASTEST;
        struct build *b;
        struct option_list out = options_of(&w, &b);
        cr_assert_eq(out.n, 1);
        const struct draft *d = out.items[0];
        const struct draft_step *local, *burst;
        train_steps(d, &local, &burst);
        const struct note *split = note_find(&d->reasons, "hybrid_split");
        const struct note *leaves = note_find(&d->reasons, "shareable_leaves");
        cr_assert(split && leaves);
        cr_expect_leq(split->args[1].number, shareable, "%g runs out of %d that may", split->args[1].number, shareable);
        cr_expect_float_eq(leaves->args[0].number, split->args[1].number, 1e-9);
        cr_expect_null(note_find(&d->reasons, "desensitise_first"));
        cr_expect_lt(burst->wait_days, 1, "staging alone");
        for (int i = 0; i < d->n_steps; i++)
            if (&d->steps[i] != burst)
                cr_expect(d->groups[d->steps[i].group].offer->sku->provider->data_stays);
    }
}

/* Where no data is sensitive, the answer does not speak of any. */
Test(hybrid, what_leaves_is_not_called_sensitive_without_sensitive_data)
{
    struct workload w = parallel_workload();
    w.training.shareable_runs = 4;
    struct build *b;
    struct option_list out = options_of(&w, &b);
    cr_assert_eq(out.n, 1);
    cr_expect_not_null(note_find(&out.items[0]->reasons, "shareable_leaves_as_stated"));
    cr_expect_null(note_find(&out.items[0]->reasons, "shareable_leaves"));
}

/* Number of runs out, machines at home and machines out: the option is the lightest of all ways, by the weights of the
 * priority; every way is drafted and reckoned here. */
Test(hybrid, the_split_is_the_best_of_all)
{
    static const struct {
        int runs, parallel, shareable;
        enum priority priority;
        double tokens;
    } cases[] = {{8, 4, -1, PRIORITY_BALANCED, 4e9},   {8, 4, 3, PRIORITY_FASTEST, 4e9},
                 {6, 2, 4, PRIORITY_CHEAPEST, 4e9},    {12, 3, -1, PRIORITY_CHEAPEST, 1e9},
                 {20, 5, 10, PRIORITY_BALANCED, 1e9},  {40, 6, -1, PRIORITY_FASTEST, 5e8},
                 {96, 12, 60, PRIORITY_CHEAPEST, 1e9}, {60, 10, -1, PRIORITY_BALANCED, 2e9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct workload w = parallel_workload();
        struct err err = {0};
        w.training.runs = cases[i].runs;
        w.training.parallel_runs = cases[i].parallel;
        w.training.shareable_runs = cases[i].shareable;
        w.training.tokens = cases[i].tokens;
        w.priority = cases[i].priority;
        struct build *b;
        struct option_list out = options_of(&w, &b);
        cr_assert_eq(out.n, 1, "case %zu", i);
        struct hybrid_pair p;
        struct hybrid_ends home = {0}, cloud = {0};
        struct hybrid_miss miss = {0};
        cr_assert(hybrid_pair_of(b, &market->lines[0], &p));
        cr_assert_eq(hybrid_terms_bind(&b->params, &p.terms, &err), 0);
        cr_assert_eq(hybrid_side_choose(b, p.home, false, NULL, &home, &miss, &err), 0);
        cr_assert_eq(hybrid_side_choose(b, p.cloud, true, NULL, &cloud, &miss, &err), 0);
        struct draft *d = build_draft_new(b, KIND_HYBRID_CLOUD);
        const struct hybrid_side *ends[2][2] = {{&home.fit, &home.cheap}, {&cloud.fit, &cloud.cheap}};
        double best = INFINITY;
        int ways = 0;
        for (int k = 0; k < 4; k++) {
            p.local = *ends[0][k & 1];
            p.burst = *ends[1][k >> 1];
            const struct hybrid_range r = hybrid_range_of(b, &p);
            for (int l = 1; l < r.lanes; l++)
                for (int o = 1; l + o <= r.lanes; o++)
                    for (int runs_out = o; runs_out < r.runs; runs_out++) {
                        const struct hybrid_cut c = {l, o, runs_out};
                        struct reckoning sum;
                        if (!hybrid_cut_allowed(&r, &c) || hybrid_draft(b, &p, &c, d) != 0 ||
                            costing_reckon(&b->day, d, &what_if_expected, &sum))
                            continue;
                        ways++;
                        best = fmin(best, hybrid_weight(b, &sum));
                    }
        }
        cr_assert_gt(ways, 3);
        const double miss_by = exp(hybrid_weight(b, out.items[0]->base) - best) - 1;
        cr_expect_lt(miss_by, 0.005, "case %zu: %.2f %% off the best of %d ways", i, 100 * miss_by, ways);
    }
}

Test(hybrid, sensitive_data_stays_home)
{
    struct workload w = parallel_workload();
    w.constraints.data_sensitive = true;
    w.constraints.can_desensitise = TRI_YES;
    struct build *b;
    struct option_list out = options_of(&w, &b);
    cr_assert_eq(out.n, 1);
    const struct draft_step *local, *burst;
    train_steps(out.items[0], &local, &burst);
    cr_expect(out.items[0]->groups[local->group].offer->sku->provider->data_stays);
    cr_expect_geq(burst->wait_days, 7); /* desensitised first */
    cr_expect(note_find(&out.items[0]->reasons, "data_stays_home"));
}

Test(hybrid, the_split_follows_the_priority)
{
    int out_lanes[2];
    int64_t totals[2];
    double days[2];
    static const enum priority priorities[] = {PRIORITY_CHEAPEST, PRIORITY_FASTEST};
    for (int i = 0; i < 2; i++) {
        struct workload w = parallel_workload();
        w.priority = priorities[i];
        struct build *b;
        struct option_list out = options_of(&w, &b);
        cr_assert_eq(out.n, 1);
        const struct draft_step *local, *burst;
        train_steps(out.items[0], &local, &burst);
        out_lanes[i] = burst->units;
        totals[i] = out.items[0]->base->total;
        days[i] = out.items[0]->base->schedule.finish_days;
    }
    cr_expect_leq(totals[0], totals[1]);
    cr_expect_geq(days[0], days[1]);
    cr_expect(out_lanes[0] >= 1 && out_lanes[1] >= 1);
}

static struct workload service(void)
{
    struct workload w = small_workload(market);
    w.training.stated = false;
    w.serving.stated = true;
    w.serving.requests_per_s = 40;
    w.serving.peak_factor = 4;
    w.serving.input_tokens = 1000;
    w.serving.output_tokens = 300;
    w.serving.months = 3;
    return w;
}

Test(hybrid, base_load_and_peaks_make_the_whole_load)
{
    const struct serving loads[] = {{.requests_per_s = 8}, {.users = 500}, {.concurrency = 60}};
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        for (double peak = 1.5; peak < 8; peak += 0.5)
            for (double share = 1; share < peak; share += 0.25) {
                struct serving s = loads[i];
                s.peak_factor = peak;
                s.spare_replicas = 1;
                const struct serving base = hybrid_peaks_load(&s, share, true);
                const struct serving above = hybrid_peaks_load(&s, peak - share, false);
                cr_expect_float_eq(base.requests_per_s + above.requests_per_s, 8 * peak * (i == 0), 1e-9);
                cr_expect_float_eq(base.users + above.users, 500 * peak * (i == 1), 1e-9);
                cr_expect_float_eq(base.concurrency + above.concurrency, 60 * (i == 2), 1e-9, "is stated at the peak");
                cr_expect(base.spare_replicas == 1 && above.spare_replicas == 0);
            }
}

Test(hybrid, serving_peaks_burst)
{
    struct workload w = service();
    struct build *b;
    struct option_list out = options_of(&w, &b);
    cr_assert_eq(out.n, 1);
    const struct draft *d = out.items[0];
    cr_assert(d->reserve && d->reserve != &b->reserve);
    int64_t at_home = 0, outside = 0, sum = 0;
    for (size_t i = 0; i < d->reserve->n_lines; i++) {
        const struct cost_line *l = &d->reserve->lines[i];
        cr_expect_eq(l->section, SECTION_INFERENCE_RESERVE);
        sum += l->minor;
        *(l->sku->provider->kind == PROVIDER_LOCAL_IDC ? &at_home : &outside) += l->minor;
        if (l->sku->provider->kind == PROVIDER_PUBLIC_CLOUD) /* 90 days of 4 hours, by the hour */
            cr_expect(l->mode == MODE_HOURLY && l->quantity_milli % 360000 == 0, "%lld", (long long)l->quantity_milli);
    }
    cr_expect(at_home > 0 && outside > 0);
    cr_expect_eq(sum, d->reserve->net);
    const struct draft_extra *line = extra_of(d, SECTION_NETWORK);
    cr_assert(line);
    cr_expect_eq(line->basis, EXTRA_PER_MONTH);
    cr_expect(line->from == PHASE_SERVE && line->to == PHASE_SERVE, "the line is paid for as long as the service runs");
    cr_expect(note_find(&d->reasons, "hybrid_serving_split"));
    const struct note *whole = note_find(&b->reserve.notes, "reserve_follows_load"),
                      *split = note_find(&d->reserve->notes, "reserve_follows_load");
    cr_assert(whole && split);
    cr_expect_lt(split->args[1].number, whole->args[1].number, "the peak at home is what does not burst");
    cr_expect_float_eq(split->args[1].number, d->reserve->units * (d->reserve->by_card ? 1 : 8), 1e-9);
}

/* What nobody waits for has no peak: the more of it, the less bursts; of a load that all can wait, nothing does. */
Test(hybrid, requests_that_can_wait_do_not_burst)
{
    const double shares[] = {0, 0.5, 1};
    int64_t last = INT64_MAX;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        struct workload w = service();
        struct build *b;
        w.serving.batch_share = shares[i];
        struct option_list out = options_of(&w, &b);
        int64_t burst = 0;
        for (size_t k = 0; out.n > 0 && k < out.items[0]->reserve->n_lines; k++) {
            const struct cost_line *l = &out.items[0]->reserve->lines[k];
            burst += l->sku->provider->kind == PROVIDER_PUBLIC_CLOUD ? l->minor : 0;
        }
        cr_expect_leq(burst, last, "share %g: %ld after %ld", shares[i], (long)burst, (long)last);
        cr_expect_eq(burst > 0, shares[i] < 1);
        last = burst;
    }
}

Test(hybrid, a_flat_or_sensitive_service_has_nothing_to_burst)
{
    struct workload w = service();
    struct build *b;
    w.serving.peak_factor = 1;
    cr_expect_eq(options_of(&w, &b).n, 0);
    cr_expect_str_eq(note_find(&b->refusals[KIND_HYBRID_CLOUD], "nothing_to_burst")->args[0].text, "flat_load");
    w = service();
    w.constraints.data_sensitive = true;
    cr_expect_eq(options_of(&w, &b).n, 0);
    cr_expect(note_find(&b->refusals[KIND_HYBRID_CLOUD], "data_sensitive"));
}

Test(hybrid, runs_too_big_for_a_machine_take_several_nodes_each)
{
    struct workload w = parallel_workload();
    w.model = *catalog_model(market, "llama-2-70b");
    w.training.method = METHOD_FULL_FINETUNE;
    w.training.tokens = 1e9;
    w.training.runs = 4;
    w.training.parallel_runs = 2;
    struct build *b;
    struct option_list out = options_of(&w, &b);
    cr_assert_eq(out.n, 1);
    const struct draft *d = out.items[0];
    const struct draft_step *local, *burst, *migrate = NULL;
    train_steps(d, &local, &burst);
    cr_assert_gt(d->shape.nodes, 1);
    cr_expect_eq(local->units, d->shape.nodes, "one lane at home");
    cr_expect_eq(burst->units % 2, 0);
    for (int i = 0; i < d->n_steps; i++)
        migrate = d->steps[i].phase == PHASE_MIGRATE ? &d->steps[i] : migrate;
    cr_assert(migrate && migrate->has_gate);
    cr_expect_str_eq(migrate->gate.metric, "two_node_speedup");
    w.constraints.team = TEAM_NONE; /* one node at most: then only what fits one */
    out = options_of(&w, &b);
    for (size_t i = 0; i < out.n; i++)
        cr_expect_eq(out.items[i]->shape.nodes, 1);
}

/* --- peaks beside runs ---------------------------------------------------------------------------------------- */

/* The local IDC sells by the month alone, so that machines for the peak cost as much as for the day. */
static void no_hours_at_home(void)
{
    for (size_t i = 0; i < market->n_prices; i++) {
        struct price *p = &market->prices[i];
        if (p->mode == MODE_HOURLY && p->sku != NULL && strcmp(p->sku->provider->id, "idc") == 0)
            p->state = PRICE_QUOTE_ONLY;
    }
}

static struct workload runs_and_service(double requests_per_s)
{
    struct workload w = parallel_workload();
    const struct workload served = service();
    w.serving = served.serving;
    w.serving.requests_per_s = requests_per_s;
    w.serving.months_stated = true;
    return w;
}

static int64_t net_of_lines(struct build *b, const struct draft *d, int64_t *ret_reserve)
{
    struct bill bill;
    int64_t sum = 0;
    *ret_reserve = 0;
    cr_assert_eq(costing_bill(&b->day, d, &d->base->schedule, NULL, &bill), 0);
    for (size_t i = 0; i < bill.n; i++) {
        sum += bill.lines[i].minor;
        *ret_reserve += bill.lines[i].section == SECTION_INFERENCE_RESERVE ? bill.lines[i].minor : 0;
    }
    return sum;
}

/* Every cut of the runs, none out among them, with the service whole and split: nothing weighs less than the option,
 * whose lines sum to the fen; and it is never dearer than the best of those that keep the service whole. */
Test(hybrid, runs_and_peaks_are_cut_together)
{
    static const struct {
        int parallel, shareable;
        double rate, months;
        enum priority priority;
        bool hours_at_home;
    } cases[] = {{4, -1, 40, 3, PRIORITY_CHEAPEST, false},  {4, -1, 40, 2.4, PRIORITY_BALANCED, false},
                 {2, 3, 60, 6, PRIORITY_FASTEST, false},    {1, -1, 40, 3, PRIORITY_BALANCED, false},
                 {4, -1, 40, 3, PRIORITY_BALANCED, true},   {4, -1, 0.2, 3, PRIORITY_BALANCED, false},
                 {4, 8, 50, 1.3, PRIORITY_CHEAPEST, false}, {1, -1, 60, 12, PRIORITY_CHEAPEST, false}};
    int split_ones = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct workload w = runs_and_service(cases[i].rate);
        struct err err = {0};
        w.training.parallel_runs = cases[i].parallel;
        w.training.shareable_runs = cases[i].shareable;
        w.serving.months = cases[i].months;
        w.priority = cases[i].priority;
        small_teardown();
        small_setup();
        if (!cases[i].hours_at_home)
            no_hours_at_home();
        struct build *b;
        struct option_list out = options_of(&w, &b);
        struct hybrid_pair p;
        struct hybrid_ends home = {0}, cloud = {0};
        struct hybrid_miss miss = {0};
        struct reserve_plan split;
        const char *why = "none";
        cr_assert(hybrid_pair_of(b, &market->lines[0], &p));
        cr_assert_eq(hybrid_terms_bind(&b->params, &p.terms, &err), 0);
        cr_assert_eq(hybrid_side_choose(b, p.home, false, NULL, &home, &miss, &err), 0);
        cr_assert_eq(hybrid_side_choose(b, p.cloud, true, NULL, &cloud, &miss, &err), 0);
        cr_assert_eq(hybrid_peaks_split(hybrid_peaks_open(b, &err), p.home, p.cloud, INFINITY, &split, &why), 0);
        struct draft *d = build_draft_new(b, KIND_HYBRID_CLOUD);
        const struct hybrid_side *ends[2][2] = {{&home.fit, &home.cheap}, {&cloud.fit, &cloud.cheap}};
        double best = INFINITY, whole = INFINITY;
        struct reserve_plan at_home = b->reserve;
        if (b->reserve.offer->sku->provider != p.home) {
            cr_assert_eq(reserve_at(b, p.home, &at_home, &err), 0);
            p.whole = &at_home;
        }
        cr_assert(at_home.offer && at_home.over == 0, "case %zu: %d too many", i, at_home.over);
        p.split = split.offer != NULL ? &split : NULL;
        for (int k = 0; k < 8; k++) {
            p.local = *ends[0][k & 1];
            p.burst = *ends[1][k >> 1 & 1];
            p.service = k >> 2 ? HYBRID_SPLIT : HYBRID_WHOLE;
            struct hybrid_range r = hybrid_range_of(b, &p);
            r.none_out = p.split != NULL;
            for (int l = 1; l <= r.lanes; l++)
                for (int o = 0; l + o <= r.lanes; o++)
                    for (int runs_out = o; runs_out < r.runs; runs_out++) {
                        const struct hybrid_cut c = {l, o, runs_out};
                        struct reckoning sum;
                        if (!hybrid_cut_allowed(&r, &c) || hybrid_draft(b, &p, &c, d) != 0 ||
                            costing_reckon(&b->day, d, &what_if_expected, &sum) != 0)
                            continue;
                        best = fmin(best, hybrid_weight(b, &sum));
                        if (runs_out > 0 && p.service == HYBRID_WHOLE)
                            whole = fmin(whole, hybrid_weight(b, &sum));
                    }
        }
        if (out.n == 0) {
            cr_expect(cases[i].parallel == 1, "case %zu", i);
            continue;
        }
        const struct draft *got = out.items[0];
        int64_t reserve;
        cr_expect_eq(net_of_lines(b, got, &reserve), got->base->net, "case %zu", i);
        cr_expect_eq(reserve, got->reserve->net, "case %zu: %ld in lines, %ld", i, (long)reserve,
                     (long)got->reserve->net);
        const double mine = hybrid_weight(b, got->base);
        cr_expect_lt(exp(mine - best) - 1, 0.005, "case %zu: %.3f %% off the best", i, 100 * (exp(mine - best) - 1));
        cr_expect_leq(mine, whole + 1e-9, "case %zu: dearer than without the peaks' burst", i);
        const bool bursts = got->reserve->burst.offer != NULL;
        split_ones += bursts;
        cr_expect_eq(bursts, note_find(&got->reasons, "hybrid_serving_split") != NULL);
        cr_expect_eq(bursts, note_find(&got->reasons, "peaks_leave") != NULL);
        if (cases[i].parallel == 1)
            cr_expect(bursts && note_find(&got->reasons, "hybrid_runs_stay") != NULL);
    }
    cr_expect_geq(split_ones, 4, "%d", split_ones);
}

/* One line serves the runs and the service that follows them: months begin with the first day of the runs and end with
 * the service. */
Test(hybrid, the_line_is_rented_once_for_runs_and_peaks)
{
    struct workload w = runs_and_service(40);
    struct build *b;
    no_hours_at_home();
    struct option_list out = options_of(&w, &b);
    cr_assert_gt(out.n, 0);
    const struct draft *d = out.items[0];
    struct bill bill;
    struct shares shares;
    int first = INT_MAX;
    cr_assert(d->reserve->burst.offer);
    for (int i = 0; i < d->n_steps; i++)
        if (d->steps[i].phase == PHASE_TRAIN && d->base->schedule.first_day[i] < first)
            first = d->base->schedule.first_day[i];
    cr_assert_eq(costing_bill(&b->day, d, &d->base->schedule, &shares, &bill), 0);
    int lines = 0;
    int64_t used = 0;
    for (size_t i = 0; i < bill.n; i++)
        if (bill.lines[i].item && strcmp(bill.lines[i].item, "idc--cloud") == 0) {
            const int days = d->base->schedule.finish_day + 90 - first + 1;
            cr_expect_eq(bill.lines[i].quantity_milli, 1000 * (int64_t)ceil(days / 30.0), "%d days", days);
            lines++;
        }
    cr_expect_eq(lines, 1);
    for (int i = 0; i < SHARE_PLACES; i++)
        used += shares.used[i];
    cr_expect_eq(used, d->base->net, "phases sum to the whole");
}

/* What leaves and what stays is said, whatever may leave: data, runs, peaks. */
Test(hybrid, what_leaves_is_named)
{
    static const struct {
        bool sensitive;
        enum tri can;
        int shareable, parallel;
        const char *says[5]; /* NULL: no more */
        const char *never[4];
    } cases[] = {
        {false,
         TRI_UNSTATED,
         -1,
         4,
         {"hybrid_split", "peaks_leave"},
         {"data_stays_home", "shareable_leaves", "peaks_stay_sensitive"}},
        {false,
         TRI_UNSTATED,
         3,
         4,
         {"hybrid_split", "shareable_leaves_as_stated", "peaks_leave"},
         {"data_stays_home", "shareable_leaves"}},
        {false, TRI_UNSTATED, -1, 1, {"hybrid_runs_stay", "peaks_leave"}, {"hybrid_split", "hybrid_line"}},
        {false,
         TRI_UNSTATED,
         0,
         4,
         {"hybrid_runs_stay", "peaks_leave"},
         {"hybrid_split", "shareable_leaves_as_stated"}},
        {true, TRI_YES, -1, 4, {"hybrid_runs_stay", "peaks_leave_desensitised"}, {"peaks_leave", "desensitise_first"}},
        {true,
         TRI_YES,
         3,
         4,
         {"hybrid_split", "shareable_leaves", "peaks_leave_desensitised"},
         {"desensitise_first", "peaks_leave"}},
        {true,
         TRI_YES,
         -1,
         1,
         {"hybrid_runs_stay", "peaks_leave_desensitised"},
         {"desensitise_first", "data_stays_home"}},
        {true,
         TRI_NO,
         3,
         4,
         {"hybrid_split", "shareable_leaves", "peaks_stay_sensitive"},
         {"peaks_leave", "peaks_leave_desensitised", "hybrid_serving_split"}},
        {true,
         TRI_UNSTATED,
         3,
         4,
         {"shareable_leaves", "peaks_stay_sensitive"},
         {"peaks_leave", "peaks_leave_desensitised"}},
        {true, TRI_NO, -1, 4, {NULL}, {NULL}},
        {true, TRI_NO, -1, 1, {NULL}, {NULL}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct workload w = runs_and_service(40);
        w.constraints.data_sensitive = cases[i].sensitive;
        w.constraints.can_desensitise = cases[i].can;
        w.training.shareable_runs = cases[i].shareable;
        w.training.parallel_runs = cases[i].parallel;
        small_teardown();
        small_setup();
        no_hours_at_home();
        struct build *b;
        struct option_list out = options_of(&w, &b);
        cr_assert_eq(out.n > 0, cases[i].says[0] != NULL, "case %zu", i);
        if (out.n == 0) {
            cr_expect(note_find(&b->refusals[KIND_HYBRID_CLOUD], "nothing_to_burst"));
            cr_expect(note_find(&b->refusals[KIND_HYBRID_CLOUD], "data_sensitive"));
            continue;
        }
        const struct draft *d = out.items[0];
        for (size_t k = 0; k < 5 && cases[i].says[k]; k++)
            cr_expect(note_find(&d->reasons, cases[i].says[k]), "case %zu: %s is not said", i, cases[i].says[k]);
        for (size_t k = 0; k < 4 && cases[i].never[k]; k++)
            cr_expect_null(note_find(&d->reasons, cases[i].never[k]), "case %zu: %s", i, cases[i].never[k]);
        for (int g = 0; cases[i].sensitive && cases[i].can != TRI_YES && g < d->n_groups; g++)
            if (strcmp(d->groups[g].role, "burst") != 0)
                cr_expect(d->groups[g].offer->sku->provider->data_stays, "case %zu", i);
        if (cases[i].sensitive && cases[i].can != TRI_YES)
            cr_expect(d->reserve->offer->sku->provider->data_stays && !d->reserve->burst.offer, "case %zu", i);
    }
}

/* The reserve of a split service tells the cards of both ends, and where what can wait runs. */
Test(hybrid, the_reserve_tells_both_ends_and_what_can_wait)
{
    const double shares[] = {0, 0.3};
    for (int trains = 0; trains < 2; trains++)
        for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
            struct workload w = runs_and_service(40);
            struct reserve r;
            w.training.stated = trains;
            w.serving.batch_share = shares[i];
            small_teardown();
            small_setup();
            no_hours_at_home();
            struct build *b;
            struct option_list out = options_of(&w, &b);
            cr_assert_gt(out.n, 0);
            const struct reserve_plan *p = out.items[0]->reserve;
            cr_assert(p->burst.offer, "case %d %zu", trains, i);
            reserve_answer(b, p, &r);
            cr_expect_eq(r.burst.gpus, p->burst.units * 8);
            cr_expect_eq(r.gpus, reserve_plan_units(p) * (p->by_card ? 1 : 8) + r.burst.gpus);
            cr_expect_eq(r.replicas, p->sizing.replicas + p->batch.replicas + r.burst.replicas);
            cr_expect(r.burst.share_of_peak > 0 && r.burst.share_of_peak < 1);
            cr_expect_eq(r.waiting.requests > 0, shares[i] > 0);
            const double rest = r.waiting.hours * r.waiting.replicas * p->batch.per_hour;
            cr_expect_geq(r.waiting.requests_idle + r.waiting.requests_service + rest, r.waiting.requests - 2,
                          "all that can wait has its place");
            cr_expect(r.low <= r.total && r.total <= r.high);
        }
}
