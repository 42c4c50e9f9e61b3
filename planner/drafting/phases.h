/* phases.h — the phases of a job on its machines, each with a gate (docs/plans.md). */
#ifndef SUANPAN_PLANNER_DRAFTING_PHASES_H
#define SUANPAN_PLANNER_DRAFTING_PHASES_H

#include "planner/drafting/build.h"

/* Appends validate, develop, pilot, migrate and train as docs/plans.md has them, with gates and reasons: validate and
 * develop on one unit of `home_group`, pilot/migrate/train on `train_group` with `train_units` units. train_hours: of
 * one unit, before what the supplier's quality adds. Kinds that cut the train phase otherwise (hybrid, university)
 * change or append steps afterwards. -1: the draft has no room. */
int phases_standard(struct build *b, struct draft *d, int home_group, int train_group, int train_units,
                    double train_hours);

/* The most that validation may cost (net, minor units), from the budget and the month of the option's cluster; 0 = no
 * limit. */
int64_t phases_validate_limit(const struct build *b, const struct draft *d, int train_group, int train_units);

#endif
