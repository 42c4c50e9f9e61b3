/* test_training_rules.c — what must hold of any estimate of training, asked at the door as a caller would. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/api/client.h"

/* An answer to {"workload": {"model": M, "training": T}, "hardware": H, "layout": L}; the caller owns it. */
static json_t *estimate(const char *model, const char *training, const char *hardware, const char *layout)
{
    char body[2048];
    snprintf(body, sizeof body,
             "{\"workload\": {\"model\": {%s}, \"training\": {%s}}, \"hardware\": {%s}, \"layout\": {%s}}", model,
             training, hardware, layout);
    struct reply r = ask((struct ask){.path = "/api/v1/estimates", .body = body});
    cr_assert_eq(r.status, 200, "%s: %s", body, r.text);
    json_t *own = json_incref(r.json);
    reply_done(&r);
    return own;
}

static double number(const json_t *o, const char *a, const char *b)
{
    const json_t *v = json_object_get(json_object_get(o, a), b);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static double take(json_t *o, const char *a, const char *b)
{
    double v = number(o, a, b);
    json_decref(o);
    return v;
}

static bool fits(json_t *o)
{
    bool no = strcmp(json_string_value(json_object_get(o, "fits")), "no") == 0;
    json_decref(o);
    return !no;
}

static const char *format(char *buffer, size_t size, const char *pattern, ...) __attribute__((format(printf, 3, 4)));
static const char *format(char *buffer, size_t size, const char *pattern, ...)
{
    va_list args;
    va_start(args, pattern);
    vsnprintf(buffer, size, pattern, args);
    va_end(args);
    return buffer;
}

#define A100(nodes) "\"gpu\": \"a100-sxm4-80g\", \"gpus_per_node\": 8, \"nodes\": " #nodes
#define NETWORK(kind, gbps) ", \"inter_link\": {\"kind\": \"" kind "\", \"gbps_per_node\": " #gbps "}"

Test(training_rules, qlora_lora_full_memory)
{
    const char *presets[] = {"qwen2.5-0.5b", "llama-3.1-8b", "qwen2.5-14b", "mixtral-8x7b", "llama-3.1-70b"};
    const char *methods[] = {"qlora", "lora", "full_finetune"};
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        double before = 0;
        for (int m = 0; m < 3; m++) {
            char model[80], training[160];
            format(model, sizeof model, "\"preset\": \"%s\"", presets[i]);
            format(training, sizeof training, "\"method\": \"%s\", \"seq_len\": 2048, \"global_batch\": 64",
                   methods[m]);
            double now = take(estimate(model, training, A100(1),
                                       "\"tp\": 1, \"sharding\": \"zero3\", \"micro_batch\": 1, \"recompute\": "
                                       "\"full\", \"offload\": \"none\""),
                              "memory", "total_gb");
            cr_expect_geq(now, before, "%s: %s", presets[i], methods[m]);
            before = now;
        }
    }
}

Test(training_rules, more_cards_never_need_more_memory_each_under_sharding)
{
    const char *stages[] = {"zero1", "zero2", "zero3"};
    for (int s = 0; s < 3; s++) {
        double before = INFINITY;
        for (int nodes = 1; nodes <= 64; nodes *= 2) {
            char hardware[120], layout[160];
            format(hardware, sizeof hardware, "\"gpu\": \"h100-sxm5-80g\", \"gpus_per_node\": 8, \"nodes\": %d", nodes);
            format(layout, sizeof layout,
                   "\"tp\": 1, \"pp\": 1, \"sharding\": \"%s\", \"micro_batch\": 1, \"recompute\": \"full\"",
                   stages[s]);
            double now =
                take(estimate("\"preset\": \"llama-2-13b\"",
                              "\"method\": \"pretrain\", \"seq_len\": 4096, \"global_batch\": 2048", hardware, layout),
                     "memory", "total_gb");
            cr_expect_leq(now, before, "%s on %d nodes", stages[s], nodes);
            before = now;
        }
    }
}

