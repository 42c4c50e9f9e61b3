/* training_log.c — a training log of any framework: which of the figures in it are the iteration times.
 *
 * Best are times that the framework prints (of those the figure printed most often); then progress bars; then the time
 * stamps of numbered steps. Where ranks print one by one, the lowest rank's lines count.
 */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/log.h"
#include "planner/diagnosis/readers.h"
#include "planner/diagnosis/text.h"

#define DAY_S 86400.0
#define BAR_RESOLUTION_S 10.0 /* a bar counts whole seconds: intervals shorter than this say nothing of variation */
#define BAR_RELIABLE_S 30.0   /* elapsed over steps is better than the smoothed rate from here on */
#define BAR_INTERVALS_MIN 5
#define SUMMARY_MOST 5        /* so few times ... */
#define SUMMARY_FACTOR 4      /* ... beside so many times as many steps */
#define CUMULATIVE_MIN 5      /* fewer that grow may well be iterations that became slower */
#define RECORD_MAX 4096       /* bytes of one wrapped record */
#define CUMULATIVE_FACTOR 2.0 /* of the first, too */

static bool any_of(const char *line, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text_seek(line, words[i]) != NULL)
            return true;
    return false;
}

/* "rank=3", "rank: 3" where no other word belongs to it ("mean rank 3"). */
static int rank_named(const char *line)
{
    int rank;
    for (const char *p = line; (p = text_seek_word(p, "rank")) != NULL; p++) {
        const char *before = p, *number = p + strlen("rank");
        while (before > line && text_is_blank(before[-1]))
            before--;
        if (*number != '=' && *number != ':')
            continue;
        number = text_skip_blanks(number + 1);
        if ((before == line || !text_is_alnum(before[-1])) && text_int(&number, &rank) && *number != '.')
            return rank;
    }
    return LOG_RANK_NONE;
}

/* "[rank0]:", "[Rank 0]", "[1,3]<stdout>:", "3: TRAIN", "rank=3": who prints. */
static int rank_of(const char *line)
{
    const char *p = text_skip_blanks(line + text_stamp_width(line)), *bracket = text_seek(line, "[rank");
    int rank;
    if (bracket != NULL) {
        bracket = text_skip_blanks(bracket + strlen("[rank"));
        if (text_int(&bracket, &rank) && *bracket == ']')
            return rank;
    }
    int job;
    const char *tag = p + (*p == '[');
    if (*p == '[' && text_int(&tag, &job) && *tag == ',' && (tag++, text_int(&tag, &rank)) && text_starts(tag, "]<std"))
        return rank;
    if (text_int(&p, &rank) && *p == ':' && p[1] == ' ' && rank < 100000)
        return rank;
    return rank_named(line);
}

static void take_line(struct log *l, const char *line)
{
    static const char *const evaluation[] = {"validation", "evaluat",    "iter(val",     "epoch(val",
                                             "iter(test",  "epoch(test", "eval_runtime", "eval_loss",
                                             "test [",     "[eval]",     "[valid]"};
    static const char *const pause[] = {"val loss", "val_loss", "checkpoint", "saving", "saved "};
    bool below;
    const char *name = log_framework(line, &below);
    if (name != NULL && (l->stats->framework == NULL || (l->framework_below && !below))) {
        l->stats->framework = name;
        l->framework_below = below;
    }
    if (log_take_bars(l, line) && text_seek(line, "timing") == NULL) {
        log_take_figures(l, line, LOG_RANK_NONE);
        return;
    }
    if (any_of(line, evaluation, sizeof evaluation / sizeof *evaluation)) {
        l->saw_pause = true;
        return;
    }
    if (log_take_table(l, line))
        return;
    int rank = rank_of(line);
    size_t before = l->times.n;
    log_take_times(l, line, rank);
    log_take_step(l, line, rank);
    log_take_figures(l, line, rank);
    if (l->times.n > before)
        l->saw_pause = false;
    if (any_of(line, pause, sizeof pause / sizeof *pause))
        l->saw_pause = true;
}

