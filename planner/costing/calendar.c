/* calendar.c — see calendar.h. */
#include "planner/costing/calendar.h"

#include <math.h>

#include "base/money.h"

const struct what_if what_if_expected = {1, 1, 1, 0};

/* Hours are bought in steps of the hourly price; 1 h where nobody says otherwise. */
static int64_t granularity_of(const struct draft *d, const struct draft_step *s)
{
    if (s->group < 0 || s->group >= d->n_groups)
        return 1000;
    const struct draft_group *g = &d->groups[s->group];
    for (size_t i = 0; i < g->offer->n_rates; i++)
        if (g->offer->rates[i].days == 0 && g->offer->rates[i].per_card == g->by_card)
            return g->offer->rates[i].granularity_milli_h;
    return 1000;
}

static double work_hours(const struct draft_step *s, const struct what_if *w)
{
    return s->scales ? s->hours * w->time : s->hours;
}

/* Days of work that debugging goes with: validate + migrate + train, side-by-side steps counted once. */
static double debugged_days(const struct draft *d, const struct what_if *w)
{
    double days = 0, beside = 0;
    for (int i = 0; i < d->n_steps; i++) {
        const struct draft_step *s = &d->steps[i];
        double own = work_hours(s, w) / 24;
        if (s->phase != PHASE_VALIDATE && s->phase != PHASE_MIGRATE && s->phase != PHASE_TRAIN)
            continue;
        days += s->beside == 0 ? own : fmax(0, own - beside);
        beside = s->beside == 0 ? own : fmax(beside, own);
    }
    return days;
}

static double step_hours(const struct assume *a, const struct draft *d, const struct draft_step *s,
                         const struct what_if *w)
{
    if (s->phase != PHASE_DEVELOP)
        return work_hours(s, w);
    if (s->hours <= 0)
        return 0; /* nothing to develop */
    double share = a->debug_share / (1 - a->debug_share);
    double stretch = s->stretch > 0 ? s->stretch : 1;
    double days = fmin(ceil(share * debugged_days(d, w) * stretch - 1e-9), a->develop_days_max);
    return days * s->hours_per_day;
}

static int64_t rounds(int64_t milli, int64_t granularity)
{
    return (milli + granularity - 1) / granularity;
}

static int place_step(const struct assume *a, const struct draft *d, int i, const struct what_if *w, int latest,
                      struct schedule *ret)
{
    const struct draft_step *s = &d->steps[i];
    int64_t granularity = granularity_of(d, s), exact = 0, billed = 0;
    double hours = step_hours(a, d, s, w), day = fmin(24, s->hours_per_day > 0 ? s->hours_per_day : 24);
    if (!(hours >= 0) || hours / day > a->horizon_days)
        return -1;
    if (hours > 0 && hours_to_milli(fmax(0, hours - 1e-9), 1, &exact) != 0)
        return -1;
    /* How hours are billed moves no date: days are those of the work. Debugging starts anew each morning. */
    const int64_t day_milli = llround(day * 1000), days = (exact + day_milli - 1) / day_milli;
    const int64_t steps =
        s->phase == PHASE_DEVELOP ? days * rounds(day_milli, granularity) : rounds(exact, granularity);
    if (__builtin_mul_overflow(steps, granularity, &billed))
        return -1;
    int start = s->beside > 0 ? ret->first_day[s->beside - 1] : latest + 1;
    start += s->wait_days > 0 ? (int)ceil(s->wait_days - 1e-9) : 0;
    if (start + days > (int64_t)a->horizon_days)
        return -1;
    ret->first_day[i] = start;
    ret->last_day[i] = start + (int)days - 1;
    ret->billed_milli[i] = billed;
    return 0;
}

int calendar_schedule(const struct assume *a, const struct draft *d, const struct what_if *w, struct schedule *ret)
{
    int latest = -1, finish = -1;
    for (int i = 0; i < d->n_steps; i++) {
        if (place_step(a, d, i, w, latest, ret) != 0)
            return -1;
        latest = ret->last_day[i] > latest ? ret->last_day[i] : latest;
        if (d->steps[i].phase == PHASE_TRAIN && ret->last_day[i] > finish)
            finish = ret->last_day[i];
    }
    ret->finish_day = finish >= 0 ? finish : latest > 0 ? latest : 0;
    ret->finish_days = fmax(1, ret->finish_day + 1 + w->wait_days);
    return 0;
}
