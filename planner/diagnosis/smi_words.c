/* smi_words.c — cards as somebody typed them, where no tool's output was pasted: "卡0 利用率35% 显存 76/80G 功耗
 * 150W", or a small table of one's own with such headings.
 *
 * A figure counts where a word names it, and a line where it names a card or has both how busy and how full; prose
 * without figures stays prose.
 */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/readers.h"
#include "planner/diagnosis/text.h"

#define CELLS_MAX 24
#define GIB_MIB 1024.0
#define GIB_MOST 2048.0 /* a bare number above is MiB */
#define INDEX_MOST 1024
#define SENTENCE_MOST 4096 /* bytes; what is longer nobody typed */

enum what { WHAT_OTHER = 0, WHAT_CARD, WHAT_NAME, WHAT_BUSY, WHAT_MEMORY, WHAT_TOTAL, WHAT_POWER, WHAT_LIMIT };

struct cell {
    const char *text;
    size_t n;
};

struct heading {
    enum what columns[CELLS_MAX];
    double unit_mib[CELLS_MAX]; /* of a memory; 0 = not said */
    int n;
    char separator;
};

#define WORDS(...) (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

/* Whether these n bytes hold one of the words. */
static bool holds(const char *text, size_t n, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t width = strlen(words[i]);
        for (size_t at = 0; at + width <= n; at++)
            if (text_starts(text + at, words[i]))
                return true;
    }
    return false;
}

/* "G", "GB", "GiB" at p: 1024; "M...": 1; else 0. */
static double unit_at(const char *p)
{
    p = text_skip_blanks(p);
    bool alone = !text_is_alnum(p[1]) || text_starts(p + 1, "b") || text_starts(p + 1, "ib");
    return alone && (*p == 'g' || *p == 'G') ? GIB_MIB : alone && (*p == 'm' || *p == 'M') ? 1 : 0;
}

static double in_mib(double v, double unit)
{
    return unit > 0 ? v * unit : v <= GIB_MOST ? v * GIB_MIB : v;
}

/* "76/80G", "76G / 80G", "76G", "95%" at p, in a column or sentence that may have named the unit. */
static bool take_memory(const char *p, double unit, struct card_sample *s)
{
    double used, total;
    if (!text_number(&p, &used) || used < 0)
        return false;
    if (*text_skip_blanks(p) == '%') {
        s->memory_pct = used;
        return true;
    }
    double own = unit_at(p);
    const char *slash = text_skip_blanks(p);
    while (own > 0 && text_is_alnum(*slash))
        slash++;
    slash = text_skip_blanks(slash);
    if (*slash == '/' && (slash = text_skip_blanks(slash + 1), text_number(&slash, &total)) && total >= used) {
        double theirs = unit_at(slash) > 0 ? unit_at(slash) : unit;
        s->memory_total_mib = in_mib(total, theirs);
        s->memory_used_mib = in_mib(used, own > 0 ? own : theirs > 0 ? theirs : total <= GIB_MOST ? GIB_MIB : 1);
        return true;
    }
    s->memory_used_mib = in_mib(used, own > 0 ? own : unit);
    return true;
}

static bool take_power(const char *p, struct card_sample *s)
{
    double draw, limit;
    if (!text_number(&p, &draw))
        return false;
    s->power_w = draw;
    p = text_skip_blanks(p);
    p = text_skip_blanks(*p == 'W' || *p == 'w' ? p + 1 : p);
    if (*p == '/' && (p = text_skip_blanks(p + 1), text_number(&p, &limit)))
        s->power_limit_w = limit;
    return true;
}

/* "35%", "35 %"; a bare number only where a column or a word asked for one. */
static bool take_busy(const char *p, struct card_sample *s)
{
    double v;
    if (!text_number(&p, &v) || v < 0 || v > 100)
        return false;
    s->utilisation_pct = v;
    return true;
}

/* ---- sentences ------------------------------------------------------------------------------------------------- */

/* From behind a word to its number: blanks, colons and what people say in between; NULL when none follows. */
static const char *to_number(const char *p, const char *end)
{
    static const char *const said[] = {"占用率", "占用", "使用率", "使用", "已用", "约",    "大概", "在", "为", "是",
                                       "只有",   "有",   "都",     "用了", "左右", "usage", "used", "is", "at", "~"};
    for (int steps = 0; p < end && steps < 16; steps++) {
        if (text_is_digit(*p))
            return p;
        size_t n = strchr(" \t:=,(", *p) != NULL ? 1 : 0;
        for (size_t i = 0; i < sizeof said / sizeof *said && n == 0; i++)
            n = text_starts(p, said[i]) ? strlen(said[i]) : 0;
        if (n == 0)
            return NULL;
        p += n;
    }
    return NULL;
}

