/* text_time.c — durations and time stamps as logs print them. */
#include <string.h>

#include "base/date.h"
#include "planner/diagnosis/text.h"

#define DAY_S 86400.0

/* "46m 24s", "1h 2m 3s", "1d 2h" */
static bool lettered_duration(const char **p, double *ret_s)
{
    static const struct {
        const char *unit;
        double s;
    } units[] = {{"day", DAY_S}, {"d", DAY_S}, {"hour", 3600}, {"h", 3600}, {"min", 60},
                 {"ms", 0.001},  {"m", 60},    {"sec", 1},     {"s", 1}};
    const char *q = *p;
    double total = 0;
    bool any = false;
    for (;;) {
        const char *at = text_skip_blanks(q);
        double v;
        if (!text_is_digit(*at) || !text_number(&at, &v))
            break;
        at = text_skip_blanks(at);
        size_t u = 0;
        while (u < sizeof units / sizeof *units && !text_starts(at, units[u].unit))
            u++;
        if (u == sizeof units / sizeof *units)
            break;
        total += v * units[u].s;
        for (at += strlen(units[u].unit); text_is_alnum(*at) && !text_is_digit(*at); at++)
            ;
        q = *at == ',' ? at + 1 : at;
        any = true;
    }
    if (any) {
        *ret_s = total;
        *p = q;
    }
    return any;
}

bool text_duration(const char **p, double *ret_s)
{
    const char *q = *p;
    double days = 0, part[3] = {0, 0, 0};
    int n = 0, v;
    if (text_int(&q, &v) && text_starts(text_skip_blanks(q), "day")) {
        days = v;
        q = text_skip_blanks(q);
        while (text_is_alnum(*q))
            q++;
        while (*q == ',' || text_is_blank(*q))
            q++;
    } else
        q = *p;
    const char *start = q;
    while (n < 3 && text_int(&q, &v)) {
        part[n++] = v;
        if (*q != ':' || !text_is_digit(q[1]))
            break;
        q++;
    }
    if (n < 2) {
        if (days > 0) {
            *ret_s = days * DAY_S;
            *p = start;
            return true;
        }
        return lettered_duration(p, ret_s);
    }
    double s = n == 3 ? part[0] * 3600 + part[1] * 60 + part[2] : part[0] * 60 + part[1];
    double fraction;
    if (*q == '.' && text_number(&q, &fraction))
        s += fraction;
    *ret_s = days * DAY_S + s;
    *p = q;
    return true;
}

static bool two_digits(const char *p, int *ret)
{
    if (!text_is_digit(p[0]) || !text_is_digit(p[1]))
        return false;
    *ret = (p[0] - '0') * 10 + (p[1] - '0');
    return true;
}

/* "21:35:34", "21:35:34,452", "21:35:34.452" at p: seconds of the day. */
static bool clock_time(const char *p, double *ret_s)
{
    int h, m, s;
    if (!two_digits(p, &h) || p[2] != ':' || !two_digits(p + 3, &m) || p[5] != ':' || !two_digits(p + 6, &s))
        return false;
    if (h > 23 || m > 59 || s > 60)
        return false;
    double fraction = 0, unit = 0.1;
    if ((p[8] == '.' || p[8] == ',') && text_is_digit(p[9]))
        for (p += 9; text_is_digit(*p); p++, unit /= 10)
            fraction += (*p - '0') * unit;
    *ret_s = h * 3600 + m * 60 + s + fraction;
    return true;
}

/* The date that ends just before a clock time: "2023-11-07 ", "2023/11/07T", "01/29 ". Days, or -1. */
static double date_before(const char *line, const char *clock)
{
    const char *p = clock;
    while (p > line && (text_is_blank(p[-1]) || p[-1] == 'T' || p[-1] == 't' || p[-1] == '-' || p[-1] == '_'))
        p--;
    int day, month, year = 2000;
    if (p - line < 5 || !two_digits(p - 2, &day) || (p[-3] != '-' && p[-3] != '/') || !two_digits(p - 5, &month))
        return -1;
    int century, rest;
    if (p - line >= 10 && (p[-6] == '-' || p[-6] == '/') && two_digits(p - 8, &rest) && two_digits(p - 10, &century))
        year = century * 100 + rest;
    if (month < 1 || month > 12 || day < 1 || day > 31)
        return -1;
    return (double)date_from_civil(year, month, day);
}

/* Ten digits of seconds since 1970 with decimals, as machine logs print them. */
static bool epoch_time(const char *line, double *ret_s)
{
    for (const char *p = line; *p != '\0'; p++) {
        if (*p != '1' || (p > line && (text_is_alnum(p[-1]) || p[-1] == '.')))
            continue;
        size_t n = strspn(p, "0123456789");
        if (n == 10 && p[10] == '.' && text_is_digit(p[11]))
            return text_number(&p, ret_s);
        p += n - 1;
    }
    return false;
}

bool text_stamp(const char *line, double *ret_s, bool *ret_day_only)
{
    for (const char *p = line; (p = strchr(p, ':')) != NULL; p++) {
        double seconds;
        if (p - line < 2 || !clock_time(p - 2, &seconds) || (p - line > 2 && text_is_digit(p[-3])))
            continue;
        double days = date_before(line, p - 2);
        *ret_day_only = days < 0;
        *ret_s = days < 0 ? seconds : days * DAY_S + seconds;
        return true;
    }
    *ret_day_only = false;
    return epoch_time(line, ret_s);
}
