/* serving_layout.c — tensor parallel inside the node, pipeline over the rest; the fastest that fits. */
#include "planner/serving/serving_layout.h"

#include <math.h>

#include "planner/serving/serving_point.h"

bool serving_tp_divides(const struct model *m, int tp)
{
    if (tp <= 1)
        return true;
    int heads = m->heads > 0 ? m->heads : 1;
    return heads % tp == 0;
}

struct candidate {
    struct layout layout;
    enum fits fits;
    double rate;
    bool valid;
};

static int measure(const struct serving_constants *k, const struct serving_request *q, const struct layout *l,
                   struct candidate *ret, struct err *err)
{
    struct replica r;
    if (replica_resolve(k, q->model, q->serving, q->shape, l, &r, err) != 0)
        return -1;
    struct point p = point_resolve(&r, q->serving, q->at);
    struct replica_answer a = replica_answer_at(&r, &p);
    *ret = (struct candidate){*l, a.memory.fits, a.speed.output_tokens_per_s, true};
    return 0;
}

static bool better(const struct candidate *a, const struct candidate *b)
{
    if (!b->valid)
        return true;
    if ((a->fits == FITS_NO) != (b->fits == FITS_NO))
        return a->fits != FITS_NO;
    return a->rate > b->rate;
}

static void fill(struct layout *l, int tp, int pp)
{
    l->tp = tp;
    l->pp = pp;
    if (l->ep <= 0)
        l->ep = 1;
    l->dp = l->dp > 0 ? l->dp : 1;
}

int serving_layout_choose(const struct serving_constants *k, const struct serving_request *q,
                          const struct layout *wanted, struct layout_choice *ret, struct err *err)
{
    int cards = shape_gpus(q->shape);
    *ret = (struct layout_choice){.best = *wanted};
    if (wanted->tp > 0) {
        fill(&ret->best, wanted->tp, wanted->pp > 0 ? wanted->pp : 1);
        return 0;
    }
    struct candidate best = {0}, second = {0}, c;
    for (int tp = 1; tp <= q->shape->gpus_per_node; tp++) {
        int pp = wanted->pp > 0 ? wanted->pp : cards / tp;
        if (cards % tp != 0 || tp * pp > cards || pp > q->model->layers || !serving_tp_divides(q->model, tp))
            continue;
        struct layout l = *wanted;
        fill(&l, tp, pp);
        if (measure(k, q, &l, &c, err) != 0)
            return -1;
        if (better(&c, &best)) {
            second = best;
            best = c;
        } else if (better(&c, &second)) {
            second = c;
        }
    }
    if (!best.valid) { /* more cards than the model can be cut over: it uses what divides */
        fill(&ret->best, 1, wanted->pp > 0 ? wanted->pp : 1);
        return 0;
    }
    ret->best = best.layout;
    ret->has_runner_up = second.valid;
    ret->runner_up = second.layout;
    if (second.valid) {
        ret->reason = (struct note){.code = second.fits == FITS_NO && best.fits != FITS_NO ? "serving_layout_no_memory"
                                                                                           : "serving_layout_slower",
                                    .short_by = NAN};
        note_percent(&ret->reason, "slower", best.rate > 0 ? 1 - second.rate / best.rate : 0);
    }
    return 0;
}
