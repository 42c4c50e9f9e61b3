/* log_runs.c — where a log holds more than one run: steps that begin anew.
 *
 * A restart warms up again, as an epoch's first batch does; that is no swinging. Runs of another configuration (before
 * and after a change, two machines) are other jobs: the longest is judged, of equals the last.
 */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/log.h"
#include "planner/diagnosis/readers.h"

#define RUN_MIN 4        /* fewer times are no run to compare */
#define RUNS_DIFFER 1.25 /* between the medians of two runs: no longer the same job */

/* The end of the run that starts at `first`: steps only grow in it. */
static size_t run_end(const struct log_series *s, size_t first)
{
    size_t end = first + 1;
    while (end < s->n && !(s->steps[end] < s->steps[end - 1]))
        end++;
    return end;
}

static double median_of(const struct log_series *s, size_t first, size_t end, struct arena *arena)
{
    struct iteration_stats run = {.steady_median_s = NAN};
    iteration_statistics(s->times_s + first, s->after_pause + first, end - first, arena, &run);
    return run.steady_median_s;
}

void log_one_run(struct log_series *s, struct arena *arena)
{
    double least = NAN, most = NAN;
    size_t longest = 0, longest_end = s->n, longest_n = 0, runs = 0;
    for (size_t first = 0, end; first < s->n; first = end) {
        end = run_end(s, first);
        if (first > 0)
            s->after_pause[first] = true;
        if (end - first < RUN_MIN)
            continue;
        double median = median_of(s, first, end, arena);
        least = fmin(least, median);
        most = fmax(most, median);
        runs++;
        if (end - first >= longest_n) {
            longest = first;
            longest_end = end;
            longest_n = end - first;
        }
    }
    if (runs < 2 || !(most > RUNS_DIFFER * least))
        return;
    s->times_s += longest;
    s->steps += longest;
    s->after_pause += longest;
    s->n = longest_end - longest;
}
