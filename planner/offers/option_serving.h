/* option_serving.h — workloads that are nothing but a service: the options are about the machines it runs on. */
#ifndef SUANPAN_PLANNER_OFFERS_OPTION_SERVING_H
#define SUANPAN_PLANNER_OFFERS_OPTION_SERVING_H

#include "planner/drafting/build.h"

/* single_machine (nodes = 1) or small_cluster (nodes >= 2) for the plan's serving load, on the cheapest cards that
 * carry it; or a refusal of the kind. */
int option_serving_build(struct build *b, enum option_kind kind, struct option_list *out, struct err *err);

#endif
