/* reserve_try.h — the reserve's load on the machines of one card: sized, and paid in the cheapest way.
 *
 * A day of a service is its mean load, carried by a base, and a few hours of peak, which take more machines. The base
 * and the rest are two levels of demand like any other: years or months below, hours above, is what falls out where it
 * is cheaper than months alone; a machine by the hour is switched off outside the peak.
 */
#ifndef SUANPAN_PLANNER_RESERVE_RESERVE_TRY_H
#define SUANPAN_PLANNER_RESERVE_RESERVE_TRY_H

#include "planner/costing/costing.h"
#include "planner/drafting/build.h"

/* The cheapest machine so far. */
struct reserve_best {
    const struct offer *offer;
    struct serving serving;
    struct serving_sizing sizing;
    bool by_card;
    int units, base;
    int over; /* machines beyond what the supplier lists */
    int64_t net;
    struct reserve_batch batch;
};

/* Machines that the supplier lists are better than machines to ask for, the fewer the better; then the cheaper. */
bool reserve_better(const struct reserve_best *a, const struct reserve_best *b);

/* Of the machines that so many units take, those beyond what the supplier lists. */
int reserve_over(const struct offer *o, bool by_card, int units);

/* Days of the reserve and hours of each, for the base and for what the peak adds. */
struct reserve_hours {
    size_t days;
    int32_t base_milli, peak_milli;
    struct costing_room *room; /* to reckon in (costing.h); NULL = none lent */
};

double reserve_peak_hours(const struct build *b, const struct serving *load);
struct reserve_hours reserve_hours_of(const struct build *b, const struct reserve_plan *r);

/* Whole nodes, or cards where the SKU is sold by the card: what `gpus` cards in replicas of `per_replica` take. */
int reserve_units(const struct offer *o, bool by_card, int gpus, int per_replica);

/* `base` units all day and the rest of `units` in the peak's hours; batch: the part of the load that can wait. */
int reserve_bill(const struct offer *o, bool by_card, struct reserve_hours h, int base, int units,
                 const struct reserve_batch *batch, struct bill *bill, int64_t *ret_net, int64_t *ret_tax);

/* How many of its machines a reserve takes: all day, in all, and at the far end of a line. */
struct reserve_count {
    int base, units, burst;
};

/* The same of a reserve whose machines are chosen, at both ends of its line where it has one. */
int reserve_plan_bill(const struct reserve_plan *r, struct reserve_hours h, struct reserve_count n,
                      const struct reserve_batch *batch, struct bill *bill, int64_t *ret_net, int64_t *ret_tax);

/* The cheapest of the first `at_most` machines with this card; ret->offer NULL where none can carry the load. */
enum { RESERVE_OFFERS_MAX = 2 };
int reserve_try(struct build *b, struct reserve_plan *r, const struct gpu *gpu, struct reserve_hours h, size_t at_most,
                struct reserve_best *ret, struct err *err);

/* The chosen machines paid otherwise, for comparison: r->ways. */
void reserve_ways(struct reserve_plan *r, struct reserve_hours h);

/* How its machines in one place follow the day, where they do. */
void reserve_tell_day(struct reserve_plan *r);

#endif
