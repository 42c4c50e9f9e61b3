/* measured_block.c — what a diagnosis read, as the measured block of a workload. */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/rules.h"

#define GIB_GB 1.073741824 /* a card of "80 GB" has at most 80 GiB */

/* The job runs on it: an idle card beside is none of it, nor is one that is cut into slices. */
static bool of_the_job(const struct card_reading *r, const struct thresholds *t)
{
    bool empty = r->memory_used_mib < t->workload_memory_mib;
    return !r->mig && !empty && !card_is_idle(r, t);
}

/* Returns the card model of the job; NULL where it is not known or there are several. */
static const struct gpu *take_cards(struct measured *m, const struct diagnosis *d, const struct thresholds *t)
{
    double busy = 0, full = 0;
    int n_busy = 0, n_full = 0;
    const struct gpu *gpu = NULL;
    for (size_t i = 0; i < d->cards.n; i++) {
        const struct card_reading *r = &d->cards.items[i];
        if (!of_the_job(r, t))
            continue;
        gpu = m->gpus++ == 0 || r->gpu == gpu ? r->gpu : NULL;
        if (isfinite(r->utilisation_pct)) {
            busy += r->utilisation_pct;
            n_busy++;
        }
        double share = card_memory_share(r);
        if (isfinite(share)) {
            full += fmin(share, 1);
            n_full++;
        }
    }
    m->gpu = gpu != NULL ? gpu->id : NULL;
    m->gpu_util_pct = n_busy > 0 ? busy / n_busy : -1;
    m->memory_used_pct = n_full > 0 ? 100 * full / n_full : -1;
    return gpu;
}

/* Where the log was printed by more ranks than cards are shown, the rest are on other machines of the kind. */
static void take_nodes(struct measured *m, const struct diagnosis *d)
{
    int shown = m->gpus, ranks = d->iterations.world_size;
    if (d->hosts > 1 && shown % d->hosts == 0)
        m->nodes = d->hosts;
    if (shown > 0 && d->hosts <= 1 && ranks > shown && ranks % shown == 0) {
        m->gpus = ranks;
        m->nodes = ranks / shown;
    }
}

/* The rate that was printed, else steps of a known batch; of nobody knows which card it scales to nothing, and a step
 * of nobody knows how many samples is no rate. */
static void take_rate(struct measured *m, const struct iteration_stats *s)
{
    double step = isfinite(s->steady_mean_s) ? s->steady_mean_s : s->mean_s;
    if (m->gpu == NULL)
        return;
    if (s->tokens_per_s > 0)
        m->tokens_per_s = s->tokens_per_s;
    else if (s->tokens_per_s_per_gpu > 0)
        m->tokens_per_s = s->tokens_per_s_per_gpu * m->gpus;
    else if (s->read && step > 0 && s->global_batch > 0)
        m->step_time_s = step;
    else if (s->samples_per_s > 0)
        m->samples_per_s = s->samples_per_s;
}

void measured_fill(struct diagnosis *d, const struct thresholds *t, const struct card_reading *unknown)
{
    struct workload blank;
    workload_init(&blank);
    struct measured *m = &d->measured;
    *m = blank.measured;
    const struct iteration_stats *s = &d->iterations;
    const struct gpu *gpu = take_cards(m, d, t);
    take_nodes(m, d);
    take_rate(m, s);
    if (d->cards.n == 0 && isfinite(unknown->utilisation_pct))
        m->gpu_util_pct = unknown->utilisation_pct;
    /* What the driver shows as used is what the framework has ever reserved, no need: a plan that took it for one would
     * rule out every smaller card. The log's own peak is a need, of a card that is known. */
    if (gpu != NULL && s->peak_memory_gb > 0 && s->peak_memory_gb <= gpu->memory_gb * GIB_GB)
        m->peak_memory_gb = s->peak_memory_gb;
    if (s->read && (double)s->steady_n >= t->min_iterations && isfinite(s->steady_cv))
        m->iteration_time_cv = s->steady_cv;
    m->global_batch = s->global_batch;
    m->seq_len = s->seq_len;
    m->verdict = d->verdict; /* the averages above may hide what the single cards or links showed */
    m->stated = m->verdict != VERDICT_INSUFFICIENT || m->gpus > 0 || m->gpu_util_pct >= 0 || m->iteration_time_cv >= 0;
}
