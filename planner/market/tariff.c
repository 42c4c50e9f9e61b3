/* tariff.c — see tariff.h. */
#include "planner/market/tariff.h"

#include <math.h>

#include "base/money.h"

int64_t tariff_spot_hours(const struct rate *r, int64_t hours_milli)
{
    return hours_milli + (int64_t)ceil((double)hours_milli * r->spot_overhead - 1e-6);
}

int tariff_cost(const struct rate *r, int64_t hours_milli, int64_t *ret_nano)
{
    money_wide units = r->quantity_milli;
    if (r->days == 0) {
        int64_t hours = r->mode == MODE_SPOT ? tariff_spot_hours(r, hours_milli) : hours_milli;
        units = units * hours / 1000;
    }
    money_wide cost = units * r->unit_micros;
    if (cost > INT64_MAX / 4)
        return -1;
    *ret_nano = (int64_t)cost;
    return 0;
}

size_t tariff_after(const struct tariff_day *days, size_t n, size_t i, int permit_days)
{
    int32_t end = days[i].day + permit_days;
    /* Active days are mostly consecutive: the answer is near i + permit_days, never beyond it. */
    size_t j = i + (size_t)permit_days < n ? i + (size_t)permit_days : n;
    while (j > i + 1 && days[j - 1].day >= end)
        j--;
    return j;
}

/* The cheapest pay-as-you-go rate of a day: its index, or -1. */
static int cheapest_hour(const struct tariff *t, const struct tariff_day *d, int64_t *ret_nano)
{
    int best = -1;
    for (size_t r = 0; r < t->n_rates; r++) {
        const struct rate *rate = &t->rates[r];
        int64_t cost;
        if (rate->days != 0 || (rate->mode == MODE_SPOT && !d->spot) || tariff_cost(rate, d->hours_milli, &cost) != 0)
            continue;
        if (best < 0 || cost < *ret_nano) {
            best = (int)r;
            *ret_nano = cost;
        }
    }
    return best;
}

/* A permit as the search walks back over the days: `after` is where one that starts at the day at hand ends. */
struct permit {
    int64_t nano;
    int32_t days;
    uint8_t rate;
    size_t after;
};

/* Of permits as long the cheapest (the first of equals) is the only one ever taken. */
static size_t list_permits(const struct tariff *t, size_t n_days, struct permit *ret)
{
    size_t n = 0;
    for (size_t r = 0; r < t->n_rates; r++) {
        struct permit p = {.days = t->rates[r].days, .rate = (uint8_t)r, .after = n_days};
        size_t at = 0;
        if (p.days <= 0 || tariff_cost(&t->rates[r], 0, &p.nano) != 0)
            continue;
        while (at < n && ret[at].days != p.days)
            at++;
        if (at == n || p.nano < ret[at].nano)
            ret[at] = p;
        n += at == n;
    }
    return n;
}

/* A permit that costs more than all the days do by permits of one kind is no part of the cheapest cover. */
static size_t drop_dear(struct permit *permits, size_t n, int32_t span)
{
    int64_t most = INT64_MAX;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t times = (span + permits[i].days - 1) / permits[i].days;
        int64_t all;
        if (!__builtin_mul_overflow(permits[i].nano, times, &all) && all < most)
            most = all;
    }
    for (size_t i = 0; i < n; i++)
        if (permits[i].nano <= most)
            permits[kept++] = permits[i];
    return kept;
}

int tariff_cover(const struct tariff *t, const struct tariff_day *days, size_t n, size_t known,
                 struct tariff_cover *ret)
{
    struct permit permits[OFFER_RATES_MAX];
    if (n > TARIFF_DAYS_MAX || t->n_rates > OFFER_RATES_MAX)
        return -1;
    size_t n_permits = list_permits(t, n, permits);
    if (n > 0)
        n_permits = drop_dear(permits, n_permits, days[n - 1].day - days[0].day + 1);
    for (size_t p = 0; known > 0 && known < n && p < n_permits; p++)
        permits[p].after = tariff_after(days, n, n - known - 1, permits[p].days);
    int64_t *best = ret->best, hour_nano = 0;
    int hour = -1;
    best[0] = 0;
    for (size_t i = n - known; i-- > 0;) {
        const size_t left = n - i; /* days from this one on */
        /* Consecutive days are mostly alike: ask for the hour's price only when something changed. */
        if (i + known + 1 == n || days[i].hours_milli != days[i + 1].hours_milli || days[i].spot != days[i + 1].spot)
            hour = cheapest_hour(t, &days[i], &hour_nano);
        int choice = hour;
        int64_t cost = hour < 0 ? INT64_MAX : best[left - 1] + hour_nano;
        for (struct permit *p = permits; p < permits + n_permits; p++) {
            while (p->after > i + 1 && days[p->after - 1].day >= days[i].day + p->days)
                p->after--;
            if (p->nano + best[n - p->after] < cost) {
                cost = p->nano + best[n - p->after];
                choice = p->rate;
            }
        }
        if (choice < 0 || cost > INT64_MAX / 2)
            return -1;
        best[left] = cost;
        ret->choice[left - 1] = (uint8_t)choice;
    }
    ret->n = n;
    ret->cost_nano = best[n];
    return 0;
}
