/* test_domain_rules.c — what an answer owes its reader, rule by rule, through the door and over the seed catalog. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/money.h"
#include "tests/api/client.h"

#define N(a) (sizeof(a) / sizeof *(a))

static size_t count_code(const json_t *notes, const char *code)
{
    size_t i, n = 0;
    json_t *note;
    json_array_foreach(notes, i, note) n += strstr(text_of(note, "code"), code) != NULL;
    return n;
}

static json_t *plan_of(const char *workload)
{
    return plan_in(workload, "en");
}

/* Requests a sales engineer meets: every method, kind, currency and limit, many of them impossible. */
static const char *const requests[] = {
    "{\"model\":{\"preset\":\"opt-30b\"},\"serving\":{\"requests_per_s\":38.11,\"output_tokens\":2000,\"tpot_ms\":60,"
    "\"weight_bits\":8,\"spare_replicas\":0},\"constraints\":{\"gpus\":[\"mlu370-x8-48g\"]}}",
    "{\"model\":{\"preset\":\"llama-2-70b\"},\"training\":{\"method\":\"full_finetune\",\"samples\":2861564,\"runs\":4,"
    "\"parallel_runs\":4,\"dataset_gb\":5000},\"currency\":\"USD\"}",
    "{\"model\":{\"preset\":\"qwen2.5-14b\"},\"training\":{\"method\":\"full_finetune\",\"tokens\":2e9,\"runs\":10},"
    "\"constraints\":{\"city\":\"hefei\",\"allow_spot\":true,\"deadline_on\":\"2027-03-01\",\"egress_gb\":500}}",
    "{\"model\":{\"preset\":\"qwen2.5-7b\"},\"training\":{\"method\":\"lora\",\"tokens\":3e8},\"constraints\":"
    "{\"city\":\"wuhan\",\"budget\":{\"amount\":\"500\",\"currency\":\"CNY\"}}}",
    "{\"model\":{\"params_b\":130},\"training\":{\"method\":\"pretrain\",\"tokens\":3e11},\"constraints\":"
    "{\"city\":\"hefei\",\"team\":\"none\"}}",
    "{\"model\":{\"params_b\":13},\"training\":{\"method\":\"lora\",\"tokens\":5e8},\"constraints\":{\"city\":"
    "\"shenzhen\",\"data_sensitive\":true,\"can_desensitise\":false}}",
    "{\"model\":{\"params_b\":13},\"training\":{\"method\":\"qlora\",\"tokens\":5e8,\"runs\":6,\"parallel_runs\":3},"
    "\"constraints\":{\"city\":\"wuhan\",\"data_sensitive\":true,\"can_desensitise\":true}}",
    "{\"model\":{\"preset\":\"qwen2.5-7b\"},\"training\":{\"method\":\"full_finetune\",\"tokens\":1e9,\"precision\":"
    "\"bf16\"},\"constraints\":{\"gpus\":[\"v100-sxm2-32g\"]}}",
    "{\"model\":{\"preset\":\"qwen2.5-7b\"},\"training\":{\"method\":\"lora\",\"tokens\":1e9},\"constraints\":"
    "{\"kinds\":[\"university_time\"],\"city\":\"hefei\"}}",
    "{\"model\":{\"preset\":\"qwen2.5-7b\"},\"training\":{\"method\":\"lora\",\"tokens\":1e9},\"constraints\":"
    "{\"providers\":[\"aliyun-hefei\"]}}",
    "{\"model\":{\"preset\":\"qwen2.5-72b\"},\"serving\":{\"users\":500,\"requests_per_user_hour\":10,\"months\":36},"
    "\"constraints\":{\"city\":\"wuhan\"},\"currency\":\"USD\"}",
    "{\"model\":{\"preset\":\"qwen2.5-14b\"},\"training\":{\"method\":\"qlora\",\"tokens\":1e9},\"constraints\":"
    "{\"start_on\":\"2026-12-01\",\"deadline_on\":\"2026-12-02\",\"city\":\"shenzhen\"}}",
    "{\"model\":{\"params_b\":1.5},\"training\":{\"method\":\"pretrain\",\"tokens\":3e10},\"constraints\":"
    "{\"team\":\"expert\",\"city\":\"wuhan\"},\"priority\":\"fastest\"}",
    "{\"model\":{\"preset\":\"llama-2-70b\"},\"serving\":{\"requests_per_s\":20,\"input_tokens\":1000,"
    "\"output_tokens\":500,\"months\":24},\"constraints\":{\"city\":\"hefei\"}}",
    "{\"model\":{\"preset\":\"llama-2-70b\"},\"training\":{\"method\":\"full_finetune\",\"tokens\":1e9},\"measured\":"
    "{\"gpu\":\"a100-sxm4-80g\",\"gpus\":8,\"two_node_speedup\":1.3},\"constraints\":{\"city\":\"hefei\"}}",
};

