/* json_write.c — JSON straight into a bounded buffer. */
#include "api/json_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/utf8.h"

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

static void escaped(struct buf *out, const char *s, size_t n)
{
    size_t from = 0;
    buf_addc(out, '"');
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)s[i];
        size_t len = c < 0x80 ? c >= 0x20 && c != '"' && c != '\\' : utf8_length(s + i, n - i);
        if (len == 0) {
            buf_add(out, s + from, i - from);
            escape_one(out, c);
            from = i + 1;
        }
        i += len ? len : 1;
    }
    buf_add(out, s + from, n - from);
    buf_addc(out, '"');
}

static void begin(struct jw *w, const char *key)
{
    if (w->comma)
        buf_addc(w->out, ',');
    w->comma = true;
    if (key) {
        escaped(w->out, key, strlen(key));
        buf_addc(w->out, ':');
    }
}

void jw_object(struct jw *w, const char *key)
{
    begin(w, key);
    buf_addc(w->out, '{');
    w->comma = false;
}

void jw_end_object(struct jw *w)
{
    buf_addc(w->out, '}');
    w->comma = true;
}

void jw_array(struct jw *w, const char *key)
{
    begin(w, key);
    buf_addc(w->out, '[');
    w->comma = false;
}

void jw_end_array(struct jw *w)
{
    buf_addc(w->out, ']');
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

void jw_number_text(char out[32], double v)
{
    if (!isfinite(v))
        (void)snprintf(out, 32, "null");
    else if (v == 0)
        (void)snprintf(out, 32, "0");
    else if (fabs(v) < 1e15 && v == floor(v))
        (void)snprintf(out, 32, "%.0f", v);
    else
        (void)snprintf(out, 32, "%.15g", v);
}

void jw_number(struct jw *w, const char *key, double v)
{
    char text[32];
    jw_number_text(text, v);
    begin(w, key);
    buf_adds(w->out, text);
}

void jw_int(struct jw *w, const char *key, int64_t v)
{
    begin(w, key);
    buf_addf(w->out, "%lld", (long long)v);
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
