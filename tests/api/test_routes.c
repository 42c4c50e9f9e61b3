/* test_routes.c — paths, methods, headers: what every answer has in common. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "api/errors.h"
#include "api/message.h"
#include "api/route.h"
#include "tests/api/client.h"

static const struct {
    const char *method, *path;
    int status;
    const char *allow;
} matches[] = {
    {"GET", "/api/v1/models", 200, NULL},
    {"HEAD", "/api/v1/models", 200, NULL},
    {"GET", "/api/v1/%6dodels", 200, NULL},
    {"GET", "/api/v1/models/qwen2.5-7b", 200, NULL},
    {"GET", "/api/v1/models/qwen2%2E5-7b", 200, NULL},
    {"GET", "/api/v1/models/nope", 404, NULL},
    {"GET", "/api/v1/models/", 404, NULL},
    {"GET", "/api/v1/models/a/b", 404, NULL},
    {"GET", "/api/v1", 404, NULL},
    {"GET", "/api/v1/", 404, NULL},
    {"GET", "/api/v2/models", 404, NULL},
    {"GET", "/", 404, NULL},
    {"GET", "//api/v1/models", 404, NULL},
    {"GET", "/api/v1/models/%00", 400, NULL},
    {"GET", "/api/v1/models/a%2Fb", 400, NULL},
    {"GET", "/api/v1/models/%zz", 400, NULL},
    {"GET", "/api/v1/models/%4", 400, NULL},
    {"GET", "/api/v1/models/%ff", 400, NULL},
    {"GET", "/api/v1/models/%C0%AF", 400, NULL},
    {"GET", "/api/v1/models/%ED%A0%80", 400, NULL},
    {"GET", "/api/v1/models/%0A", 400, NULL},
    {"GET", "api/v1/models", 400, NULL},
    {"POST", "/api/v1/models", 405, "GET, HEAD, OPTIONS"},
    {"DELETE", "/api/v1/models/qwen2.5-7b", 405, "GET, HEAD, OPTIONS"},
    {"GET", "/api/v1/estimates", 405, "POST, OPTIONS"},
    {"HEAD", "/api/v1/estimates", 405, "POST, OPTIONS"},
    {"PUT", "/api/v1/plans", 405, "GET, HEAD, POST, OPTIONS"},
    {"get", "/api/v1/models", 405, "GET, HEAD, OPTIONS"},
    {"OPTIONS", "/api/v1/plans", 204, "GET, HEAD, POST, OPTIONS"},
    {"OPTIONS", "/api/v1/gpus/x", 204, "GET, HEAD, OPTIONS"},
    {"OPTIONS", "/nope", 404, NULL},
};

Test(routes, paths_and_methods)
{
    for (size_t i = 0; i < sizeof matches / sizeof *matches; i++) {
        struct api_route_info info;
        api_match(matches[i].method, matches[i].path, &info);
        bool refused = matches[i].status >= 400 && !(matches[i].status == 404 && strstr(matches[i].path, "nope"));
        if (refused)
            cr_expect_eq(info.status, matches[i].status, "%s %s: %d", matches[i].method, matches[i].path, info.status);
        /* "/" is the form's, which is not of this folder */
        struct reply r = ask((struct ask){
            .method = matches[i].method, .path = matches[i].path, .unrecorded = strcmp(matches[i].path, "/") == 0});
        cr_expect_eq(r.status, matches[i].status, "%s %s: %d %s", matches[i].method, matches[i].path, r.status, r.text);
        if (matches[i].allow)
            cr_expect_str_eq(reply_header(&r, "Allow"), matches[i].allow, "%s", matches[i].path);
        if (r.status >= 400) {
            cr_expect_eq(json_integer_value(json_object_get(r.json, "status")), r.status);
            cr_expect_str_eq(r.content_type, "application/problem+json; charset=utf-8");
            cr_expect_str_eq(json_string_value(json_object_get(r.json, "request_id")), "test-request");
        }
        reply_done(&r);
    }
}

Test(routes, what_a_route_needs_is_known_before_its_body)
{
    struct api_route_info info;
    api_match("POST", "/api/v1/plans", &info);
    cr_expect(info.found && info.wants_body && info.run_pool);
    cr_expect_eq(info.body_max, 65536);
    cr_expect_str_eq(info.metric, "POST /api/v1/plans");
    api_match("HEAD", "/api/v1/gpus/z", &info);
    cr_expect(info.found && !info.wants_body && info.status == 0);
    cr_expect_str_eq(info.metric, "GET /api/v1/gpus/{id}");
    api_match("GET", "/x", &info);
    cr_expect_str_eq(info.metric, "unmatched");
}

Test(routes, content_type_and_size)
{
    static const struct {
        const char *type;
        int status;
    } types[] = {{"application/json", 400},
                 {"application/json; charset=UTF-8", 400},
                 {"Application/JSON", 400},
                 {"text/plain", 415},
                 {"application/jsonx", 415},
                 {"", 415},
                 {"application/json; charset=gbk", 415}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct reply r = ask((struct ask){.path = "/api/v1/plans", .body = "{", .content_type = types[i].type});
        cr_expect_eq(r.status, types[i].status, "%s: %d", types[i].type, r.status);
        reply_done(&r);
    }
    static char big[70000];
    memset(big, ' ', sizeof big - 1);
    struct reply r = ask((struct ask){.path = "/api/v1/plans", .body = big, .unrecorded = true});
    cr_expect_eq(r.status, 413);
    reply_done(&r);
}

