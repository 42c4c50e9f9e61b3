/* The cases that a sales engineer would try first, each through the door, with the seed catalog or one of its own. In
 * every one the lines sum to the total and the same request gives the same bytes. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/money.h"
#include "planner/offers/engine.h"
#include "tests/api/client.h"
#include "tests/support/test_catalog.h"

/* --- reading answers ---------------------------------------------------------------------------------------- */

/* The best option of a kind, NULL when there is none. */
static json_t *option_of(const json_t *plan, const char *kind)
{
    size_t i;
    json_t *o;
    json_array_foreach(json_object_get(plan, "options"), i, o) if (strcmp(text_of(o, "kind"), kind) == 0) return o;
    return NULL;
}

static const json_t *train_supply(const json_t *option)
{
    return json_array_get(json_object_get(option, "supply"), 0);
}

static bool feasible(const json_t *option)
{
    return option != NULL && json_is_true(json_object_get(option, "feasible"));
}

/* --- what holds in every case ------------------------------------------------------------------------------- */
static void check_bill(const json_t *option)
{
    const json_t *cost = json_object_get(option, "cost");
    int64_t net = 0, tax = 0, sections = 0, total = minor_of(json_object_get(option, "total_cost_to_finish"));
    size_t i;
    json_t *line;
    const char *key;
    json_array_foreach(json_object_get(cost, "lines"), i, line) net += minor_of(json_object_get(line, "amount"));
    tax = minor_of(json_object_get(cost, "tax"));
    json_object_foreach(json_object_get(cost, "by_section"), key, line) sections += minor_of(line);
    cr_expect_eq(net, minor_of(json_object_get(cost, "net")));
    cr_expect_eq(sections, net);
    cr_expect_eq(net + tax, total);
    cr_expect_gt(total, 0);
    cr_expect_leq(minor_of(json_object_get(cost, "low")), total);
    cr_expect_geq(minor_of(json_object_get(cost, "high")), total);
    const json_t *reserve = json_object_get(option, "inference_reserve");
    cr_expect_str_not_empty(text_of(reserve, "basis"));
    cr_expect_eq(minor_of(json_object_get(reserve, "total")),
                 minor_of(json_object_get(json_object_get(cost, "by_section"), "inference_reserve")));
    cr_expect_gt(json_array_size(json_object_get(option, "reasons")), 0);
    cr_expect_gt(json_array_size(json_object_get(option, "phases")), 0);
}

static void check_plan(const json_t *plan)
{
    size_t i;
    json_t *o;
    double rank = 0;
    bool infeasible_seen = false;
    json_array_foreach(json_object_get(plan, "options"), i, o)
    {
        check_bill(o);
        cr_expect_gt(number_of(o, "rank"), rank);
        rank = number_of(o, "rank");
        cr_expect(!(feasible(o) && infeasible_seen), "a feasible option stands behind an infeasible one");
        infeasible_seen |= !feasible(o);
    }
    json_array_foreach(json_object_get(plan, "infeasible"), i, o) cr_expect_gt(
        json_array_size(json_object_get(o, "reasons")), 0, "%s refused without a reason", text_of(o, "kind"));
}

/* Every code has words, and every figure of the words is there. */
static void check_words(const json_t *value)
{
    size_t i;
    const char *key;
    json_t *member;
    if (json_is_array(value))
        json_array_foreach(value, i, member) check_words(member);
    if (!json_is_object(value))
        return;
    const char *code = text_of(value, "code"), *text = text_of(value, "text");
    if (json_object_get(value, "text") != NULL && code[0] != '\0') {
        cr_expect_str_not_empty(text, "%s has no words", code);
        cr_expect(strchr(code, '_') == NULL || strcmp(text, code) != 0, "%s has no words", code);
        cr_expect_null(strchr(text, '{'), "%s: %s", code, text);
    }
    json_object_foreach((json_t *)value, key, member) check_words(member);
}

/* Asks twice in English and once in Chinese on a catalog (NULL: the shipped one), compares the bytes, checks what
 * holds always. */
static json_t *plan_on(const struct catalog *c, const char *workload)
{
    char *bodies[3];
    size_t lengths[3];
    char request[4096];
    snprintf(request, sizeof request, "{\"workload\": %s}", workload);
    for (int k = 0; k < 3; k++) {
        struct arena *arena = arena_new(4u << 20);
        struct api_response res = {0};
        struct api_request req = {.method = "POST",
                                  .path = "/api/v1/plans",
                                  .content_type = "application/json",
                                  .accept_language = k < 2 ? "en" : "zh-CN",
                                  .request_id = "golden",
                                  .body = request,
                                  .body_len = strlen(request),
                                  .catalog = c != NULL ? c : client_catalog(),
                                  .today = date_from_civil(2026, 11, 30),
                                  .arena = arena};
        api_init();
        api_handle(&req, &res);
        cr_assert_eq(res.status, 200, "%d: %.*s", res.status, (int)res.body_len, res.body);
        bodies[k] = malloc(res.body_len);
        memcpy(bodies[k], res.body, res.body_len);
        lengths[k] = res.body_len;
        api_response_done(&res);
        arena_free(arena);
    }
    cr_expect(lengths[0] == lengths[1] && memcmp(bodies[0], bodies[1], lengths[0]) == 0, "not the same bytes twice");
    json_t *plan = json_loadb(bodies[0], lengths[0], 0, NULL), *chinese = json_loadb(bodies[2], lengths[2], 0, NULL);
    cr_assert(plan != NULL && chinese != NULL);
    for (int k = 0; k < 3; k++)
        free(bodies[k]);
    check_plan(plan);
    check_words(plan);
    check_words(chinese);
    json_decref(chinese);
    return plan;
}

static json_t *plan_of(const char *workload)
{
    return plan_on(NULL, workload);
}

/* --- catalogs of their own ---------------------------------------------------------------------------------- */
#define PROVIDERS                                                                                                           \
    {                                                                                                                       \
        "providers.csv", "id,name_zh,name_en,kind,city,place_zh,place_en,tier,support_level,data_stays,serves,source,"      \
                         "source_date,confidence\n"                                                                         \
                         "idc,本地机房,Local IDC,local_idc,hefei,高新区,Zone,local,24x7,yes,yes,test,2026-11,high\n" \
    }
#define EMPTY_TABLES                                                                                                   \
    {"storages.csv", "id,name_zh,name_en,system,parallel,local,read_gb_s,write_gb_s,note,source,source_date\n"},       \
        {"dedicated_lines.csv", "id,a_provider_id,b_provider_id,network_id,gbps,source,source_date,note\n"},           \
        {"purchase_prices.csv",                                                                                        \
         "gpu_id,gpus_per_server,price_low,price,price_high,currency,observed_on,source,confidence,note\n"},           \
    {                                                                                                                  \
        "tax_codes.csv", "code,name_zh,name_en,rate_bp,valid_from,valid_to,source\n"                                   \
                         "service_6,服务,Services,600,2016-05-01,,test\n"                                            \
    }
#define NETWORKS                                                                                                       \
    {                                                                                                                  \
        "networks.csv", "id,name_zh,name_en,kind,gbps_per_node,rdma,dedicated_line,note,source,source_date\n"          \
                        "ib,IB,IB,infiniband,3200,yes,no,,test,2026-11\n"                                              \
                        "eth-10g,万兆,10G,ethernet,10,no,no,,test,2026-11\n"                                         \
    }
#define SKU_COLUMNS                                                                                                    \
    "id,provider_id,region,gpu_id,gpus_per_node,sold_by_card,max_nodes,intra,network_id,form,host_memory_gb,"          \
    "cpu_cores,nvme_gb,tax_code,source,source_date,confidence\n"
#define PRICE_COLUMNS                                                                                                  \
    "id,subject,sku_id,subject_id,provider_id,mode,term_months,currency,unit,price,effective_from,observed_on,state,"  \
    "source,confidence\n"

static struct catalog *market_of(const char *skus, const char *prices)
{
    struct err err = {0};
    struct test_csv files[] = {PROVIDERS, NETWORKS, EMPTY_TABLES, {"skus.csv", skus}, {"prices.csv", prices}};
    struct catalog *c = test_catalog_of(files, sizeof files / sizeof *files);
    cr_assert_eq(engine_bind(c, &err), 0, "%s", err.detail);
    return c;
}

/* --- the scenarios ------------------------------------------------------------------------------------------ */
Test(golden, peft_fits)
{
    json_t *p =
        plan_of("{\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"lora\", \"tokens\": 1e8},"
                "\"constraints\": {\"city\": \"hefei\", \"team\": \"none\"}}");
    const json_t *first = json_array_get(json_object_get(p, "options"), 0);
    cr_expect_str_eq(text_of(first, "kind"), "single_machine");
    cr_expect(has_code(json_object_get(first, "reasons"), "peft_fits"));
    cr_expect(has_code(json_object_get(json_object_get(p, "summary"), "counter_signs"), "peft_fits"));
    cr_expect_null(option_of(p, "small_cluster"), "no cluster is recommended to nobody who can run it");
    cr_expect(has_code(refusals_of(p, "small_cluster"), "team_ceiling"));
    json_decref(p);
}

