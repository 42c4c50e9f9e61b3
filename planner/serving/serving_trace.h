/* serving_trace.h — every figure of a serving answer with its formula and inputs. */
#ifndef SUANPAN_PLANNER_SERVING_SERVING_TRACE_H
#define SUANPAN_PLANNER_SERVING_SERVING_TRACE_H

#include "planner/core/trace.h"
#include "planner/serving/serving_point.h"

void serving_trace(const struct replica *r, const struct point *p, const struct replica_answer *a, struct trace *t);

#endif
