/* work.c — planning happens on libuv's worker threads, at most max-in-flight requests at once.
 *
 * A worker sees its own request and the immutable catalog snapshot, nothing else. The connection is suspended
 * meanwhile; after the work it is resumed on the loop thread, and pumped, since nothing else would wake MHD.
 */
#include "server/log.h"
#include "server/srv.h"

static void on_worker(uv_work_t *work)
{
    struct request *r = work->data;
    uint64_t started = srv_now();
    api_handle(&r->api, &r->res);
    reply_code(r);
    r->work_ns = srv_now() - started;
}

static void on_done(uv_work_t *work, int status)
{
    struct request *r = work->data;
    struct srv *s = r->srv;
    s->in_flight--;
    if (status == UV_ECANCELED)
        reply_problem(r, "shutting_down", NULL);
    else
        metrics_work(&s->metrics, r->route, r->work_ns);
    r->stage = REQUEST_READY;
    MHD_resume_connection(r->mhd); /* may complete and free r inside srv_pump */
    srv_pump(s);
    srv_end_when_idle(s);
}

enum MHD_Result work_submit(struct request *r)
{
    struct srv *s = r->srv;
    if (s->in_flight >= (size_t)s->config->max_in_flight) {
        s->metrics.overload_refused++;
        reply_problem(r, "overloaded", NULL);
        return reply_send(r);
    }
    r->work.data = r;
    r->stage = REQUEST_WORKING;
    if (r->conn != NULL)
        conn_enter(r->conn, CONN_WORKING);
    /* Queue first: should it fail there is nothing to undo. The after-work call comes from this same thread, later. */
    if (uv_queue_work(&s->loop, &r->work, on_worker, on_done) != 0) {
        reply_problem(r, "internal_error", NULL);
        return reply_send(r);
    }
    s->in_flight++;
    MHD_suspend_connection(r->mhd);
    return MHD_YES;
}

void work_cancel_waiting(struct srv *s)
{
    for (struct conn *conn = s->conns; conn != NULL; conn = conn->next)
        if (conn->phase == CONN_WORKING && conn->request != NULL)
            uv_cancel((uv_req_t *)&conn->request->work); /* EBUSY for what runs: that one is waited for */
}
