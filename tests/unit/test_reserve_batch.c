/* Batch work in the idle hours of a job's machines, on the worked example's market: 8 x A100-80G at 122 an hour or
 * 46,000 a month; 12 days of debugging at 10 h, then 22 days and 2 h of training. The month runs from day 4 to day 33,
 * so that eight nights of 14 h stand idle in it. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "planner/advice/plan_make.h"
#include "planner/offers/engine.h"
#include "tests/support/test_catalog.h"

static const struct test_csv FILES[] = {
    {"providers.csv",
     "id,name_zh,name_en,kind,city,place_zh,place_en,tier,support_level,data_stays,serves,source,source_date,"
     "confidence\n"
     "idc,机房,IDC,local_idc,hefei,区,Zone,local,24x7,yes,yes,test,2026-11,high\n"
     "shy,机房,Shy,local_idc,hefei,区,Zone,local,24x7,yes,no,test,2026-11,high\n"},
    {"networks.csv", "id,name_zh,name_en,kind,gbps_per_node,rdma,dedicated_line,note,source,source_date\n"},
    {"storages.csv", "id,name_zh,name_en,system,parallel,local,read_gb_s,write_gb_s,note,source,source_date\n"},
    {"dedicated_lines.csv", "id,a_provider_id,b_provider_id,network_id,gbps,source,source_date,note\n"},
    {"purchase_prices.csv",
     "gpu_id,gpus_per_server,price_low,price,price_high,currency,observed_on,source,confidence,note\n"},
    {"skus.csv",
     "id,provider_id,region,gpu_id,gpus_per_node,sold_by_card,max_nodes,intra,form,host_memory_gb,cpu_cores,nvme_gb,"
     "tax_code,source,source_date,confidence\n"
     "node,idc,hefei,a100-sxm4-80g,8,no,4,nvswitch,bare_metal,1024,128,15360,service_6,test,2026-11,high\n"
     "shy-node,shy,hefei,a100-sxm4-80g,8,no,4,nvswitch,bare_metal,1024,128,15360,service_6,test,2026-11,high\n"},
    {"prices.csv",
     "id,subject,sku_id,subject_id,provider_id,mode,term_months,currency,unit,price,effective_from,observed_on,state,"
     "source,confidence\n"
     "p1,sku,node,,,hourly,,CNY,node_hour,122.00,2026-11-01,2026-11-20,firm,test,high\n"
     "p2,sku,node,,,monthly,1,CNY,node_month,46000.00,2026-11-01,2026-11-20,firm,test,high\n"
     "p3,sku,shy-node,,,hourly,,CNY,node_hour,121.00,2026-11-01,2026-11-20,firm,test,high\n"
     "p4,sku,shy-node,,,monthly,1,CNY,node_month,45900.00,2026-11-01,2026-11-20,firm,test,high\n"},
    {"tax_codes.csv", "code,name_zh,name_en,rate_bp,valid_from,valid_to,source\n"
                      "service_6,服务,Services,600,2016-05-01,,test\n"},
};

static struct catalog *catalog;
static struct arena *arena;
static struct workload w;
static struct assumption_override overrides[4];
static const char *idc = "idc", *shy = "shy";

static void setup(void)
{
    struct err err = {0};
    catalog = test_catalog_of(FILES, sizeof FILES / sizeof *FILES);
    cr_assert_eq(engine_bind(catalog, &err), 0, "%s", err.detail);
    arena = arena_new(8 << 20);
    workload_init(&w);
    w.model = *catalog_model(catalog, "qwen2.5-14b");
    w.training.stated = true;
    w.training.method = METHOD_FULL_FINETUNE;
    w.training.tokens = 2e9;
    w.training.runs = 20;
    w.measured.stated = true;
    w.measured.gpu = "a100-sxm4-80g";
    w.measured.gpus = 8;
    w.measured.nodes = 1;
    w.measured.tokens_per_s = 21000;
    w.serving.stated = true;
    w.serving.own_model = true;
    w.serving.model = *catalog_model(catalog, "qwen2.5-7b");
    w.serving.batch_share = 1;
    w.serving.requests_per_s = 0.5;
    w.serving.input_tokens = 1000;
    w.serving.output_tokens = 300;
    w.serving.months = 6;
    w.serving.months_stated = true;
    for (int k = 1; k < KIND_COUNT; k++)
        w.constraints.kinds[k] = false;
    w.constraints.providers = &idc;
    w.constraints.n_providers = 1;
    overrides[0] = (struct assumption_override){"run_overhead_factor", 0};
    w.overrides = overrides;
    w.n_overrides = 1;
    date_parse("2027-01-04", &w.constraints.start_on);
}

static void teardown(void)
{
    arena_free(arena);
    test_catalog_free(catalog);
}

TestSuite(batch, .init = setup, .fini = teardown);

static const struct option *plan_it(void)
{
    struct plan *plan = arena_alloc(arena, sizeof *plan);
    struct err err = {0};
    struct plan_request q = {.catalog = catalog, .workload = &w};
    date_parse("2026-11-30", &q.as_of);
    cr_assert_eq(plan_make(&q, arena, plan, &err), 0, "%s at %s", err.detail, err.pointer);
    cr_assert_gt(plan->n_options, 0);
    return &plan->options[0];
}

static const char *day(date_t d, char text[DATE_TEXT_MAX])
{
    date_text(d, text);
    return text;
}

static int64_t reserve_lines(const struct option *o)
{
    int64_t sum = 0;
    for (size_t i = 0; i < o->cost.n_lines; i++)
        sum += o->cost.lines[i].section == SECTION_INFERENCE_RESERVE ? o->cost.lines[i].minor : 0;
    return sum;
}

static const struct cost_line *month_line(const struct option *o)
{
    for (size_t i = 0; i < o->cost.n_lines; i++)
        if (o->cost.lines[i].section == SECTION_COMPUTE && o->cost.lines[i].mode == MODE_MONTHLY)
            return &o->cost.lines[i];
    cr_assert_fail("no month");
    return NULL;
}

/* Hours that the job's phases work on a day: 10 while it is debugged, 24 in training, 2 on its last day. */
static double job_hours(const struct option *o, date_t on)
{
    for (size_t i = 0; i < o->n_phases; i++) {
        const struct phase *p = &o->phases[i];
        if (p->hours <= 0 || p->code == PHASE_SERVE || on < p->start_on || on > p->end_on)
            continue;
        return p->code == PHASE_DEVELOP ? 10 : on == p->end_on ? fmod(ceil(p->hours), 24) : 24;
    }
    return 0;
}

