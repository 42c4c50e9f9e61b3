/* Money, phases and reserve by the names of their rules, each on a market of one machine that can be reckoned by hand:
 * 8 x A100-80G measured at 20,000 tokens/s, so that 72 million tokens are one hour. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "planner/advice/plan_make.h"
#include "planner/offers/engine.h"
#include "tests/support/test_catalog.h"

#define PRICES                                                                                                         \
    "id,subject,sku_id,subject_id,provider_id,mode,term_months,currency,unit,price,tax_included,granularity_milli_h,"  \
    "deposit_ppm,effective_from,effective_to,observed_on,state,rule,source,confidence\n"
#define TODAY ",2026-11-01,,2026-11-20,firm,,test,high\n"
#define HOURLY(amount) "h,sku,node,,,hourly,,CNY,node_hour," amount ",no,," TODAY
#define MONTHLY(amount) "m,sku,node,,,monthly,1,CNY,node_month," amount ",no,," TODAY

#define SKU(nvme, network)                                                                                             \
    "id,provider_id,region,gpu_id,gpus_per_node,sold_by_card,max_nodes,intra,network_id,form,host_memory_gb,cpu_"      \
    "cores,"                                                                                                           \
    "nvme_gb,tax_code,source,source_date,confidence\n"                                                                 \
    "node,idc,hefei,a100-sxm4-80g,8,no,8,nvswitch," network ",bare_metal,2048,128," nvme                               \
    ",service_6,test,2026-11,high\n"
#define STORAGES                                                                                                       \
    "id,name_zh,name_en,system,parallel,local,read_gb_s,write_gb_s,note,source,source_date\n"                          \
    "nas,NAS,NAS,nfs,no,no,1.5,1,,test,2026-11\nlustre,Lustre,Lustre,lustre,yes,no,20,10,,test,2026-11\n"              \
    "object,OSS,OSS,object,no,no,3,2,,test,2026-11\n"

static const char *skus = SKU("30720", "ib"); /* a test may say otherwise before it makes its market */
static struct catalog *catalog;
static struct arena *arena;
static struct workload w;
static struct assumption_override overrides[8];

static void market(const char *prices)
{
    const struct test_csv files[] = {
        {"providers.csv", "id,name_zh,name_en,kind,city,place_zh,place_en,tier,support_level,data_stays,serves,source,"
                          "source_date,confidence\n"
                          "idc,本地,IDC,local_idc,hefei,区,Zone,local,24x7,yes,yes,test,2026-11,high\n"},
        {"networks.csv", "id,name_zh,name_en,kind,gbps_per_node,rdma,dedicated_line,note,source,source_date\n"
                         "ib,IB,IB,infiniband,1600,yes,no,,test,2026-11\n"
                         "eth,ETH,ETH,ethernet,1,no,no,,test,2026-11\n"},
        {"storages.csv", STORAGES},
        {"dedicated_lines.csv", "id,a_provider_id,b_provider_id,network_id,gbps,source,source_date,note\n"},
        {"purchase_prices.csv",
         "gpu_id,gpus_per_server,price_low,price,price_high,currency,observed_on,source,confidence,note\n"},
        {"fx_rates.csv", "base,quote,on_date,rate,source\nUSD,CNY,2026-11-01,7.0,test\nUSD,CNY,2026-11-25,7.2,test\n"
                         "USD,CNY,2026-12-05,9.0,test\n"},
        {"tax_codes.csv", "code,name_zh,name_en,rate_bp,valid_from,valid_to,source\n"
                          "service_6,服务,Services,600,2016-05-01,,test\n"},
        {"skus.csv", skus},
        {"prices.csv", prices},
    };
    struct err err = {0};
    catalog = test_catalog_of(files, sizeof files / sizeof *files);
    cr_assert_eq(engine_bind(catalog, &err), 0, "%s", err.detail);
    arena = arena_new(4 << 20);
    workload_init(&w);
    w.model = *catalog_model(catalog, "qwen2.5-14b");
    w.training.stated = true;
    w.training.method = METHOD_FULL_FINETUNE;
    w.measured.stated = true;
    w.measured.gpu = "a100-sxm4-80g";
    w.measured.gpus = 8;
    w.measured.tokens_per_s = 20000;
    w.serving.months_stated = true; /* 0 months: no reserve */
    for (int k = 1; k < KIND_COUNT; k++)
        w.constraints.kinds[k] = false;
    date_parse("2027-01-04", &w.constraints.start_on);
    overrides[0] = (struct assumption_override){"run_overhead_factor", 0};
    overrides[1] = (struct assumption_override){"debug_share", 0};
    w.overrides = overrides;
    w.n_overrides = 2;
}

static void assume_that(const char *name, double value)
{
    overrides[w.n_overrides++] = (struct assumption_override){name, value};
}

static void work_for(double hours)
{
    w.training.tokens = hours * 72e6;
}

static void done(void)
{
    arena_free(arena);
    test_catalog_free(catalog);
}

static struct plan plan_it(void)
{
    struct plan plan;
    struct err err = {0};
    struct plan_request q = {.catalog = catalog, .workload = &w};
    date_parse("2026-11-30", &q.as_of);
    cr_assert_eq(plan_make(&q, arena, &plan, &err), 0, "%s at %s", err.detail, err.pointer);
    return plan;
}

static const struct option *first(const struct plan *p)
{
    cr_assert_gt(p->n_options, 0);
    return &p->options[0];
}

static const struct cost_line *line_at(const struct option *o, enum pricing_mode mode, enum section section)
{
    for (size_t i = 0; i < o->cost.n_lines; i++)
        if (o->cost.lines[i].mode == mode && o->cost.lines[i].section == section)
            return &o->cost.lines[i];
    return NULL;
}

