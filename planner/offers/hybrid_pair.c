/* hybrid_pair.c — the lightest cut of the runs between two ends of a line: their machines paired, each pairing's cuts
 * weighed with the service whole or split; and the same again for a plan made of another. */
#include <math.h>
#include <string.h>

#include "planner/costing/costing.h"
#include "planner/offers/candidate.h"
#include "planner/offers/option_hybrid.h"
#include "planner/reserve/batch.h"

enum {
    CUTS_WEIGHED = 128,
    CUTS_WEIGHED_OTHER = 32,
    CUTS_WEIGHED_LEAN = 4,
    CUTS_WEIGHED_AGAIN = 24,
    CUTS_WEIGHED_AGAIN_OTHER = 8
};

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
    struct hybrid_range r = {.runs = b->training.runs, .lanes = hybrid_lanes(b)};
    r.month_hours = 24 * round(b->a.month_days);
    double risk;
    r.none_out = p->split != NULL && p->split_costs_more <= 0; /* else nothing would be gained */
    r.local = end_of(&p->local);
    if (p->burst.offer != NULL && p->runs_stay == NULL) {
        r.out = end_of(&p->burst);
        r.most_out = b->shareable_runs;
    }
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
    if (!hybrid_cut_allowed(r, cut) || hybrid_draft(b, p, cut, scratch) != 0 ||
        costing_reckon(&b->day, scratch, &what_if_expected, &sum) != 0)
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
    bool failed; /* more parts than a draft holds */
};

static double weigh(void *ctx, const struct hybrid_cut *cut)
{
    struct weighing *w = ctx;
    struct reckoning r;
    w->b->n_reckoned++;
    w->b->n_weighed++;
    const int rc = hybrid_draft(w->b, w->pair, cut, w->scratch);
    w->failed |= rc < 0;
    if (rc != 0 || costing_reckon(&w->b->day, w->scratch, &what_if_expected, &r) != 0)
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
    f->pair.service = f->services[pairing];
    return f->pair.burst.offer == NULL || strcmp(hybrid_maker(&f->pair.local), hybrid_maker(&f->pair.burst)) == 0;
}

static int tries_for(const struct build *b, const struct hybrid_found *f, int pairing, bool again)
{
    if (again)
        return pairing == f->best ? CUTS_WEIGHED_AGAIN : CUTS_WEIGHED_AGAIN_OTHER;
    return b->lean ? CUTS_WEIGHED_LEAN : pairing == 0 ? CUTS_WEIGHED : CUTS_WEIGHED_OTHER;
}

void hybrid_cost_of_line(struct build *b, const struct hybrid_pair *p, double *ret_most, double *ret_least)
{
    const double months = ceil(p->split->months * b->a.month_days - 1e-9) / b->a.month_days;
    const double month = hybrid_line_month(b, p), answers = hybrid_answers_cost(b, p, p->split);
    *ret_most = month * ceil(months - 1e-9) + answers;
    *ret_least = month * floor(months + 1e-9) + answers;
}

/* What the service does beside runs that go out: what costs less; both are tried where the days of the runs decide. */
static int services_worth_trying(struct build *b, const struct hybrid_pair *p, enum hybrid_service ret[2])
{
    double most, least;
    ret[0] = HYBRID_WHOLE;
    ret[1] = HYBRID_SPLIT;
    if (p->split == NULL)
        return 1;
    hybrid_cost_of_line(b, p, &most, &least);
    if (p->split_costs_more <= 0)
        ret[0] = HYBRID_SPLIT;
    return p->split_costs_more > 0 && p->split_costs_more - most + least < 0 ? 2 : 1;
}

/* The lightest cut of one pairing, its service whole or split. Returns how many were weighed. */
static int weigh_pairing(struct weighing *w, struct hybrid_found *f, int pairing, int tries,
                         const struct hybrid_cut *from, double *ret_weight)
{
    enum hybrid_service services[2];
    const int n = services_worth_trying(w->b, &f->pair, services);
    int tried = 0;
    *ret_weight = INFINITY;
    for (int k = 0; k < n; k++) {
        struct hybrid_cut cut;
        double weight;
        f->pair.service = services[k];
        struct hybrid_range range = hybrid_range_of(w->b, &f->pair);
        fix_range(w->b, &f->pair, &range, w->scratch);
        tried += hybrid_cut_best_from(&range, weigh, w, tries, from, &cut, &weight);
        if (isinf(weight) || weight >= *ret_weight)
            continue;
        *ret_weight = weight;
        f->cuts[pairing] = cut;
        f->services[pairing] = services[k];
    }
    return tried;
}

/* The lightest cut of all pairings; again: `f` has what a plan much like this one found. Returns how many were weighed,
 * -1: more parts than a draft holds; the best is in f->best, -1 = none. */
static int weigh_pairings(struct build *b, struct hybrid_found *f, bool again, struct draft *scratch)
{
    const struct hybrid_found before = *f;
    struct weighing w = {b, &f->pair, scratch, false};
    double weight, best = INFINITY;
    int tried = 0;
    f->best = -1;
    for (int i = 0; i < (b->lean ? 1 : HYBRID_PAIRINGS); i++) {
        f->cuts[i] = (struct hybrid_cut){0};
        if (!take_pairing(f, i) || (again && before.cuts[i].lanes_local == 0))
            continue;
        tried += weigh_pairing(&w, f, i, tries_for(b, &before, i, again), again ? &before.cuts[i] : NULL, &weight);
        if (weight < best) {
            f->weight = best = weight;
            f->best = i;
        }
    }
    return w.failed ? -1 : tried;
}

static int add_best(struct build *b, struct hybrid_found *f, int tried, struct option_list *out, struct err *err)
{
    struct draft *d = build_draft_new(b, KIND_HYBRID_CLOUD);
    if (!d)
        return err_set(err, ERR_NOMEM, "hybrid drafts do not fit");
    if (tried >= 0 && (f->best < 0 || !take_pairing(f, f->best)))
        return 0;
    const int rc = tried < 0 ? -1 : hybrid_draft(b, &f->pair, &f->cuts[f->best], d);
    if (rc != 0)
        return rc < 0 ? err_set(err, ERR_INTERNAL, "a hybrid has more parts than a draft holds") : 0;
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
    if (a->fit.offer == NULL || b->fit.offer == NULL)
        return a->fit.offer == b->fit.offer;
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
    draft_hush(scratch);
    if (again) {
        memcpy(f.cuts, before->cuts, sizeof f.cuts);
        memcpy(f.services, before->services, sizeof f.services);
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
    s->estimate = build_physics_again(b, s->estimate, s->offer->sku->gpu, shape_gpus(&s->shape));
    s->run_hours = s->estimate != NULL ? s->estimate->training.wall_hours : 0;
    return s->run_hours > 0;
}

static bool take_ends_again(struct build *b, struct hybrid_ends *e)
{
    if (e->fit.offer == NULL)
        return true; /* no run goes there */
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
    draft_hush(scratch);
    const int tried = moved ? weigh_pairings(b, &f, true, scratch) : 0;
    return add_best(b, &f, tried < 0 ? -1 : 0, out, err);
}
