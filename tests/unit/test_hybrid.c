/* hybrid_cloud: what may leave bursts, the line, staging and egress are paid, the split is the best of those tried. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "planner/drafting/quality.h"
#include "planner/offers/hybrid_serving.h"
#include "planner/offers/kinds.h"
#include "planner/offers/option_hybrid.h"
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
        struct hybrid_split s = hybrid_split_of(cases[i].runs, cases[i].lanes_local, cases[i].lanes_out,
                                                cases[i].hours_local, cases[i].hours_out);
        cr_expect_eq(s.runs_local + s.runs_out, cases[i].runs);
        cr_expect(s.runs_local >= 1 && s.runs_out >= 1);
        /* moving one run either way does not end sooner */
        const double end = fmax(s.hours_local, s.hours_out);
        for (int move = -1; move <= 1; move += 2) {
            const int local = s.runs_local + move, out = s.runs_out - move;
            if (local < 1 || out < 1)
                continue;
            const double moved = fmax(local * cases[i].hours_local / fmin(cases[i].lanes_local, local),
                                      out * cases[i].hours_out / fmin(cases[i].lanes_out, out));
            cr_expect_leq(end, moved + 1e-9, "case %zu: %g > %g", i, end, moved);
        }
    }
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
    cr_expect_eq(local->units + burst->units, 4);
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
        int parallel;
        bool sensitive;
        enum tri can;
        const char *why; /* NULL: offered */
    } cases[] = {{1, true, TRI_NO, "data_sensitive"},
                 {1, false, TRI_UNSTATED, "one_run_at_a_time"},
                 {4, true, TRI_NO, "data_sensitive"},
                 {4, true, TRI_UNSTATED, "data_sensitive"},
                 {4, true, TRI_YES, NULL},
                 {4, false, TRI_UNSTATED, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct workload w = parallel_workload();
        w.training.parallel_runs = cases[i].parallel;
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
    for (double peak = 1; peak < 8; peak += 0.5)
        for (double share = 0; share <= 1; share += 0.25) {
            const struct hybrid_load l = hybrid_load_of(peak, share);
            cr_expect_float_eq(l.home + l.burst, peak, 1e-9);
            cr_expect(l.home >= 1 && l.burst >= -1e-9);
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
    cr_expect_float_eq(line->quantity, 3, 1e-9, "the line is paid for as long as the service runs");
    cr_expect(note_find(&d->reasons, "hybrid_serving_split"));
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
