/* training.h — the one door of this room: memory, step time, scaling and GPU-hours of training on one shape. */
#ifndef SUANPAN_PLANNER_TRAINING_TRAINING_H
#define SUANPAN_PLANNER_TRAINING_TRAINING_H

#include "base/err.h"
#include "planner/core/estimate.h"
#include "planner/core/params.h"

struct training_constants; /* training_constants.h: bound once per catalog snapshot */

/* Binds every constant this room needs from the catalog's parameter table. */
int training_constants_bind(const struct param_table *params, struct training_constants *ret, struct err *err);
size_t training_constants_size(void);

/* What readings say of the machine they were taken on is the same for every shape that is asked about: a caller that
 * estimates many shapes of one job (same constants, model, training, readings and layout) lends room for it, zeroed at
 * first, to each of them. The answers are the same with and without. */
struct training_readings;
size_t training_readings_size(void);

/* Bytes that a trained parameter takes at least over all cards and hosts: weight, gradient, master copy, moments. */
double training_least_state_bytes(const struct training *t);

struct training_request {
    const struct model *model; /* completed */
    const struct training *training;
    const struct measured *measured; /* NULL or !stated: none */
    const struct gpu *measured_gpu;  /* the catalog's row of measured->gpu; NULL = unknown */
    const struct shape *shape;
    const struct layout *layout; /* wanted; NULL or unstated members: searched */
    bool want_trace;
    /* A searched layout keeps the high end of its memory interval within the card where any such layout exists (what
     * one would sign for), instead of the fastest that is expected to fit. */
    bool prudent;
    struct training_readings *readings; /* NULL = none kept */
};

/* ret->fits may be FITS_NO: that is an answer (the least bad layout, its memory and its speed as if it fitted).
 * Errors: ERR_RANGE (a reading above what physics allows; err.pointer names it), ERR_UNSUPPORTED, ERR_NOMEM.
 * Lists in *ret live in `arena`. Pure: same arguments, same bytes. */
int training_estimate(const struct training_constants *k, const struct training_request *q, struct arena *arena,
                      struct estimate *ret, struct err *err);

#endif
