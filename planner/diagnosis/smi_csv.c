/* smi_csv.c — `nvidia-smi --query-gpu=... --format=csv`, with header, with only the command above it, or bare.
 *
 * Columns come from the header, else from the command's list, else from the units of the values. Rows are collected
 * first, because what tells cards apart (index, bus, time stamp, order) only shows when all are there.
 */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/readers.h"
#include "planner/diagnosis/text.h"

#define COLUMNS_MAX 320
#define ROWS_MAX 100000
#define ONE_QUERY_S 0.05      /* rows of one query carry stamps this close */
#define CARDS_OF_A_MACHINE 16 /* more rows than this without any key are samples, not cards */

enum column {
    COLUMN_OTHER = 0,
    COLUMN_NAME,
    COLUMN_INDEX,
    COLUMN_KEY,
    COLUMN_STAMP,
    COLUMN_COUNT,
    COLUMN_UTILISATION,
    COLUMN_BUSY,
    COLUMN_USED,
    COLUMN_TOTAL,
    COLUMN_FREE,
    COLUMN_POWER,
    COLUMN_LIMIT,
    COLUMN_MIG,
    COLUMN_FOREIGN
};

static const struct {
    const char *name;
    enum column column;
} FIELDS[] = {
    {"name", COLUMN_NAME},
    {"gpu_name", COLUMN_NAME},
    {"index", COLUMN_INDEX},
    {"uuid", COLUMN_KEY},
    {"gpu_uuid", COLUMN_KEY},
    {"pci.bus_id", COLUMN_KEY},
    {"gpu_bus_id", COLUMN_KEY},
    {"timestamp", COLUMN_STAMP},
    {"count", COLUMN_COUNT},
    {"utilization.gpu", COLUMN_UTILISATION},
    {"utilization.memory", COLUMN_BUSY},
    {"memory.used", COLUMN_USED},
    {"memory.total", COLUMN_TOTAL},
    {"memory.free", COLUMN_FREE},
    {"power.draw", COLUMN_POWER},
    {"power.draw.average", COLUMN_POWER},
    {"power.draw.instant", COLUMN_POWER},
    {"power.limit", COLUMN_LIMIT},
    {"enforced.power.limit", COLUMN_LIMIT},
    {"mig.mode.current", COLUMN_MIG},
    {"pid", COLUMN_FOREIGN},
    {"process_name", COLUMN_FOREIGN},
    {"used_memory", COLUMN_FOREIGN},
    {"used_gpu_memory", COLUMN_FOREIGN},
};

struct cell {
    const char *text;
    size_t n;
};

struct row {
    struct card_sample sample;
    double stamp, free_mib;
    int count;
    int values; /* cells that are a number, or say that there is none */
};

struct csv {
    struct cards *cards;
    enum column columns[COLUMNS_MAX];
    int n_columns; /* 0 = not known yet */
    bool inferred; /* columns guessed from units: rows are samples of unknown cards */
    struct row *items;
    size_t n, cap;
};

/* Cuts a line at its commas; blanks and quotes around a cell are dropped. Returns their number. */
static int split(const char *line, struct cell *cells)
{
    int n = 0;
    for (const char *p = line;;) {
        size_t width = strcspn(p, ",");
        struct cell c = {text_skip_blanks(p), 0};
        const char *end = p + width;
        while (end > c.text && (text_is_blank(end[-1]) || end[-1] == '"'))
            end--;
        if (*c.text == '"' && c.text < end)
            c.text = text_skip_blanks(c.text + 1);
        c.n = end > c.text ? (size_t)(end - c.text) : 0;
        if (n < COLUMNS_MAX)
            cells[n++] = c;
        p += width;
        if (*p == '\0')
            return n;
        p++;
    }
}

static enum column column_of(const struct cell *c)
{
    size_t n = 0;
    while (n < c->n && !text_is_blank(c->text[n]) && c->text[n] != '[')
        n++;
    for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++)
        if (strlen(FIELDS[i].name) == n && text_starts(c->text, FIELDS[i].name))
            return FIELDS[i].column;
    return COLUMN_OTHER;
}

/* Letters, digits, dots and underscores, maybe a unit in brackets: what a field of the query looks like. */
static bool is_field(const struct cell *c)
{
    size_t n = 0;
    while (n < c->n && (text_is_alnum(c->text[n]) || c->text[n] == '.' || c->text[n] == '_'))
        n++;
    while (n < c->n && text_is_blank(c->text[n]))
        n++;
    return c->n > 0 && !text_is_digit(c->text[0]) && (n == c->n || c->text[n] == '[');
}

