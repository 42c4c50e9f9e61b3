/* report_trace.h — every figure of an estimate with its formula and inputs. */
#ifndef SUANPAN_PLANNER_TRAINING_REPORT_TRACE_H
#define SUANPAN_PLANNER_TRAINING_REPORT_TRACE_H

#include "planner/training/report.h"

void report_trace(const struct report *r, const struct run *run, struct estimate *ret);

#endif
