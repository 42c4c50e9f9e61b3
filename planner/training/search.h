/* search.h — the best layout of a job on a shape, over whatever the caller left open. */
#ifndef SUANPAN_PLANNER_TRAINING_SEARCH_H
#define SUANPAN_PLANNER_TRAINING_SEARCH_H

#include "planner/training/step.h"

struct candidate {
    struct cut cut;
    struct memory memory;
    struct step step;
    bool fits;
};

struct found {
    struct candidate best;
    bool has_second;
    struct candidate second;  /* the best that cuts the job differently */
    bool tensor_across_nodes; /* nothing else fitted */
    bool budget_reached;
    int evaluated, timed; /* layouts */
};

/* Deterministic, bounded. `wanted` may be NULL. ERR_INVALID when no layout of this shape agrees with what is wanted. */
int search_layout(const struct job *j, const struct fabric *f, const struct layout *wanted, struct found *ret,
                  struct err *err);
/* The same best, without the second: fewer layouts are looked at. */
int search_best_layout(const struct job *j, const struct fabric *f, const struct layout *wanted, struct found *ret,
                       struct err *err);

#endif
