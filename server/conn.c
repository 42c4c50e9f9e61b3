/* conn.c — the list of open connections and the sweep that enforces deadlines.
 *
 * MHD_OPTION_CONNECTION_TIMEOUT restarts with every byte, so a client that drips one byte a second would hold its
 * connection for ever. The sweep looks every SRV_TICK_CAP_MS at how long each connection has been in its phase and
 * shuts the socket down; MHD then sees the end and completes the request in its own way.
 */
#include <stdlib.h>
#include <sys/socket.h>

#include "server/log.h"
#include "server/srv.h"

static void opened(struct srv *s, struct MHD_Connection *c, void **context)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct conn *conn = calloc(1, sizeof *conn);
    *context = conn;
    if (conn == NULL)
        return; /* request_begin finds no record and gives the connection up */
    conn->srv = s;
    conn->fd = info != NULL ? info->connect_fd : -1;
    conn->since_ns = srv_now();
    conn->next = s->conns;
    if (s->conns != NULL)
        s->conns->previous = conn;
    s->conns = conn;
    s->n_conns++;
}

static void closed(struct srv *s, struct conn *conn)
{
    if (conn == NULL)
        return;
    if (conn->previous != NULL)
        conn->previous->next = conn->next;
    else
        s->conns = conn->next;
    if (conn->next != NULL)
        conn->next->previous = conn->previous;
    s->n_conns--;
    free(conn);
    srv_end_when_idle(s);
}

void conn_notify(void *cls, struct MHD_Connection *c, void **context, enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        opened(cls, c, context);
    else
        closed(cls, *context);
}

void conn_enter(struct conn *conn, enum conn_phase phase)
{
    if (phase == CONN_IDLE)
        conn->served = true;
    /* On a fresh connection the head counts from the first moment, not from its first complete line. */
    if (phase != CONN_READING || conn->served)
        conn->since_ns = srv_now();
    conn->phase = phase;
}

void conn_cut(struct conn *conn)
{
    conn->cut = true;
    shutdown(conn->fd, SHUT_RDWR);
}

static uint64_t limit_ms(const struct conn *conn)
{
    const struct config *config = conn->srv->config;
    switch (conn->phase) {
    case CONN_IDLE:
        /* A line that never ends leaves a kept-alive connection idle in our eyes: it gets both limits, no more. */
        return (uint64_t)config->request_deadline_ms + (conn->served ? (uint64_t)config->idle_timeout_s * 1000 : 0);
    case CONN_READING:
        return (uint64_t)config->request_deadline_ms;
    case CONN_WRITING:
        return (uint64_t)config->write_deadline_ms;
    case CONN_WORKING:
        break; /* ours to finish, and bounded by the planner's own step limits */
    }
    return UINT64_MAX / 1000000;
}

void conn_sweep(struct srv *s)
{
    uint64_t now = srv_now();
    for (struct conn *conn = s->conns; conn != NULL; conn = conn->next) {
        if (conn->cut || now - conn->since_ns <= limit_ms(conn) * 1000000)
            continue;
        s->metrics.deadline_cut++;
        log_event(LOG_INFO, "deadline_cut", "phase",
                  conn->phase == CONN_WRITING ? "writing"
                  : conn->phase == CONN_IDLE  ? "idle"
                                              : "reading");
        conn_cut(conn);
    }
}
