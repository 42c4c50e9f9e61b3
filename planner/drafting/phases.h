/* phases.h — the phases of a job with machines, gates and what each gate saves (docs/plans.md). */
#ifndef SUANPAN_PLANNER_DRAFTING_PHASES_H
#define SUANPAN_PLANNER_DRAFTING_PHASES_H

#include "planner/costing/shares.h"
#include "planner/drafting/build.h"

/* True where the workload was already measured on this card, on one card or one machine. */
bool phases_already_measured(const struct build *b, const struct gpu *gpu);

/* The most that validation may cost (net), from the budget and the month of the option's cluster; 0 = no limit. */
int64_t phases_validate_limit(const struct build *b, const struct draft *d, int train_group, int train_units);

/* A finished option's phases, dates, costs and gates, from its steps, its schedule and its bill divided over them; the
 * serve phase included. */
int phases_answer(struct build *b, const struct draft *d, const struct reckoning *r, const struct shares *shares,
                  struct option *option);

#endif
