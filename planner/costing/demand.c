/* demand.c — see demand.h. */
#include "planner/costing/demand.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Groups of one SKU rented alike are one pool: a card that validates alone may train among others later. */
static bool same_pool(const struct draft *d, int a, int b)
{
    return d->groups[a].offer == d->groups[b].offer && d->groups[a].by_card == d->groups[b].by_card;
}

int demand_pool(const struct draft *d, int group)
{
    int first = 0;
    while (!same_pool(d, first, group))
        first++;
    return first;
}

/* Levels that a step takes: nodes, or cards where they are paid by the card. */
static int levels_of(const struct draft *d, const struct draft_step *s)
{
    const struct draft_group *g = &d->groups[s->group];
    return g->by_card ? s->units * g->cards : s->units;
}

int demand_levels(const struct draft *d, int group, int *ret_levels)
{
    int n = 0;
    for (int i = 0; i < d->n_steps; i++) {
        int units = levels_of(d, &d->steps[i]), at = 0;
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

static int add_days(const struct assume *a, const struct draft *d, const struct schedule *s, int step,
                    struct tariff_day *days, size_t max, size_t *n)
{
    const struct draft_step *st = &d->steps[step];
    double per_day = fmin(24, st->hours_per_day > 0 ? st->hours_per_day : 24);
    int64_t left = s->billed_milli[step], day_milli = llround(per_day * 1000);
    bool spot = d->groups[st->group].spot_allowed && st->phase != PHASE_SERVE;
    for (int day = s->first_day[step]; day <= s->last_day[step]; day++) {
        if (*n == max)
            return -1;
        int64_t today = left < day_milli ? left : day_milli;
        bool last_mile = d->deadline_day != INT_MAX && day > d->deadline_day - (int)a->spot_last_mile_days;
        days[(*n)++] = (struct tariff_day){day, (int32_t)today, (uint8_t)step, spot && !last_mile};
        left -= today;
    }
    return 0;
}

int demand_start(const struct assume *a, const struct draft *d, const struct schedule *s, int group, struct demand *ret)
{
    ret->draft = d;
    ret->first = ret->end = 0;
    for (int i = 0; i < d->n_steps; i++)
        if (same_pool(d, d->steps[i].group, group) && levels_of(d, &d->steps[i]) > 0 &&
            add_days(a, d, s, i, ret->days, TARIFF_DAYS_MAX, &ret->end) != 0)
            return -1;
    return 0;
}

size_t demand_rise(struct demand *q, int levels)
{
    bool stays[DRAFT_STEPS_MAX];
    size_t same = q->end, to;
    for (int i = 0; i < q->draft->n_steps; i++)
        stays[i] = levels_of(q->draft, &q->draft->steps[i]) >= levels;
    while (same > q->first && stays[q->days[same - 1].tag])
        same--;
    to = same;
    for (size_t i = same; i-- > q->first;)
        if (stays[q->days[i].tag])
            q->days[--to] = q->days[i];
    q->first = to;
    return q->end - same;
}