/* The key of this rank that most lines have; -1 when none. */
static int choose_key(const struct log *l, enum log_rank rank, size_t *ret_n)
{
    int best = -1;
    *ret_n = 0;
    for (size_t k = 0; k < log_key_count(); k++) {
        size_t n = 0;
        for (size_t i = 0; i < l->times.n; i++)
            n += l->times.items[i].key == (int)k;
        if (log_key_rank((int)k) == rank && n > *ret_n && n >= log_key_at_least((int)k)) {
            *ret_n = n;
            best = (int)k;
        }
    }
    return best;
}

static int lowest_rank(const struct log_times *t, int key)
{
    int rank = LOG_RANK_NONE;
    for (size_t i = 0; i < t->n; i++)
        if (t->items[i].key == key && t->items[i].rank >= 0 && (rank < 0 || t->items[i].rank < rank))
            rank = t->items[i].rank;
    size_t of_it = 0, all = 0;
    for (size_t i = 0; i < t->n; i++) {
        all += t->items[i].key == key;
        of_it += t->items[i].key == key && t->items[i].rank == rank;
    }
    return of_it == 1 && all > 2 ? LOG_RANK_NONE : rank; /* "1: ... 2: ..." numbers iterations */
}

/* Times that only grow are since the start, not of one iteration each: what lies between two, a step. Returns how
 * many are left. */
static size_t differences(double *times, const double *steps, bool *after_pause, size_t n)
{
    bool growing = n >= CUMULATIVE_MIN && times[n - 1] > CUMULATIVE_FACTOR * times[0];
    for (size_t i = 1; i < n && growing; i++)
        growing = times[i] > times[i - 1];
    if (!growing)
        return n;
    for (size_t i = 0; i + 1 < n; i++) {
        double passed = steps[i + 1] - steps[i];
        times[i] = (times[i + 1] - times[i]) / (passed >= 1 ? passed : 1);
        after_pause[i] = after_pause[i + 1];
    }
    return n - 1;
}

static void from_times(const struct log *l, int key, size_t n, struct iteration_stats *ret)
{
    struct log_series s = {.times_s = arena_array(l->arena, n, sizeof *s.times_s),
                           .steps = arena_array(l->arena, n, sizeof *s.steps),
                           .after_pause = arena_array(l->arena, n, sizeof *s.after_pause)};
    int rank = lowest_rank(&l->times, key);
    if (s.times_s == NULL || s.steps == NULL || s.after_pause == NULL)
        return;
    for (size_t i = 0; i < l->times.n; i++) {
        const struct log_time *t = &l->times.items[i];
        if (t->key != key || (rank >= 0 && t->rank >= 0 && t->rank != rank))
            continue;
        s.times_s[s.n] = t->value_s;
        s.steps[s.n] = t->step;
        s.after_pause[s.n++] = t->after_pause;
    }
    log_one_run(&s, l->arena);
    s.n = differences(s.times_s, s.steps, s.after_pause, s.n);
    iteration_statistics(s.times_s, s.after_pause, s.n, l->arena, ret);
}

/* Of the bars the run that came furthest; bars of one run count up with one total. */
static void furthest_run(const struct log_bars *b, size_t *ret_first, size_t *ret_end)
{
    size_t first = 0;
    *ret_first = *ret_end = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (i > 0 && (b->items[i].total != b->items[i - 1].total || b->items[i].n < b->items[i - 1].n ||
                      b->items[i].elapsed_s < b->items[i - 1].elapsed_s))
            first = i;
        if (*ret_end == 0 || b->items[i].n >= b->items[*ret_end - 1].n) {
            *ret_first = first;
            *ret_end = i + 1;
        }
    }
}

