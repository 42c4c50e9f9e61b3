/* shares.h — which steps of an option a line of its bill is for, so that every phase shows what it really costs.
 *
 * One line may serve several steps (a month that debugging and training both use; hours at one rate in both). The
 * bill keeps such lines whole, because a customer is billed whole units; here each is divided twice: by use, which is
 * what a phase costs, and by when it is paid, which is what stopping before a step would save.
 */
#ifndef SUANPAN_PLANNER_COSTING_SHARES_H
#define SUANPAN_PLANNER_COSTING_SHARES_H

#include "planner/costing/draft.h"

/* One place a step, and one for serving that no step stands for (the reserve). */
enum { SHARE_SERVE = DRAFT_STEPS_MAX, SHARE_PLACES };

struct shares {
    int64_t used[SHARE_PLACES], paid[SHARE_PLACES]; /* weights of a line, or amounts of a bill */
};

/* Adds `minor` to the places of *to in proportion to the weights, in whole minor units, what is left to the last place
 * with a weight. Without weights all of it is serving's. */
void shares_divide(int64_t minor, const struct shares *weights, struct shares *to);

/* All of `minor` to one place. */
void shares_give(int64_t minor, int place, struct shares *to);

#endif
