/* report.h — turns a computed layout into the public estimate: figures, trace, notes. */
#ifndef SUANPAN_PLANNER_TRAINING_REPORT_H
#define SUANPAN_PLANNER_TRAINING_REPORT_H

#include "planner/training/interval.h"
#include "planner/training/run.h"

struct report {
    const struct job *job;
    const struct fabric *fabric;
    const struct found *found;
    const struct reading *reading; /* NULL without one */
    const struct layout *wanted;   /* NULL: all free */
};

void report_fill(const struct report *r, bool want_trace, struct estimate *ret);

#endif
