/* idle.c — see idle.h. */
#include "planner/costing/idle.h"

#include "planner/costing/cover.h"
#include "planner/costing/demand.h"

struct idle_search {
    struct idle_run *runs;
    int n, max;
};

/* One more idle day: of the run before it where that goes on, or the first of a new one. Soonest first. */
static void add_day(struct idle_search *s, const struct idle_run *day)
{
    for (int i = 0; i < s->n; i++) {
        struct idle_run *r = &s->runs[i];
        if (r->rate == day->rate && r->section == day->section && r->units == day->units &&
            r->last_day + 1 == day->first_day && !(r->hours < day->hours) && !(r->hours > day->hours)) {
            r->last_day = day->first_day;
            return;
        }
    }
    if (s->n == s->max)
        return;
    int at = s->n++;
    for (; at > 0 && s->runs[at - 1].first_day > day->first_day; at--)
        s->runs[at] = s->runs[at - 1];
    s->runs[at] = *day;
}

/* The days of one permit, and what of each of them its work leaves. */
static void walk_permit(struct idle_search *s, struct idle_run run, const struct tariff_run *runs, size_t n,
                        const struct tariff_part *permit)
{
    size_t next = permit->run;
    for (int day = permit->first; day < permit->end; day++) {
        while (next < n && runs[next].first + runs[next].n <= day)
            next++;
        const bool works = next < n && runs[next].first <= day;
        run.first_day = run.last_day = day;
        run.hours = 24 - (works ? (double)runs[next].hours_milli / 1000 : 0);
        if (run.hours > 0)
            add_day(s, &run);
    }
}

static int walk_level(struct idle_search *s, const struct draft *d, const struct tariff *t, struct idle_run run,
                      const struct tariff_run *runs, size_t n)
{
    struct tariff_cover cover;
    struct tariff_part part = {.run = 0};
    if (tariff_cover(t, runs, n, &cover) != 0)
        return -1;
    while (tariff_next(t, runs, n, &cover, &part)) {
        run.rate = &t->rates[part.rate];
        if (run.rate->days == 0)
            continue;
        run.section = cover_permit_section(d->steps, runs, n, &part);
        walk_permit(s, run, runs, n, &part);
    }
    return 0;
}

/* The offer's own row, which outlives the tariff made of copies. */
static void point_to_offer(struct idle_search *s, int from, const struct offer *o)
{
    for (int i = from; i < s->n; i++)
        for (size_t r = 0; s->runs[i].offer == o && r < o->n_rates; r++)
            if (o->rates[r].price == s->runs[i].rate->price && o->rates[r].per_card == s->runs[i].by_card)
                s->runs[i].rate = &o->rates[r];
}

static int walk_group(const struct assume *a, const struct draft *d, const struct schedule *c, int group,
                      struct idle_search *s)
{
    const struct draft_group *g = &d->groups[group];
    struct demand q;
    struct rate rates[OFFER_RATES_MAX];
    const bool by_card = demand_by_card(d, group);
    const struct tariff t = cover_tariff(g->offer, by_card, rates);
    struct idle_run run = {.offer = g->offer, .by_card = by_card};
    int levels[DRAFT_STEPS_MAX], below = 0, n_levels = demand_levels(d, group, levels);
    if (demand_start(a, d, c, group, &q) != 0)
        return -1;
    for (int l = 0; l < n_levels; l++) {
        run.units = levels[l] - below;
        demand_rise(&q, levels[l]);
        if (walk_level(s, d, &t, run, q.runs, q.n) != 0)
            return -1;
        below = levels[l];
    }
    point_to_offer(s, 0, g->offer);
    return 0;
}

int idle_runs(const struct assume *a, const struct draft *d, const struct schedule *s, struct idle_run *ret, int max,
              int *ret_n)
{
    struct idle_search search = {ret, 0, max};
    for (int g = 0; g < d->n_groups; g++)
        if (demand_pool(d, g) == g && walk_group(a, d, s, g, &search) != 0)
            return -1;
    *ret_n = search.n;
    return 0;
}
