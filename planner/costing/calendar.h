/* calendar.h — which day each step of an option starts and ends, and for how many billed hours it runs. */
#ifndef SUANPAN_PLANNER_COSTING_CALENDAR_H
#define SUANPAN_PLANNER_COSTING_CALENDAR_H

#include "planner/costing/draft.h"

/* The draft's calendar under a what-if. -1: longer than the horizon. */
int calendar_schedule(const struct assume *a, const struct draft *d, const struct what_if *w, struct schedule *ret);

#endif
