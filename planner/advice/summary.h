/* summary.h — what stands above the options: the recommendation, break-evens, warnings, assumptions, the diagnosis. */
#ifndef SUANPAN_PLANNER_ADVICE_SUMMARY_H
#define SUANPAN_PLANNER_ADVICE_SUMMARY_H

#include "planner/advice/uncertainty.h"

int summary_build(struct build *b, const struct option_list *ranked, const struct spread *spreads, struct plan *plan,
                  struct err *err);

#endif
