/* search.c — walks the layouts that agree with the caller's wishes and keeps the fastest that fits.
 *
 * Order: first what the caller named, with everything unnamed left at one (a stated layout is taken at its word);
 * then, where that does not fit, the free members; then tensor parallelism beyond a node and offload, which are worse
 * than anything that fits without them. For each cut the micro-batch grows while it fits, and activations are
 * recomputed only as far as memory asks for.
 */
#include "planner/training/search.h"

#include <math.h>
#include <string.h>

#include "planner/training/interval.h"
#include "planner/training/search_try.h"

#define EVALUATION_BUDGET 3000
#define MICRO_BATCH_MAX 256
#define LINKS_WAIT 0.35     /* share of a step in communication from which offload is tried too */
#define NAMED_OVERFLOW 1.25 /* a named layout this far over the card is given up for a searched one */

static bool named(const struct layout *w)
{
    return w->tp > 0 || w->pp > 0 || w->dp > 0 || w->cp > 0 || w->ep > 0 || w->micro_batch > 0 ||
           w->sharding != SHARD_UNSTATED;
}

static void try_micro_batches(struct walk *w, struct cut *c)
{
    struct candidate k;
    if (search_hopeless(w, c)) {
        w->found->evaluated++;
        return;
    }
    if (w->w->micro_batch > 0) {
        c->micro_batch = w->w->micro_batch;
        if (search_try(w, c, -1, &k))
            search_keep(w, &k);
        return;
    }
    double most = w->j->global_batch > 0 ? (double)w->j->global_batch / c->dp : MICRO_BATCH_MAX;
    double before = 0;
    for (int b = 1, micro = 0; b == 1 || (b <= most && b <= MICRO_BATCH_MAX); b *= 2, micro++) {
        if (w->found->evaluated >= EVALUATION_BUDGET) {
            w->found->budget_reached = true;
            return;
        }
        c->micro_batch = b;
        if (!search_try(w, c, micro, &k))
            return;
        search_keep(w, &k);
        /* Past the first that does not fit, or that is no faster, larger ones are neither. */
        if (!k.fits || k.step.tokens_per_s < before * 1.002)
            return;
        before = k.step.tokens_per_s;
    }
}

static void try_shardings(struct walk *w, struct cut *c)
{
    const struct job *j = w->j;
    const struct layout *l = w->w;
    bool one = c->dp * c->cp == 1;
    enum sharding options[3];
    int n = 0;
    if (l->sharding != SHARD_UNSTATED) {
        options[n++] = l->sharding;
    } else if (one) {
        options[n++] = SHARD_NONE;
    } else if (w->replicas) {
        if (c->offload == OFFLOAD_NONE) {
            options[n++] = SHARD_NONE;
            options[n++] = SHARD_ZERO2;
        }
        options[n++] = SHARD_ZERO3; /* the only ones that fetch weights from the host */
    } else {
        if (!j->frozen)
            options[n++] = SHARD_ZERO1;
        if (c->pp == 1)
            options[n++] = SHARD_ZERO3;
        options[n++] = SHARD_NONE; /* whole states everywhere: nothing to hand back after the optimizer */
    }
    for (int i = 0; i < n; i++) {
        c->sharding = options[i];
        c->shard = l->shard_group;
        try_micro_batches(w, c);
    }
}

/* Chunks of a stage: more of them shorten the bubble, for more traffic between stages and more kept activations. */
static void try_interleavings(struct walk *w, struct cut *c)
{
    const struct layout *l = w->w;
    c->vpp = l->vpp > 0 ? l->vpp : 1;
    search_share_anew(w);
    try_shardings(w, c);
    /* Code without flash attention is from before interleaving was common. */
    bool pretraining = !w->j->finetune || w->j->precision == PREC_FP8 || w->j->precision == PREC_FP4;
    bool modern = w->free_members || (l->sharding != SHARD_ZERO3 && c->flash && pretraining);
    if (l->vpp > 0 || c->pp == 1 || !modern)
        return;
    int layers = (w->j->model->layers + c->pp - 1) / c->pp;
    for (int v = 2; v <= layers && v <= (w->free_members ? 4 : 16); v *= 2) {
        c->vpp = v;
        try_shardings(w, c);
    }
}

static void try_experts(struct walk *w, struct cut *c)
{
    const struct layout *l = w->w;
    int experts = w->j->model->experts;
    bool scripted = !w->free_members && w->j->scripted; /* fine-tuning scripts know no expert parallelism */
    if (l->ep > 0 || experts <= 0 || scripted) {
        c->ep = l->ep > 0 ? l->ep : 1;
        try_interleavings(w, c);
        return;
    }
    int most = c->dp * c->cp;
    for (int e = 1; e <= experts && e <= most && e <= 64; e *= 2) {
        if (experts % e != 0 || most % e != 0)
            continue;
        c->ep = e;
        try_interleavings(w, c);
    }
}