/* Windows lie in the month that is paid (30 days from day 4), and no hour of it is used twice. */
static void check_windows(const struct option *o)
{
    const struct reserve_waiting *t = &o->reserve.waiting;
    double hours = 0, requests = 0;
    for (size_t i = 0; i < t->n_windows; i++) {
        const struct reserve_window *x = &t->windows[i];
        const date_t month = w.constraints.start_on + 4;
        cr_expect_geq(x->start_on, month);
        cr_expect_lt(x->end_on, month + 30);
        cr_expect_eq(x->machines, 1);
        for (date_t d = x->start_on; d <= x->end_on; d++)
            cr_expect_leq(job_hours(o, d) + x->hours_per_day, 24, "day %d of the plan", d - w.constraints.start_on);
        for (size_t k = 0; k < i; k++)
            cr_expect(t->windows[k].end_on < x->start_on || x->end_on < t->windows[k].start_on);
        cr_expect_leq(x->hours, x->hours_per_day * (x->end_on - x->start_on + 1));
        hours += x->hours;
        requests += x->requests;
    }
    cr_expect_float_eq(hours, t->hours_idle, 1e-9);
    cr_expect_float_eq(requests, t->requests_idle, (double)t->n_windows + 1);
}

Test(batch, runs_in_the_nights_of_a_month_that_is_paid)
{
    char text[DATE_TEXT_MAX];
    const struct option *o = plan_it();
    const struct reserve_waiting *t = &o->reserve.waiting;
    check_windows(o);
    cr_assert_eq(t->n_windows, 1);
    cr_expect_str_eq(day(t->windows[0].start_on, text), "2027-01-08");
    cr_expect_float_eq(t->windows[0].hours_per_day, 13.5, 1e-9, "14 h and half an hour to change hands");
    cr_expect_eq(t->requests, 0.5 * 86400 * 180, "%f", t->requests);
    cr_expect_eq(t->requests_idle, t->requests, "all of it fits");
    cr_expect_eq(o->reserve.total, 0, "paid for by the month");
    cr_expect_str_eq(o->reserve.basis, "sized");
    cr_expect_gt(t->saved, 0);
    cr_expect_eq(o->cost.net, 4600000 + 512400, "the job alone");
    cr_expect_float_eq(month_line(o)->unused_share, 1 - (608 + t->hours_idle) / 720, 1e-9);
    cr_expect_not_null(note_find(&o->reasons, "batch_in_idle_hours"));
    bool shown = false;
    for (size_t i = 0; i < o->cost.n_lines; i++) {
        const struct cost_line *l = &o->cost.lines[i];
        if (l->item == NULL || strcmp(l->item, "idle_hours") != 0)
            continue;
        shown = true;
        cr_expect_eq(l->minor, 0);
        cr_expect_eq(l->quantity_milli, llround(t->hours_idle * 1000));
        cr_expect_str_eq(l->price->id, "p2", "the month that pays it");
    }
    cr_expect(shown, "the hours are a line of the bill");
}

