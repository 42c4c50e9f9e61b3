/* extras.h — what an option pays for besides machines. */
#ifndef SUANPAN_PLANNER_DRAFTING_EXTRAS_H
#define SUANPAN_PLANNER_DRAFTING_EXTRAS_H

#include "planner/drafting/build.h"

/* Appends fabric, storage, egress, management software and operations of the train group at its provider, or says why
 * one of them costs nothing or has no price. -1: the draft has no room. */
int extras_standard(struct build *b, struct draft *d);

/* As offer_unit_price, of what was asked before from memory: every candidate of a provider asks for the same. */
int extras_price(struct build *b, enum price_subject subject, const char *id, const struct provider *at,
                 enum price_unit unit, const struct price **ret_price, int64_t *ret_micros);

#endif
