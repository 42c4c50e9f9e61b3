/* compute.h — seconds of one micro-batch on one rank, without communication. */
#ifndef SUANPAN_PLANNER_TRAINING_COMPUTE_H
#define SUANPAN_PLANNER_TRAINING_COMPUTE_H

#include "planner/training/cut.h"

struct compute {
    double matmul_s, attention_s, elementwise_s, expert_s; /* of the stage's layers, forward + backward + recompute */
    double floor_s;                                        /* launches cannot go faster */
    double head_s, logits_s, dequant_s;
    double layers_s; /* kernels and floor together */
    double ends_s;   /* head and logits, where they stand on top of the fullest stage */
    double total_s;
    double matmul_share; /* of the tensor peak, large products of this width */
};

void compute_micro_batch(const struct job *j, const struct cut *c, struct compute *ret);

#endif
