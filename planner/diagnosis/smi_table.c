/* smi_table.c — the table that plain `nvidia-smi` prints, of drivers from 340 to 595.
 *
 * Every card has a row with its name and bus id and one with power, memory and utilisation; column widths, blanks
 * before the bars and the rows below differ from driver to driver, so rows are known by what is in them. The lists of
 * MIG devices and of processes hold numbers of the same looks and are told apart by their headings.
 */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/readers.h"
#include "planner/diagnosis/text.h"

enum section { SECTION_CARDS, SECTION_MIG, SECTION_PROCESSES };

struct table {
    struct cards *cards;
    const char **driver, **cuda;
    enum section section;
    struct card_sample pending; /* from its first row, waiting for the second */
    bool has_pending;
    struct card_work *last; /* whose rows these are */
};

/* The word after `label` up to blanks or a bar; kept unless it says that there is none. */
static void take_version(const char *line, const char *label, struct arena *arena, const char **ret)
{
    const char *p = text_find(line, label);
    if (p == NULL)
        return;
    p = text_skip_blanks(p + strlen(label));
    size_t n = strcspn(p, " \t|");
    if (n > 0 && text_is_digit(*p))
        *ret = arena_strndup(arena, p, n);
}

static bool is_state(const char *word, size_t n)
{
    static const char *const states[] = {"On",  "Off",   "WDDM",    "TCC",      "MCDM",
                                         "N/A", "[N/A]", "Enabled", "Disabled", "ERR!"};
    if (*word == 'v' && text_is_digit(word[1])) /* cnmon's firmware */
        return true;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strlen(states[i]) == n && strncmp(word, states[i], n) == 0)
            return true;
    return false;
}

/* What stands between index and bus id, without bars, trailing blanks and the persistence or driver mode. */
static const char *take_name(const char *from, const char *end, struct arena *arena)
{
    from = text_skip_blanks(from);
    if (*from == '/') /* cnmon's virtual function */
        from = text_skip_blanks(from + 1);
    while (end > from && text_is_blank(end[-1]))
        end--;
    const char *word = end;
    while (word > from && !text_is_blank(word[-1]))
        word--;
    if (word > from && is_state(word, (size_t)(end - word)))
        end = word;
    while (end > from && text_is_blank(end[-1]))
        end--;
    return end > from ? arena_strndup(arena, from, (size_t)(end - from)) : NULL;
}

/* What the driver prints for the name of a card that it has lost. */
static bool is_fault(const char *name)
{
    return text_starts(name, "ERR!") || text_starts(name, "Unknown Error") || text_starts(name, "GPU is lost");
}

/* The last bar before `end`, or NULL. */
static const char *bar_before(const char *line, const char *end)
{
    while (end > line)
        if (*--end == '|')
            return end;
    return NULL;
}

/* A card whose second row was cut off still is a card. */
static void drop_pending(struct table *t)
{
    if (t->has_pending)
        t->last = cards_add(t->cards, &t->pending);
    t->has_pending = false;
}

/* "|   0  Orin (nvgpu)   N/A  | N/A   N/A |   N/A |": a module whose card sits on no bus. */
static const char *no_bus(const char *line, size_t *ret_len)
{
    const char *second = strchr(line, '|');
    second = second == NULL ? NULL : strchr(second + 1, '|');
    if (second == NULL || strchr(second + 1, '|') == NULL)
        return NULL;
    const char *cell = text_skip_blanks(second + 1);
    *ret_len = strlen("N/A");
    return text_starts(cell, "N/A") ? cell : NULL;
}

/* "|   0  NVIDIA A30           On   | 00000000:25:" at the right edge of what was copied. */
static const char *cut_bus(const char *line, size_t *ret_len)
{
    const char *cell = strrchr(line, '|');
    cell = cell == NULL ? NULL : text_skip_blanks(cell + 1);
    size_t domain = cell == NULL ? 0 : strspn(cell, "0123456789abcdefABCDEF");
    if ((domain != 4 && domain != 8) || cell[domain] != ':')
        return NULL;
    *ret_len = strspn(cell, "0123456789abcdefABCDEF:.");
    return *text_skip_blanks(cell + *ret_len) == '\0' ? cell : NULL;
}

