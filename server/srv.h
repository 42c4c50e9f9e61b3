/* srv.h — the running server: one libuv loop that drives libmicrohttpd by its epoll descriptor.
 *
 * Rules that hold everywhere below (each bought with a hang or an abort of libmicrohttpd 0.9.75):
 *  - the MHD handle and every uv_* call belong to the loop thread; workers see only their request (work.c);
 *  - after every resume, and whenever MHD asks by MHD_get_timeout, srv_pump runs, and never later than
 *    SRV_TICK_CAP_MS, or a server at its connection limit stays deaf for ever (srv.c);
 *  - MHD's own time-out is for silence only; deadlines are swept by us (conn.c);
 *  - MHD is not stopped while a connection is suspended: it would abort the process (drain.c).
 */
#ifndef SUANPAN_SERVER_SRV_H
#define SUANPAN_SERVER_SRV_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "api/api.h"
#include "base/arena.h"
#include "base/buf.h"
#include "server/assets.h"
#include "server/config.h"
#include "server/guard.h"
#include "server/metrics.h"
#include "server/store.h"

#define SRV_TICK_CAP_MS 250
#define SRV_ID_TEXT 17

enum srv_state { SRV_RUNNING, SRV_GRACE, SRV_DRAINING, SRV_STOPPING };

/* What a connection is waiting for decides which deadline it is under. */
enum conn_phase { CONN_IDLE, CONN_READING, CONN_WORKING, CONN_WRITING };

struct conn {
    struct srv *srv;
    struct conn *previous, *next;
    struct request *request; /* NULL while idle */
    int fd;
    enum conn_phase phase;
    bool served; /* had a request before: keep-alive */
    bool cut;
    uint64_t since_ns; /* entry into the phase */
};

struct srv {
    const struct config *config;
    uv_loop_t loop;
    uv_poll_t poll;
    uv_timer_t pump_timer, sweep_timer, poll_timer, drain_timer;
    uv_signal_t on_term, on_int, on_hup;
    struct MHD_Daemon *mhd;
    int listen_fd, port;
    struct store store;
    struct assets assets;
    struct metrics metrics;
    struct conn *conns;
    size_t n_conns, in_flight;
    enum srv_state state;
    uint64_t started_ns, drain_deadline_ns;
    /* The last look at the database, for /readyz and /metrics, which do no I/O. */
    struct db_status db_status;
    bool db_failing, refreshing;
    uv_work_t refresh;
    struct db_status refresh_status;
    struct err refresh_err;
    int refresh_rc;
    uint64_t maintained_ns;
    bool drain_limit_passed;
    bool fatal;
};

/* A request's stages, in order; the access handler is entered at each. */
enum request_stage { REQUEST_HEAD, REQUEST_BODY, REQUEST_WORKING, REQUEST_READY, REQUEST_QUEUED };

struct request {
    struct srv *srv;
    struct conn *conn;
    struct MHD_Connection *mhd;
    uv_work_t work; /* embedded: a suspended connection cannot complete before it is resumed */
    struct arena *arena;
    struct snapshot *snapshot;
    enum request_stage stage;
    char id[SRV_ID_TEXT];
    char *target; /* raw, as sent; malloc'd */
    const char *method, *path, *query, *accept_encoding;
    const char *route; /* metrics label */
    struct guard_facts facts;
    struct api_route_info info;
    struct api_request api;
    struct api_response res;
    const struct asset *asset; /* the answer is this file, not `res` */
    struct buf body;
    bool own_route; /* answered by ops.c */
    bool refused;   /* `res` is a refusal already; the body is swallowed */
    bool close;     /* the connection ends with this answer */
    bool gzipped;   /* res.body is coded */
    uint64_t swallowed, started_ns, work_ns, sent;
    int status;
};

/* The files, each below those that call it. */

/* srv.c */
uint64_t srv_now(void); /* monotonic nanoseconds */
void srv_pump(struct srv *s);
void srv_end_when_idle(struct srv *s); /* call whenever work or a connection has gone: a drain may be over */

/* conn.c */
void conn_notify(void *cls, struct MHD_Connection *c, void **context, enum MHD_ConnectionNotificationCode code);
void conn_enter(struct conn *conn, enum conn_phase phase);
void conn_sweep(struct srv *s);
void conn_cut(struct conn *conn);

/* reply.c */
void reply_problem(struct request *r, const char *slug, const char *detail); /* fills res */
void reply_code(struct request *r); /* gzip where asked for and worthwhile; may run on a worker */
enum MHD_Result reply_send(struct request *r);

/* work.c */
enum MHD_Result work_submit(struct request *r);
void work_cancel_waiting(struct srv *s); /* what no worker has begun is answered 503 */

/* ops.c: /healthz /readyz /metrics; false when `path` is none of them */
bool ops_owns(const char *path, const char **ret_route);
void ops_answer(struct request *r);
bool ops_ready(const struct srv *s);

/* request.c */
void *request_begin(void *cls, const char *uri, struct MHD_Connection *c);
enum MHD_Result request_access(void *cls, struct MHD_Connection *c, const char *url, const char *method,
                               const char *version, const char *upload, size_t *upload_size, void **context);
void request_completed(void *cls, struct MHD_Connection *c, void **context, enum MHD_RequestTerminationCode code);

/* drain.c */
void srv_drain_start(struct srv *s);
void srv_drain_sweep(struct srv *s); /* shuts what has become idle since */

/* refresh.c: looks at the stored revision on a worker, now and every catalog_poll_ms */
void srv_refresh(struct srv *s);

/* loop.c */
int srv_run(const struct config *config, struct err *err); /* until SIGTERM; -1 = did not start, or broke */

#endif
