/* log_per_step.c — times that no word names but their own unit: "0.45s per step", "1.2秒/步", "2.5 steps/s", and a
 * duration that stands alone between two bars. For loops of one's own, which print as their writer pleased.
 */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/log.h"
#include "planner/diagnosis/text.h"

/* Bytes of the word for a step at p ("batches", "步"), and nothing more to the word; 0: none. tqdm's "it" has its own
 * place: bars print it. */
static size_t step_word(const char *p)
{
    static const char *const words[] = {"iterations", "iteration", "iters", "iter", "steps",
                                        "step",       "batches",   "batch", "步",   "次迭代"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (text_starts(p, words[i]) && !text_is_alnum(p[strlen(words[i])]) && p[strlen(words[i])] != '_')
            return strlen(words[i]);
    return 0;
}

/* The number that ends at `end`, blanks in between; NAN when none does, or when it belongs to a word. */
static double number_before(const char *line, const char *end)
{
    const char *start = text_digits_before(line, &end);
    double v;
    bool own = start == line || (!text_is_alnum(start[-1]) && strchr("_-/", start[-1]) == NULL);
    return own && end > start && text_number(&start, &v) && start == end ? v : NAN;
}

/* "0.45s", "450 ms", "1.2秒" that ends at `end`: seconds. */
static double time_before(const char *line, const char *end)
{
    static const char *const units[] = {"milliseconds", "seconds", "second", "msec", "secs",
                                        "sec",          "ms",      "s",      "毫秒", "秒"};
    while (end > line && text_is_blank(end[-1]))
        end--;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t n = strlen(units[i]);
        if ((size_t)(end - line) <= n || strncmp(end - n, units[i], n) != 0)
            continue;
        double v = number_before(line, end - n);
        if (isfinite(v))
            return v * log_unit_at(units[i]);
    }
    return NAN;
}

double log_time_per_step(const char *line)
{
    static const char *const between[] = {"/", " per ", "每"};
    for (size_t i = 0; i < sizeof between / sizeof *between; i++)
        for (const char *p = line; (p = text_seek(p, between[i])) != NULL; p++) {
            double v = step_word(p + strlen(between[i])) > 0 ? time_before(line, p) : NAN;
            if (isfinite(v))
                return v;
        }
    return NAN;
}

double log_time_of_rate(const char *line)
{
    for (const char *p = line; (p = strchr(p, '/')) != NULL; p++) {
        double unit = log_unit_at(p + 1);
        if (unit != 1) /* a second */
            continue;
        for (const char *word = p; word > line && p - word < 12; word--)
            if (step_word(word - 1) == (size_t)(p - word + 1)) {
                double v = number_before(line, word - 1);
                if (v > 0)
                    return 1 / v;
            }
    }
    return NAN;
}

/* Where a cell ends: at a bar, a comma, or a dash between blanks. */
static const char *cell_end(const char *p)
{
    while (*p != '\0' && *p != '|' && *p != ',' && strncmp(p, " - ", 3) != 0)
        p++;
    return p;
}

double log_lone_time(const char *line)
{
    double found = NAN, step, of;
    if (log_step_of(line, &step, &of) < 0)
        return NAN;
    for (const char *p = line; *p != '\0';) {
        const char *end = cell_end(p), *q = text_skip_blanks(p);
        double v;
        if (text_number(&q, &v)) {
            const char *unit = text_skip_blanks(q);
            double unit_s = log_unit_at(unit);
            while (*unit != '\0' && unit < end && !text_is_blank(*unit))
                unit++;
            if (unit_s > 0 && unit_s <= 1 && text_skip_blanks(unit) >= end) {
                if (isfinite(found)) /* two: which is it? */
                    return NAN;
                found = v * unit_s;
            }
        }
        p = *end == '\0' ? end : end + (*end == ' ' ? 3 : 1);
    }
    return found;
}
