/* summary.h — what stands above the options: the recommendation, break-evens, warnings, assumptions, the diagnosis. */
#ifndef SUANPAN_PLANNER_OFFERS_SUMMARY_H
#define SUANPAN_PLANNER_OFFERS_SUMMARY_H

#include "planner/offers/uncertainty.h"

int summary_build(struct build *b, const struct option_list *ranked, const struct spread *spreads, struct plan *plan,
                  struct err *err);

/* Appends options of the kinds in the mask (1 << enum option_kind) that the request wants. */
int plan_build_kinds(struct build *b, unsigned kinds, struct option_list *l, struct err *err);

/* Lists one assumption with its value and where it comes from; a name without a row is passed over. -1: no room. */
int summary_assumption(struct build *b, struct plan *plan, const char *name);

#endif
