/* The worked example of docs/plans.md, to the fen, on a catalog of its own: one SKU, one provider. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "planner/advice/plan_make.h"
#include "planner/offers/engine.h"
#include "tests/support/test_catalog.h"

static const struct test_csv FILES[] = {
    {"providers.csv",
     "id,name_zh,name_en,kind,city,place_zh,place_en,tier,support_level,data_stays,serves,source,"
     "source_date,confidence\n"
     "idc,本地机房,Local IDC,local_idc,hefei,高新区,High-tech Zone,local,24x7,yes,yes,example,2026-11,high\n"},
    {"networks.csv", "id,name_zh,name_en,kind,gbps_per_node,rdma,dedicated_line,note,source,source_date\n"},
    {"storages.csv", "id,name_zh,name_en,system,parallel,local,read_gb_s,write_gb_s,note,source,source_date\n"},
    {"dedicated_lines.csv", "id,a_provider_id,b_provider_id,network_id,gbps,source,source_date,note\n"},
    {"purchase_prices.csv",
     "gpu_id,gpus_per_server,price_low,price,price_high,currency,observed_on,source,confidence,note\n"},
    {"skus.csv",
     "id,provider_id,region,gpu_id,gpus_per_node,sold_by_card,max_nodes,intra,form,host_memory_gb,cpu_cores,"
     "nvme_gb,tax_code,source,source_date,confidence\n"
     "node,idc,hefei,a100-sxm4-80g,8,yes,1,nvswitch,bare_metal,1024,128,15360,service_6,example,2026-11,high\n"},
    {"prices.csv",
     "id,subject,sku_id,subject_id,provider_id,mode,term_months,currency,unit,price,effective_from,observed_on,state,"
     "source,confidence\n"
     "p1,sku,node,,,hourly,,CNY,node_hour,122.00,2026-11-01,2026-11-20,firm,example,high\n"
     "p2,sku,node,,,monthly,1,CNY,node_month,46000.00,2026-11-01,2026-11-20,firm,example,high\n"
     "p3,sku,node,,,monthly,1,CNY,gpu_month,6000.00,2026-11-01,2026-11-20,firm,example,high\n"
     "p4,egress,,idc,idc,hourly,,CNY,gb,0.50,2026-11-01,2026-11-20,firm,example,high\n"},
    {"tax_codes.csv", "code,name_zh,name_en,rate_bp,valid_from,valid_to,source\n"
                      "service_6,服务,Services,600,2016-05-01,,example\n"},
};

static struct workload example_workload(const struct catalog *c)
{
    static struct assumption_override overrides[] = {{"run_overhead_factor", 0}};
    struct workload w;
    workload_init(&w);
    w.model = *catalog_model(c, "qwen2.5-14b");
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
    w.serving.requests_per_s = 0.5;
    w.serving.peak_factor = 3;
    w.serving.input_tokens = 1000;
    w.serving.output_tokens = 300;
    w.serving.months = 6;
    w.serving.months_stated = true;
    w.serving.spare_replicas = 1; /* one carries the load, one stands by: two cards */
    w.constraints.egress_gb = 200;
    w.overrides = overrides;
    w.n_overrides = 1;
    date_parse("2027-01-04", &w.constraints.start_on);
    return w;
}

static const struct cost_line *line_of(const struct option *o, enum section section, enum pricing_mode mode)
{
    for (size_t i = 0; i < o->cost.n_lines; i++)
        if (o->cost.lines[i].section == section && o->cost.lines[i].mode == mode)
            return &o->cost.lines[i];
    cr_assert_fail("no %s line paid %s", section_name(section), pricing_mode_name(mode));
    return NULL;
}

static void expect_line(const struct option *o, enum section section, enum pricing_mode mode, int64_t quantity_milli,
                        int64_t unit_micros, int64_t minor, int64_t tax)
{
    const struct cost_line *l = line_of(o, section, mode);
    cr_expect_eq(l->quantity_milli, quantity_milli, "%s: quantity %ld", section_name(section), (long)l->quantity_milli);
    cr_expect_eq(l->unit_price_micros, unit_micros);
    cr_expect_eq(l->minor, minor, "%s: %ld", section_name(section), (long)l->minor);
    cr_expect_eq(l->tax_minor, tax, "%s: tax %ld", section_name(section), (long)l->tax_minor);
}

