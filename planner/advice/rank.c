/* rank.c — see rank.h. */
#include "planner/advice/rank.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "planner/offers/candidate.h"

static void limit_deadline(struct build *b, struct draft *d)
{
    struct option *o = d->option;
    if (b->deadline_day == INT_MAX || o->finish.deadline_probability >= b->a.deadline_confidence)
        return;
    o->feasible = false;
    double late = o->finish.high_days - (b->deadline_day + 1);
    struct note *n = note_add(&o->reasons, "deadline_missed");
    n->short_by = fmax(late, 1);
    note_percent(note_date(n, "deadline", b->start + b->deadline_day), "probability", o->finish.deadline_probability);
    note_num(note_date(n, "finish", o->finish.finish_on), "short_by", n->short_by);
    if (o->finish.expected_days <= b->a.near_miss_factor * (b->deadline_day + 1))
        note_num(note_add(&o->warnings, "near_miss"), "factor", b->a.near_miss_factor);
}

static void limit_budget(struct build *b, struct draft *d)
{
    struct option *o = d->option;
    if (b->budget_minor == 0 || o->cost.high <= b->budget_minor)
        return;
    o->feasible = false;
    struct note *n = note_add(&o->reasons, "budget_exceeded");
    n->short_by = (double)(o->cost.high - b->budget_minor) / 100;
    note_money(note_money(note_money(n, "budget", b->budget_minor), "high", o->cost.high), "total", o->cost.total);
    note_money(n, "short_by", o->cost.high - b->budget_minor);
    if ((double)o->cost.high <= b->a.near_miss_factor * (double)b->budget_minor)
        note_num(note_add_once(&o->warnings, "near_miss"), "factor", b->a.near_miss_factor);
}

/* A service may take more machines than a supplier lists for one customer, and nobody else has as many: only he knows
 * whether they are free, so that nothing can be promised. */
static void limit_supply(struct draft *d)
{
    struct option *o = d->option;
    if (d->reserve == NULL || d->reserve->offer == NULL || d->reserve->over == 0)
        return;
    o->feasible = false;
    const struct sku *sku = d->reserve->offer->sku;
    struct note *n = note_text(note_add(&o->reasons, "more_than_listed"), "item", sku->id);
    n->short_by = d->reserve->over;
    const int listed = sku->max_nodes > 1 ? sku->max_nodes : 1;
    note_num(note_num(n, "machines", listed + d->reserve->over), "listed", listed);
}

/* How far a job without a deadline runs past the time that prices are known for: 0 within it, 1 at twice as long. */
static double beyond_horizon(const struct build *b, const struct option *o)
{
    const double horizon = b->a.open_horizon_days;
    return fmax(0, fmin(1, (o->finish.expected_days - horizon) / horizon));
}

void rank_limit(struct build *b, struct draft *d)
{
    struct option *o = d->option;
    o->feasible = true;
    if (beyond_horizon(b, o) > 0)
        note_num(note_add_once(&o->warnings, "outlasts_prices"), "days", o->finish.expected_days);
    limit_deadline(b, d);
    limit_budget(b, d);
    limit_supply(d);
}

void rank_limits(struct build *b, const struct option_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        rank_limit(b, l->items[i]);
}

/* What the option asks of the team against what it can run: 0 = easy, 1 = beyond it. Nodes ask, and so does a card that
 * runs other software than the usual and was not measured. */
static double team_gap(const struct build *b, const struct draft *d)
{
    enum team team = b->workload->constraints.team;
    double most = candidate_team_nodes(&b->a, team == TEAM_UNSTATED ? TEAM_SINGLE_NODE : team);
    double ability = log2(fmax(1, most)) + 1;
    double nodes = d->kind == KIND_SINGLE_MACHINE ? 0.5 : fmax(2, d->groups[d->train_group].units);
    double cluster = fmin(1, (log2(nodes) + 1) / (ability + 1));
    const struct gpu *gpu = d->groups[d->train_group].offer->sku->gpu;
    bool ported = gpu_runs_cuda(gpu) || b->measured_gpu == gpu;
    return ported ? cluster : fmax(cluster, b->a.port_gap);
}

