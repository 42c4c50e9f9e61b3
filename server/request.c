/* request.c — the life of a request, from its request line to its access line in the log.
 *
 *   request_begin      the request line is in: allocate, start the clock
 *   request_access     HEAD: guard, route, refusals known without the body; BODY: collect or swallow; then answer
 *                      inline or on a worker; READY: back from the worker
 *   request_completed  the one place that frees, counts and logs, whether the client waited or went away
 *
 * A refusal that is known at the head is still not sent while a small body is on its way: libmicrohttpd would close
 * with unread data and the client would see a reset instead of the status. So up to SWALLOW_MAX bytes are read and
 * dropped first, unless the client asked with Expect: 100-continue.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "server/log.h"
#include "server/srv.h"

#define SWALLOW_MAX ((uint64_t)1 << 20)

static const char route_static[] = "GET static", route_unknown[] = "unknown";

void *request_begin(void *cls, const char *uri, struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct request *r = calloc(1, sizeof *r);
    uint64_t random = 0;
    if (r == NULL)
        return NULL;
    r->srv = cls;
    r->mhd = c;
    r->conn = info != NULL ? info->socket_context : NULL;
    r->started_ns = srv_now();
    r->route = route_unknown;
    r->target = strdup(uri);
    buf_init(&r->body, 0);
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        random = r->started_ns;
    snprintf(r->id, sizeof r->id, "%016llx", (unsigned long long)random);
    if (r->conn != NULL) {
        r->conn->request = r;
        conn_enter(r->conn, CONN_READING);
    }
    return r;
}

struct collected {
    struct guard_header headers[GUARD_HEADERS_MAX];
    size_t n;
};

static enum MHD_Result collect(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_len, const char *value,
                               size_t value_len)
{
    struct collected *all = cls;
    (void)kind;
    if (all->n < GUARD_HEADERS_MAX)
        all->headers[all->n] =
            (struct guard_header){name, value != NULL ? value : "", name_len, value != NULL ? value_len : 0};
    all->n++;
    return MHD_YES;
}

static char *copy_header(struct request *r, const char *name)
{
    return arena_strdup(r->arena, MHD_lookup_connection_value(r->mhd, MHD_HEADER_KIND, name));
}

/* Everything a worker will read is copied or counted before it starts. */
static int fill(struct request *r, const char *method)
{
    char *query = strchr(r->target, '?');
    if (query != NULL)
        *query++ = '\0';
    r->path = r->target;
    r->query = query != NULL ? query : "";
    r->snapshot = snapshot_ref(r->srv->store.cell);
    r->method = arena_strdup(r->arena, method);
    r->accept_encoding = copy_header(r, "Accept-Encoding");
    r->api = (struct api_request){.method = r->method,
                                  .path = r->path,
                                  .query = r->query,
                                  .content_type = copy_header(r, "Content-Type"),
                                  .accept = copy_header(r, "Accept"),
                                  .accept_language = copy_header(r, "Accept-Language"),
                                  .if_none_match = copy_header(r, "If-None-Match"),
                                  .request_id = r->id,
                                  .catalog = r->snapshot != NULL ? snapshot_catalog(r->snapshot) : NULL,
                                  .today = date_from_unix(time(NULL)),
                                  .arena = r->arena};
    return arena_failed(r->arena) ? -1 : 0;
}

static bool refuse(struct request *r, const char *slug, const char *detail)
{
    reply_problem(r, slug, detail);
    r->refused = true;
    return false;
}

/* Which answer this will be; false when it is a refusal. */
static bool route(struct request *r)
{
    r->own_route = ops_owns(r->path, &r->route);
    if (!r->own_route && (r->asset = assets_find(&r->srv->assets, r->path)) != NULL)
        r->route = route_static;
    if (r->own_route || r->asset != NULL) {
        r->info.found = true;
        if (strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0)
            return true;
        r->asset = NULL;
        bool asked = strcmp(r->method, "OPTIONS") == 0;
        refuse(r, "method_not_allowed", NULL);
        r->res.n_headers = 1;
        r->res.headers[0].name = "Allow";
        snprintf(r->res.headers[0].value, sizeof r->res.headers[0].value, "GET, HEAD, OPTIONS");
        if (asked) {
            api_response_done(&r->res);
            r->res.body = NULL;
            r->res.body_len = 0;
            r->res.status = 204;
        }
        return false;
    }
    api_match(r->method, r->path, &r->info);
    if (r->info.metric != NULL)
        r->route = r->info.metric;
    if (!r->info.found || r->info.status != 0) {
        api_handle(&r->api, &r->res); /* 404, 405 with Allow, OPTIONS */
        r->refused = true;
        return false;
    }
    if (r->info.wants_body && !api_is_json(r->api.content_type))
        return refuse(r, "unsupported_media_type", NULL);
    if (r->facts.has_body && !r->info.wants_body)
        return refuse(r, "bad_request", NULL);
    if (r->facts.content_length > r->info.body_max)
        return refuse(r, "body_too_large", NULL);
    buf_init(&r->body, r->info.body_max);
    return true;
}

