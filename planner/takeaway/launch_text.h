/* launch_text.h — inside launch: the writers of shell, YAML and JSON. Each appends a whole text to *b. */
#ifndef SUANPAN_PLANNER_TAKEAWAY_LAUNCH_TEXT_H
#define SUANPAN_PLANNER_TAKEAWAY_LAUNCH_TEXT_H

#include "base/buf.h"
#include "planner/takeaway/launch_request.h"

void launch_text_torchrun(struct buf *b, const struct launch_request *q);
void launch_text_slurm(struct buf *b, const struct launch_request *q);
void launch_text_kubernetes(struct buf *b, const struct launch_request *q);
void launch_text_serve(struct buf *b, const struct launch_request *q);

/* The DeepSpeed configuration that goes with launch_text_torchrun where launch_uses_deepspeed. */
void launch_deepspeed_add(struct buf *b, const struct launch_request *q);

#endif
