/* tariff.c — see tariff.h. */
#include "planner/market/tariff.h"

#include <math.h>

#include "base/money.h"

enum { NO_RATE = UINT8_MAX };
static const int64_t NANO_MOST = INT64_MAX / 2; /* of a whole cover */

int64_t tariff_spot_hours(const struct rate *r, int64_t hours_milli)
{
    return hours_milli + (int64_t)ceil((double)hours_milli * r->spot_overhead - 1e-6);
}

int tariff_cost(const struct rate *r, int64_t hours_milli, int64_t *ret_nano)
{
    money_wide units = r->quantity_milli;
    if (r->days == 0)
        units =
            money_thousandth(r->quantity_milli, r->mode == MODE_SPOT ? tariff_spot_hours(r, hours_milli) : hours_milli);
    money_wide cost = units * r->unit_micros;
    if (cost > INT64_MAX / 4)
        return -1;
    *ret_nano = (int64_t)cost;
    return 0;
}

/* A way to pay at the day at hand. leg: the one that holds the day a permit that starts there ends; cost: of all days
 * from the one at hand on, where it is taken there; a_day: what that grows by with each day further back. */
struct way {
    int64_t nano, cost, a_day;
    int32_t days; /* 0 = by the hour */
    uint8_t rate;
    size_t leg;
};

/* The hour first, for ties go to it, then the permits in the order of their rates. */
struct search {
    struct way ways[1 + OFFER_RATES_MAX];
    size_t n_ways;
    uint8_t hourly[OFFER_RATES_MAX]; /* the rates that the hour is the cheapest of */
    size_t n_hourly;
    struct tariff_cover *cover;
};

/* The cheapest pay-as-you-go rate of a day; NO_RATE where none serves it. */
static void ask_hour(const struct tariff *t, const struct tariff_run *run, struct search *s)
{
    struct way *hour = &s->ways[0];
    hour->rate = NO_RATE;
    for (size_t i = 0; i < s->n_hourly; i++) {
        const struct rate *rate = &t->rates[s->hourly[i]];
        int64_t cost;
        if ((rate->mode == MODE_SPOT && !run->spot) || tariff_cost(rate, run->hours_milli, &cost) != 0)
            continue;
        if (hour->rate == NO_RATE || cost < hour->nano) {
            hour->rate = s->hourly[i];
            hour->nano = cost;
        }
    }
}

/* Of permits as long the cheapest (the first of equals) is the only one ever taken. */
static void add_permit(const struct rate *rate, uint8_t number, struct search *s)
{
    struct way p = {.days = rate->days, .rate = number};
    size_t at = 1;
    if (tariff_cost(rate, 0, &p.nano) != 0)
        return;
    while (at < s->n_ways && s->ways[at].days != p.days)
        at++;
    if (at == s->n_ways || p.nano < s->ways[at].nano)
        s->ways[at] = p;
    s->n_ways += at == s->n_ways;
}

static void list_ways(const struct tariff *t, struct search *s)
{
    s->n_ways = 1;
    s->n_hourly = 0;
    for (size_t r = 0; r < t->n_rates; r++) {
        if (t->rates[r].days > 0)
            add_permit(&t->rates[r], (uint8_t)r, s);
        else if (t->rates[r].days == 0)
            s->hourly[s->n_hourly++] = (uint8_t)r;
    }
}

/* A permit that costs more than all the days do by permits of one kind is no part of the cheapest cover. */
static void drop_dear(struct search *s, int32_t span)
{
    if (s->n_ways <= 2)
        return;
    int64_t most = INT64_MAX;
    size_t kept = 1;
    for (size_t i = 1; i < s->n_ways; i++) {
        const int64_t times = (span + s->ways[i].days - 1) / s->ways[i].days;
        int64_t all;
        if (!__builtin_mul_overflow(s->ways[i].nano, times, &all) && all < most)
            most = all;
    }
    for (size_t i = 1; i < s->n_ways; i++)
        if (s->ways[i].nano <= most)
            s->ways[kept++] = s->ways[i];
    s->n_ways = kept;
}

/* Fills in what each way costs from `day` on, and narrows *days, the number of days back from it over which none of
 * these costs takes a turn. The cheapest; NULL: there is none. */
static const struct way *cheapest(struct search *s, int32_t day, int32_t *days)
{
    const struct tariff_leg *legs = s->cover->legs, *newest = &legs[s->cover->n - 1];
    struct way *best = NULL, *hour = &s->ways[0];
    if (hour->rate != NO_RATE) {
        hour->cost = newest->nano + hour->nano;
        hour->a_day = hour->nano;
        best = hour;
    }
    for (struct way *w = hour + 1; w < s->ways + s->n_ways; w++) {
        const int32_t end = day + w->days;
        while (legs[w->leg].first > end)
            w->leg++;
        const int32_t within = end - legs[w->leg].first;
        w->a_day = legs[w->leg].a_day;
        w->cost = w->nano + legs[w->leg].nano - within * w->a_day;
        *days = within < *days ? within + 1 : *days;
        best = best == NULL || w->cost < best->cost ? w : best;
    }
    return best;
}

