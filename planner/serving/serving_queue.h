/* serving_queue.h — Erlang-C: how often and how long a request waits for one of c equal servers. */
#ifndef SUANPAN_PLANNER_SERVING_SERVING_QUEUE_H
#define SUANPAN_PLANNER_SERVING_SERVING_QUEUE_H

#include <stdbool.h>

/* Probability that an arrival waits. `offered` = arrivals x service time, in servers. 1 where offered >= servers. */
double erlang_c(double servers, double offered);
/* Mean wait in the unit of `service`; INFINITY where offered >= servers. */
double erlang_wait(double servers, double offered, double service);
/* erlang_wait(...) <= most, which is mostly clear long before every server has been counted. */
bool erlang_wait_within(double servers, double offered, double service, double most);

#endif