Test(training_rules, time_never_grows_with_a_faster_link)
{
    const int gbps[] = {10, 25, 100, 200, 400, 800, 1600, 3200};
    const char *kinds[] = {"ethernet", "roce", "infiniband"};
    const char *methods[] = {"pretrain", "full_finetune", "lora"};
    for (int m = 0; m < 3; m++) {
        double by_kind[8] = {0};
        for (int k = 0; k < 3; k++) {
            double before = 0;
            for (int i = 0; i < 8; i++) {
                char hardware[200], training[120];
                format(hardware, sizeof hardware, A100(4) ", \"inter_link\": {\"kind\": \"%s\", \"gbps_per_node\": %d}",
                       kinds[k], gbps[i]);
                format(training, sizeof training, "\"method\": \"%s\", \"seq_len\": 2048, \"global_batch\": 256",
                       methods[m]);
                double now =
                    take(estimate("\"preset\": \"qwen2.5-14b\"", training, hardware, ""), "training", "tokens_per_s");
                cr_expect_geq(now, before * (1 - 1e-9), "%s over %s at %d Gbit/s", methods[m], kinds[k], gbps[i]);
                cr_expect_geq(now, by_kind[i] * (1 - 1e-9), "%s over %s against the kind before", methods[m], kinds[k]);
                before = by_kind[i] = now;
            }
        }
    }
    const char *inside[] = {"pcie3", "pcie4", "pcie5", "nvswitch"};
    double before = 0;
    for (int i = 0; i < 4; i++) {
        char hardware[160];
        format(hardware, sizeof hardware, "\"gpu\": \"h100-sxm5-80g\", \"gpus_per_node\": 8, \"intra_link\": \"%s\"",
               inside[i]);
        double now = take(estimate("\"preset\": \"llama-3.1-70b\"",
                                   "\"method\": \"lora\", \"seq_len\": 4096, \"global_batch\": 64", hardware,
                                   "\"sharding\": \"zero3\", \"micro_batch\": 1"),
                          "training", "tokens_per_s");
        cr_expect_geq(now, before, "%s", inside[i]);
        before = now;
    }
}

Test(training_rules, twice_the_tokens_are_twice_the_gpu_hours)
{
    const char *methods[] = {"pretrain", "full_finetune", "lora", "qlora"};
    for (int m = 0; m < 4; m++) {
        double hours[2];
        for (int k = 0; k < 2; k++) {
            char training[160];
            format(training, sizeof training, "\"method\": \"%s\", \"seq_len\": 2048, \"tokens\": %g", methods[m],
                   3e9 * (k + 1));
            hours[k] = take(estimate("\"preset\": \"qwen2.5-7b\"", training, A100(2), ""), "training", "gpu_hours");
        }
        cr_expect_float_eq(hours[1] / hours[0], 2, 1e-4, "%s: %g and %g", methods[m], hours[0], hours[1]);
    }
}

Test(training_rules, memory_wall)
{
    const char *full = "\"method\": \"full_finetune\", \"seq_len\": 2048, \"global_batch\": 8";
    const char *unsharded =
        "\"tp\": 1, \"pp\": 1, \"sharding\": \"none\", \"micro_batch\": 1, \"recompute\": \"full\", "
        "\"offload\": \"none\"";
    cr_expect_not(fits(estimate("\"preset\": \"llama-3.1-70b\"", full, A100(1), unsharded)), "70B on 8 x 80 GB");
    cr_expect_not(
        fits(estimate("\"preset\": \"llama-2-7b\"", full, "\"gpu\": \"a100-sxm4-80g\"", "\"offload\": \"none\"")),
        "7B on one card of 80 GB");
    cr_expect(
        fits(estimate("\"preset\": \"llama-2-7b\"", full, "\"gpu\": \"a100-sxm4-80g\", \"gpus_per_node\": 4", "")),
        "7B on four");
}

Test(training_rules, scaling_single_node)
{
    const char *cards[] = {"rtx-3090-24g", "rtx-4090-24g", "a100-pcie-80g", "v100-pcie-32g"};
    const char *vision = "\"method\": \"custom\", \"flops_per_sample\": 12.3e9, \"state_gb\": 0.41, "
                         "\"activation_gb_per_sample\": 0.1, \"samples\": 1e6";
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        double rate[2];
        for (int k = 0; k < 2; k++) {
            char body[600];
            format(body, sizeof body,
                   "{\"workload\": {\"training\": {%s}}, \"hardware\": {\"gpu\": \"%s\", \"gpus_per_node\": %d%s}}",
                   vision, cards[i], k ? 4 : 1, k ? ", \"intra_link\": \"pcie4\"" : "");
            struct reply r = ask((struct ask){.path = "/api/v1/estimates", .body = body});
            cr_assert_eq(r.status, 200, "%s", r.text);
            rate[k] = number(r.json, "training", "samples_per_s");
            reply_done(&r);
        }
        cr_expect(rate[1] / rate[0] >= 2.5 && rate[1] / rate[0] <= 3.3, "%s: four give %.2f", cards[i],
                  rate[1] / rate[0]);
    }
}