/* How much of the interval of what is needed lies above what can be used: 0 where it fits for certain. */
static double memory_gap(const struct draft *d)
{
    const struct estimate *e = d->estimate;
    if (e == NULL || e->fits == FITS_YES || !(e->memory.high_gb > e->memory.low_gb))
        return 0;
    double above = e->memory.high_gb - e->memory.usable_gb;
    return fmax(0, fmin(1, above / (e->memory.high_gb - e->memory.low_gb)));
}

static double communication_of(const struct draft *d)
{
    return d->estimate != NULL && d->estimate->has_training
               ? fmin(1, fmax(0, d->estimate->training.communication_share))
               : 0;
}

/* What the machines alone say of it, before anything is known of bill and calendar. */
static double risk_at_least(const struct build *b, const struct draft *d)
{
    const struct assume *a = &b->a;
    return a->risk_weight_memory * memory_gap(d) + a->risk_weight_team * team_gap(b, d) +
           a->risk_weight_communication * communication_of(d) + a->risk_weight_spot * d->base->spot_share;
}

static double risk_index(const struct build *b, const struct draft *d)
{
    const struct option *o = d->option;
    const struct assume *a = &b->a;
    double late = isnan(o->finish.deadline_probability) ? beyond_horizon(b, o) : 1 - o->finish.deadline_probability;
    double wide = a->price_band_illustrative > 0 ? 2 * a->price_band_illustrative : 1;
    double price = fmin(1, uncertainty_bands(b, d).price / wide);
    double queue =
        d->queue_jobs > 0 ? fmin(1, (o->finish.high_days - o->finish.low_days) / o->finish.expected_days) : 0;
    return fmin(1, a->risk_weight_deadline * late + a->risk_weight_memory * memory_gap(d) +
                       a->risk_weight_team * team_gap(b, d) + a->risk_weight_price * price +
                       a->risk_weight_communication * communication_of(d) +
                       a->risk_weight_spot * d->base->spot_share + a->risk_weight_queue * queue);
}

static double overall(const struct build *b, double cost, double time, double risk)
{
    double wc, wt, wr;
    candidate_weights(b, &wc, &wt, &wr);
    return (wc * cost + wt * time + wr * risk) / (wc + wt + wr);
}

double rank_at_best(const struct build *b, const struct draft *d, const struct rank_scale *s)
{
    const double cost = d->base->total > 0 ? fmin(1, s->least / (double)d->base->total) : 1;
    const double time = fmin(1, s->soonest / ceil(d->base->schedule.finish_days - 1e-9));
    return overall(b, cost, time, 1 - fmin(1, risk_at_least(b, d)));
}

void rank_score(const struct build *b, const struct draft *d, const struct rank_scale *scale)
{
    const struct option *o = d->option;
    struct scores *s = &d->option->scores;
    s->cost = o->cost.total > 0 ? fmin(1, scale->least / (double)o->cost.total) : 1;
    s->time = fmin(1, scale->soonest / o->finish.expected_days);
    s->risk = 1 - risk_index(b, d);
    s->overall = overall(b, s->cost, s->time, s->risk);
}

static bool any_feasible(const struct option_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i]->option->feasible)
            return true;
    return false;
}

static void score(struct build *b, const struct option_list *l)
{
    struct rank_scale scale = {INFINITY, INFINITY};
    bool feasible = any_feasible(l);
    for (int k = 0; k < KIND_COUNT; k++)
        b->kind_least[k] = b->kind_soonest[k] = INFINITY;
    for (size_t i = 0; i < l->n; i++) {
        const struct option *o = l->items[i]->option;
        if (feasible && !o->feasible)
            continue;
        b->kind_least[o->kind] = fmin(b->kind_least[o->kind], (double)o->cost.total);
        b->kind_soonest[o->kind] = fmin(b->kind_soonest[o->kind], o->finish.expected_days);
        scale.least = fmin(scale.least, (double)o->cost.total);
        scale.soonest = fmin(scale.soonest, o->finish.expected_days);
    }
    b->scored_feasible = feasible;
    if (feasible)
        rank_others(b, &scale);
    for (size_t i = 0; i < l->n; i++)
        rank_score(b, l->items[i], &scale);
}