/* Of so many days back from the one at hand, how many `best` remains the cheapest on. */
static int32_t stays_cheapest(const struct search *s, const struct way *best, int32_t days)
{
    const struct way *hour = &s->ways[0];
    /* An hour more on top of yesterday's permit, against the permit a day earlier. */
    if (best != hour && hour->rate != NO_RATE && hour->nano <= best->a_day)
        return 1;
    for (const struct way *w = hour + 1; w < s->ways + s->n_ways; w++) {
        if (w == best || w->a_day >= best->a_day)
            continue;
        const int64_t lead = w->cost - best->cost - (w < best); /* ties go to the way listed first */
        const int64_t more = lead / (best->a_day - w->a_day);
        days = more < days ? (int32_t)more + 1 : days;
    }
    return days;
}

/* So many days before those there are, paid alike. -1: an amount past int64. */
static int add_leg(struct tariff_cover *c, int32_t days, uint8_t rate, int64_t cost, int64_t a_day)
{
    struct tariff_leg *newest = &c->legs[c->n - 1];
    const int32_t first = newest->first - days;
    int64_t nano;
    if (__builtin_mul_overflow(a_day, (int64_t)days - 1, &nano) || __builtin_add_overflow(nano, cost, &nano) ||
        nano > NANO_MOST)
        return -1;
    if (newest->rate != rate || newest->a_day != a_day || newest->nano + a_day != cost)
        newest = &c->legs[c->n++];
    *newest = (struct tariff_leg){first, rate, nano, a_day};
    return 0;
}

static int walk_back(struct search *s, const struct tariff_run *run)
{
    struct tariff_cover *c = s->cover;
    int32_t left = run->n;
    const int32_t gap = c->legs[c->n - 1].first - (run->first + run->n);
    if (gap > 0 && add_leg(c, gap, NO_RATE, c->legs[c->n - 1].nano, 0) != 0)
        return -1;
    while (left > 0) {
        int32_t days = left;
        const struct way *best = cheapest(s, run->first + left - 1, &days);
        if (best == NULL)
            return -1;
        days = stays_cheapest(s, best, days);
        if (add_leg(c, days, best->rate, best->cost, best->a_day) != 0)
            return -1;
        left -= days;
    }
    return 0;
}

int tariff_cover(const struct tariff *t, const struct tariff_run *runs, size_t n, struct tariff_cover *ret)
{
    struct search s;
    int64_t days = 0;
    ret->cost_nano = 0;
    ret->n = 0;
    if (n == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        days += runs[i].n;
    if (days > TARIFF_DAYS_MAX || n > TARIFF_RUNS_MAX || t->n_rates > OFFER_RATES_MAX)
        return -1;
    const int32_t end = runs[n - 1].first + runs[n - 1].n;
    s.cover = ret;
    list_ways(t, &s);
    drop_dear(&s, end - runs[0].first);
    ret->legs[ret->n++] = (struct tariff_leg){.first = end, .rate = NO_RATE};
    for (size_t i = n; i-- > 0;) {
        /* Runs are mostly alike: ask for the hour's price only when something changed. */
        if (i + 1 == n || runs[i].hours_milli != runs[i + 1].hours_milli || runs[i].spot != runs[i + 1].spot)
            ask_hour(t, &runs[i], &s);
        if (walk_back(&s, &runs[i]) != 0)
            return -1;
    }
    ret->cost_nano = ret->legs[ret->n - 1].nano;
    return 0;
}

bool tariff_next(const struct tariff *t, const struct tariff_run *runs, size_t n, const struct tariff_cover *cover,
                 struct tariff_part *part)
{
    while (part->run < n && runs[part->run].first + runs[part->run].n <= part->end)
        part->run++;
    if (part->run == n)
        return false;
    const struct tariff_run *run = &runs[part->run];
    part->first = part->end > run->first ? part->end : run->first;
    const struct tariff_leg *leg = &cover->legs[cover->n - 1 - part->leg];
    for (; leg[-1].first <= part->first; leg--)
        part->leg++;
    part->rate = leg->rate;
    const int32_t days = t->rates[leg->rate].days, run_end = run->first + run->n;
    part->end = days > 0 ? part->first + days : run_end < leg[-1].first ? run_end : leg[-1].first;
    return true;
}
