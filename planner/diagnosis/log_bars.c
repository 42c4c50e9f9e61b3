/* log_bars.c — progress bars (tqdm and its kin): "  12%|#   | 5/40 [06:05<43:34, 74.69s/it]".
 *
 * The rate a bar prints is smoothed; elapsed time over steps done is not, but comes in whole seconds. Bars of
 * loading, tokenizing, evaluating and the like are not training.
 */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/log.h"
#include "planner/diagnosis/text.h"

#define LABEL_MAX 48

static bool is_training(const char *label, size_t n)
{
    static const char *const others[] = {"val",   "eval",  "test",    "predict", "sanity", "load",    "download",
                                         "map",   "token", "filter",  "generat", "saving", "convert", "extract",
                                         "fetch", "shard", "process", "packing", "warmup", "infer",   "quantiz"};
    char text[LABEL_MAX];
    n = n < sizeof text ? n : sizeof text - 1;
    memcpy(text, label, n);
    text[n] = '\0';
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (text_seek(text, others[i]) != NULL)
            return false;
    return true;
}

/* "74.69s/it", "14.19it/s", "2.1batch/s": seconds an iteration, NAN when not a rate. */
static double rate_at(const char *p)
{
    double v;
    p = text_skip_blanks(p);
    if (!text_number(&p, &v) || v <= 0)
        return NAN;
    p = text_skip_blanks(p);
    if (text_starts(p, "s/"))
        return v;
    if (text_starts(p, "ms/"))
        return v / 1000;
    while (text_is_alnum(*p))
        p++;
    return text_starts(p, "/s") ? 1 / v : NAN;
}

/* "40", "1.23k": tqdm shortens where it is asked to. */
static bool count(const char **p, double *ret)
{
    if (!text_number(p, ret))
        return false;
    char c = (char)(**p | 0x20);
    *ret *= c == 'k' ? 1e3 : c == 'm' ? 1e6 : 1;
    *p += c == 'k' || c == 'm';
    return true;
}

/* "5/40 " that ends at `end`: where it starts, or NULL. */
static const char *count_before(const char *line, const char *end, struct log_bar *bar)
{
    const char *p = end;
    while (p > line && text_is_blank(p[-1]))
        p--;
    while (p > line && (text_is_digit(p[-1]) || strchr("/.kKM", p[-1]) != NULL))
        p--;
    const char *start = p;
    double n, total;
    if (!count(&p, &n) || *p != '/' || (p++, !count(&p, &total)) || total < 1 || n > total)
        return NULL;
    bar->n = n;
    bar->total = total;
    return start;
}

/* The label before "NN%|###": at most LABEL_MAX bytes left of the percentage. */
static bool labelled_training(const char *from, const char *count)
{
    const char *end = count;
    while (end > from && !(*end == '%' && end[1] == '|'))
        end--;
    while (end > from && (text_is_digit(end[-1]) || text_is_blank(end[-1])))
        end--;
    const char *start = end - from > LABEL_MAX - 1 ? end - (LABEL_MAX - 1) : from;
    for (const char *p = end; p > start; p--)
        if (p[-1] == ']' || p[-1] == '}') { /* what ended before is another message */
            start = p;
            break;
        }
    return is_training(start, (size_t)(end - start));
}

/* One bar around the '<' between elapsed and remaining time. True when it is one. */
static bool take_bar(struct log *l, const char *from, const char *less)
{
    const char *open = less;
    while (open > from && *open != '[' && less - open < 24)
        open--;
    const char *p = open + 1;
    struct log_bar bar = {.rate_s = NAN};
    if (*open != '[' || !text_duration(&p, &bar.elapsed_s) || p != less)
        return false;
    const char *count = count_before(from, open, &bar);
    if (count == NULL)
        return false;
    if (!labelled_training(from, count))
        return true;
    const char *comma = strchr(less, ',');
    const char *close = strchr(less, ']');
    const char *bytes = text_seek(less, "b/s");
    if (bytes != NULL && (close == NULL || bytes < close)) /* a download */
        return true;
    if (comma != NULL && (close == NULL || comma < close))
        bar.rate_s = rate_at(comma + 1);
    struct log_bar *kept = arena_push(l->arena, &l->bars);
    if (kept != NULL)
        *kept = bar;
    return true;
}

/* "[ 60/500 02:24 < 17:40, 0.42 it/s, Epoch 0.1/1]", "[500/500 20:00, Epoch 1/1]": Hugging Face in a notebook. */
static bool take_notebook_bar(struct log *l, const char *line)
{
    for (const char *open = line; (open = strchr(open, '[')) != NULL; open++) {
        struct log_bar bar = {.rate_s = NAN};
        const char *p = text_skip_blanks(open + 1);
        int n, total;
        if (!text_int(&p, &n) || *p != '/' || (p++, !text_int(&p, &total)) || *p != ' ' || n < 1 || n > total)
            continue;
        p = text_skip_blanks(p);
        if (!text_duration(&p, &bar.elapsed_s) || text_seek(p, "epoch ") == NULL)
            continue;
        bar.n = n;
        bar.total = total;
        p = text_skip_blanks(p);
        const char *comma = *p == '<' ? strchr(p, ',') : NULL;
        if (comma != NULL)
            bar.rate_s = rate_at(comma + 1);
        struct log_bar *kept = arena_push(l->arena, &l->bars);
        if (kept != NULL)
            *kept = bar;
        return true;
    }
    return false;
}