/* More than the nights hold: all eight of them, and the rest on machines of its own, priced. */
Test(batch, what_the_nights_do_not_hold_is_rented)
{
    w.serving.requests_per_s = 40;
    const struct option *o = plan_it();
    const struct reserve_waiting *t = &o->reserve.waiting;
    char text[DATE_TEXT_MAX];
    check_windows(o);
    cr_assert_eq(t->n_windows, 1);
    cr_expect_str_eq(day(t->windows[0].end_on, text), "2027-01-15", "the last night before training");
    cr_expect_float_eq(t->hours_idle, 8 * 13.5, 1e-9);
    cr_expect_lt(t->requests_idle, t->requests);
    cr_expect_gt(t->replicas, 0);
    const double per_hour = t->requests_idle / t->hours_idle / 8; /* of a replica: 8 on a node */
    cr_expect_geq(t->replicas * t->hours * per_hour, t->requests - t->requests_idle - 1, "it can be done in time");
    cr_expect_leq(t->hours, 24 * 180);
    cr_expect_eq(reserve_lines(o), o->reserve.total);
    cr_expect_gt(o->reserve.total, 0);
    cr_expect_gt(t->saved, 0);
    cr_expect_leq(o->reserve.low, o->reserve.total);
    cr_expect_geq(o->reserve.high, o->reserve.total);
}

/* A trained model is served once it is there: its batch work cannot use the nights before, and the answer says so. */
Test(batch, a_trained_model_cannot_work_before_it_is_trained)
{
    w.serving.own_model = false;
    const struct option *o = plan_it();
    const struct note *n = note_find(&o->reasons, "batch_waits_for_model");
    for (size_t i = 0; i < o->reserve.waiting.n_windows; i++)
        cr_expect_gt(o->reserve.waiting.windows[i].start_on, o->finish.finish_on);
    cr_expect_eq(o->reserve.waiting.n_windows, 0, "the month ends with the job");
    cr_assert_not_null(n);
    cr_expect_float_eq(n->args[0].number, 8 * 13.5, 1e-9);
    cr_expect_gt(o->reserve.total, 0);
}

