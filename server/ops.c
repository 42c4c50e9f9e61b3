/* ops.c — what operators and supervisors ask: liveness, readiness, metrics. None of it does I/O. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/offers/engine.h"
#include "server/srv.h"

static const char *const routes[][2] = {
    {"/healthz", "GET /healthz"}, {"/readyz", "GET /readyz"}, {"/metrics", "GET /metrics"}};

bool ops_owns(const char *path, const char **ret_route)
{
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (strcmp(path, routes[i][0]) == 0) {
            *ret_route = routes[i][1];
            return true;
        }
    return false;
}

bool ops_ready(const struct srv *s)
{
    return s->state == SRV_RUNNING && !s->db_status.corrupt && !s->db_failing;
}

static void put(struct request *r, int status, const char *type, struct buf *body)
{
    r->res.status = status;
    r->res.content_type = type;
    r->res.body = buf_take(body, &r->res.body_len);
    if (r->res.body == NULL)
        r->res.status = 503;
}

static void metrics(struct request *r, struct buf *body)
{
    const struct srv *s = r->srv;
    struct metrics_gauges gauges = {.in_flight = s->in_flight,
                                    .connections = s->n_conns,
                                    .max_in_flight = (size_t)s->config->max_in_flight,
                                    .catalog_revision = r->api.catalog != NULL ? r->api.catalog->revision : 0,
                                    .schema_version = s->db_status.schema_version,
                                    .db_writable = s->db_status.writable,
                                    .db_corrupt = s->db_status.corrupt,
                                    .ready = ops_ready(s),
                                    .db_busy_retries = s->db_status.busy_retries,
                                    .uptime_ns = srv_now() - s->started_ns,
                                    .version = engine_version()};
    metrics_write(&s->metrics, &gauges, body);
    put(r, 200, "text/plain; version=0.0.4; charset=utf-8", body);
}

void ops_answer(struct request *r)
{
    const struct srv *s = r->srv;
    struct buf body;
    buf_init(&body, (size_t)1 << 20);
    if (strcmp(r->path, "/metrics") == 0) {
        metrics(r, &body);
        return;
    }
    if (strcmp(r->path, "/healthz") == 0) {
        buf_adds(&body, "{\"status\":\"alive\"}\n");
        put(r, 200, "application/json; charset=utf-8", &body);
        return;
    }
    bool ready = ops_ready(s);
    buf_addf(&body, "{\"status\":\"%s\",\"catalog_revision\":%lld,\"schema_version\":%d,\"engine_version\":\"%s\"}\n",
             ready                     ? "ready"
             : s->db_status.corrupt    ? "database_corrupt"
             : s->state != SRV_RUNNING ? "shutting_down"
                                       : "database_failing",
             r->api.catalog != NULL ? (long long)r->api.catalog->revision : 0LL, s->db_status.schema_version,
             engine_version());
    put(r, ready ? 200 : 503, "application/json; charset=utf-8", &body);
}
