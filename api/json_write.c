/* json_write.c — JSON straight into a bounded buffer. */
#include "api/json_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/utf8.h"

/* buf_add without the call where there is room, which is nearly always. */
static void put(struct buf *out, const char *s, size_t n)
{
    if (out->failed || out->cap - out->len <= n || n > out->max - out->len) {
        buf_add(out, s, n);
        return;
    }
    memcpy(out->data + out->len, s, n);
    out->len += n;
    out->data[out->len] = '\0';
}

/* One byte, mostly punctuation. */
static void put_byte(struct buf *out, char c)
{
    if (out->failed || out->cap - out->len <= 1 || out->len == out->max) {
        buf_addc(out, c);
        return;
    }
    out->data[out->len++] = c;
    out->data[out->len] = '\0';
}

static void escape_one(struct buf *out, unsigned char c)
{
    if (c >= 0x80) {
        buf_adds(out, "\\ufffd"); /* half a character: a text that was cut */
    } else if (c == '"' || c == '\\') {
        buf_addc(out, '\\');
        buf_addc(out, (char)c);
    } else if (c == '\n') {
        buf_adds(out, "\\n");
    } else if (c == '\t') {
        buf_adds(out, "\\t");
    } else {
        buf_addf(out, "\\u%04x", (unsigned)c);
    }
}

/* The run of bytes from `i` on that stand in JSON as they are. */
static size_t plain_run(const char *s, size_t n, size_t i)
{
    size_t from = i;
    while (i < n) {
        unsigned char c = (unsigned char)s[i];
        if (c - 0x20u < 0x60u && c != '"' && c != '\\') {
            i++;
            continue;
        }
        size_t len = c < 0x80 ? 0 : utf8_length(s + i, n - i);
        if (len == 0)
            break;
        i += len;
    }
    return i - from;
}

static void escaped(struct buf *out, const char *s, size_t n)
{
    put_byte(out, '"');
    for (size_t i = 0; i < n; i++) {
        size_t run = plain_run(s, n, i);
        put(out, s + i, run);
        i += run;
        if (i < n)
            escape_one(out, (unsigned char)s[i]);
    }
    put_byte(out, '"');
}

/* The member's name at once: there is one for every value of an answer. */
static void put_name(struct buf *out, const char *key, bool comma)
{
    const size_t n = strlen(key);
    if (out->failed || out->cap - out->len <= n + 4 || n + 4 > out->max - out->len) {
        put(out, ",\"", comma ? 2 : 0);
        put(out, "\"", comma ? 0 : 1);
        put(out, key, n);
        put(out, "\":", 2);
        return;
    }
    char *to = out->data + out->len;
    *to = ',';
    to += comma;
    *to++ = '"';
    memcpy(to, key, n);
    memcpy(to + n, "\":", 3);
    out->len += n + 3 + comma;
}

static void begin(struct jw *w, const char *key)
{
    if (key)
        put_name(w->out, key, w->comma);
    else if (w->comma)
        put_byte(w->out, ',');
    w->comma = true;
}

void jw_object(struct jw *w, const char *key)
{
    begin(w, key);
    put_byte(w->out, '{');
    w->comma = false;
}

void jw_end_object(struct jw *w)
{
    put_byte(w->out, '}');
    w->comma = true;
}

void jw_array(struct jw *w, const char *key)
{
    begin(w, key);
    put_byte(w->out, '[');
    w->comma = false;
}

void jw_end_array(struct jw *w)
{
    put_byte(w->out, ']');
    w->comma = true;
}

void jw_string_n(struct jw *w, const char *key, const char *s, size_t n)
{
    begin(w, key);
    if (s)
        escaped(w->out, s, n);
    else
        buf_adds(w->out, "null");
}

void jw_string(struct jw *w, const char *key, const char *s)
{
    jw_string_n(w, key, s, s ? strlen(s) : 0);
}

#define DIGITS 15

/* Decimal digits of an integer; returns how many. */
static size_t digits_of(char *out, uint64_t v)
{
    char back[24];
    size_t n = 0;
    do
        back[n++] = (char)('0' + v % 10);
    while (v /= 10);
    for (size_t i = 0; i < n; i++)
        out[i] = back[n - 1 - i];
    return n;
}

/* 15 significant digits of a value between 1e-4 and 1e15 without printf: scaled to an integer in extended precision,
 * whose error stays far below the margin around a half at which the slow way decides. false = take the slow way. */
