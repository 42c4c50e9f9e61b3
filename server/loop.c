/* loop.c — brings the server up, turns the loop, takes it down in the one order that works. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/listen.h"
#include "server/log.h"
#include "server/srv.h"

extern const struct embed_table embed_static, embed_examples;
static const struct embed_table *const asset_tables[] = {&embed_static, &embed_examples};

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    srv_pump(poll->data);
}

static void on_sweep(uv_timer_t *timer)
{
    struct srv *s = timer->data;
    conn_sweep(s);
    srv_drain_sweep(s);
}

static void on_poll_timer(uv_timer_t *timer)
{
    srv_refresh(timer->data);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct srv *s = handle->data;
    if (number == SIGHUP) {
        srv_refresh(s);
        return;
    }
    if (s->state != SRV_RUNNING) {
        log_event(LOG_WARN, "stopped_at_once", "signal", number == SIGTERM ? "SIGTERM" : "SIGINT");
        _exit(1);
    }
    srv_drain_start(s);
}

static void on_mhd_log(void *cls, const char *format, va_list args)
{
    char text[LOG_TEXT_MAX];
    (void)cls;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the format is libmicrohttpd's own */
    int n = vsnprintf(text, sizeof text, format, args);
#pragma GCC diagnostic pop
    if (n > 0)
        text[strcspn(text, "\n")] = '\0';
    log_event(LOG_DEBUG, "http_library", "text", text);
}

/* Leaves paths and queries as they came: decoding is ours, strictly, and only once. */
static size_t keep_raw(void *cls, struct MHD_Connection *c, char *text)
{
    (void)cls, (void)c;
    return strlen(text);
}

static int start_daemon(struct srv *s, struct err *err)
{
    const struct config *config = s->config;
    s->mhd = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, request_access, s,
        MHD_OPTION_EXTERNAL_LOGGER, on_mhd_log, s, /* first, or early messages go elsewhere */
        MHD_OPTION_LISTEN_SOCKET, s->listen_fd, MHD_OPTION_NOTIFY_COMPLETED, request_completed, s,
        MHD_OPTION_NOTIFY_CONNECTION, conn_notify, s, MHD_OPTION_URI_LOG_CALLBACK, request_begin, s,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)config->max_connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)config->max_connections_per_ip, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)config->idle_timeout_s,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32768, MHD_OPTION_UNESCAPE_CALLBACK, keep_raw, NULL,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
    if (s->mhd == NULL)
        return err_set(err, ERR_IO, "libmicrohttpd does not start");
    return 0;
}

static int init_handles(struct srv *s, struct err *err)
{
    int epoll_fd = MHD_get_daemon_info(s->mhd, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    int rc = uv_poll_init(&s->loop, &s->poll, epoll_fd);
    uv_timer_init(&s->loop, &s->pump_timer);
    uv_timer_init(&s->loop, &s->sweep_timer);
    uv_timer_init(&s->loop, &s->poll_timer);
    uv_timer_init(&s->loop, &s->drain_timer);
    s->poll.data = s->pump_timer.data = s->sweep_timer.data = s->poll_timer.data = s->drain_timer.data = s;
    uv_signal_t *signals[] = {&s->on_term, &s->on_int, &s->on_hup};
    const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < 3 && rc == 0; i++) {
        rc = uv_signal_init(&s->loop, signals[i]);
        signals[i]->data = s;
        if (rc == 0)
            rc = uv_signal_start(signals[i], on_signal, numbers[i]);
    }
    if (rc == 0)
        rc = uv_poll_start(&s->poll, UV_READABLE, on_readable);
    if (rc == 0)
        rc = uv_timer_start(&s->sweep_timer, on_sweep, SRV_TICK_CAP_MS, SRV_TICK_CAP_MS);
    if (rc == 0)
        rc = uv_timer_start(&s->poll_timer, on_poll_timer, (uint64_t)s->config->catalog_poll_ms,
                            (uint64_t)s->config->catalog_poll_ms);
    return rc == 0 ? 0 : err_set(err, ERR_IO, "the event loop refuses a handle: %s", uv_err_name(rc));
}

/* The pool's size must stand in the environment before libuv's first use of it. */
static void size_pool(int64_t workers)
{
    char text[24];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    snprintf(text, sizeof text, "%lld", (long long)(workers > 0 ? workers : cores > 2 ? cores : 2));
    setenv("UV_THREADPOOL_SIZE", text, 1);
}