/* The last "n/total" before `end`; NULL when there is none. */
static const char *last_count(const char *line, const char *end, struct log_bar *bar)
{
    for (const char *p = end; p > line; p--) {
        if (p[-1] != '/' || !text_is_digit(*p))
            continue;
        const char *stop = p;
        while (text_is_digit(*stop))
            stop++;
        if (text_is_blank(*stop) && count_before(line, stop, bar) != NULL)
            return stop;
    }
    return NULL;
}

/* The first duration from p on that is a word of its own: "0:00:41", "1:21<1:39", "40.0s". */
static double duration_in(const char *p)
{
    for (; *p != '\0'; p++) {
        const char *q = p;
        double s;
        if (text_is_digit(*p) && text_is_blank(p[-1]) && text_duration(&q, &s) && !text_is_alnum(*q) && *q != '/')
            return s;
    }
    return NAN;
}

/* Where the drawing of a bar begins whose count ends at `end`; of a notebook's file only blanks are left of it. NULL:
 * nothing is drawn. */
static const char *drawing(const char *line, const char *end)
{
    static const char *const drawn[] = {"\u2501", "\u2500", "% "};
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        const char *start = text_seek(line, drawn[i]);
        if (start != NULL && start < end)
            return start;
    }
    const char *blanks = NULL;
    for (const char *p = line; (p = text_seek(p, "    ")) != NULL && p < end; p += strspn(p, " "))
        blanks = p;
    return blanks;
}

/* Between the drawing and its count stands nothing else. */
static bool is_drawn(const char *start, const char *count)
{
    while (count > start && (text_is_digit(count[-1]) || count[-1] == '/'))
        count--;
    for (; start < count; start++)
        if (text_is_alnum(*start))
            return false;
    return true;
}

/* Bars without brackets, of rich and of YOLO: "━━━ 390/390 0:00:41 • 0:00:00 9.52it/s", "100% ━━━ 900/900 5.0it/s
 * 3:00". */
static bool take_plain_bar(struct log *l, const char *line)
{
    struct log_bar bar = {.rate_s = NAN};
    const char *unit = text_seek(line, "it/s"), *count;
    if (unit == NULL)
        unit = text_seek(line, "s/it");
    if (unit == NULL || (count = last_count(line, unit, &bar)) == NULL)
        return false;
    const char *start = drawing(line, count), *rate = unit;
    if (start == NULL || !is_drawn(start, count))
        return false;
    size_t label = (size_t)(start - line) < LABEL_MAX ? (size_t)(start - line) : LABEL_MAX - 1;
    if (!is_training(start - label, label))
        return true;
    while (rate > line && (text_is_digit(rate[-1]) || rate[-1] == '.'))
        rate--;
    bar.rate_s = rate_at(rate);
    bar.elapsed_s = duration_in(count);
    struct log_bar *kept = arena_push(l->arena, &l->bars);
    if (kept != NULL)
        *kept = bar;
    return true;
}

/* JSON of LLaMA-Factory and ms-swift: steps done and the time since the start. */
static bool take_counter(struct log *l, const char *line)
{
    static const char *const words[] = {"current_steps", "global_step/max_steps"};
    const char *elapsed = text_seek_word(line, "elapsed_time");
    if (elapsed == NULL)
        return false;
    elapsed += strlen("elapsed_time");
    elapsed += strspn(elapsed, " \"':=");
    struct log_bar bar = {.rate_s = NAN};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *p = text_seek_word(line, words[i]);
        int n;
        if (p == NULL)
            continue;
        p += strlen(words[i]);
        p += strspn(p, " \"':=");
        if (!text_int(&p, &n) || !text_duration(&elapsed, &bar.elapsed_s))
            return false;
        bar.n = n;
        const char *total = text_seek_word(line, "total_steps");
        if (*p == '/')
            total = p + 1;
        else if (total != NULL)
            total += strlen("total_steps") + strspn(total + strlen("total_steps"), " \"':=");
        int of;
        bar.total = total != NULL && text_int(&total, &of) ? of : 0;
        struct log_bar *kept = arena_push(l->arena, &l->bars);
        if (kept != NULL)
            *kept = bar;
        return true;
    }
    return false;
}

bool log_take_bars(struct log *l, const char *line)
{
    bool any = false;
    const char *from = line;
    for (const char *less = line; (less = strchr(less, '<')) != NULL; less++)
        if (take_bar(l, from, less)) {
            any = true;
            from = less;
        }
    if (!any)
        any = take_notebook_bar(l, line) || take_plain_bar(l, line);
    if (!any)
        take_counter(l, line);
    return any;
}