void rank_others(const struct build *b, struct rank_scale *scale)
{
    if (b->else_least > 0) {
        scale->least = fmin(scale->least, b->else_least);
        scale->soonest = fmin(scale->soonest, b->else_soonest);
    }
}

static bool dominates(const struct option *a, const struct option *b)
{
    bool no_worse = a->cost.total <= b->cost.total && a->finish.expected_days <= b->finish.expected_days &&
                    a->scores.risk >= b->scores.risk;
    bool better = a->cost.total < b->cost.total || a->finish.expected_days < b->finish.expected_days ||
                  a->scores.risk > b->scores.risk;
    return no_worse && better;
}

static void mark_front(const struct option_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        struct option *o = l->items[i]->option;
        o->on_pareto_front = true;
        for (size_t j = 0; j < l->n; j++) {
            const struct option *other = l->items[j]->option;
            if (other->feasible >= o->feasible && dominates(other, o))
                o->on_pareto_front = false;
        }
    }
}

/* How far an infeasible option is from the limit it misses most. */
static double miss_of(const struct build *b, const struct option *o)
{
    double late = b->deadline_day == INT_MAX ? 0 : o->finish.high_days / fmax(1, b->deadline_day + 1);
    double dear = b->budget_minor == 0 ? 0 : (double)o->cost.high / (double)b->budget_minor;
    return fmax(late, dear);
}

bool rank_before(const struct build *k, const struct option *a, const struct option *b)
{
    if (a->feasible != b->feasible)
        return a->feasible;
    double x = a->feasible ? 0 : miss_of(k, a), y = a->feasible ? 0 : miss_of(k, b);
    if (x < y || x > y)
        return x < y;
    if (a->scores.overall > b->scores.overall || a->scores.overall < b->scores.overall)
        return a->scores.overall > b->scores.overall;
    if (a->cost.total != b->cost.total)
        return a->cost.total < b->cost.total;
    return a->kind < b->kind;
}

static void sort(const struct build *b, struct option_list *l, struct spread *spreads)
{
    for (size_t i = 1; i < l->n; i++)
        for (size_t j = i; j > 0 && rank_before(b, l->items[j]->option, l->items[j - 1]->option); j--) {
            struct draft *d = l->items[j];
            struct spread s = spreads[j];
            l->items[j] = l->items[j - 1];
            spreads[j] = spreads[j - 1];
            l->items[j - 1] = d;
            spreads[j - 1] = s;
        }
}

static bool stands_before(const struct option_list *l, size_t i, enum option_kind kind)
{
    for (size_t j = 0; j < i; j++)
        if (l->items[j]->option->kind == kind)
            return true;
    return false;
}

static void drop(struct option_list *l, struct spread *spreads, size_t i)
{
    l->n--;
    memmove(&l->items[i], &l->items[i + 1], (l->n - i) * sizeof *l->items);
    memmove(&spreads[i], &spreads[i + 1], (l->n - i) * sizeof *spreads);
}

/* Of kinds that stand before: the last that another beats in everything, or else the last. l->n: nobody gives way. */
static size_t first_to_go(const struct option_list *l)
{
    size_t last = l->n;
    for (size_t i = l->n; i-- > 0;) {
        const struct option *o = l->items[i]->option;
        if (!stands_before(l, i, o->kind))
            continue;
        if (!o->on_pareto_front)
            return i;
        last = last == l->n ? i : last;
    }
    return last;
}

/* An infeasible option is shown where it is its kind's only word: the nearest miss. Where the answer is full, a
 * feasible one of a kind that is there already gives way, who is cheapest, soonest or safest in something last. */
