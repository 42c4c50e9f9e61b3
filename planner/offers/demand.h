/* demand.h — which days each machine of an option works, and for how many billed hours. */
#ifndef SUANPAN_PLANNER_OFFERS_DEMAND_H
#define SUANPAN_PLANNER_OFFERS_DEMAND_H

#include "planner/offers/draft.h"
#include "planner/offers/tariff.h"

/* Distinct numbers of units a group is used with, ascending: levels between two of them have the same days.
 * At most DRAFT_STEPS_MAX. */
int demand_levels(const struct draft *d, int group, int *ret_units);

/* Days of every level whose number is at most `units` and more than the next smaller one: the steps of the group
 * that use at least `units` units. -1 when there are more than `max`. */
int demand_days(const struct build *b, const struct draft *d, const struct schedule *s, int group, int units,
                struct tariff_day *days, size_t max, size_t *ret_n);

#endif
