/* csv_write.c — cells and rows of CSV. */
#include "api/csv_write.h"

#include <math.h>
#include <string.h>

#include "api/json_write.h"

/* false: this column is left out. */
static bool begin(struct csv *c)
{
    if (c->keep && !c->keep[c->column++])
        return false;
    if (c->inside)
        buf_addc(c->out, ',');
    c->inside = true;
    return true;
}

/* What a spreadsheet would run as a formula, full-width forms among it. */
static bool starts_a_formula(const char *s)
{
    static const char *const wide[] = {"＝", "＋", "－", "＠"};
    if (*s && strchr("=+-@\t\r\n", *s))
        return true;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (strncmp(s, wide[i], strlen(wide[i])) == 0)
            return true;
    return false;
}

void csv_text(struct csv *c, const char *s)
{
    if (!begin(c) || !s || !*s)
        return;
    bool guard = starts_a_formula(s), quote = guard || strpbrk(s, "\",\r\n") || *s == ' ' || s[strlen(s) - 1] == ' ';
    if (quote)
        buf_addc(c->out, '"');
    if (guard)
        buf_addc(c->out, '\'');
    for (; *s; s++) {
        if (*s == '"')
            buf_addc(c->out, '"');
        buf_addc(c->out, *s);
    }
    if (quote)
        buf_addc(c->out, '"');
}

void csv_number(struct csv *c, double v)
{
    char text[32];
    if (!begin(c) || !isfinite(v))
        return;
    jw_number_text(text, v);
    buf_adds(c->out, text);
}

void csv_int(struct csv *c, int64_t v)
{
    if (begin(c))
        buf_addf(c->out, "%lld", (long long)v);
}

void csv_money(struct csv *c, int64_t minor)
{
    char text[MONEY_TEXT_MAX];
    if (!begin(c))
        return;
    money_text(minor, text);
    buf_adds(c->out, text);
}

void csv_date(struct csv *c, date_t d)
{
    char text[DATE_TEXT_MAX];
    if (!begin(c) || d == DATE_NONE)
        return;
    date_text(d, text);
    buf_adds(c->out, text);
}

void csv_bool(struct csv *c, bool v)
{
    if (begin(c))
        buf_adds(c->out, v ? "true" : "false");
}

void csv_empty(struct csv *c)
{
    (void)begin(c);
}

void csv_end_row(struct csv *c)
{
    buf_adds(c->out, "\r\n");
    c->inside = false;
    c->column = 0;
}
