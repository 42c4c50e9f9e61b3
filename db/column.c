/* column.c — one value between a CSV cell or a struct member and a bound parameter. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/money.h"
#include "db/table.h"

static int bind_done(int rc, struct err *err)
{
    return rc == SQLITE_OK
               ? 0
               : err_set(err, rc == SQLITE_NOMEM ? ERR_NOMEM : ERR_INTERNAL, "bind: %s", sqlite3_errstr(rc));
}

static int bind_string(sqlite3_stmt *stmt, int at, const char *s, struct err *err)
{
    return bind_done(sqlite3_bind_text(stmt, at, s ? s : "", -1, SQLITE_TRANSIENT), err);
}

static int bad_cell(const struct column *c, const char *text, const char *want, struct err *err)
{
    return err_set(err, ERR_INVALID, "%s: '%.60s' is not %s", c->csv ? c->csv : c->name, text, want);
}

static int bind_real(sqlite3_stmt *stmt, int at, const struct column *c, const char *text, struct err *err)
{
    char *end = NULL;
    double v = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(v))
        return bad_cell(c, text, "a number", err);
    return bind_done(sqlite3_bind_double(stmt, at, v), err);
}

static int bind_whole(sqlite3_stmt *stmt, int at, const struct column *c, const char *text, struct err *err)
{
    char *end = NULL;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || (c->type == COL_INT && (v < INT_MIN || v > INT_MAX)))
        return bad_cell(c, text, "a whole number", err);
    return bind_done(sqlite3_bind_int64(stmt, at, v), err);
}

static int bind_bool(sqlite3_stmt *stmt, int at, const struct column *c, const char *text, struct err *err)
{
    bool yes = strcmp(text, "yes") == 0;
    if (!yes && strcmp(text, "no") != 0)
        return bad_cell(c, text, "yes or no", err);
    return bind_done(sqlite3_bind_int(stmt, at, yes), err);
}

static int bind_micros(sqlite3_stmt *stmt, int at, const struct column *c, const char *text, struct err *err)
{
    int64_t micros;
    if (money_parse_micros(text, &micros) != 0)
        return bad_cell(c, text, "a decimal of at most 6 places", err);
    return bind_done(sqlite3_bind_int64(stmt, at, micros), err);
}

static int bind_empty(sqlite3_stmt *stmt, int at, const struct column *c, struct err *err)
{
    if (c->required)
        return err_set(err, ERR_INVALID, "%s: must not be empty", c->csv ? c->csv : c->name);
    if (c->nullable)
        return bind_done(sqlite3_bind_null(stmt, at), err);
    if (c->type == COL_TEXT || c->type == COL_DATE || c->type == COL_CURRENCY)
        return bind_string(stmt, at, "", err);
    if (c->type == COL_REAL)
        return bind_done(sqlite3_bind_double(stmt, at, 0.0), err);
    return bind_done(sqlite3_bind_int64(stmt, at, 0), err);
}

int column_bind_text(sqlite3_stmt *stmt, int at, const struct column *c, const char *text, struct err *err)
{
    int scratch;
    date_t day;
    if (!text || text[0] == '\0')
        text = c->fallback ? c->fallback : "";
    if (text[0] == '\0' && c->type != COL_ENUM)
        return bind_empty(stmt, at, c, err);
    switch (c->type) {
    case COL_REAL:
        return bind_real(stmt, at, c, text, err);
    case COL_INT:
    case COL_INT64:
        return bind_whole(stmt, at, c, text, err);
    case COL_BOOL:
        return bind_bool(stmt, at, c, text, err);
    case COL_MICROS:
        return bind_micros(stmt, at, c, text, err);
    case COL_DATE:
        if (date_parse(text, &day) != 0)
            return bad_cell(c, text, "a day YYYY-MM-DD", err);
        break;
    case COL_CURRENCY:
        if (strlen(text) != 3 || strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3)
            return bad_cell(c, text, "a currency code", err);
        break;
    case COL_ENUM:
        if (c->codec->parse(text, &scratch) != 0)
            return bad_cell(c, text, "one of the known names", err);
        break;
    case COL_TEXT:
    case COL_REF:
        break;
    }
    return bind_string(stmt, at, text, err);
}

/* The id of a referenced row: every table that is referred to has its id as its first member. */
static const char *referenced_id(const void *member)
{
    const void *target = NULL;
    memcpy(&target, member, sizeof target);
    return target ? *(const char *const *)target : NULL;
}

static int bind_date(sqlite3_stmt *stmt, int at, const struct column *c, date_t day, struct err *err)
{
    char text[DATE_TEXT_MAX];
    if (day == DATE_NONE)
        return bind_empty(stmt, at, c, err);
    date_text(day, text);
    return bind_string(stmt, at, text, err);
}

int column_bind_member(sqlite3_stmt *stmt, int at, const struct column *c, const void *row, struct err *err)
{
    const char *member = (const char *)row + c->offset;
    const char *text;
    if (c->offset == COLUMN_NO_MEMBER)
        return bind_empty(stmt, at, c, err);
    switch (c->type) {
    case COL_TEXT:
        text = *(const char *const *)(const void *)member;
        return text && text[0] ? bind_string(stmt, at, text, err) : column_bind_text(stmt, at, c, "", err);
    case COL_REAL:
        return bind_done(sqlite3_bind_double(stmt, at, *(const double *)(const void *)member), err);
    case COL_INT:
        return bind_done(sqlite3_bind_int(stmt, at, *(const int *)(const void *)member), err);
    case COL_INT64:
    case COL_MICROS:
        return bind_done(sqlite3_bind_int64(stmt, at, *(const int64_t *)(const void *)member), err);
    case COL_BOOL:
        return bind_done(sqlite3_bind_int(stmt, at, *(const bool *)(const void *)member), err);
    case COL_DATE:
        return bind_date(stmt, at, c, *(const date_t *)(const void *)member, err);
    case COL_CURRENCY:
        return column_bind_text(stmt, at, c, member, err);
    case COL_ENUM:
        text = c->codec->name(member);
        return text ? bind_string(stmt, at, text, err) : err_set(err, ERR_INVALID, "%s: not a known value", c->name);
    case COL_REF:
        text = referenced_id(member);
        return text ? bind_string(stmt, at, text, err) : bind_empty(stmt, at, c, err);
    }
    return err_set(err, ERR_INTERNAL, "%s: unknown column type", c->name);
}