static bool takes(struct csv *t, const struct cell *cells, int n)
{
    enum column columns[COLUMNS_MAX];
    int known = 0, fields = 0;
    for (int i = 0; i < n; i++) {
        columns[i] = column_of(&cells[i]);
        known += columns[i] != COLUMN_OTHER;
        fields += is_field(&cells[i]);
    }
    bool dotted = n > 1 || (n == 1 && memchr(cells[0].text, '.', cells[0].n) != NULL);
    if (known == 0 || fields < n || !dotted)
        return false;
    memcpy(t->columns, columns, (size_t)n * sizeof *columns);
    t->n_columns = n;
    t->inferred = false;
    for (int i = 0; i < n; i++)
        if (columns[i] == COLUMN_FOREIGN) /* a list of processes */
            t->n_columns = -1;
    return true;
}

/* The keys that tell the rows of one block apart, then into the cards. */
static void flush(struct csv *t, bool inferred)
{
    bool keyed = false, stamped = false, named = t->n > 0;
    for (size_t i = 0; i < t->n; i++) {
        named = named && t->items[i].sample.name != NULL;
        keyed = keyed || t->items[i].sample.index >= 0 || t->items[i].sample.bus_id != NULL;
        stamped = stamped || isfinite(t->items[i].stamp);
    }
    double group_start = NAN;
    int in_group = 0;
    for (size_t i = 0; i < t->n; i++) {
        struct row *r = &t->items[i];
        if (keyed) {
            cards_add(t->cards, &r->sample);
            continue;
        }
        if (stamped) {
            bool same = isfinite(r->stamp) && fabs(r->stamp - group_start) <= ONE_QUERY_S;
            in_group = same ? in_group + 1 : 0;
            group_start = same ? group_start : r->stamp;
            r->sample.index = in_group;
        } else if (r->count > 0)
            r->sample.index = (int)(i % (size_t)r->count);
        else if (t->n == 1 || (t->n <= CARDS_OF_A_MACHINE && (!inferred || named)))
            r->sample.index = (int)i;
        else {
            cards_add_unknown(t->cards, &r->sample);
            continue;
        }
        cards_add(t->cards, &r->sample);
    }
    t->n = 0;
}

/* A number with a unit nvidia-smi prints, or one of its ways to say that there is none. False: no value at all. */
static bool value_of(const struct cell *c, double *ret)
{
    static const char *const none[] = {"[N/A]",
                                       "N/A",
                                       "[Not Supported]",
                                       "Not Supported",
                                       "[Unknown Error]",
                                       "ERR!",
                                       "[Insufficient Permissions]",
                                       "[GPU requires reset]",
                                       "-"};
    *ret = NAN;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (strlen(none[i]) == c->n && text_starts(c->text, none[i]))
            return true;
    if (c->n > 2 && c->text[0] == '[')
        return true;
    char copy[32]; /* "0,208" without blanks are two cells, no thousands */
    if (c->n >= sizeof copy)
        return false;
    memcpy(copy, c->text, c->n);
    copy[c->n] = '\0';
    const char *p = copy;
    double v;
    if (!text_number(&p, &v))
        return false;
    p = text_skip_blanks(p);
    if (text_starts(p, "GiB"))
        v *= 1024;
    for (; *p != '\0'; p++)
        if (!text_is_alnum(*p) && *p != '%')
            return false;
    *ret = v;
    return true;
}

static bool take_text(struct csv *t, enum column column, const struct cell *c, struct row *r)
{
    char stamp[40];
    bool day_only;
    switch ((int)column) {
    case COLUMN_NAME:
        r->sample.name = arena_strndup(t->cards->arena, c->text, c->n);
        return text_is_alnum(c->text[0]);
    case COLUMN_KEY:
        r->sample.bus_id = arena_strndup(t->cards->arena, c->text, c->n);
        return text_is_alnum(c->text[0]);
    case COLUMN_MIG:
        r->sample.mig = c->n == 7 && text_starts(c->text, "Enabled");
        return true;
    case COLUMN_STAMP:
        if (c->n >= sizeof stamp)
            return false;
        memcpy(stamp, c->text, c->n);
        stamp[c->n] = '\0';
        return text_stamp(stamp, &r->stamp, &day_only);
    default:
        return true;
    }
}

