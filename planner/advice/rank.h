/* rank.h — hard limits, Pareto front, scores and the order of an answer's options. */
#ifndef SUANPAN_PLANNER_ADVICE_RANK_H
#define SUANPAN_PLANNER_ADVICE_RANK_H

#include "planner/advice/uncertainty.h"

/* Marks what misses the deadline or the budget as not feasible, with reasons and by how much. */
void rank_limits(struct build *b, const struct option_list *l);

/* Leaves the best few of every kind before anything dear is done with them. */
void rank_prune(struct build *b, struct option_list *l);

/* Scores, Pareto front and order: feasible before infeasible, best first; the list is reordered, `spreads` with it.
 * Options of a kind beyond what an answer shows are dropped; labels and ranks are given. */
void rank_order(struct build *b, struct option_list *l, struct spread *spreads);

#endif
