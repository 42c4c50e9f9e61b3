/* client.c — see client.h. */
#include "tests/api/client.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/money.h"
#include "base/sha256.h"
#include "tests/support/test_catalog.h"

struct catalog *client_catalog(void)
{
    api_init();
    return test_catalog_bound();
}

/* build/<variant>/recorded, beside the suite's own folder. */
static const char *record_folder(void)
{
    static char folder[600];
    if (!folder[0]) {
        ssize_t n = readlink("/proc/self/exe", folder, 500);
        cr_assert(n > 0);
        folder[n] = '\0';
        for (int up = 0; up < 2; up++)
            *strrchr(folder, '/') = '\0';
        strncat(folder, "/recorded", sizeof folder - strlen(folder) - 1);
        mkdir(folder, 0755);
    }
    return folder;
}

static json_t *body_value(const char *text, size_t len)
{
    json_t *v = text && len ? json_loadb(text, len, JSON_DECODE_ANY, NULL) : NULL;
    return v ? v : len ? json_stringn_nocheck(text, len) : json_null();
}

static void record(const struct ask *a, const struct reply *r)
{
    char path[900], hash[SHA256_HEX];
    json_t *pair = json_pack("{s:s, s:s, s:s, s:o, s:i, s:s, s:o}", "method", a->method, "path", a->path, "query",
                             a->query ? a->query : "", "request", body_value(a->body, a->body ? strlen(a->body) : 0),
                             "status", r->status, "content_type", r->content_type, "response",
                             r->json ? json_incref(r->json) : body_value(r->text, r->len));
    char *text = pair ? json_dumps(pair, JSON_SORT_KEYS | JSON_INDENT(1)) : NULL;
    if (!text) /* not UTF-8: nothing that a schema could describe */
        return;
    sha256_hex(text, strlen(text), hash);
    snprintf(path, sizeof path, "%s/%.24s.json", record_folder(), hash);
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f, "%s", path);
    fputs(text, f);
    fclose(f);
    free(text);
    json_decref(pair);
}

struct reply ask(struct ask a)
{
    struct reply r = {0};
    struct arena *arena = arena_new(16u << 20);
    a.method = a.method ? a.method : a.body ? "POST" : "GET";
    struct api_request req = {.method = a.method,
                              .path = a.path,
                              .query = a.query,
                              .content_type = a.content_type ? a.content_type
                                              : a.body       ? "application/json"
                                                             : NULL,
                              .accept = a.accept,
                              .accept_language = a.language ? a.language : "en",
                              .if_none_match = a.if_none_match,
                              .request_id = "test-request",
                              .body = a.body,
                              .body_len = a.body ? strlen(a.body) : 0,
                              .catalog = a.no_catalog ? NULL : client_catalog(),
                              .today = date_from_civil(2026, 11, 30),
                              .arena = arena};
    api_init();
    api_handle(&req, &r.raw);
    r.status = r.raw.status;
    r.len = r.raw.body_len;
    r.text = calloc(1, r.len + 1);
    if (r.raw.body)
        memcpy(r.text, r.raw.body, r.len);
    snprintf(r.content_type, sizeof r.content_type, "%s", r.raw.content_type ? r.raw.content_type : "");
    if (strstr(r.content_type, "json"))
        r.json = json_loadb(r.text, r.len, JSON_REJECT_DUPLICATES, NULL);
    api_response_done(&r.raw);
    arena_free(arena);
    if (!a.unrecorded)
        record(&a, &r);
    return r;
}

void reply_done(struct reply *r)
{
    free(r->text);
    json_decref(r->json);
}

const char *reply_header(const struct reply *r, const char *name)
{
    for (size_t i = 0; i < r->raw.n_headers; i++)
        if (strcmp(r->raw.headers[i].name, name) == 0)
            return r->raw.headers[i].value;
    return NULL;
}

bool has_fault(const struct reply *r, const char *pointer, const char *code)
{
    size_t i;
    json_t *e;
    json_array_foreach(json_object_get(r->json, "errors"), i, e)
    {
        const char *at = json_string_value(json_object_get(e, pointer[0] == '#' ? "pointer" : "parameter"));
        const char *has = json_string_value(json_object_get(e, "code"));
        if (at && has && strcmp(at, pointer) == 0 && strcmp(has, code) == 0)
            return true;
    }
    return false;
}

const char *shared_path(const char *below)
{
    static char path[600];
    const char *root = getenv("SUANPAN_SHARED");
    snprintf(path, sizeof path, "%s/%s", root ? root : "../shared", below);
    if (access(path, R_OK) == 0)
        return path;
    fprintf(stderr, "SKIPPED: %s is not there (set SUANPAN_SHARED)\n", path);
    return NULL;
}

char *read_file(const char *path, size_t *ret_len)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *text = calloc(1, (size_t)n + 1);
    size_t got = fread(text, 1, (size_t)n, f);
    fclose(f);
    if (ret_len)
        *ret_len = got;
    return text;
}

const char *text_of(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s != NULL ? s : "";
}

int64_t minor_of(const json_t *money)
{
    int64_t minor = 0;
    const char *amount = json_string_value(json_object_get(money, "amount"));
    cr_assert_not_null(amount);
    cr_assert_eq(money_parse_minor(amount, &minor), 0, "%s", amount);
    return minor;
}

const json_t *note_of(const json_t *notes, const char *code)
{
    size_t i;
    json_t *n;
    json_array_foreach(notes, i, n) if (strcmp(text_of(n, "code"), code) == 0) return n;
    return NULL;
}

bool has_code(const json_t *notes, const char *code)
{
    return note_of(notes, code) != NULL;
}

json_t *plan_in(const char *workload, const char *language)
{
    char body[3000];
    snprintf(body, sizeof body, "{\"workload\": %s}", workload);
    struct reply r = ask((struct ask){.path = "/api/v1/plans", .body = body, .language = language});
    cr_assert_eq(r.status, 200, "%d for %s: %s", r.status, workload, r.text);
    json_t *plan = json_incref(r.json);
    reply_done(&r);
    return plan;
}

const json_t *refusals_of(const json_t *plan, const char *kind)
{
    size_t i;
    json_t *refused;
    json_array_foreach(json_object_get(plan, "infeasible"), i, refused)
    {
        if (strcmp(text_of(refused, "kind"), kind) == 0)
            return json_object_get(refused, "reasons");
    }
    return NULL;
}

double number_of(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}