static void from_bars(const struct log *l, struct iteration_stats *ret)
{
    size_t first, end;
    furthest_run(&l->bars, &first, &end);
    double *times = arena_array(l->arena, end - first, sizeof *times);
    if (times == NULL)
        return;
    size_t n = 0, from = first;
    for (size_t i = first + 1; i < end; i++) {
        double steps = l->bars.items[i].n - l->bars.items[from].n;
        double elapsed = l->bars.items[i].elapsed_s - l->bars.items[from].elapsed_s;
        if (steps <= 0 || !(elapsed >= BAR_RESOLUTION_S))
            continue;
        times[n++] = elapsed / steps;
        from = i;
    }
    if (n >= BAR_INTERVALS_MIN) {
        iteration_statistics(times, NULL, n, l->arena, ret);
        return;
    }
    const struct log_bar *last = &l->bars.items[end - 1];
    double mean = last->elapsed_s / last->n;
    if (!isfinite(mean) || (last->elapsed_s < BAR_RELIABLE_S && isfinite(last->rate_s)))
        mean = last->rate_s;
    if (!(mean > 0) || last->n < 1)
        return;
    ret->read = ret->smoothed = true;
    ret->n = (size_t)last->n;
    ret->mean_s = ret->median_s = ret->steady_mean_s = ret->steady_median_s = mean;
}

static int choose_step_word(const struct log *l)
{
    size_t counts[16] = {0};
    int best = -1;
    for (size_t i = 0; i < l->steps.n; i++)
        counts[l->steps.items[i].key & 15]++;
    for (int k = 0; k < 16; k++)
        if (counts[k] > 1 && (best < 0 || counts[k] > counts[best]))
            best = k;
    return best;
}

/* "Batch 0/100", "Batch 0/200": WeNet's epoch and batch, where elsewhere step and steps stand. */
static bool second_counts(const struct log *l, int key)
{
    const struct log_time *first = NULL, *last = NULL;
    for (size_t i = 0; i < l->steps.n; i++) {
        const struct log_time *t = &l->steps.items[i];
        if (t->key != key)
            continue;
        if (!isfinite(t->of) || (first != NULL && t->step != first->step))
            return false;
        first = first != NULL ? first : t;
        last = t;
    }
    return first != NULL && last->of > first->of;
}

/* From time stamps: what passed between two numbered steps, a step. */
static void from_steps(const struct log *l, struct iteration_stats *ret)
{
    int key = choose_step_word(l);
    double *times = arena_array(l->arena, l->steps.n, sizeof *times);
    bool *after_pause = arena_array(l->arena, l->steps.n, sizeof *after_pause);
    if (key < 0 || times == NULL || after_pause == NULL)
        return;
    int rank = lowest_rank(&l->steps, key);
    const bool second = second_counts(l, key);
    const struct log_time *last = NULL;
    size_t n = 0;
    for (size_t i = 0; i < l->steps.n; i++) {
        struct log_time *t = &l->steps.items[i];
        if (second)
            t->step = t->of;
        if (t->key != key || (rank >= 0 && t->rank >= 0 && t->rank != rank))
            continue;
        if (last != NULL && t->step > last->step) {
            double elapsed = t->value_s - last->value_s;
            if (elapsed < 0 && t->day_only)
                elapsed += DAY_S;
            if (elapsed > 0) {
                times[n] = elapsed / (t->step - last->step);
                after_pause[n++] = t->after_pause;
            }
        }
        last = t;
    }
    iteration_statistics(times, after_pause, n, l->arena, ret);
}

/* Few times beside many steps or bars are an epoch's summary, not the iterations. */
static bool is_summary(const struct log *l, size_t times)
{
    size_t steps = 0;
    int word = choose_step_word(l);
    for (size_t i = 0; i < l->steps.n && word >= 0; i++)
        steps += l->steps.items[i].key == word;
    return times < SUMMARY_MOST && (steps > SUMMARY_FACTOR * times || l->bars.n > SUMMARY_FACTOR * times);
}

/* How much of the steady iterations was waiting for data: what the first ones wait for (workers that start, a cold
 * cache) says nothing of the run. NAN where nothing was printed. */
