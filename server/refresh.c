/* refresh.c — keeps the published catalog as new as the stored one, from a worker thread, one look at a time. */
#include "server/log.h"
#include "server/srv.h"

#define MAINTAIN_EVERY_NS (600 * (uint64_t)1000000000)

static void on_worker(uv_work_t *work)
{
    struct srv *s = work->data;
    s->refresh_rc = store_refresh(&s->store, s->db_status.catalog_revision, &s->refresh_status, &s->refresh_err);
    if (s->refresh_rc == 0 && srv_now() - s->maintained_ns > MAINTAIN_EVERY_NS) {
        s->refresh_rc = s->store.ops->maintain(s->store.db, &s->refresh_err);
        s->maintained_ns = srv_now();
    }
}

static void on_done(uv_work_t *work, int status)
{
    struct srv *s = work->data;
    s->refreshing = false;
    if (status == UV_ECANCELED)
        return;
    if (s->refresh_rc != 0) {
        struct log_line l;
        log_start(&l, LOG_ERROR, "catalog_refresh_failed");
        log_text(&l, "code", err_name(s->refresh_err.code));
        log_text(&l, "err", s->refresh_err.detail);
        log_end(&l);
        s->db_failing = true;
        s->db_status.corrupt = s->db_status.corrupt || s->refresh_err.code == ERR_CORRUPT;
        return;
    }
    if (s->refresh_status.catalog_revision != s->db_status.catalog_revision) {
        struct log_line l;
        log_start(&l, LOG_INFO, "catalog_reloaded");
        log_int(&l, "revision", s->refresh_status.catalog_revision);
        log_end(&l);
    }
    s->db_failing = false;
    s->db_status = s->refresh_status;
}

void srv_refresh(struct srv *s)
{
    if (s->refreshing || s->state == SRV_STOPPING)
        return;
    s->refresh.data = s;
    s->refreshing = uv_queue_work(&s->loop, &s->refresh, on_worker, on_done) == 0;
}
