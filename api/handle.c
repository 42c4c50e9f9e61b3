/* handle.c — the life of one request inside api/: match, check, call the handler; never fails. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/decode.h"
#include "api/message.h"
#include "api/respond.h"

void api_match(const char *method, const char *path, struct api_route_info *ret)
{
    memset(ret, 0, sizeof *ret);
    const struct route *r = route_find(method, path, NULL, &ret->status, ret->allow);
    ret->found = ret->status != 404 && ret->status != 400;
    ret->metric = r ? r->metric : ret->status == 204 ? "OPTIONS" : "unmatched";
    if (ret->status == 204)
        ret->status = 0;
    if (r) {
        ret->wants_body = (r->flags & ROUTE_BODY) != 0;
        ret->run_pool = (r->flags & ROUTE_POOL) != 0;
        ret->body_max = r->body_max;
    }
}

bool api_is_json(const char *content_type)
{
    static const char wanted[] = "application/json";
    if (!content_type || strncasecmp(content_type, wanted, sizeof wanted - 1) != 0)
        return false;
    const char *rest = content_type + sizeof wanted - 1;
    if (*rest != '\0' && *rest != ';' && *rest != ' ')
        return false;
    const char *charset = strcasestr(rest, "charset=");
    if (!charset)
        return true;
    charset += sizeof "charset=" - 1;
    charset += *charset == '"';
    return strncasecmp(charset, "utf-8", 5) == 0;
}

static void refuse_unmatched(struct call *c, int status, const char *allow)
{
    if (status == 204) {
        c->res->status = 204;
        respond_header(c->res, "Allow", "%s", allow);
        return;
    }
    respond_problem(c,
                    status == 405   ? API_ERROR_method_not_allowed
                    : status == 404 ? API_ERROR_not_found
                                    : API_ERROR_bad_path,
                    NULL, NULL, NULL);
    if (status == 405)
        respond_header(c->res, "Allow", "%s", allow);
}

static void refuse_size(struct call *c)
{
    char kib[24], detail[120];
    struct buf text;
    const char *template = message_find(c->language, "text.", "body_limit");
    (void)snprintf(kib, sizeof kib, "%zu", c->route->body_max / 1024);
    buf_init(&text, 1024);
    message_render(&text, template ? template : "{kib} KiB", (struct message_arg[]){{"kib", kib}}, 1);
    (void)snprintf(detail, sizeof detail, "%s", text.data ? text.data : kib);
    buf_done(&text);
    respond_problem(c, API_ERROR_body_too_large, detail, NULL, NULL);
}

static bool refuse_body(struct call *c)
{
    if (!(c->route->flags & ROUTE_BODY))
        return false;
    if (!api_is_json(c->req->content_type))
        respond_problem(c, API_ERROR_unsupported_media_type, NULL, NULL, NULL);
    else if (c->req->body_len > c->route->body_max)
        refuse_size(c);
    else
        return false;
    return true;
}

void api_handle(const struct api_request *req, struct api_response *res)
{
    memset(res, 0, sizeof *res);
    struct call c = {.req = req, .res = res, .language = message_language(req->accept_language)};
    char allow[64];
    int status;
    res->head = strcmp(req->method, "HEAD") == 0;
    c.route = route_find(req->method, req->path, c.id, &status, allow);
    if (!c.route) {
        refuse_unmatched(&c, status, allow);
        return;
    }
    if (refuse_body(&c))
        return;
    if ((c.route->flags & ROUTE_CATALOG) && !req->catalog) {
        respond_problem(&c, API_ERROR_catalog_unavailable, NULL, NULL, NULL);
        return;
    }
    struct decode d;
    struct fault_list faults;
    decode_init(&d, req->catalog, req->arena, c.language, req->today, &faults);
    route_query(req->query, req->arena, &c.query, &faults);
    if (faults.n) {
        decode_localise(&d, 0);
        respond_faults(&c, &d);
        return;
    }
    c.route->handle(&c);
}

void api_problem(const struct api_request *req, const char *slug, const char *detail, struct api_response *res)
{
    memset(res, 0, sizeof *res);
    struct call c = {.req = req, .res = res, .language = message_language(req->accept_language)};
    res->head = req->method && strcmp(req->method, "HEAD") == 0;
    enum api_error error = api_error_by_slug(slug);
    char allow[64];
    int status;
    if (error == API_ERROR_body_too_large && !detail &&
        (c.route = route_find(req->method, req->path, c.id, &status, allow)))
        refuse_size(&c);
    else
        respond_problem(&c, error, detail, NULL, NULL);
}