static const struct phase *phase_at(const struct option *o, enum phase_code code)
{
    for (size_t i = 0; i < o->n_phases; i++)
        if (o->phases[i].code == code)
            return &o->phases[i];
    return NULL;
}

static void expect_only_line(const struct option *o, int64_t quantity_milli, int64_t unit_micros, int64_t minor)
{
    cr_assert_eq(o->cost.n_lines, 1, "%zu lines", o->cost.n_lines);
    const struct cost_line *l = &o->cost.lines[0];
    cr_expect_eq(l->quantity_milli, quantity_milli, "quantity %ld", (long)l->quantity_milli);
    cr_expect_eq(l->unit_price_micros, unit_micros, "unit price %ld", (long)l->unit_price_micros);
    cr_expect_eq(l->minor, minor, "amount %ld", (long)l->minor);
}

Test(rules, billed_in_whole_hours_unless_stated)
{
    market(PRICES HOURLY("100"));
    work_for(10.3);
    struct plan p = plan_it();
    expect_only_line(first(&p), 11000, 100000000, 110000);
    done();
    market(PRICES "h,sku,node,,,hourly,,CNY,node_hour,100,no,500," TODAY);
    work_for(10.3);
    p = plan_it();
    expect_only_line(first(&p), 10500, 100000000, 105000);
    done();
}

Test(rules, minimum_term_is_paid_whole)
{
    market(PRICES "m,sku,node,,,monthly,3,CNY,node_month,46000,no,," TODAY);
    work_for(240);
    struct plan p = plan_it();
    expect_only_line(first(&p), 3000, 46000000000, 13800000);
    cr_expect_float_eq(first(&p)->cost.lines[0].unused_share, 1 - 240.0 / 2160, 1e-9);
    done();
}

Test(rules, longer_term_is_taken_where_it_costs_less)
{
    const char *prices = PRICES MONTHLY("46000") "q,sku,node,,,monthly,3,CNY,node_month,40000,no,," TODAY;
    market(prices);
    work_for(80 * 24);
    struct plan p = plan_it();
    expect_only_line(first(&p), 3000, 40000000000, 12000000);
    done();
    market(prices);
    work_for(25 * 24);
    p = plan_it();
    expect_only_line(first(&p), 1000, 46000000000, 4600000);
    done();
}

Test(rules, tax_included_is_split_first)
{
    market(PRICES "h,sku,node,,,hourly,,CNY,node_hour,106,yes,," TODAY);
    work_for(10);
    struct plan p = plan_it();
    expect_only_line(first(&p), 10000, 100000000, 100000);
    cr_expect_eq(first(&p)->cost.tax, 6000);
    cr_expect_eq(first(&p)->cost.total, 106000);
    done();
}

Test(rules, fx_at_the_dated_rate)
{
    market(PRICES "h,sku,node,,,hourly,,USD,node_hour,10,no,," TODAY);
    work_for(10);
    struct plan p = plan_it();
    expect_only_line(first(&p), 10000, 72000000, 72000); /* 7.2 of 25 November, not 9.0 of December */
    done();
}

Test(rules, price_in_force_on_the_day)
{
    market(PRICES "a,sku,node,,,hourly,,CNY,node_hour,80,no,,,2026-01-01,2026-11-01,2026-01-01,firm,,test,high\n"
                  "b,sku,node,,,hourly,,CNY,node_hour,120,no,,,2026-11-01,,2026-11-20,firm,,test,high\n"
                  "c,sku,node,,,hourly,,CNY,node_hour,60,no,,,2027-01-01,,2026-11-20,firm,,test,high\n");
    work_for(10);
    struct plan p = plan_it();
    expect_only_line(first(&p), 10000, 120000000, 120000);
    done();
}

Test(rules, deposit_is_cash_and_no_cost)
{
    market(PRICES "m,sku,node,,,monthly,1,CNY,node_month,46000,no,,2000000,2026-11-01,,2026-11-20,firm,,test,high\n");
    work_for(40 * 24);
    struct plan p = plan_it();
    cr_expect_eq(first(&p)->cost.deposit, 9200000, "two months of one machine");
    cr_expect_eq(first(&p)->cost.net, 9200000, "and two months of rent besides");
    done();
}

Test(rules, spot_never_in_the_last_mile)
{
    market(PRICES HOURLY("100") "s,sku,node,,,spot,,CNY,node_hour,30,no,," TODAY);
    work_for(10 * 24);
    w.constraints.allow_spot = true;
    assume_that("spot_interruptions_per_h", 0.1);
    struct plan p = plan_it();
    const struct cost_line *spot = line_at(first(&p), MODE_SPOT, SECTION_COMPUTE);
    cr_assert_not_null(spot);
    cr_expect_eq(spot->quantity_milli, 264000, "240 h and a tenth lost to interruptions: %ld",
                 (long)spot->quantity_milli);
    const struct note *n = note_find(&first(&p)->warnings, "spot_interruptions");
    cr_assert_not_null(n);
    cr_expect_float_eq(n->args[1].number, 0.1, 1e-9, "an interruption in ten hours loses one of them");
    cr_expect_float_eq(n->args[2].number, 1, 1e-9, "a tenth of ten days");
    date_parse("2027-01-14", &w.constraints.deadline_on); /* the run ends on the 13th */
    p = plan_it();
    const struct cost_line *hourly = line_at(first(&p), MODE_HOURLY, SECTION_COMPUTE);
    spot = line_at(first(&p), MODE_SPOT, SECTION_COMPUTE);
    cr_assert(hourly != NULL && spot != NULL);
    cr_expect_eq(hourly->quantity_milli, 48000, "12th and 13th: %ld", (long)hourly->quantity_milli);
    cr_expect_eq(spot->quantity_milli, 8 * 26400);
    w.constraints.allow_spot = false;
    p = plan_it();
    cr_expect_null(line_at(first(&p), MODE_SPOT, SECTION_COMPUTE));
    done();
}