/* The number behind the first of these words between p and end. */
static const char *figure(const char *p, const char *end, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const size_t width = strlen(words[i]);
        for (const char *at = p; at + width <= end; at++) {
            const char *number = text_starts(at, words[i]) ? to_number(at + width, end) : NULL;
            if (number != NULL)
                return number;
        }
    }
    return NULL;
}

/* What a stretch of a line says of one card; the number of its figures. */
static int take_said(const char *p, const char *end, struct card_sample *s)
{
    const char *busy = figure(
        p, end, WORDS("gpu利用率", "gpu 利用率", "gpu使用率", "gpu-util", "gpu util", "利用率", "utilization", "util"));
    const char *memory = figure(p, end, WORDS("显存", "vram", "memory", "mem"));
    const char *power = figure(p, end, WORDS("功耗", "功率", "power"));
    int n = 0;
    n += memory != NULL && take_memory(memory, 0, s);
    n += busy != NULL && busy != memory && take_busy(busy, s);
    n += power != NULL && take_power(power, s);
    return n;
}

/* "卡0", "GPU 3", "第2张卡" at p: its end and number. */
static const char *card_named(const char *p, int *ret)
{
    static const char *const labels[] = {"显卡", "卡", "gpu", "card", "npu", "第"};
    const char *q = p;
    if (text_is_digit(*p)) { /* "0号卡" */
        bool numbered = text_int(&q, ret) && *ret < INDEX_MOST && text_starts(q, "号卡");
        return numbered ? q + strlen("号卡") : NULL;
    }
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        if (!text_starts(p, labels[i]))
            continue;
        q = text_skip_blanks(p + strlen(labels[i]));
        q += *q == '#' || *q == '[';
        if (text_int(&q, ret) && *ret < INDEX_MOST && strchr("%./", *q) == NULL && unit_at(q) <= 0)
            return q;
    }
    return NULL;
}

/* Where the next card is named from p on: its end and number, and where its name starts. */
static const char *next_card(const char *p, const char **ret_start, int *ret)
{
    for (; *p != '\0'; p++) {
        const char *end = card_named(p, ret);
        if (end != NULL) {
            *ret_start = p;
            return end;
        }
        while (text_is_digit(p[0]) && text_is_digit(p[1]))
            p++;
    }
    return NULL;
}

/* What is said over several lines: of the card named last, or of nobody knows which. */
struct said {
    struct card_sample open, unnamed;
    bool has_open;
    int n_open, n_unnamed;
};

static void finish(struct said *said, struct cards *cards)
{
    if (said->has_open && said->n_open > 0)
        cards_add(cards, &said->open);
    said->has_open = false;
}

static void take_sentence(const char *line, struct said *said, struct cards *cards)
{
    int index, next;
    const char *start, *end = line + strlen(line), *at = next_card(line, &start, &index);
    if (at == NULL && said->has_open)
        said->n_open += take_said(line, end, &said->open);
    else if (at == NULL)
        said->n_unnamed += take_said(line, end, &said->unnamed);
    while (at != NULL) {
        const char *after = next_card(at, &start, &next);
        finish(said, cards);
        card_sample_init(&said->open);
        said->open.index = index;
        said->has_open = true;
        said->n_open = take_said(at, after != NULL ? start : end, &said->open);
        at = after;
        index = next;
    }
}

/* ---- tables ---------------------------------------------------------------------------------------------------- */

static char separator_of(const char *line)
{
    return strchr(line, '|') != NULL    ? '|'
           : strchr(line, '\t') != NULL ? '\t'
           : strchr(line, ';') != NULL  ? ';'
           : strchr(line, ',') != NULL  ? ','
           : strstr(line, "  ") != NULL ? ' '
                                        : '\0';
}

/* A line's cells without the blanks around them; of blanks two and more separate. */
static int split(const char *line, char separator, struct cell *cells)
{
    int n = 0;
    const char *p = text_skip_blanks(line);
    p += separator == '|' && *p == '|';
    while (*p != '\0' && n < CELLS_MAX) {
        const char *end = separator == ' ' ? strstr(p, "  ") : strchr(p, separator), *start = text_skip_blanks(p);
        const char *stop = end != NULL ? end : p + strlen(p);
        while (stop > start && text_is_blank(stop[-1]))
            stop--;
        if (end != NULL || stop > start)
            cells[n++] = (struct cell){start < stop ? start : stop, start < stop ? (size_t)(stop - start) : 0};
        p = end == NULL ? stop : separator == ' ' ? text_skip_blanks(end) : end + 1;
    }
    return n;
}

static enum what what_of(const struct cell *c)
{
    const char *t = c->text;
    const size_t n = c->n;
    bool memory = holds(t, n, WORDS("显存", "vram", "mem"));
    if (memory && holds(t, n, WORDS("总", "total", "容量", "size")))
        return WHAT_TOTAL;
    if (memory)
        return WHAT_MEMORY;
    if (holds(t, n, WORDS("利用率", "使用率", "util")))
        return WHAT_BUSY;
    if (holds(t, n, WORDS("功耗", "功率", "power", "pwr")))
        return holds(t, n, WORDS("上限", "limit", "cap", "tdp")) ? WHAT_LIMIT : WHAT_POWER;
    if (holds(t, n, WORDS("型号", "model", "name", "名称")))
        return WHAT_NAME;
    return holds(t, n, WORDS("卡", "gpu", "card", "index", "序号", "编号")) ? WHAT_CARD : WHAT_OTHER;
}

