/* launch_request.c — see launch_request.h. */
#include "planner/takeaway/launch_request.h"

#include <math.h>

static int at_least(int value, int least)
{
    return value > least ? value : least;
}

bool launch_uses_deepspeed(const struct workload *w, const struct layout *l)
{
    if (!w->training.stated || w->training.method == METHOD_EMBEDDING || w->training.method == METHOD_CUSTOM)
        return false;
    return l->tp <= 1 && l->pp <= 1 && l->cp <= 1 && l->ep <= 1;
}

const char *launch_learning_rate_key(enum method m)
{
    if (m == METHOD_LORA || m == METHOD_QLORA)
        return "launch_learning_rate_adapter";
    return m == METHOD_PRETRAIN ? "launch_learning_rate_pretrain" : "launch_learning_rate_full";
}

struct launch_batch launch_batch_of(const struct workload *w, const struct estimate *e, const struct shape *s)
{
    const struct layout *l = &e->layout;
    struct launch_batch b = {0};
    int replica = at_least(l->tp, 1) * at_least(l->pp, 1) * at_least(l->cp, 1);
    b.dp = at_least(shape_gpus(s) / replica, 1);
    b.micro = at_least(l->micro_batch, 1);
    int wanted = e->training.global_batch > 0 ? e->training.global_batch : w->training.global_batch;
    b.accumulation = w->training.grad_accumulation;
    if (b.accumulation <= 0)
        b.accumulation = at_least((int)lround((double)wanted / ((double)b.micro * b.dp)), 1);
    b.global = b.micro * b.accumulation * b.dp;
    return b;
}

double launch_cap_hours(const struct launch_request *q)
{
    return q->sku && q->sku->provider ? q->sku->provider->job_cap_h : 0;
}

int launch_save_steps(const struct launch_request *q)
{
    const struct training_estimate *t = &q->estimate->training;
    const double cap_h = launch_cap_hours(q), run_h = t->wall_hours;
    double interval_h = t->checkpoint_interval_h;
    double job_h = cap_h > 0 && !(run_h < cap_h) ? cap_h : run_h;
    if (q->checkpoints_per_job > 0 && job_h > 0)
        interval_h = fmin(interval_h, job_h / q->checkpoints_per_job);
    double steps = t->step_time_s > 0 ? interval_h * 3600 / t->step_time_s : 0;
    return steps >= 1 ? (int)fmin(steps, 1e6) : 0;
}

double launch_slow_hours(const struct launch_request *q)
{
    const struct training_estimate *t = &q->estimate->training;
    double slower = t->tokens_per_s_per_gpu_low > 0 ? t->tokens_per_s_per_gpu / t->tokens_per_s_per_gpu_low : 1;
    return t->wall_hours * fmax(slower, 1);
}

bool launch_is_adapter(const struct launch_request *q)
{
    return q->workload->training.method == METHOD_LORA || q->workload->training.method == METHOD_QLORA;
}

enum precision launch_precision(const struct launch_request *q)
{
    const enum precision runs = q->estimate->has_training ? q->estimate->training.precision : PREC_UNSTATED;
    return runs != PREC_UNSTATED ? runs : q->workload->training.precision;
}

const struct layout *launch_serving_layout(const struct launch_request *q)
{
    if (q->reserve && q->reserve->has_estimate && q->reserve->gpus > 0)
        return &q->reserve->estimate.layout;
    if (!q->workload->training.stated && q->workload->serving.stated && q->estimate->has_serving)
        return &q->estimate->layout;
    return NULL;
}
