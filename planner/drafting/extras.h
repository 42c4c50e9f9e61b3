/* extras.h — what an option pays for besides machines. */
#ifndef SUANPAN_PLANNER_DRAFTING_EXTRAS_H
#define SUANPAN_PLANNER_DRAFTING_EXTRAS_H

#include "planner/drafting/build.h"

/* Appends fabric, storage, egress, management software and operations of the train group at its provider, or says why
 * one of them costs nothing or has no price. -1: the draft has no room. */
int extras_standard(struct build *b, struct draft *d);

#endif
