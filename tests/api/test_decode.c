/* test_decode.c — bodies become workloads, and every refusal comes back at once with its pointer. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/decode.h"
#include "base/buf.h"
#include "tests/api/client.h"

static int decode_line(const char *text, size_t len, struct decoded_estimate *ret, struct fault_list *faults)
{
    struct arena *arena = arena_new(4u << 20);
    struct decode d;
    struct err err = {0};
    decode_init(&d, client_catalog(), arena, LANG_EN, date_from_civil(2026, 11, 30), faults);
    int rc = decode_estimate_request(&d, text, len, ret, &err);
    if (rc && err.code != ERR_NONE)
        fprintf(stderr, "%s line %d column %d\n", err.detail, d.place.line, d.place.column);
    arena_free(arena);
    return rc;
}

Test(decode, every_published_measurement_is_understood)
{
    static const char *const suites[] = {"serve-fits",          "serve-latency",      "serve-memory",
                                         "serve-single-stream", "serve-throughput",   "train-memory",
                                         "train-scaling",       "train-scaling-hard", "train-throughput"};
    size_t cases = 0;
    for (size_t s = 0; s < sizeof suites / sizeof *suites; s++) {
        char path[100];
        snprintf(path, sizeof path, "tests/data/accuracy/%s.jsonl", suites[s]);
        char *text = read_file(path, NULL), *save = NULL;
        cr_assert_not_null(text, "%s", path);
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
            json_t *c = json_loads(line, 0, NULL);
            char *request = json_dumps(json_object_get(c, "request"), 0);
            struct decoded_estimate *e = calloc(1, sizeof *e);
            struct fault_list faults;
            int rc = decode_line(request, strlen(request), e, &faults);
            cr_expect_eq(rc, 0, "%s %s: %s %s", suites[s], json_string_value(json_object_get(c, "id")),
                         faults.n ? faults.items[0].pointer : "", faults.n ? faults.items[0].detail : "");
            cases++;
            free(e);
            free(request);
            json_decref(c);
        }
        free(text);
    }
    cr_assert_gt(cases, 3000);
}

#define WORKLOAD(rest) "{\"workload\": {\"model\": {\"params_b\": 7}, \"training\": {\"method\": \"lora\", " rest "}}"
#define TOKENS "\"tokens\": 1000000"

static const struct {
    const char *what, *body, *pointer, *code;
} refusals[] = {
    {"unknown member", WORKLOAD(TOKENS ", \"tokenz\": 1}"), "#/workload/training/tokenz", "unknown_field"},
    {"unknown member at the root", "{\"workload\": {\"model\": {\"params_b\": 7}}, \"x\": 1}", "#/x", "unknown_field"},
    {"wrong type", WORKLOAD("\"tokens\": \"many\"}"), "#/workload/training/tokens", "wrong_type"},
    {"integer as a real", WORKLOAD(TOKENS ", \"seq_len\": 4096.0}"), "#/workload/training/seq_len", "wrong_type"},
    {"out of range", WORKLOAD(TOKENS ", \"seq_len\": 0}"), "#/workload/training/seq_len", "out_of_range"},
    {"beyond int", WORKLOAD(TOKENS ", \"seq_len\": 5000000000}"), "#/workload/training/seq_len", "out_of_range"},
    {"negative amount", WORKLOAD("\"tokens\": -5}"), "#/workload/training/tokens", "out_of_range"},
    {"outside physics", WORKLOAD("\"tokens\": 1e300}"), "#/workload/training/tokens", "out_of_range"},
    {"half a token", WORKLOAD("\"tokens\": 1.5}"), "#/workload/training/tokens", "not_whole"},
    {"unknown method",
     "{\"workload\": {\"model\": {\"params_b\": 7}, \"training\": {\"method\": \"magic\", " TOKENS "}}}",
     "#/workload/training/method", "unknown_value"},
    {"no amount of work", WORKLOAD("\"seq_len\": 4096}"), "#/workload/training", "required"},
    {"two amounts of work", WORKLOAD(TOKENS ", \"samples\": 5}"), "#/workload/training", "mutually_exclusive"},
    {"kv_heads not dividing heads",
     "{\"workload\": {\"model\": {\"layers\": 32, \"hidden\": 4096, \"heads\": 32, \"kv_heads\": 5}, \"training\": "
     "{\"method\": \"lora\", " TOKENS "}}}",
     "#/workload/model/kv_heads", "kv_heads_not_dividing"},
    {"deadline before start",
     WORKLOAD(TOKENS "}, \"constraints\": {\"start_on\": \"2027-02-01\", \"deadline_on\": \"2027-01-01\"}"),
     "#/workload/constraints/deadline_on", "impossible_pair"},
    {"deadline in the past", WORKLOAD(TOKENS "}, \"constraints\": {\"deadline_on\": \"2026-01-01\"}"),
     "#/workload/constraints/deadline_on", "in_the_past"},
    {"no such day", WORKLOAD(TOKENS "}, \"constraints\": {\"start_on\": \"2027-02-30\"}"),
     "#/workload/constraints/start_on", "not_a_date"},
    {"two loads",
     "{\"workload\": {\"model\": {\"params_b\": 7}, \"serving\": {\"requests_per_s\": 1, \"concurrency\": 2}}}",
     "#/workload/serving", "mutually_exclusive"},
    {"no work at all", "{\"workload\": {\"model\": {\"params_b\": 7}}}", "#/workload", "required"},
    {"no model", "{\"workload\": {\"training\": {\"method\": \"lora\", " TOKENS "}}}", "#/workload/model", "required"},
    {"unknown preset",
     "{\"workload\": {\"model\": {\"preset\": \"gpt-9\"}, \"training\": {\"method\": \"lora\", " TOKENS "}}}",
     "#/workload/model/preset", "unknown_preset"},
    {"a long name of wide characters",
     "{\"workload\": {\"model\": {\"preset\": \"大模型大模型大模型大模型大模型大模型大模型大模型大模型\"}, "
     "\"training\": {\"method\": \"lora\", " TOKENS "}}}",
     "#/workload/model/preset", "unknown_preset"},
    {"preset and architecture",
     "{\"workload\": {\"model\": {\"preset\": \"qwen2.5-7b\", \"layers\": 3}, \"training\": {\"method\": "
     "\"lora\", " TOKENS "}}}",
     "#/workload/model/layers", "one_of"},
    {"unknown GPU", WORKLOAD(TOKENS "}, \"constraints\": {\"gpus\": [\"a100-sxm4-80g\", \"z80\"]}"),
     "#/workload/constraints/gpus/1", "unknown_gpu"},
    {"unknown kind", WORKLOAD(TOKENS "}, \"constraints\": {\"kinds\": [\"barge\"]}"), "#/workload/constraints/kinds/0",
     "unknown_value"},
    {"money as a number",
     WORKLOAD(TOKENS "}, \"constraints\": {\"budget\": {\"amount\": 200000, \"currency\": \"CNY\"}}"),
     "#/workload/constraints/budget/amount", "wrong_type"},
    {"money with three decimals",
     WORKLOAD(TOKENS "}, \"constraints\": {\"budget\": {\"amount\": \"1.234\", \"currency\": \"CNY\"}}"),
     "#/workload/constraints/budget/amount", "not_money"},
    {"negative money",
     WORKLOAD(TOKENS "}, \"constraints\": {\"budget\": {\"amount\": \"-1.00\", \"currency\": \"CNY\"}}"),
     "#/workload/constraints/budget/amount", "out_of_range"},
    {"unknown currency", WORKLOAD(TOKENS "}, \"currency\": \"XTS\""), "#/workload/currency", "unknown_currency"},
    {"unknown assumption", WORKLOAD(TOKENS "}, \"assumptions\": {\"moon_phase\": 1}"),
     "#/workload/assumptions/moon_phase", "unknown_assumption"},
    {"measured without its card", WORKLOAD(TOKENS "}, \"measured\": {\"tokens_per_s\": 100}"),
     "#/workload/measured/gpu", "required"},
    {"a slash in a name", WORKLOAD(TOKENS "}, \"a/b~c\": 1"), "#/workload/a~1b~0c", "unknown_field"},
    {"control character", WORKLOAD(TOKENS "}, \"name\": \"a\\u0007b\""), "#/workload/name", "control_character"},
    {"workload is an array", "{\"workload\": []}", "#/workload", "wrong_type"},
    {"nothing", "{}", "#/workload", "required"},
    {"root is an array", "[]", "#", "wrong_type"},
};

Test(decode, every_refusal_has_its_pointer_and_code)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        for (int zh = 0; zh < 2; zh++) {
            struct reply r =
                ask((struct ask){.path = "/api/v1/plans", .body = refusals[i].body, .language = zh ? "zh-CN" : "en"});
            cr_expect_eq(r.status, 422, "%s: %d %s", refusals[i].what, r.status, r.text);
            cr_expect(has_fault(&r, refusals[i].pointer, refusals[i].code), "%s: %s", refusals[i].what, r.text);
            cr_expect_str_eq(r.content_type, "application/problem+json; charset=utf-8");
            cr_expect_null(strchr(r.text, '{') == r.text ? NULL : r.text);
            reply_done(&r);
        }
}

Test(decode, all_faults_at_once)
{
    struct reply r = ask((struct ask){
        .path = "/api/v1/plans",
        .body = "{\"workload\": {\"model\": {\"layers\": 32, \"hidden\": 4096, \"heads\": 32, \"kv_heads\": 5},"
                "\"training\": {\"method\": \"lora\", \"tokens\": -1, \"runs\": \"two\", \"color\": 1},"
                "\"serving\": {\"requests_per_s\": 1, \"concurrency\": 2},"
                "\"constraints\": {\"start_on\": \"2027-03-01\", \"deadline_on\": \"2027-01-01\"}}, \"extra\": true}"});
    cr_assert_eq(r.status, 422);
    cr_expect(has_fault(&r, "#/workload/model/kv_heads", "kv_heads_not_dividing"));
    cr_expect(has_fault(&r, "#/workload/training/tokens", "out_of_range"));
    cr_expect(has_fault(&r, "#/workload/training/runs", "wrong_type"));
    cr_expect(has_fault(&r, "#/workload/training/color", "unknown_field"));
    cr_expect(has_fault(&r, "#/workload/serving", "mutually_exclusive"));
    cr_expect(has_fault(&r, "#/workload/constraints/deadline_on", "impossible_pair"));
    cr_expect(has_fault(&r, "#/extra", "unknown_field"));
    cr_expect_eq(json_array_size(json_object_get(r.json, "errors")), 7, "%s", r.text);
    reply_done(&r);
}

static const struct {
    const char *what, *body;
    int line, column;
    const char *code;
} broken[] = {
    {"empty", "", 1, 0, "malformed_json"},
    {"cut off", "{\"workload\": {", 1, 14, "malformed_json"},
    {"second line", "{\n  \"workload\" 1}", 2, 14, "malformed_json"},
    {"duplicate member", "{\"a\": 1, \"a\": 2}", 1, 12, "malformed_json"},
    {"NaN", "{\"a\": NaN}", 1, 0, "malformed_json"},
    {"leading zero", "{\"a\": 01}", 1, 0, "malformed_json"},
    {"number beyond double", "{\"a\": 1e400}", 1, 0, "malformed_json"},
    {"trailing data", "{} x", 1, 4, "malformed_json"},
    {"byte order mark", "\xEF\xBB\xBF{}", 1, 0, "malformed_json"},
    {"scalar", "3", 1, 0, "malformed_json"},
    {"17 levels", "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", 1, 17, "json_limit"},
};

Test(decode, not_parseable_is_a_400_with_line_and_column)
{
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct reply r = ask((struct ask){.path = "/api/v1/plans", .body = broken[i].body});
        cr_expect_eq(r.status, 400, "%s: %d", broken[i].what, r.status);
        cr_expect_str_eq(json_string_value(json_object_get(r.json, "code")), broken[i].code, "%s", broken[i].what);
        cr_expect_eq(json_integer_value(json_object_get(r.json, "line")), broken[i].line, "%s", broken[i].what);
        struct reply zh = ask((struct ask){.path = "/api/v1/plans", .body = broken[i].body, .language = "zh-CN"});
        const char *detail = json_string_value(json_object_get(zh.json, "detail"));
        cr_expect(detail && strstr(detail, "行第") && !strstr(detail, "expected"), "%s: %s", broken[i].what, zh.text);
        reply_done(&zh);
        long long column = json_integer_value(json_object_get(r.json, "column"));
        cr_expect(broken[i].column ? column == broken[i].column : column >= 1, "%s: %s", broken[i].what, r.text);
        reply_done(&r);
    }
}

Test(decode, limits_of_depth_count_and_length)
{
    struct buf many, lengthy;
    buf_init(&many, 1 << 20);
    buf_init(&lengthy, 1 << 20);
    buf_adds(&many, "{\"a\": [0");
    for (size_t i = 0; i < 20001; i++)
        buf_adds(&many, ",0");
    buf_adds(&many, "]}");
    buf_adds(&lengthy, "{\"workload\": {\"name\": \"");
    for (size_t i = 0; i < 5000; i++)
        buf_addc(&lengthy, 'x');
    buf_adds(&lengthy, "\"}}");
    const char *bodies[] = {many.data, lengthy.data};
    for (size_t i = 0; i < 2; i++) {
        struct reply r = ask((struct ask){.path = "/api/v1/plans", .body = bodies[i], .unrecorded = true});
        cr_expect_eq(r.status, 400);
        cr_expect_str_eq(json_string_value(json_object_get(r.json, "code")), "json_limit", "%s", r.text);
        reply_done(&r);
    }
    buf_done(&many);
    buf_done(&lengthy);
}

Test(decode, amounts_may_be_written_as_reals)
{
    static const char *const forms[] = {"2000000000", "2e9", "2.0e9", "2E+9"};
    for (size_t i = 0; i < 4; i++) {
        char body[300];
        snprintf(body, sizeof body,
                 "{\"workload\": {\"model\": {\"params_b\": 7}, \"training\": {\"method\": \"lora\", \"tokens\": %s}}, "
                 "\"hardware\": {\"gpu\": \"A100-SXM4-80G\"}}",
                 forms[i]);
        struct decoded_estimate e;
        struct fault_list faults;
        cr_expect_eq(decode_line(body, strlen(body), &e, &faults), 0, "%s", forms[i]);
        cr_expect_float_eq(e.workload.training.tokens, 2e9, 0);
        cr_expect_str_eq(e.shape.gpu->id, "a100-sxm4-80g");
    }
}

Test(decode, a_layout_that_cannot_be_is_refused)
{
    struct reply r = ask((struct ask){
        .path = "/api/v1/estimates",
        .body = "{\"workload\": {\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"pretrain\"}},"
                "\"hardware\": {\"gpu\": \"h100-sxm5-80g\", \"gpus_per_node\": 8}, \"layout\": {\"tp\": 5}}"});
    cr_assert_eq(r.status, 422);
    cr_expect(has_fault(&r, "#/layout/tp", "impossible_pair"), "%s", r.text);
    reply_done(&r);
}
