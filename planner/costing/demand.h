/* demand.h — which days each machine of an option works, and for how many billed hours. */
#ifndef SUANPAN_PLANNER_COSTING_DEMAND_H
#define SUANPAN_PLANNER_COSTING_DEMAND_H

#include "planner/costing/draft.h"
#include "planner/market/tariff.h"

/* The first group whose machines are the same pool as this one's: same SKU, paid alike. Cards and whole nodes of a SKU
 * whose nodes cost what their cards do are one pool, paid by the card. */
int demand_pool(const struct draft *d, int group);

/* Is the group's pool paid by the card? */
bool demand_by_card(const struct draft *d, int group);

/* Distinct numbers of levels (nodes, or cards where paid by the card) that the group's pool is used with, ascending:
 * levels between two of them have the same days. At most DRAFT_STEPS_MAX. */
int demand_levels(const struct draft *d, int group, int *ret_levels);

/* The days of one pool, from the lowest level up. A step's days are equal ones that spot may serve, as many that it may
 * not, and a last one with what is left. */
enum { DEMAND_RUNS_MAX = 3 * DRAFT_STEPS_MAX };
struct demand {
    const struct draft *draft;
    bool by_card; /* levels are cards */
    struct tariff_run runs[DEMAND_RUNS_MAX];
    size_t n; /* of the level at hand */
};

/* The days on which any of the pool works. -1 when there are more than TARIFF_DAYS_MAX. */
int demand_start(const struct assume *a, const struct draft *d, const struct schedule *s, int group,
                 struct demand *ret);

/* Leaves the days of the steps that use at least so many levels; levels only rise. */
void demand_rise(struct demand *q, int levels);

#endif
