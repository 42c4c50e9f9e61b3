/* iteration_stats.c — how long iterations take and how much that varies, warm-up and pauses left out.
 *
 * Left out are: the first iteration (start-up, compilation) and those after it that are still far above the median, or
 * a second one far below it; an
 * iteration that an evaluation or a checkpoint was logged with, where it is well above the median; and spikes that a
 * pause explains: a lone one, some far apart, or some at one fixed distance as evaluations are. A data path that cannot
 * keep up has many, and a loader with eight workers is slow every eighth time: distances that are numbers of workers
 * (powers of two) are no pauses.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/diagnosis/readers.h"

#define WARMUP_FACTOR 1.5 /* of the median of the rest: still warming up */
#define QUEUED_FACTOR 2.0 /* below the median: JAX returns from its second step before the card has done it */
#define WARMUP_SHARE 5    /* at most every fifth iteration, but two in any case */
#define PAUSE_FACTOR 1.5  /* of the median, with an evaluation or checkpoint logged */
#define SPIKE_FACTOR 3.0  /* of the median, without any word about it */
#define SPIKE_FAR 25      /* iterations between two such that have nothing to do with each other */
#define SPIKE_REGULAR 10  /* the shortest distance of regular evaluations */
#define SPIKE_RUN_MIN 8   /* in fewer iterations a lone spike may well be the rule */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, size_t n, double *scratch)
{
    if (n == 0)
        return NAN;
    memcpy(scratch, values, n * sizeof *values);
    qsort(scratch, n, sizeof *scratch, by_value);
    return n % 2 == 1 ? scratch[n / 2] : (scratch[n / 2 - 1] + scratch[n / 2]) / 2;
}

static double mean_of(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return n > 0 ? sum / (double)n : NAN;
}

static double variation(const double *values, size_t n)
{
    double mean = mean_of(values, n), squares = 0;
    if (n < 2 || !(mean > 0))
        return NAN;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)n) / mean;
}

static size_t warmup_length(const double *times, size_t n, double *scratch)
{
    if (n < 3) /* of two the first may well be the start-up */
        return n == 2 && times[0] > WARMUP_FACTOR * times[1];
    size_t most = n / WARMUP_SHARE > 2 ? n / WARMUP_SHARE : 2, w = 1;
    while (w < most && w + 2 < n) {
        double rest = median(times + w + 1, n - w - 1, scratch);
        bool queued = w == 1 && times[w] < rest / QUEUED_FACTOR;
        if (!(times[w] > WARMUP_FACTOR * rest) && !queued)
            break;
        w++;
    }
    return w;
}

/* Whether the spikes above `limit` are pauses, not the way the job runs. */
static bool spikes_are_pauses(const double *times, size_t n, double limit)
{
    size_t count = 0, last = 0, distance = 0;
    bool far = true, regular = true;
    for (size_t i = 0; i < n; i++) {
        if (times[i] <= limit)
            continue;
        if (count++ > 0) {
            size_t gap = i - last;
            far = far && gap >= SPIKE_FAR;
            regular = regular && gap >= SPIKE_REGULAR && (distance == 0 || gap == distance);
            distance = gap;
        }
        last = i;
    }
    if (n < SPIKE_RUN_MIN || count == 0)
        return false;
    bool workers = (distance & (distance - 1)) == 0;
    return count == 1 || far || (regular && !workers);
}

/* Copies what is steady to `kept`; returns how many. */
static size_t leave_out_pauses(const double *times, const bool *after_pause, size_t n, double *scratch, double *kept)
{
    double middle = median(times, n, scratch);
    bool spikes = spikes_are_pauses(times, n, SPIKE_FACTOR * middle);
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool logged = after_pause != NULL && after_pause[i] && times[i] > PAUSE_FACTOR * middle;
        if (!logged && !(spikes && times[i] > SPIKE_FACTOR * middle))
            kept[n_kept++] = times[i];
    }
    return n_kept;
}

void iteration_statistics(const double *times_s, const bool *after_pause, size_t n, struct arena *arena,
                          struct iteration_stats *ret)
{
    double *scratch = arena_array(arena, n + 1, sizeof *scratch), *kept = arena_array(arena, n + 1, sizeof *kept);
    if (scratch == NULL || kept == NULL || n == 0)
        return;
    ret->read = true;
    ret->n = n;
    ret->mean_s = mean_of(times_s, n);
    ret->median_s = median(times_s, n, scratch);
    ret->cv = variation(times_s, n);
    size_t warmup = warmup_length(times_s, n, scratch);
    size_t steady = leave_out_pauses(times_s + warmup, after_pause == NULL ? NULL : after_pause + warmup, n - warmup,
                                     scratch, kept);
    ret->warmup_left_out = warmup;
    ret->pauses_left_out = n - warmup - steady;
    ret->steady_n = steady;
    ret->steady_mean_s = mean_of(kept, steady);
    ret->steady_median_s = median(kept, steady, scratch);
    ret->steady_cv = variation(kept, steady);
}
