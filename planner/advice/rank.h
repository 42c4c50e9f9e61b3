/* rank.h — hard limits, Pareto front, scores and the order of an answer's options. */
#ifndef SUANPAN_PLANNER_ADVICE_RANK_H
#define SUANPAN_PLANNER_ADVICE_RANK_H

#include "planner/advice/uncertainty.h"

/* What costs and days are measured by: the least and the soonest of what keeps the limits. */
struct rank_scale {
    double least, soonest;
};

/* Marks what misses the deadline or the budget as not feasible, with reasons and by how much. */
void rank_limits(struct build *b, const struct option_list *l);

/* Leaves the best few of every kind before anything dear is done with them. */
void rank_prune(struct build *b, struct option_list *l);

/* Scores, Pareto front and order: feasible before infeasible, best first; the list is reordered, `spreads` with it.
 * Options of a kind beyond what an answer shows are dropped; labels and ranks are given. */
void rank_order(struct build *b, struct option_list *l, struct spread *spreads);

/* One option by itself, for whoever asks only for the first: marks it as rank_limits does; scores it; may it come before
 * another; the most that a draft without an option yet can score. */
void rank_limit(struct build *b, struct draft *d);
void rank_score(const struct build *b, const struct draft *d, const struct rank_scale *s);
bool rank_before(const struct build *k, const struct option *a, const struct option *b);
double rank_at_best(const struct build *b, const struct draft *d, const struct rank_scale *s);

/* Kinds that a re-plan leaves out still count for the scale of what is feasible. */
void rank_others(const struct build *b, struct rank_scale *s);

#endif
