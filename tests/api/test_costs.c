/* Everything that costs, each found in an answer as a line, a sum or a sentence; and tax as lines of its own. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/api/client.h"

#define N(a) (sizeof(a) / sizeof *(a))

static const char CLUSTER[] =
    "{\"workload\": {\"model\": {\"preset\": \"llama-2-70b\"}, \"training\": {\"method\": \"full_finetune\", "
    "\"tokens\": "
    "2e9, \"dataset_gb\": 2000}, \"serving\": {\"months\": 3, \"requests_per_s\": 1}, \"constraints\": {\"team\": "
    "\"single_node\", \"egress_gb\": 500, \"kinds\": [\"small_cluster\"]}, \"assumptions\": {\"contingency_share\": "
    "0.05}}}";
static const char CLOUD[] =
    "{\"workload\": {\"model\": {\"preset\": \"qwen2.5-14b\"}, \"training\": {\"method\": \"full_finetune\", "
    "\"tokens\": "
    "2e9}, \"constraints\": {\"kinds\": [\"single_machine\"], \"providers\": [\"huawei-cloud-hefei\"]}}}";
static const char HYBRID[] =
    "{\"workload\": {\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"full_finetune\", "
    "\"tokens\": "
    "2e9, \"runs\": 8, \"parallel_runs\": 4, \"dataset_gb\": 300}, \"constraints\": {\"team\": \"slurm\", \"kinds\": "
    "[\"hybrid_cloud\"]}}}";
static const char CAMPUS[] = "{\"workload\": {\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": "
                             "\"full_finetune\", \"tokens\": "
                             "5e10}, \"constraints\": {\"kinds\": [\"university_time\"]}}}";

static struct reply plan_of(const char *body)
{
    struct reply r = ask((struct ask){.path = "/api/v1/plans", .body = body});
    cr_assert_eq(r.status, 200, "%s", r.text);
    cr_assert_gt(json_array_size(json_object_get(r.json, "options")), 0, "%s", body);
    return r;
}

static const char *word(const json_t *v, const char *key)
{
    return json_string_value(json_object_get(v, key));
}

static double money(const json_t *v, const char *key)
{
    return strtod(word(json_object_get(v, key), "amount"), NULL);
}

static bool told(const json_t *option, const char *code)
{
    const json_t *n;
    size_t i;
    json_array_foreach(json_object_get(option, "reasons"), i, n)
    {
        if (strcmp(word(n, "code"), code) == 0)
            return true;
    }
    return false;
}

/* One option of the answer has a line of this section (item: begins so; unit: ends so; NULL = any). */
static bool line_in(const struct reply *r, const char *section, const char *item, const char *unit)
{
    const json_t *o, *l;
    size_t i, k;
    json_array_foreach(json_object_get(r->json, "options"), i, o)
    {
        json_array_foreach(json_object_get(json_object_get(o, "cost"), "lines"), k, l)
        {
            const char *of = word(l, "item"), *by = word(l, "unit");
            if (strcmp(word(l, "section"), section) == 0 && (item == NULL || (of != NULL && strstr(of, item) == of)) &&
                (unit == NULL || (strlen(by) >= strlen(unit) && strcmp(by + strlen(by) - strlen(unit), unit) == 0)) &&
                money(l, "amount") > 0)
                return true;
        }
    }
    return false;
}

static bool told_in(const struct reply *r, const char *code)
{
    const json_t *o;
    size_t i;
    json_array_foreach(json_object_get(r->json, "options"), i, o)
    {
        if (told(o, code))
            return true;
    }
    return false;
}

Test(costs, every_noun_has_its_line, .timeout = 60)
{
    static const struct {
        const char *noun, *body, *section, *item, *unit;
    } lines[] = {
        {"nodes", CLUSTER, "compute", NULL, NULL},
        {"fabric", CLUSTER, "network", "roce", "node_month"},
        {"shared storage", CLUSTER, "storage", NULL, "gb_month"},
        {"egress by the GB", CLOUD, "egress", "huawei-cloud-hefei", "gb"},
        {"dedicated line", HYBRID, "network", "hefei-", "month"},
        {"scheduler and management software", CLUSTER, "software", "slurm", NULL},
        {"operations staff by team level", CLUSTER, "operations", "single_node", "month"},
        {"contingency", CLUSTER, "operations", "contingency", "once"},
        {"the service that follows", CLUSTER, "inference_reserve", NULL, NULL},
        {"moving to the cluster", CLUSTER, "migration", NULL, NULL},
    };
    static const struct {
        const char *noun, *body, *code;
    } words[] = {
        {"checkpoints", CLUSTER, "storage_need"},
        {"data staging", CLUSTER, "staging"},
        {"local storage", CLOUD, "nvme_holds"},
        {"local cache", CLUSTER, "node_cache"},
        {"what leaves", CLOUD, "egress_assumed"},
        {"staging over the line", HYBRID, "hybrid_line"},
        {"queue of a centre", CAMPUS, "university_queue"},
    };
    for (size_t i = 0; i < N(lines); i++) {
        struct reply r = plan_of(lines[i].body);
        cr_expect(line_in(&r, lines[i].section, lines[i].item, lines[i].unit), "%s", lines[i].noun);
        reply_done(&r);
    }
    for (size_t i = 0; i < N(words); i++) {
        struct reply r = plan_of(words[i].body);
        cr_expect(told_in(&r, words[i].code), "%s", words[i].noun);
        reply_done(&r);
    }
}

