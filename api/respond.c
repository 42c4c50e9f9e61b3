/* respond.c — responses: bodies, headers, problems. */
#include "api/respond.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/message.h"
#include "base/sha256.h"

void api_response_done(struct api_response *res)
{
    free(res->body);
    res->body = NULL;
    res->body_len = 0;
}

void respond_header(struct api_response *res, const char *name, const char *fmt, ...)
{
    if (res->n_headers == API_HEADERS_MAX)
        return;
    va_list ap;
    va_start(ap, fmt);
    res->headers[res->n_headers].name = name;
    (void)vsnprintf(res->headers[res->n_headers].value, sizeof res->headers[0].value, fmt, ap);
    va_end(ap);
    res->n_headers++;
}

static void common_headers(struct call *c, bool cacheable)
{
    respond_header(c->res, "Content-Language", "%s", c->language == LANG_EN ? "en" : "zh-CN");
    respond_header(c->res, "Vary", "Accept, Accept-Language");
    respond_header(c->res, "Cache-Control", "%s", cacheable ? "private, max-age=0, must-revalidate" : "no-store");
}

/* Whether a list such as `"a", W/"b"` names the tag. */
static bool tag_matches(const char *list, const char *tag)
{
    size_t n = strlen(tag);
    while (list && *list) {
        list += strspn(list, " \t,");
        if (*list == '*')
            return true;
        if (strncmp(list, "W/", 2) == 0)
            list += 2;
        if (strncmp(list, tag, n) == 0 && strspn(list + n, " \t,") == strcspn(list + n, "\"W*"))
            return true;
        list += strcspn(list, ",");
    }
    return false;
}

static void etag_of(const struct call *c, const char *content_type, const struct buf *body, char out[40])
{
    struct sha256 hash;
    unsigned char digest[SHA256_BYTES];
    sha256_init(&hash);
    sha256_add(&hash, content_type, strlen(content_type));
    sha256_add(&hash, c->language == LANG_EN ? "en" : "zh", 2);
    sha256_add(&hash, body->data, body->len);
    sha256_end(&hash, digest);
    size_t o = 0;
    out[o++] = '"';
    for (size_t i = 0; i < 16; i++)
        o += (size_t)snprintf(out + o, 40 - o, "%02x", digest[i]);
    out[o++] = '"';
    out[o] = '\0';
}

void respond_body(struct call *c, const char *content_type, struct buf *body)
{
    bool readable = c->route && strcmp(c->route->method, "GET") == 0;
    if (buf_failed(body) || arena_failed(c->req->arena)) {
        buf_done(body);
        respond_problem(c, API_ERROR_out_of_memory, NULL, NULL, NULL);
        return;
    }
    common_headers(c, readable);
    c->res->status = 200;
    c->res->content_type = content_type;
    if (readable) {
        char tag[40];
        etag_of(c, content_type, body, tag);
        respond_header(c->res, "ETag", "%s", tag);
        if (tag_matches(c->req->if_none_match, tag)) {
            c->res->status = 304;
            buf_done(body);
            return;
        }
    }
    c->res->body = buf_take(body, &c->res->body_len);
}

/* JSON Pointer -> URI fragment: what a fragment may not hold is percent-encoded. */
static void fragment(char out[400], const char *pointer)
{
    static const char plain[] = "-._~!$&'()*+,;=:@/?";
    size_t o = 0;
    out[o++] = '#';
    for (; *pointer && o < 395; pointer++) {
        unsigned char ch = (unsigned char)*pointer;
        if ((ch >= '0' && ch <= '9') || ((ch | 0x20) >= 'a' && (ch | 0x20) <= 'z') || strchr(plain, ch))
            out[o++] = (char)ch;
        else
            o += (size_t)snprintf(out + o, 400 - o, "%%%02X", ch);
    }
    out[o] = '\0';
}

static void write_fault(struct jw *w, const struct fault *f, const struct decode *d, size_t i)
{
    jw_object(w, NULL);
    if (f->pointer[0] == '?') {
        jw_string(w, "parameter", f->pointer + 1);
    } else {
        char at[400];
        fragment(at, f->pointer);
        jw_string(w, "pointer", at);
    }
    jw_string(w, "code", f->code);
    jw_string(w, "detail", f->detail);
    if (d && d->limits[i].has) {
        jw_object(w, "limits");
        jw_number(w, "min", d->limits[i].min);
        jw_number(w, "max", d->limits[i].max);
        jw_end_object(w);
    }
    jw_end_object(w);
}

