/* summary.c — see summary.h. */
#include "planner/advice/summary.h"

#include <math.h>
#include <string.h>

#include "planner/advice/assumptions.h"
#include "planner/advice/follow.h"
#include "planner/costing/costing.h"
#include "planner/offers/candidate.h"

static const char *recommendation_code(const struct build *b, const struct plan *plan)
{
    const struct option *first = &plan->options[0];
    size_t feasible = 0;
    bool cheapest = true, soonest = true, alone = true; /* alone: nobody else is done on that day */
    for (size_t i = 0; i < plan->n_options; i++) {
        const struct option *o = &plan->options[i];
        if (!o->feasible)
            continue;
        feasible++;
        cheapest &= first->cost.total <= o->cost.total;
        soonest &= first->finish.expected_days <= o->finish.expected_days;
        alone &= o == first || first->finish.finish_on < o->finish.finish_on;
    }
    if (feasible == 1)
        return "only_feasible";
    if (cheapest && soonest && b->trains)
        return "cheapest_and_soonest";
    if (alone && b->workload->priority == PRIORITY_FASTEST)
        return "fastest_feasible";
    return cheapest ? "cheapest_feasible" : alone ? "fastest_feasible" : "best_balance";
}

static void recommend(const struct build *b, struct plan *plan)
{
    struct note *n = &plan->recommendation;
    if (plan->n_options == 0 || !plan->options[0].feasible) {
        *n = (struct note){.code = "nothing_feasible", .short_by = NAN};
        return;
    }
    const struct option *o = &plan->options[0];
    plan->recommended = o->label;
    *n = (struct note){.code = recommendation_code(b, plan), .short_by = NAN};
    note_date(note_money(note_text(n, "label", o->label), "total", o->cost.total), "finish", o->finish.finish_on);
    plan->monthly_beats_hourly_after_hours = o->monthly_beats_hourly_after_hours;
    plan->annual_beats_monthly_after_months = o->annual_beats_monthly_after_months;
}

/* Share of the sampled points at which the second option would come out before the first by the ranking in force: cost
 * and time against the least and the soonest of all options at that point, the risk stays. */
static double flips(const struct build *b, const struct plan *plan, const struct spread *s)
{
    double wc, wt, wr;
    int n = 0;
    candidate_weights(b, &wc, &wt, &wr);
    for (int i = 0; i < SOBOL_POINTS; i++) {
        double least = INFINITY, soonest = INFINITY, score[2];
        for (size_t j = 0; j < plan->n_options; j++) {
            if (!plan->options[j].feasible)
                continue;
            least = fmin(least, (double)s[j].total[i]);
            soonest = fmin(soonest, (double)s[j].finish[i]);
        }
        for (int k = 0; k < 2; k++)
            score[k] = wc * least / fmax(1, (double)s[k].total[i]) + wt * soonest / (double)s[k].finish[i] +
                       wr * plan->options[k].scores.risk;
        n += score[1] > score[0];
    }
    return (double)n / SOBOL_POINTS;
}

/* What of an option is least known, each as half the width of its band. */
struct unknowns {
    double speed, price, load, queue;
};

static void add_unknowns(const struct build *b, const struct draft *d, bool reserves_differ, struct unknowns *u)
{
    const struct bands bands = uncertainty_bands(b, d);
    const struct option *o = d->option;
    const double waits = (o->finish.high_days - o->finish.low_days) / o->finish.expected_days / 2;
    u->speed = fmax(u->speed, log(bands.speed_high / bands.speed_low) / 2);
    u->price = fmax(u->price, bands.price);
    if (reserves_differ && o->cost.total > 0)
        u->load = fmax(u->load, (double)(o->reserve.high - o->reserve.low) / (double)o->cost.total / 2);
    if (d->queue_jobs > 0)
        u->queue = fmax(u->queue, waits - log(bands.speed_high / bands.speed_low) / 2);
}

/* The input that would settle the order of two: what is least known of them. A load that both serve alike moves neither
 * past the other. */
static const char *settled_by(const struct build *b, const struct draft *x, const struct draft *y)
{
    struct unknowns u = {0};
    const bool differ = x->reserve != y->reserve;
    add_unknowns(b, x, differ, &u);
    add_unknowns(b, y, differ, &u);
    const double most = fmax(fmax(u.speed, u.price), fmax(u.load, u.queue));
    return u.speed >= most   ? "order_close_speed"
           : u.queue >= most ? "order_close_queue"
           : u.load >= most  ? "order_close_load"
                             : "order_close_price";
}

/* The order of the first two is said to be close when it could easily be the other way round, with what would settle
 * it. */
static void warn_close(const struct build *b, const struct option_list *l, const struct spread *s, struct plan *plan)
{
    if (l->n < 2 || !plan->options[1].feasible)
        return;
    double other_way = flips(b, plan, s);
    if (1 - other_way >= b->a.order_close_probability)
        return;
    const char *code = settled_by(b, l->items[0], l->items[1]);
    struct note *n = note_percent(note_add(&plan->warnings, code), "probability", other_way);
    note_text(note_text(n, "first", plan->options[0].label), "second", plan->options[1].label);
}