static bool quick_number(char out[32], double v)
{
    static const long double powers[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
                                         1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L};
    double size = fabs(v);
    if (!(size >= 1e-4 && size < 1e15))
        return false;
    int whole = 0; /* digits before the point, negative: zeros behind it */
    while (whole < DIGITS && size >= (double)powers[whole])
        whole++;
    if (whole == 0)
        while (size * (double)powers[-whole + 1] < 1)
            whole--;
    long double scaled = (long double)size * powers[DIGITS - whole];
    uint64_t mantissa = (uint64_t)(scaled + 0.5L);
    long double off = scaled - (long double)mantissa;
    if (fabsl(fabsl(off) - 0.5L) < 0.01L || mantissa < UINT64_C(100000000000000) ||
        mantissa >= UINT64_C(1000000000000000))
        return false;
    int decimals = DIGITS - whole;
    while (decimals > 0 && mantissa % 10 == 0) {
        mantissa /= 10;
        decimals--;
    }
    char text[24];
    size_t n = digits_of(text, mantissa), o = 0;
    if (v < 0)
        out[o++] = '-';
    size_t before = n > (size_t)decimals ? n - (size_t)decimals : 0;
    memcpy(out + o, text, before);
    o += before;
    if (before == 0)
        out[o++] = '0';
    if (decimals > 0) {
        out[o++] = '.';
        for (size_t i = n; i < (size_t)decimals; i++)
            out[o++] = '0';
        memcpy(out + o, text + before, n - before);
        o += n - before;
    }
    out[o] = '\0';
    return true;
}

void jw_number_text(char out[32], double v)
{
    if (!isfinite(v)) {
        memcpy(out, "null", sizeof "null");
    } else if (fabs(v) < 1e15 && v == floor(v)) {
        bool negative = v < 0;
        out[0] = '-';
        out[negative + digits_of(out + negative, (uint64_t)fabs(v))] = '\0';
    } else if (!quick_number(out, v)) {
        (void)snprintf(out, 32, "%.15g", v);
    }
}

void jw_number(struct jw *w, const char *key, double v)
{
    char text[32];
    jw_number_text(text, v);
    begin(w, key);
    put(w->out, text, strlen(text));
}

void jw_int(struct jw *w, const char *key, int64_t v)
{
    char text[24] = "-";
    bool negative = v < 0;
    size_t n = digits_of(text + negative, negative ? 0 - (uint64_t)v : (uint64_t)v);
    begin(w, key);
    put(w->out, text, n + negative);
}

void jw_int_or_null(struct jw *w, const char *key, int64_t v)
{
    if (v)
        jw_int(w, key, v);
    else
        jw_null(w, key);
}

void jw_number_or_null(struct jw *w, const char *key, double v)
{
    jw_number(w, key, v == 0 ? NAN : v);
}

void jw_bool(struct jw *w, const char *key, bool v)
{
    begin(w, key);
    buf_adds(w->out, v ? "true" : "false");
}

void jw_tri(struct jw *w, const char *key, enum tri v)
{
    if (v == TRI_UNSTATED)
        jw_null(w, key);
    else
        jw_bool(w, key, v == TRI_YES);
}

void jw_null(struct jw *w, const char *key)
{
    begin(w, key);
    buf_adds(w->out, "null");
}

static void amount(struct jw *w, const char *key, const char *text, const char *currency)
{
    jw_object(w, key);
    jw_string(w, "amount", text);
    jw_string(w, "currency", currency);
    jw_end_object(w);
}

void jw_money(struct jw *w, const char *key, int64_t minor, const char *currency)
{
    char text[MONEY_TEXT_MAX];
    money_text(minor, text);
    amount(w, key, text, currency);
}

void jw_price(struct jw *w, const char *key, int64_t micros, const char *currency)
{
    char text[MONEY_TEXT_MAX];
    money_price_text(micros, text);
    amount(w, key, text, currency);
}

void jw_date(struct jw *w, const char *key, date_t d)
{
    char text[DATE_TEXT_MAX];
    if (d == DATE_NONE) {
        jw_null(w, key);
        return;
    }
    date_text(d, text);
    jw_string(w, key, text);
}

void jw_raw(struct jw *w, const char *key, const char *json)
{
    begin(w, key);
    buf_adds(w->out, json);
}
