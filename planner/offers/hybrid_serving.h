/* hybrid_serving.h — a service on local machines whose peaks burst to the public cloud at the end of a line. */
#ifndef SUANPAN_PLANNER_OFFERS_HYBRID_SERVING_H
#define SUANPAN_PLANNER_OFFERS_HYBRID_SERVING_H

#include "planner/drafting/build.h"

/* Appends the best split for up to a few lines. *ret_why: static word that says why nothing can burst; NULL when
 * something can. 0 even when nothing works. */
int hybrid_serving_build(struct build *b, struct option_list *out, const char **ret_why, struct err *err);

/* Load that stays at home, as a multiple of the mean, and what the peaks above it are, also of the mean. */
struct hybrid_load {
    double home, burst;
};
struct hybrid_load hybrid_load_of(double peak_factor, double share);

#endif
