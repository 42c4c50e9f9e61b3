/* takeaway.h — what a customer takes from an option besides its figures: text that runs, and what to check before
 * signing. */
#ifndef SUANPAN_PLANNER_TAKEAWAY_TAKEAWAY_H
#define SUANPAN_PLANNER_TAKEAWAY_TAKEAWAY_H

#include "planner/drafting/build.h"

/* Fills option->launch from the draft it was made of; the text lives in the arena. ERR_NOMEM. */
int launch_build(struct build *b, const struct draft *d, struct option *option, struct err *err);

/* Fills option->checklist, in the arena. ERR_NOMEM. */
int checklist_build(struct build *b, const struct draft *d, struct option *option, struct err *err);

#endif
