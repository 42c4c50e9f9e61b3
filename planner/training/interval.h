/* interval.h — how far an 80 % interval reaches, by what is known of the case. */
#ifndef SUANPAN_PLANNER_TRAINING_INTERVAL_H
#define SUANPAN_PLANNER_TRAINING_INTERVAL_H

#include "planner/training/measured.h"

struct interval {
    double low, high; /* factors on the expected figure */
};

/* Of tokens per second. `r` may be NULL. */
struct interval interval_speed(const struct job *j, const struct cut *c, const struct step *s, const struct reading *r,
                               double efficiency_against_reading);
struct interval interval_memory(const struct job *j, const struct cut *c, const struct reading *r);
/* The class of evidence behind the speed. */
enum confidence interval_confidence(const struct job *j, const struct reading *r);

#endif