/* Tools of other makers print the utilisation ("97%", mx-smi, cnmon) and the memory ("98%   40012MiB(49152MiB)",
 * mthreads-gmi) in the first row already. */
static void first_row_figures(const char *p, struct card_sample *s)
{
    double v, total;
    p = text_skip_blanks(p);
    if (!text_number(&p, &v) || *p != '%' || v > 100)
        return;
    s->utilisation_pct = v;
    p = text_skip_blanks(p + 1);
    if (!text_number(&p, &v) || !text_starts(p, "MiB("))
        return;
    p += strlen("MiB(");
    if (text_number(&p, &total)) {
        s->memory_used_mib = v;
        s->memory_total_mib = total;
    }
}

/* "|   0  NVIDIA A40   On  |   00000000:4F:00.0 Off |": index, name, bus. Whatever stands left of the table's first
 * cell (a prompt, a log's time stamp) does not matter. */
static bool first_row(struct table *t, const char *line)
{
    size_t bus_len;
    const char *bus = text_bus_id(line, &bus_len);
    if (bus == NULL && (bus = cut_bus(line, &bus_len)) == NULL)
        bus = no_bus(line, &bus_len);
    if (bus == NULL)
        return false;
    const char *cell_end = bar_before(line, bus);
    const char *cell = cell_end == NULL ? NULL : bar_before(line, cell_end);
    const char *p = text_skip_blanks(cell == NULL ? line : cell + 1);
    int index;
    if (!text_int(&p, &index) || !text_is_blank(*p))
        return false;
    const char *name = take_name(p, cell_end == NULL ? bus : cell_end, t->cards->arena);
    if (name == NULL || strspn(name, "0123456789 ") == strlen(name) || (*bus == 'N' && text_is_digit(*name)) ||
        strpbrk(name, ",\t") != NULL)
        return false; /* a table of somebody else, a row of --query-gpu as it came out of a spreadsheet */
    drop_pending(t);
    card_sample_init(&t->pending);
    t->pending.index = index;
    t->pending.name = is_fault(name) ? NULL : name;
    t->pending.bus_id = text_starts(bus, "N/A") ? NULL : arena_strndup(t->cards->arena, bus, bus_len);
    t->has_pending = true;
    const char *third = strchr(bus, '|');
    if (third != NULL)
        first_row_figures(third + 1, &t->pending);
    return true;
}

static double in_mib(double v, const char *unit)
{
    return text_starts(unit, "g") ? v * 1024 : text_starts(unit, "k") ? v / 1024 : v;
}

static bool is_memory_unit(const char *p)
{
    return text_starts(p, "mib") || text_starts(p, "gib") || text_starts(p, "mb") || text_starts(p, "gb");
}

static const char *skip_letters(const char *p)
{
    while (text_is_alnum(*p))
        p++;
    return p;
}

/* "71639MiB / 81920MiB" or "71639 / 81920 MiB" anywhere in the line; where it starts and ends. */
static bool memory_pair(const char *line, const char **ret_start, const char **ret_end, struct card_sample *s)
{
    for (const char *slash = line; (slash = strchr(slash, '/')) != NULL; slash++) {
        const char *right = text_skip_blanks(slash + 1), *unit;
        double total, used;
        if (!text_number(&right, &total) || !is_memory_unit(unit = text_skip_blanks(right)))
            continue;
        const char *left = slash;
        while (left > line && text_is_blank(left[-1]))
            left--;
        const char *left_unit = left;
        while (left_unit > line && text_is_alnum(left_unit[-1]) && !text_is_digit(left_unit[-1]))
            left_unit--;
        const char *number = left_unit;
        while (number > line && text_is_blank(number[-1]))
            number--;
        while (number > line && (text_is_digit(number[-1]) || number[-1] == '.'))
            number--;
        *ret_start = number;
        if (!text_number(&number, &used))
            continue;
        s->memory_used_mib = in_mib(used, is_memory_unit(left_unit) ? left_unit : unit);
        s->memory_total_mib = in_mib(total, unit);
        *ret_end = skip_letters(unit);
        return true;
    }
    return false;
}

