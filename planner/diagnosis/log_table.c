/* log_table.c — iteration times that stand in a table or a list instead of behind a word in every line: a CSV with a
 * column "step_time", a Markdown table, "iteration_times": [1.2, 1.3, ...].
 */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/log.h"
#include "planner/diagnosis/text.h"

#define COLUMNS_MAX 64

/* The separator of a line's cells: bars before tabs before commas; 0 for none. */
static char separator_of(const char *line)
{
    return strchr(line, '|') != NULL ? '|' : strchr(line, '\t') != NULL ? '\t' : strchr(line, ',') != NULL ? ',' : '\0';
}

/* The next cell from *p on without blanks and quotes around it; false when the line is used up. */
static bool next_cell(const char **p, char separator, const char **ret, size_t *ret_n)
{
    if (*p == NULL)
        return false;
    const char *start = text_skip_blanks(*p), *end = strchr(*p, separator);
    const char *stop = end != NULL ? end : *p + strlen(*p);
    *p = end != NULL ? end + 1 : NULL;
    if (start > stop)
        start = stop;
    while (stop > start && (text_is_blank(stop[-1]) || stop[-1] == '"'))
        stop--;
    start += start < stop && *start == '"';
    *ret = start;
    *ret_n = (size_t)(stop - start);
    return true;
}

static const char *first_cell(const char *line, char separator)
{
    const char *p = text_skip_blanks(line);
    return separator == '|' && *p == '|' ? p + 1 : p;
}

/* The key a column's name means: also behind the run's and the group's name ("run-1 - perf/step_time"). */
static int key_of(const char *cell, size_t n, double *ret_unit_s)
{
    static const char *const bare[] = {"time", "耗时", "duration"}; /* "time(s)": with a unit it is no time of day */
    int key = log_key_named(cell, n, ret_unit_s);
    for (size_t i = 0; i < sizeof bare / sizeof *bare && key < 0; i++) {
        size_t width = strlen(bare[i]), at = width;
        if (n <= width || strncmp(cell, bare[i], width) != 0)
            continue;
        at += strspn(cell + at, " ([_");
        *ret_unit_s = at > width && at < n ? log_unit_at(cell + at) : 0;
        if (*ret_unit_s > 0)
            return log_key_named("iteration_time", strlen("iteration_time"), &(double){0});
    }
    for (size_t i = n; i > 0 && key < 0; i--)
        if (cell[i - 1] == '/' || (i > 2 && strncmp(cell + i - 3, " - ", 3) == 0))
            return log_key_named(cell + i, n - i, ret_unit_s);
    return key;
}

static bool is_one_of(const char *cell, size_t n, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == n && strncmp(cell, names[i], n) == 0)
            return true;
    return false;
}

/* "Wall time,Step,Value", "_step,_timestamp,train/loss": when which step was. */
static void take_stamp_name(const char *cell, size_t n, int column, int *stamp, int *step)
{
    static const char *const stamps[] = {"wall time", "wall_time", "_timestamp", "timestamp"};
    static const char *const steps[] = {"step", "_step", "global_step", "trainer/global_step", "iteration"};
    if (*stamp < 0 && is_one_of(cell, n, stamps, sizeof stamps / sizeof *stamps))
        *stamp = column;
    if (*step < 0 && is_one_of(cell, n, steps, sizeof steps / sizeof *steps))
        *step = column;
}

/* A line of names, one of which is an iteration time's. */
static bool take_heading(struct log *l, const char *line)
{
    int stamp = -1;
    char separator = separator_of(line) != '\0' ? separator_of(line) : '\n'; /* one column alone */
    const char *p = first_cell(line, separator), *cell;
    struct log_table found = {.key = -1, .step_column = -1, .separator = separator};
    size_t n;
    while (found.columns < COLUMNS_MAX && next_cell(&p, separator, &cell, &n)) {
        double unit_s;
        int key = key_of(cell, n, &unit_s);
        if (n > 0 && (text_is_digit(*cell) || memchr(cell, ':', n) != NULL || memchr(cell, '=', n) != NULL))
            return false;
        take_stamp_name(cell, n, found.columns, &stamp, &found.step_column);
        if (key >= 0 && found.key < 0) {
            found.key = key;
            found.unit_s = unit_s;
            found.column = found.columns;
        }
        found.columns++;
    }
    bool stamped = found.key < 0 && stamp >= 0 && found.step_column >= 0;
    if (stamped) {
        found.column = stamp;
        found.unit_s = 1;
    }
    if (found.key < 0 && !stamped)
        return false;
    l->table = found;
    return true;
}

