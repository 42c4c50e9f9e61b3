/* search_try.c — one layout of the search: what it holds, how long it takes, and whether it is worth asking.
 *
 * Most layouts cannot win: their states alone do not fit, or their kernels at their best with their bubble are slower
 * than the two that are kept. Those are passed over before anything dear is computed; what is kept is the same.
 */
#include "planner/training/search_try.h"

#include <string.h>

static bool same_cut(const struct cut *a, const struct cut *b)
{
    return a->tp == b->tp && a->pp == b->pp && a->cp == b->cp && a->ep == b->ep && a->sharding == b->sharding;
}

static bool better(const struct candidate *a, const struct candidate *b)
{
    if (a->fits != b->fits)
        return a->fits;
    if (!a->fits)
        return a->memory.total < b->memory.total * 0.999;
    return a->step.tokens_per_s > b->step.tokens_per_s * 1.0001;
}

void search_keep(struct walk *w, const struct candidate *c)
{
    struct found *f = w->found;
    if (f->evaluated == 0 || better(c, &f->best)) {
        if (f->evaluated > 0 && !w->best_only && !same_cut(&c->cut, &f->best.cut)) {
            f->second = f->best;
            f->has_second = true;
        }
        f->best = *c;
    } else if (!w->best_only && !same_cut(&c->cut, &f->best.cut) && (!f->has_second || better(c, &f->second))) {
        f->second = *c;
        f->has_second = true;
    }
    f->evaluated++;
}

/* As much of the forward pass done again as memory asks for: none, a share of the layers, or all. */
static struct memory_peak ease_recompute(struct walk *w, const struct memory_held *h, struct cut *c)
{
    const struct job *j = w->j;
    const struct memory_peak none = memory_peak_of(j, c, h);
    if (none.total <= w->usable)
        return none;
    c->recompute = RECOMPUTE_FULL;
    cut_derive_recompute(j, c);
    const struct memory_peak most = memory_peak_of(j, c, h);
    w->least = smaller(w->least, most.total);
    double share = (none.total - w->usable) / larger(1, none.total - most.total);
    /* Experts are too dear to run twice: what is kept of them is squeezed otherwise, and the rest is run again. */
    double cap = j->moe_layers > 0 && !j->finetune ? j->k->moe_recompute_cap : 1;
    if (share > 0.85 || most.total > w->usable) {
        c->recompute_share = smaller(c->recompute_share, cap);
        return most;
    }
    c->recompute = RECOMPUTE_SELECTIVE;
    cut_derive_recompute(j, c);
    /* Megatron-class code picks operations: what stores most for least work goes first, so work grows as the square. */
    c->recompute_share = smaller(cap, c->stack == STACK_PARALLEL ? share * share : share);
    c->store_share = 1 - share;
    return memory_peak_of(j, c, h);
}

/* Fine-tuning scripts recompute unless told otherwise; who names a layout of theirs means that. */
static bool recomputes_by_custom(const struct walk *w, const struct cut *c)
{
    const struct job *j = w->j;
    return !w->free_members && j->scripted && cut_stack(j, c) != STACK_PARALLEL && j->model->causal != TRI_NO;
}

/* A cut whose layout so far was not walked before: nothing is shared with what was. */
void search_share_anew(struct walk *w)
{
    struct shared *s = &w->shared;
    memset(s->is_held, 0, sizeof s->is_held);
    memset(s->overflows, 0, sizeof s->overflows);
    for (int i = 0; i < MICRO_BATCHES; i++)
        s->whole.recomputed[i] = s->sharded.recomputed[i] = -1;
}

static const struct memory_held *held_of(struct walk *w, const struct cut *c)
{
    struct shared *s = &w->shared;
    if (!s->is_held[c->sharding])
        memory_hold(w->j, c, &s->held[c->sharding]);
    s->is_held[c->sharding] = true;
    return &s->held[c->sharding];
}

