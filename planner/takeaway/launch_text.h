/* launch_text.h — inside launch: the writers of shell and YAML. Each appends a whole text to *b. */
#ifndef SUANPAN_PLANNER_TAKEAWAY_LAUNCH_TEXT_H
#define SUANPAN_PLANNER_TAKEAWAY_LAUNCH_TEXT_H

#include "base/buf.h"
#include "planner/takeaway/launch.h"

void launch_text_torchrun(struct buf *b, const struct launch_request *q);
void launch_text_slurm(struct buf *b, const struct launch_request *q);
void launch_text_kubernetes(struct buf *b, const struct launch_request *q);
void launch_text_serve(struct buf *b, const struct launch_request *q);

/* The options behind `torchrun`, each on its own continued line indented by `indent` blanks. */
void launch_options_add(struct buf *b, const struct launch_request *q, int indent);

/* Appends `text` with everything but letters, digits and ._/- taken out, or `otherwise` where nothing is left. */
void launch_word_add(struct buf *b, const char *text, const char *otherwise);

/* What the card runs: a V100 that was asked for bf16 must not be told to enable it. */
enum precision launch_precision(const struct launch_request *q);

/* Layout of one serving replica; NULL where nothing is served. */
const struct layout *launch_serving_layout(const struct launch_request *q);

#endif