static double data_share(const struct log *l, const struct iteration_stats *s)
{
    double data = 0, time = 0;
    int lowest = LOG_RANK_NONE;
    for (size_t i = 0; i < l->waits.n; i++)
        if (l->waits.items[i].rank >= 0 && (lowest < 0 || l->waits.items[i].rank < lowest))
            lowest = l->waits.items[i].rank;
    size_t of_rank = 0, left_out = s->warmup_left_out > 0 ? s->warmup_left_out : 1;
    for (size_t i = 0; i < l->waits.n; i++)
        of_rank += l->waits.items[i].rank == lowest;
    for (size_t i = 0, seen = 0; i < l->waits.n; i++) {
        const struct log_wait *w = &l->waits.items[i];
        if (w->rank != lowest || (seen++ < left_out && of_rank > left_out))
            continue;
        data += w->data_s;
        time += w->time_s;
    }
    return time > 0 ? data / time : NAN;
}

/* Whether `next` goes on with the line up to `end`, a record of Megatron's that a terminal or a chat wrapped: such end
 * in a bar. */
static bool goes_on(char *line, char *end, const char *next)
{
    const char *last = end;
    next = text_skip_blanks(next);
    while (last > line && text_is_blank(last[-1]))
        last--;
    if (last == line || end - line > RECORD_MAX || last[-1] == '|' || *next == '\0' || *next == '\n' || *next == '[' ||
        text_starts(next, "iteration"))
        return false;
    char kept = *end;
    *end = '\0';
    bool record = text_seek(line, "consumed samples") != NULL || text_seek(line, "elapsed time") != NULL;
    *end = kept;
    return record;
}

static void join_wrapped(char *text)
{
    char *to = text, *line = text;
    for (char *p = text; *p != '\0'; p++) {
        *to = *p;
        if (*p != '\n')
            to++;
        else if (!goes_on(line, to, p + 1))
            line = ++to;
        else { /* one blank, whatever the window's edge and an indentation left of it */
            while (to > line && text_is_blank(to[-1]))
                to--;
            *to++ = ' ';
            while (text_is_blank(p[1]))
                p++;
        }
    }
    *to = '\0';
}

/* From a profiler's means: nothing of the variation, but how long a step takes and how long it waits for data. */
static void from_profile(const struct log *l, struct iteration_stats *ret)
{
    double mean = l->profile_wait_s + l->profile_batch_s;
    ret->read = ret->smoothed = true;
    ret->n = (size_t)fmin(l->profile_calls, 1e9);
    ret->mean_s = ret->median_s = ret->steady_mean_s = ret->steady_median_s = mean;
    if (l->profile_wait_s > 0)
        ret->data_share = l->profile_wait_s / mean;
    if (ret->framework == NULL)
        ret->framework = "PyTorch Lightning";
}

void read_training_log(char *text, struct arena *arena, struct iteration_stats *ret)
{
    struct log l = {.arena = arena, .stats = ret};
    text_lower(text);
    join_wrapped(text);
    for (char *cursor = text, *line; (line = text_line(&cursor)) != NULL;)
        if (*text_skip_blanks(line) != '\0')
            take_line(&l, line);
    size_t n, n_smoothed;
    int key = choose_key(&l, LOG_EXACT, &n), smoothed = choose_key(&l, LOG_SMOOTHED, &n_smoothed);
    if (n < 2 && l.bars.n == 0)
        key = n > 0 ? key : choose_key(&l, LOG_PARTLY, &n);
    bool summary = n > 0 && is_summary(&l, n);
    if (!summary && (n > 1 || (n == 1 && l.bars.n == 0)))
        from_times(&l, key, n, ret);
    else if (l.bars.n > 0)
        from_bars(&l, ret);
    if (!ret->read)
        from_steps(&l, ret);
    if (!ret->read && summary)
        from_times(&l, key, n, ret);
    if (!ret->read && n_smoothed > 0) {
        from_times(&l, smoothed, n_smoothed, ret);
        ret->smoothed = true;
    }
    if (!ret->read && l.profile_batch_s > 0)
        from_profile(&l, ret);
    else if (ret->read)
        ret->data_share = data_share(&l, ret);
    if (ret->read && ret->framework == NULL && l.bars.n > 0)
        ret->framework = "tqdm";
}