static const struct draft *best_of(const struct option_list *l, enum option_kind kind)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i]->kind == kind)
            return l->items[i];
    return NULL;
}

/* By how much the cluster is better than the single machine at `factor` times the work, by the weights of the
 * priority; where the single machine passes the horizon the cluster is better, where the cluster does nobody knows. */
static double lead(struct build *b, const struct draft *single, const struct draft *cluster, double factor)
{
    struct what_if w = what_if_expected;
    struct reckoning one, many;
    double wc, wt, wr;
    candidate_weights(b, &wc, &wt, &wr);
    w.time = factor;
    if (costing_reckon(&b->day, cluster, &w, &many) != 0)
        return NAN;
    if (costing_reckon(&b->day, single, &w, &one) != 0)
        return 1;
    double least = (double)(one.total < many.total ? one.total : many.total);
    double soonest = fmin(one.schedule.finish_days, many.schedule.finish_days);
    return wc * (least / fmax(1, (double)many.total) - least / fmax(1, (double)one.total)) +
           wt * (soonest / many.schedule.finish_days - soonest / one.schedule.finish_days);
}

/* Tokens from which the best cluster is better than the best single machine, by doubling and then halving; 0 = always.
 */
static double cluster_break_even(struct build *b, const struct option_list *l)
{
    const struct draft *single = best_of(l, KIND_SINGLE_MACHINE), *cluster = best_of(l, KIND_SMALL_CLUSTER);
    double tokens = b->training.tokens, low = 1.0 / 64, high = low;
    if (single == NULL || cluster == NULL || !(tokens > 0))
        return NAN;
    while (high <= 64 && !(lead(b, single, cluster, high) > 0)) {
        low = high;
        high *= 4;
    }
    if (high > 64)
        return NAN;
    if (high <= low)
        return 0;
    for (int i = 0; i < 8; i++) {
        double middle = sqrt(low * high);
        if (lead(b, single, cluster, middle) > 0)
            high = middle;
        else
            low = middle;
    }
    return high * tokens;
}

static void list_assumed(const struct build *b, struct plan *plan)
{
    const struct note_list *lists[] = {plan->n_options > 0 ? &plan->options[0].estimate.assumptions : NULL,
                                       &b->reserve.notes};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (size_t i = 0; lists[k] != NULL && i < lists[k]->n; i++)
            if (note_find(&plan->assumed, lists[k]->items[i].code) == NULL)
                *note_add(&plan->assumed, "") = lists[k]->items[i];
    if (b->workload->constraints.start_on == DATE_NONE)
        note_date(note_add(&plan->assumed, "start_assumed"), "date", b->start);
}

/* A machine on which more nodes are slower need not be told that two are not enough. */
static bool said_already(const struct note_list *l, const struct note *n)
{
    for (size_t i = 0; strcmp(n->code, "two_node_gate") == 0 && i < l->n; i++)
        if (strcmp(l->items[i].code, "small_model_penalty") == 0 && l->items[i].n_args > 0 && n->n_args > 0 &&
            strcmp(l->items[i].args[0].text, n->args[0].text) == 0)
            return true;
    return false;
}

/* Clusters that look cheap and do not work are named although another cluster does. */
static void name_traps(const struct build *b, struct plan *plan)
{
    static const char *const traps[] = {"fabric_bound", "small_model_penalty", "two_node_gate"};
    const struct note_list *l = &b->refusals[KIND_SMALL_CLUSTER];
    bool told = false;
    for (size_t i = 0; i < plan->n_infeasible; i++)
        told |= plan->infeasible[i].kind == KIND_SMALL_CLUSTER;
    for (size_t i = 0; i < l->n && !told; i++)
        for (size_t k = 0; k < sizeof traps / sizeof *traps; k++)
            if (strcmp(l->items[i].code, traps[k]) == 0 && !said_already(l, &l->items[i]))
                *note_add(&plan->warnings, "") = l->items[i];
}

static void list_warnings(const struct build *b, struct plan *plan)
{
    name_traps(b, plan);
    if (b->workload->constraints.mix_gpus || b->workload->constraints.n_gpus > 1)
        note_add(&plan->warnings, "slow_card_gates");
    for (size_t i = 0; i < b->market.unpriced.n; i++)
        *note_add(&plan->warnings, "") = b->market.unpriced.items[i];
    for (size_t i = 0; i < b->warnings.n; i++)
        *note_add(&plan->warnings, "") = b->warnings.items[i];
}

int summary_build(struct build *b, const struct option_list *ranked, const struct spread *spreads, struct plan *plan,
                  struct err *err)
{
    plan->monthly_beats_hourly_after_hours = plan->annual_beats_monthly_after_months = NAN;
    if (readings_build(b, ranked, plan, err) != 0) /* first: a plan asked for because cards seemed short */
        return -1;
    recommend(b, plan);
    warn_close(b, ranked, spreads, plan);
    list_warnings(b, plan);
    plan->cluster_beats_single_at_tokens = cluster_break_even(b, ranked);
    list_assumed(b, plan);
    return assumptions_list(b, plan) != 0 ? err_set(err, ERR_NOMEM, "no room for the assumptions") : 0;
}
