/* training.c — the door: resolves the job, applies readings, finds the layout, reports. */
#include "planner/training/training.h"

#include <string.h>

#include "planner/training/custom.h"
#include "planner/training/report.h"

int training_estimate(const struct training_constants *k, const struct training_request *q, struct arena *arena,
                      struct estimate *ret, struct err *err)
{
    struct estimate e;
    memset(&e, 0, sizeof e);
    note_list_init(&e.assumptions, arena);
    note_list_init(&e.warnings, arena);
    trace_init(&e.trace, arena);
    if (q->training->method == METHOD_EMBEDDING)
        return err_at(err, ERR_UNSUPPORTED, "/workload/training/method", "embedding is no training");
    if (q->training->method == METHOD_CUSTOM) {
        if (custom_estimate(k, q, arena, &e, err) != 0)
            return -1;
        *ret = e;
        return 0;
    }
    struct job j;
    if (job_resolve(k, q, &e.assumptions, &j, err) != 0)
        return -1;
    struct reading reading = {0};
    bool measured = q->measured != NULL && q->measured->stated;
    if (measured && measured_apply(q, &j, &reading, err) != 0)
        return -1;
    struct fabric f;
    fabric_resolve(&j, &f);
    struct found found;
    if (search_layout(&j, &f, q->layout, &found, err) != 0)
        return -1;
    struct report r = {&j, &f, &found, measured ? &reading : NULL, q->layout};
    report_fill(&r, q->want_trace, &e);
    if (arena_failed(arena))
        return err_set(err, ERR_NOMEM, "the request's arena is full");
    *ret = e;
    return 0;
}
