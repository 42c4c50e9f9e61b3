/* university_time: user class, agreement, off-peak calendar, queue, job cap, desensitising, no service there. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "planner/drafting/quality.h"
#include "planner/offers/kinds.h"
#include "planner/offers/option_university.h"
#include "tests/support/small_fixture.h"

TestSuite(university, .init = small_setup, .fini = small_teardown);

static struct option_list options_of(const struct workload *w, struct build **ret)
{
    struct option_list out = {0};
    struct err err = {0};
    *ret = small_build(market, w, arena);
    cr_assert_eq(option_university_build(*ret, &out, &err), 0, "%s", err.detail);
    return out;
}

static const struct draft_step *step_of(const struct draft *d, enum phase_code phase)
{
    for (int i = 0; i < d->n_steps; i++)
        if (d->steps[i].phase == phase)
            return &d->steps[i];
    return NULL;
}

Test(university, queue_wait_is_lognormal)
{
    /* median 6, 90th percentile 48: sigma = ln 8 / 1.28155 = 1.62259, mean = 6 e^(sigma^2 / 2) = 22.38 */
    cr_expect_float_eq(university_mean_wait_h(6, 48), 22.38, 0.02);
    cr_expect_float_eq(university_mean_wait_h(6, 6), 6, 1e-9);
    cr_expect_float_eq(university_mean_wait_h(0, 0), 0, 1e-9);
}

