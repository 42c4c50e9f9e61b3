/* follow.h — what follows the ranking: options are plan->options (best first), drafts in the same order. -1 only for
 * errors; an empty part is an answer. */
#ifndef SUANPAN_PLANNER_ADVICE_FOLLOW_H
#define SUANPAN_PLANNER_ADVICE_FOLLOW_H

#include "planner/drafting/build.h"

/* Adds to the options of single machines what their hour costs and does against the best one's. */
/* Before the rest: what readings say of the need for cards. */
int readings_build(struct build *b, const struct option_list *ranked, struct plan *plan, struct err *err);
void cards_side_by_side(const struct build *b, const struct option_list *ranked);
int ownership_build(struct build *b, const struct option_list *ranked, struct plan *plan, struct err *err);
int advice_build(struct build *b, const struct option_list *ranked, struct plan *plan, struct err *err);
int relaxations_build(struct build *b, const struct option_list *ranked, struct plan *plan, struct err *err);
int attribution_build(struct build *b, const struct option_list *ranked, struct plan *plan, struct err *err);
int sensitivity_build(struct build *b, const struct option_list *ranked, struct plan *plan, struct err *err);
int budget_build(struct build *b, const struct option_list *ranked, struct plan *plan, struct err *err);

#endif
