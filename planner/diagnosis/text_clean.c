/* text_clean.c — what a terminal, a notebook's file and a web page did to a text, undone. */
#include <string.h>

#include "planner/diagnosis/text.h"

/* Length of a terminal's control sequence at p, also of one whose ESC was lost or written out; 0 when none. */
static size_t control_sequence(const char *p)
{
    static const char *const written[] = {"\x1b", "\\u001b", "\\u001B", "\\x1b", "\\x1B", "\\033", "^["};
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

/* "１００％｜": U+FF01 to U+FF5E are ASCII's printable characters, as Chinese input methods type them. */
static size_t full_width(const char *p, char *ret)
{
    const unsigned char *u = (const unsigned char *)p;
    if (u[0] != 0xef || (u[1] != 0xbc && u[1] != 0xbd) || (u[2] & 0xc0) != 0x80)
        return 0;
    unsigned code = (u[1] == 0xbd ? 0x40u : 0u) + (u[2] & 0x3fu);
    if (code < 1 || code > 0x5e)
        return 0;
    *ret = (char)(0x20 + code);
    return 3;
}

/* Characters that only look like a blank or a bar: their length, and what they stand for (0 = nothing). */
static size_t lookalike(const char *p, char *ret)
{
    static const struct {
        const char *bytes;
        char plain;
    } table[] = {
        {"\xc2\xa0", ' '},   {"\xe3\x80\x80", ' '}, {"\xe2\x80\x83", ' '}, {"\xe2\x80\x82", ' '},
        {"\xef\xbb\xbf", 0}, {"\xe2\x80\x8b", 0},   {"\xe2\x94\x82", '|'}, {"<br>", '\n'},
        {"<br/>", '\n'},     {"<br />", '\n'},      {"&nbsp;", ' '},       {"&lt;", '<'},
        {"&gt;", '>'},       {"&amp;", '&'},        {"&quot;", '"'},       {"&#124;", '|'},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t n = strlen(table[i].bytes);
        if (strncmp(p, table[i].bytes, n) == 0) {
            *ret = table[i].plain;
            return n;
        }
    }
    return full_width(p, ret);
}

/* "\u6bcf" to UTF-8, which is never longer; of box drawing (bars of a table, blocks of a progress bar) only the place
 * and the bars matter. */
static char *unescape_code(const char **from, const char *end, char *to)
{
    unsigned code = 0;
    for (int i = 0; i < 4 && *from < end && text_is_alnum(**from); i++, ++*from) {
        char c = **from;
        code = code * 16 + (unsigned)(text_is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    if (code == 0x2502 || code == 0x2503)
        *to++ = '|';
    else if (code >= 0xff01 && code <= 0xff5e) /* full width */
        *to++ = (char)(code - 0xfee0);
    else if (code < 0x20 || code == 0xa0 || code == 0x3000 || (code >= 0x2500 && code < 0x25a0) ||
             (code >= 0xd800 && code < 0xe000) || code > 0xffff)
        *to++ = ' ';
    else if (code < 0x80)
        *to++ = (char)code;
    else {
        if (code >= 0x800)
            *to++ = (char)(0xe0 | (code >> 12));
        *to++ = code >= 0x800 ? (char)(0x80 | ((code >> 6) & 0x3f)) : (char)(0xc0 | (code >> 6));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
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
        else if (c == 'u')
            to = unescape_code(&from, end, to);
        else
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
            p += *p == '\r' && p[1] == '\n'; /* one line's end, not two */
            *to++ = *p == '\r' ? '\n' : *p;
            p++;
        }
    }
    *to = '\0';
    unwrap_json_lines(text);
    text_undress(text);
    return text;
}
