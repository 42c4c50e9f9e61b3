/* demand.c — see demand.h. */
#include "planner/costing/demand.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Groups of one SKU rented alike are one pool: a card that validates alone may train among others later. */
static bool same_pool(const struct draft *d, int a, int b)
{
    const struct draft_group *x = &d->groups[a], *y = &d->groups[b];
    return x->offer == y->offer && (x->by_card == y->by_card || offer_nodes_of_cards(x->offer));
}

bool demand_by_card(const struct draft *d, int group)
{
    bool by_card = d->groups[group].by_card;
    for (int g = 0; g < d->n_groups && !by_card; g++)
        by_card = d->groups[g].by_card && same_pool(d, g, group);
    return by_card;
}

int demand_pool(const struct draft *d, int group)
{
    int first = 0;
    while (!same_pool(d, first, group))
        first++;
    return first;
}

/* Levels that a step takes: nodes, or cards where they are paid by the card. */
static int levels_of(const struct draft *d, const struct draft_step *s, bool by_card)
{
    const struct draft_group *g = &d->groups[s->group];
    return g->by_card ? s->units * g->cards : by_card ? s->units * g->offer->sku->gpus_per_node : s->units;
}

int demand_levels(const struct draft *d, int group, int *ret_levels)
{
    const bool by_card = demand_by_card(d, group);
    int n = 0;
    for (int i = 0; i < d->n_steps; i++) {
        int units = levels_of(d, &d->steps[i], by_card), at = 0;
        if (!same_pool(d, d->steps[i].group, group) || units <= 0)
            continue;
        while (at < n && ret_levels[at] < units)
            at++;
        if (at < n && ret_levels[at] == units)
            continue;
        memmove(&ret_levels[at + 1], &ret_levels[at], (size_t)(n - at) * sizeof *ret_levels);
        ret_levels[at] = units;
        n++;
    }
    return n;
}

static void add_run(struct demand *q, int64_t first, int64_t n, int64_t hours_milli, int step, bool spot)
{
    if (n > 0)
        q->runs[q->n++] = (struct tariff_run){(int32_t)first, (int32_t)n, (int32_t)hours_milli, (uint8_t)step, spot};
}

/* The first day that spot may no longer serve, from which on it is the last mile before a deadline. */
static int32_t spot_ends(const struct assume *a, const struct draft *d, const struct draft_step *s)
{
    if (!d->groups[s->group].spot_allowed || s->phase == PHASE_SERVE)
        return 0;
    return d->deadline_day == INT_MAX ? INT_MAX : d->deadline_day - (int)a->spot_last_mile_days + 1;
}

/* Equal days, and what is left on the last: less than a whole day, or more where the hours are billed by the day. */
static void add_days(const struct assume *a, const struct schedule *s, int step, struct demand *q)
{
    const struct draft_step *st = &q->draft->steps[step];
    const double per_day = fmin(24, st->hours_per_day > 0 ? st->hours_per_day : 24);
    const int64_t first = s->first_day[step], end = s->last_day[step] + 1, mile = spot_ends(a, q->draft, st);
    const int64_t billed = s->billed_milli[step];
    if (end <= first)
        return;
    const int64_t day_milli = st->phase == PHASE_DEVELOP ? billed / (end - first) : llround(per_day * 1000);
    const int64_t whole = billed == (end - first) * day_milli ? end - first : end - first - 1;
    const int64_t spot = mile <= first ? 0 : mile - first < whole ? mile - first : whole;
    add_run(q, first, spot, day_milli, step, true);
    add_run(q, first + spot, whole - spot, day_milli, step, false);
    add_run(q, first + whole, end - first - whole, billed - whole * day_milli, step, first + whole < mile);
}

int demand_start(const struct assume *a, const struct draft *d, const struct schedule *s, int group, struct demand *ret)
{
    int64_t days = 0;
    ret->draft = d;
    ret->by_card = demand_by_card(d, group);
    ret->n = 0;
    for (int i = 0; i < d->n_steps; i++) {
        if (!same_pool(d, d->steps[i].group, group) || levels_of(d, &d->steps[i], ret->by_card) <= 0)
            continue;
        days += s->last_day[i] - s->first_day[i] + 1;
        add_days(a, s, i, ret);
    }
    return days > TARIFF_DAYS_MAX ? -1 : 0;
}

void demand_rise(struct demand *q, int levels)
{
    size_t kept = 0;
    for (size_t i = 0; i < q->n; i++)
        if (levels_of(q->draft, &q->draft->steps[q->runs[i].tag], q->by_card) >= levels)
            q->runs[kept++] = q->runs[i];
    q->n = kept;
}
