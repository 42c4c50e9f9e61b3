/* step.h — seconds of one optimizer step of one layout on one shape, and where they go. */
#ifndef SUANPAN_PLANNER_TRAINING_STEP_H
#define SUANPAN_PLANNER_TRAINING_STEP_H

#include "planner/training/compute.h"
#include "planner/training/fabric.h"
#include "planner/training/memory.h"

struct step {
    struct compute compute;                           /* of one micro-batch */
    double tensor_s, context_s, expert_s, pipeline_s; /* exposed, a micro-batch */
    double shard_s;                                   /* exposed gathers and scatters, a micro-batch */
    double offload_s;                                 /* exposed host traffic, a micro-batch */
    double micro_s;                                   /* one micro-batch with its exposed communication */
    double bubble_s;                                  /* a step */
    double gradient_s, optimizer_s;                   /* exposed, once a step */
    double skew_s;                                    /* waiting for the slowest rank, a step */
    double data_s;                                    /* loading of the step's samples */
    double wait_s;                                    /* for data and host, by a reading of utilisation */
    double total_s;
    double communication_share, bubble_share, data_wait_share;
    double tokens_per_s; /* real tokens of the whole job */
};

void step_time(const struct job *j, const struct fabric *f, const struct cut *c, const struct memory *m,
               struct step *ret);
/* The same where the kernels of the micro-batch are known already. */
void step_with(const struct job *j, const struct fabric *f, const struct cut *c, const struct memory *m,
               const struct compute *compute, struct step *ret);

/* Seconds of one token at its best, in an endless micro-batch with nothing recomputed: in one layer with what tensor
 * ranks exchange, and in head and logits. The same for all cuts of these degrees and this stack. */
struct step_ideal {
    int tp, cp, ep;
    double layer_s, ends_s;
};
void step_ideal_of(const struct job *j, const struct fabric *f, const struct cut *c, struct step_ideal *ret);
/* Tokens a second that no micro-batch of the derived cut's size or above exceeds. */
double step_most(const struct job *j, const struct fabric *f, const struct cut *c, const struct step_ideal *ideal);

#endif
