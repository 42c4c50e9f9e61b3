/* text.c — cleaning a paste, cutting it into lines, finding words and numbers in them. */
#include "planner/diagnosis/text.h"

#include <stdint.h>
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

/* Length of a terminal's control sequence at p, also of one whose ESC was lost or written out; 0 when none. */
static size_t control_sequence(const char *p)
{
    static const char *const written[] = {"\x1b", "\\u001b", "\\x1b", "\\033", "^["};
    const char *q = p;
    bool escaped = false;
    for (size_t i = 0; i < sizeof written / sizeof *written && !escaped; i++)
        if (strncmp(p, written[i], strlen(written[i])) == 0) {
            q += strlen(written[i]);
            escaped = true;
        }
    if (*q != '[')
        return escaped && *p == '\x1b' ? 1 : 0;
    q++;
    const char *digits = q;
    while (text_is_digit(*q) || *q == ';' || (escaped && *q == '?'))
        q++;
    if (escaped)
        return *q == '\0' ? (size_t)(q - p) : (size_t)(q - p) + 1;
    return q > digits && q - digits <= 8 && *q == 'm' ? (size_t)(q - p) + 1 : 0;
}

/* Characters that only look like a blank or a bar: their length, and what they stand for (0 = nothing). */
static size_t lookalike(const char *p, char *ret)
{
    static const struct {
        const char *bytes;
        char plain;
    } table[] = {
        {"\xc2\xa0", ' '},   {"\xe3\x80\x80", ' '}, {"\xe2\x80\x83", ' '}, {"\xe2\x80\x82", ' '}, {"\xef\xbb\xbf", 0},
        {"\xe2\x80\x8b", 0}, {"\xe2\x94\x82", '|'}, {"\xef\xbd\x9c", '|'}, {"<br>", '\n'},        {"<br/>", '\n'},
        {"<br />", '\n'},    {"&nbsp;", ' '},       {"\xef\xbc\x9a", ':'}, {"\xef\xbc\x8c", ','}, {"\xef\xbc\x85", '%'},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t n = strlen(table[i].bytes);
        if (strncmp(p, table[i].bytes, n) == 0) {
            *ret = table[i].plain;
            return n;
        }
    }
    return 0;
}

/* Undoes the escapes of one JSON string in place; `from` up to `end` (exclusive). Returns where the result ends. */
static char *unescape(const char *from, const char *end, char *to)
{
    while (from < end) {
        if (*from != '\\' || from + 1 >= end) {
            *to++ = *from++;
            continue;
        }
        char c = from[1];
        from += 2;
        if (c == 'n' || c == 'r')
            *to++ = '\n';
        else if (c == 't')
            *to++ = '\t';
        else if (c == 'u') { /* box drawing and blocks of a bar: their place is all that matters */
            for (int i = 0; i < 4 && from < end && text_is_alnum(*from); i++)
                from++;
            *to++ = ' ';
        } else
            *to++ = c;
    }
    return to;
}

/* A whole line that is one JSON string, as in a notebook's file: its inside; false otherwise. */
static bool json_string(const char *line, const char *end, const char **ret_from, const char **ret_end)
{
    line = text_skip_blanks(line);
    while (end > line && (text_is_blank(end[-1]) || end[-1] == ','))
        end--;
    if (end - line < 3 || *line != '"' || end[-1] != '"')
        return false;
    for (const char *p = line + 1; p < end - 1; p++) {
        if (*p == '\\')
            p++;
        else if (*p == '"')
            return false;
    }
    if (end[-2] == '\\' && end - line > 3 && end[-3] != '\\')
        return false;
    *ret_from = line + 1;
    *ret_end = end - 1;
    return true;
}

static void unwrap_json_lines(char *text)
{
    char *to = text;
    for (const char *p = text; *p != '\0';) {
        const char *end = strchr(p, '\n');
        size_t n = end == NULL ? strlen(p) : (size_t)(end - p);
        const char *from, *stop;
        if (json_string(p, p + n, &from, &stop))
            to = unescape(from, stop, to);
        else {
            memmove(to, p, n);
            to += n;
        }
        p += n;
        if (*p == '\n') {
            *to++ = '\n';
            p++;
        }
    }
    *to = '\0';
}

/* The first bytes of everything text_clean does something about. */
#define SPECIAL "\x1b\\^[\r<&\xc2\xe2\xe3\xef"

char *text_clean(const char *raw, struct arena *arena)
{
    if (raw == NULL)
        return NULL;
    char *text = arena_alloc(arena, strlen(raw) + 1);
    if (text == NULL)
        return NULL;
    char *to = text;
    for (const char *p = raw; *p != '\0';) {
        size_t ordinary = strcspn(p, SPECIAL);
        memcpy(to, p, ordinary);
        to += ordinary;
        p += ordinary;
        if (*p == '\0')
            break;
        char plain = 0;
        size_t n = control_sequence(p);
        if (n > 0) { /* a cursor movement separates what it stood between */
            if (*p == '\x1b' && n > 1 && p[n - 1] != 'm')
                *to++ = '\n';
            p += n;
        } else if ((n = lookalike(p, &plain)) > 0) {
            if (plain != 0)
                *to++ = plain;
            p += n;
        } else {
            *to++ = *p == '\r' ? '\n' : *p;
            p++;
        }
    }
    *to = '\0';
    unwrap_json_lines(text);
    return text;
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
    for (int i = exponent < 0 ? -exponent : exponent; i > 0; i--)
        v *= 10;
    return exponent < 0 ? 1 / v : v;
}

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
    if (*q == '.' && text_is_digit(q[1])) {
        double unit = 0.1;
        for (q++; text_is_digit(*q); q++, unit /= 10)
            v += (*q - '0') * unit;
    }
    if (lower(*q) == 'e' && (text_is_digit(q[1]) || ((q[1] == '-' || q[1] == '+') && text_is_digit(q[2])))) {
        bool below = q[1] == '-';
        int exponent = 0;
        for (q += text_is_digit(q[1]) ? 1 : 2; text_is_digit(*q); q++)
            exponent = exponent < 300 ? exponent * 10 + (*q - '0') : exponent;
        exponent = exponent < 300 ? exponent : 300;
        v *= power_of_ten(below ? -exponent : exponent);
    }
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
