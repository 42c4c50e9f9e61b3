/* date.c — civil calendar arithmetic on day numbers (proleptic Gregorian). */
#include "base/date.h"

#include <stdio.h>

#define YEAR_MIN 1970
#define YEAR_MAX 2199
#define SHANGHAI_OFFSET_S (8 * 3600)
#define DAY_S 86400

/* Days are counted in years that begin on 1 March, so that the leap day is a year's last. */
date_t date_from_civil(int year, int month, int day)
{
    int64_t y = (int64_t)year - (month <= 2);
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return (date_t)(era * 146097 + day_of_era - 719468);
}

void date_to_civil(date_t d, int *ret_year, int *ret_month, int *ret_day)
{
    int64_t z = (int64_t)d + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    int64_t month = mp < 10 ? mp + 3 : mp - 9;
    *ret_year = (int)(yoe + era * 400 + (month <= 2));
    *ret_month = (int)month;
    *ret_day = (int)(doy - (153 * mp + 2) / 5 + 1);
}

static int digits(const char *s, int n, int *ret)
{
    int v = 0;
    for (int i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return -1;
        v = v * 10 + (s[i] - '0');
    }
    *ret = v;
    return 0;
}

int date_parse(const char *text, date_t *ret)
{
    int y, m, d;
    if (text == NULL || digits(text, 4, &y) != 0 || text[4] != '-' || digits(text + 5, 2, &m) != 0 || text[7] != '-' ||
        digits(text + 8, 2, &d) != 0 || text[10] != '\0')
        return -1;
    if (y < YEAR_MIN || y > YEAR_MAX || m < 1 || m > 12 || d < 1)
        return -1;
    date_t day = date_from_civil(y, m, d);
    int y2, m2, d2;
    date_to_civil(day, &y2, &m2, &d2);
    if (y2 != y || m2 != m || d2 != d)
        return -1;
    *ret = day;
    return 0;
}

void date_text(date_t d, char out[DATE_TEXT_MAX])
{
    int y, m, day;
    date_to_civil(d, &y, &m, &day);
    if (y < 0 || y > 9999) { /* DATE_NONE and the like: visible, never a wrong date */
        snprintf(out, DATE_TEXT_MAX, "none");
        return;
    }
    out[0] = (char)('0' + y / 1000);
    out[1] = (char)('0' + y / 100 % 10);
    out[2] = (char)('0' + y / 10 % 10);
    out[3] = (char)('0' + y % 10);
    out[4] = '-';
    out[5] = (char)('0' + m / 10);
    out[6] = (char)('0' + m % 10);
    out[7] = '-';
    out[8] = (char)('0' + day / 10);
    out[9] = (char)('0' + day % 10);
    out[10] = '\0';
}

int date_weekday(date_t d)
{
    int64_t w = ((int64_t)d + 3) % 7; /* 1970-01-01 was a Thursday */
    return (int)(w < 0 ? w + 7 : w);
}

date_t date_from_unix(int64_t seconds)
{
    int64_t local;
    if (__builtin_add_overflow(seconds, SHANGHAI_OFFSET_S, &local))
        return DATE_NONE;
    int64_t day = local / DAY_S - (local % DAY_S < 0);
    return day > INT32_MAX || day <= INT32_MIN ? DATE_NONE : (date_t)day;
}
