/* smi_columns.c — outputs with one row a card below a heading that names the columns: rocm-smi, hy-smi, `amd-smi
 * monitor`, `dcgmi dmon`, `npu-smi info watch`, xpu_smi; and rows of `nvidia-smi dmon` whose heading was lost.
 *
 * Some columns of rocm-smi hold several words ("NPS1, SPX, 0"), so a row's cells are counted from the right, where
 * every column is one word; a number and the unit behind it are one cell.
 */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/readers.h"
#include "planner/diagnosis/text.h"

#define CELLS_MAX 48

enum column {
    COLUMN_OTHER = 0,
    COLUMN_CARD,
    COLUMN_BUSY_PCT,
    COLUMN_BUSY_RATIO,
    COLUMN_MEMORY_BUSY_PCT,
    COLUMN_MEMORY_BUSY_RATIO,
    COLUMN_MEMORY_PCT,
    COLUMN_USED,
    COLUMN_TOTAL,
    COLUMN_USED_OF_TOTAL,
    COLUMN_POWER,
    COLUMN_POWER_LIMIT,
    COLUMN_NAME
};

static const struct {
    const char *name;
    enum column column;
} NAMES[] = {
    {"GPU", COLUMN_CARD},
    {"DCU", COLUMN_CARD},
    {"Device", COLUMN_CARD},
    {"#Entity", COLUMN_CARD},
    {"Entity", COLUMN_CARD},
    {"NpuID(Idx)", COLUMN_CARD},
    {"DevID", COLUMN_CARD},
    {"UseRate", COLUMN_BUSY_PCT},
    {"Memory", COLUMN_USED_OF_TOTAL},
    {"Model", COLUMN_NAME},
    {"Power(W)", COLUMN_POWER},
    {"GPU%", COLUMN_BUSY_PCT},
    {"DCU%", COLUMN_BUSY_PCT},
    {"HCU%", COLUMN_BUSY_PCT},
    {"GFX%", COLUMN_BUSY_PCT},
    {"GFX_UTIL", COLUMN_BUSY_PCT},
    {"GPUTL", COLUMN_BUSY_PCT},
    {"AI Core(%)", COLUMN_BUSY_PCT},
    {"GRACT", COLUMN_BUSY_RATIO},
    {"MEM%", COLUMN_MEMORY_BUSY_PCT},
    {"MEM_UTIL", COLUMN_MEMORY_BUSY_PCT},
    {"MCUTL", COLUMN_MEMORY_BUSY_PCT},
    {"Memory BW(%)", COLUMN_MEMORY_BUSY_PCT},
    {"DRAMA", COLUMN_MEMORY_BUSY_RATIO},
    {"VRAM%", COLUMN_MEMORY_PCT},
    {"Memory(%)", COLUMN_MEMORY_PCT},
    {"VRAM_USED", COLUMN_USED},
    {"FBUSD", COLUMN_USED},
    {"VRAM_TOTAL", COLUMN_TOTAL},
    {"FBTTL", COLUMN_TOTAL},
    {"VRAM_USAGE", COLUMN_USED_OF_TOTAL},
    {"AvgPwr", COLUMN_POWER},
    {"Power", COLUMN_POWER},
    {"Pwr(W)", COLUMN_POWER},
    {"PwrCap", COLUMN_POWER_LIMIT},
};

struct cell {
    const char *text;
    size_t n;
};

struct heading {
    enum column columns[CELLS_MAX];
    int n;
    bool bars; /* between the cells, instead of blanks */
};

static enum column column_of(const struct cell *c)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strlen(NAMES[i].name) == c->n && text_starts(c->text, NAMES[i].name))
            return NAMES[i].column;
    return COLUMN_OTHER;
}

/* Words between blanks; with `in_brackets` a name ends with its bracket ("Memory BW(%)"). */
static int words_of(const char *p, bool in_brackets, struct cell *cells)
{
    int n = 0;
    for (p = text_skip_blanks(p); *p != '\0' && n < CELLS_MAX; p = text_skip_blanks(p)) {
        const char *close = in_brackets ? strchr(p, ')') : NULL;
        size_t width = close != NULL ? (size_t)(close + 1 - p) : strcspn(p, " \t");
        cells[n++] = (struct cell){p, width};
        p += width;
    }
    return n;
}