static bool is_word(char c)
{
    return islower((unsigned char)c) || c == '_';
}

/* "{name}" with a name inside. */
static const char *placeholder(const char *text)
{
    for (const char *at = strchr(text, '{'); at != NULL; at = strchr(at + 1, '{')) {
        const char *end = at + 1;
        while (is_word(*end))
            end++;
        if (end > at + 1 && *end == '}')
            return at;
    }
    return NULL;
}

/* Every text, title and reason anywhere in an answer. */
static void check_texts(const json_t *value, const char *request, size_t *n)
{
    const char *key;
    size_t i;
    json_t *v;
    if (json_is_array(value))
        json_array_foreach(value, i, v) check_texts(v, request, n);
    if (!json_is_object(value))
        return;
    json_object_foreach((json_t *)value, key, v)
    {
        if (json_is_string(v) && (strcmp(key, "text") == 0 || strcmp(key, "title") == 0)) {
            const char *s = json_string_value(v);
            cr_expect_null(placeholder(s), "%s\n  says: %s", request, s);
            cr_expect(!strstr(s, " nan") && *s, "%s\n  says: %s", request, s);
            ++*n;
        }
        check_texts(v, request, n);
    }
}

Test(domain_rules, no_sentence_leaves_a_placeholder, .timeout = 120)
{
    size_t texts = 0;
    for (size_t i = 0; i < N(requests); i++)
        for (int zh = 0; zh < 2; zh++) {
            json_t *p = plan_in(requests[i], zh ? "zh-CN" : "en");
            check_texts(p, requests[i], &texts);
            json_decref(p);
        }
    cr_expect_gt(texts, 500, "%zu", texts);
}

Test(domain_rules, every_phase_costs_what_it_uses, .timeout = 60)
{
    size_t several = 0;
    for (size_t r = 0; r < N(requests); r++) {
        json_t *p = plan_of(requests[r]), *o, *f;
        size_t i, k;
        json_array_foreach(json_object_get(p, "options"), i, o)
        {
            int64_t sum = 0;
            json_array_foreach(json_object_get(o, "phases"), k, f)
            {
                int64_t minor = minor_of(json_object_get(f, "cost"));
                bool works = json_number_value(json_object_get(f, "hours")) > 0 &&
                             json_integer_value(json_object_get(f, "gpus")) > 0;
                cr_expect(!works || minor > 0, "%s: %s is free", requests[r], text_of(f, "code"));
                sum += minor;
                several++;
            }
            cr_expect_eq(sum, minor_of(json_object_get(json_object_get(o, "cost"), "net")), "%s", requests[r]);
        }
        json_decref(p);
    }
    cr_expect_gt(several, 100);
}

