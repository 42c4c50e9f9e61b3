/* recall.h — what a plan's candidates came to, so that a re-plan need not reckon again what is far from leading.
 *
 * A re-plan changes one input by at most a quarter. A candidate that costs and takes much more than the best and is
 * well behind by the weights of the priority then neither leads nor sets what the others are measured by: its old
 * figures do. What a builder keeps is reckoned exactly in any case (build_keep).
 */
#ifndef SUANPAN_PLANNER_OFFERS_RECALL_H
#define SUANPAN_PLANNER_OFFERS_RECALL_H

#include "planner/offers/candidate.h"

/* Remembers a candidate that was just reckoned; nothing in a re-plan. */
void recall_store(struct build *b, enum option_kind kind, const struct candidate *c);

/* In a re-plan: fills total and finish_days of a candidate that is as it was, or was far from leading; false: reckon
 * it.
 */
bool recall_find(const struct build *b, enum option_kind kind, struct candidate *c);

/* The re-plan `to` recalls what `from` reckoned; work: times the work of `from`. exact: nothing but a price or a speed
 * is changed, and the reserve is the same. */
void recall_inherit(const struct build *from, double work, bool exact, struct build *to);

#endif
