/* engine.c — constants bound to a snapshot, and one estimate: whatever the workload asks of one shape. */
#include "planner/offers/engine.h"

#include "planner/core/assume.h"
#include "planner/market/market_index.h"

int engine_bind(struct catalog *c, struct err *err)
{
    struct training_constants *training = arena_alloc(c->arena, training_constants_size());
    struct serving_constants *serving = arena_alloc(c->arena, serving_constants_size());
    struct assume assume;
    if (training == NULL || serving == NULL)
        return err_set(err, ERR_NOMEM, "no room for the physics' constants");
    if (training_constants_bind(&c->params, training, err) != 0 ||
        serving_constants_bind(&c->params, serving, err) != 0 || assume_bind(&c->params, &assume, err) != 0 ||
        market_index_make(c, err) != 0)
        return -1;
    c->training = training;
    c->serving = serving;
    return 0;
}

const char *engine_version(void)
{
    return "0.1.0";
}

static int estimate_training(const struct estimate_request *q, struct arena *arena, struct estimate *ret,
                             struct err *err)
{
    const struct workload *w = q->workload;
    if (w->training.method == METHOD_EMBEDDING)
        return embedding_estimate(q->catalog->serving, &w->model, &w->training, q->shape, arena, ret, err);
    struct training_request r = {
        .model = &w->model,
        .training = &w->training,
        .measured = w->measured.stated ? &w->measured : NULL,
        .measured_gpu = w->measured.gpu != NULL ? catalog_gpu(q->catalog, w->measured.gpu) : NULL,
        .shape = q->shape,
        .layout = q->layout,
        .want_trace = q->want_trace,
    };
    return training_estimate(q->catalog->training, &r, arena, ret, err);
}

static int estimate_serving(const struct estimate_request *q, struct arena *arena, struct estimate *ret,
                            struct err *err)
{
    const struct workload *w = q->workload;
    struct serving_request r = {
        .model = w->serving.own_model ? &w->serving.model : &w->model,
        .serving = &w->serving,
        .shape = q->shape,
        .layout = q->layout,
        .at = q->at,
        .want_trace = q->want_trace,
    };
    return serving_estimate(q->catalog->serving, &r, arena, ret, err);
}

static void append_notes(struct note_list *to, const struct note_list *from)
{
    for (size_t i = 0; i < from->n; i++)
        if (note_find(to, from->items[i].code) == NULL)
            *note_add(to, from->items[i].code) = from->items[i];
}

/* A workload with both: memory and layout are the training's, the serving figures of the same shape stand beside. */
static void join_serving(struct estimate *whole, const struct estimate *serving)
{
    whole->has_serving = true;
    whole->serving = serving->serving;
    append_notes(&whole->assumptions, &serving->assumptions);
    append_notes(&whole->warnings, &serving->warnings);
}

int engine_estimate(const struct estimate_request *q, struct arena *arena, struct estimate *ret, struct err *err)
{
    const struct workload *w = q->workload;
    bool serves = w->serving.stated || (q->at != NULL && q->at->stated);
    if (w->training.stated || !serves) {
        if (estimate_training(q, arena, ret, err) != 0)
            return -1;
        if (!serves)
            return 0;
        struct estimate serving;
        if (estimate_serving(q, arena, &serving, err) != 0)
            return -1;
        join_serving(ret, &serving);
        return 0;
    }
    return estimate_serving(q, arena, ret, err);
}