Test(routes, a_tag_is_strong_and_knows_the_language)
{
    struct reply en = ask((struct ask){.path = "/api/v1/providers"});
    struct reply zh = ask((struct ask){.path = "/api/v1/providers", .language = "zh-CN"});
    char tag[80];
    snprintf(tag, sizeof tag, "%s", reply_header(&en, "ETag"));
    cr_assert(tag[0] == '"');
    cr_expect_str_neq(tag, reply_header(&zh, "ETag"));
    cr_expect_str_eq(reply_header(&en, "Content-Language"), "en");
    cr_expect_str_eq(reply_header(&zh, "Content-Language"), "zh-CN");
    cr_expect(strstr(reply_header(&en, "Vary"), "Accept-Language"));
    cr_expect(strstr(reply_header(&en, "Cache-Control"), "must-revalidate"));
    char weak[100], list[300];
    snprintf(weak, sizeof weak, "W/%s", tag);
    snprintf(list, sizeof list, "\"other\", %s", tag);
    const char *matching[] = {tag, weak, list, "*"};
    for (size_t i = 0; i < 4; i++) {
        struct reply r = ask((struct ask){.path = "/api/v1/providers", .if_none_match = matching[i]});
        cr_expect_eq(r.status, 304, "%s", matching[i]);
        cr_expect_eq(r.len, 0);
        cr_expect_str_eq(reply_header(&r, "ETag"), tag);
        reply_done(&r);
    }
    struct reply r = ask((struct ask){.path = "/api/v1/providers", .if_none_match = tag, .language = "zh-CN"});
    cr_expect_eq(r.status, 200);
    reply_done(&r);
    reply_done(&en);
    reply_done(&zh);
}

Test(routes, head_has_the_headers_of_get)
{
    struct reply get = ask((struct ask){.path = "/api/v1/links"}),
                 head = ask((struct ask){.method = "HEAD", .path = "/api/v1/links"});
    cr_expect(head.raw.head && !get.raw.head);
    cr_expect_str_eq(reply_header(&get, "ETag"), reply_header(&head, "ETag"));
    cr_expect_eq(get.len, head.len);
    reply_done(&get);
    reply_done(&head);
}

Test(routes, languages_by_quality)
{
    static const struct {
        const char *header;
        enum language language;
    } rows[] = {{NULL, LANG_ZH_CN},
                {"", LANG_ZH_CN},
                {"en", LANG_EN},
                {"en-GB,en;q=0.9", LANG_EN},
                {"zh-CN,zh;q=0.9,en;q=0.8", LANG_ZH_CN},
                {"zh;q=0.3, en;q=0.7", LANG_EN},
                {"fr, en;q=0.5", LANG_EN},
                {"fr", LANG_ZH_CN},
                {"en;q=0", LANG_ZH_CN},
                {"english", LANG_ZH_CN},
                {",,,;;q=,=", LANG_ZH_CN}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(message_language(rows[i].header), rows[i].language, "%s",
                     rows[i].header ? rows[i].header : "(none)");
}

Test(routes, every_public_error_has_a_number_of_its_own_and_words)
{
    api_init();
    for (int a = 0; a < API_ERROR_COUNT; a++) {
        const struct api_error_info *e = api_error_info((enum api_error)a);
        cr_expect_not_null(message_find(LANG_ZH_CN, "error.", e->slug), "%s", e->slug);
        cr_expect_str_eq(message_find(LANG_EN, "error.", e->slug), e->title);
        for (int b = 0; b < a; b++) {
            cr_expect_neq(api_error_info((enum api_error)b)->number, e->number, "%s", e->slug);
            cr_expect_str_neq(api_error_info((enum api_error)b)->slug, e->slug);
        }
        struct arena *arena = arena_new(1u << 20);
        struct api_request req = {
            .method = "GET", .path = "/x", .request_id = "r", .arena = arena, .accept_language = "en"};
        struct api_response res;
        api_problem(&req, e->slug, "why", &res);
        cr_expect_eq(res.status, e->status);
        cr_expect(strstr(res.body, e->slug));
        api_response_done(&res);
        arena_free(arena);
    }
    cr_expect_eq(api_error_by_slug("no such slug"), API_ERROR_internal_error);
}

Test(routes, nothing_needs_the_catalog_to_refuse)
{
    struct reply r = ask((struct ask){.path = "/api/v1/gpus", .no_catalog = true});
    cr_expect_eq(r.status, 503);
    cr_expect_not_null(reply_header(&r, "Retry-After"));
    reply_done(&r);
    r = ask((struct ask){.path = "/openapi.json", .no_catalog = true});
    cr_expect_eq(r.status, 200);
    reply_done(&r);
}

Test(routes, queries_are_read_strictly)
{
    static const struct {
        const char *query, *parameter, *code;
    } rows[] = {{"limit=0", "limit", "out_of_range"},
                {"limit=501", "limit", "out_of_range"},
                {"limit=x", "limit", "out_of_range"},
                {"limit=-1", "limit", "out_of_range"},
                {"color=red", "color", "unknown_parameter"},
                {"limit=1&limit=2", "limit", "duplicate_parameter"},
                {"cursor=nope", "cursor", "bad_cursor"},
                {"city=%zz", "", "bad_encoding"},
                {"%00=1", "", "bad_encoding"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct reply r = ask((struct ask){.path = "/api/v1/skus", .query = rows[i].query});
        cr_expect_eq(r.status, 422, "%s: %d", rows[i].query, r.status);
        cr_expect(has_fault(&r, rows[i].parameter, rows[i].code), "%s: %s", rows[i].query, r.text);
        reply_done(&r);
    }
}