/* The month outlasts the run: its rest is whole days, and a trained model may use them. */
Test(batch, the_rest_of_a_term_after_the_run)
{
    w.serving.own_model = false;
    w.training.runs = 13; /* 344 h: 8 days of debugging, 15 days of training */
    w.serving.requests_per_s = 40;
    const struct option *o = plan_it();
    const struct reserve_waiting *t = &o->reserve.waiting;
    cr_assert_gt(t->n_windows, 0);
    for (size_t i = 0; i < t->n_windows; i++)
        cr_expect_gt(t->windows[i].start_on, o->finish.finish_on);
    const struct reserve_window *last = &t->windows[t->n_windows - 1];
    cr_expect_float_eq(last->hours_per_day, 24, 1e-9, "nobody else wants the machine");
    cr_expect_float_eq(t->hours_idle, 7 * 24, 1e-9, "days 23 to 29");
    cr_expect_float_eq(month_line(o)->unused_share, (720 - 344 - 80 - 168) / 720.0, 1e-9);
    cr_expect_eq(reserve_lines(o), o->reserve.total);
}

/* Part of the load waits for nobody: the rest is sized with its peak as before, for less. */
Test(batch, a_share_of_the_load)
{
    double last = -1;
    w.serving.requests_per_s = 20;
    w.serving.tpot_ms = 60;
    for (int tenth = 0; tenth < 10; tenth++) {
        w.serving.batch_share = tenth / 10.0;
        const struct option *o = plan_it();
        cr_expect_eq(reserve_lines(o), o->reserve.total);
        cr_expect_float_eq(o->reserve.waiting.requests, floor(tenth / 10.0 * 20 * 86400 * 180), 1);
        cr_expect(last < 0 || (double)o->reserve.total <= last * 1.0001, "%d tenths: %ld", tenth,
                  (long)o->reserve.total);
        last = (double)o->reserve.total;
        cr_expect_leq(o->reserve.waiting.requests_idle + o->reserve.waiting.requests_service,
                      o->reserve.waiting.requests + 1);
        check_windows(o);
        arena_free(arena);
        arena = arena_new(8 << 20);
    }
}

/* A supplier whose machines may not serve lends no nights either. */
Test(batch, only_where_a_service_may_run)
{
    const char *both[] = {shy, idc};
    w.constraints.providers = both;
    w.constraints.n_providers = 2;
    const struct option *o = plan_it();
    cr_assert_str_eq(o->supply[0].sku->id, "shy-node", "the cheaper one trains");
    cr_expect_eq(o->reserve.waiting.n_windows, 0);
    cr_expect_gt(o->reserve.total, 0);
    cr_expect_str_eq(o->reserve.sku->id, "node");
}

/* Over many jobs: what a term's lines say is unused is what the nights and the rest of the term give, to the hour. */
Test(batch, idle_hours_are_the_unused_share)
{
    overrides[1] = (struct assumption_override){"batch_switch_hours", 0};
    w.n_overrides = 2;
    w.serving.requests_per_s = 500; /* takes whatever there is */
    for (int runs = 1; runs <= 60; runs += 4) {
        w.training.runs = runs;
        w.serving.batch_share = 0;
        const struct option *without = plan_it();
        double unused = 0, left = 0;
        for (size_t i = 0; i < without->cost.n_lines; i++)
            if (without->cost.lines[i].section != SECTION_INFERENCE_RESERVE)
                unused +=
                    without->cost.lines[i].unused_share * 720 * (double)without->cost.lines[i].quantity_milli / 1000;
        w.serving.batch_share = 1;
        const struct option *o = plan_it();
        for (size_t i = 0; i < o->cost.n_lines; i++)
            if (o->cost.lines[i].section != SECTION_INFERENCE_RESERVE)
                left += o->cost.lines[i].unused_share * 720 * (double)o->cost.lines[i].quantity_milli / 1000;
        cr_expect_float_eq(o->reserve.waiting.hours_idle, unused - left, 1e-6, "%d runs", runs);
        cr_expect_float_eq(left, 0, 1e-6, "%d runs: %f of %f h are left", runs, left, unused);
        arena_free(arena);
        arena = arena_new(8 << 20);
    }
}
