/* trace.h — every figure of an answer with its formula and inputs, for the "why" drawer.
 *
 * A NULL trace switches tracing off at no cost. Strings are static or live in the trace's arena.
 */
#ifndef SUANPAN_PLANNER_CORE_TRACE_H
#define SUANPAN_PLANNER_CORE_TRACE_H

#include <stddef.h>

#include "base/arena.h"

#define TRACE_INPUTS_MAX 10

struct trace_input {
    const char *name;
    double value;
};

struct trace_step {
    const char *name;    /* "training.step_time_s": the field explained, or an intermediate */
    const char *formula; /* "flops / (peak * efficiency)", in the names of the inputs */
    const char *unit;    /* "s", "GB", "tokens/s" */
    double value;
    unsigned n_inputs;
    struct trace_input inputs[TRACE_INPUTS_MAX];
};

struct trace {
    struct arena *arena;
    struct trace_step *items;
    size_t n, cap;
};

void trace_init(struct trace *t, struct arena *arena);

/* trace_add(t, "training.step_time_s", 9.1, "s", "compute + exposed_communication + bubble", 3,
 *           "compute", c, "exposed_communication", x, "bubble", b): name/double pairs. No-op when t is NULL. */
void trace_add(struct trace *t, const char *name, double value, const char *unit, const char *formula,
               unsigned n_inputs, ...);

#endif