static void add_time(struct log *l, int key, double value_s, double step)
{
    struct log_time *t = value_s > 0 && isfinite(value_s) ? arena_push(l->arena, &l->times) : NULL;
    if (t != NULL)
        *t = (struct log_time){
            .key = key, .value_s = value_s, .step = step, .rank = LOG_RANK_NONE, .after_pause = l->saw_pause};
}

#define STAMP_FROM 1e9 /* seconds since 1970 */
#define TABLE_WORD 15  /* beside the words that number steps in lines */

static void add_step(struct log *l, double stamp_s, double step)
{
    bool both = stamp_s > STAMP_FROM && stamp_s < 1e11 && isfinite(step);
    struct log_time *t = both ? arena_push(l->arena, &l->steps) : NULL;
    if (t != NULL)
        *t = (struct log_time){.key = TABLE_WORD, .value_s = stamp_s, .step = step, .of = NAN, .rank = LOG_RANK_NONE};
}

/* A line of as many cells as the heading, a number in the column that counts. */
static void take_row(struct log *l, const char *line)
{
    const struct log_table *t = &l->table;
    const char *p = first_cell(line, t->separator), *cell;
    double value = NAN, step = NAN;
    int columns = 0;
    for (size_t n; columns <= t->columns && next_cell(&p, t->separator, &cell, &n); columns++) {
        const char *end = cell;
        double v;
        if (columns == t->column && n > 0 && text_number(&end, &v))
            value = end == cell + n ? v * t->unit_s : NAN;
        else if (columns == t->step_column && n > 0 && text_number(&end, &v))
            step = v;
    }
    if (columns == t->columns && t->key < 0)
        add_step(l, value, step);
    else if (columns == t->columns)
        add_time(l, t->key, value, NAN);
}

/* "iteration_times": [1.2, 1.3; the list may go on in the lines below. */
static const char *list_start(struct log *l, const char *line)
{
    static const char *const words[] = {"iteration_times", "iter_times", "step_times", "batch_times"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *p = text_seek_word(line, words[i]);
        if (p == NULL)
            continue;
        p += strlen(words[i]);
        l->list_unit_s = text_starts(p, "_ms") ? 1e-3 : 1;
        p += strcspn(p, ":=[");
        p += strspn(p, ":= \t");
        if (*p == '[')
            return p + 1;
    }
    return NULL;
}

#define TYPED_LEAST 4 /* fewer times behind a word are no list */

/* "耗时：1.21s 1.19s 1.22s 1.20s": as somebody typed or copied them out of a chart, each with its unit. */
static bool take_typed(struct log *l, const char *line)
{
    static const char *const words[] = {"耗时", "用时", "时间", "times", "step time", "iteration time"};
    const int key = log_key_named("iteration_time", strlen("iteration_time"), &(double){0});
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *p = text_seek(line, words[i]);
        if (p == NULL)
            continue;
        p += strcspn(p, "0123456789");
        const size_t before = l->times.n;
        double v, unit_s;
        while (text_number(&p, &v) && (unit_s = log_unit_at(text_skip_blanks(p))) > 0) {
            add_time(l, key, v * unit_s, NAN);
            p = text_skip_blanks(p);
            while (*p != '\0' && !text_is_digit(*p) && strchr(" \t,;/", *p) == NULL)
                p++;
            p += strspn(p, " \t,;/");
        }
        if (l->times.n - before >= TYPED_LEAST)
            return true;
        l->times.n = before;
    }
    return false;
}

bool log_take_table(struct log *l, const char *line)
{
    const char *p = l->in_list ? line : list_start(l, line);
    l->in_list = p != NULL;
    if (p != NULL) {
        int key = log_key_named("iteration_time", strlen("iteration_time"), &(double){0});
        double v;
        for (p += strspn(p, " \t,"); text_number(&p, &v); p += strspn(p, " \t,"))
            add_time(l, key, v * l->list_unit_s, NAN);
        l->in_list = *p == '\0';
        return true;
    }
    if (take_heading(l, line) || take_typed(l, line))
        return true;
    if (l->table.columns > 0)
        take_row(l, line);
    return false;
}