static void write_problem(struct jw *w, const struct call *c, enum api_error error, const char *detail,
                          const struct fault_list *faults, const struct decode *d)
{
    const struct api_error_info *info = api_error_info(error);
    const char *title = message_find(c->language, "error.", info->slug);
    char type[80] = "/problems/";
    (void)snprintf(type + strlen(type), sizeof type - strlen(type), "%.60s", info->slug);
    for (char *p = type; *p; p++)
        if (*p == '_')
            *p = '-';
    jw_object(w, NULL);
    jw_string(w, "type", type);
    jw_string(w, "title", title ? title : info->title);
    jw_int(w, "status", info->status);
    jw_string(w, "detail", detail);
    jw_string(w, "instance", c->req->path);
    jw_string(w, "code", info->slug);
    jw_int(w, "number", info->number);
    jw_string(w, "request_id", c->req->request_id);
    if (d && d->place.line > 0) {
        jw_int(w, "line", d->place.line);
        jw_int(w, "column", d->place.column);
        jw_int(w, "position", (int64_t)d->place.position);
    }
    if (faults) {
        jw_array(w, "errors");
        for (size_t i = 0; i < faults->n; i++)
            write_fault(w, &faults->items[i], d, i);
        jw_end_array(w);
        if (faults->dropped)
            jw_int(w, "errors_not_shown", (int64_t)faults->dropped);
    }
    jw_end_object(w);
}

/* The last resort needs no memory at all. */
static void respond_static(struct api_response *res)
{
    res->status = 503;
    res->content_type = CONTENT_PROBLEM;
    res->body = NULL;
    res->body_len = 0;
    respond_header(res, "Retry-After", "1");
}

void respond_problem(struct call *c, enum api_error error, const char *detail, const struct fault_list *faults,
                     const struct decode *d)
{
    struct buf body;
    struct jw w = {.out = &body};
    const struct api_error_info *info = api_error_info(error);
    const char *fallback = message_find(c->language, "error_detail.", info->slug);
    c->res->n_headers = 0;
    buf_init(&body, 1u << 20);
    write_problem(&w, c, error, detail ? detail : fallback, faults, d);
    if (buf_failed(&body)) {
        buf_done(&body);
        respond_static(c->res);
        return;
    }
    common_headers(c, false);
    if (info->status == 503)
        respond_header(c->res, "Retry-After", "2");
    c->res->status = info->status;
    c->res->content_type = CONTENT_PROBLEM;
    c->res->body = buf_take(&body, &c->res->body_len);
}

void respond_faults(struct call *c, const struct decode *d)
{
    const struct fault_list *faults = d->faults;
    size_t n = faults->n + faults->dropped;
    char count[24], detail[120];
    (void)snprintf(count, sizeof count, "%zu", n);
    const char *template = message_find(c->language, "text.", n == 1 ? "one_fault" : "faults");
    struct buf text;
    buf_init(&text, sizeof detail);
    message_render(&text, template ? template : "{n}", (struct message_arg[]){{"n", count}}, 1);
    (void)snprintf(detail, sizeof detail, "%s", text.data ? text.data : count);
    buf_done(&text);
    respond_problem(c, API_ERROR_validation_error, detail, faults, d);
}

static void respond_syntax(struct call *c, const struct err *err, const struct decode *d)
{
    char detail[240], line[24], column[24];
    (void)snprintf(line, sizeof line, "%d", d->place.line);
    (void)snprintf(column, sizeof column, "%d", d->place.column);
    bool limit = err->code == ERR_LIMIT;
    const char *kind =
        c->language != LANG_EN && d->syntax ? message_find(c->language, "text.syntax_", d->syntax) : NULL;
    const char *template = message_find(c->language, "text.", limit ? "json_limit" : "json_syntax");
    struct buf text;
    buf_init(&text, 4096);
    message_render(&text, template ? template : "{why}",
                   (struct message_arg[]){{"why", limit  ? message_term(c->language, d->limit)
                                                  : kind ? kind
                                                         : err->detail},
                                          {"line", line},
                                          {"column", column}},
                   3);
    (void)snprintf(detail, sizeof detail, "%s", text.data ? text.data : err->detail);
    buf_done(&text);
    respond_problem(c, limit ? API_ERROR_json_limit : API_ERROR_malformed_json, detail, NULL, d);
}

void respond_err(struct call *c, const struct err *err, const struct decode *d)
{
    switch (err->code) {
    case ERR_NONE:
        respond_faults(c, d);
        return;
    case ERR_INVALID:
    case ERR_LIMIT:
        respond_syntax(c, err, d);
        return;
    case ERR_BUSY:
    case ERR_FULL:
        respond_problem(c, API_ERROR_overloaded, NULL, NULL, NULL);
        return;
    case ERR_NOMEM:
        respond_problem(c, API_ERROR_out_of_memory, NULL, NULL, NULL);
        return;
    case ERR_RANGE:
    case ERR_NOT_FOUND:
    case ERR_CONFLICT:
    case ERR_UNSUPPORTED:
    case ERR_CORRUPT:
    case ERR_IO:
    case ERR_INTERNAL:
    default:
        respond_problem(c, API_ERROR_internal_error, NULL, NULL, NULL);
        return;
    }
}