/* Cells between bars, without the blanks around them. */
static int cells_of(const char *p, struct cell *cells)
{
    int n = 0;
    for (const char *end; (end = strchr(++p, '|')) != NULL && n < CELLS_MAX; p = end) {
        const char *start = text_skip_blanks(p), *stop = end;
        while (stop > start && text_is_blank(stop[-1]))
            stop--;
        cells[n++] = (struct cell){start, (size_t)(stop - start)};
    }
    return n;
}

/* "640 W", "61 °C", "99 %", "N/A Mb/s": what stands behind a number belongs to it. */
static bool is_unit(const struct cell *c)
{
    static const char *const units[] = {"W",   "%",   "°C",   "C",    "MHz", "MB", "GB",
                                        "GiB", "MiB", "Mb/s", "MB/s", "mV",  "V"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i]) == c->n && strncmp(c->text, units[i], c->n) == 0)
            return true;
    return false;
}

static int merge_units(struct cell *cells, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (kept > 0 && is_unit(&cells[i]))
            cells[kept - 1].n = (size_t)(cells[i].text + cells[i].n - cells[kept - 1].text);
        else
            cells[kept++] = cells[i];
    return kept;
}

/* A line whose first word is a card and that names a utilisation or a memory. */
static bool take_heading(const char *line, struct heading *h)
{
    struct cell cells[CELLS_MAX];
    const char *p = text_skip_blanks(line);
    if (p[0] == '#' && text_is_blank(p[1]))
        p++;
    bool bars = *p == '|';
    int n = bars ? cells_of(p, cells) : words_of(p, text_starts(text_skip_blanks(p), "NpuID(Idx)"), cells), useful = 0;
    struct heading found = {.n = n, .bars = bars};
    for (int i = 0; i < n; i++) {
        if (cells[i].n == 2 && text_starts(cells[i].text, "sm")) /* dmon's, whatever else it holds */
            return false;
        found.columns[i] = column_of(&cells[i]);
        useful += found.columns[i] > COLUMN_CARD && found.columns[i] < COLUMN_POWER;
    }
    if (n < 3 || found.columns[0] != COLUMN_CARD || useful == 0)
        return false;
    *h = found;
    return true;
}

/* MiB where nothing else is said. */
static double in_mib(double v, const char *unit)
{
    return *unit == 'G' ? v * 1024 : v;
}

static void take_cell(enum column column, const struct cell *c, struct card_sample *s)
{
    const char *p = c->text;
    double v, total;
    if (!text_number(&p, &v))
        return;
    if (column == COLUMN_USED_OF_TOTAL) { /* "170.2/192.0 GB" */
        p = text_skip_blanks(p);
        if (*p++ != '/' || (p = text_skip_blanks(p), !text_number(&p, &total)))
            return;
        s->memory_total_mib = in_mib(total, text_skip_blanks(p));
        s->memory_used_mib = in_mib(v, text_skip_blanks(p));
        return;
    }
    p = text_skip_blanks(p);
    double *to = column == COLUMN_BUSY_PCT || column == COLUMN_BUSY_RATIO                 ? &s->utilisation_pct
                 : column == COLUMN_MEMORY_BUSY_PCT || column == COLUMN_MEMORY_BUSY_RATIO ? &s->memory_busy_pct
                 : column == COLUMN_MEMORY_PCT                                            ? &s->memory_pct
                 : column == COLUMN_USED                                                  ? &s->memory_used_mib
                 : column == COLUMN_TOTAL                                                 ? &s->memory_total_mib
                 : column == COLUMN_POWER                                                 ? &s->power_w
                 : column == COLUMN_POWER_LIMIT                                           ? &s->power_limit_w
                                                                                          : NULL;
    bool ratio = column == COLUMN_BUSY_RATIO || column == COLUMN_MEMORY_BUSY_RATIO;
    bool memory = column == COLUMN_USED || column == COLUMN_TOTAL;
    if (to != NULL)
        *to = ratio ? v * 100 : memory ? in_mib(v, p) : v;
}

/* The draw stands left of columns of several words: the first cell in watts. */
static void take_watts(const struct cell *cells, int n, struct card_sample *s)
{
    for (int i = 0; i < n && !isfinite(s->power_w); i++) {
        const char *p = cells[i].text;
        double v;
        if (text_number(&p, &v) && *text_skip_blanks(p) == 'W' && text_skip_blanks(p) < cells[i].text + cells[i].n)
            s->power_w = v;
    }
}

