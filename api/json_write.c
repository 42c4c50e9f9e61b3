/* json_write.c — JSON straight into a bounded buffer. Every writer asks for its room once and counts what it wrote
 * once; an answer has thousands of values. */
#include "api/json_write.h"

#include <endian.h>

#include "api/utf8.h"

/* memcpy for the few bytes of a name, where the call would cost more than the copy. */
static inline char *copy_short(char *to, const char *s, size_t n)
{
    if (n > 16) {
        memcpy(to, s, n);
    } else if (n >= 8) {
        memcpy(to, s, 8);
        memcpy(to + n - 8, s + n - 8, 8);
    } else if (n >= 4) {
        memcpy(to, s, 4);
        memcpy(to + n - 4, s + n - 4, 4);
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = s[i];
    }
    return to + n;
}

/* Comma and name; returns where the value goes, with room for `more` bytes of it. NULL: the buffer has failed. */
static inline char *begin(struct jw *w, struct jw_name name, size_t more)
{
    char *to = buf_room(w->out, name.n + 4 + more);
    if (!to)
        return NULL;
    *to = ',';
    to += w->comma;
    w->comma = true;
    if (name.text) {
        *to++ = '"';
        to = copy_short(to, name.text, name.n);
        *to++ = '"';
        *to++ = ':';
    }
    return to;
}

void jw_put_open(struct jw *w, struct jw_name name, char bracket)
{
    char *to = begin(w, name, 1);
    if (!to)
        return;
    *to = bracket;
    buf_wrote(w->out, to + 1);
    w->comma = false;
}

/* Behind a value; nothing of its own but one byte. */
static void put_mark(struct jw *w, char mark)
{
    char *to = buf_room(w->out, 1);
    if (!to)
        return;
    *to = mark;
    buf_wrote(w->out, to + 1);
}

void jw_end_object(struct jw *w)
{
    put_mark(w, '}');
    w->comma = true;
}

void jw_end_array(struct jw *w)
{
    put_mark(w, ']');
    w->comma = true;
}

void jw_put_raw(struct jw *w, struct jw_name name, const char *json, size_t n)
{
    char *to = begin(w, name, n);
    if (to)
        buf_wrote(w->out, copy_short(to, json, n));
}

void jw_again(struct jw *w, size_t from, size_t to)
{
    char *at = begin(w, jw_name(NULL), to - from);
    if (!at)
        return;
    memcpy(at, w->out->data + from, to - from);
    buf_wrote(w->out, at + (to - from));
}

/* ---- strings */

/* Of eight bytes of a text: the high bit of the first one that is a quote, a backslash, a control byte or part of a
 * longer character, and some bits above it; 0 where all stand in JSON as they are. */
static inline uint64_t odd_bytes(uint64_t eight)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t quote = eight ^ '"' * ones, backslash = eight ^ '\\' * ones;
    return (eight | (eight - 0x20 * ones) | ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash)) &
           0x80 * ones;
}

/* Copies a word and returns how many of its bytes stand as they are, before the first that is odd. */
static inline size_t copy_word(char *to, const char *s)
{
    uint64_t eight;
    memcpy(&eight, s, 8);
    memcpy(to, &eight, 8);
    const uint64_t odd = odd_bytes(le64toh(eight));
    return odd ? (size_t)__builtin_ctzll(odd) / 8 : 8;
}

/* Four to seven bytes in two halves that overlap; false: something is odd. */
static inline bool copy_halves(char *to, const char *s, size_t n)
{
    uint32_t first, last;
    memcpy(&first, s, 4);
    memcpy(&last, s + n - 4, 4);
    memcpy(to, &first, 4);
    memcpy(to + n - 4, &last, 4);
    return odd_bytes((uint64_t)last << 32 | first) == 0;
}

/* Copies up to the first odd byte; returns how many bytes that were. */
static inline size_t copy_ascii(char *to, const char *s, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const size_t plain = copy_word(to + i, s + i);
        if (plain < 8)
            return i + plain;
    }
    if (i == n)
        return n;
    if (n >= 8) /* the rest, in a word that begins before it */
        return n - 8 + copy_word(to + n - 8, s + n - 8);
    if (n >= 4 && copy_halves(to, s, n))
        return n;
    for (; i < n && (unsigned char)s[i] >= 0x20 && (unsigned char)s[i] < 0x80 && s[i] != '"' && s[i] != '\\'; i++)
        to[i] = s[i];
    return i;
}

