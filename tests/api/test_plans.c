/* test_plans.c — the main job through the door, for every example of the project. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/message.h"
#include "api/text_columns.h"
#include "tests/api/client.h"

static size_t example_names(char names[32][100])
{
    size_t n = 0;
    struct dirent *entry;
    DIR *d = opendir("examples");
    cr_assert_not_null(d);
    while ((entry = readdir(d)) && n < 32)
        if (strstr(entry->d_name, ".json"))
            snprintf(names[n++], 100, "examples/%.80s", entry->d_name);
    closedir(d);
    cr_assert_geq(n, 12);
    return n;
}

static long long minor(json_t *money)
{
    long long whole = 0;
    int cents = 0;
    const char *text = json_string_value(json_object_get(money, "amount"));
    cr_assert_not_null(text);
    sscanf(text, "%lld.%2d", &whole, &cents);
    return whole * 100 + (text[0] == '-' ? -cents : cents);
}

static void check_option(const char *name, json_t *o)
{
    json_t *cost = json_object_get(o, "cost"), *line, *value;
    long long lines = 0, sections = 0, total = minor(json_object_get(o, "total_cost_to_finish"));
    size_t i;
    const char *key;
    json_array_foreach(json_object_get(cost, "lines"), i, line)
    {
        lines += minor(json_object_get(line, "amount"));
    }
    json_object_foreach(json_object_get(cost, "by_section"), key, value)
    {
        sections += minor(value);
    }
    cr_expect_eq(lines, minor(json_object_get(cost, "net")), "%s", name);
    cr_expect_eq(sections, lines, "%s", name);
    cr_expect_eq(lines + minor(json_object_get(cost, "tax")), total, "%s", name);
    cr_expect_leq(minor(json_object_get(cost, "low")), total, "%s", name);
    cr_expect_geq(minor(json_object_get(cost, "high")), total, "%s", name);
    json_t *reserve = json_object_get(o, "inference_reserve");
    cr_expect_eq(minor(json_object_get(reserve, "total")),
                 minor(json_object_get(json_object_get(cost, "by_section"), "inference_reserve")), "%s", name);
    cr_expect_gt(json_array_size(json_object_get(o, "reasons")), 0, "%s", name);
    cr_expect(json_is_string(json_object_get(reserve, "basis")), "%s", name);
    json_t *start = json_object_get(json_array_get(json_object_get(o, "phases"), 0), "start_on");
    cr_expect_gt(
        strcmp(json_string_value(json_object_get(json_object_get(o, "finish"), "finish_on")), json_string_value(start)),
        0, "%s: finished before it starts", name);
    json_array_foreach(json_object_get(o, "supply"), i, line)
    {
        cr_expect(json_is_string(json_object_get(line, "price_as_of")), "%s", name);
        cr_expect(json_is_string(json_object_get(line, "price_source")), "%s", name);
    }
}

/* Options of every kind, or the rule that stops it. */
static void check_kinds(const char *name, json_t *plan)
{
    static const char *const kinds[] = {"single_machine", "small_cluster", "hybrid_cloud", "university_time"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t i, options = 0, refusals = 0;
        json_t *at;
        json_array_foreach(json_object_get(plan, "options"), i, at)
        {
            options += strcmp(json_string_value(json_object_get(at, "kind")), kinds[k]) == 0;
        }
        json_array_foreach(json_object_get(plan, "infeasible"), i, at)
        {
            bool this_kind = strcmp(json_string_value(json_object_get(at, "kind")), kinds[k]) == 0;
            refusals += this_kind && json_array_size(json_object_get(at, "reasons")) > 0;
        }
        cr_expect_eq(options > 0, refusals == 0, "%s: %s: %zu options, %zu refusals", name, kinds[k], options,
                     refusals);
    }
}