static int start(struct srv *s, struct err *err)
{
    const struct config *config = s->config;
    const struct store_options options = {
        .path = config->db, .create = true, .quick_check_max_bytes = config->quick_check_max_mib << 20};
    s->started_ns = s->maintained_ns = srv_now();
    s->listen_fd = -1;
    signal(SIGPIPE, SIG_IGN);
    listen_forbid_cores();
    size_pool(config->workers);
    if (listen_raise_files(config->max_connections, err) != 0 ||
        assets_init(&s->assets, asset_tables, sizeof asset_tables / sizeof *asset_tables, err) != 0 ||
        store_open(&options, &s->store, err) != 0 || s->store.ops->status(s->store.db, &s->db_status, err) != 0 ||
        listen_open(config->host, config->port, config->backlog, &s->listen_fd, &s->port, err) != 0 ||
        start_daemon(s, err) != 0 || init_handles(s, err) != 0)
        return -1;
    return 0;
}

static void announce(const struct srv *s)
{
    struct log_line l;
    /* Every address is also reached by loopback, which is what a person can paste. */
    const char *host = strcmp(s->config->host, "0.0.0.0") == 0 ? "127.0.0.1"
                       : strcmp(s->config->host, "::") == 0    ? "::1"
                                                               : s->config->host;
    bool v6 = strchr(host, ':') != NULL;
    char address[CONFIG_TEXT_MAX + 32];
    snprintf(address, sizeof address, "http://%s%s%s:%d", v6 ? "[" : "", host, v6 ? "]" : "", s->port);
    log_start(&l, LOG_INFO, "listening");
    log_text(&l, "address", address);
    log_text(&l, "host", s->config->host);
    log_text(&l, "db", s->config->db);
    log_int(&l, "revision", s->db_status.catalog_revision);
    log_int(&l, "schema", s->db_status.schema_version);
    log_end(&l);
    if (!listen_is_loopback(s->config->host))
        log_event(LOG_WARN, "open_to_the_network", "why",
                  "there are no keys yet: whoever reaches this address may use it");
    printf("Suanpan listens on %s (form: %s/)\n", address, address);
    printf(
        "Try: curl -s %s/api/v1/plans -H 'Content-Type: application/json' -d "
        "'{\"workload\":{\"model\":{\"preset\":\"qwen2.5-7b\"},\"training\":{\"method\":\"lora\",\"tokens\":5e7}}}'\n",
        address);
    fflush(stdout);
}

static void close_handle(uv_handle_t *handle, void *cls)
{
    (void)cls;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

/* MHD before the handles, never while a connection is suspended (drain.c sees to that). */
static int stop(struct srv *s)
{
    s->state = SRV_STOPPING;
    for (int pass = 0; pass < 8 && s->mhd != NULL && !s->fatal && s->drain_limit_passed; pass++)
        srv_pump(s); /* refusals of the last moment still go out */
    if (s->mhd != NULL) {
        if (s->poll.data != NULL) {
            uv_poll_stop(&s->poll);
            uv_timer_stop(&s->pump_timer);
        }
        struct MHD_Daemon *mhd = s->mhd;
        s->mhd = NULL;
        MHD_stop_daemon(mhd);
    } else if (s->listen_fd >= 0) {
        close(s->listen_fd);
    }
    if (s->refreshing)
        uv_cancel((uv_req_t *)&s->refresh);
    uv_walk(&s->loop, close_handle, NULL);
    uv_run(&s->loop, UV_RUN_DEFAULT);
    int rc = uv_loop_close(&s->loop);
    store_close(&s->store);
    assets_done(&s->assets);
    return rc;
}

int srv_run(const struct config *config, struct err *err)
{
    struct srv *s = calloc(1, sizeof *s);
    if (s == NULL)
        return err_set(err, ERR_NOMEM, "no memory to start");
    s->config = config;
    if (uv_loop_init(&s->loop) != 0) {
        free(s);
        return err_set(err, ERR_IO, "the event loop does not start");
    }
    int rc = start(s, err);
    if (rc == 0) {
        announce(s);
        srv_pump(s);
        uv_run(&s->loop, UV_RUN_DEFAULT);
        while (s->fatal && s->in_flight > 0)
            uv_run(&s->loop, UV_RUN_ONCE);
        if (s->fatal)
            rc = err_set(err, ERR_INTERNAL, "the HTTP daemon failed");
    }
    if (stop(s) != 0 && rc == 0)
        rc = err_set(err, ERR_INTERNAL, "the event loop still had work when it was closed");
    free(s);
    if (rc == 0)
        log_event(LOG_INFO, "stopped", NULL, NULL);
    return rc;
}
