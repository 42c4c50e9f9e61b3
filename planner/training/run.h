/* run.h — a whole run: failures, restarts, checkpoints, evaluation, and what big runs lose besides. */
#ifndef SUANPAN_PLANNER_TRAINING_RUN_H
#define SUANPAN_PLANNER_TRAINING_RUN_H

#include "planner/training/step.h"

struct run {
    double tokens;        /* of one run; 0 = no amount of work stated */
    double compute_hours; /* steps only */
    double wall_hours, gpu_hours;
    double overhead; /* share added to compute_hours */
    double failures_share, checkpoint_share, evaluation_share, effectiveness;
    double checkpoint_interval_h, mean_between_failures_h;
};

void run_of(const struct job *j, const struct cut *c, const struct memory *m, const struct step *s, struct run *ret);

/* Share of time lost with checkpoints of `write_h` hours, failures every `between_h`, restarts of `restart_h`, at the
 * best interval (Young-Daly), which is returned. */
double run_failure_share(double write_h, double between_h, double restart_h, double *ret_interval_h);

#endif
