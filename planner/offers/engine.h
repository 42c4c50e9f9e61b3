/* engine.h — binds the physics' constants to a catalog snapshot, and one estimate without prices. */
#ifndef SUANPAN_PLANNER_OFFERS_ENGINE_H
#define SUANPAN_PLANNER_OFFERS_ENGINE_H

#include "planner/core/catalog.h"
#include "planner/core/estimate.h"
#include "planner/serving/serving.h"
#include "planner/training/training.h"

/* Binds training and serving constants into catalog->training / ->serving (in its arena). To be called once when a
 * snapshot is built; a missing calibration row is ERR_NOT_FOUND. */
int engine_bind(struct catalog *c, struct err *err);

/* Changes with every change of a formula; part of plan_id. "0.1.0" style. */
const char *engine_version(void);

struct estimate_request {
    const struct catalog *catalog;
    const struct workload *workload; /* decoded, checked, model completed */
    const struct shape *shape;
    const struct layout *layout;      /* NULL = search */
    const struct operating_point *at; /* NULL = none */
    bool want_trace;
};

/* POST /api/v1/estimates: training, serving, embedding or custom work, whatever the workload has, on one shape. */
int engine_estimate(const struct estimate_request *q, struct arena *arena, struct estimate *ret, struct err *err);

#endif