/* A service may not vanish: its reserve is never paid by spot, however cheap that is. */
Test(rules, spot_never_serves)
{
    market(PRICES HOURLY("100") "s,sku,node,,,spot,,CNY,node_hour,1,no,," TODAY);
    work_for(240);
    w.constraints.allow_spot = true;
    w.serving.stated = true;
    w.serving.requests_per_s = 1;
    w.serving.months = 1;
    struct plan p = plan_it();
    cr_expect_not_null(line_at(first(&p), MODE_SPOT, SECTION_COMPUTE), "the job takes it");
    cr_expect_null(line_at(first(&p), MODE_SPOT, SECTION_INFERENCE_RESERVE));
    cr_expect_not_null(line_at(first(&p), MODE_HOURLY, SECTION_INFERENCE_RESERVE));
    done();
}

/* A price of the bill that ends before the plan does is told, with its last day. */
Test(rules, price_expires)
{
    const struct {
        const char *to;
        bool told;
    } cases[] = {{"2027-01-05", true}, {"2027-06-01", false}, {"", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char prices[600];
        snprintf(prices, sizeof prices,
                 PRICES "h,sku,node,,,hourly,,CNY,node_hour,100,no,,,2026-11-01,%s,2026-11-20,firm,,test,high\n",
                 cases[i].to);
        market(prices);
        work_for(240);
        struct plan p = plan_it();
        const struct note *n = note_find(&first(&p)->warnings, "price_expires");
        cr_expect_eq(n != NULL, cases[i].told, "until %s", cases[i].to);
        done();
    }
}

/* A service of forty years costs four times one of ten: no part of it is forgotten, and the deposit is held once. */
Test(rules, a_long_service_is_paid_to_its_end)
{
    int64_t net[2], deposit[2];
    for (int i = 0; i < 2; i++) {
        market(PRICES HOURLY(
            "100") "m,sku,node,,,monthly,1,CNY,node_month,46000,no,,1000000,2026-11-01,,2026-11-20,firm,,test,high\n");
        work_for(1);
        w.serving.stated = true;
        w.serving.requests_per_s = 1;
        w.serving.peak_factor = 1;
        w.serving.months = i == 0 ? 365.0 / 3 : 365.0 / 3 * 4;
        struct plan p = plan_it();
        net[i] = first(&p)->reserve.total;
        deposit[i] = first(&p)->cost.deposit;
        done();
    }
    cr_expect_eq(net[1], 4 * net[0], "%ld, %ld", (long)net[0], (long)net[1]);
    cr_expect_eq(deposit[1], deposit[0]);
}

/* Figures of each option, of the machine that trains: a month against hours, a year against months. */
Test(rules, break_even_per_option)
{
    market(PRICES HOURLY("100") MONTHLY("46000") "y,sku,node,,,annual,12,CNY,node_year,414000,no,," TODAY);
    work_for(10);
    struct plan p = plan_it();
    cr_expect_float_eq(first(&p)->monthly_beats_hourly_after_hours, 460, 1e-9);
    cr_expect_float_eq(first(&p)->annual_beats_monthly_after_months, 9, 1e-9);
    cr_expect_float_eq(p.monthly_beats_hourly_after_hours, 460, 1e-9);
    done();
    market(PRICES HOURLY("100"));
    work_for(10);
    p = plan_it();
    cr_expect(isnan(first(&p)->monthly_beats_hourly_after_hours), "no month is sold");
    done();
}

/* With every way of paying on sale a job never costs more than with the best of them alone. */
Test(rules, never_dearer_than_the_best_single_mode)
{
    static const char *const modes[] = {
        PRICES HOURLY("100"),
        PRICES MONTHLY("46000"),
        PRICES "y,sku,node,,,annual,12,CNY,node_year,414000,no,," TODAY,
        PRICES HOURLY("100") MONTHLY("46000") "y,sku,node,,,annual,12,CNY,node_year,414000,no,," TODAY,
    };
    for (int hours = 5; hours < 12000; hours = hours * 17 / 10 + 3) {
        int64_t least = INT64_MAX, all = 0;
        for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
            market(modes[i]);
            overrides[1].value = 0.35;
            work_for(hours);
            struct plan p = plan_it();
            if (i < 3)
                least = first(&p)->cost.net < least ? first(&p)->cost.net : least;
            else
                all = first(&p)->cost.net;
            done();
        }
        cr_expect_leq(all, least, "%d h: %ld, one mode alone %ld", hours, (long)all, (long)least);
    }
}