Test(golden, memory_wall_70b_full)
{
    json_t *p = plan_of("{\"model\": {\"preset\": \"llama-2-70b\"}, \"training\": {\"method\": \"full_finetune\","
                        "\"tokens\": 1e9}}");
    size_t i;
    json_t *o;
    bool larger = false, lora = false;
    json_array_foreach(json_object_get(p, "options"), i, o)
    {
        const json_t *supply = train_supply(o), *memory = json_object_get(json_object_get(o, "estimate"), "memory");
        const json_t *layout = json_object_get(json_object_get(o, "estimate"), "layout");
        double cards = number_of(supply, "gpus_per_node") * number_of(supply, "nodes");
        if (number_of(memory, "usable_gb") < 90 && cards <= 8)
            cr_expect_str_neq(text_of(layout, "offload"), "none", "%s fits without offload", text_of(o, "title"));
        larger |= strcmp(text_of(o, "kind"), "single_machine") == 0 && number_of(memory, "usable_gb") > 90;
        lora |=
            has_code(json_object_get(o, "relaxations"), "lora") || has_code(json_object_get(o, "relaxations"), "qlora");
    }
    cr_expect(feasible(option_of(p, "small_cluster")), "a cluster");
    cr_expect(larger, "beside one machine of larger cards");
    cr_expect(lora, "and LoRA or QLoRA on one machine as the change that would make it small");
    json_decref(p);
}

/* What stops a kind is what is told of it: the host's memory is short, and nothing takes five years. */
Test(golden, host_memory_is_no_matter_of_time)
{
    json_t *p = plan_of("{\"model\": {\"preset\": \"llama-2-70b\"}, \"training\": {\"method\": \"full_finetune\","
                        "\"tokens\": 1e8}, \"constraints\": {\"gpus\": [\"a100-sxm4-80g\"],"
                        "\"providers\": [\"hefei-hightech-idc\"], \"kinds\": [\"single_machine\"]}}");
    cr_expect(has_code(refusals_of(p, "single_machine"), "host_memory"));
    cr_expect_not(has_code(refusals_of(p, "single_machine"), "beyond_horizon"));
    json_decref(p);
}

static const char *const BIG = "{\"model\": {\"params_b\": 130, \"layers\": 96, \"hidden\": 10240, \"heads\": 80,"
                               "\"kv_heads\": 8}, \"training\": {\"method\": \"pretrain\", \"tokens\": 2e10,"
                               "\"seq_len\": 4096}, \"serving\": {\"months\": 0},"
                               "\"constraints\": {\"team\": \"expert\", \"kinds\": [\"small_cluster\"]}}";

#define NODES(name, network)                                                                                           \
    name ",idc,hefei,a100-sxm4-80g,8,no,64,nvswitch," network ",bare_metal,2048,128,30720,service_6,test,2026-11,"     \
         "high\n"
#define HOURLY(name, price)                                                                                            \
    "p-" name ",sku," name ",,,hourly,,CNY,node_hour," price ",2026-11-01,2026-11-20,firm,test,high\n"

/* A layout never cuts one layer over nodes. */
static void check_no_tensor_across(const json_t *p)
{
    size_t i;
    json_t *o;
    json_array_foreach(json_object_get(p, "options"), i, o)
    {
        const json_t *layout = json_object_get(json_object_get(o, "estimate"), "layout");
        cr_expect_leq(number_of(layout, "tp"), number_of(train_supply(o), "gpus_per_node"), "%s", text_of(o, "title"));
    }
}

/* 130B pretraining: InfiniBand carries it; the same nodes on 10G Ethernet are refused by name, with the share of a step
 * that is communication, whether they stand beside the others or alone. */
