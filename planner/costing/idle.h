/* idle.h — hours of an option's machines that are paid for by a month or a year and that its job leaves idle.
 *
 * Debugging works a few hours of a day, and a term outlasts the run: what stands idle there has been paid, and work
 * that nobody waits for can have it. Only days inside a permit count, and of each day only what no step uses.
 */
#ifndef SUANPAN_PLANNER_COSTING_IDLE_H
#define SUANPAN_PLANNER_COSTING_IDLE_H

#include "planner/core/plan.h"
#include "planner/costing/draft.h"

enum { IDLE_RUNS_MAX = 64 };

/* Days in a row with the same idle hours on each of `units` equal machines. */
struct idle_run {
    const struct offer *offer;
    const struct rate *rate; /* what the term was paid at */
    enum section section;    /* of the line that pays it */
    bool by_card;            /* units are cards, otherwise nodes */
    int first_day, last_day; /* from the start of the plan */
    double hours;            /* idle, of each day */
    int units;
};

/* The runs of a draft on this calendar, soonest first; at most `max`. -1: a machine cannot be paid for at all. */
int idle_runs(const struct assume *a, const struct draft *d, const struct schedule *s, struct idle_run *ret, int max,
              int *ret_n);

#endif