static bool tensor_allowed(const struct walk *w, int tp)
{
    const struct job *j = w->j;
    if (tp == w->w->tp)
        return true;
    if (tp == 1)
        return !w->cross_nodes;
    if (j->model->heads > 0 && j->model->heads % tp != 0)
        return false;
    return w->cross_nodes ? tp > w->f->domain && tp <= j->gpus : tp <= w->f->domain;
}

/* One shape of tensor x context x pipeline; data parallelism takes the rest. */
static void try_shape(struct walk *w, int tp, int cp, int pp)
{
    const struct layout *l = w->w;
    int model = tp * cp * pp;
    if (model > w->j->gpus || w->j->gpus % model != 0 || pp > w->j->model->layers)
        return;
    int dp = w->j->gpus / model;
    if (l->dp > 0 && l->dp != dp)
        return;
    if (w->j->global_batch > 0 && dp > w->j->global_batch && l->dp == 0 && (l->tp == 0 || l->pp == 0))
        return; /* a rank without a sample has nothing to do */
    struct cut c = {
        .tp = tp,
        .cp = cp,
        .pp = pp,
        .dp = dp,
        .offload = l->offload != OFFLOAD_UNSTATED ? l->offload : w->offload,
        .flash = l->flash_attention == TRI_UNSTATED ? w->j->gpu->gpu_class != GPU_VOLTA && w->j->model->causal != TRI_NO
                                                    : l->flash_attention == TRI_YES,
        .vocab_parallel = l->vocab_parallel != TRI_NO,
        .async_tp = l->async_tp == TRI_YES,
        .sync_last = l->grad_sync == GRAD_SYNC_LAST,
        .deepep = l->ep_dispatch == EP_DISPATCH_DEEPEP,
    };
    try_experts(w, &c);
}

/* The degree this pass tries after `n`; past the last one returns a value above the number of cards. */
static int next_degree(const struct walk *w, int wanted, int n)
{
    if (wanted > 0 || !w->free_members || w->replicas)
        return w->j->gpus + 1;
    return n * 2;
}

static void walk_pipelines(struct walk *w, int tp, int cp)
{
    const struct layout *l = w->w;
    int layers = w->j->model->layers;
    if (l->pp > 0 || !w->free_members || w->replicas) {
        int pp = l->pp > 0 ? l->pp : 1;
        /* A stated data parallelism leaves the rest to pipeline stages once tensor parallelism is stated. */
        if (l->pp == 0 && l->dp > 0 && l->tp > 0)
            pp = w->j->gpus / (l->dp * tp * cp) > 0 ? w->j->gpus / (l->dp * tp * cp) : 1;
        try_shape(w, tp, cp, pp);
        return;
    }
    /* Pipelines are for models that need them. */
    if (w->j->params < w->j->k->pipeline_from_params && !w->pipelines) {
        try_shape(w, tp, cp, 1);
        return;
    }
    for (int pp = w->piped_only ? 2 : 1; pp <= layers && pp <= w->j->gpus; pp++) {
        if (layers % pp == 0 || pp == 2 || pp == 4)
            try_shape(w, tp, cp, pp);
    }
}

static void walk_contexts(struct walk *w, int tp)
{
    const struct layout *l = w->w;
    bool longish = w->j->seq >= 16384;
    int first = l->cp > 0 ? l->cp : 1;
    for (int cp = first; cp <= w->j->gpus && cp <= 64; cp = next_degree(w, l->cp, cp)) {
        if (cp > 1 && l->cp == 0 && !longish)
            break;
        walk_pipelines(w, tp, cp);
    }
}

static void walk_all(struct walk *w)
{
    const struct layout *l = w->w;
    int first = l->tp > 0 ? l->tp : 1;
    if (l->tp == 0 && !w->free_members && l->dp > 0) {
        int rest = w->j->gpus / (l->dp * (l->pp > 0 ? l->pp : 1) * (l->cp > 0 ? l->cp : 1));
        first = rest > 0 ? rest : 1;
    }
    for (int tp = first; tp <= w->j->gpus && tp <= 64; tp = next_degree(w, l->tp, tp)) {
        if (!tensor_allowed(w, tp))
            continue;
        walk_contexts(w, tp);
    }
}

static bool satisfied(const struct walk *w)
{
    return w->found->evaluated > 0 && w->found->best.fits;
}

/* What a stated layout is taken for even though the estimate of its memory lies above the card. */
static bool near_enough(const struct walk *w)
{
    return w->found->evaluated > 0 && w->found->best.memory.total <= NAMED_OVERFLOW * w->usable;
}

/* Nothing of what moves memory is left open: the layout is answered as it stands. */
static bool complete(const struct job *j, const struct layout *l)
{
    bool cut = l->dp > 0 || l->tp > 0 || j->gpus == 1 || l->sharding == SHARD_ZERO3;
    return cut && l->micro_batch > 0 && (l->recompute != RECOMPUTE_UNSTATED || l->offload != OFFLOAD_UNSTATED);
}

