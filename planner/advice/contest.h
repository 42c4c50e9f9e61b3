/* contest.h — options of some kinds, reckoned, held to the limits and put in order: a plan before its words, and what
 * a re-plan is. */
#ifndef SUANPAN_PLANNER_ADVICE_CONTEST_H
#define SUANPAN_PLANNER_ADVICE_CONTEST_H

#include "planner/advice/uncertainty.h"

struct contest {
    struct option_list list; /* best first; each draft has its option */
    struct spread *spreads;  /* in the same order */
};

/* kinds: mask of 1 << enum option_kind. The reserve of `b` is in place. */
int contest_hold(struct build *b, unsigned kinds, struct contest *ret, struct err *err);

/* Only who comes first, and whether it can be had: what cannot lead is neither put into lines nor sampled. For a
 * re-plan (order_only). *ret NULL: nothing on offer. Where nothing can be had, it is any of them. */
int contest_leader(struct build *b, unsigned kinds, struct draft **ret, struct err *err);

#endif