/* Operations cost by what the team can do itself, and staging takes machine time. */
Test(costs, operations_and_staging_follow_the_request)
{
    static const char *const teams[] = {"single_node", "slurm", "expert"};
    double last = INFINITY;
    for (size_t i = 0; i < N(teams); i++) {
        char body[500];
        snprintf(
            body, sizeof body,
            "{\"workload\": {\"model\": {\"preset\": \"llama-2-70b\"}, \"training\": {\"method\": \"full_finetune\", "
            "\"tokens\": 2e9}, \"constraints\": {\"team\": \"%s\", \"kinds\": [\"small_cluster\"], \"providers\": "
            "[\"leinao\"]}}}",
            teams[i]);
        struct reply r = plan_of(body);
        const json_t *o = json_array_get(json_object_get(r.json, "options"), 0);
        double staff = money(json_object_get(json_object_get(o, "cost"), "by_section"), "operations");
        cr_expect_lt(staff, last, "%s: %.2f", teams[i], staff);
        last = staff;
        reply_done(&r);
    }
    cr_expect_eq(last, 0, "an expert team runs it alone");
    struct reply r = plan_of(
        "{\"workload\": {\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"full_finetune\", "
        "\"tokens\": 2e9, \"dataset_gb\": 4500}, \"constraints\": {\"kinds\": [\"single_machine\"]}}}");
    const json_t *o = json_array_get(json_object_get(r.json, "options"), 0), *n;
    double hours = 0;
    size_t k;
    json_array_foreach(json_object_get(o, "reasons"), k, n)
    {
        if (strcmp(word(n, "code"), "staging") == 0)
            hours = json_number_value(json_object_get(json_object_get(n, "values"), "hours"));
    }
    cr_expect_float_eq(hours, 4500 * 8 / 0.8 / 3600.0, 0.01, "a gigabit at 0.8 of its rate: %f h", hours);
    reply_done(&r);
}

/* Nothing said: the weights come home. 0: nothing leaves. A figure: that much. */
Test(costs, egress_as_stated_or_the_weights)
{
    static const struct {
        const char *member, *unit;
        double quantity;
    } cases[] = {{"", "gb", 30 /* 14.8 billion in 16 bits, whole gigabytes */},
                 {"\"egress_gb\": 0,", "", 0},
                 {"\"egress_gb\": 500,", "mbps_month", 2 /* Mbit/s for a month carry it, and cost less */}};
    for (size_t i = 0; i < N(cases); i++) {
        char body[500];
        snprintf(
            body, sizeof body,
            "{\"workload\": {\"model\": {\"preset\": \"qwen2.5-14b\"}, \"training\": {\"method\": \"full_finetune\", "
            "\"tokens\": 2e9}, \"constraints\": {%s \"kinds\": [\"single_machine\"], \"providers\": "
            "[\"huawei-cloud-hefei\"]}}}",
            cases[i].member);
        struct reply r = plan_of(body);
        const json_t *o = json_array_get(json_object_get(r.json, "options"), 0), *l;
        double quantity = 0;
        size_t k;
        json_array_foreach(json_object_get(json_object_get(o, "cost"), "lines"), k, l)
        {
            if (strcmp(word(l, "section"), "egress") != 0)
                continue;
            quantity += json_number_value(json_object_get(l, "quantity"));
            cr_expect_str_eq(word(l, "unit"), cases[i].unit);
        }
        cr_expect_eq(quantity, cases[i].quantity, "%s: %g", cases[i].member, quantity);
        cr_expect_eq(told(o, "egress_assumed"), i == 0);
        reply_done(&r);
    }
}

