/* assumptions.h — the numbers an answer rests on, each with its value and where it comes from. */
#ifndef SUANPAN_PLANNER_ADVICE_ASSUMPTIONS_H
#define SUANPAN_PLANNER_ADVICE_ASSUMPTIONS_H

#include "planner/drafting/build.h"

/* Fills plan->assumptions: the numbers of the trade, those of advice that this plan uses, and whatever the request set.
 * The options must be in place. -1: no memory. */
int assumptions_list(struct build *b, struct plan *plan);

#endif