/* One machine that is too small names the card that comes nearest, with cards needed against cards there. */
Test(domain_rules, serving_exceeds_machine)
{
    json_t *p = plan_of("{\"model\":{\"preset\":\"llama-2-70b\"},\"serving\":{\"requests_per_s\":20,\"input_tokens\":"
                        "1000,\"output_tokens\":500,\"months\":24},\"constraints\":{\"city\":\"hefei\"}}");
    const json_t *n = note_of(refusals_of(p, "single_machine"), "serving_exceeds_machine"), *o;
    size_t i, kinds = 0;
    cr_assert_not_null(n);
    double need = json_number_value(json_object_get(json_object_get(n, "values"), "gpus")), fewest = INFINITY;
    double have = json_number_value(json_object_get(json_object_get(n, "values"), "have"));
    cr_expect_gt(need, have);
    cr_expect_float_eq(json_number_value(json_object_get(n, "short_by")), need - have, 1e-9);
    /* The cluster options show cards of different classes, and none of them takes fewer. */
    const char *seen[8];
    json_array_foreach(json_object_get(p, "options"), i, o)
    {
        if (strcmp(text_of(o, "kind"), "small_cluster") != 0 || kinds == N(seen))
            continue;
        const json_t *supply = json_array_get(json_object_get(o, "supply"), 0);
        for (size_t k = 0; k < kinds; k++)
            cr_expect_str_neq(text_of(supply, "gpu"), seen[k]);
        seen[kinds++] = text_of(supply, "gpu");
        double cards = json_number_value(json_object_get(supply, "gpus_per_node")) *
                       json_number_value(json_object_get(supply, "nodes"));
        fewest = fmin(fewest, cards);
    }
    cr_expect_geq(kinds, 2);
    cr_expect_leq(need, fewest);
    json_decref(p);
}

/* A service takes no more machines of a supplier than he lists. Where nobody lists as many, the figure is stated and
 * nothing is promised: the option is not feasible, by the machines that are missing. */
Test(domain_rules, more_than_listed)
{
    static const struct {
        double rate;
        bool feasible;
    } cases[] = {{2, true}, {20, true}, {2000, false}};
    for (size_t k = 0; k < N(cases); k++) {
        char w[400];
        snprintf(w, sizeof w,
                 "{\"model\":{\"preset\":\"llama-2-70b\"},\"serving\":{\"requests_per_s\":%g,\"input_tokens\":1000,"
                 "\"output_tokens\":500,\"months\":12},\"constraints\":{\"city\":\"hefei\"}}",
                 cases[k].rate);
        json_t *p = plan_of(w);
        const json_t *o, *s;
        size_t i, j;
        bool feasible = false;
        cr_assert_gt(json_array_size(json_object_get(p, "options")), 0);
        json_array_foreach(json_object_get(p, "options"), i, o)
        {
            bool over = false;
            json_array_foreach(json_object_get(o, "supply"), j, s)
            {
                const struct sku *sku = catalog_sku(client_catalog(), text_of(s, "sku"));
                cr_assert_not_null(sku);
                double cards = json_number_value(json_object_get(s, "nodes")) *
                               json_number_value(json_object_get(s, "gpus_per_node"));
                over |= cards > fmax(1, sku->max_nodes) * sku->gpus_per_node;
            }
            const json_t *why = note_of(json_object_get(o, "reasons"), "more_than_listed");
            cr_expect_eq(over, why != NULL, "%g requests/s: %s", cases[k].rate, text_of(o, "title"));
            cr_expect(!over || !json_is_true(json_object_get(o, "feasible")));
            cr_expect(!over || json_number_value(json_object_get(why, "short_by")) >= 1);
            feasible |= json_is_true(json_object_get(o, "feasible"));
        }
        cr_expect_eq(feasible, cases[k].feasible, "%g requests/s", cases[k].rate);
        cr_expect_eq(note_of(refusals_of(p, "small_cluster"), "more_than_listed") != NULL, !cases[k].feasible);
        json_decref(p);
    }
}

/* An unknown price is never zero: a job whose reserve nobody can carry has no sum at all, but the rule, by how much,
 * and what would help. Where the request leaves the precision open, fewer bits are taken and told. */
