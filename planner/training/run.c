/* run.c — from seconds of a step to hours of a run.
 *
 * Failures come per card-hour, so a big machine is interrupted often; the checkpoint interval that loses least time is
 * the square root of twice the write time and the time between failures. Besides, pretraining of real models has
 * always used more card-hours than its step speed explains (restarts by hand, stages, slow nodes): that share is a
 * fitted constant by scale and is shown.
 */
#include "planner/training/run.h"

#include <math.h>

double run_failure_share(double write_h, double between_h, double restart_h, double *ret_interval_h)
{
    double interval = sqrt(2 * write_h * between_h);
    if (ret_interval_h)
        *ret_interval_h = interval;
    if (between_h <= 0 || interval <= 0)
        return 0;
    return write_h / interval + (interval / 2 + restart_h) / between_h;
}

static double amount_of_tokens(const struct job *j, const struct cut *c)
{
    const struct training *t = j->training;
    double epochs = t->epochs > 0 ? t->epochs : 1;
    if (t->tokens > 0)
        return t->tokens * epochs;
    if (t->samples > 0)
        return t->samples * j->seq * j->real_share * epochs;
    if (t->steps > 0)
        return t->steps * c->global_batch * j->seq * j->real_share;
    return 0;
}

/* Between the fitted points the share moves with the logarithm of the cards. */
static double effectiveness(const struct job *j)
{
    const struct training_constants *k = j->k;
    if (j->finetune)
        return k->run_small;
    double g = log2(fmax(1, j->gpus));
    if (g <= 3)
        return k->run_small;
    if (g <= 6)
        return k->run_small + (k->run_medium - k->run_small) * (g - 3) / 3;
    if (g <= 9)
        return k->run_medium + (k->run_large - k->run_medium) * (g - 6) / 3;
    return k->run_large;
}

void run_of(const struct job *j, const struct cut *c, const struct memory *m, const struct step *s, struct run *ret)
{
    const struct training_constants *k = j->k;
    struct run r = {.tokens = amount_of_tokens(j, c)};
    double write_gb_s = k->checkpoint_gb_s * j->shape.nodes;
    if (j->shape.storage_gb_s > 0)
        write_gb_s = fmin(write_gb_s, j->shape.storage_gb_s);
    double write_h = m->checkpoint / 1e9 / write_gb_s / 3600;
    r.mean_between_failures_h = k->failure_gpu_hours / j->gpus;
    double lost = run_failure_share(write_h, r.mean_between_failures_h, k->restart_hours, &r.checkpoint_interval_h);
    r.checkpoint_share = r.checkpoint_interval_h > 0 ? write_h / r.checkpoint_interval_h : 0;
    r.failures_share = fmax(0, lost - r.checkpoint_share);
    r.evaluation_share = k->evaluation_share;
    r.effectiveness = effectiveness(j);
    r.overhead = (1 + lost + r.evaluation_share) / r.effectiveness - 1;
    if (r.tokens > 0) {
        r.compute_hours = r.tokens / s->tokens_per_s / 3600;
        r.wall_hours = r.compute_hours * (1 + r.overhead);
        r.gpu_hours = r.wall_hours * j->gpus;
    }
    *ret = r;
}