/* What is said of the recommended option holds against all others: dates as they are shown. */
static void check_recommendation(const char *name, json_t *plan)
{
    json_t *options = json_object_get(plan, "options"), *first = json_array_get(options, 0), *o;
    const char *code =
        json_string_value(json_object_get(json_object_get(json_object_get(plan, "summary"), "reason"), "code"));
    const char *finish = json_string_value(json_object_get(json_object_get(first, "finish"), "finish_on"));
    size_t i;
    json_array_foreach(options, i, o)
    {
        const char *other = json_string_value(json_object_get(json_object_get(o, "finish"), "finish_on"));
        if (i == 0 || !json_is_true(json_object_get(o, "feasible")))
            continue;
        if (strcmp(code, "fastest_feasible") == 0)
            cr_expect_lt(strcmp(finish, other), 0, "%s: %s is not the only one first", name, finish);
        if (strncmp(code, "cheapest", 8) == 0)
            cr_expect_leq(minor(json_object_get(first, "total_cost_to_finish")),
                          minor(json_object_get(o, "total_cost_to_finish")), "%s", name);
    }
}

Test(plans, every_example_adds_up_and_repeats_to_the_byte, .timeout = 120)
{
    char names[32][100];
    size_t n = example_names(names);
    for (size_t k = 0; k < n; k++) {
        char *body = read_file(names[k], NULL);
        struct reply a = ask((struct ask){.path = "/api/v1/plans", .body = body});
        struct reply b = ask((struct ask){.path = "/api/v1/plans", .body = body});
        cr_assert_eq(a.status, 200, "%s: %s", names[k], a.text);
        cr_expect_str_eq(a.text, b.text, "%s is not deterministic", names[k]);
        cr_expect_null(strstr(a.text, "99999999"), "%s: a rounding tail", names[k]);
        size_t i;
        json_t *o;
        json_array_foreach(json_object_get(a.json, "options"), i, o)
        {
            check_option(names[k], o);
            cr_expect_eq(json_integer_value(json_object_get(o, "rank")), (json_int_t)i + 1);
        }
        check_kinds(names[k], a.json);
        check_recommendation(names[k], a.json);
        reply_done(&a);
        reply_done(&b);
        free(body);
    }
}

Test(plans, every_sentence_has_its_words_in_both_languages, .timeout = 120)
{
    char names[32][100];
    size_t n = example_names(names);
    for (size_t k = 0; k < n; k++)
        for (int zh = 0; zh < 2; zh++) {
            char *body = read_file(names[k], NULL);
            struct reply r = ask((struct ask){.path = "/api/v1/plans", .body = body, .language = zh ? "zh-CN" : "en"});
            const char *at = r.text;
            while ((at = strstr(at, "\"code\":\""))) {
                char code[80] = "", text[80] = "";
                sscanf(at, "\"code\":\"%79[^\"]\",\"text\":\"%79[^\"]\"", code, text);
                cr_expect(strcmp(code, text) != 0 || message_find(LANG_EN, "term.", code), "%s: no words for %s",
                          names[k], code);
                cr_expect_null(strchr(text, '{'), "%s: %s leaves a placeholder: %s", names[k], code, text);
                at += 8;
            }
            reply_done(&r);
            free(body);
        }
}

