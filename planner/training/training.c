/* training.c — the door: resolves the job, applies readings, finds the layout, reports. */
#include "planner/training/training.h"

#include <string.h>

#include "planner/training/custom.h"
#include "planner/training/report.h"

/* The very machine that was read, with nothing said of its layout: what was read is the speed, whatever layout the
 * search prefers. Several rounds, because launch costs do not scale. */
static void hold_reading(const struct training_request *q, struct job *j, const struct fabric *f,
                         const struct reading *r, struct candidate *best)
{
    bool asked = q->layout != NULL && (q->layout->tp > 0 || q->layout->dp > 0 || q->layout->micro_batch > 0 ||
                                       q->layout->sharding != SHARD_UNSTATED);
    bool batch = q->training->global_batch == 0 || q->measured->global_batch == 0 ||
                 q->training->global_batch == q->measured->global_batch;
    if (!r->used || !r->same_shape || asked || !batch || q->measured->step_time_s > 0)
        return;
    for (int i = 0; i < 8 && best->step.tokens_per_s > 0; i++) {
        double off = best->step.tokens_per_s / r->tokens_per_s;
        j->compute_scale *= off;
        j->comm_scale *= off;
        step_time(j, f, &best->cut, &best->memory, &best->step);
    }
}

/* A reading of fewer cards bounds what each of more cards does: spreading work never made a card faster. */
static void bound_by_reading(const struct reading *r, const struct fabric *f, struct job *j, struct found *found)
{
    if (!r->used || !r->same_work || r->same_shape)
        return;
    struct candidate *b = &found->best;
    double most = r->tokens_per_s / r->gpus * j->gpus;
    if (b->step.tokens_per_s <= most)
        return;
    j->time_scale *= b->step.tokens_per_s / most;
    step_time(j, f, &b->cut, &b->memory, &b->step);
}

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
    if (measured)
        hold_reading(q, &j, &f, &reading, &found.best);
    bound_by_reading(&reading, &f, &j, &found);
    struct report r = {&j, &f, &found, measured ? &reading : NULL, q->layout};
    report_fill(&r, q->want_trace, &e);
    e.training.searched = found.evaluated + 2 * found.timed;
    if (arena_failed(arena))
        return err_set(err, ERR_NOMEM, "the request's arena is full");
    *ret = e;
    return 0;
}
