/* trace.c — collecting the steps of a calculation. */
#include "planner/core/trace.h"

#include <stdarg.h>

void trace_init(struct trace *t, struct arena *arena)
{
    *t = (struct trace){.arena = arena};
}

void trace_add(struct trace *t, const char *name, double value, const char *unit, const char *formula,
               unsigned n_inputs, ...)
{
    if (t == NULL)
        return;
    struct trace_step *step = arena_push(t->arena, t);
    if (step == NULL) /* the arena remembers; the whole answer is refused at its end */
        return;
    *step = (struct trace_step){.name = name, .formula = formula, .unit = unit, .value = value};
    va_list ap;
    va_start(ap, n_inputs);
    for (unsigned i = 0; i < n_inputs && i < TRACE_INPUTS_MAX; i++) {
        step->inputs[i].name = va_arg(ap, const char *);
        step->inputs[i].value = va_arg(ap, double);
        step->n_inputs++;
    }
    va_end(ap);
}
