/* replan.c — the best option under a changed workload: what relaxations and sensitivity are made of. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "planner/advice/replan.h"
#include "planner/advice/uncertainty.h"
#include "planner/costing/costing.h"
#include "planner/offers/candidate.h"
#include "planner/offers/kinds.h"
#include "planner/reserve/reserve.h"

/* Physics depends on the model, the training and the readings, never on constraints or prices. */
static bool same_physics(const struct workload *a, const struct workload *b)
{
    struct training one = a->training; /* an estimate is of one run, however many there are */
    one.runs = b->training.runs;
    one.parallel_runs = b->training.parallel_runs;
    one.shareable_runs = b->training.shareable_runs;
    return memcmp(&a->model, &b->model, sizeof a->model) == 0 && memcmp(&one, &b->training, sizeof one) == 0 &&
           memcmp(&a->measured, &b->measured, sizeof a->measured) == 0 && a->overrides == b->overrides &&
           a->n_overrides == b->n_overrides;
}

static bool same_load(const struct workload *a, const struct workload *b)
{
    const struct constraints *x = &a->constraints, *y = &b->constraints;
    return memcmp(&a->serving, &b->serving, sizeof a->serving) == 0 && x->city == y->city && x->gpus == y->gpus &&
           x->n_gpus == y->n_gpus && x->providers == y->providers && x->n_providers == y->n_providers &&
           x->data_sensitive == y->data_sensitive && x->can_desensitise == y->can_desensitise &&
           (a->serving.stated || memcmp(&a->model, &b->model, sizeof a->model) == 0);
}

/* What a price of the day comes to depends on the currency, on spot and on the request's own assumptions. */
static bool same_prices(const struct workload *a, const struct workload *b)
{
    return memcmp(a->currency, b->currency, sizeof a->currency) == 0 &&
           a->constraints.allow_spot == b->constraints.allow_spot && a->overrides == b->overrides &&
           a->n_overrides == b->n_overrides;
}

/* A slow run (90th percentile) at a dear price has to keep the limits, as in the plan itself. */
static bool keeps_limits(struct build *b, const struct draft *d)
{
    struct bands bands = uncertainty_bands(b, d);
    struct what_if late = what_if_expected, dear = what_if_expected;
    struct reckoning r;
    if (d->reserve != NULL && d->reserve->over > 0)
        return false;
    late.time = pow(bands.speed_high, 0.8416 / 1.2816); /* the 80th percentile */
    if (b->deadline_day != INT_MAX &&
        (costing_reckon(&b->day, d, &late, &r) != 0 || r.schedule.finish_day > b->deadline_day))
        return false;
    dear.time = bands.speed_high;
    dear.price = 1 + bands.price;
    return b->budget_minor == 0 || (costing_reckon(&b->day, d, &dear, &r) == 0 && r.total <= b->budget_minor);
}

static void take_best(struct build *b, const struct option_list *l, struct replan *ret)
{
    double wc, wt, wr, least = INFINITY, soonest = INFINITY, best = -1;
    candidate_weights(b, &wc, &wt, &wr);
    for (size_t i = 0; i < l->n; i++) {
        least = fmin(least, (double)l->items[i]->base->total);
        soonest = fmin(soonest, l->items[i]->base->schedule.finish_days);
    }
    for (size_t i = 0; i < l->n; i++) {
        const struct draft *d = l->items[i];
        bool feasible = keeps_limits(b, d);
        double total = fmax(1, (double)d->base->total);
        double value = wc * least / total + wt * soonest / d->base->schedule.finish_days + (feasible ? 2 : 0);
        if (value <= best)
            continue;
        best = value;
        *ret = (struct replan){feasible, d->kind, d->base->total, b->start + d->base->schedule.finish_day, d};
    }
}

int build_replan(struct build *b, const struct workload *changed, unsigned kinds, struct replan *ret, struct err *err)
{
    struct plan_request q = {b->catalog, changed, b->day.as_of};
    struct option_list list = {0};
    struct build *child = arena_alloc(b->arena, sizeof *child);
    if (child == NULL)
        return err_set(err, ERR_NOMEM, "no room to plan again");
    *ret = (struct replan){.feasible = false, .kind = KIND_COUNT};
    if (build_init(child, &q, b->arena, err) != 0)
        return -1;
    child->lean = true;
    if (same_prices(b->workload, changed))
        child->market.offers = b->market.offers;
    if (same_physics(b->workload, changed))
        memcpy(child->physics, b->physics, sizeof child->physics);
    if (same_load(b->workload, changed))
        child->reserve = b->reserve;
    else if (reserve_build(child, err) != 0)
        return -1;
    if (kinds_build(child, kinds, &list, err) != 0)
        return -1;
    take_best(child, &list, ret);
    return 0;
}
