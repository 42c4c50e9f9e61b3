/* demand.h — which days each machine of an option works, and for how many billed hours. */
#ifndef SUANPAN_PLANNER_COSTING_DEMAND_H
#define SUANPAN_PLANNER_COSTING_DEMAND_H

#include "planner/costing/draft.h"
#include "planner/market/tariff.h"

/* The first group whose machines are the same pool as this one's: same SKU, paid alike. */
int demand_pool(const struct draft *d, int group);

/* Distinct numbers of levels (nodes, or cards where paid by the card) that the group's pool is used with, ascending:
 * levels between two of them have the same days. At most DRAFT_STEPS_MAX. */
int demand_levels(const struct draft *d, int group, int *ret_levels);

/* Days of every level up to `levels` and above the next smaller number: the steps of the pool that use at least so
 * many. -1 when there are more than `max`. */
int demand_days(const struct assume *a, const struct draft *d, const struct schedule *s, int group, int levels,
                struct tariff_day *days, size_t max, size_t *ret_n);

#endif
