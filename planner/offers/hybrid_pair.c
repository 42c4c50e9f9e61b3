/* hybrid_pair.c — the lightest cut of the runs between two ends of a line: their machines paired, each pairing's cuts
 * weighed; and the same again for a plan made of another. */
#include <math.h>
#include <string.h>

#include "planner/costing/costing.h"
#include "planner/offers/candidate.h"
#include "planner/offers/option_hybrid.h"
#include "planner/reserve/batch.h"

enum { CUTS_WEIGHED = 128, CUTS_WEIGHED_OTHER = 32, CUTS_WEIGHED_LEAN = 4, CUTS_WEIGHED_AGAIN = 24, CUTS_WEIGHED_AGAIN_OTHER = 8 };

/* A late cut weighs more than any in time. */
static const double LATE = 1e6;

int hybrid_lanes(const struct build *b)
{
    const struct training *t = &b->workload->training;
    const bool two_kinds = t->parallel_runs == 0 && t->shareable_runs > 0 && b->training.runs > 1;
    return two_kinds ? 2 : b->training.parallel_runs;
}

static struct hybrid_end end_of(const struct hybrid_side *side)
{
    double hour, month;
    hybrid_side_rates(side, &hour, &month);
    return (struct hybrid_end){side->run_hours, hybrid_side_lanes(side), hour, month};
}

struct hybrid_range hybrid_range_of(const struct build *b, const struct hybrid_pair *p)
{
    struct hybrid_range r = {.runs = b->training.runs, .lanes = hybrid_lanes(b), .most_out = b->shareable_runs};
    double risk;
    r.local = end_of(&p->local);
    r.out = end_of(&p->burst);
    candidate_weights(b, &r.by_cost, &r.by_time, &risk);
    return r;
}

/* A cut reckoned exactly: what its machines do not explain of the cost, and its days. */
struct probe {
    double days, rest, finish;
};

static bool probe(struct build *b, const struct hybrid_pair *p, const struct hybrid_range *r,
                  const struct hybrid_cut *cut, struct draft *scratch, struct probe *ret)
{
    struct reckoning sum;
    b->n_reckoned++;
    b->n_weighed++;
    if (!hybrid_cut_allowed(r, cut) || hybrid_draft(b, p, cut, scratch) ||
        costing_reckon(&b->day, scratch, &what_if_expected, &sum))
        return false;
    ret->days = hybrid_cut_days(r, cut);
    ret->rest = (double)sum.total - hybrid_rough_cost(r, cut);
    ret->finish = sum.schedule.finish_days;
    return true;
}

/* The straight line through two cuts, a slow and a quick one: what is paid and waited for beside the runs' machines. */
static void fix_range(struct build *b, const struct hybrid_pair *p, struct hybrid_range *r, struct draft *scratch)
{
    const int half = r->lanes / 2 < r->local.most_lanes ? r->lanes / 2 : r->local.most_lanes;
    const int out = r->lanes - half < r->out.most_lanes ? r->lanes - half : r->out.most_lanes;
    const int few = r->lanes > 2 && r->local.most_lanes > 1 ? 2 : 1; /* more than one: validation is bounded by both */
    const struct hybrid_cut one = {few, 1, hybrid_balanced_runs(r, few, 1)};
    const struct hybrid_cut many = {half, out, hybrid_balanced_runs(r, half, out)};
    struct probe slow = {0}, quick = {0};
    r->days_a_day = 1;
    if (!probe(b, p, r, &one, scratch, &slow))
        return;
    if (probe(b, p, r, &many, scratch, &quick) && quick.days < slow.days) {
        r->cost_a_day = fmax(0, (slow.rest - quick.rest) / (slow.days - quick.days));
        r->cost_a_lane = many.lanes_local > few ? fmax(0, (quick.rest - slow.rest) / (many.lanes_local - few)) : 0;
        r->days_a_day = fmax(1, (slow.finish - quick.finish) / (slow.days - quick.days));
    }
    r->fixed_cost = fmax(0, slow.rest - r->cost_a_day * slow.days - r->cost_a_lane * few);
    r->fixed_days = fmax(0, slow.finish - r->days_a_day * slow.days);
}

double hybrid_weight(const struct build *b, const struct reckoning *r)
{
    double cost, time, risk;
    candidate_weights(b, &cost, &time, &risk);
    const double days = fmax(r->schedule.finish_days, 1);
    if (r->schedule.finish_day > b->deadline_day)
        return LATE + days; /* the nearest miss */
    return cost * log(fmax(1, (double)r->total)) + time * log(days);
}

const char *hybrid_maker(const struct hybrid_side *side)
{
    return side->offer->sku->gpu->vendor;
}

struct weighing {
    struct build *b;
    const struct hybrid_pair *pair;
    struct draft *scratch;
};

static double weigh(void *ctx, const struct hybrid_cut *cut)
{
    const struct weighing *w = ctx;
    struct reckoning r;
    w->b->n_reckoned++;
    w->b->n_weighed++;
    if (hybrid_draft(w->b, w->pair, cut, w->scratch) || costing_reckon(&w->b->day, w->scratch, &what_if_expected, &r))
        return INFINITY;
    return hybrid_weight(w->b, &r);
}

static void remember(struct build *b, const struct hybrid_found *found)
{
    if (b->order_only || b->lean)
        return;
    if (b->hybrids == NULL && (b->hybrids = arena_alloc(b->arena, sizeof *b->hybrids)) == NULL)
        return; /* the arena remembers */
    if (b->hybrids->n < HYBRID_LINES_MAX)
        b->hybrids->found[b->hybrids->n++] = *found;
}