/* A request that nobody can trust the end of: answer and close. */
static enum MHD_Result refuse_framing(struct request *r, const struct err *err)
{
    r->srv->metrics.framing_refused++;
    r->api.request_id = r->id;
    r->api.method = "GET";
    r->api.path = "/";
    r->api.query = "";
    r->api.arena = r->arena;
    r->api.accept_language = copy_header(r, "Accept-Language");
    refuse(r, "bad_request", err->detail);
    r->close = true;
    return reply_send(r);
}

static enum MHD_Result on_head(struct request *r, const char *method)
{
    struct collected all;
    struct err err = {0};
    all.n = 0;
    r->stage = REQUEST_BODY;
    r->arena = arena_new((size_t)r->srv->config->request_memory_kib * 1024);
    if (r->arena == NULL || r->target == NULL)
        return MHD_NO;
    MHD_get_connection_values_n(r->mhd, MHD_HEADER_KIND, collect, &all);
    const struct guard_request request = {method, r->target, all.headers, all.n};
    if (guard_check(&request, &r->facts, &err) != 0)
        return refuse_framing(r, &err);
    if (fill(r, method) != 0)
        return MHD_NO;
    if (route(r) || !r->facts.has_body)
        return MHD_YES;
    if (!r->facts.expects_continue && r->facts.content_length <= SWALLOW_MAX)
        return MHD_YES;
    r->close = true;
    return reply_send(r);
}

static enum MHD_Result on_body(struct request *r, const char *data, size_t *size)
{
    size_t n = *size;
    *size = 0;
    if (!r->refused && r->body.len + n <= r->info.body_max) {
        buf_add(&r->body, data, n);
        return buf_failed(&r->body) ? MHD_NO : MHD_YES;
    }
    if (!r->refused) {
        r->swallowed = r->body.len;
        buf_done(&r->body);
        refuse(r, "body_too_large", NULL);
    }
    r->swallowed += n;
    return r->swallowed <= r->info.body_max + SWALLOW_MAX ? MHD_YES : MHD_NO;
}

static enum MHD_Result answer(struct request *r)
{
    if (r->refused || r->asset != NULL)
        return reply_send(r);
    if (r->own_route) {
        ops_answer(r);
        reply_code(r);
        return reply_send(r);
    }
    r->api.body = r->body.data;
    r->api.body_len = r->body.len;
    if (r->info.run_pool)
        return work_submit(r);
    api_handle(&r->api, &r->res);
    reply_code(r);
    return reply_send(r);
}

enum MHD_Result request_access(void *cls, struct MHD_Connection *c, const char *url, const char *method,
                               const char *version, const char *upload, size_t *upload_size, void **context)
{
    struct request *r = *context;
    (void)cls, (void)c, (void)url, (void)version;
    if (r == NULL || r->conn == NULL)
        return MHD_NO;
    switch (r->stage) {
    case REQUEST_HEAD:
        return on_head(r, method);
    case REQUEST_BODY:
        return *upload_size > 0 ? on_body(r, upload, upload_size) : answer(r);
    case REQUEST_READY:
        return reply_send(r);
    case REQUEST_WORKING: /* suspended: MHD does not come here */
    case REQUEST_QUEUED:
        break;
    }
    return MHD_NO;
}

void request_completed(void *cls, struct MHD_Connection *c, void **context, enum MHD_RequestTerminationCode code)
{
    struct srv *s = cls;
    struct request *r = *context;
    (void)c;
    if (r == NULL)
        return;
    *context = NULL;
    uint64_t took = srv_now() - r->started_ns;
    bool aborted = code != MHD_REQUEST_TERMINATED_COMPLETED_OK;
    struct log_line l;
    metrics_request(&s->metrics, r->route, r->status, took);
    s->metrics.aborted += aborted;
    s->metrics.response_bytes += r->sent;
    log_start(&l, LOG_INFO, "request");
    log_text(&l, "req", r->id);
    log_text(&l, "method", r->method);
    log_text(&l, "path", r->target);
    log_int(&l, "status", r->status);
    log_ms(&l, "ms", took);
    if (r->work_ns > 0)
        log_ms(&l, "work_ms", r->work_ns);
    log_int(&l, "bytes", (int64_t)r->sent);
    log_text(&l, "err", !aborted ? NULL : r->conn != NULL && r->conn->cut ? "deadline" : "aborted");
    log_end(&l);
    if (r->conn != NULL) {
        r->conn->request = NULL;
        conn_enter(r->conn, CONN_IDLE);
    }
    api_response_done(&r->res);
    buf_done(&r->body);
    snapshot_unref(r->snapshot);
    arena_free(r->arena);
    free(r->target);
    free(r);
}
