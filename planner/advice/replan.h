/* replan.h — the best option under a changed workload: what relaxations are made of and what sensitivity is held to. */
#ifndef SUANPAN_PLANNER_ADVICE_REPLAN_H
#define SUANPAN_PLANNER_ADVICE_REPLAN_H

#include "planner/drafting/build.h"

struct replan {
    bool feasible;
    enum option_kind kind;
    int64_t total; /* minor units */
    date_t finish_on;
    const struct draft *draft;
};
/* kinds: mask of 1 << enum option_kind. Cheap: a few candidates, no uncertainty beyond `time_p80` of speed. */
int build_replan(struct build *b, const struct workload *changed, unsigned kinds, struct replan *ret, struct err *err);

#endif
