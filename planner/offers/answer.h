/* answer.h — a draft put into the words and lines of an option. */
#ifndef SUANPAN_PLANNER_OFFERS_ANSWER_H
#define SUANPAN_PLANNER_OFFERS_ANSWER_H

#include "planner/drafting/build.h"

/* Fills d->option: cost, phases, supply, finish, reserve, reasons, warnings, break-even. Rank, scores, spread and
 * take-away come later. */
int answer_option(struct build *b, struct draft *d, struct err *err);

#endif
