/* launch_options.h — what follows the script's name on the command line, for each framework a layout needs. */
#ifndef SUANPAN_PLANNER_TAKEAWAY_LAUNCH_OPTIONS_H
#define SUANPAN_PLANNER_TAKEAWAY_LAUNCH_OPTIONS_H

#include "base/buf.h"
#include "planner/takeaway/launch_request.h"

/* The options behind `torchrun`, each on its own continued line indented by `indent` blanks. */
void launch_options_add(struct buf *b, const struct launch_request *q, int indent);

/* Megatron-LM with state sharded beyond the optimizer (ZeRO-2 and 3). */
bool launch_uses_megatron_fsdp(const struct launch_request *q);
/* Megatron-LM rather than DeepSpeed or a script of one's own. */
bool launch_uses_megatron(const struct launch_request *q);

/* Appends `text` with everything but letters, digits and ._/- taken out, or `otherwise` where nothing is left. */
void launch_word_add(struct buf *b, const char *text, const char *otherwise);

#endif