Test(plans, the_table_stays_within_80_columns, .timeout = 120)
{
    char names[32][100];
    size_t n = example_names(names);
    for (size_t k = 0; k < n; k++)
        for (int zh = 0; zh < 2; zh++) {
            size_t len;
            char *body = read_file(names[k], &len), *save = NULL;
            struct arena *arena = arena_new(16u << 20);
            struct api_request req = {.method = "POST",
                                      .path = "/api/v1/plans",
                                      .content_type = "application/json",
                                      .body = body,
                                      .body_len = len,
                                      .catalog = client_catalog(),
                                      .today = date_from_civil(2026, 11, 30),
                                      .arena = arena};
            struct api_response res;
            api_plan_text(&req, zh ? "zh-CN" : "en", &res);
            cr_assert_eq(res.status, 200);
            for (char *line = strtok_r(res.body, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
                cr_expect_leq(text_width(line), 80, "%s: %s", names[k], line);
            api_response_done(&res);
            arena_free(arena);
            free(body);
        }
}

Test(plans, a_refusal_is_readable_on_a_terminal)
{
    struct arena *arena = arena_new(4u << 20);
    const char *body = "{\"workload\": {\"model\": {\"params_b\": -7}}}";
    struct api_request req = {.method = "POST",
                              .path = "/api/v1/plans",
                              .content_type = "application/json",
                              .body = body,
                              .body_len = strlen(body),
                              .catalog = client_catalog(),
                              .today = date_from_civil(2026, 11, 30),
                              .arena = arena};
    struct api_response res;
    api_plan_text(&req, "en", &res);
    cr_expect_eq(res.status, 422);
    cr_expect(strstr(res.body, "/workload/model/params_b"), "%s", res.body);
    api_response_done(&res);
    arena_free(arena);
}

#define QUERY "p=7&m=lora&tok=2e8&st=2027-01-04&city=hefei&mon=0"
#define BODY                                                                                                           \
    "{\"workload\": {\"model\": {\"params_b\": 7}, \"training\": {\"method\": \"lora\", \"tokens\": 2e8}, "            \
    "\"serving\": {\"months\": 0}, \"constraints\": {\"start_on\": \"2027-01-04\", \"city\": \"hefei\"}}}"

Test(plans, get_with_aliases_is_the_same_plan_as_post)
{
    struct reply get = ask((struct ask){.path = "/api/v1/plans", .query = QUERY});
    struct reply post = ask((struct ask){.path = "/api/v1/plans", .body = BODY});
    cr_assert_eq(get.status, 200, "%s", get.text);
    cr_expect_str_eq(get.text, post.text);
    cr_expect_not_null(reply_header(&get, "ETag"));
    cr_expect_null(reply_header(&post, "ETag"));
    struct reply again = ask(
        (struct ask){.path = "/api/v1/plans.json", .query = QUERY "&t=5", .if_none_match = reply_header(&get, "ETag")});
    cr_expect_eq(again.status, 304);
    reply_done(&again);
    again = ask((struct ask){.path = "/api/v1/plans.json", .query = QUERY, .accept = "text/csv"});
    cr_expect_str_eq(again.text, get.text, "the suffix wins over Accept");
    reply_done(&again);
    reply_done(&get);
    reply_done(&post);
}

Test(plans, get_takes_dotted_names_lists_and_money)
{
    struct reply r = ask((struct ask){
        .path = "/api/v1/plans",
        .query =
            "model=qwen2.5-7b&m=lora&tok=2e8&st=2027-01-04&training.seq_len=2048&gpus=a100-sxm4-80g,H100-80G&bud=300000"
            "&kinds=single_machine&assumptions.month_hours=720&mix=0&lang=en&sens=true&mgpu=a100-sxm4-80g&mtps=9000"});
    cr_expect_eq(r.status, 200, "%s", r.text);
    cr_expect_str_eq(json_string_value(json_object_get(r.json, "language")), "en");
    reply_done(&r);
}

Test(plans, get_names_the_parameter_at_fault)
{
    static const struct {
        const char *query, *parameter, *code;
    } rows[] = {{"p=7&m=lora&tok=many", "tok", "not_a_number"},
                {"p=7&m=lora&tok=-1", "tok", "out_of_range"},
                {"p=7&m=magic&tok=1e9", "m", "unknown_value"},
                {"p=7&m=lora&tok=1e9&zz=1", "zz", "unknown_parameter"},
                {"p=7&m=lora&tok=1e9&training.color=1", "training.color", "unknown_parameter"},
                {"p=7&m=lora&tok=1e9&training=1", "training", "unknown_parameter"},
                {"p=7&m=lora&tok=1e9&dl=2026-01-01", "dl", "in_the_past"},
                {"p=7&m=lora&tok=1e9&bud=a", "bud", "not_money"},
                {"p=7&m=lora&tok=1e9&sens=maybe", "sens", "not_a_boolean"},
                {"p=7&m=lora&tok=1e9&format=xml", "format", "unknown_value"},
                {"p=0x10&m=lora&tok=1e9", "p", "not_a_number"},
                {"p=inf&m=lora&tok=1e9", "p", "not_a_number"},
                {"p=1e999&m=lora&tok=1e9", "p", "out_of_range"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct reply r = ask((struct ask){.path = "/api/v1/plans", .query = rows[i].query});
        cr_expect_eq(r.status, 422, "%s: %d", rows[i].query, r.status);
        cr_expect(has_fault(&r, rows[i].parameter, rows[i].code), "%s: %s", rows[i].query, r.text);
        reply_done(&r);
    }
}

static size_t cells_of(const char *line)
{
    size_t cells = 1;
    bool quoted = false;
    for (; *line && (quoted || strncmp(line, "\r\n", 2) != 0); line++) {
        quoted ^= *line == '"';
        cells += *line == ',' && !quoted;
    }
    return cells;
}

Test(plans, csv_is_what_excel_wants)
{
    struct reply r = ask((struct ask){.path = "/api/v1/plans.csv", .query = QUERY});
    cr_assert_eq(r.status, 200);
    cr_expect_str_eq(r.content_type, "text/csv; charset=utf-8; header=present");
    cr_expect_eq(memcmp(r.text, "\xEF\xBB\xBFplan_id,", 11), 0);
    size_t header = cells_of(r.text), rows = 0;
    for (const char *at = r.text; (at = strstr(at, "\r\n")); at += 2)
        if (at[2]) {
            cr_expect_eq(cells_of(at + 2), header, "%s", at + 2);
            rows++;
        }
    cr_expect_gt(rows, 0);
    for (size_t i = 0; i < r.len; i++)
        cr_expect(r.text[i] != '\n' || (i && r.text[i - 1] == '\r'));
    struct reply bare = ask((struct ask){.path = "/api/v1/plans", .query = QUERY "&bom=0&format=csv"});
    cr_expect_str_eq(bare.text, r.text + 3);
    struct reply accepted = ask((struct ask){.path = "/api/v1/plans", .body = BODY, .accept = "text/csv"});
    cr_expect_str_eq(accepted.text, r.text);
    struct reply zh = ask((struct ask){.path = "/api/v1/plans.csv", .query = QUERY "&headers=zh"});
    cr_expect(strstr(zh.text, "价税合计"));
    cr_expect_eq(cells_of(zh.text), header);
    reply_done(&zh);
    reply_done(&accepted);
    reply_done(&bare);
    reply_done(&r);
}

Test(plans, a_sheet_may_ask_for_some_columns)
{
    struct reply r = ask((struct ask){.path = "/api/v1/plans.csv", .query = QUERY "&cols=gross_cny,rank&bom=0"});
    cr_assert_eq(r.status, 200, "%s", r.text);
    cr_expect_eq(strncmp(r.text, "rank,gross_cny\r\n1,", 18), 0, "%s", r.text);
    reply_done(&r);
    r = ask((struct ask){.path = "/api/v1/plans.csv", .query = QUERY "&cols=gross_cny,colour"});
    cr_expect_eq(r.status, 422);
    cr_expect(has_fault(&r, "cols", "unknown_column"), "%s", r.text);
    reply_done(&r);
}

Test(plans, another_currency_names_its_columns)
{
    struct reply r = ask((struct ask){.path = "/api/v1/plans.csv", .query = QUERY "&cur=USD&bom=0"});
    cr_expect_eq(r.status, 200, "%s", r.text);
    cr_expect(strstr(r.text, "gross_usd,") && !strstr(r.text, "_cny"));
    reply_done(&r);
}

Test(plans, the_workload_language_wins_over_the_header)
{
    struct reply r = ask((struct ask){.path = "/api/v1/plans", .query = QUERY "&lang=zh-CN", .language = "en"});
    cr_expect_str_eq(reply_header(&r, "Content-Language"), "zh-CN");
    reply_done(&r);
}
