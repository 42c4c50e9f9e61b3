/* handle_estimate.c — POST /api/v1/estimates: physics of one workload on one piece of hardware. */
#include <string.h>

#include "api/decode.h"
#include "api/encode.h"
#include "api/handlers.h"
#include "api/respond.h"
#include "planner/offers/engine.h"

/* A computation that refuses its input names the place by a pointer; that is the caller's fault, a 422. */
void refuse_computation(struct call *c, struct decode *d, const struct err *err)
{
    const char *code = err->code == ERR_RANGE         ? "above_physics"
                       : err->code == ERR_UNSUPPORTED ? "unsupported"
                       : err->code == ERR_INVALID     ? "impossible_pair"
                                                      : NULL;
    if (!code) {
        respond_err(c, err, d);
        return;
    }
    size_t from = d->faults->n;
    fault_add(d->faults, err->pointer[0] ? err->pointer : "/workload", code, "%s", err->detail);
    decode_localise(d, from);
    respond_faults(c, d);
}

void handle_estimate(struct call *c)
{
    struct decode d;
    struct fault_list faults;
    struct decoded_estimate in;
    struct err err = {0};
    decode_init(&d, c->req->catalog, c->req->arena, c->language, c->req->today, &faults);
    if (decode_estimate_request(&d, c->req->body, c->req->body_len, &in, &err)) {
        respond_err(c, &err, &d);
        return;
    }
    if (in.language_stated)
        c->language = d.language = in.workload.language;
    struct estimate_request q = {.catalog = c->req->catalog,
                                 .workload = &in.workload,
                                 .shape = &in.shape,
                                 .layout = in.has_layout ? &in.layout : NULL,
                                 .at = in.at.stated ? &in.at : NULL,
                                 .want_trace = in.trace};
    struct estimate est;
    memset(&est, 0, sizeof est);
    if (engine_estimate(&q, c->req->arena, &est, &err)) {
        refuse_computation(c, &d, &err);
        return;
    }
    struct buf body;
    buf_init(&body, RESPONSE_MAX);
    struct encode e = {
        .w = {.out = &body}, .catalog = c->req->catalog, .language = c->language, .currency = in.workload.currency};
    const struct workload *w = &in.workload;
    bool own = w->model.params <= 0 && w->serving.own_model;
    encode_estimate(&e, NULL, &est, &in.assumed, own ? &w->serving.model : &w->model);
    encode_done(&e);
    respond_body(c, CONTENT_JSON, &body);
}
