/* dmon.c — `nvidia-smi dmon`: one row a second and card under a heading that names the columns; and `pmon`, one row a
 * second and process, where there is no dmon.
 *
 * The `mem` of either is how long the memory controller was busy, not how full the memory is; only `fb` (with -s m) is
 * that. What the processes of a card keep busy adds up to what the card does.
 */
#include <math.h>
#include <string.h>

#include "planner/diagnosis/readers.h"
#include "planner/diagnosis/text.h"

#define COLUMNS_MAX 64
#define INDEX_MAX 9999

struct heading {
    int gpu, pid, sm, mem, pwr, fb, columns; /* places; -1 = not there */
};

/* The next word: its start in *ret, its length returned; 0 at the end. */
static size_t word(const char **p, const char **ret)
{
    *ret = *p + strspn(*p, " \t,");
    size_t n = strcspn(*ret, " \t,");
    *p = *ret + n;
    return n;
}

static bool is(const char *w, size_t n, const char *name)
{
    return strlen(name) == n && text_starts(w, name);
}

/* Columns that dmon alone has: a row below them is one of a card, whatever it says of it. */
static bool is_of_dmon(const char *w, size_t n)
{
    static const char *const names[] = {"rxpci", "txpci", "mclk", "pclk", "pviol", "tviol", "gtemp", "sbecc"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is(w, n, names[i]))
            return true;
    return false;
}

/* "# gpu   pwr gtemp ... sm   mem": the columns. */
static bool take_heading(const char *line, struct heading *h)
{
    const char *p = text_find(line, "# gpu");
    bool bare = p == NULL && strchr(line, '#') == NULL && text_starts(text_skip_blanks(line), "gpu ");
    if (bare) /* whoever pasted it took the mark for a comment's */
        p = line;
    else if (p == NULL && (p = strchr(line, '#')) == NULL)
        return false;
    struct heading found = {-1, -1, -1, -1, -1, -1, 0};
    const char *w;
    bool of_dmon = false;
    p += !bare;
    for (size_t n; (n = word(&p, &w)) > 0 && found.columns < COLUMNS_MAX; found.columns++) {
        int *place = is(w, n, "gpu")   ? &found.gpu
                     : is(w, n, "pid") ? &found.pid
                     : is(w, n, "sm")  ? &found.sm
                     : is(w, n, "mem") ? &found.mem
                     : is(w, n, "pwr") ? &found.pwr
                     : is(w, n, "fb")  ? &found.fb
                                       : NULL;
        of_dmon = of_dmon || is_of_dmon(w, n);
        if (place != NULL)
            *place = found.columns;
    }
    if (bare && (found.gpu != 0 || found.pid >= 0 || found.sm < 0 || (found.mem < 0 && found.pwr < 0)))
        return false;
    if (found.gpu < 0 || found.columns < 3 || (found.sm < 0 && found.pwr < 0 && found.fb < 0 && !of_dmon))
        return false;
    *h = found;
    return true;
}

/* A row's figures under the heading, in *s and *ret_pid (-1: none); the number of its columns, 0 when it is no row.
 * Also one that was commented out together with its heading ("#   0     21     37 ..."). */
static int take_cells(const char *line, const struct heading *h, struct card_sample *s, double *ret_pid)
{
    const char *p = text_skip_blanks(line), *w;
    card_sample_init(s);
    *ret_pid = -1;
    if (*p == '#')
        p++;
    int column = 0;
    for (size_t n; (n = word(&p, &w)) > 0; column++) {
        double v;
        const char *q = w;
        bool number = text_number(&q, &v) && q == w + n;
        if (column == h->gpu && (!number || v < 0 || v > INDEX_MAX))
            return 0;
        if (!number)
            continue; /* "-": not measured; also a date or a time in front */
        if (column == h->gpu)
            s->index = (int)v;
        else if (column == h->pid)
            *ret_pid = v;
        else if (column == h->sm && v <= 100)
            s->utilisation_pct = v;
        else if (column == h->mem && v <= 100)
            s->memory_busy_pct = v;
        else if (column == h->pwr)
            s->power_w = v;
        else if (column == h->fb)
            s->memory_used_mib = v;
    }
    return column;
}

/* ---- pmon ------------------------------------------------------------------------------------------------------ */

struct processes {
    struct card_sample sum; /* of one card in one second */
    double first_pid;
    bool any;
};

static void add(double *to, double v, double most)
{
    if (isfinite(v))
        *to = fmin((isfinite(*to) ? *to : 0) + v, most);
}

static void finish(struct processes *p, struct cards *cards)
{
    if (p->any)
        cards_add(cards, &p->sum);
    p->any = false;
}

/* Rows of one card follow one another; its first process seen again begins another second. */
static void take_process(const char *line, const struct heading *h, struct processes *p, struct cards *cards)
{
    struct card_sample s;
    double pid;
    if (take_cells(line, h, &s, &pid) < h->columns - 1)
        return;
    if (p->any && (p->sum.index != s.index || pid == p->first_pid))
        finish(p, cards);
    if (!p->any) {
        p->sum = s;
        p->first_pid = pid;
        p->any = true;
        return;
    }
    add(&p->sum.utilisation_pct, s.utilisation_pct, 100);
    add(&p->sum.memory_busy_pct, s.memory_busy_pct, 100);
    add(&p->sum.memory_used_mib, s.memory_used_mib, INFINITY);
}

/* ---- both ------------------------------------------------------------------------------------------------------ */

static void read_rows(char *text, bool of_processes, struct cards *cards)
{
    struct heading h = {.columns = 0};
    struct processes p = {.any = false};
    for (char *cursor = text, *line; (line = text_line(&cursor)) != NULL;) {
        struct card_sample s;
        double pid;
        const char *before = cards->host;
        (void)cards_take_host(cards, line);
        if (cards->host != before && p.any) {
            const char *host = cards->host;
            cards->host = before;
            finish(&p, cards);
            cards->host = host;
        }
        if (take_heading(line, &h) || h.columns == 0 || (h.pid >= 0) != of_processes)
            continue;
        if (of_processes)
            take_process(line, &h, &p, cards);
        else if (take_cells(line, &h, &s, &pid) == h.columns)
            cards_add(cards, &s);
    }
    finish(&p, cards);
    cards->host = NULL;
}

void read_dmon(char *text, struct cards *cards)
{
    size_t before = cards->n, size = strlen(text) + 1;
    char *copy = arena_alloc(cards->arena, size);
    if (copy == NULL)
        return;
    memcpy(copy, text, size);
    read_rows(text, false, cards);
    if (cards->n == before && text_find(copy, "pid") != NULL)
        read_rows(copy, true, cards);
}