/* The unit a heading's cell ends with: "显存(GB)", "mem used [MiB]". */
static double unit_of(const struct cell *c)
{
    for (size_t i = 1; i < c->n; i++)
        if (strchr("([/ ", c->text[i - 1]) != NULL && unit_at(c->text + i) > 0)
            return unit_at(c->text + i);
    return 0;
}

static bool take_heading(const char *line, struct heading *h)
{
    struct cell cells[CELLS_MAX];
    struct heading found = {.separator = separator_of(line)};
    bool card = false, busy = false;
    if (found.separator == '\0')
        return false;
    found.n = split(line, found.separator, cells);
    for (int i = 0; i < found.n; i++) {
        const char *share = cells[i].n > 0 ? memchr(cells[i].text, '%', cells[i].n) : NULL;
        if (share != NULL && share > cells[i].text && text_is_digit(share[-1]))
            return false; /* figures */
        found.columns[i] = what_of(&cells[i]);
        found.unit_mib[i] = unit_of(&cells[i]);
        card = card || found.columns[i] == WHAT_CARD || found.columns[i] == WHAT_NAME;
        busy = busy || found.columns[i] == WHAT_BUSY;
    }
    if (!card || !busy || found.n < 2)
        return false;
    *h = found;
    return true;
}

/* A bare number in a column that names no unit; a share where it says "%". */
static void take_column(enum what what, double unit, const struct cell *c, struct cards *cards, struct card_sample *s)
{
    char text[64];
    double v;
    const char *p = text;
    if (c->n == 0 || c->n >= sizeof text)
        return;
    memcpy(text, c->text, c->n);
    text[c->n] = '\0';
    switch (what) {
    case WHAT_CARD: /* "0", "卡0", "GPU 0", "0号卡"; "A100" is a name */
        if (card_named(p, &s->index) == NULL && !(text_int(&p, &s->index) && *p == '\0')) {
            s->index = -1;
            s->name = arena_strndup(cards->arena, c->text, c->n);
        }
        break;
    case WHAT_NAME:
        s->name = arena_strndup(cards->arena, c->text, c->n);
        break;
    case WHAT_BUSY:
        (void)take_busy(p, s);
        break;
    case WHAT_MEMORY:
        (void)take_memory(p, unit, s);
        break;
    case WHAT_TOTAL:
        if (text_number(&p, &v))
            s->memory_total_mib = in_mib(v, unit_at(p) > 0 ? unit_at(p) : unit);
        break;
    case WHAT_POWER:
        (void)take_power(p, s);
        break;
    case WHAT_LIMIT:
        if (text_number(&p, &v))
            s->power_limit_w = v;
        break;
    case WHAT_OTHER:
        break;
    }
}

static bool take_row(const char *line, const struct heading *h, int row, struct cards *cards)
{
    struct cell cells[CELLS_MAX];
    struct card_sample s;
    card_sample_init(&s);
    int n = split(line, h->separator, cells);
    if (n != h->n)
        return false;
    for (int i = 0; i < n; i++)
        take_column(h->columns[i], h->unit_mib[i], &cells[i], cards, &s);
    if (!isfinite(s.utilisation_pct) && !isfinite(s.memory_used_mib) && !isfinite(s.power_w))
        return false;
    if (s.index < 0)
        s.index = row;
    cards_add(cards, &s);
    return true;
}

void read_smi_words(char *text, struct cards *cards)
{
    struct heading h = {.n = 0};
    struct said said = {.has_open = false};
    int rows = 0;
    size_t size = strlen(text);
    if (!holds(text, size, WORDS("利用率", "使用率", "util"))) /* nobody speaks of how busy a card is */
        return;
    card_sample_init(&said.unnamed);
    for (char *cursor = text, *line; (line = text_line(&cursor)) != NULL;) {
        if (take_heading(line, &h))
            rows = 0;
        else if (h.n > 0 && separator_of(line) == h.separator)
            rows += take_row(line, &h, rows, cards);
        else if (strlen(line) <= SENTENCE_MOST)
            take_sentence(line, &said, cards);
    }
    finish(&said, cards);
    const struct card_sample *s = &said.unnamed;
    bool full = isfinite(s->utilisation_pct) && (isfinite(s->memory_total_mib) || isfinite(s->memory_pct));
    if (cards->n == 0 && full && said.n_unnamed >= 2 && size <= SENTENCE_MOST)
        cards_add_unknown(cards, s);
}