/* "89W / 300W", "N/A /  75W", "350W|" before `end`. */
static void take_power(const char *line, const char *end, struct card_sample *s)
{
    for (const char *p = line; p < end; p++) {
        if (!text_is_digit(*p) || (p > line && (text_is_alnum(p[-1]) || p[-1] == '.')))
            continue;
        double v;
        if (!text_number(&p, &v))
            continue;
        const char *unit = text_skip_blanks(p);
        if (*unit != 'W' || text_is_alnum(unit[1])) {
            p--;
            continue;
        }
        const char *before = p;
        while (before > line && (text_is_digit(before[-1]) || before[-1] == '.' || text_is_blank(before[-1])))
            before--;
        if (before > line && before[-1] == '/')
            s->power_limit_w = v;
        else
            s->power_w = v;
    }
}

/* The first percentage at or after p, unless "N/A" comes first. */
static void take_utilisation(const char *p, struct card_sample *s)
{
    for (; *p != '\0'; p++) {
        if (text_starts(p, "N/A") || text_starts(p, "ERR!"))
            return;
        double v;
        if (text_is_digit(*p) && text_number(&p, &v)) {
            if (*text_skip_blanks(p) == '%' && v <= 100)
                s->utilisation_pct = v;
            return;
        }
    }
}

static const char *nth_bar(const char *line, int n)
{
    for (const char *p = line; *p != '\0'; p++)
        if (*p == '|' && --n == 0)
            return p;
    return NULL;
}

/* What a copy that was cut on the right left of a second row: its power, and maybe what of the memory is used. */
static bool cut_row(const char *line, const char *second_bar, struct card_sample *s)
{
    const char *p = text_skip_blanks(second_bar + 1);
    double used;
    take_power(line, second_bar, s);
    if (!isfinite(s->power_w) && !isfinite(s->power_limit_w))
        return false;
    if (text_number(&p, &used) && is_memory_unit(p))
        s->memory_used_mib = in_mib(used, p);
    return true;
}

/* Power, memory and utilisation. A row without its first one (cut off above) still is a card. */
static bool second_row(struct table *t, const char *line)
{
    struct card_sample s;
    card_sample_init(&s);
    const char *start = NULL, *end = NULL;
    bool memory = memory_pair(line, &start, &end, &s);
    if (!memory) { /* "Not Supported", "N/A / N/A": only below a first row */
        start = nth_bar(line, 2);
        end = nth_bar(line, 3);
        if (t->has_pending && start != NULL && end == NULL && cut_row(line, start, &s))
            end = start + strlen(start);
        else if (!t->has_pending || end == NULL || strchr(start, '%') == NULL)
            return false;
        else
            end = end > start && strchr(end, '%') != NULL ? end : start;
    }
    if (!t->has_pending && (strchr(end, '|') == NULL || strchr(end, '%') == NULL))
        return false;
    take_power(line, start, &s);
    take_utilisation(end, &s);
    if (t->has_pending) {
        s.index = t->pending.index;
        s.name = t->pending.name;
        s.bus_id = t->pending.bus_id;
        if (!isfinite(s.utilisation_pct))
            s.utilisation_pct = t->pending.utilisation_pct;
    }
    t->has_pending = false;
    t->last = cards_add(t->cards, &s);
    return true;
}

/* "|  0    2   0   0  |    11091MiB / 40448MiB    | 60      0 |": a device of card 0. */
static void mig_row(struct table *t, const char *line)
{
    const char *p = strchr(line, '|');
    int card = -1, value;
    for (int i = 0; i < 3; i++) { /* card, GI, CI, each after a blank */
        p = p == NULL ? NULL : p + 1;
        if (p == NULL || !text_is_blank(p[-1] == '|' ? *p : p[-1]))
            return;
        p = text_skip_blanks(p);
        if (!text_int(&p, &value))
            return;
        card = i == 0 ? value : card;
    }
    struct card_work *w = cards_find(t->cards, card);
    if (w != NULL) {
        w->reading.mig = true;
        w->reading.mig_devices++;
    }
}