/* Puts the machines of this pairing at the ends; false where they are those of another, or of two makers. */
static bool take_pairing(struct hybrid_found *f, int pairing)
{
    const bool cheap_home = pairing & 1, cheap_cloud = pairing & 2;
    if ((cheap_home && hybrid_side_same(&f->home.fit, &f->home.cheap)) ||
        (cheap_cloud && hybrid_side_same(&f->cloud.fit, &f->cloud.cheap)))
        return false;
    f->pair.local = cheap_home ? f->home.cheap : f->home.fit;
    f->pair.burst = cheap_cloud ? f->cloud.cheap : f->cloud.fit;
    return strcmp(hybrid_maker(&f->pair.local), hybrid_maker(&f->pair.burst)) == 0;
}

static int tries_for(const struct build *b, const struct hybrid_found *f, int pairing, bool again)
{
    if (again)
        return pairing == f->best ? CUTS_WEIGHED_AGAIN : CUTS_WEIGHED_AGAIN_OTHER;
    return b->lean ? CUTS_WEIGHED_LEAN : pairing == 0 ? CUTS_WEIGHED : CUTS_WEIGHED_OTHER;
}

/* The lightest cut of all pairings; again: `f` has what a plan much like this one found. Returns how many were weighed;
 * the best is in f->best, -1 = none. */
static int weigh_pairings(struct build *b, struct hybrid_found *f, bool again, struct draft *scratch)
{
    const struct hybrid_found before = *f;
    struct weighing w = {b, &f->pair, scratch};
    double weight, best = INFINITY;
    int tried = 0;
    f->best = -1;
    for (int i = 0; i < (b->lean ? 1 : HYBRID_PAIRINGS); i++) {
        f->cuts[i] = (struct hybrid_cut){0};
        if (!take_pairing(f, i) || (again && before.cuts[i].runs_out == 0))
            continue;
        struct hybrid_range range = hybrid_range_of(b, &f->pair);
        fix_range(b, &f->pair, &range, scratch);
        tried += hybrid_cut_best_from(&range, weigh, &w, tries_for(b, &before, i, again),
                                      again ? &before.cuts[i] : NULL, &f->cuts[i], &weight);
        if (isinf(weight))
            f->cuts[i].runs_out = 0;
        if (weight < best) {
            f->weight = best = weight;
            f->best = i;
        }
    }
    return tried;
}

static int add_best(struct build *b, struct hybrid_found *f, int tried, struct option_list *out, struct err *err)
{
    struct draft *d = build_draft_new(b, KIND_HYBRID_CLOUD);
    if (!d)
        return err_set(err, ERR_NOMEM, "hybrid drafts do not fit");
    if (f->best < 0 || !take_pairing(f, f->best) || hybrid_draft(b, &f->pair, &f->cuts[f->best], d))
        return 0;
    if (tried > 1)
        note_num(note_add(&d->reasons, "hybrid_splits_tried"), "splits", tried);
    return batch_keep(b, out, d, err);
}

/* The same machines in the same shape, at whatever price and speed. */
static bool is_machine(const struct hybrid_side *a, const struct hybrid_side *b)
{
    return a->offer->sku == b->offer->sku && a->by_card == b->by_card &&
           a->shape.gpus_per_node == b->shape.gpus_per_node && a->shape.nodes == b->shape.nodes;
}

static bool are_machines(const struct hybrid_ends *a, const struct hybrid_ends *b)
{
    return is_machine(&a->fit, &b->fit) && is_machine(&a->cheap, &b->cheap);
}

int hybrid_pair_add(struct build *b, const struct hybrid_pair *p, const struct hybrid_ends *home,
                    const struct hybrid_ends *cloud, const struct hybrid_found *before, struct option_list *out,
                    struct err *err)
{
    struct hybrid_found f = {.pair = *p, .home = *home, .cloud = *cloud};
    struct draft *scratch = build_draft_new(b, KIND_HYBRID_CLOUD);
    const bool again = before != NULL && are_machines(home, &before->home) && are_machines(cloud, &before->cloud);
    if (!scratch)
        return err_set(err, ERR_NOMEM, "hybrid drafts do not fit");
    if (again) {
        memcpy(f.cuts, before->cuts, sizeof f.cuts);
        f.best = before->best;
    }
    const int tried = weigh_pairings(b, &f, again, scratch);
    if (f.best >= 0)
        remember(b, &f);
    return add_best(b, &f, tried, out, err);
}

/* The same machine with the work of this plan. */
static bool take_again(struct build *b, struct hybrid_side *s)
{
    s->estimate = build_physics_again(b, s->estimate, s->offer->sku->gpu);
    s->run_hours = s->estimate != NULL ? s->estimate->training.wall_hours : 0;
    return s->run_hours > 0;
}

static bool take_ends_again(struct build *b, struct hybrid_ends *e)
{
    const bool same = hybrid_side_same(&e->fit, &e->cheap);
    if (!take_again(b, &e->fit) || !take_again(b, &e->cheap))
        return false;
    if (same)
        e->cheap = e->fit;
    return true;
}

int hybrid_pair_again(struct build *b, const struct hybrid_found *found, bool moved, struct option_list *out,
                      struct err *err)
{
    struct hybrid_found f = *found;
    struct draft *scratch = build_draft_new(b, KIND_HYBRID_CLOUD);
    if (!scratch || !take_ends_again(b, &f.home) || !take_ends_again(b, &f.cloud))
        return err_set(err, ERR_NOMEM, "hybrid drafts do not fit");
    if (moved)
        weigh_pairings(b, &f, true, scratch);
    return add_best(b, &f, 0, out, err);
}
