/* hybrid_serving.h — a workload that is nothing but a service: its base on local machines, its peaks at the end of a
 * line. */
#ifndef SUANPAN_PLANNER_OFFERS_HYBRID_SERVING_H
#define SUANPAN_PLANNER_OFFERS_HYBRID_SERVING_H

#include "planner/drafting/build.h"

/* Appends the cheapest split of a few lines. *ret_why: static word that says why nothing can burst; NULL when something
 * can. 0 even when nothing works. */
int hybrid_serving_build(struct build *b, struct option_list *out, const char **ret_why, struct err *err);

#endif