Test(domain_rules, reserve_is_a_number_or_the_kind_is_refused)
{
    static const struct {
        const char *serving;
        bool answered;
    } cases[] = {
        {"\"weight_bits\":16,\"requests_per_s\":1", false},
        {"\"weight_bits\":8,\"requests_per_s\":1", true},
        {"\"requests_per_s\":1", true},
        {"\"requests_per_s\":1,\"tpot_ms\":1", false},
    };
    for (size_t k = 0; k < N(cases); k++) {
        char w[500];
        snprintf(w, sizeof w,
                 "{\"model\":{\"preset\":\"deepseek-v3\"},\"training\":{\"method\":\"lora\",\"tokens\":1e8},"
                 "\"serving\":{%s},\"constraints\":{\"data_sensitive\":true,\"city\":\"hefei\",\"kinds\":"
                 "[\"single_machine\",\"small_cluster\"]}}",
                 cases[k].serving);
        json_t *p = plan_of(w);
        const json_t *o, *kind;
        size_t i;
        json_array_foreach(json_object_get(p, "options"), i, o)
        {
            const json_t *reserve = json_object_get(o, "inference_reserve");
            cr_expect_gt(strtod(text_of(json_object_get(reserve, "total"), "amount"), NULL), 0, "%s", cases[k].serving);
        }
        cr_expect_eq(json_array_size(json_object_get(p, "options")) > 0, cases[k].answered, "%s", cases[k].serving);
        size_t ways = 0;
        json_array_foreach(json_object_get(p, "infeasible"), i, kind)
        {
            const json_t *reasons = json_object_get(kind, "reasons");
            cr_expect(cases[k].answered || note_of(reasons, "reserve_missing") != NULL, "%s", text_of(kind, "kind"));
            const json_t *miss = note_of(reasons, "serving_no_memory");
            miss = miss != NULL ? miss : note_of(reasons, "serving_tpot_missed");
            cr_expect(cases[k].answered || json_number_value(json_object_get(miss, "short_by")) > 0);
            ways += json_array_size(json_object_get(kind, "relaxations"));
        }
        cr_expect(cases[k].answered || ways > 0, "%s: nothing would help", cases[k].serving);
        json_decref(p);
    }
}

Test(domain_rules, price_missing_names_the_offer)
{
    json_t *p = plan_of(requests[0]);
    const char *const kinds[] = {"single_machine", "small_cluster"};
    for (size_t k = 0; k < N(kinds); k++) {
        const json_t *n = note_of(refusals_of(p, kinds[k]), "price_missing");
        cr_assert_not_null(n, "%s", kinds[k]);
        cr_expect_not_null(strstr(text_of(n, "text"), "MLU370"), "%s", text_of(n, "text"));
    }
    json_decref(p);
}

/* A card without bf16 runs fp16: said, and so configured. */
Test(domain_rules, no_bf16_on_volta)
{
    json_t *p = plan_of(requests[7]), *o;
    size_t i;
    cr_assert_gt(json_array_size(json_object_get(p, "options")), 0);
    json_array_foreach(json_object_get(p, "options"), i, o)
    {
        const char *config = text_of(json_object_get(o, "launch"), "deepspeed_config");
        const json_t *n = note_of(json_object_get(o, "warnings"), "training_fp16_for_bf16");
        cr_assert_not_null(n, "option %zu says nothing", i);
        cr_expect_not_null(strstr(text_of(n, "text"), "loss scal"), "%s", text_of(n, "text"));
        cr_expect_null(strstr(config, "\"bf16\": {\"enabled\": true"), "%s", config);
    }
    json_decref(p);
    p = plan_of("{\"model\":{\"preset\":\"qwen2.5-7b\"},\"training\":{\"method\":\"full_finetune\",\"tokens\":1e9,"
                "\"precision\":\"bf16\"},\"constraints\":{\"gpus\":[\"a100-sxm4-80g\"]}}");
    json_array_foreach(json_object_get(p, "options"), i, o)
    {
        cr_expect_eq(count_code(json_object_get(o, "warnings"), "fp16"), 0);
    }
    json_decref(p);
}