static void walk_offloaded(struct walk *w)
{
    const enum offload ladder[] = {OFFLOAD_OPTIMIZER, OFFLOAD_PARAMETERS};
    if (w->w->offload != OFFLOAD_UNSTATED || w->j->full_precision)
        return;
    for (int i = w->j->frozen ? 1 : 0; i < 2 && !satisfied(w); i++) {
        w->offload = ladder[i];
        walk_all(w);
    }
    w->offload = OFFLOAD_NONE;
}

/* A layout that fits and then mostly waits for its links: with the optimizer's state in host memory less has to be cut
 * and moved, and the faster of the two is kept. */
static void walk_around_links(struct walk *w)
{
    if (!satisfied(w) || w->found->best.step.communication_share < LINKS_WAIT)
        return;
    if (w->w->offload != OFFLOAD_UNSTATED || w->j->full_precision || w->j->frozen)
        return;
    w->offload = OFFLOAD_OPTIMIZER;
    walk_all(w);
    w->offload = OFFLOAD_NONE;
}

/* Whether a layout was found whose memory stays within the card at the high end of its interval. Otherwise what was
 * found is forgotten, unless nothing came within the card at all: then walking again would find the same. */
static bool walk_prudently(struct walk *w)
{
    const double usable = w->usable;
    w->usable /= interval_memory(w->j, NULL, NULL).high;
    w->least = w->w->recompute == RECOMPUTE_UNSTATED ? INFINITY : 0;
    walk_all(w);
    w->usable = usable;
    w->walked = w->least > usable;
    w->least = 0;
    if (!satisfied(w) && !w->walked)
        memset(w->found, 0, sizeof *w->found);
    return satisfied(w);
}

/* The open members, on as much of the card as is prudent first; then what is worse than anything that fits without. */
static void walk_openly(struct walk *w)
{
    const struct job *j = w->j;
    w->walked = false;
    if (!named(w->w) && j->prudent && walk_prudently(w))
        return;
    if (!w->walked)
        walk_all(w);
    w->pipelines = w->piped_only = !w->replicas && !satisfied(w);
    if (w->pipelines && w->w->pp == 0 && j->params < j->k->pipeline_from_params)
        walk_all(w);
    w->piped_only = false;
    if (!satisfied(w))
        walk_offloaded(w);
    else if (!named(w->w))
        walk_around_links(w);
    if (satisfied(w) || w->replicas || j->shape.nodes < 2)
        return;
    w->cross_nodes = true;
    walk_all(w);
    struct found *f = w->found;
    f->tensor_across_nodes = f->evaluated > 0 && f->best.fits && f->best.cut.tp > w->f->domain;
}

/* Hardly any code trains adapters in tensor ranks or stages: copies or sharded states, unless a degree is named. */
static bool by_replicas(const struct job *j, const struct layout *l)
{
    return j->frozen && l->tp <= 1 && l->pp <= 1 && l->cp <= 1;
}

static int search(const struct job *j, const struct fabric *f, const struct layout *wanted, bool best_only,
                  struct found *ret, struct err *err)
{
    static const struct layout open = {0};
    const struct layout *l = wanted != NULL ? wanted : &open;
    struct found found;
    memset(&found, 0, sizeof found);
    struct walk w = {.j = j,
                     .f = f,
                     .w = l,
                     .found = &found,
                     .best_only = best_only,
                     .usable = shape_usable_bytes(&j->shape) * j->k->usable_share,
                     .offload = OFFLOAD_NONE};
    w.whole = w.usable;
    if (named(l))
        walk_all(&w);
    if (!named(l) || !(found.evaluated > 0 && (near_enough(&w) || complete(j, l)))) {
        w.free_members = true;
        w.replicas = by_replicas(j, l);
        walk_openly(&w);
        if (w.replicas && !satisfied(&w)) {
            w.replicas = false;
            walk_openly(&w);
        }
    }
    if (found.evaluated == 0)
        return err_at(err, ERR_INVALID, "/layout", "no layout of %d cards agrees with the members stated", j->gpus);
    if (!found.best.fits)
        step_time(j, f, &found.best.cut, &found.best.memory, &found.best.step);
    if (found.has_second && !found.second.fits)
        step_time(j, f, &found.second.cut, &found.second.memory, &found.second.step);
    *ret = found;
    return 0;
}

int search_layout(const struct job *j, const struct fabric *f, const struct layout *wanted, struct found *ret,
                  struct err *err)
{
    return search(j, f, wanted, false, ret, err);
}

int search_best_layout(const struct job *j, const struct fabric *f, const struct layout *wanted, struct found *ret,
                       struct err *err)
{
    return search(j, f, wanted, true, ret, err);
}
