/* launch.h — text the customer can run: the commands that match the layout a plan was reckoned with.
 *
 * What is written follows the layout: data parallel alone (any ZeRO stage) becomes torchrun with a DeepSpeed
 * configuration; tensor, pipeline, context or expert parallel becomes torchrun with Megatron-LM's options, since one
 * DeepSpeed file cannot express it. Words the caller chose never reach a shell unfiltered.
 */
#ifndef SUANPAN_PLANNER_TAKEAWAY_LAUNCH_H
#define SUANPAN_PLANNER_TAKEAWAY_LAUNCH_H

#include "planner/takeaway/launch_request.h"

/* Members of *ret that do not apply stay NULL. ERR_NOMEM. */
int launch_make(const struct launch_request *q, struct arena *arena, struct launch *ret, struct err *err);

#endif