/* Tax as lines of its own: one a code, and together the tax and the net of the bill. */
Test(costs, tax_lines_sum_to_the_tax)
{
    static const char *const bodies[] = {CLUSTER, CLOUD, HYBRID, CAMPUS};
    for (size_t b = 0; b < N(bodies); b++) {
        struct reply r = plan_of(bodies[b]);
        const json_t *o, *t;
        size_t i, k;
        json_array_foreach(json_object_get(r.json, "options"), i, o)
        {
            const json_t *cost = json_object_get(o, "cost");
            double net = 0, tax = 0;
            json_array_foreach(json_object_get(cost, "tax_lines"), k, t)
            {
                cr_expect_not_null(word(t, "tax_code"));
                net += money(t, "net");
                tax += money(t, "tax");
            }
            cr_expect_gt(k, 0);
            cr_expect_float_eq(net, money(cost, "net"), 0.005);
            cr_expect_float_eq(tax, money(cost, "tax"), 0.005);
        }
        reply_done(&r);
    }
}

/* domain.md 6: 200 thousand yuan buy one A100 for over half a year, or a small cluster for two to three months. */
Test(costs, what_two_hundred_thousand_yuan_buy)
{
    static const struct {
        const char *what, *body;
        double least, most; /* of the sum, with tax */
    } cases[] = {
        {"an A100 for seven months",
         "{\"workload\": {\"model\": {\"preset\": \"qwen2.5-14b\"}, \"serving\": {\"requests_per_s\": 0.1, "
         "\"peak_factor\": 1, "
         "\"months\": 7}, \"constraints\": {\"gpus\": [\"a100-sxm4-80g\"], \"city\": \"hefei\"}}}",
         20000, 200000},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct reply r = plan_of(cases[i].body);
        const json_t *o = json_array_get(json_object_get(r.json, "options"), 0);
        double total = money(o, "total_cost_to_finish");
        cr_expect(total > cases[i].least && total < cases[i].most, "%s: %.2f", cases[i].what, total);
        cr_expect_eq(json_number_value(json_object_get(json_object_get(o, "inference_reserve"), "gpus")), 1);
        reply_done(&r);
    }
    /* Two machines of eight by the month, at what local houses ask: from the dearest to the cheapest they span it. */
    const struct catalog *c = client_catalog();
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < c->n_skus; i++) {
        const struct sku *s = &c->skus[i];
        date_t today;
        date_parse("2026-11-30", &today);
        if (strcmp(s->gpu->id, "a100-sxm4-80g") != 0 || s->provider->kind != PROVIDER_LOCAL_IDC ||
            s->gpus_per_node != 8)
            continue;
        const struct price *p = catalog_sku_price(c, s, MODE_MONTHLY, NULL, today);
        if (p == NULL || p->micros <= 0 || strcmp(p->currency, "CNY") != 0)
            continue;
        double node = (double)p->micros / 1e6 * (p->unit == UNIT_GPU_MONTH ? 8 : 1);
        least = fmin(least, node);
        most = fmax(most, node);
    }
    cr_expect_geq(200000 / (2 * least * 1.06), 2, "the cheapest: %.1f months", 200000 / (2 * least * 1.06));
    cr_expect_leq(200000 / (2 * most * 1.06), 3, "the dearest: %.1f months", 200000 / (2 * most * 1.06));
}

/* domain.md 6: the public cloud releases by the second, a local house by the hour. */
Test(costs, cloud_releases_by_the_second)
{
    static const struct {
        const char *provider;
        bool whole;
    } cases[] = {{"huawei-cloud-hefei", false}, {"hefei-economic-idc", true}};
    for (size_t i = 0; i < N(cases); i++) {
        char body[400];
        snprintf(
            body, sizeof body,
            "{\"workload\": {\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"lora\", \"tokens\": "
            "1.234e8}, \"serving\": {\"months\": 0}, \"constraints\": {\"kinds\": [\"single_machine\"], \"providers\": "
            "[\"%s\"]}, \"assumptions\": {\"validate_days\": 0, \"debug_share\": 0}}}",
            cases[i].provider);
        struct reply r = plan_of(body);
        const json_t *o = json_array_get(json_object_get(r.json, "options"), 0), *l;
        size_t k;
        int seen = 0;
        json_array_foreach(json_object_get(json_object_get(o, "cost"), "lines"), k, l)
        {
            double quantity = json_number_value(json_object_get(l, "quantity"));
            if (word(l, "sku") == NULL || strcmp(word(l, "pricing_mode"), "hourly") != 0)
                continue;
            seen++;
            cr_expect_eq(fabs(quantity - round(quantity)) < 1e-9, cases[i].whole, "%s: %g", cases[i].provider,
                         quantity);
        }
        cr_expect_gt(seen, 0, "%s", cases[i].provider);
        reply_done(&r);
    }
}
