/* srv.c — what every part of the running server may ask of the loop: the time, a turn of libmicrohttpd, the end.
 *
 * libmicrohttpd runs without a thread of its own: its epoll descriptor is one more thing the libuv loop watches.
 * Its client sockets are edge-triggered inside that descriptor, and resuming a connection wakes nobody, so
 * MHD_run must be called whenever MHD_get_timeout says so and after every resume; and since the listening socket
 * comes back after the connection limit only inside MHD_run, never later than SRV_TICK_CAP_MS.
 */
#include "server/srv.h"

#include <time.h>

#include "server/log.h"

uint64_t srv_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void on_pump(uv_timer_t *timer)
{
    srv_pump(timer->data);
}

void srv_pump(struct srv *s)
{
    MHD_UNSIGNED_LONG_LONG asked = 0;
    uint64_t wait = SRV_TICK_CAP_MS;
    if (s->mhd == NULL)
        return;
    if (MHD_run(s->mhd) != MHD_YES) {
        log_event(LOG_ERROR, "http_daemon_failed", NULL, NULL);
        s->fatal = true;
        uv_stop(&s->loop);
        return;
    }
    if (MHD_get_timeout(s->mhd, &asked) == MHD_YES && asked < wait)
        wait = asked; /* 0 = at once: bytes are waiting in a buffer that epoll will not speak of again */
    uv_timer_start(&s->pump_timer, on_pump, wait, 0);
}

void srv_end_when_idle(struct srv *s)
{
    if (s->state != SRV_DRAINING)
        return;
    if (s->in_flight == 0 && (s->n_conns == 0 || s->drain_limit_passed))
        uv_stop(&s->loop);
}