Test(golden, fabric_bound)
{
    static const struct {
        const char *skus, *prices;
        bool fast;
    } cases[] = {
        {SKU_COLUMNS NODES("fast", "ib") NODES("slow", "eth-10g"),
         PRICE_COLUMNS HOURLY("fast", "130") HOURLY("slow", "120"), true},
        {SKU_COLUMNS NODES("fast", "ib") NODES("slow", "eth-10g"),
         PRICE_COLUMNS HOURLY("fast", "130") HOURLY("slow", "20"), true},
        {SKU_COLUMNS NODES("slow", "eth-10g"), PRICE_COLUMNS HOURLY("slow", "120"), false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct catalog *c = market_of(cases[k].skus, cases[k].prices);
        json_t *p = plan_on(c, BIG), *o;
        size_t i;
        const json_t *told =
            note_of(cases[k].fast ? json_object_get(p, "warnings") : refusals_of(p, "small_cluster"), "fabric_bound");
        cr_assert_not_null(told, "case %zu: nothing names the trap", k);
        cr_expect_not_null(strstr(text_of(told, "text"), "10G"), "%s", text_of(told, "text"));
        cr_expect_gt(number_of(json_object_get(told, "values"), "share"), 0.4);
        json_array_foreach(json_object_get(p, "options"), i, o)
        {
            cr_expect_str_eq(text_of(train_supply(o), "sku"), "fast");
            cr_expect(feasible(o));
        }
        cr_expect_eq(json_array_size(json_object_get(p, "options")) > 0, cases[k].fast);
        check_no_tensor_across(p);
        json_decref(p);
        test_catalog_free(c);
    }
}

/* From one node to two, to N: every step that is taken says what it gains, and the one that is not taken says why. */
Test(golden, nodes_only_while_a_step_pays)
{
    struct catalog *c = market_of(SKU_COLUMNS NODES("fast", "ib"), PRICE_COLUMNS HOURLY("fast", "130"));
    json_t *p = plan_on(
               c, "{\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"pretrain\","
                  "\"tokens\": 2e11, \"global_batch\": 64}, \"serving\": {\"months\": 0}, \"priority\": \"fastest\","
                  "\"constraints\": {\"team\": \"expert\", \"kinds\": [\"small_cluster\"]}}"),
           *o;
    size_t i;
    bool stepped = false, stopped = false;
    json_array_foreach(json_object_get(p, "options"), i, o)
    {
        const json_t *reasons = json_object_get(o, "reasons"), *from = note_of(reasons, "step_pays");
        const json_t *to = note_of(reasons, "step_stops");
        const double nodes = number_of(train_supply(o), "nodes");
        if (from != NULL) {
            const json_t *v = json_object_get(from, "values");
            stepped = true;
            cr_expect_eq(number_of(v, "nodes"), nodes);
            cr_expect_geq(number_of(v, "gain"), 1 + 0.5 * (nodes / number_of(v, "from") - 1));
        }
        if (to != NULL) {
            const json_t *v = json_object_get(to, "values");
            stopped = true;
            cr_expect_lt(number_of(v, "gain"), 1 + 0.5 * (number_of(v, "nodes") / nodes - 1));
        }
        cr_expect(has_code(reasons, "scaling_cluster") || has_code(reasons, "scaling_by_memory"));
    }
    cr_expect(stepped, "a step beyond two nodes pays here");
    cr_expect(stopped, "and one does not");
    json_decref(p);
    test_catalog_free(c);
}

Test(golden, old_card_against_new_card)
{
#define CARDS                                                                                                          \
    "{\"model\": {\"preset\": \"qwen2.5-14b\"}, \"training\": {\"method\": \"full_finetune\","                         \
    "\"tokens\": 2e9, \"runs\": 4}, \"priority\": \"cheapest\", \"serving\": {\"months\": 0},"                         \
    "\"constraints\": {\"gpus\": [\"a100-sxm4-80g\", \"h800-sxm5-80g\"], \"kinds\":"                                   \
    "[\"single_machine\"], \"start_on\": \"2027-01-04\"%s}}"
    char workload[1024];
    snprintf(workload, sizeof workload, CARDS, "");
    json_t *p = plan_of(workload), *o;
    const json_t *first = json_array_get(json_object_get(p, "options"), 0);
    cr_expect_str_eq(text_of(train_supply(first), "gpu"), "a100-sxm4-80g", "the old card costs less");
    double soonest = 1e9, latest = 0;
    size_t i;
    json_array_foreach(json_object_get(p, "options"), i, o)
    {
        const json_t *finish = json_object_get(o, "finish");
        if (strcmp(text_of(train_supply(o), "gpu"), "h800-sxm5-80g") == 0)
            soonest = fmin(soonest, number_of(finish, "high_days"));
        else if (latest == 0)
            latest = number_of(finish, "low_days");
    }
    cr_assert_lt(soonest, 1e9, "both cards are shown side by side");
    cr_assert_lt(soonest, latest, "the new card is sooner");
    date_t start = date_from_civil(2027, 1, 4);
    char deadline[DATE_TEXT_MAX], more[64];
    date_text(start + (date_t)soonest, deadline);
    snprintf(more, sizeof more, ", \"deadline_on\": \"%s\"", deadline);
    snprintf(workload, sizeof workload, CARDS, more);
    json_decref(p);
    p = plan_of(workload);
    first = json_array_get(json_object_get(p, "options"), 0);
    cr_expect(feasible(first));
    cr_expect_str_eq(text_of(train_supply(first), "gpu"), "h800-sxm5-80g", "with a deadline the order flips");
    json_decref(p);
}

/* The guides' example in a market of its own: an old card that takes 2,000 hours, a new one that takes 1,200 and costs
 * as many times more an hour. They come out level to the end of the job; the deadline decides. */
#define CARD(name, gpu) name ",idc,hefei," gpu ",1,no,1,,,bare_metal,256,32,4000,service_6,test,2026-11,high\n"
#define JOB(tokens, more)                                                                                              \
    "{\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"lora\", \"tokens\": " tokens               \
    "}, \"priority\": \"cheapest\", \"serving\": {\"months\": 0}, \"assumptions\": {\"validate_days\": 0, "            \
    "\"debug_share\": 0, \"run_overhead_factor\": 0}, \"constraints\": {\"kinds\": [\"single_machine\"], "             \
    "\"start_on\": \"2027-01-04\"" more "}}"

static const json_t *option_on(const json_t *plan, const char *gpu)
{
    size_t i;
    json_t *o;
    json_array_foreach(json_object_get(plan, "options"), i,
                       o) if (strcmp(text_of(train_supply(o), "gpu"), gpu) == 0) return o;
    return NULL;
}

static double train_hours(const json_t *option)
{
    size_t i;
    json_t *phase;
    json_array_foreach(json_object_get(option, "phases"), i,
                       phase) if (strcmp(text_of(phase, "code"), "train") == 0) return number_of(phase, "hours");
    return 0;
}

static struct catalog *two_cards(double old_price, double new_price)
{
    char prices[1024];
    snprintf(prices, sizeof prices,
             PRICE_COLUMNS "p1,sku,old,,,hourly,,CNY,node_hour,%.2f,2026-11-01,2026-11-20,firm,test,high\n"
                           "p2,sku,new,,,hourly,,CNY,node_hour,%.2f,2026-11-01,2026-11-20,firm,test,high\n",
             old_price, new_price);
    return market_of(SKU_COLUMNS CARD("old", "v100-sxm2-32g") CARD("new", "rtx-4090-24g"), prices);
}

Test(golden, dearer_card_comes_out_level_and_the_deadline_decides)
{
    const char *const old = "v100-sxm2-32g", *const new = "rtx-4090-24g";
    char workload[2048];
    struct catalog *c = two_cards(12, 12);
    json_t *p = plan_on(c, JOB("1e9", ""));
    cr_assert(option_on(p, old) != NULL && option_on(p, new) != NULL);
    const double old_hours = train_hours(option_on(p, old)), new_hours = train_hours(option_on(p, new));
    const double dearer = old_hours / new_hours;
    cr_assert(dearer > 1.5 && dearer < 2, "%.2f", dearer);
    json_decref(p);
    test_catalog_free(c);

    c = two_cards(12, 12 * dearer);
    snprintf(workload, sizeof workload, JOB("%.0f", ""), 1e9 * 2000 / old_hours);
    p = plan_on(c, workload);
    const json_t *slow = option_on(p, old), *quick = option_on(p, new);
    cr_assert(slow != NULL && quick != NULL, "both stand side by side");
    cr_expect_float_eq(train_hours(slow), 2000, 1);
    cr_expect_float_eq(train_hours(quick), 2000 / dearer, 1, "as many hours less as it costs more");
    const double a = (double)minor_of(json_object_get(slow, "total_cost_to_finish"));
    const double b = (double)minor_of(json_object_get(quick, "total_cost_to_finish"));
    cr_expect(fabs(a / b - 1) < 0.005, "level: %.2f against %.2f", a / 100, b / 100);
    const json_t *first = json_array_get(json_object_get(p, "options"), 0), *other = first == slow ? quick : slow;
    const json_t *said = note_of(json_object_get(other, "reasons"), "card_against_card");
    cr_assert_not_null(said);
    const json_t *v = json_object_get(said, "values");
    cr_expect_float_eq(number_of(v, "price") * number_of(v, "hours") / number_of(v, "other_hours"), 1, 0.01,
                       "unit price against hours");
    json_decref(p);

    snprintf(workload, sizeof workload, JOB("%.0f", ", \"deadline_on\": \"2027-03-10\""), 1e9 * 2000 / old_hours);
    p = plan_on(c, workload);
    first = json_array_get(json_object_get(p, "options"), 0);
    cr_expect_str_eq(text_of(train_supply(first), "gpu"), new, "time presses: the new card");
    cr_expect_not(feasible(option_on(p, old)));
    json_decref(p);
    test_catalog_free(c);
}

/* One to sixteen cards of one model, by memory and time. */
Test(golden, one_to_sixteen_cards)
{
    struct catalog *c = market_of(
        SKU_COLUMNS
        "big,idc,hefei,a100-sxm4-80g,16,yes,1,nvswitch,,bare_metal,2048,128,30720,service_6,test,2026-11,high\n",
        PRICE_COLUMNS "p1,sku,big,,,hourly,,CNY,gpu_hour,12,2026-11-01,2026-11-20,firm,test,high\n");
    static const struct {
        const char *workload;
        int cards;
    } cases[] = {
        {"{\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"qlora\", \"tokens\": 1e7},"
         "\"priority\": \"cheapest\", \"serving\": {\"months\": 0}}",
         1},
        {"{\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"lora\", \"tokens\": 1e10},"
         "\"priority\": \"fastest\", \"serving\": {\"months\": 0}}",
         16},
        {"{\"model\": {\"preset\": \"llama-2-70b\"}, \"training\": {\"method\": \"full_finetune\", \"tokens\": 1e8},"
         "\"priority\": \"fastest\", \"serving\": {\"months\": 0}}",
         16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *p = plan_on(c, cases[i].workload);
        const json_t *first = option_of(p, "single_machine");
        cr_assert_not_null(first, "case %zu", i);
        cr_expect_eq(number_of(train_supply(first), "gpus_per_node"), cases[i].cards, "case %zu: %g cards", i,
                     number_of(train_supply(first), "gpus_per_node"));
        json_decref(p);
    }
    test_catalog_free(c);
}

Test(golden, two_node_gate)
{
    json_t *p = plan_of("{\"model\": {\"preset\": \"qwen2.5-14b\"}, \"training\": {\"method\": \"full_finetune\","
                        "\"tokens\": 2e9}, \"measured\": {\"gpu\": \"a100-sxm4-80g\", \"gpus\": 8, \"nodes\": 1,"
                        "\"tokens_per_s\": 21000, \"two_node_speedup\": 1.3}}");
    const json_t *gate = note_of(refusals_of(p, "small_cluster"), "two_node_gate");
    cr_assert_not_null(gate);
    cr_expect_float_eq(number_of(gate, "short_by"), 0.2, 1e-9);
    cr_expect_null(option_of(p, "small_cluster"));
    json_decref(p);
}

/* The first two warnings of a plan whose readings say "not cards": what mending saves, and what the option's own
 * figures do not show. The one is the difference of the other and the option. */
static void check_saving(const json_t *p, const char *beside, double share, const char *basis)
{
    const json_t *saving = json_array_get(json_object_get(p, "warnings"), 0),
                 *other = json_array_get(json_object_get(p, "warnings"), 1),
                 *first = json_array_get(json_object_get(p, "options"), 0);
    cr_assert_str_eq(text_of(saving, "code"), "not_cards", "what it would save comes first");
    cr_assert_str_eq(text_of(other, "code"), beside);
    const json_t *v = json_object_get(saving, "values"), *w = json_object_get(other, "values");
    const double days = number_of(json_object_get(first, "finish"), "expected_days");
    const int64_t total = minor_of(json_object_get(first, "total_cost_to_finish")),
                  there = minor_of(json_object_get(w, "total")), saved = minor_of(json_object_get(v, "saved"));
    cr_expect_float_eq(number_of(v, "share"), share, 1e-9);
    cr_expect_str_eq(text_of(v, "basis"), basis);
    cr_expect_str_eq(text_of(v, "label"), text_of(first, "label"));
    cr_expect_gt(saved, 0);
    cr_expect_gt(number_of(v, "days"), 0);
    cr_expect_eq(llabs(there - total), saved, "%lld against %lld", (long long)llabs(there - total), (long long)saved);
    cr_expect_float_eq(fabs(number_of(w, "days") - days), number_of(v, "days"), 1e-6);
}

#define NOT_CARDS(tokens, readings)                                                                                    \
    "{\"model\": {\"preset\": \"qwen2.5-14b\"}, \"training\": {\"method\": \"full_finetune\", \"tokens\": " tokens     \
    "}, \"constraints\": {\"gpus\": [\"a100-sxm4-80g\"], \"max_nodes\": 1}, \"measured\": {\"gpu\": "                  \
    "\"a100-sxm4-80g\","                                                                                               \
    "\"gpus\": 8, \"nodes\": 1, " readings "}}"

Test(golden, not_cards)
{
    json_t *p = plan_of("{\"model\": {\"preset\": \"qwen2.5-14b\"}, \"training\": {\"method\": \"full_finetune\","
                        "\"tokens\": 2e9}, \"measured\": {\"gpu\": \"a100-sxm4-80g\", \"gpus\": 8, \"nodes\": 1,"
                        "\"gpu_util_pct\": 35, \"memory_used_pct\": 95}}");
    const json_t *diagnosis = json_object_get(json_object_get(p, "summary"), "diagnosis");
    cr_expect_str_eq(text_of(diagnosis, "code"), "data_pipeline");
    check_saving(p, "not_cards_as_read", 1 - 35.0 / 90, "share_of_readings");
    json_decref(p);

    static const struct {
        const char *workload, *beside, *basis;
        double share;
    } cases[] = {
        {NOT_CARDS("2e10", "\"tokens_per_s\": 9000, \"gpu_util_pct\": 36, \"memory_used_pct\": 95"), "not_cards_mended",
         "share_of_readings", 0.6},
        {NOT_CARDS("2e10", "\"verdict\": \"data_pipeline\", \"recoverable_share\": 0.45"), "not_cards_as_read",
         "share_of_readings", 0.45},
        {NOT_CARDS("2e10", "\"comm_share_pct\": 70, \"gpu_util_pct\": 95"), "not_cards_as_read", "share_of_readings",
         0.5},
        {NOT_CARDS("2e10", "\"verdict\": \"data_pipeline\""), "not_cards_as_read", "share_of_guides", 0.3},
        {NOT_CARDS("2e10", "\"iteration_time_cv\": 0.6"), "not_cards_as_read", "share_of_guides", 0.3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        p = plan_of(cases[i].workload);
        check_saving(p, cases[i].beside, cases[i].share, cases[i].basis);
        json_decref(p);
    }
    p = plan_of(NOT_CARDS("2e10", "\"verdict\": \"bandwidth_bound\""));
    cr_expect_str_eq(text_of(json_array_get(json_object_get(p, "warnings"), 0), "code"), "not_cards_unsized",
                     "nobody knows how much");
    json_decref(p);
}

/* What it promises is what a plan asked for with the mended readings comes to. */
Test(golden, not_cards_saves_what_the_mended_plan_costs)
{
    json_t *read = plan_of(NOT_CARDS("2e10", "\"tokens_per_s\": 9000, \"gpu_util_pct\": 36, \"memory_used_pct\": 95")),
           *mended =
               plan_of(NOT_CARDS("2e10", "\"tokens_per_s\": 22500, \"gpu_util_pct\": 90, \"memory_used_pct\": 95"));
    const json_t *told = json_object_get(note_of(json_object_get(read, "warnings"), "not_cards_mended"), "values"),
                 *was = json_array_get(json_object_get(read, "options"), 0);
    const json_t *is = NULL, *o;
    size_t i;
    json_array_foreach(json_object_get(mended, "options"), i,
                       o) if (is == NULL &&
                              strcmp(text_of(json_array_get(json_object_get(o, "supply"), 0), "sku"),
                                     text_of(json_array_get(json_object_get(was, "supply"), 0), "sku")) == 0) is = o;
    cr_assert(told && is);
    const double total = (double)minor_of(json_object_get(is, "total_cost_to_finish"));
    cr_expect_float_eq((double)minor_of(json_object_get(told, "total")) / total, 1, 0.01);
    cr_expect_float_eq(number_of(told, "days"), number_of(json_object_get(is, "finish"), "expected_days"), 1);
    json_decref(read);
    json_decref(mended);
}

/* Example 14 is measured on a busy machine: the plan starts with that, and promises nothing. */
Test(golden, a_real_need_saves_nothing)
{
    char *text = read_file("examples/14-measured-14b.json", NULL);
    json_t *example = json_loads(text != NULL ? text : "", 0, NULL);
    char *workload = json_dumps(json_object_get(example, "workload"), 0);
    cr_assert_not_null(workload);
    json_t *p = plan_of(workload);
    cr_expect_str_eq(text_of(json_object_get(json_object_get(p, "summary"), "diagnosis"), "code"), "real_need");
    cr_expect_neq(strncmp(text_of(json_array_get(json_object_get(p, "warnings"), 0), "code"), "not_cards", 9), 0);
    json_decref(p);
    json_decref(example);
    free(workload);
    free(text);
}

/* Every machine of the plan keeps the data in place, but those that burst. */
static void check_data_at_home(const json_t *p)
{
    size_t i, k;
    json_t *o, *s;
    json_array_foreach(json_object_get(p, "options"), i, o) json_array_foreach(json_object_get(o, "supply"), k, s)
    {
        const struct provider *provider = catalog_provider(client_catalog(), text_of(s, "provider"));
        const bool burst = strcmp(text_of(s, "role"), "burst") == 0;
        cr_assert_not_null(provider);
        cr_expect(!burst || strcmp(text_of(o, "kind"), "hybrid_cloud") == 0);
        cr_expect(burst || provider->data_stays, "%s: data would leave", text_of(s, "sku"));
    }
}

#define SENSITIVE(runs)                                                                                                \
    "{\"model\": {\"preset\": \"qwen2.5-14b\"}, \"training\": {\"method\": \"full_finetune\", \"tokens\": 2e9, " runs  \
    "}, \"constraints\": {\"data_sensitive\": true, \"can_desensitise\": false}}"

/* No university, no public cloud; nothing that may leave: the hybrid is refused, with what would change that. */
Test(golden, data_sensitive)
{
    static const struct {
        const char *workload, *relaxation;
    } cases[] = {{SENSITIVE("\"runs\": 6, \"parallel_runs\": 3"), "shareable_runs"},
                 {SENSITIVE("\"runs\": 6, \"parallel_runs\": 3, \"shareable_runs\": 0"), "shareable_runs"},
                 {SENSITIVE("\"runs\": 6"), "shareable_runs"},
                 {SENSITIVE("\"runs\": 1"), "shareable_runs"},
                 {SENSITIVE("\"runs\": 6, \"parallel_runs\": 3"), "desensitise"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *p = plan_of(cases[i].workload), *o;
        size_t k;
        bool relaxed = false;
        cr_expect_null(option_of(p, "university_time"));
        cr_expect_null(option_of(p, "hybrid_cloud"), "case %zu", i);
        cr_expect(has_code(refusals_of(p, "university_time"), "data_sensitive"));
        cr_expect(has_code(refusals_of(p, "hybrid_cloud"), "nothing_to_burst"));
        cr_expect(has_code(refusals_of(p, "hybrid_cloud"), "data_sensitive"));
        json_array_foreach(json_object_get(p, "infeasible"), k, o) if (strcmp(text_of(o, "kind"), "hybrid_cloud") == 0)
            relaxed |= has_code(json_object_get(o, "relaxations"), cases[i].relaxation);
        cr_expect(relaxed, "case %zu: no %s", i, cases[i].relaxation);
        check_data_at_home(p);
        json_decref(p);
    }
}

/* The runs of one job are one program: both ends of a line have cards of one maker. */
static void check_one_software(const json_t *hybrid)
{
    const char *maker = NULL;
    size_t k;
    json_t *s;
    json_array_foreach(json_object_get(hybrid, "supply"), k, s)
    {
        const struct gpu *gpu = catalog_gpu(client_catalog(), text_of(s, "gpu"));
        if (strcmp(text_of(s, "role"), "serve") == 0)
            continue;
        cr_assert_not_null(gpu);
        cr_expect(maker == NULL || strcmp(maker, gpu->vendor) == 0, "%s beside %s", gpu->vendor, maker);
        maker = gpu->vendor;
    }
}

/* Four of six runs use only public or synthetic data: those burst, the data stays, and the answer says which part
 * leaves and why it may. */
Test(golden, only_what_may_leave_bursts)
{
    static const char *const cases[] = {SENSITIVE("\"runs\": 6, \"shareable_runs\": 4"),
                                        SENSITIVE("\"runs\": 6, \"parallel_runs\": 3, \"shareable_runs\": 4")};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *p = plan_of(cases[i]);
        const json_t *hybrid = option_of(p, "hybrid_cloud");
        cr_assert(feasible(hybrid), "case %zu", i);
        const json_t *leaves = note_of(json_object_get(hybrid, "reasons"), "shareable_leaves");
        cr_assert_not_null(leaves);
        const json_t *values = json_object_get(leaves, "values");
        cr_expect_eq(number_of(values, "shareable"), 4);
        cr_expect(number_of(values, "runs_out") >= 1 && number_of(values, "runs_out") <= 4);
        cr_expect_eq(number_of(values, "runs_out") + number_of(values, "runs_local"), 6);
        check_one_software(hybrid);
        cr_expect_not(has_code(json_object_get(hybrid, "reasons"), "desensitise_first"));
        cr_expect(has_code(refusals_of(p, "university_time"), "data_sensitive"));
        check_data_at_home(p);
        json_decref(p);
    }
}

/* Whatever bursts, the service of a job that trains stays at a local IDC, and so does all that is not a burst. */
Test(golden, hybrid_serves_at_home)
{
    static const char *const cities[] = {"", "\"city\": \"hefei\"", "\"city\": \"shenzhen\""};
    for (size_t i = 0; i < sizeof cities / sizeof *cities; i++) {
        char workload[512];
        snprintf(workload, sizeof workload,
                 "{\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"lora\", \"tokens\": 1e9,"
                 "\"runs\": 6, \"parallel_runs\": 3}, \"constraints\": {%s}}",
                 cities[i]);
        json_t *p = plan_of(workload), *s;
        const json_t *hybrid = option_of(p, "hybrid_cloud");
        size_t k;
        cr_assert(feasible(hybrid), "%s", cities[i]);
        json_array_foreach(json_object_get(hybrid, "supply"), k, s)
        {
            const struct provider *provider = catalog_provider(client_catalog(), text_of(s, "provider"));
            const bool burst = strcmp(text_of(s, "role"), "burst") == 0;
            cr_assert_not_null(provider);
            cr_expect_eq(provider->kind, burst ? PROVIDER_PUBLIC_CLOUD : PROVIDER_LOCAL_IDC, "%s", text_of(s, "sku"));
        }
        check_one_software(hybrid);
        json_decref(p);
    }
}

/* A service that the home's machines alone cannot hold at its peak bursts what is left of it, beside a job that stays
 * at home: both ends are counted, and the bill is whole to the fen. Sensitive requests burst nothing. */
Test(golden, hybrid_bursts_peaks_beside_a_job)
{
    static const struct {
        const char *constraints;
        bool bursts;
    } cases[] = {{"", true},
                 {"\"data_sensitive\": true, \"can_desensitise\": true", true},
                 {"\"data_sensitive\": true, \"can_desensitise\": false", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char workload[800];
        snprintf(workload, sizeof workload,
                 "{\"model\": {\"preset\": \"sdxl-base-unet\"}, \"training\": {\"method\": \"qlora\","
                 "\"tokens\": 15345323693, \"seq_len\": 32768}, \"serving\": {\"concurrency\": 197, \"input_tokens\":"
                 "100, \"output_tokens\": 50, \"months\": 6, \"ttft_ms\": 2000}, \"constraints\": {%s}}",
                 cases[i].constraints);
        json_t *p = plan_of(workload), *l;
        const json_t *hybrid = option_of(p, "hybrid_cloud");
        cr_assert_eq(hybrid != NULL, cases[i].bursts, "case %zu", i);
        if (hybrid == NULL) {
            cr_expect(has_code(refusals_of(p, "hybrid_cloud"), "nothing_to_burst"));
            cr_expect(has_code(refusals_of(p, "hybrid_cloud"), "data_sensitive"));
            json_decref(p);
            continue;
        }
        const json_t *r = json_object_get(hybrid, "inference_reserve"), *burst = json_object_get(r, "burst");
        const json_t *cost = json_object_get(hybrid, "cost"), *reasons = json_object_get(hybrid, "reasons");
        cr_assert(json_is_object(burst), "case %zu", i);
        cr_expect_lt(number_of(r, "base_gpus"), number_of(r, "gpus"));
        cr_expect_lt(number_of(burst, "gpus"), number_of(r, "gpus"));
        cr_expect_lt(number_of(burst, "share_of_peak"), 1);
        cr_expect(has_code(reasons, "hybrid_runs_stay"));
        cr_expect(has_code(reasons, i == 0 ? "peaks_leave" : "peaks_leave_desensitised"));
        int64_t sum = 0, service = 0, phases = 0;
        size_t k;
        json_array_foreach(json_object_get(cost, "lines"), k, l)
        {
            const int64_t amount = minor_of(json_object_get(l, "amount"));
            sum += amount;
            service += strcmp(text_of(l, "section"), "inference_reserve") == 0 ? amount : 0;
        }
        json_array_foreach(json_object_get(hybrid, "phases"), k, l) phases += minor_of(json_object_get(l, "cost"));
        cr_expect_eq(sum, minor_of(json_object_get(cost, "net")));
        cr_expect_eq(phases, sum, "the line is shared between the phases that use it");
        cr_expect_eq(service, minor_of(json_object_get(r, "total")));
        json_decref(p);
    }
}

/* What bursts may be taken away where the request allows it, as any other machine: by spot where that costs less. */
Test(golden, hybrid_bursts_by_spot)
{
    static const char *const allowed[] = {"false", "true"};
    int64_t totals[2];
    for (size_t k = 0; k < 2; k++) {
        char workload[512];
        snprintf(
            workload, sizeof workload,
            "{\"model\": {\"preset\": \"qwen3-8b\"}, \"training\": {\"method\": \"full_finetune\", \"tokens\": 1e9,"
            "\"runs\": 8, \"parallel_runs\": 4}, \"serving\": {\"months\": 0}, \"priority\": \"cheapest\","
            "\"constraints\": {\"kinds\": [\"hybrid_cloud\"], \"gpus\": [\"rtx-4090-24g\"], \"providers\":"
            "[\"hefei-xinzhan-idc\", \"kufan-cloud\"], \"allow_spot\": %s}}",
            allowed[k]);
        json_t *p = plan_of(workload), *l;
        const json_t *o = option_of(p, "hybrid_cloud");
        size_t i;
        bool spot = false;
        cr_assert_not_null(o);
        json_array_foreach(json_object_get(json_object_get(o, "cost"), "lines"), i, l) spot |=
            strcmp(text_of(l, "pricing_mode"), "spot") == 0;
        cr_expect_eq(spot, k == 1);
        cr_expect_eq(has_code(json_object_get(o, "warnings"), "spot_interruptions"), k == 1);
        totals[k] = minor_of(json_object_get(o, "total_cost_to_finish"));
        json_decref(p);
    }
    cr_expect_lt(totals[1], totals[0]);
}

/* --- university time, word by word --------------------------------------------------------------------------- */
#define CAMPUS(training, constraints, assumptions)                                                                     \
    "{\"model\": {\"preset\": \"qwen2.5-14b\"}, \"training\": {\"method\": \"lora\", " training                        \
    "}, \"constraints\": {\"gpus\": [\"a100-sxm4-80g\"], \"city\": \"hefei\", \"kinds\": [\"university_time\"], "      \
    "\"start_on\": \"2027-01-04\"" constraints "}, \"assumptions\": {\"run_overhead_factor\": 0" assumptions "}}"

static const json_t *phase_of(const json_t *option, const char *code)
{
    size_t i;
    json_t *phase;
    json_array_foreach(json_object_get(option, "phases"), i,
                       phase) if (strcmp(text_of(phase, "code"), code) == 0) return phase;
    return NULL;
}

static date_t date_of(const json_t *o, const char *key)
{
    date_t d = DATE_NONE;
    cr_assert_eq(date_parse(text_of(o, key), &d), 0, "%s", text_of(o, key));
    return d;
}

/* Card-hours by user class: internal 4, partner 6, external 8 yuan; no commitment, and only what runs is billed. */
Test(golden, university_card_hours_by_user_class)
{
    static const char *const classes[] = {CAMPUS("\"tokens\": 1e9", "", ", \"university_user_class\": 0"),
                                          CAMPUS("\"tokens\": 1e9", "", ", \"university_user_class\": 1"),
                                          CAMPUS("\"tokens\": 1e9", "", ", \"university_user_class\": 2")};
    static const int64_t yuan[] = {4, 6, 8};
    for (size_t k = 0; k < 3; k++) {
        json_t *p = plan_of(classes[k]), *line;
        const json_t *o = option_of(p, "university_time");
        size_t i, campus = 0;
        cr_assert_not_null(o);
        json_array_foreach(json_object_get(json_object_get(o, "cost"), "lines"), i, line)
        {
            if (strncmp(text_of(line, "sku"), "ustc", 4) != 0)
                continue;
            campus++;
            cr_expect_eq(minor_of(json_object_get(line, "unit_price")), 100 * yuan[k]);
            cr_expect_str_eq(text_of(line, "unit"), "gpu_hour");
        }
        cr_expect_gt(campus, 0);
        cr_expect(has_code(json_object_get(o, "reasons"), "university_class"));
        json_decref(p);
    }
}

/* Agreement first; sensitive data only desensitised, which takes its days before the first job. */
Test(golden, university_agreement_and_desensitisation_come_first)
{
    static const struct {
        const char *workload;
        int lead; /* days */
        bool desensitised;
    } cases[] = {
        {CAMPUS("\"tokens\": 1e9", "", ""), 21, false},
        {CAMPUS("\"tokens\": 1e9", "", ", \"agreement_days\": 40"), 40, false},
        {CAMPUS("\"tokens\": 1e9", ", \"data_sensitive\": true, \"can_desensitise\": true", ""), 28, true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        json_t *p = plan_of(cases[k].workload);
        const json_t *o = option_of(p, "university_time");
        cr_assert_not_null(o);
        cr_expect_eq(date_of(phase_of(o, "validate"), "start_on"), date_from_civil(2027, 1, 4) + cases[k].lead);
        cr_expect(has_code(json_object_get(o, "reasons"), "university_agreement"));
        cr_expect_eq(has_code(json_object_get(o, "reasons"), "desensitise_first"), cases[k].desensitised);
        json_decref(p);
    }
    json_t *p = plan_of(CAMPUS("\"tokens\": 1e9", ", \"data_sensitive\": true, \"can_desensitise\": false", ""));
    cr_expect(has_code(refusals_of(p, "university_time"), "data_sensitive"));
    json_decref(p);
}

/* Off-peak: 45 % of the week, so a day has 10.8 hours; more of the week, sooner done, at the same bill of hours. */
Test(golden, university_off_peak_calendar)
{
    double days[2], hours[2];
    static const char *const shares[] = {CAMPUS("\"tokens\": 2e10", "", ""),
                                         CAMPUS("\"tokens\": 2e10", "", ", \"off_peak_share\": 0.9")};
    for (size_t k = 0; k < 2; k++) {
        json_t *p = plan_of(shares[k]);
        const json_t *o = option_of(p, "university_time"), *train = phase_of(o, "train");
        days[k] = date_of(train, "end_on") - date_of(train, "start_on") + 1;
        hours[k] = number_of(train, "hours");
        cr_expect_float_eq(days[k], ceil(hours[k] / (24 * (k == 0 ? 0.45 : 0.9))), 1.01, "%g h in %g days", hours[k],
                           days[k]);
        cr_expect(has_code(json_object_get(o, "reasons"), "university_off_peak"));
        json_decref(p);
    }
    cr_expect_float_eq(hours[0], hours[1], 1e-6);
    cr_expect_gt(days[0], 1.8 * days[1]);
}

/* A queue is a distribution: its median and its tail are told, and they spread the finish; waits are not billed. The
 * cap cuts the work into jobs, each of which queues and restarts from its checkpoint. */
Test(golden, university_queue_and_job_cap)
{
    double jobs[2];
    static const char *const sizes[] = {CAMPUS("\"tokens\": 1e9", "", ""), CAMPUS("\"tokens\": 2e10", "", "")};
    for (size_t k = 0; k < 2; k++) {
        json_t *p = plan_of(sizes[k]);
        const json_t *o = option_of(p, "university_time"), *train = phase_of(o, "train");
        const json_t *queue =
            note_of(json_object_get(o, "reasons"), k == 0 ? "university_one_job" : "university_queue");
        const json_t *spread = note_of(json_object_get(o, "warnings"), "queue_uncertain");
        const json_t *finish = json_object_get(o, "finish");
        cr_assert(queue != NULL && spread != NULL);
        const json_t *v = json_object_get(queue, "values");
        jobs[k] = number_of(v, "jobs");
        cr_expect_eq(number_of(v, "cap_h"), 48);
        /* of the hours billed 8 are set-up and half an hour a job the restart; a few per mille are lost to faults */
        cr_expect_leq(fabs(jobs[k] - ceil((number_of(train, "hours") - 8 - jobs[k] / 2) / 1.006 / 48)), 1e-9,
                      "%g jobs for %g h", jobs[k], number_of(train, "hours"));
        cr_expect_eq(number_of(json_object_get(spread, "values"), "median_h"), 6);
        cr_expect_eq(number_of(json_object_get(spread, "values"), "p90_h"), 48);
        cr_expect(number_of(finish, "low_days") <= number_of(finish, "expected_days") &&
                  number_of(finish, "high_days") > number_of(finish, "expected_days"));
        const char *slurm = text_of(json_object_get(o, "launch"), "slurm");
        cr_expect(jobs[k] < 2 || strstr(slurm, "#SBATCH --time=2-00:00:00") != NULL, "%s", slurm);
        cr_expect(strstr(slurm, "--output_dir checkpoints") != NULL && strstr(slurm, "--save_steps ") != NULL, "%s",
                  slurm);
        cr_expect(jobs[k] < 2 || strstr(slurm, "#SBATCH --array=1-") != NULL, "%s", slurm);
        json_decref(p);
    }
    cr_expect_eq(jobs[0], 1);
    cr_expect_gt(jobs[1], 3);
}

/* No service runs there: the reserve sits at a supplier that serves, and is part of the bill. */
Test(golden, university_reserve_is_elsewhere_and_priced)
{
    json_t *p = plan_of(CAMPUS("\"tokens\": 1e9", "", "")), *s;
    const json_t *o = option_of(p, "university_time");
    size_t i;
    bool served = false;
    cr_expect(has_code(json_object_get(o, "reasons"), "reserve_elsewhere"));
    cr_expect_gt(minor_of(json_object_get(json_object_get(o, "inference_reserve"), "total")), 0);
    json_array_foreach(json_object_get(o, "supply"), i, s)
    {
        const struct provider *provider = catalog_provider(client_catalog(), text_of(s, "provider"));
        cr_assert_not_null(provider);
        const bool serves = strcmp(text_of(s, "role"), "serve") == 0;
        served |= serves;
        cr_expect_eq(provider->kind == PROVIDER_UNIVERSITY, !serves, "%s", text_of(s, "sku"));
        cr_expect(!serves || provider->serves);
    }
    cr_expect(served);
    json_decref(p);
}

Test(golden, slow_card_gates)
{
    json_t *p = plan_of("{\"model\": {\"preset\": \"qwen2.5-14b\"}, \"training\": {\"method\": \"full_finetune\","
                        "\"tokens\": 2e9}, \"constraints\": {\"gpus\": [\"a100-sxm4-80g\", \"h800-sxm5-80g\"],"
                        "\"mix_gpus\": true}}");
    cr_expect(has_code(json_object_get(p, "warnings"), "slow_card_gates"));
    json_decref(p);
}

Test(golden, budget_200k_and_an_idea)
{
    json_t *p = plan_of("{\"model\": {\"params_b\": 13}, \"training\": {\"method\": \"lora\", \"tokens\": 2e8},"
                        "\"constraints\": {\"budget\": {\"amount\": \"200000.00\", \"currency\": \"CNY\"}}}");
    size_t i;
    json_t *o;
    cr_expect(feasible(json_array_get(json_object_get(p, "options"), 0)));
    json_array_foreach(json_object_get(p, "options"), i, o)
    {
        const json_t *cost = json_object_get(o, "cost");
        cr_expect(!feasible(o) || minor_of(json_object_get(cost, "high")) <= 20000000);
        cr_expect_leq(minor_of(json_object_get(json_object_get(cost, "by_section"), "validation")), 2000000,
                      "validation is at most 10 %% of the budget");
    }
    int64_t sum = 0;
    json_array_foreach(json_object_get(p, "budget_shares"), i, o) sum += minor_of(json_object_get(o, "amount"));
    cr_expect_eq(sum, 20000000, "the whole sum is divided: %ld", (long)sum);
    json_decref(p);
}

Test(golden, serving_only_50_users)
{
    json_t *p = plan_of("{\"model\": {\"preset\": \"qwen2.5-7b\"}, \"serving\": {\"users\": 50,"
                        "\"requests_per_user_hour\": 20, \"weight_bits\": 4, \"input_tokens\": 1000,"
                        "\"output_tokens\": 300, \"months\": 6}, \"constraints\": {\"city\": \"hefei\"}}");
    const json_t *first = json_array_get(json_object_get(p, "options"), 0);
    cr_assert(feasible(first));
    cr_expect_str_eq(text_of(first, "kind"), "single_machine");
    cr_expect_str_eq(text_of(json_object_get(first, "inference_reserve"), "basis"), "sized");
    cr_expect(has_code(refusals_of(p, "small_cluster"), "inference_fits"));
    cr_expect(has_code(refusals_of(p, "university_time"), "university_no_serving"));
    json_decref(p);
}

Test(golden, deadline_tomorrow)
{
    json_t *p = plan_of("{\"model\": {\"preset\": \"qwen2.5-14b\"}, \"training\": {\"method\": \"full_finetune\","
                        "\"tokens\": 2e9}, \"constraints\": {\"start_on\": \"2026-11-30\","
                        "\"deadline_on\": \"2026-12-01\"}}");
    size_t i;
    json_t *o;
    bool relaxed = false;
    cr_expect(json_is_null(json_object_get(json_object_get(p, "summary"), "recommended_option")));
    cr_expect_gt(json_array_size(json_object_get(p, "options")), 0, "the nearest miss is shown");
    cr_expect_eq(json_array_size(json_object_get(p, "infeasible")), 4);
    json_array_foreach(json_object_get(p, "options"), i, o)
    {
        const json_t *miss = note_of(json_object_get(o, "reasons"), "deadline_missed");
        cr_expect(!feasible(o));
        cr_assert_not_null(miss);
        cr_expect_gt(number_of(miss, "short_by"), 0);
        relaxed |= has_code(json_object_get(o, "relaxations"), "later_deadline");
    }
    cr_expect(relaxed, "how many more days it would take");
    json_decref(p);
}

/* Nobody prices it, or in a currency that no rate is known of: the offer is named and never ranked. */
Test(golden, price_missing)
{
    static const char *const large[] = {
        "p2,sku,large,,,monthly,1,CNY,node_month,0,2026-11-01,2026-11-20,quote_only,test,high\n",
        "p2,sku,large,,,monthly,1,USD,node_month,9000,2026-11-01,2026-11-20,firm,test,high\n",
    };
    for (size_t k = 0; k < sizeof large / sizeof *large; k++) {
        char prices[1024];
        snprintf(prices, sizeof prices,
                 PRICE_COLUMNS "p1,sku,small,,,hourly,,CNY,node_hour,3,2026-11-01,2026-11-20,firm,test,high\n%s",
                 large[k]);
        struct catalog *c = market_of(
            SKU_COLUMNS
            "small,idc,hefei,rtx-4090-24g,1,no,1,,,bare_metal,64,16,1000,service_6,test,2026-11,high\n"
            "large,idc,hefei,h200-sxm5-141g,8,no,1,nvswitch,,bare_metal,2048,128,30720,service_6,test,2026-11,high\n",
            prices);
        json_t *p = plan_on(c, "{\"model\": {\"preset\": \"llama-2-70b\"}, \"training\": {\"method\": \"lora\","
                               "\"tokens\": 1e8}, \"serving\": {\"months\": 0}}");
        const json_t *missing = note_of(json_object_get(p, "warnings"), "price_missing");
        cr_expect_eq(json_array_size(json_object_get(p, "options")), 0, "never ranked, never 0");
        cr_assert_not_null(missing, "case %zu", k);
        cr_expect_not_null(strstr(text_of(missing, "text"), "large"), "%s", text_of(missing, "text"));
        cr_expect(has_code(refusals_of(p, "single_machine"), "price_missing"));
        json_decref(p);
        test_catalog_free(c);
    }
}

/* A machine that is sold by spot alone: an offer only to who allows it, which is the change that is named; and not for
 * the last days before a deadline, which is the reason that is given. */
Test(golden, sold_by_spot_alone)
{
#define BY_SPOT(more)                                                                                                  \
    "{\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"lora\", \"tokens\": 2e8}, \"serving\":"    \
    "{\"months\": 0}, \"constraints\": {\"start_on\": \"2027-01-04\", \"kinds\": [\"single_machine\"]" more "}}"
    struct catalog *c = market_of(
        SKU_COLUMNS
        "node,idc,hefei,a100-sxm4-80g,8,no,1,nvswitch,,bare_metal,1024,128,15360,service_6,test,2026-11,high\n",
        PRICE_COLUMNS "p1,sku,node,,,spot,,CNY,node_hour,50,2026-11-01,2026-11-20,firm,test,high\n");
    json_t *p = plan_on(c, BY_SPOT("")), *i;
    size_t k;
    cr_expect_null(option_of(p, "single_machine"));
    json_array_foreach(json_object_get(p, "infeasible"), k, i)
        cr_expect(has_code(json_object_get(i, "relaxations"), "spot"));
    json_decref(p);
    p = plan_on(c, BY_SPOT(", \"allow_spot\": true"));
    cr_expect(feasible(option_of(p, "single_machine")));
    json_decref(p);
    p = plan_on(c, BY_SPOT(", \"allow_spot\": true, \"deadline_on\": \"2027-01-28\""));
    cr_expect(has_code(refusals_of(p, "single_machine"), "spot_last_mile"));
    cr_expect_not(has_code(refusals_of(p, "single_machine"), "beyond_horizon"));
    json_decref(p);
    test_catalog_free(c);
}

/* Domain: owning usually costs 40 % and more above renting at start-up utilisation; it suits machines that run full for
 * years. The stated prices: 14 yuan an hour and 5,620 a month of an A100-80G (trade guides), 1.15 million for eight. */
Test(golden, own_hardware)
{
    static const char *const at[] = {"", ", \"assumptions\": {\"own_utilisation\": 1}",
                                     ", \"assumptions\": {\"own_utilisation\": 0.05}"};
    double ratios[3], turn = 0;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        char workload[1024];
        snprintf(workload, sizeof workload,
                 "{\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"lora\", \"tokens\": 1e8},"
                 "\"serving\": {\"months\": 0}, \"constraints\": {\"gpus\": [\"a100-sxm4-80g\"], \"providers\":"
                 "[\"hefei-hightech-idc\"]}%s}",
                 at[i]);
        json_t *p = plan_of(workload);
        const json_t *own = json_object_get(p, "own_hardware");
        cr_assert(json_is_true(json_object_get(own, "known")));
        ratios[i] = number_of(own, "ratio");
        turn = number_of(own, "break_even_utilisation");
        cr_expect(has_code(json_object_get(own, "notes"), "own_full_use"));
        cr_expect(has_code(json_object_get(own, "notes"), "own_break_even"));
        const json_t *parts = json_object_get(note_of(json_object_get(own, "notes"), "own_parts"), "values");
        static const char *const part[] = {"purchase", "maintenance", "hosting", "power", "staff"};
        int64_t sum = 0;
        for (size_t k = 0; k < sizeof part / sizeof *part; k++)
            sum += minor_of(json_object_get(parts, part[k]));
        cr_expect_eq(sum, minor_of(json_object_get(own, "three_year_cost")), "the parts make up the sum");
        cr_expect_float_eq(ratios[i],
                           (double)minor_of(json_object_get(own, "three_year_cost")) /
                               (double)minor_of(json_object_get(own, "equivalent_rental")),
                           1e-6);
        json_decref(p);
    }
    cr_expect(ratios[0] >= 1.4, "at start-up utilisation: %.3f", ratios[0]);
    cr_expect(ratios[1] < 1, "full for years: %.3f", ratios[1]);
    cr_expect(ratios[2] > 5, "nearly idle: %.3f", ratios[2]);
    cr_expect(turn > 0.35 && turn < 1, "turns at %.3f", turn);
}

/* Every plan whose card has a purchase price states the ratio, and where it turns or that it never does. */
Test(golden, own_hardware_is_stated_wherever_a_price_is_known, .timeout = 120)
{
    const struct catalog *c = client_catalog();
    int stated = 0, apart = 0;
    for (size_t i = 0; i < c->n_purchases; i++) {
        char workload[1024];
        const char *gpu = c->purchases[i].gpu->id;
        snprintf(workload, sizeof workload,
                 "{\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"lora\", \"tokens\": 1e8},"
                 "\"serving\": {\"months\": 0}, \"constraints\": {\"gpus\": [\"%s\"]}}",
                 gpu);
        json_t *p = plan_of(workload);
        const json_t *own = json_object_get(p, "own_hardware"), *notes = json_object_get(own, "notes");
        if (json_array_size(json_object_get(p, "options")) > 0) {
            stated++;
            cr_expect(json_is_true(json_object_get(own, "known")), "%s", gpu);
            cr_expect_gt(number_of(own, "ratio"), 0.3, "%s", gpu);
            const json_t *parts = json_object_get(note_of(notes, "own_parts"), "values");
            cr_expect_gt(minor_of(json_object_get(parts, "power")), 0, "%s: power is never nothing", gpu);
            cr_expect_gt(minor_of(json_object_get(parts, "hosting")), 0, "%s", gpu);
            cr_expect(json_is_number(json_object_get(own, "break_even_utilisation")) ||
                          has_code(notes, "own_never_cheaper"),
                      "%s: nothing says where it turns", gpu);
            cr_expect(has_code(notes, "own_rent_hour") || has_code(notes, "own_rent_month") ||
                          has_code(notes, "own_rent_year"),
                      "%s: nothing says what the rent is", gpu);
            apart += has_code(notes, "own_dates_apart");
            cr_expect(strncmp(gpu, "h800", 4) != 0 || has_code(notes, "own_dates_apart"), "bought in 2024: %s", gpu);
        }
        json_decref(p);
    }
    cr_expect_geq(stated, 16, "%d cards", stated);
    cr_expect(apart > 0 && apart < stated, "%d of %d are of two markets", apart, stated);
}

/* A day before the newest price of the seed finds local offers too; what was seen later is not known on it. */
Test(golden, local_offers_on_any_day_of_the_year)
{
    static const char *const days[] = {"2026-02-01", "2026-08-01", "2026-10-31", "2027-06-01"};
    for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
        char workload[512];
        snprintf(workload, sizeof workload,
                 "{\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"lora\", \"tokens\": 1e8},"
                 "\"constraints\": {\"city\": \"hefei\"}}, \"as_of\": \"%s\"",
                 days[i]);
        json_t *p = plan_of(workload);
        cr_expect(feasible(option_of(p, "single_machine")), "%s", days[i]);
        cr_expect(feasible(option_of(p, "university_time")), "%s", days[i]);
        json_decref(p);
    }
}

/* Cards that run other software than CUDA ask for more debugging, which is paid for, unless they were measured. */
Test(golden, port_effort)
{
    static const char *const measured[] = {
        "", ", \"measured\": {\"gpu\": \"ascend-910b2-64g\", \"gpus\": 8, \"tokens_per_s\": 9000}"};
    double days[2];
    for (size_t i = 0; i < 2; i++) {
        char workload[1024];
        snprintf(workload, sizeof workload,
                 "{\"model\": {\"preset\": \"qwen2.5-14b\"}, \"training\": {\"method\": \"full_finetune\","
                 "\"tokens\": 2e10}, \"constraints\": {\"gpus\": [\"ascend-910b2-64g\"], \"city\": \"hefei\"},"
                 "\"assumptions\": {\"validate_days\": 0}%s}",
                 measured[i]);
        json_t *p = plan_of(workload);
        const json_t *o = option_of(p, "single_machine");
        cr_assert_not_null(o);
        cr_expect_eq(has_code(json_object_get(o, "reasons"), "port_effort"), i == 0);
        const json_t *develop = phase_of(o, "develop"), *train = phase_of(o, "train");
        days[i] = number_of(develop, "hours") / (number_of(train, "hours") / 24);
        json_decref(p);
    }
    cr_expect_float_eq(days[0] / days[1], 1.5, 0.1, "debugging a day of training: %.2f against %.2f", days[0], days[1]);
}

/* Several phases on one machine share its commitment: the card that validation and debugging rent by the month is one
 * of the cluster's when that starts within the month, so that only the others are paid by the hour. */
Test(golden, a_card_of_the_validation_is_one_of_the_cluster)
{
    struct catalog *c = market_of(
        SKU_COLUMNS
        "card,idc,hefei,a100-sxm4-80g,8,yes,4,nvswitch,ib,bare_metal,1024,128,15360,service_6,test,2026-11,high\n",
        PRICE_COLUMNS "p1,sku,card,,,hourly,,CNY,gpu_hour,14,2026-11-01,2026-11-20,firm,test,high\n"
                      "p2,sku,card,,,monthly,1,CNY,gpu_month,5000,2026-11-01,2026-11-20,firm,test,high\n");
    json_t *p = plan_on(c, "{\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"lora\","
                           "\"tokens\": 4e9}, \"serving\": {\"months\": 0}, \"priority\": \"cheapest\","
                           "\"constraints\": {\"budget\": {\"amount\": \"1000000.00\", \"currency\": \"CNY\"}, "
                           "\"team\": \"expert\", \"kinds\": [\"small_cluster\"]}}");
    const json_t *o = option_of(p, "small_cluster"), *l;
    cr_assert_not_null(o);
    const double train = ceil(train_hours(o)), days = number_of(json_object_get(o, "finish"), "expected_days");
    size_t i;
    double hours = 0, months = 0;
    json_array_foreach(json_object_get(json_object_get(o, "cost"), "lines"), i, l)
    {
        const char *unit = text_of(l, "unit");
        hours += strcmp(unit, "gpu_hour") == 0 ? number_of(l, "quantity") : 0;
        months += strcmp(unit, "gpu_month") == 0 ? number_of(l, "quantity") : 0;
    }
    cr_assert_leq(days, 30, "all of it within the month");
    cr_expect_eq(number_of(phase_of(o, "validate"), "gpus"), 1);
    cr_expect_eq(months, 1);
    cr_expect_float_eq(hours, 15 * train, 1e-6, "%g card-hours for 15 cards of %g h", hours, train);
    json_decref(p);
    test_catalog_free(c);
}

/* A machine whose hours are sold by the day costs a day for each day of debugging and for what is left of the run, and
 * no date moves for it. */
Test(golden, billing_granularity)
{
    static const char *const steps[] = {"1000", "24000"};
    double days[2], hours[2];
    for (size_t k = 0; k < 2; k++) {
        char prices[512];
        snprintf(prices, sizeof prices,
                 "id,subject,sku_id,subject_id,provider_id,mode,term_months,currency,unit,price,granularity_milli_h,"
                 "effective_from,observed_on,state,source,confidence\n"
                 "p1,sku,node,,,hourly,,CNY,node_hour,100,%s,2026-11-01,2026-11-20,firm,test,high\n",
                 steps[k]);
        struct catalog *c = market_of(
            SKU_COLUMNS
            "node,idc,hefei,a100-sxm4-80g,8,no,1,nvswitch,,bare_metal,1024,128,15360,service_6,test,2026-11,high\n",
            prices);
        json_t *p = plan_on(c, "{\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"lora\","
                               "\"tokens\": 5e9}, \"serving\": {\"months\": 0}}");
        const json_t *o = option_of(p, "single_machine"), *l;
        cr_assert_not_null(o);
        const double debugged = number_of(phase_of(o, "develop"), "hours") / 10, run = train_hours(o);
        const double step = k == 0 ? 1 : 24;
        size_t i;
        days[k] = number_of(json_object_get(o, "finish"), "expected_days");
        hours[k] = 0;
        json_array_foreach(json_object_get(json_object_get(o, "cost"), "lines"), i, l) hours[k] +=
            number_of(l, "quantity");
        cr_expect_float_eq(hours[k], 336 + debugged * ceil(10 / step) * step + ceil(run / step) * step, 1e-6,
                           "%g h billed, %g days of debugging, %g h of run", hours[k], debugged, run);
        json_decref(p);
        test_catalog_free(c);
    }
    cr_expect_eq(days[0], days[1]);
    cr_expect_gt(hours[1], hours[0]);
}

/* docs/plans.md, the worked example: to the fen, as a caller sees it. */
Test(golden, worked_example)
{
    struct catalog *c = market_of(
        SKU_COLUMNS
        "node,idc,hefei,a100-sxm4-80g,8,yes,1,nvswitch,,bare_metal,1024,128,15360,service_6,test,2026-11,high\n",
        PRICE_COLUMNS "p1,sku,node,,,hourly,,CNY,node_hour,122.00,2026-11-01,2026-11-20,firm,test,high\n"
                      "p2,sku,node,,,monthly,1,CNY,node_month,46000.00,2026-11-01,2026-11-20,firm,test,high\n"
                      "p3,sku,node,,,monthly,1,CNY,gpu_month,6000.00,2026-11-01,2026-11-20,firm,test,high\n"
                      "p4,egress,,idc,idc,hourly,,CNY,gb,0.50,2026-11-01,2026-11-20,firm,test,high\n");
    json_t *p = plan_on(c, "{\"model\": {\"preset\": \"qwen2.5-14b\"}, \"training\": {\"method\": \"full_finetune\","
                           "\"tokens\": 2e9, \"runs\": 20}, \"measured\": {\"gpu\": \"a100-sxm4-80g\", \"gpus\": 8,"
                           "\"nodes\": 1, \"tokens_per_s\": 21000}, \"serving\": {\"requests_per_s\": 0.5,"
                           "\"peak_factor\": 3, \"input_tokens\": 1000, \"output_tokens\": 300, \"months\": 6,"
                           "\"spare_replicas\": 1}, \"constraints\": {\"start_on\": \"2027-01-04\","
                           "\"egress_gb\": 200}, \"assumptions\": {\"run_overhead_factor\": 0}}");
    const json_t *o = json_array_get(json_object_get(p, "options"), 0), *cost = json_object_get(o, "cost");
    cr_expect_str_eq(text_of(json_object_get(o, "total_cost_to_finish"), "amount"), "130617.44");
    cr_expect_str_eq(text_of(json_object_get(cost, "net"), "amount"), "123224.00");
    cr_expect_str_eq(text_of(json_object_get(cost, "tax"), "amount"), "7393.44");
    cr_expect_str_eq(text_of(json_object_get(o, "finish"), "finish_on"), "2027-02-07");
    cr_expect_eq(json_array_size(json_object_get(cost, "lines")), 4);
    cr_expect_float_eq(number_of(json_object_get(p, "break_even"), "monthly_beats_hourly_after_hours"), 377.0, 0.06);
    cr_expect_eq(number_of(json_object_get(o, "inference_reserve"), "gpus"), 2);
    static const struct {
        const char *section, *mode, *unit, *unit_price, *amount, *tax;
        double quantity, unused;
    } lines[] = {
        {"compute", "hourly", "node_hour", "122.00", "5124.00", "307.44", 42, 0},
        {"compute", "monthly", "node_month", "46000.00", "46000.00", "2760.00", 1, 0.1556},
        {"inference_reserve", "monthly", "gpu_month", "6000.00", "72000.00", "4320.00", 12, -1 /* not defined */},
        {"egress", "hourly", "gb", "0.50", "100.00", "6.00", 200, 0},
    };
    const json_t *l;
    size_t i;
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        bool found = false;
        json_array_foreach(json_object_get(cost, "lines"), i, l)
        {
            if (strcmp(text_of(l, "section"), lines[k].section) != 0 ||
                strcmp(text_of(l, "pricing_mode"), lines[k].mode) != 0)
                continue;
            found = true;
            cr_expect_str_eq(text_of(l, "unit"), lines[k].unit);
            cr_expect_str_eq(text_of(json_object_get(l, "unit_price"), "amount"), lines[k].unit_price);
            cr_expect_str_eq(text_of(json_object_get(l, "amount"), "amount"), lines[k].amount);
            cr_expect_str_eq(text_of(json_object_get(l, "tax"), "amount"), lines[k].tax);
            cr_expect_float_eq(number_of(l, "quantity"), lines[k].quantity, 1e-9);
            cr_expect(lines[k].unused < 0 || fabs(number_of(l, "unused_share") - lines[k].unused) < 5e-5);
        }
        cr_expect(found, "no %s line paid %s", lines[k].section, lines[k].mode);
    }
    json_decref(p);
    test_catalog_free(c);
}
