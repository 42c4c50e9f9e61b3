/* serving_layout.h — how one replica is cut over the cards of a shape when the caller leaves that open. */
#ifndef SUANPAN_PLANNER_SERVING_SERVING_LAYOUT_H
#define SUANPAN_PLANNER_SERVING_SERVING_LAYOUT_H

#include "planner/core/note.h"
#include "planner/serving/serving.h"

struct layout_choice {
    struct layout best, runner_up;
    bool has_runner_up;
    struct note reason; /* why the runner-up lost */
};

/* Keeps what `wanted` states; fills the rest. One replica over the whole shape. */
int serving_layout_choose(const struct serving_constants *k, const struct serving_request *q,
                          const struct layout *wanted, struct layout_choice *ret, struct err *err);
/* True when a tensor-parallel degree cuts this model evenly. */
bool serving_tp_divides(const struct model *m, int tp);

#endif