static bool take_row(const char *line, const struct heading *h, struct cards *cards)
{
    struct cell cells[CELLS_MAX];
    const char *p = text_skip_blanks(line);
    if (text_starts(p, "GPU "))
        p = text_skip_blanks(p + strlen("GPU "));
    if (h->bars != (*p == '|'))
        return false;
    int n = h->bars ? cells_of(p, cells) : merge_units(cells, words_of(p, false, cells)), index;
    const char *first = n > 0 ? cells[0].text : "";
    for (int i = h->n; i < n && !h->bars; i++)
        if (strchr("<#(", cells[i].text[0]) != NULL || (unsigned char)cells[i].text[0] >= 0x80)
            n = i; /* somebody's remark: "<- waiting" */
    if (n < h->n || n > h->n + (h->bars ? 0 : 4) || !text_int(&first, &index) || first != cells[0].text + cells[0].n)
        return false;
    struct card_sample s;
    card_sample_init(&s);
    s.index = index;
    for (int i = 1; i < h->n; i++) {
        bool left_of_many = n > h->n && h->columns[i] == COLUMN_POWER;
        if (h->columns[i] == COLUMN_NAME)
            s.name = arena_strndup(cards->arena, cells[i].text, cells[i].n);
        else if (!left_of_many)
            take_cell(h->columns[i], &cells[n - h->n + i], &s);
    }
    take_watts(cells, n, &s);
    cards_add(cards, &s);
    return true;
}

/* ---- rows of nvidia-smi dmon without their heading ------------------------------------------------------------ */

#define BARE_OLD 10 /* gpu pwr gtemp mtemp sm mem enc dec mclk pclk */
#define BARE_NEW 12 /* the same with jpg and ofa before the clocks */
#define BARE_ROWS_MIN 2

/* The row's figures when it can be nothing else: a small index, degrees, four shares, two clocks in MHz. */
static bool bare_row(const char *line, struct card_sample *s)
{
    struct cell cells[CELLS_MAX];
    double v[BARE_NEW];
    int n = words_of(line, false, cells);
    if (n != BARE_OLD && n != BARE_NEW)
        return false;
    for (int i = 0; i < n; i++) {
        const char *p = cells[i].text;
        v[i] = NAN;
        if (!(cells[i].n == 1 && *p == '-') && (!text_number(&p, &v[i]) || p != cells[i].text + cells[i].n))
            return false;
        if (!isnan(v[i]) && (v[i] < 0 || v[i] != floor(v[i])))
            return false;
    }
    bool shares = true;
    for (int i = 4; i < n - 2; i++)
        shares = shares && v[i] <= 100;
    if (!(v[0] < 64 && v[1] < 2000 && v[2] >= 10 && v[2] <= 110 && shares && v[n - 2] >= 100 && v[n - 1] >= 100 &&
          v[n - 2] < 20000 && v[n - 1] < 20000))
        return false;
    card_sample_init(s);
    s->index = (int)v[0];
    s->power_w = v[1];
    s->utilisation_pct = v[4];
    s->memory_busy_pct = v[5];
    return true;
}

static void read_bare_dmon(char *text, struct cards *cards)
{
    struct card_sample samples[BARE_ROWS_MIN];
    int rows = 0;
    for (char *cursor = text, *line; (line = text_line(&cursor)) != NULL;) {
        struct card_sample s;
        if (!bare_row(line, &s))
            continue;
        if (rows < BARE_ROWS_MIN)
            samples[rows] = s;
        if (++rows == BARE_ROWS_MIN)
            for (int i = 0; i < BARE_ROWS_MIN; i++)
                cards_add(cards, &samples[i]);
        else if (rows > BARE_ROWS_MIN)
            cards_add(cards, &s);
    }
}

void read_smi_columns(char *text, struct cards *cards)
{
    if (cards->n == 0 && strchr(text, '#') == NULL) {
        size_t size = strlen(text) + 1;
        char *copy = arena_alloc(cards->arena, size);
        if (copy != NULL) {
            memcpy(copy, text, size);
            read_bare_dmon(copy, cards);
        }
    }
    struct heading h = {.n = 0};
    for (char *cursor = text, *line; (line = text_line(&cursor)) != NULL;) {
        (void)cards_take_host(cards, line);
        if (!take_heading(line, &h) && h.n > 0)
            (void)take_row(line, &h, cards);
    }
    cards->host = NULL;
}