/* Copies what stands in JSON as it is; returns how many bytes that were. */
static size_t copy_plain(char *to, const char *s, size_t n)
{
    size_t i = 0;
    for (;;) {
        i += copy_ascii(to + i, s + i, n - i);
        if (i == n || (unsigned char)s[i] < 0x80)
            return i;
        do { /* a run of longer characters */
            size_t len = utf8_length(s + i, n - i);
            if (len == 0)
                return i;
            for (; len > 0; len--, i++)
                to[i] = s[i];
        } while (i < n && (unsigned char)s[i] >= 0x80);
    }
}

/* The bytes that do not stand as they are, one at a time. */
static char *escape(char *to, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    if (c >= 0x80) { /* half a character: a text that was cut */
        memcpy(to, "\\ufffd", 6);
        return to + 6;
    }
    *to++ = '\\';
    if (c == '"' || c == '\\') {
        *to++ = (char)c;
    } else if (c == '\n' || c == '\t') {
        *to++ = c == '\n' ? 'n' : 't';
    } else {
        memcpy(to, "u00", 3);
        to[3] = hex[c >> 4];
        to[4] = hex[c & 15];
        to += 5;
    }
    return to;
}

void jw_escape(struct buf *out, const char *s, size_t n)
{
    for (size_t done = 0;; done++) {
        char *to = buf_room(out, n - done + 6);
        if (!to)
            return;
        size_t run = copy_plain(to, s + done, n - done);
        to += run;
        done += run;
        if (done == n) {
            buf_wrote(out, to);
            return;
        }
        buf_wrote(out, escape(to, (unsigned char)s[done]));
    }
}

void jw_put_open_string(struct jw *w, struct jw_name name)
{
    char *to = begin(w, name, 1);
    if (!to)
        return;
    *to = '"';
    buf_wrote(w->out, to + 1);
}

void jw_close_string(struct jw *w)
{
    put_mark(w, '"');
}

void jw_put_string(struct jw *w, struct jw_name name, const char *s, size_t n)
{
    if (!s) {
        jw_put_raw(w, name, "null", 4);
        return;
    }
    char *to = begin(w, name, n + 2);
    if (!to)
        return;
    *to++ = '"';
    size_t run = copy_plain(to, s, n);
    to += run;
    if (run == n) {
        *to = '"';
        buf_wrote(w->out, to + 1);
        return;
    }
    buf_wrote(w->out, to);
    jw_escape(w->out, s + run, n - run);
    jw_close_string(w);
}

/* ---- figures */

size_t jw_number_text(char out[JW_NUMBER_MAX], double v)
{
    if (isfinite(v))
        return decimal_number(v, out);
    memcpy(out, "null", sizeof "null");
    return 4;
}

void jw_put_number(struct jw *w, struct jw_name name, double v)
{
    char *to = begin(w, name, JW_NUMBER_MAX);
    if (to)
        buf_wrote(w->out, to + jw_number_text(to, v));
}

void jw_put_int(struct jw *w, struct jw_name name, int64_t v)
{
    char *to = begin(w, name, DECIMAL_DIGITS_MAX + 1);
    if (!to)
        return;
    *to = '-';
    to += v < 0;
    buf_wrote(w->out, to + decimal_digits(v < 0 ? 0 - (uint64_t)v : (uint64_t)v, to));
}

typedef size_t amount_text(int64_t v, char out[MONEY_TEXT_MAX]);

static void put_amount(struct jw *w, struct jw_name name, int64_t v, amount_text *text, const char *currency)
{
    static const char open[] = "{\"amount\":\"", middle[] = "\",\"currency\":\"";
    const size_t code = strlen(currency);
    char *to = begin(w, name, sizeof open + MONEY_TEXT_MAX + sizeof middle + code);
    if (!to)
        return;
    memcpy(to, open, sizeof open - 1);
    to += sizeof open - 1;
    to += text(v, to);
    memcpy(to, middle, sizeof middle - 1);
    to = copy_short(to + sizeof middle - 1, currency, code);
    *to++ = '"';
    *to++ = '}';
    buf_wrote(w->out, to);
}

void jw_put_money(struct jw *w, struct jw_name name, int64_t minor, const char *currency)
{
    put_amount(w, name, minor, money_text, currency);
}

void jw_put_price(struct jw *w, struct jw_name name, int64_t micros, const char *currency)
{
    put_amount(w, name, micros, money_price_text, currency);
}

void jw_put_date(struct jw *w, struct jw_name name, date_t d)
{
    char text[DATE_TEXT_MAX];
    if (d == DATE_NONE) {
        jw_put_raw(w, name, "null", 4);
        return;
    }
    date_text(d, text);
    jw_put_string(w, name, text, strlen(text));
}
