/* launch.h — text the customer can run: the commands that match the layout a plan was reckoned with.
 *
 * What is written follows the layout: data parallel alone (any ZeRO stage) becomes torchrun with a DeepSpeed
 * configuration; tensor, pipeline, context or expert parallel becomes torchrun with Megatron-LM's options, since one
 * DeepSpeed file cannot express it. Words the caller chose never reach a shell unfiltered.
 */
#ifndef SUANPAN_PLANNER_TAKEAWAY_LAUNCH_H
#define SUANPAN_PLANNER_TAKEAWAY_LAUNCH_H

#include "planner/core/plan.h"

struct launch_request {
    const struct workload *workload;
    const struct estimate *estimate; /* of the training machine, or of one replica where there is no training */
    const struct shape *shape;       /* the machine of that estimate */
    const struct sku *sku;           /* NULL = unknown supplier */
    const struct reserve *reserve;   /* NULL = no service */
    enum option_kind kind;
    double learning_rate; /* launch_learning_rate */
};

/* The batch of one optimizer step as the launch text states it: global = micro x accumulation x dp. */
struct launch_batch {
    int micro, accumulation, dp, global;
};

struct launch_batch launch_batch_of(const struct workload *w, const struct estimate *e, const struct shape *s);

/* True where the layout is one that a DeepSpeed configuration alone can express. */
bool launch_uses_deepspeed(const struct workload *w, const struct layout *l);

/* Key of the assumption that holds the learning rate written into the launch text for this method. */
const char *launch_learning_rate_key(enum method m);

/* Members of *ret that do not apply stay NULL. ERR_NOMEM. */
int launch_make(const struct launch_request *q, struct arena *arena, struct launch *ret, struct err *err);

#endif