/* Debugging on two cards and training on all eight: the two cards' month serves both, and is one line. */
Test(rules, phases_share_a_commitment)
{
    skus = "id,provider_id,region,gpu_id,gpus_per_node,sold_by_card,max_nodes,intra,form,host_memory_gb,cpu_cores,"
           "nvme_gb,tax_code,source,source_date,confidence\n"
           "node,idc,hefei,a100-sxm4-80g,8,yes,1,nvswitch,bare_metal,2048,128,30720,service_6,test,2026-11,high\n";
    market(PRICES "h,sku,node,,,hourly,,CNY,gpu_hour,10,no,," TODAY
                  "m,sku,node,,,monthly,1,CNY,gpu_month,3000,no,," TODAY);
    w.model = *catalog_model(catalog, "qwen2.5-7b");
    w.measured = (struct measured){.stated = false};
    w.training.tokens = 3e9;
    w.priority = PRIORITY_FASTEST;
    overrides[1].value = 0.35;
    struct plan p = plan_it();
    const struct option *o = first(&p);
    const struct phase *validate = phase_at(o, PHASE_VALIDATE), *develop = phase_at(o, PHASE_DEVELOP);
    const struct phase *train = phase_at(o, PHASE_TRAIN);
    cr_assert_eq(train->gpus, 8);
    cr_assert_lt(validate->gpus, 8, "validation needs fewer cards");
    cr_assert_lt(train->end_on - w.constraints.start_on, 30, "all of it within a month of the first day");
    /* By hand: cards 1..k by the month if their hours are worth it, the others by the hour for the run. */
    const int64_t run = (int64_t)ceil(train->hours), before = 14 * 24 + (int64_t)develop->hours;
    const int64_t home = 1000 * (before + run) < 300000 ? 1000 * (before + run) : 300000;
    cr_expect_eq(o->cost.net, validate->gpus * home + (8 - validate->gpus) * 1000 * run, "%ld", (long)o->cost.net);
    cr_expect_eq(home, 300000, "the month is worth it");
    const struct cost_line *month = line_at(o, MODE_MONTHLY, SECTION_COMPUTE);
    cr_assert_not_null(month);
    cr_expect_eq(month->quantity_milli, 1000 * validate->gpus);
    cr_expect_float_eq(month->unused_share, 1 - (double)(before + run) / 720, 1e-9);
    cr_expect_gt(train->minor, (8 - validate->gpus) * 1000 * run, "training carries its part of the month");
    done();
    skus = SKU("30720", "ib");
}

/* A gate's saving is the whole sum less what has been paid when it is reached: hours worked, months begun. */
Test(rules, a_gate_saves_what_is_paid_later)
{
    const struct {
        const char *prices;
        enum phase_code gate;
        int64_t spent; /* up to and with the gate's phase: by hand */
    } cases[] = {
        {PRICES HOURLY("100"), PHASE_VALIDATE, 14 * 24 * 10000},
        {PRICES HOURLY("100"), PHASE_DEVELOP, (14 * 24 + 10 * 10) * 10000},
        {PRICES MONTHLY("46000"), PHASE_VALIDATE, 4600000}, /* the first month has begun */
        {PRICES MONTHLY("46000"), PHASE_DEVELOP, 4600000},  /* day 24 is still in it */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        market(cases[i].prices);
        w.measured.gpu = "h100-sxm5-80g"; /* so that validation takes place */
        w.training.tokens = 2e9;
        overrides[1].value = 0.35;
        w.serving.stated = true;
        w.serving.requests_per_s = 1;
        w.serving.months = 3;
        struct plan p = plan_it();
        const struct option *o = first(&p);
        const struct phase *gate = phase_at(o, cases[i].gate), *develop = phase_at(o, PHASE_DEVELOP);
        cr_assert(gate != NULL && gate->has_gate);
        int64_t spent = cases[i].spent;
        if (cases[i].gate == PHASE_DEVELOP && i == 1)
            spent = (int64_t)(14 * 24 + develop->hours) * 10000;
        cr_expect_eq(gate->gate.saved_minor, o->cost.net - spent, "case %zu: %ld of %ld", i,
                     (long)gate->gate.saved_minor, (long)o->cost.net);
        done();
    }
}

/* A year of service: the base by the year, what the peak adds by the hour. */
Test(rules, annual_baseline_with_elastic_burst)
{
    skus = "id,provider_id,region,gpu_id,gpus_per_node,sold_by_card,max_nodes,intra,form,host_memory_gb,cpu_cores,"
           "nvme_gb,tax_code,source,source_date,confidence\n"
           "node,idc,hefei,a100-sxm4-80g,8,yes,4,nvswitch,bare_metal,2048,128,30720,service_6,test,2026-11,high\n";
    market(PRICES "h,sku,node,,,hourly,,CNY,gpu_hour,10,no,," TODAY
                  "m,sku,node,,,monthly,1,CNY,gpu_month,5000,no,," TODAY
                  "y,sku,node,,,annual,12,CNY,gpu_year,42000,no,," TODAY);
    work_for(10);
    w.serving.stated = true;
    w.serving.requests_per_s = 6;
    w.serving.peak_factor = 3;
    w.serving.input_tokens = 1000;
    w.serving.output_tokens = 300;
    w.serving.months = 12;
    struct plan p = plan_it();
    const struct option *o = first(&p);
    const struct cost_line *year = line_at(o, MODE_ANNUAL, SECTION_INFERENCE_RESERVE);
    const struct cost_line *burst = line_at(o, MODE_HOURLY, SECTION_INFERENCE_RESERVE);
    cr_assert(year != NULL && burst != NULL);
    cr_expect_eq(year->quantity_milli, 1000 * o->reserve.base_gpus);
    cr_expect_eq(burst->quantity_milli,
                 llround(1000 * 360 * o->reserve.peak_hours) * (o->reserve.gpus - o->reserve.base_gpus));
    cr_expect_eq(year->minor + burst->minor, o->reserve.total);
    done();
    skus = SKU("30720", "ib");
}

Test(rules, contingency_if_asked)
{
    market(PRICES HOURLY("100"));
    work_for(10);
    assume_that("contingency_share", 0.1);
    struct plan p = plan_it();
    const struct option *o = first(&p);
    cr_assert_eq(o->cost.n_lines, 2);
    cr_expect_eq(o->cost.by_section[SECTION_OPERATIONS], 10000);
    cr_expect_str_eq(o->cost.lines[1].assumption, "contingency_share");
    done();
}