/* memory_wall: where the high end of the estimate does not fit, one warning says so, and the risk score shows it. */
Test(domain_rules, memory_that_is_tight_is_told_once_and_scored)
{
    static const char *const weights[] = {"0", "1"};
    double risk[2] = {0, 0};
    for (size_t k = 0; k < 2; k++) {
        char workload[600];
        snprintf(workload, sizeof workload,
                 "{\"model\":{\"preset\":\"qwen2.5-7b\"},\"training\":{\"method\":\"full_finetune\",\"tokens\":1e8,"
                 "\"seq_len\":4096},\"constraints\":{\"kinds\":[\"single_machine\"],\"gpus\":"
                 "[\"a100-pcie-40g\",\"v100-sxm2-32g\",\"rtx-4090-24g\",\"ascend-910b2-64g\"]},"
                 "\"assumptions\":{\"risk_weight_memory\":%s}}",
                 weights[k]);
        json_t *p = plan_of(workload), *o;
        size_t i;
        json_array_foreach(json_object_get(p, "options"), i, o)
        {
            size_t told = count_code(json_object_get(o, "warnings"), "memory_tight");
            cr_expect_leq(told, 1, "told %zu times", told);
            if (told > 0 && risk[k] <= 0)
                risk[k] = json_number_value(json_object_get(json_object_get(o, "scores"), "risk"));
        }
        json_decref(p);
    }
    cr_expect_gt(risk[0], 0, "no option is tight: the case shows nothing");
    cr_expect_lt(risk[1], risk[0], "%f and %f", risk[1], risk[0]);
}

/* The order of the first two is called close only when it could easily flip, by the threshold that is printed. */
Test(domain_rules, close_orders_are_told_by_the_threshold, .timeout = 60)
{
    static const double thresholds[] = {0.5, 0.65, 0.95};
    size_t told[N(thresholds)] = {0};
    for (size_t r = 1; r < N(requests); r++)
        for (size_t t = 0; t < N(thresholds); t++) {
            char workload[1500];
            snprintf(workload, sizeof workload, "%.*s,\"assumptions\":{\"order_close_probability\":%g}}",
                     (int)strlen(requests[r]) - 1, requests[r], thresholds[t]);
            json_t *p = plan_of(workload), *n;
            size_t i;
            json_array_foreach(json_object_get(p, "warnings"), i, n)
            {
                if (strncmp(text_of(n, "code"), "order_close_", 12) != 0)
                    continue;
                double flips = json_number_value(json_object_get(json_object_get(n, "values"), "probability"));
                cr_expect_gt(flips, 1 - thresholds[t], "%s", workload);
                told[t]++;
            }
            json_decref(p);
        }
    cr_expect_lt(told[0], told[2], "%zu and %zu", told[0], told[2]);
    cr_expect_leq(told[1], told[2]);
}

/* host_memory: a job that no host of the city can hold even with offload is not told that one small card nearly does.
 */
Test(domain_rules, the_nearest_miss_is_no_single_card_of_a_job_for_hundreds)
{
    json_t *p = plan_of(requests[4]);
    const json_t *reasons = refusals_of(p, "single_machine"), *n = note_of(reasons, "memory_wall");
    cr_assert_not_null(reasons);
    cr_expect(note_of(reasons, "host_memory") != NULL || n != NULL);
    if (n != NULL)
        cr_expect_geq(json_number_value(json_object_get(json_object_get(n, "values"), "cards")), 4);
    cr_expect_not_null(note_of(refusals_of(p, "small_cluster"), "team_ceiling"));
    json_decref(p);
}

/* two_node_gate with a reading: the refusal names the machine that was measured. */
Test(domain_rules, two_node_gate_names_the_machine)
{
    json_t *p = plan_of(requests[14]);
    const json_t *n = note_of(refusals_of(p, "small_cluster"), "two_node_gate");
    cr_assert_not_null(n);
    cr_expect_not_null(strstr(text_of(n, "text"), "A100"), "%s", text_of(n, "text"));
    cr_expect_float_eq(json_number_value(json_object_get(n, "short_by")), 0.2, 1e-9);
    json_decref(p);
}

