/* custom.h — work that is no transformer: images, speech, anything known by its FLOPs or by a measured rate. */
#ifndef SUANPAN_PLANNER_TRAINING_CUSTOM_H
#define SUANPAN_PLANNER_TRAINING_CUSTOM_H

#include "planner/training/training_constants.h"

/* Fills *ret as training_estimate does. ERR_INVALID when neither FLOPs nor a rate is known; ERR_RANGE for a reading
 * above the card's peak. */
int custom_estimate(const struct training_constants *k, const struct training_request *q, struct arena *arena,
                    struct estimate *ret, struct err *err);

/* Throughput of n equal cards of one shape against one card, data parallel, for work of `seconds` a step and
 * `gradient_bytes` to agree on. */
double custom_scaling(const struct training_constants *k, const struct shape *shape, double seconds,
                      double gradient_bytes);

#endif