static void drop_surplus(const struct build *b, struct option_list *l, struct spread *spreads)
{
    for (size_t i = l->n; i-- > 0;)
        if (!l->items[i]->option->feasible && stands_before(l, i, l->items[i]->option->kind))
            drop(l, spreads, i);
    for (size_t gone = 0; l->n > (size_t)b->a.options_max; drop(l, spreads, gone))
        if ((gone = first_to_go(l)) == l->n)
            return;
}

/* Rough worth of a draft among the others; what keeps deadline and budget comes first, then the nearest miss. */
static double worth(const struct build *b, const struct draft *d, double least, double soonest)
{
    double wc, wt, wr, total = fmax(1, (double)d->base->total);
    bool in_time = d->base->schedule.finish_day <= b->deadline_day;
    bool in_budget = b->budget_minor == 0 || d->base->total <= b->budget_minor;
    double cost = least / total, time = soonest / d->base->schedule.finish_days;
    candidate_weights(b, &wc, &wt, &wr);
    return (in_time ? 4 : 0) + (in_budget ? 2 : 0) + (!in_time ? time : !in_budget ? cost : wc * cost + wt * time);
}

/* Two drafts that a customer would call the same offer: same kind, card, number of cards, fabric. */
static bool alike(const struct draft *x, const struct draft *y)
{
    const struct draft_group *a = &x->groups[x->train_group], *b = &y->groups[y->train_group];
    return x->kind == y->kind && a->offer->sku->gpu == b->offer->sku->gpu &&
           a->cards * a->units == b->cards * b->units &&
           (a->units < 2 || x->kind == KIND_UNIVERSITY_TIME || a->offer->sku->network == b->offer->sku->network);
}

/* The least cost and the soonest finish of a kind: its own options are measured by them, whatever stands beside. */
struct scale {
    double least, soonest;
};

static void scales_of(const struct option_list *l, struct scale ret[KIND_COUNT])
{
    for (int k = 0; k < KIND_COUNT; k++)
        ret[k] = (struct scale){INFINITY, INFINITY};
    for (size_t i = 0; i < l->n; i++) {
        struct scale *s = &ret[l->items[i]->kind];
        s->least = fmin(s->least, (double)l->items[i]->base->total);
        s->soonest = fmin(s->soonest, l->items[i]->base->schedule.finish_days);
    }
}

void rank_prune(struct build *b, struct option_list *l)
{
    struct scale scales[KIND_COUNT];
    size_t kept = 0, most = (size_t)b->a.options_per_kind;
    scales_of(l, scales);
    for (size_t i = 0; i < l->n; i++) {
        const struct draft *d = l->items[i];
        const struct scale *s = &scales[d->kind];
        size_t better = 0;
        double mine = worth(b, d, s->least, s->soonest);
        for (size_t j = 0; j < l->n; j++) {
            double other = j == i || l->items[j]->kind != d->kind ? -1 : worth(b, l->items[j], s->least, s->soonest);
            bool beats = other > mine || (j < i && other >= mine);
            better += !beats ? 0 : alike(d, l->items[j]) ? most : 1;
        }
        l->items[i]->surplus = better >= most;
    }
    for (size_t i = 0; i < l->n; i++)
        if (!l->items[i]->surplus)
            l->items[kept++] = l->items[i];
    l->n = kept;
}

static void label(struct option *o, size_t number)
{
    o->rank = (int)number + 1;
    memset(o->label, 0, sizeof o->label);
    if (number < 26) {
        o->label[0] = (char)('A' + number);
    } else {
        o->label[0] = (char)('A' + number / 26 - 1);
        o->label[1] = (char)('A' + number % 26);
    }
}

void rank_order(struct build *b, struct option_list *l, struct spread *spreads)
{
    score(b, l);
    sort(b, l, spreads);
    mark_front(l);
    drop_surplus(b, l, spreads);
    mark_front(l); /* of those that are shown */
    for (size_t i = 0; i < l->n; i++)
        label(l->items[i]->option, i);
}
