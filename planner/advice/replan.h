/* replan.h — planning again with one thing changed: what relaxations are made of and what turning points are held to.
 *
 * The same search, sample, limits and order as the plan itself; what the change does not touch (prices of the day,
 * physics of the same job, the reserve) is taken over instead of being reckoned again.
 */
#ifndef SUANPAN_PLANNER_ADVICE_REPLAN_H
#define SUANPAN_PLANNER_ADVICE_REPLAN_H

#include "planner/drafting/build.h"

struct replan_ask {
    const struct workload *workload;
    unsigned kinds;           /* mask of 1 << enum option_kind */
    bool near;                /* one input changed by a quarter at most: what is far behind is not reckoned again */
    bool lean;                /* fewer candidates: what it finds can be had, a full plan may find better */
    int search_most;          /* effort for physics: no further card is taken beyond it; 0 = no bound */
    struct reprice reprice;   /* factor 0 = none */
    struct slowdown slowdown; /* by 0 = none */
    struct faults faults;     /* factor 0 = none */
};

struct replan {
    bool feasible;
    enum option_kind kind;
    int64_t total; /* minor units */
    date_t finish_on;
    const struct draft *draft; /* the first in the order, with its option; NULL = nothing on offer */
    struct draft **all;        /* the whole order; NULL where `near` asked for the first alone */
    size_t n_all;
    int effort;     /* effort.h */
    bool cut_short; /* by the ask's search_most: what it finds can be had, a full plan may find better */
};

/* What it finds lives in `arena`, which may be another than the plan's. Errors as plan_make. */
int replan_make(const struct build *b, const struct replan_ask *ask, struct arena *arena, struct replan *ret,
                struct err *err);

/* What planning again is going to take at least (effort.h), as far as the plan itself tells: of its own search, what
 * the change has to ask again. */
int replan_foreseen(const struct build *b, const struct replan_ask *ask);

/* Is the physics of the plan that of the changed request too, so that planning it as widely costs little? */
bool replan_same_physics(const struct build *b, const struct workload *changed);

/* Would a customer call the two the same offer: kind, supplier's machines for the runs (and the burst) and how many. A
 * service is the same offer on more or fewer of the same machines. */
bool replan_same_offer(const struct draft *x, const struct draft *y);

#endif
