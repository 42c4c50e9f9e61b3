/* text.c — cutting a cleaned text into lines, finding words and numbers in them. */
#include "planner/diagnosis/text.h"

#include <string.h>

bool text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool text_is_alnum(char c)
{
    return text_is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z');
}

bool text_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

const char *text_skip_blanks(const char *p)
{
    while (text_is_blank(*p))
        p++;
    return p;
}

/* A line is cut here: no output of the kinds we read has longer ones, and every reader may look at a line as often as
 * it likes. */
#define LINE_MAX_BYTES 16384

char *text_line(char **cursor)
{
    char *line = *cursor;
    if (line == NULL || *line == '\0')
        return NULL;
    size_t n = 0;
    while (n < LINE_MAX_BYTES && line[n] != '\n' && line[n] != '\0')
        n++;
    *cursor = line + n + (line[n] != '\0');
    line[n] = '\0';
    return line;
}

bool text_starts(const char *p, const char *prefix)
{
    for (; *prefix != '\0'; p++, prefix++)
        if (lower(*p) != lower(*prefix))
            return false;
    return true;
}

const char *text_find(const char *hay, const char *needle)
{
    for (char first = lower(*needle); *hay != '\0'; hay++)
        if (lower(*hay) == first && text_starts(hay, needle))
            return hay;
    return NULL;
}

const char *text_find_word(const char *hay, const char *needle)
{
    for (const char *p = hay; (p = text_find(p, needle)) != NULL; p++)
        if (p == hay || (!text_is_alnum(p[-1]) && p[-1] != '_'))
            return p;
    return NULL;
}

void text_lower(char *text)
{
    for (; *text != '\0'; text++)
        *text = lower(*text);
}

const char *text_seek(const char *hay, const char *needle)
{
    return strstr(hay, needle);
}

const char *text_seek_word(const char *hay, const char *needle)
{
    for (const char *p = hay; (p = strstr(p, needle)) != NULL; p++)
        if (p == hay || (!text_is_alnum(p[-1]) && p[-1] != '_'))
            return p;
    return NULL;
}

/* Thousands are grouped by commas only where every group has three digits. */
static const char *digits_end(const char *p)
{
    const char *start = p;
    while (text_is_digit(*p))
        p++;
    while (p - start <= 3 + 4 * 4 && *p == ',' && text_is_digit(p[1]) && text_is_digit(p[2]) && text_is_digit(p[3]) &&
           !text_is_digit(p[4]))
        p += 4;
    return p;
}

static double power_of_ten(int exponent)
{
    double v = 1;
    for (; exponent > 0; exponent--)
        v *= 10;
    return v;
}

/* "e-05" at p: what it adds to the exponent, and where it ends. */
static const char *exponent_at(const char *p, int *ret)
{
    *ret = 0;
    if (lower(*p) != 'e' || (!text_is_digit(p[1]) && !((p[1] == '-' || p[1] == '+') && text_is_digit(p[2]))))
        return p;
    bool below = p[1] == '-';
    int exponent = 0;
    for (p += text_is_digit(p[1]) ? 1 : 2; text_is_digit(*p); p++)
        exponent = exponent < 300 ? exponent * 10 + (*p - '0') : exponent;
    exponent = exponent < 300 ? exponent : 300;
    *ret = below ? -exponent : exponent;
    return p;
}

const char *text_digits_before(const char *line, const char **end)
{
    while (*end > line && text_is_blank((*end)[-1]))
        --*end;
    const char *start = *end;
    while (start > line && (text_is_digit(start[-1]) || start[-1] == '.'))
        start--;
    return start;
}

#define EXACT_MOST 1e15 /* digits beyond say nothing any more */

/* The digits are gathered as one whole number and scaled once: what is printed with few digits is read without an
 * error of its own. */
bool text_number(const char **p, double *ret)
{
    const char *q = *p;
    bool negative = *q == '-';
    if (negative)
        q++;
    if (!text_is_digit(*q) && !(*q == '.' && text_is_digit(q[1])))
        return false;
    double v = 0;
    for (const char *end = digits_end(q); q < end; q++)
        if (*q != ',')
            v = v * 10 + (*q - '0');
    int decimals = 0, exponent;
    if (*q == '.' && text_is_digit(q[1]))
        for (q++; text_is_digit(*q); q++)
            if (v < EXACT_MOST) {
                v = v * 10 + (*q - '0');
                decimals++;
            }
    q = exponent_at(q, &exponent);
    exponent -= decimals;
    v = exponent < 0 ? v / power_of_ten(-exponent) : v * power_of_ten(exponent);
    *ret = negative ? -v : v;
    *p = q;
    return true;
}

bool text_int(const char **p, int *ret)
{
    const char *q = *p;
    int v = 0;
    for (; text_is_digit(*q) && q - *p < 9; q++)
        v = v * 10 + (*q - '0');
    if (q == *p || text_is_digit(*q))
        return false;
    *ret = v;
    *p = q;
    return true;
}

static bool is_hex(char c)
{
    return text_is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
}

const char *text_bus_id(const char *line, size_t *ret_len)
{
    for (const char *colon = line; (colon = strchr(colon, ':')) != NULL; colon++) {
        const char *start = colon;
        while (start > line && is_hex(start[-1]))
            start--;
        size_t domain = (size_t)(colon - start);
        if ((domain != 4 && domain != 8) || (start > line && text_is_alnum(start[-1])))
            continue;
        const char *p = colon + 1;
        if (is_hex(p[0]) && is_hex(p[1]) && p[2] == ':' && is_hex(p[3]) && is_hex(p[4]) && p[5] == '.' &&
            is_hex(p[6])) {
            *ret_len = (size_t)(p + 7 - start);
            return start;
        }
    }
    return NULL;
}
