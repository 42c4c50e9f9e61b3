/* serving_forward.h — work that only goes forward: what one pass of a text or an image costs on one card. */
#ifndef SUANPAN_PLANNER_SERVING_SERVING_FORWARD_H
#define SUANPAN_PLANNER_SERVING_SERVING_FORWARD_H

#include "planner/serving/serving_step.h"

/* Models that write no tokens: encoders of text (embedding, reranking), and those known by the work of a pass. */
bool forward_only(const struct replica *r);

double forward_token_flops(const struct replica *r, double length); /* of one token of a text this long */
double forward_share(const struct replica *r, bool image);          /* of the peak that is reached */
double forward_peak(const struct replica *r, bool image);           /* FLOP/s of one card */

struct load_speed forward_speed(const struct replica *r, const struct load_point *p);

#endif
