/* dmon.c — `nvidia-smi dmon`: one row a second and card under a heading that names the columns.
 *
 * Its `mem` is how long the memory controller was busy, not how full the memory is; only `fb` (with -s m) is that.
 */
#include <string.h>

#include "planner/diagnosis/readers.h"
#include "planner/diagnosis/text.h"

#define COLUMNS_MAX 64

struct heading {
    int gpu, sm, mem, pwr, fb, columns; /* places; -1 = not there */
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

/* "# gpu   pwr gtemp ... sm   mem": the columns. A line that names processes is pmon, not dmon. */
static bool take_heading(const char *line, struct heading *h)
{
    const char *p = text_find(line, "# gpu");
    bool bare = p == NULL && strchr(line, '#') == NULL && text_starts(text_skip_blanks(line), "gpu ");
    if (bare) /* whoever pasted it took the mark for a comment's */
        p = line;
    else if (p == NULL && (p = strchr(line, '#')) == NULL)
        return false;
    struct heading found = {-1, -1, -1, -1, -1, 0};
    const char *w;
    p += !bare;
    for (size_t n; (n = word(&p, &w)) > 0 && found.columns < COLUMNS_MAX; found.columns++) {
        int *place = is(w, n, "gpu")   ? &found.gpu
                     : is(w, n, "sm")  ? &found.sm
                     : is(w, n, "mem") ? &found.mem
                     : is(w, n, "pwr") ? &found.pwr
                     : is(w, n, "fb")  ? &found.fb
                                       : NULL;
        if (place != NULL)
            *place = found.columns;
        if (is(w, n, "pid"))
            return false;
    }
    if (bare && (found.gpu != 0 || found.sm < 0 || (found.mem < 0 && found.pwr < 0)))
        return false;
    if (found.gpu < 0 || found.columns < 3 || (found.sm < 0 && found.pwr < 0 && found.fb < 0))
        return false;
    *h = found;
    return true;
}

/* Also a row that was commented out together with its heading ("#   0     21     37 ..."). */
static void take_row(const char *line, const struct heading *h, struct cards *cards)
{
    struct card_sample s;
    card_sample_init(&s);
    const char *p = text_skip_blanks(line), *w;
    if (*p == '#')
        p++;
    int column = 0;
    for (size_t n; (n = word(&p, &w)) > 0; column++) {
        double v;
        const char *q = w;
        bool number = text_number(&q, &v) && q == w + n;
        if (column == h->gpu && (!number || v < 0 || v > 9999))
            return;
        if (!number)
            continue; /* "-": not measured; also a date or a time in front */
        if (column == h->gpu)
            s.index = (int)v;
        else if (column == h->sm && v <= 100)
            s.utilisation_pct = v;
        else if (column == h->mem && v <= 100)
            s.memory_busy_pct = v;
        else if (column == h->pwr)
            s.power_w = v;
        else if (column == h->fb)
            s.memory_used_mib = v;
    }
    if (column == h->columns)
        cards_add(cards, &s);
}

void read_dmon(char *text, struct cards *cards)
{
    struct heading h = {.columns = 0};
    for (char *cursor = text, *line; (line = text_line(&cursor)) != NULL;) {
        bool heading = take_heading(line, &h);
        if (!heading && h.columns > 0)
            take_row(line, &h, cards);
    }
}