Test(rules, egress_by_gb_or_by_bandwidth)
{
    const struct {
        double gb;
        int64_t minor;
        enum price_unit unit;
    } cases[] = {
        {20, 1000, UNIT_GB},           /* 10.00 by the GB, 20.00 for the narrowest line of a month */
        {100, 2000, UNIT_MBPS_MONTH},  /* 1 Mbps carries it */
        {1000, 8000, UNIT_MBPS_MONTH}, /* 4 Mbps at 0.8 of the line rate */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        market(PRICES HOURLY("100") "g,egress,,idc,idc,hourly,,CNY,gb,0.50,no,," TODAY
                                    "b,egress,,idc,idc,monthly,1,CNY,mbps_month,20,no,," TODAY);
        work_for(10);
        w.constraints.egress_gb = cases[i].gb;
        struct plan p = plan_it();
        const struct option *o = first(&p);
        cr_expect_eq(o->cost.by_section[SECTION_EGRESS], cases[i].minor, "case %zu: %ld", i,
                     (long)o->cost.by_section[SECTION_EGRESS]);
        for (size_t l = 0; l < o->cost.n_lines; l++)
            cr_expect(o->cost.lines[l].section != SECTION_EGRESS || o->cost.lines[l].unit == cases[i].unit);
        done();
    }
}

Test(rules, price_stale_illustrative_and_derived_are_told)
{
    market(PRICES "h,sku,node,,,hourly,,CNY,node_hour,100,no,,,2026-01-01,,2026-09-01,illustrative,,test,low\n"
                  "m,sku,node,,,monthly,1,CNY,node_month,40000,no,,,2026-11-01,,2026-11-20,derived,"
                  "monthly_share_of_hourly,test,low\n");
    work_for(31 * 24);
    struct plan p = plan_it();
    const struct note_list *warnings = &first(&p)->warnings;
    cr_expect_not_null(note_find(warnings, "price_illustrative"));
    cr_expect_not_null(note_find(warnings, "price_stale"));
    const struct note *derived = note_find(warnings, "price_derived");
    cr_assert_not_null(derived);
    cr_expect_str_eq(derived->args[1].text, "monthly_share_of_hourly");
    done();
}

