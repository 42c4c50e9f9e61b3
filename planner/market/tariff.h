/* tariff.h — the cheapest way to pay for one machine whose use over the days is known.
 *
 * Permits: an hour (pay as you go, or spot where allowed), a month, a year, each bought whole. The cover is exact:
 * dynamic programming from the last active day back. It never costs more than the best single mode.
 */
#ifndef SUANPAN_PLANNER_MARKET_TARIFF_H
#define SUANPAN_PLANNER_MARKET_TARIFF_H

#include <stdint.h>

#include "planner/market/market.h"

enum { TARIFF_DAYS_MAX = 3700 };

/* One active day of one unit; ascending by day, no day twice. */
struct tariff_day {
    int32_t day;
    int32_t hours_milli; /* billed */
    uint8_t tag;         /* whatever the caller wants back (the step) */
    bool spot;           /* spot may serve this day */
};

struct tariff {
    const struct rate *rates; /* all of one kind: nodes, or cards */
    size_t n_rates;
};

/* Cost unit of the search: milli-units x micros (1e-9 of a currency unit), so that nothing is rounded inside. */
struct tariff_cover {
    int64_t cost_nano;
    size_t n;
    int64_t best[TARIFF_DAYS_MAX + 1]; /* of the last so many days */
    uint8_t choice[TARIFF_DAYS_MAX];   /* tariff_choice; by the number of days that follow */
};

/* The rate taken at active day i: hourly, or a permit that starts there. */
static inline int tariff_choice(const struct tariff_cover *c, size_t i)
{
    return c->choice[c->n - 1 - i];
}

/* The search walks back from the last day, so days with a common end share its work: the last `known` days (0 = none)
 * are the last of those that *ret was made of, by the same tariff. -1: no cover (no rates, or a day only spot could
 * serve and may not), too many days, or an amount past int64. */
int tariff_cover(const struct tariff *t, const struct tariff_day *days, size_t n, size_t known,
                 struct tariff_cover *ret);

/* Cost of `hours_milli` at an hourly or spot rate, or of one permit (hours_milli ignored). -1 on overflow. */
int tariff_cost(const struct rate *r, int64_t hours_milli, int64_t *ret_nano);

/* The first active day at or after `from` + the permit's length, i.e. where a permit started at days[i] ends. */
size_t tariff_after(const struct tariff_day *days, size_t n, size_t i, int permit_days);

/* Billed hours of a spot use of `hours_milli`: the work lost to interruptions is done again. */
int64_t tariff_spot_hours(const struct rate *r, int64_t hours_milli);

#endif
