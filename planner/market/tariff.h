/* tariff.h — the cheapest way to pay for one machine whose use over the days is known.
 *
 * Permits: an hour (pay as you go, or spot where allowed), a month, a year, each bought whole. The cover is exact:
 * dynamic programming from the last day of use back. It never costs more than the best single mode.
 *
 * Days are told in runs of equal ones, and so is the cover: a job of a year is a handful of runs, and the search walks
 * from one change to the next instead of from day to day.
 */
#ifndef SUANPAN_PLANNER_MARKET_TARIFF_H
#define SUANPAN_PLANNER_MARKET_TARIFF_H

#include <stdint.h>

#include "planner/market/market.h"

enum { TARIFF_DAYS_MAX = 3700, TARIFF_RUNS_MAX = 512 };

/* Days one after another on which one unit works alike. Runs ascend, and no day is in two of them. */
struct tariff_run {
    int32_t first, n;    /* day, and how many from it on */
    int32_t hours_milli; /* billed, on each of them */
    uint8_t tag;         /* whatever the caller wants back (the step) */
    bool spot;           /* spot may serve these days */
};

struct tariff {
    const struct rate *rates; /* all of one kind: nodes, or cards */
    size_t n_rates;
};

/* Days one after another that the cheapest cover pays alike: each by the hour, or each by a permit that starts on it,
 * where one starts there. They reach up to the first day of the leg before this one in the row. */
struct tariff_leg {
    int32_t first;
    uint8_t rate;  /* of no meaning on days without use */
    int64_t nano;  /* what all days from `first` on cost */
    int64_t a_day; /* by so much less from each day later */
};

/* Cost unit of the search: milli-units x micros (1e-9 of a currency unit), so that nothing is rounded inside. */
struct tariff_cover {
    int64_t cost_nano;
    size_t n;                                                      /* legs: those of the last days come first */
    struct tariff_leg legs[1 + TARIFF_DAYS_MAX + TARIFF_RUNS_MAX]; /* a day's each, and a gap's, at most */
};

/* -1: no cover (no rates, or a day only spot could serve and may not), too many days or runs, or an amount past int64.
 */
int tariff_cover(const struct tariff *t, const struct tariff_run *runs, size_t n, struct tariff_cover *ret);

/* What one rate pays for: the days of use from `first`, which is of runs[run], up to before `end`. By the hour they are
 * all of that run. */
struct tariff_part {
    int rate;
    size_t run, leg; /* leg: counted from the first day's */
    int32_t first, end;
};

/* The cover's parts from the first day on: {0} before the first; false: there is no further one. */
bool tariff_next(const struct tariff *t, const struct tariff_run *runs, size_t n, const struct tariff_cover *cover,
                 struct tariff_part *part);

/* Days of a run that the part pays for. */
static inline int32_t tariff_days(const struct tariff_run *run, const struct tariff_part *part)
{
    const int32_t from = run->first > part->first ? run->first : part->first, to = run->first + run->n;
    return (to < part->end ? to : part->end) - from;
}

/* Cost of `hours_milli` at an hourly or spot rate, or of one permit (hours_milli ignored). -1 on overflow. */
int tariff_cost(const struct rate *r, int64_t hours_milli, int64_t *ret_nano);

/* Billed hours of a spot use of `hours_milli`: the work lost to interruptions is done again. */
int64_t tariff_spot_hours(const struct rate *r, int64_t hours_milli);

#endif