Test(rules, debug_share)
{
    const struct {
        double share, hours;
        int days;
    } cases[] = {
        {0.30, 240, 5}, {0.35, 240, 6}, {0.40, 240, 7}, {0.35, 24 * 300, 60 /* at most */}, {0, 240, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        market(PRICES HOURLY("100"));
        work_for(cases[i].hours);
        overrides[1].value = cases[i].share;
        struct plan p = plan_it();
        const struct phase *develop = phase_at(first(&p), PHASE_DEVELOP);
        cr_assert_not_null(develop);
        cr_expect_float_eq(develop->hours, cases[i].days * 10, 1e-9, "case %zu: %f h", i, develop->hours);
        done();
    }
}

Test(rules, validate_limit)
{
    market(PRICES HOURLY("100"));
    work_for(10);
    w.measured.gpu = "h100-sxm5-80g"; /* measured elsewhere: this card has to be validated */
    struct plan p = plan_it();
    cr_expect_float_eq(phase_at(first(&p), PHASE_VALIDATE)->hours, 14 * 24, 0, "two weeks without a budget");
    w.constraints.budget_minor = 20000000; /* 200,000: at most 20,000 for validation, 2,400 a day */
    memcpy(w.constraints.budget_currency, "CNY", 4);
    p = plan_it();
    const struct phase *validate = phase_at(first(&p), PHASE_VALIDATE);
    cr_expect_float_eq(validate->hours, 8 * 24, 0, "%f h", validate->hours);
    cr_expect_not_null(note_find(&validate->reasons, "validate_limit"));
    cr_expect_leq(first(&p)->cost.by_section[SECTION_VALIDATION], 2000000);
    w.constraints.budget_minor = 2000000; /* 20,000: a day for 2,400 is over 2,000, and is not told as within it */
    p = plan_it();
    validate = phase_at(first(&p), PHASE_VALIDATE);
    cr_expect_float_eq(validate->hours, 24, 0, "%f h", validate->hours);
    cr_expect_null(note_find(&validate->reasons, "validate_limit"));
    cr_expect_not_null(note_find(&validate->reasons, "validate_over_limit"));
    done();
}

Test(rules, already_measured)
{
    market(PRICES HOURLY("100"));
    work_for(10);
    struct plan p = plan_it();
    const struct phase *validate = phase_at(first(&p), PHASE_VALIDATE);
    cr_expect_float_eq(validate->hours, 0, 0);
    cr_expect_not_null(note_find(&validate->reasons, "already_measured"));
    done();
}

static void only_clusters(void)
{
    w.constraints.kinds[KIND_SINGLE_MACHINE] = false;
    w.constraints.kinds[KIND_SMALL_CLUSTER] = true;
}

Test(rules, pilot_migrate_and_team)
{
    const struct {
        enum team team;
        int max_nodes;
        bool pilot, gate_on_train;
        double migrate_days;
    } cases[] = {
        {TEAM_SLURM, 2, false, true, 10},
        {TEAM_EXPERT, 2, false, true, 0},
        {TEAM_SLURM, 4, true, false, 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        market(PRICES HOURLY("100"));
        only_clusters();
        work_for(2000);
        w.priority = PRIORITY_FASTEST;
        w.constraints.team = cases[i].team;
        w.constraints.max_nodes = cases[i].max_nodes;
        struct plan p = plan_it();
        const struct option *o = first(&p);
        const struct phase *pilot = phase_at(o, PHASE_PILOT), *train = phase_at(o, PHASE_TRAIN);
        cr_expect_eq(o->supply[0].nodes, cases[i].max_nodes, "case %zu: %d nodes", i, o->supply[0].nodes);
        cr_expect_eq(pilot != NULL, cases[i].pilot, "case %zu", i);
        cr_expect(pilot == NULL || (pilot->has_gate && strcmp(pilot->gate.metric, "two_node_speedup") == 0));
        cr_expect(pilot == NULL || pilot->gate.threshold == 1.5);
        cr_expect(pilot == NULL || pilot->gate.saved_minor > 0, "stopping at the pilot saves the rest");
        cr_expect_eq(train->has_gate, cases[i].gate_on_train, "case %zu", i);
        cr_expect_float_eq(phase_at(o, PHASE_MIGRATE)->hours, 24 * cases[i].migrate_days, 0, "case %zu", i);
        done();
    }
}

/* The larger of 5 % of a month of the cluster and 10 % of the budget is what validation may cost. */
Test(rules, validate_limit_is_the_larger_of_two)
{
    const struct {
        int64_t budget; /* 0 = none: the month alone */
        int64_t limit;
        bool told;
    } cases[] = {
        {0, 2 * 46000 * 5, true},       /* 5 % of two machines' month: 4,600 */
        {3000000, 2 * 46000 * 5, true}, /* 10 % of 30,000 is less */
        {20000000, 2000000, true},      /* 10 % of 200,000 is more */
        {90000000, 9000000, false},     /* two weeks cost less than that */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        market(PRICES HOURLY("100") MONTHLY("46000"));
        only_clusters();
        work_for(500);
        w.measured.gpu = "h100-sxm5-80g";
        w.constraints.team = TEAM_SLURM;
        w.constraints.max_nodes = 2;
        w.constraints.budget_minor = cases[i].budget;
        memcpy(w.constraints.budget_currency, "CNY", 4);
        struct plan p = plan_it();
        const struct phase *validate = phase_at(first(&p), PHASE_VALIDATE);
        const struct note *n = note_find(&validate->reasons, "validate_limit");
        cr_expect_eq(n != NULL, cases[i].told, "case %zu", i);
        cr_expect_leq(validate->hours * 10000, cases[i].told ? cases[i].limit : 14 * 24 * 10000, "case %zu: %f h", i,
                      validate->hours);
        cr_expect(!cases[i].told || (validate->hours + 24) * 10000 > cases[i].limit, "case %zu: no day too few", i);
        done();
    }
}

/* Debugging belongs on one machine, whatever the cluster that trains. */
Test(rules, develop_stands_on_one_machine)
{
    market(PRICES HOURLY("100"));
    only_clusters();
    work_for(2000);
    overrides[1].value = 0.35;
    w.priority = PRIORITY_FASTEST;
    w.constraints.team = TEAM_SLURM;
    struct plan p = plan_it();
    for (size_t i = 0; i < p.n_options; i++) {
        const struct phase *develop = phase_at(&p.options[i], PHASE_DEVELOP),
                           *train = phase_at(&p.options[i], PHASE_TRAIN);
        cr_expect_leq(develop->gpus, 8);
        cr_expect_geq(train->gpus, 16);
        cr_expect_gt(develop->hours, 0);
    }
    done();
}

/* Training is every run, the restarts among them; runs side by side take as many fewer days. */
Test(rules, train_is_every_run_and_its_restarts)
{
    double hours[4];
    for (int i = 0; i < 4; i++) {
        market(PRICES HOURLY("100"));
        work_for(20);
        w.training.runs = i == 0 ? 1 : 6;
        overrides[0].value = i == 3 ? 2 : i == 2 ? 1 : 0; /* of the failures, checkpoints and evaluation expected */
        struct plan p = plan_it();
        hours[i] = phase_at(first(&p), PHASE_TRAIN)->hours;
        done();
    }
    cr_expect_float_eq(hours[0], 20, 1e-6);
    cr_expect_float_eq(hours[1], 120, 1e-6);
    cr_expect_gt(hours[2], hours[1], "what is lost is done again: %f", hours[2]);
    cr_expect_float_eq(hours[3] - hours[1], 2 * (hours[2] - hours[1]), 1e-6);
}

/* A further node costs as much as the first: nodes are the larger part of a cluster's bill, and the fabric, its storage
 * and its operation come on top. */
Test(rules, each_further_node_costs_as_the_first)
{
    int64_t compute[3] = {0};
    double hours[3];
    for (int i = 0; i < 3; i++) {
        market(PRICES HOURLY("100") "f,network,,ib,idc,monthly,1,CNY,node_month,900,no,," TODAY
                                    "o,operations,,slurm,idc,monthly,1,CNY,month,5000,no,," TODAY
                                    "s,software,,slurm,idc,monthly,1,CNY,node_month,300,no,," TODAY);
        only_clusters();
        w.constraints.kinds[KIND_SINGLE_MACHINE] = i == 0;
        w.constraints.kinds[KIND_SMALL_CLUSTER] = i > 0;
        work_for(900);
        w.priority = PRIORITY_FASTEST;
        w.constraints.team = TEAM_SLURM;
        w.constraints.max_nodes = i == 0 ? 1 : 2 * i;
        struct plan p = plan_it();
        const struct option *o = first(&p);
        const struct phase *train = phase_at(o, PHASE_TRAIN);
        const int nodes = i == 0 ? 1 : 2 * i;
        cr_assert_eq(train->gpus, 8 * nodes);
        hours[i] = ceil(train->hours);
        const struct cost_line *l = line_at(o, MODE_HOURLY, SECTION_COMPUTE);
        compute[i] = (int64_t)(hours[i] * nodes) * 10000;
        cr_expect_eq(l->minor, compute[i], "%d nodes: %ld", nodes, (long)l->minor);
        cr_expect_eq(o->cost.by_section[SECTION_NETWORK] > 0, i > 0);
        cr_expect_eq(o->cost.by_section[SECTION_SOFTWARE] > 0, i > 0);
        cr_expect_eq(o->cost.by_section[SECTION_OPERATIONS] > 0, i > 0);
        done();
    }
    cr_expect_lt(hours[1], hours[0]);
}

Test(rules, team_ceiling)
{
    market(PRICES HOURLY("100"));
    only_clusters();
    work_for(500);
    w.constraints.team = TEAM_NONE;
    struct plan p = plan_it();
    cr_expect_eq(p.n_options, 0);
    cr_assert_eq(p.n_infeasible, 1);
    cr_expect_not_null(note_find(&p.infeasible[0].reasons, "team_ceiling"));
    done();
}

Test(rules, inference_reserve_is_always_stated)
{
    const struct {
        bool stated, months_stated;
        double months;
        const char *basis;
    } cases[] = {
        {false, false, 0, "default"},
        {false, true, 0, "none"},
        {true, false, 0, "sized"},
        {true, true, 6, "sized"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        market(PRICES HOURLY("100") MONTHLY("40000"));
        work_for(10);
        w.serving.stated = cases[i].stated;
        w.serving.months_stated = cases[i].months_stated;
        w.serving.months = cases[i].months;
        w.serving.requests_per_s = cases[i].stated ? 1 : 0;
        struct plan p = plan_it();
        const struct reserve *r = &first(&p)->reserve;
        cr_expect_str_eq(r->basis, cases[i].basis, "case %zu", i);
        cr_expect_eq(r->total, first(&p)->cost.by_section[SECTION_INFERENCE_RESERVE]);
        cr_expect_eq(r->total > 0, strcmp(cases[i].basis, "none") != 0, "case %zu", i);
        cr_expect(strcmp(cases[i].basis, "default") != 0 || r->months == 3, "three months where nothing was said");
        cr_expect_leq(r->low, r->total);
        cr_expect_geq(r->high, r->total);
        done();
    }
}

Test(rules, more_budget_or_time_never_makes_infeasible)
{
    market(PRICES HOURLY("100") MONTHLY("40000"));
    work_for(700);
    bool was[2] = {false, false};
    for (int k = 0; k < 24; k++) {
        w.constraints.budget_minor = 1000000 << k / 2;
        w.constraints.deadline_on = DATE_NONE;
        struct plan p = plan_it();
        cr_expect(p.recommended != NULL || !was[0], "budget %ld", (long)w.constraints.budget_minor);
        was[0] = p.recommended != NULL;
        w.constraints.budget_minor = 0;
        w.constraints.deadline_on = w.constraints.start_on + 4 * (k + 1);
        p = plan_it();
        cr_expect(p.recommended != NULL || !was[1], "deadline after %d days", 4 * (k + 1));
        was[1] = p.recommended != NULL;
        arena_free(arena);
        arena = arena_new(4 << 20);
    }
    cr_expect(was[0] && was[1], "in the end there is enough of both");
    done();
}

Test(rules, overrides_are_bounded_and_named)
{
    const struct {
        const char *name;
        double value;
        enum err_code code;
    } cases[] = {
        {"no_such_assumption", 1, ERR_INVALID},
        {"debug_share", 7, ERR_RANGE},
        {"month_hours", NAN, ERR_RANGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan plan;
        struct err err = {0};
        market(PRICES HOURLY("100"));
        work_for(10);
        assume_that(cases[i].name, cases[i].value);
        struct plan_request q = {.catalog = catalog, .workload = &w};
        date_parse("2026-11-30", &q.as_of);
        cr_expect_neq(plan_make(&q, arena, &plan, &err), 0);
        cr_expect_eq(err.code, cases[i].code, "case %zu", i);
        cr_expect_not_null(strstr(err.pointer, cases[i].name), "%s", err.pointer);
        done();
    }
}

#define NAS "n,storage,,nas,idc,monthly,1,CNY,gb_month,0.30,no,," TODAY
#define OBJECT "o,storage,,object,idc,monthly,1,CNY,gb_month,0.08,no,," TODAY
#define LUSTRE "l,storage,,lustre,idc,monthly,1,CNY,gb_month,1.00,no,," TODAY

Test(rules, storage_bound)
{
    const struct {
        const char *nvme, *prices;
        const char *item, *reason, *warning;
    } cases[] = {
        {SKU("30720", "ib"), PRICES HOURLY("100") NAS LUSTRE, "nas", "node_cache", NULL}, /* cached on every node */
        {SKU("0", "ib"), PRICES HOURLY("100") NAS LUSTRE, "lustre", NULL, NULL},          /* a parallel file system */
        {SKU("0", "ib"), PRICES HOURLY("100") NAS, "nas", NULL, "storage_bound"},         /* NFS for many nodes */
        {SKU("0", "ib"), PRICES HOURLY("100") OBJECT NAS, "nas", NULL, "storage_bound"},  /* not from an object store */
        {SKU("30720", "ib"), PRICES HOURLY("100") OBJECT NAS, "object", "node_cache", NULL}, /* checkpoints only */
        {SKU("0", "ib"), PRICES HOURLY("100"), NULL, NULL, "storage_unpriced"},
        /* what nobody prices is never told as included, nor left out in silence */
        {SKU("0", "ib"), PRICES HOURLY("100"), NULL, NULL, "fabric_unpriced"},
        {SKU("0", "ib"), PRICES HOURLY("100"), NULL, NULL, "software_unpriced"},
        {SKU("0", "ib"), PRICES HOURLY("100"), NULL, NULL, "operations_unpriced"},
        {SKU("0", "ib"), PRICES HOURLY("100"), NULL, NULL, "egress_unpriced"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        skus = cases[i].nvme;
        market(cases[i].prices);
        only_clusters();
        work_for(500);
        w.training.dataset_gb = 2000;
        struct plan p = plan_it();
        const struct option *o = first(&p);
        const struct cost_line *storage = line_at(o, MODE_MONTHLY, SECTION_STORAGE);
        cr_assert_eq(storage != NULL, cases[i].item != NULL, "case %zu", i);
        cr_expect(storage == NULL || strcmp(storage->item, cases[i].item) == 0, "case %zu: %s", i,
                  storage != NULL ? storage->item : "");
        cr_expect(cases[i].reason == NULL || note_find(&o->reasons, cases[i].reason) != NULL, "case %zu", i);
        cr_expect_eq(note_find(&o->warnings, "storage_bound") != NULL,
                     cases[i].warning != NULL && strcmp(cases[i].warning, "storage_bound") == 0, "case %zu", i);
        cr_expect(cases[i].warning == NULL || note_find(&o->warnings, cases[i].warning) != NULL, "case %zu", i);
        done();
    }
}

Test(rules, small_model_penalty)
{
    skus = SKU("30720", "eth"); /* a gigabit a node */
    market(PRICES HOURLY("100"));
    only_clusters();
    w.model = *catalog_model(catalog, "qwen2.5-0.5b");
    w.measured = (struct measured){.stated = false};
    w.training.tokens = 1e10;
    w.training.global_batch = 16;
    struct plan p = plan_it();
    cr_assert_eq(p.n_infeasible, 1);
    cr_expect_not_null(note_find(&p.infeasible[0].reasons, "small_model_penalty"));
    done();
}

Test(rules, long_context)
{
    skus = SKU("30720", "ib");
    const struct {
        int seq_len;
        bool said;
    } cases[] = {{4096, false}, {131072, true}};
    for (size_t i = 0; i < 2; i++) {
        market(PRICES HOURLY("100"));
        only_clusters();
        w.measured = (struct measured){.stated = false};
        w.training.seq_len = cases[i].seq_len;
        w.training.tokens = 1e9;
        struct plan p = plan_it();
        cr_expect_eq(note_find(&first(&p)->reasons, "long_context") != NULL, cases[i].said, "case %zu", i);
        done();
    }
}

/* docs: a card twice as dear an hour that does 2000 hours' work in 1200 comes out level; the deadline decides. */
Test(rules, dearer_card_comes_out_level)
{
    static const char TWO[] =
        "id,provider_id,region,gpu_id,gpus_per_node,sold_by_card,max_nodes,intra,form,host_memory_gb,cpu_cores,nvme_gb,"
        "tax_code,source,source_date,confidence\n"
        "old,idc,hefei,a100-sxm4-80g,8,no,1,nvswitch,bare_metal,2048,128,30720,service_6,test,2026-11,high\n"
        "new,idc,hefei,h800-sxm5-80g,8,no,1,nvswitch,bare_metal,2048,128,30720,service_6,test,2026-11,high\n";
    double hours[2] = {0};
    double price = 300; /* round 0 only reads the hours */
    skus = TWO;
    for (int round = 0; round < 2; round++) {
        char prices[1200];
        snprintf(prices, sizeof prices,
                 PRICES "o,sku,old,,,hourly,,CNY,node_hour,100,no,," TODAY
                        "n,sku,new,,,hourly,,CNY,node_hour,%.4f,no,," TODAY,
                 price);
        market(prices);
        w.measured = (struct measured){.stated = false};
        w.training.tokens = 2e10;
        w.priority = PRIORITY_CHEAPEST;
        assume_that("validate_days", 0);
        struct plan p = plan_it();
        cr_assert_eq(p.n_options, 2, "old and new stand side by side");
        for (size_t i = 0; i < 2; i++)
            hours[strcmp(p.options[i].supply[0].sku->id, "new") == 0] = phase_at(&p.options[i], PHASE_TRAIN)->hours;
        if (round == 1) {
            double a = (double)p.options[0].cost.total, b = (double)p.options[1].cost.total;
            cr_expect_lt(fabs(a - b) / a, 0.02, "level: %f against %f", a, b);
            w.constraints.deadline_on = w.constraints.start_on + (date_t)(hours[1] / 24 * 1.5);
            p = plan_it();
            cr_expect_str_eq(p.options[0].supply[0].sku->id, "new", "the deadline decides");
            cr_expect(p.options[0].feasible);
        }
        price = 100 * ceil(hours[0]) / ceil(hours[1]);
        done();
    }
    cr_expect(price > 120, "the new card may cost more an hour: %f", price);
}

/* An offload has to fit the host it is moved to. */
Test(rules, host_memory)
{
    skus = "id,provider_id,region,gpu_id,gpus_per_node,sold_by_card,max_nodes,intra,form,host_memory_gb,cpu_cores,"
           "nvme_gb,tax_code,source,source_date,confidence\n"
           "node,idc,hefei,a100-sxm4-80g,8,no,1,nvswitch,bare_metal,600,128,30720,service_6,test,2026-11,high\n";
    market(PRICES HOURLY("100"));
    w.model = *catalog_model(catalog, "llama-2-70b");
    w.measured = (struct measured){.stated = false};
    w.training.tokens = 1e9;
    struct plan p = plan_it();
    cr_assert_eq(p.n_options, 0);
    const struct note *n = note_find(&p.infeasible[0].reasons, "host_memory");
    cr_assert_not_null(n);
    cr_expect_gt(n->short_by, 0);
    done();
}