static bool take_cell(struct csv *t, enum column column, const struct cell *c, struct row *r)
{
    double v;
    if (column == COLUMN_OTHER || column == COLUMN_FOREIGN)
        return true;
    if (column == COLUMN_NAME || column == COLUMN_KEY || column == COLUMN_MIG || column == COLUMN_STAMP)
        return take_text(t, column, c, r);
    if (!value_of(c, &v))
        return false;
    struct card_sample *s = &r->sample;
    r->values++;
    switch ((int)column) {
    case COLUMN_INDEX:
        s->index = isfinite(v) && v >= 0 && v < 1e6 ? (int)v : -1;
        break;
    case COLUMN_COUNT:
        r->count = isfinite(v) && v >= 1 && v <= CARDS_MAX ? (int)v : 0;
        break;
    case COLUMN_UTILISATION:
        s->utilisation_pct = v;
        break;
    case COLUMN_BUSY:
        s->memory_busy_pct = v;
        break;
    case COLUMN_USED:
        s->memory_used_mib = v;
        break;
    case COLUMN_TOTAL:
        s->memory_total_mib = v;
        break;
    case COLUMN_FREE:
        r->free_mib = v;
        break;
    case COLUMN_POWER:
        s->power_w = isfinite(v) ? v : s->power_w;
        break;
    default:
        s->power_limit_w = isfinite(v) ? v : s->power_limit_w;
        break;
    }
    return true;
}

static bool is_card_name(const struct cell *c)
{
    static const char *const makes[] = {"NVIDIA ", "Tesla ", "GeForce ", "Quadro ", "TITAN ",
                                        "GRID ",   "A100",   "A40",      "A10"};
    for (size_t i = 0; i < sizeof makes / sizeof *makes; i++)
        if (text_starts(c->text, makes[i]))
            return true;
    return false;
}

/* Columns from the units of a bare row: the first percentage is utilisation, MiB are used then total, watts draw then
 * limit. Only where memory in MiB is among them: other lists of numbers are not ours. */
static bool infer(struct csv *t, const struct cell *cells, int n)
{
    int percents = 0, mibs = 0, watts = 0;
    for (int i = 0; i < n; i++) {
        double v;
        t->columns[i] = COLUMN_OTHER;
        if (!value_of(&cells[i], &v)) {
            if (!is_card_name(&cells[i]))
                return false;
            t->columns[i] = COLUMN_NAME;
            if (i == 1 && value_of(&cells[0], &v) && v >= 0 && v < CARDS_MAX &&
                text_is_digit(cells[0].text[cells[0].n - 1]))
                t->columns[0] = COLUMN_INDEX; /* "0, NVIDIA A40, ...": what else would be numbered */
        } else if (cells[i].text[cells[i].n - 1] == '%')
            t->columns[i] = percents++ == 0 ? COLUMN_UTILISATION : COLUMN_OTHER;
        else if (cells[i].n > 3 && text_starts(cells[i].text + cells[i].n - 3, "MiB"))
            t->columns[i] = mibs++ == 0 ? COLUMN_USED : mibs == 2 ? COLUMN_TOTAL : COLUMN_OTHER;
        else if (cells[i].n > 2 && cells[i].text[cells[i].n - 1] == 'W')
            t->columns[i] = watts++ == 0 ? COLUMN_POWER : COLUMN_LIMIT;
    }
    if (mibs == 0 || percents == 0)
        return false;
    t->n_columns = n;
    t->inferred = true;
    return true;
}

static void take_row(struct csv *t, const struct cell *cells, int n)
{
    if (t->n_columns == 0 && (n < 2 || !infer(t, cells, n)))
        return;
    if (n == t->n_columns + 1 && cells[0].n > 0 && strspn(cells[0].text, "0123456789") >= cells[0].n) {
        cells++; /* pandas numbers its rows */
        n--;
    }
    if (t->n_columns <= 0 || n > t->n_columns || (n < t->n_columns && n < 2) || t->n >= ROWS_MAX)
        return;
    struct row r = {.stamp = NAN, .free_mib = NAN};
    card_sample_init(&r.sample);
    for (int i = 0; i < n; i++)
        if (cells[i].n > 0 && !take_cell(t, t->columns[i], &cells[i], &r))
            return;
    if (r.values == 0)
        return;
    if (t->inferred && r.sample.memory_used_mib > r.sample.memory_total_mib) { /* asked for in the other order */
        double total = r.sample.memory_used_mib;
        r.sample.memory_used_mib = r.sample.memory_total_mib;
        r.sample.memory_total_mib = total;
    }
    if (!isfinite(r.sample.memory_total_mib)) /* less what the driver keeps, a few hundred MiB */
        r.sample.memory_total_mib = r.sample.memory_used_mib + r.free_mib;
    struct row *kept = arena_push(t->cards->arena, t);
    if (kept != NULL)
        *kept = r;
}

