/* date.h — civil days in Asia/Shanghai, as whole days since 1970-01-01. No clock is read here. */
#ifndef SUANPAN_BASE_DATE_H
#define SUANPAN_BASE_DATE_H

#include <stdint.h>

#define DATE_TEXT_MAX 11
#define DATE_NONE INT32_MIN /* "not stated" */

typedef int32_t date_t;

/* "YYYY-MM-DD" exactly, years 1970..2199, real days only; -1 otherwise. */
int date_parse(const char *text, date_t *ret);
void date_text(date_t d, char out[DATE_TEXT_MAX]);
date_t date_from_civil(int year, int month, int day);
void date_to_civil(date_t d, int *ret_year, int *ret_month, int *ret_day);
/* 0 = Monday .. 6 = Sunday */
int date_weekday(date_t d);
/* The civil day in Asia/Shanghai (UTC+8, no daylight saving) of a Unix time in seconds. */
date_t date_from_unix(int64_t seconds);

#endif