/* Two nodes against one of a 13B model; the same over a network that shards should not cross. */
Test(training_rules, two_node_gate_and_fabric_bound)
{
    const char *model = "\"preset\": \"llama-2-13b\"";
    const char *zero3 = "\"sharding\": \"zero3\", \"micro_batch\": 2, \"recompute\": \"full\"";
    const char *methods[] = {"pretrain", "full_finetune"};
    for (int m = 0; m < 2; m++) {
        for (int open = 0; open < 2; open++) {
            char job[120];
            format(job, sizeof job, "\"method\": \"%s\", \"seq_len\": 2048, \"global_batch\": 128", methods[m]);
            const char *layout = open ? "" : zero3;
            double alone = take(estimate(model, job, A100(1), layout), "training", "tokens_per_s");
            double both =
                take(estimate(model, job, A100(2) NETWORK("infiniband", 1600), layout), "training", "tokens_per_s");
            cr_expect(both / alone >= 1.5 && both / alone <= 1.95, "%s%s: InfiniBand gives %.3f", methods[m],
                      open ? ", open layout" : "", both / alone);
            double slow =
                take(estimate(model, job, A100(2) NETWORK("ethernet", 10), zero3), "training", "tokens_per_s");
            cr_expect_lt(slow / alone, 0.7, "%s: 10G Ethernet gives %.2f", methods[m], slow / alone);
        }
    }
    json_t *trap = estimate(model, "\"method\": \"pretrain\", \"seq_len\": 2048, \"global_batch\": 256",
                            A100(2) NETWORK("ethernet", 10), zero3);
    char *said = json_dumps(json_object_get(trap, "warnings"), 0);
    cr_expect_not_null(strstr(said, "training_sharding_over_ethernet"), "the trap is named: %s", said);
    cr_expect_not_null(strstr(said, "training_slower_than_one_node"), "and what it comes to");
    free(said);
    json_decref(trap);
}

Test(training_rules, small_model_penalty)
{
    const char *training = "\"method\": \"pretrain\", \"seq_len\": 2048, \"global_batch\": 32";
    const char *models[] = {"\"params_b\": 1", "\"preset\": \"llama-3.2-1b\""};
    for (int i = 0; i < 2; i++) {
        double one = take(estimate(models[i], training, A100(1), ""), "training", "tokens_per_s");
        double four =
            take(estimate(models[i], training, A100(4) NETWORK("ethernet", 10), ""), "training", "tokens_per_s");
        cr_expect_lt(four, one, "%s: four nodes of 10G Ethernet", models[i]);
    }
}

Test(training_rules, every_term_of_memory_is_listed_and_they_add_up)
{
    static const char *const terms[] = {"weights_gb", "gradients_gb", "optimizer_gb", "activations_gb",
                                        "logits_gb",  "buffers_gb",   "overhead_gb"};
    const char *methods[] = {"pretrain", "full_finetune", "lora", "qlora"};
    for (int m = 0; m < 4; m++) {
        char training[120];
        format(training, sizeof training, "\"method\": \"%s\", \"seq_len\": 4096, \"global_batch\": 64", methods[m]);
        json_t *o = estimate("\"preset\": \"llama-3.1-8b\"", training, A100(1), "");
        double sum = 0;
        for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
            cr_expect_geq(number(o, "memory", terms[i]), 0, "%s", terms[i]);
            sum += number(o, "memory", terms[i]);
        }
        cr_expect_float_eq(sum, number(o, "memory", "total_gb"), 1e-3 * sum);
        cr_expect(number(o, "memory", "low_gb") < sum && sum < number(o, "memory", "high_gb"));
        const char *tightest = json_string_value(json_object_get(json_object_get(o, "memory"), "tightest_term"));
        cr_expect(tightest != NULL && tightest[0] != '\0');
        json_decref(o);
    }
}

