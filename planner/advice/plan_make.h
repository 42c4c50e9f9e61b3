/* plan_make.h — the main job: options of every kind built, reckoned and ranked, and what follows from them. */
#ifndef SUANPAN_PLANNER_ADVICE_PLAN_MAKE_H
#define SUANPAN_PLANNER_ADVICE_PLAN_MAKE_H

#include "planner/core/plan.h"

/* The main job. *ret in `arena`. An answer with no feasible option is an answer. Errors as training_estimate.
 * Deterministic: no clock, no random source, no address-dependent order. */
int plan_make(const struct plan_request *q, struct arena *arena, struct plan *ret, struct err *err);

#endif