/* "--query-gpu=name,memory.used" of a command: its columns, for rows without a header. */
static bool command(struct csv *t, char *line)
{
    const char *found = text_find(line, "--query-gpu");
    if (found == NULL) {
        const char *other = text_find(line, "--query-");
        if (other != NULL) { /* --query-compute-apps and the like */
            flush(t, t->inferred);
            t->n_columns = -1;
        }
        return other != NULL;
    }
    char *p = line + (found - line) + strlen("--query-gpu");
    while (*p == '=' || text_is_blank(*p) || *p == '"' || *p == '\'')
        p++;
    p[strcspn(p, " \t\"'\\`|;")] = '\0';
    struct cell cells[COLUMNS_MAX];
    flush(t, t->inferred);
    int n = split(p, cells);
    if (!takes(t, cells, n) && n == 1 && column_of(&cells[0]) != COLUMN_OTHER) {
        t->columns[0] = column_of(&cells[0]);
        t->n_columns = 1;
    }
    return true;
}

/* Columns set apart by blanks alone, as `column -t` and pandas print them: two and more are a comma. */
static void wide_blanks(char *p)
{
    char *to = p;
    while (*p != '\0') {
        size_t n = strspn(p, " ");
        if (n > 1 && p[n] != '\0')
            *to++ = ',';
        else {
            memmove(to, p, n);
            to += n;
        }
        p += n;
        if (*p != '\0')
            *to++ = *p++;
    }
    *to = '\0';
}

/* A row that came through a spreadsheet has tabs for commas (or semicolons, and decimal commas), one of a Markdown
 * table bars. `p` points into `line`. */
static const char *as_commas(char *line, const char *p)
{
    const char *semicolon = strchr(p, ';');
    if (semicolon != NULL && strchr(semicolon + 1, ';') != NULL)
        for (char *at = line; (at = strchr(at, ',')) != NULL;)
            *at = '.';
    if (strchr(p, ',') != NULL)
        return p;
    if (strchr(p, ';') == NULL && strchr(p, '\t') == NULL && strchr(p, '|') == NULL && strstr(p, "  ") != NULL) {
        wide_blanks(line + (p - line));
        return p;
    }
    char separator = *p == '|' ? '|' : strchr(p, ';') != NULL ? ';' : '\t';
    char *end = line + strlen(line);
    while (end > line && (text_is_blank(end[-1]) || end[-1] == '|'))
        *--end = '\0';
    if (*p == '|')
        p++;
    for (char *at = line; (at = strchr(at, separator)) != NULL;)
        *at = ',';
    return p;
}

/* Cuts "\n'" off the end of a line that began with "b'". Returns p. */
static const char *unbyte(char *line, const char *p)
{
    size_t n = strlen(line);
    while (n > 0 && strchr("'\"n\\ ", line[n - 1]) != NULL)
        line[--n] = '\0';
    return p;
}

void read_smi_csv(char *text, struct cards *cards)
{
    struct arena *arena = cards->arena;
    struct csv *t = arena_alloc(arena, sizeof *t);
    struct cell *cells = arena_array(arena, COLUMNS_MAX, sizeof *cells);
    if (t == NULL || cells == NULL)
        return;
    t->cards = cards;
    for (char *cursor = text, *line; (line = text_line(&cursor)) != NULL;) {
        const char *before = t->cards->host, *p = cards_take_host(t->cards, line), *host = t->cards->host;
        if (host != before) { /* what was read so far is the other machine's */
            t->cards->host = before;
            flush(t, t->inferred);
            t->cards->host = host;
        }
        if (command(t, line))
            continue;
        while (text_is_blank(*p) || *p == '#' || *p == '>' || *p == '$')
            p++;
        if (*p == 'b' && (p[1] == '\'' || p[1] == '"')) /* bytes, as Python prints them */
            p = unbyte(line, p + 2);
        p = as_commas(line, p);
        int n = split(p, cells);
        if (*p == '\0' || (n == 1 && t->n_columns != 1 && strchr(p, '.') == NULL))
            continue;
        bool inferred = t->inferred;
        if (takes(t, cells, n))
            flush(t, inferred);
        else
            take_row(t, cells, n);
    }
    flush(t, t->inferred);
    cards->host = NULL;
}