/* The inference reserve is a number even where nobody within the limits of the request runs services. */
Test(domain_rules, inference_reserve_is_a_number_in_every_city)
{
    static const char *const limits[] = {"\"city\":\"beijing\"", "\"gpus\":[\"v100-sxm2-32g\"]"};
    for (size_t k = 0; k < N(limits); k++) {
        char workload[400];
        snprintf(workload, sizeof workload,
                 "{\"model\":{\"preset\":\"qwen2.5-7b\"},\"training\":{\"method\":\"lora\",\"tokens\":1e8},"
                 "\"constraints\":{%s}}",
                 limits[k]);
        json_t *p = plan_of(workload), *o = json_array_get(json_object_get(p, "options"), 0);
        cr_assert_not_null(o, "%s", workload);
        const json_t *reserve = json_object_get(o, "inference_reserve");
        cr_expect_gt(minor_of(json_object_get(reserve, "total")), 0, "%s", workload);
        cr_expect_gt(json_integer_value(json_object_get(reserve, "gpus")), 0);
        cr_expect_not_null(note_of(json_object_get(p, "warnings"), "reserve_outside_limits"), "%s", workload);
        cr_expect_null(note_of(json_object_get(o, "warnings"), "reserve_missing"));
        json_decref(p);
    }
}

/* A change that saves nothing against what is offered already is no way out. */
Test(domain_rules, a_relaxation_beats_what_is_offered, .timeout = 60)
{
    size_t relaxed = 0;
    for (size_t r = 0; r < N(requests); r++) {
        json_t *p = plan_of(requests[r]), *relaxation, *o;
        const json_t *options = json_object_get(p, "options"), *first = json_array_get(options, 0);
        size_t i, k;
        if (!first || !json_is_true(json_object_get(first, "feasible"))) {
            json_decref(p);
            continue;
        }
        json_array_foreach(json_object_get(first, "relaxations"), i, relaxation)
        {
            const char *code = text_of(relaxation, "code");
            const char *kind =
                strcmp(code, "lora") == 0 || strcmp(code, "qlora") == 0 ? "single_machine" : text_of(first, "kind");
            relaxed++;
            json_array_foreach(options, k, o)
            {
                if (json_is_true(json_object_get(o, "feasible")) && strcmp(text_of(o, "kind"), kind) == 0)
                    cr_expect_lt(minor_of(json_object_get(relaxation, "total_cost_to_finish")),
                                 minor_of(json_object_get(o, "total_cost_to_finish")), "%s: %s", requests[r], code);
            }
        }
        json_decref(p);
    }
    cr_expect_gt(relaxed, 0);
}

/* Local IDC is 20 to 35 % cheaper than the public cloud for the same card: so the seed catalog has it, and so an
 * answer that is held to one or the other shows it. */
Test(domain_rules, local_idc_below_public_cloud)
{
    static const char *const kinds[] = {"local_idc", "public_cloud"};
    int64_t cost[2] = {0, 0};
    for (size_t k = 0; k < 2; k++) {
        struct reply r = ask((struct ask){.method = "GET", .path = "/api/v1/providers", .query = "limit=200"});
        char workload[1500] = "";
        size_t at = 0, i, named = 0;
        json_t *provider;
        cr_assert_eq(r.status, 200, "%s", r.text);
        at += (size_t)snprintf(workload, sizeof workload,
                               "{\"model\":{\"preset\":\"qwen2.5-7b\"},\"training\":{\"method\":\"lora\",\"tokens\":"
                               "1e9},\"serving\":{\"months\":0},\"constraints\":{\"gpus\":[\"a100-sxm4-80g\"],"
                               "\"kinds\":[\"single_machine\"],\"providers\":[");
        json_t *rows = json_object_get(r.json, "items");
        json_array_foreach(rows, i, provider)
        {
            if (strcmp(text_of(provider, "kind"), kinds[k]) != 0 || named >= 20)
                continue;
            at += (size_t)snprintf(workload + at, sizeof workload - at, "%s\"%s\"", named++ ? "," : "",
                                   text_of(provider, "id"));
        }
        snprintf(workload + at, sizeof workload - at, "]}}");
        cr_assert_gt(named, 0, "no %s in %s", kinds[k], r.text);
        reply_done(&r);
        json_t *p = plan_of(workload), *o = json_array_get(json_object_get(p, "options"), 0);
        cr_assert_not_null(o, "%s", workload);
        cost[k] = minor_of(json_object_get(o, "total_cost_to_finish"));
        json_decref(p);
    }
    cr_expect_lt(cost[0], cost[1]);
}
