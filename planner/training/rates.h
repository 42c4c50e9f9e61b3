/* rates.h — what the tensor cores of a job's card reach in large products, from power and precision. */
#ifndef SUANPAN_PLANNER_TRAINING_RATES_H
#define SUANPAN_PLANNER_TRAINING_RATES_H

#include "planner/training/job.h"

/* Fills product_rate and wide_rate; card, precision and peaks are resolved. */
void rates_resolve(struct job *j);

#endif
