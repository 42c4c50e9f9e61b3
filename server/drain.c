/* drain.c — SIGTERM: what is in flight gets its answer, then the process goes.
 *
 *   1. grace      /readyz says 503, everything is still served (drain-grace-ms; 0 skips it)
 *   2. draining   the listening socket is closed, every answer says Connection: close, idle connections are shut
 *   3. stop       when no work and no connection is left, or at drain-limit-ms: then waiting work is cancelled and
 *                 answered 503, sockets are shut, and only work that already runs is waited for, because MHD aborts
 *                 the process when it is stopped with a suspended connection
 */
#include <unistd.h>

#include "server/log.h"
#include "server/srv.h"

#define DRAIN_PASSES 8

static void shut_idle(struct srv *s)
{
    for (struct conn *conn = s->conns; conn != NULL; conn = conn->next)
        if (conn->phase == CONN_IDLE && !conn->cut)
            conn_cut(conn);
}

static void on_limit(uv_timer_t *timer)
{
    struct srv *s = timer->data;
    log_event(LOG_WARN, "drain_limit_reached", NULL, NULL);
    s->drain_limit_passed = true;
    work_cancel_waiting(s);
    for (struct conn *conn = s->conns; conn != NULL; conn = conn->next)
        if (conn->phase != CONN_WORKING && !conn->cut)
            conn_cut(conn);
    srv_pump(s);
    srv_end_when_idle(s);
}

static void begin(struct srv *s)
{
    s->state = SRV_DRAINING;
    /* What the kernel has accepted for us becomes a request first: accept, read and parse take a pass each. */
    for (int pass = 0; pass < DRAIN_PASSES && s->mhd != NULL && !s->fatal; pass++)
        srv_pump(s);
    int fd = MHD_quiesce_daemon(s->mhd);
    if (fd >= 0)
        close(fd);
    s->listen_fd = -1;
    uv_timer_start(&s->drain_timer, on_limit, (uint64_t)s->config->drain_limit_ms, 0);
    shut_idle(s);
    srv_pump(s);
    srv_end_when_idle(s);
}

void srv_drain_sweep(struct srv *s)
{
    if (s->state != SRV_DRAINING)
        return;
    srv_pump(s);
    shut_idle(s);
    srv_end_when_idle(s);
}

static void on_grace_over(uv_timer_t *timer)
{
    begin(timer->data);
}

void srv_drain_start(struct srv *s)
{
    struct log_line l;
    log_start(&l, LOG_INFO, "draining");
    log_int(&l, "in_flight", (int64_t)s->in_flight);
    log_int(&l, "connections", (int64_t)s->n_conns);
    log_end(&l);
    s->state = SRV_GRACE;
    if (s->config->drain_grace_ms > 0)
        uv_timer_start(&s->drain_timer, on_grace_over, (uint64_t)s->config->drain_grace_ms, 0);
    else
        begin(s);
}