Test(training_rules, the_runner_up_is_told_with_what_it_lost_to)
{
    json_t *o =
        estimate("\"preset\": \"llama-3.1-70b\"", "\"method\": \"pretrain\", \"seq_len\": 4096, \"global_batch\": 512",
                 "\"gpu\": \"h100-sxm5-80g\", \"gpus_per_node\": 8, \"nodes\": 8", "");
    const json_t *second = json_object_get(o, "runner_up"), *reason = json_object_get(second, "reason");
    cr_assert(json_is_object(second));
    cr_expect_not(json_equal(json_object_get(second, "layout"), json_object_get(o, "layout")));
    cr_expect_eq(strncmp(json_string_value(json_object_get(reason, "code")), "layout_runner_up_", 17), 0);
    const char *text = json_string_value(json_object_get(reason, "text"));
    cr_expect(text != NULL && strchr(text, '{') == NULL && strlen(text) > 20, "%s", text);
    json_decref(o);
}

/* Constants by card, precision and class with their evidence, as the service loaded them. */
Test(training_rules, constants_are_shown_with_their_evidence)
{
    static const char *const names[] = {"train.matmul/hopper", "train.fp8_gain",          "train.tcp_share",
                                        "train.run_large",     "train.failure_gpu_hours", "train.band_dense"};
    struct reply r = ask((struct ask){.method = "GET", .path = "/api/v1/assumptions", .query = "limit=500"});
    cr_assert_eq(r.status, 200, "%s", r.text);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool found = false;
        size_t k;
        json_t *row;
        json_array_foreach(json_object_get(r.json, "items"), k, row)
        {
            const char *key = json_string_value(json_object_get(row, "key"));
            if (key == NULL || strcmp(key, names[i]) != 0)
                continue;
            found = true;
            cr_expect(json_is_number(json_object_get(row, "value")), "%s", names[i]);
            const char *evidence = json_string_value(json_object_get(row, "evidence"));
            const char *source = json_string_value(json_object_get(row, "source"));
            cr_expect(evidence != NULL && source != NULL && strlen(evidence) > 2 && strlen(source) > 5, "%s", names[i]);
        }
        cr_expect(found, "%s is shown", names[i]);
    }
    reply_done(&r);
}

static bool explained(const json_t *trace, const char *group, const char *figure, double value)
{
    char name[100];
    format(name, sizeof name, "%s.%s", group, figure);
    size_t i;
    json_t *step;
    json_array_foreach(trace, i, step)
    {
        if (strcmp(json_string_value(json_object_get(step, "name")), name) != 0)
            continue;
        const char *formula = json_string_value(json_object_get(step, "formula"));
        const double traced = json_number_value(json_object_get(step, "value"));
        return formula != NULL && formula[0] != '\0' && fabs(traced - value) <= 1e-6 * fabs(value) + 1e-12;
    }
    return false;
}

/* Every number of an answer, whatever the method, with its formula. */
Test(training_rules, a_trace_explains_every_figure)
{
    static const char *const trainings[] = {
        "\"method\": \"pretrain\", \"seq_len\": 4096, \"tokens\": 1e11",
        "\"method\": \"qlora\", \"seq_len\": 2048, \"tokens\": 1e8, \"packed\": false, \"mean_len\": 600",
        "\"method\": \"custom\", \"flops_per_sample\": 12e9, \"state_gb\": 0.4, \"activation_gb_per_sample\": 0.1, "
        "\"samples\": 1e7, \"dataset_gb\": 1000"};
    static const char *const groups[] = {"memory", "training"};
    for (int k = 0; k < 3; k++) {
        char body[900];
        format(body, sizeof body,
               "{\"trace\": true, \"workload\": {%s\"training\": {%s}}, \"hardware\": {" A100(
                   2) ", "
                      "\"inter_link\": {\"kind\": \"roce\", \"gbps_per_node\": 400}}}",
               k < 2 ? "\"model\": {\"preset\": \"llama-3.1-8b\"}, " : "", trainings[k]);
        struct reply r = ask((struct ask){.path = "/api/v1/estimates", .body = body});
        cr_assert_eq(r.status, 200, "%s", r.text);
        int figures = 0;
        for (int g = 0; g < 2; g++) {
            const char *key;
            json_t *value;
            json_object_foreach(json_object_get(r.json, groups[g]), key, value)
            {
                if (!json_is_number(value) || json_number_value(value) == 0)
                    continue;
                figures++;
                cr_expect(explained(json_object_get(r.json, "trace"), groups[g], key, json_number_value(value)),
                          "%s.%s of case %d", groups[g], key, k);
            }
        }
        cr_expect_gt(figures, 12);
        reply_done(&r);
    }
}