Test(university, job_cap_cuts_the_work_and_every_job_restarts)
{
    const struct {
        double hours, cap;
        int jobs;
    } cases[] = {{10, 48, 1}, {48, 48, 1}, {48.1, 48, 2}, {130.5, 48, 3}, {480, 48, 10}, {100, 0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct university_chain c = university_chain_of(cases[i].hours, cases[i].cap, 0.5, 6, 48);
        cr_expect_eq(c.jobs, cases[i].jobs, "%g h: %d jobs", cases[i].hours, c.jobs);
        cr_expect_float_eq(c.hours, cases[i].hours + 0.5 * c.jobs, 1e-9);
        cr_expect_float_eq(c.wait_h, c.jobs * 22.38, 0.05 * c.jobs);
    }
}

Test(university, agreement_and_off_peak_set_the_date)
{
    struct workload w = small_workload(market);
    struct build *b;
    struct option_list out = options_of(&w, &b);
    cr_assert_gt(out.n, 0);
    const struct draft *d = out.items[0];
    const struct draft_step *train = step_of(d, PHASE_TRAIN);
    cr_assert(train);
    cr_expect_float_eq(d->steps[0].wait_days, 21, 1e-9, "agreement: %g", d->steps[0].wait_days);
    cr_expect_float_eq(train->hours_per_day, 24 * 0.45, 1e-9);
    const double run = build_train_hours(b, d->estimate, 1);
    cr_expect_eq(d->queue_jobs, (int)ceil(run / 48), "%d jobs of %g h", d->queue_jobs, run);
    const double lost = quality_lost_share(quality_of(b, d->groups[0].offer->sku->provider), 8);
    cr_expect_gt(lost, 0);
    cr_expect_float_eq(train->hours, (run + 0.5 * d->queue_jobs) * (1 + lost) + 8, 1e-6);
    cr_expect_float_eq(train->wait_days * 24, d->queue_jobs * 22.38, 0.1 * d->queue_jobs);
    cr_expect(note_find(&d->reasons, "university_agreement"));
    cr_expect(note_find(&d->reasons, "university_off_peak"));
    cr_expect(note_find(&d->warnings, "queue_uncertain"));
    /* lead, validation, development, queue, and the work stretched over its share of the week */
    const double least = 21 + train->wait_days + train->hours / (24 * 0.45);
    cr_expect_geq(d->base->schedule.finish_days, floor(least));
}

Test(university, runs_are_billed_and_waits_are_not_by_user_class)
{
    static const struct {
        double class;
        int64_t card_hour_micros;
    } cases[] = {{0, 4000000}, {1, 6000000}, {2, 8000000}};
    for (size_t i = 0; i < 3; i++) {
        struct workload w = small_workload(market);
        struct assumption_override o = {"university_user_class", cases[i].class};
        w.overrides = &o;
        w.n_overrides = 1;
        struct build *b;
        struct option_list out = options_of(&w, &b);
        cr_assert_gt(out.n, 0);
        const struct draft *d = out.items[0];
        cr_assert_gt(d->groups[0].offer->n_rates, 0);
        cr_expect_eq(d->groups[0].offer->rates[0].unit_micros, cases[i].card_hour_micros);
        double hours = 0;
        for (int k = 0; k < d->n_steps; k++)
            hours += (double)d->base->schedule.billed_milli[k] / 1000 * d->steps[k].units *
                     d->groups[d->steps[k].group].cards;
        cr_expect_eq(d->base->net, llround(hours * (double)cases[i].card_hour_micros / 1e4), "class %g: %lld for %g h",
                     cases[i].class, (long long)d->base->net, hours);
    }
}

Test(university, desensitisation_is_a_condition)
{
    static const struct {
        bool sensitive;
        enum tri can;
        bool offered;
        double lead;
    } cases[] = {{false, TRI_UNSTATED, true, 21},
                 {true, TRI_YES, true, 28},
                 {true, TRI_NO, false, 0},
                 {true, TRI_UNSTATED, false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct workload w = small_workload(market);
        w.constraints.data_sensitive = cases[i].sensitive;
        w.constraints.can_desensitise = cases[i].can;
        struct build *b;
        struct option_list out = options_of(&w, &b);
        cr_expect_eq(out.n > 0, cases[i].offered, "case %zu", i);
        cr_expect_eq(note_find(&b->refusals[KIND_UNIVERSITY_TIME], "data_sensitive") != NULL, !cases[i].offered);
        if (out.n > 0) {
            cr_expect_float_eq(out.items[0]->steps[0].wait_days, cases[i].lead, 1e-9, "case %zu", i);
            cr_expect_eq(note_find(&out.items[0]->reasons, "desensitise_first") != NULL, cases[i].sensitive);
        }
    }
}

Test(university, no_serving_there_and_the_reserve_is_placed_elsewhere)
{
    struct workload w = small_workload(market);
    w.serving.stated = true;
    w.serving.requests_per_s = 0.5;
    w.serving.input_tokens = 500;
    w.serving.output_tokens = 200;
    w.serving.months_stated = true;
    w.serving.months = 2;
    struct build *b;
    struct option_list out = options_of(&w, &b);
    cr_assert_gt(out.n, 0);
    cr_assert(b->reserve.offer);
    cr_expect_neq(b->reserve.offer->sku->provider->kind, PROVIDER_UNIVERSITY);
    cr_expect_geq(out.items[0]->base->net, b->reserve.net);
    cr_expect(note_find(&out.items[0]->reasons, "reserve_elsewhere"));
    w.training.stated = false;
    out = options_of(&w, &b);
    cr_expect_eq(out.n, 0);
    cr_expect(note_find(&b->refusals[KIND_UNIVERSITY_TIME], "university_no_serving"));
}

Test(university, memory_wall_says_by_how_much)
{
    struct workload w = small_workload(market);
    w.model = *catalog_model(market, "llama-2-70b");
    w.training.method = METHOD_PRETRAIN;
    w.constraints.team = TEAM_NONE; /* one node */
    struct build *b;
    struct option_list out = options_of(&w, &b);
    if (out.n > 0) /* squeezed onto one node by offload: then it must say tight or yes */
        cr_expect_neq(out.items[0]->estimate->fits, FITS_NO);
    else if (note_find(&b->refusals[KIND_UNIVERSITY_TIME], "memory_wall") != NULL)
        cr_expect_gt(note_find(&b->refusals[KIND_UNIVERSITY_TIME], "memory_wall")->short_by, 0);
    else /* the cards would hold what the host cannot take */
        cr_expect_gt(note_find(&b->refusals[KIND_UNIVERSITY_TIME], "host_memory")->short_by, 0);
}

/* A reading that no card can reach is the request's fault: no kind takes it for a machine that does not do. */
Test(university, a_reading_above_physics_stops_the_plan)
{
    static int (*const builders[])(struct build *, struct option_list *,
                                   struct err *) = {option_university_build, option_hybrid_build, option_single_build};
    for (size_t i = 0; i < sizeof builders / sizeof *builders; i++) {
        struct workload w = small_workload(market);
        struct option_list out = {0};
        struct err err = {0};
        w.training.runs = w.training.parallel_runs = 2;
        w.measured.stated = true;
        w.measured.gpu = "a100-sxm4-80g";
        w.measured.gpus = w.measured.nodes = 1;
        w.measured.tokens_per_s = 1e9;
        cr_expect_neq(builders[i](small_build(market, &w, arena), &out, &err), 0, "builder %zu", i);
        cr_expect_eq(err.code, ERR_RANGE, "builder %zu: %s", i, err_name(err.code));
        cr_expect_str_eq(err.pointer, "/workload/measured/tokens_per_s");
    }
}