static void expect_phase(const struct option *o, enum phase_code code, const char *start, const char *end, double hours,
                         int64_t minor)
{
    for (size_t i = 0; i < o->n_phases; i++) {
        const struct phase *p = &o->phases[i];
        char from[DATE_TEXT_MAX], to[DATE_TEXT_MAX];
        if (p->code != code)
            continue;
        date_text(p->start_on, from);
        date_text(p->end_on, to);
        cr_expect_str_eq(from, start, "%s starts", phase_name(code));
        cr_expect_str_eq(to, end, "%s ends", phase_name(code));
        cr_expect_float_eq(p->hours, hours, 1e-3, "%s: %f h", phase_name(code), p->hours);
        cr_expect_eq(p->minor, minor, "%s costs %ld", phase_name(code), (long)p->minor);
        return;
    }
    cr_assert_fail("no phase %s", phase_name(code));
}

Test(plan_example, to_the_fen)
{
    struct catalog *c = test_catalog_of(FILES, sizeof FILES / sizeof *FILES);
    struct arena *arena = arena_new(4 << 20);
    struct err err = {0};
    struct plan plan;
    cr_assert_eq(engine_bind(c, &err), 0, "%s", err.detail);
    struct workload w = example_workload(c);
    struct plan_request q = {.catalog = c, .workload = &w};
    date_parse("2026-11-30", &q.as_of);
    cr_assert_eq(plan_make(&q, arena, &plan, &err), 0, "%s at %s", err.detail, err.pointer);
    cr_assert_geq(plan.n_options, 1);
    const struct option *o = &plan.options[0];
    cr_assert_str_eq(plan.recommended, "A");
    cr_expect_eq(o->kind, KIND_SINGLE_MACHINE);
    cr_expect_eq(o->supply[0].gpus_per_node, 8);

    /* One line of 42 h and one month, each shared by the hours of the phases in it: 40 + 2 h, 80 + 528 h. */
    expect_phase(o, PHASE_VALIDATE, "2027-01-04", "2027-01-04", 0, 0);
    expect_phase(o, PHASE_DEVELOP, "2027-01-04", "2027-01-15", 120, 488000 + 605263);
    expect_phase(o, PHASE_TRAIN, "2027-01-16", "2027-02-07", 529.1005, 24400 + 3994737 + 10000);
    expect_phase(o, PHASE_SERVE, "2027-02-08", "2027-08-06", 4320, 7200000);
    /* Stopping after development: the month has begun and is lost, the last 2 h, egress and reserve are saved. */
    cr_expect_eq(o->phases[1].gate.saved_minor, 24400 + 10000 + 7200000, "%ld", (long)o->phases[1].gate.saved_minor);
    cr_expect_not_null(note_find(&o->phases[0].reasons, "already_measured"));
    cr_expect_float_eq(o->finish.expected_days, 35, 0);

    expect_line(o, SECTION_COMPUTE, MODE_HOURLY, 42000, 122000000, 512400, 30744);
    expect_line(o, SECTION_COMPUTE, MODE_MONTHLY, 1000, 46000000000, 4600000, 276000);
    expect_line(o, SECTION_INFERENCE_RESERVE, MODE_MONTHLY, 12000, 6000000000, 7200000, 432000);
    expect_line(o, SECTION_EGRESS, MODE_HOURLY, 200000, 500000, 10000, 600);
    cr_expect_float_eq(line_of(o, SECTION_COMPUTE, MODE_MONTHLY)->unused_share, 0.1556, 5e-5);
    cr_expect_eq(o->cost.n_lines, 4);
    cr_expect_eq(o->reserve.gpus, 2);
    cr_expect_eq(o->cost.net, 12322400);
    cr_expect_eq(o->cost.tax, 739344);
    cr_expect_eq(o->cost.total, 13061744);
    cr_expect_float_eq(plan.monthly_beats_hourly_after_hours, 377.0, 0.06);
    arena_free(arena);
    test_catalog_free(c);
}