static bool heading(struct table *t, const char *line)
{
    if (text_find(line, "NVIDIA-SMI") != NULL && text_find(line, "Version") != NULL) {
        take_version(line, "Driver Version:", t->cards->arena, t->driver);
        take_version(line, "KMD Version:", t->cards->arena, t->driver);
        take_version(line, "CUDA Version:", t->cards->arena, t->cuda);
        take_version(line, "CUDA UMD Version:", t->cards->arena, t->cuda);
        drop_pending(t);
        t->section = SECTION_CARDS;
        return true;
    }
    if (text_find(line, "MIG devices:") != NULL)
        t->section = SECTION_MIG;
    else if (text_find(line, "Processes:") != NULL ||
             (text_find(line, " PID ") != NULL && text_find(line, "Process name") != NULL))
        t->section = SECTION_PROCESSES;
    else if (text_find(line, "Bus-Id") != NULL && text_find(line, "Name") != NULL)
        t->section = SECTION_CARDS;
    else
        return false;
    drop_pending(t);
    return true;
}

#define SWALLOWED_MIN 240 /* no row of a table is as wide */

/* A forum that swallowed the newlines: "| N/A | | 60% 70C ...": a bar, a blank and a bar end a row. In place. */
static void split_swallowed(char *text)
{
    for (char *line = text; *line != '\0';) {
        size_t n = strcspn(line, "\n");
        for (char *p = line; n > SWALLOWED_MIN && p + 2 < line + n; p++)
            if (p[0] == '|' && p[1] == ' ' && p[2] == '|')
                p[1] = '\n';
        line += n + (line[n] != '\0');
    }
}

/* Whether the row from `line` up to `end` was cut by a narrow window and goes on at `next`: a row that starts with a
 * bar ends with one. */
static bool goes_on(const char *line, const char *end, const char *next)
{
    next = text_skip_blanks(next);
    size_t width = strcspn(next, "\n");
    while (width > 0 && text_is_blank(next[width - 1]))
        width--;
    while (end > line && text_is_blank(end[-1]))
        end--;
    line = text_skip_blanks(line);
    bool open = line < end && *line == '|' && end[-1] != '|' && end - line > 20 && end - line < SWALLOWED_MIN;
    return open && width > 0 && *next != '|' && *next != '+' && next[width - 1] == '|';
}

static void unwrap(char *text)
{
    char *to = text, *line = text;
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\n' && goes_on(line, to, p + 1))
            continue;
        *to++ = *p;
        if (*p == '\n')
            line = to;
    }
    *to = '\0';
}

void read_smi_table(char *text, struct cards *cards, const char **ret_driver, const char **ret_cuda)
{
    struct table t = {.cards = cards, .driver = ret_driver, .cuda = ret_cuda, .section = SECTION_CARDS};
    split_swallowed(text);
    unwrap(text);
    for (char *cursor = text, *line; (line = text_line(&cursor)) != NULL;) {
        const char *before = cards->host;
        (void)cards_take_host(cards, line);
        if (cards->host != before && t.has_pending) { /* a row that was cut off is the other machine's */
            const char *host = cards->host;
            cards->host = before;
            drop_pending(&t);
            cards->host = host;
        }
        if (heading(&t, line))
            continue;
        if (t.section == SECTION_MIG)
            mig_row(&t, line);
        if (t.section != SECTION_CARDS || first_row(&t, line) || second_row(&t, line))
            continue;
        if (t.last != NULL && strchr(line, '|') != NULL && text_find_word(line, "Enabled") != NULL)
            t.last->reading.mig = true; /* the third row: MIG M. */
    }
    drop_pending(&t);
    cards->host = NULL;
}
