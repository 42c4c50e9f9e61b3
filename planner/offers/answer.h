/* answer.h — a draft put into the words and lines of an option. */
#ifndef SUANPAN_PLANNER_OFFERS_ANSWER_H
#define SUANPAN_PLANNER_OFFERS_ANSWER_H

#include "planner/costing/shares.h"
#include "planner/drafting/build.h"

/* Fills d->option: cost, phases, supply, finish, reserve, reasons, warnings, break-even. Rank, scores, spread and
 * take-away come later. */
int answer_option(struct build *b, struct draft *d, struct err *err);

/* Inside answer_option: phases, dates, costs and gates from the draft's steps, its schedule and its bill divided over
 * them; the serve phase included. -1: more phases than an option holds. */
int answer_phases(struct build *b, const struct draft *d, const struct reckoning *r, const struct shares *shares,
                  struct option *option);

#endif
