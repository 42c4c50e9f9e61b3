/* contest.c — see contest.h. */
#include "planner/advice/contest.h"

#include <limits.h>
#include <math.h>

#include "planner/advice/effort.h"
#include "planner/advice/rank.h"
#include "planner/offers/answer.h"
#include "planner/offers/candidate.h"
#include "planner/offers/kinds.h"

/* Drafts of the plan that is planned again, of the kinds that its change does not touch. */
static int take_alike(struct build *b, unsigned kinds, struct option_list *l, struct err *err)
{
    for (size_t i = 0; i < b->drafted.n; i++) {
        if (!(kinds & 1u << b->drafted.items[i]->kind))
            continue;
        struct draft *own = arena_room(b->arena, 1, sizeof *own);
        if (own == NULL || !arena_grow(b->arena, (void **)&l->items, &l->cap, l->n, sizeof *l->items))
            return err_set(err, ERR_NOMEM, "no room for drafts taken over");
        *own = *b->drafted.items[i];
        own->deadline_day = b->deadline_day;
        own->option = NULL;
        l->items[l->n++] = own;
    }
    return 0;
}

/* What the kinds drafted stays at hand for plans made of this one. */
static int keep_drafted(struct build *b, const struct option_list *l, struct err *err)
{
    struct draft **items = arena_array(b->arena, l->n + 1, sizeof *items);
    if (items == NULL)
        return err_set(err, ERR_NOMEM, "no room for drafts");
    for (size_t i = 0; i < l->n; i++)
        items[i] = l->items[i];
    b->drafted = (struct option_list){items, l->n, l->n + 1};
    return 0;
}

/* Kind by kind, so that what each takes is known. */
static int draft_kinds(struct build *b, unsigned kinds, struct option_list *l, struct err *err)
{
    for (int k = 0; k < KIND_COUNT; k++) {
        const int searched = build_searched(b), effort = effort_of_contest(b, 0);
        if (kinds_build(b, kinds & 1u << k, l, err) != 0)
            return -1;
        b->kind_work[k] = effort_of_contest(b, 0) - effort;
        b->kind_searched[k] = build_searched(b) - searched;
    }
    return 0;
}

static int draft_all(struct build *b, unsigned kinds, struct option_list *l, struct err *err)
{
    if (draft_kinds(b, kinds & ~b->kinds_alike, l, err) != 0 || take_alike(b, kinds & b->kinds_alike, l, err) != 0 ||
        (!b->order_only && keep_drafted(b, l, err) != 0))
        return -1;
    rank_prune(b, l);
    return 0;
}

int contest_hold(struct build *b, unsigned kinds, struct contest *ret, struct err *err)
{
    *ret = (struct contest){0};
    if (draft_all(b, kinds, &ret->list, err) != 0)
        return -1;
    for (size_t i = 0; i < ret->list.n; i++)
        if (answer_option(b, ret->list.items[i], err) != 0)
            return -1;
    b->n_answered = (int)ret->list.n;
    b->n_searched = build_searched(b);
    if (uncertainty_run(b, &ret->list, &ret->spreads, err) != 0)
        return -1;
    rank_limits(b, &ret->list);
    rank_order(b, &ret->list, ret->spreads);
    if (!b->order_only)
        uncertainty_cheapest(&ret->list, ret->spreads);
    return 0;
}

enum { RACE_MAX = 32 };

/* The drafts of a contest of which only the first is asked: whichever is looked at has an option then. */
struct race {
    struct build *b;
    struct option_list list;
    struct spread *spread; /* of one at a time */
    struct rank_scale scale;
    struct err *err;
    bool failed;
};

/* Without a limit everything can be had but what is more than a supplier lists. */
static bool can_miss(const struct race *r, size_t i)
{
    const struct reserve_plan *reserve = r->list.items[i]->reserve;
    return r->b->deadline_day != INT_MAX || r->b->budget_minor > 0 || (reserve != NULL && reserve->over > 0);
}

/* Puts a draft into lines and holds it to the limits, once. */
static bool is_feasible(struct race *r, size_t i)
{
    struct draft *d = r->list.items[i];
    if (d->option == NULL) {
        if (candidate_complete(r->b, d) != 0) {
            r->failed = true;
            err_set(r->err, ERR_INTERNAL, "a candidate that was reckoned cannot be reckoned again");
            return false;
        }
        if (answer_option(r->b, d, r->err) != 0 ||
            uncertainty_of(r->b, d, uncertainty_place(&r->list, i), r->spread, r->err) != 0) {
            r->failed = true;
            return false;
        }
        r->b->n_answered++;
        rank_limit(r->b, d);
    }
    return d->option->feasible;
}

static double cost_of(const struct draft *d)
{
    return (double)d->base->total;
}

static double days_of(const struct draft *d)
{
    return ceil(d->base->schedule.finish_days - 1e-9);
}

/* The least figure of what keeps the limits; INFINITY: nothing does. */
static double least_feasible(struct race *r, double (*figure)(const struct draft *d))
{
    bool passed[RACE_MAX] = {false};
    for (size_t round = 0; round < r->list.n && !r->failed; round++) {
        size_t best = r->list.n;
        for (size_t i = 0; i < r->list.n; i++)
            if (!passed[i] && (best == r->list.n || figure(r->list.items[i]) < figure(r->list.items[best])))
                best = i;
        if (!can_miss(r, best) || is_feasible(r, best))
            return figure(r->list.items[best]);
        passed[best] = true;
    }
    return INFINITY;
}

/* From who could score most: the rest need not be looked at once one scores more than the next could. */
static struct draft *first_of(struct race *r)
{
    bool passed[RACE_MAX] = {false};
    struct draft *first = NULL;
    for (size_t round = 0; round < r->list.n && !r->failed; round++) {
        size_t best = r->list.n;
        double most = 0;
        for (size_t i = 0; i < r->list.n; i++) {
            const double at_best = passed[i] ? -1 : rank_at_best(r->b, r->list.items[i], &r->scale);
            if (!passed[i] && (best == r->list.n || at_best > most)) {
                best = i;
                most = at_best;
            }
        }
        if (first != NULL && most < first->option->scores.overall)
            break;
        passed[best] = true;
        if (!is_feasible(r, best))
            continue;
        struct draft *d = r->list.items[best];
        rank_score(r->b, d, &r->scale);
        if (first == NULL || rank_before(r->b, d->option, first->option))
            first = d;
    }
    return first;
}

int contest_leader(struct build *b, unsigned kinds, struct draft **ret, struct err *err)
{
    struct race r = {.b = b, .err = err};
    *ret = NULL;
    if (draft_all(b, kinds, &r.list, err) != 0)
        return -1;
    b->n_searched = build_searched(b);
    if (r.list.n == 0)
        return 0;
    if (r.list.n > RACE_MAX || (r.spread = arena_room(b->arena, 1, sizeof *r.spread)) == NULL)
        return err_set(err, ERR_NOMEM, "no room for a sample");
    r.scale = (struct rank_scale){least_feasible(&r, cost_of), least_feasible(&r, days_of)};
    rank_others(b, &r.scale);
    *ret = isfinite(r.scale.least) ? first_of(&r) : NULL;
    if (*ret == NULL && !r.failed)
        *ret = r.list.items[0]; /* nothing can be had */
    return r.failed ? -1 : 0;
}