/* `micro`: the micro-batch as a power of two, -1 = any other number. */
static void time_candidate(struct walk *w, int micro, struct candidate *k)
{
    struct kernels *s = k->cut.sharding == SHARD_ZERO3 ? &w->shared.sharded : &w->shared.whole;
    const double share = k->cut.recompute_share;
    w->found->timed++;
    if (micro < 0 || micro >= MICRO_BATCHES || k->cut.micro_batch != 1 << micro) {
        step_time(w->j, w->f, &k->cut, &k->memory, &k->step);
        return;
    }
    if (s->recomputed[micro] < share || s->recomputed[micro] > share) {
        compute_micro_batch(w->j, &k->cut, &s->compute[micro]);
        s->recomputed[micro] = share;
    }
    step_with(w->j, w->f, &k->cut, &k->memory, &s->compute[micro], &k->step);
}

/* What a layout has to beat to be kept. NULL: nothing yet. */
static const struct candidate *least_kept(const struct walk *w)
{
    const struct found *f = w->found;
    if (w->best_only)
        return f->evaluated > 0 ? &f->best : NULL;
    return f->has_second ? &f->second : NULL;
}

/* Bytes of a node's host; not stated: enough. */
static double host_of(const struct walk *w)
{
    return w->j->shape.host_memory_gb > 0 ? w->j->shape.host_memory_gb * 1e9 : INFINITY;
}

/* What a cut holds before its first token is more than the card or the host has, and more than what is kept for want of
 * better. */
static bool hopeless(const struct walk *w, const struct memory_held *h)
{
    const struct found *f = w->found;
    const struct candidate *kept = least_kept(w);
    const double least = h->least * (1 - 1e-9); /* summed in another order than the totals */
    if (kept == NULL || (least <= w->usable && h->stage.states.host_bytes <= host_of(w)) ||
        (least <= w->whole && w->least > w->whole))
        return false;
    return kept->fits || (least >= kept->memory.total && (f->best.fits || least >= f->best.memory.total));
}

/* Not with the fastest kernels and the least traffic would it be kept, nor would a larger micro-batch. */
static bool outrun(struct walk *w, const struct cut *c)
{
    const struct candidate *best = &w->found->best, *kept = least_kept(w);
    if (kept == NULL || !kept->fits)
        return false;
    struct step_ideal *i = &w->ideal[c->stack][(unsigned)doublings(c->ep) % IDEALS];
    if (i->tp != c->tp || i->cp != c->cp || i->ep != c->ep)
        step_ideal_of(w->j, w->f, c, i);
    const double fastest = best->step.tokens_per_s;
    return step_most(w->j, w->f, c, i) <
           (same_cut(c, &best->cut) ? fastest : smaller(fastest, kept->step.tokens_per_s));
}

bool search_hopeless(const struct walk *w, const struct cut *c)
{
    const struct shared *s = &w->shared;
    return (c->vpp > 1 && s->overflows[c->sharding]) || (s->is_held[c->sharding] && hopeless(w, &s->held[c->sharding]));
}

static bool forgo(struct walk *w)
{
    w->found->evaluated++;
    return false;
}

/* Time is asked for only where it is compared: of what does not fit, memory alone decides. */
bool search_try(struct walk *w, const struct cut *c, int micro, struct candidate *ret)
{
    const struct job *j = w->j;
    bool customary = w->w->recompute == RECOMPUTE_UNSTATED && recomputes_by_custom(w, c);
    bool eased = w->w->recompute == RECOMPUTE_UNSTATED && !customary;
    ret->cut = *c;
    ret->cut.recompute = eased ? RECOMPUTE_NONE : customary ? RECOMPUTE_FULL : w->w->recompute;
    cut_derive(j, &ret->cut);
    if (outrun(w, &ret->cut))
        return forgo(w);
    const struct memory_held *h = held_of(w, &ret->cut);
    if (hopeless(w, h))
        return forgo(w);
    const struct memory_peak p = eased ? ease_recompute(w, h, &ret->cut) : memory_peak_of(j, &ret->cut, h);
    memory_at(h, &p, &ret->memory);
    ret->fits = p.total <= w->usable && ret->memory.host_bytes <= host_of(w);
    if (c->vpp <= 1 && micro <= 0)
        w->shared.overflows[c->sharding] = p.total > w->usable;
    if (ret->fits)
        time_candidate(w, micro, ret);
    return true;
}
