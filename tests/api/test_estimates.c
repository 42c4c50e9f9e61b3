/* test_estimates.c — physics through the door: shapes of the answer, traces, a pasted config. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/api/client.h"

#define HARDWARE "\"hardware\": {\"gpu\": \"a100-sxm4-80g\", \"gpus_per_node\": 8, \"nodes\": 1}"

static double number_at(json_t *o, const char *a, const char *b)
{
    json_t *v = json_object_get(json_object_get(o, a), b);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

Test(estimates, one_published_case_of_every_source_answers, .timeout = 120)
{
    static const char *const suites[] = {"train-throughput", "train-memory", "train-scaling", "train-whole-run",
                                         "serve-throughput", "serve-memory", "serve-fits",    "serve-latency"};
    for (size_t s = 0; s < sizeof suites / sizeof *suites; s++) {
        char path[100], last[200] = "";
        snprintf(path, sizeof path, "tests/data/accuracy/%s.jsonl", suites[s]);
        char *text = read_file(path, NULL), *save = NULL;
        cr_assert_not_null(text);
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
            json_t *c = json_loads(line, 0, NULL);
            const char *source = json_string_value(json_object_get(c, "source"));
            if (strcmp(source, last) != 0) {
                snprintf(last, sizeof last, "%s", source);
                char *body = json_dumps(json_object_get(c, "request"), 0);
                struct reply r = ask((struct ask){.path = "/api/v1/estimates", .body = body});
                cr_expect_eq(r.status, 200, "%s %s: %s", suites[s], json_string_value(json_object_get(c, "id")),
                             r.text);
                reply_done(&r);
                free(body);
            }
            json_decref(c);
        }
        free(text);
    }
}

Test(estimates, without_an_amount_of_work_hours_are_null)
{
    struct reply r = ask((struct ask){
        .path = "/api/v1/estimates",
        .body =
            "{\"workload\": {\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"lora\"}}, " HARDWARE
            "}"});
    cr_assert_eq(r.status, 200, "%s", r.text);
    cr_expect(json_is_null(json_object_get(json_object_get(r.json, "training"), "gpu_hours")));
    cr_expect(json_is_null(json_object_get(r.json, "serving")));
    cr_expect_gt(number_at(r.json, "training", "tokens_per_s"), 0);
    cr_expect_eq(json_array_size(json_object_get(r.json, "trace")), 0);
    reply_done(&r);
}

Test(estimates, a_trace_explains_the_figures_when_asked)
{
    struct reply r = ask((struct ask){
        .path = "/api/v1/estimates",
        .body = "{\"trace\": true, \"workload\": {\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": "
                "\"lora\", \"tokens\": 1e8}}, " HARDWARE "}"});
    cr_assert_eq(r.status, 200, "%s", r.text);
    cr_expect_gt(json_array_size(json_object_get(r.json, "trace")), 3);
    cr_expect(strstr(r.text, "training.step_time_s"));
    reply_done(&r);
}

Test(estimates, a_pasted_config_is_the_model)
{
    char *config = read_file("tests/data/configs/llama-3.1-8b.json", NULL), *escaped;
    json_t *text = json_string(config);
    escaped = json_dumps(text, JSON_ENCODE_ANY);
    const char *forms[] = {config, escaped};
    for (size_t i = 0; i < 2; i++) {
        char body[4096];
        snprintf(body, sizeof body,
                 "{\"workload\": {\"model\": {\"config\": %s}, \"serving\": {\"weight_bits\": 16}}, " HARDWARE
                 ", \"layout\": {\"tp\": 1}}",
                 forms[i]);
        struct reply r = ask((struct ask){.path = "/api/v1/estimates", .body = body});
        cr_assert_eq(r.status, 200, "%s", r.text);
        cr_expect_float_eq(number_at(r.json, "model", "params_b"), 8.030261248, 1e-6);
        cr_expect_float_eq(number_at(r.json, "serving", "weights_gb"), 16.06, 0.2);
        cr_expect_float_eq(number_at(r.json, "serving", "kv_bytes_per_token"), 131072, 1);
        reply_done(&r);
    }
    struct reply r = ask((struct ask){
        .path = "/api/v1/estimates",
        .body = "{\"workload\": {\"model\": {\"config\": {\"peft_type\": \"LORA\"}}, \"serving\": {}}, " HARDWARE "}"});
    cr_expect_eq(r.status, 422);
    cr_expect(has_fault(&r, "#/workload/model/config", "config_not_understood"), "%s", r.text);
    reply_done(&r);
    json_decref(text);
    free(config);
    free(escaped);
}

Test(estimates, a_reading_above_physics_is_refused)
{
    struct reply r = ask((struct ask){
        .path = "/api/v1/estimates",
        .body =
            "{\"workload\": {\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"full_finetune\"}, "
            "\"measured\": {\"gpu\": \"a100-sxm4-80g\", \"gpus\": 8, \"tokens_per_s\": 5e9}}, " HARDWARE "}"});
    cr_expect_eq(r.status, 422, "%s", r.text);
    reply_done(&r);
}

Test(estimates, the_same_request_gives_the_same_bytes)
{
    const char *body =
        "{\"workload\": {\"model\": {\"params_b\": 13}, \"training\": {\"method\": \"full_finetune\", "
        "\"tokens\": 1e9}}, \"hardware\": {\"gpu\": \"h100-sxm5-80g\", \"gpus_per_node\": 8, \"nodes\": 4}}";
    struct reply a = ask((struct ask){.path = "/api/v1/estimates", .body = body});
    struct reply b = ask((struct ask){.path = "/api/v1/estimates", .body = body});
    cr_expect_eq(a.status, 200, "%s", a.text);
    cr_expect_str_eq(a.text, b.text);
    reply_done(&a);
    reply_done(&b);
}

Test(estimates, readings_become_a_verdict)
{
    static const char *const bodies[] = {
        "{\"iteration_times_s\": [1.0, 1.01, 0.99, 1.0, 1.02, 1.0, 0.98, 1.0, 1.01, 1.0, 1.0, 0.99]}",
        "{\"nvidia_smi_csv\": \"index, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB], power.draw "
        "[W]\\n"
        "0, NVIDIA A100-SXM4-80GB, 31 %, 79000 MiB, 81920 MiB, 150.0 W\\n\"}",
        "{\"topo\": \"\\tGPU0\\tGPU1\\tCPU Affinity\\nGPU0\\t X \\tPHB\\t0-15\\nGPU1\\tPHB\\t X \\t0-15\\n\"}"};
    for (size_t i = 0; i < 3; i++) {
        struct reply r = ask((struct ask){.path = "/api/v1/diagnoses", .body = bodies[i]});
        cr_expect_eq(r.status, 200, "%s", r.text);
        cr_expect(json_is_string(json_object_get(r.json, "verdict")));
        reply_done(&r);
    }
    static const struct {
        const char *body, *pointer, *code;
    } refusals[] = {{"{}", "#", "nothing_pasted"},
                    {"{\"smi\": \"x\"}", "#/smi", "unknown_field"},
                    {"{\"iteration_times_s\": [1, -2]}", "#/iteration_times_s/1", "out_of_range"},
                    {"{\"iteration_times_s\": 3}", "#/iteration_times_s", "wrong_type"},
                    {"{\"dmon\": 3}", "#/dmon", "wrong_type"}};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct reply r = ask((struct ask){.path = "/api/v1/diagnoses", .body = refusals[i].body});
        cr_expect_eq(r.status, 422, "%s", r.text);
        cr_expect(has_fault(&r, refusals[i].pointer, refusals[i].code), "%s", r.text);
        reply_done(&r);
    }
}

Test(estimates, a_service_with_a_model_of_its_own_needs_no_other)
{
    struct reply r = ask((struct ask){
        .path = "/api/v1/estimates",
        .body =
            "{\"workload\": {\"serving\": {\"model\": {\"preset\": \"qwen2.5-7b\"}, \"weight_bits\": 16}}, " HARDWARE
            "}"});
    cr_expect_eq(r.status, 200, "%s", r.text);
    cr_expect_gt(number_at(r.json, "serving", "weights_gb"), 14);
    reply_done(&r);
    r = ask((struct ask){.path = "/api/v1/estimates", .body = "{\"workload\": {\"serving\": {}}, " HARDWARE "}"});
    cr_expect_eq(r.status, 422);
    cr_expect(has_fault(&r, "#/workload/model", "required"), "%s", r.text);
    reply_done(&r);
    r = ask((struct ask){.path = "/api/v1/plans",
                         .body = "{\"workload\": {\"serving\": {\"model\": {\"preset\": \"qwen2.5-7b\"}, "
                                 "\"concurrency\": 8, \"months\": 3}}}"});
    cr_expect_eq(r.status, 200, "%s", r.text);
    reply_done(&r);
}
