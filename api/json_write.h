/* json_write.h — JSON written straight into a bounded buffer: members in the order they are written, numbers in at
 * most 15 significant digits, NAN and infinities as null, money as {"amount","currency"}.
 *
 * `key` is the member's name inside an object, a word that needs no escaping, and NULL inside an array or at the root.
 */
#ifndef SUANPAN_API_JSON_WRITE_H
#define SUANPAN_API_JSON_WRITE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/date.h"
#include "base/decimal.h"
#include "base/money.h"
#include "planner/core/model.h"

struct jw {
    struct buf *out;
    bool comma; /* the next value needs one */
};

void jw_end_object(struct jw *w);
void jw_end_array(struct jw *w);

/* A value that was written before, from one length of the buffer to another. */
void jw_again(struct jw *w, size_t from, size_t to);

/* A number as jw_number prints it, "null" where it is none; returns how many bytes. */
#define JW_NUMBER_MAX DECIMAL_NUMBER_MAX
size_t jw_number_text(char out[JW_NUMBER_MAX], double v);

/* The inside of a string, for texts that are put together in place: between jw_open_string and jw_close_string. */
void jw_escape(struct buf *out, const char *s, size_t n);
void jw_close_string(struct jw *w);

/* A member's name with its length: an answer has thousands of members, and where the name stands in the source it is
 * the compiler that counts. The writers proper take it; what the encoders call comes below. */
struct jw_name {
    const char *text;
    size_t n;
};

void jw_put_open(struct jw *w, struct jw_name name, char bracket);
void jw_put_open_string(struct jw *w, struct jw_name name);
void jw_put_string(struct jw *w, struct jw_name name, const char *s, size_t n);
void jw_put_raw(struct jw *w, struct jw_name name, const char *json, size_t n);
void jw_put_number(struct jw *w, struct jw_name name, double v);
void jw_put_int(struct jw *w, struct jw_name name, int64_t v);
void jw_put_money(struct jw *w, struct jw_name name, int64_t minor, const char *currency);
void jw_put_price(struct jw *w, struct jw_name name, int64_t micros, const char *currency);
void jw_put_date(struct jw *w, struct jw_name name, date_t d);

static inline struct jw_name jw_name(const char *key)
{
    return (struct jw_name){key, key ? strlen(key) : 0};
}

static inline void jw_object(struct jw *w, const char *key)
{
    jw_put_open(w, jw_name(key), '{');
}

static inline void jw_array(struct jw *w, const char *key)
{
    jw_put_open(w, jw_name(key), '[');
}

static inline void jw_null(struct jw *w, const char *key)
{
    jw_put_raw(w, jw_name(key), "null", 4);
}

/* NULL = null */
static inline void jw_string(struct jw *w, const char *key, const char *s)
{
    jw_put_string(w, jw_name(key), s, s ? strlen(s) : 0);
}

static inline void jw_string_n(struct jw *w, const char *key, const char *s, size_t n)
{
    jw_put_string(w, jw_name(key), s, n);
}

static inline void jw_open_string(struct jw *w, const char *key)
{
    jw_put_open_string(w, jw_name(key));
}

static inline void jw_number(struct jw *w, const char *key, double v)
{
    jw_put_number(w, jw_name(key), v);
}

/* 0 = null */
static inline void jw_number_or_null(struct jw *w, const char *key, double v)
{
    jw_number(w, key, v == 0 ? (double)NAN : v);
}

static inline void jw_int(struct jw *w, const char *key, int64_t v)
{
    jw_put_int(w, jw_name(key), v);
}

/* 0 = null */
static inline void jw_int_or_null(struct jw *w, const char *key, int64_t v)
{
    if (v)
        jw_int(w, key, v);
    else
        jw_null(w, key);
}

static inline void jw_bool(struct jw *w, const char *key, bool v)
{
    jw_put_raw(w, jw_name(key), v ? "true" : "false", v ? 4 : 5);
}

static inline void jw_tri(struct jw *w, const char *key, enum tri v)
{
    if (v == TRI_UNSTATED)
        jw_null(w, key);
    else
        jw_bool(w, key, v == TRI_YES);
}

static inline void jw_money(struct jw *w, const char *key, int64_t minor, const char *currency)
{
    jw_put_money(w, jw_name(key), minor, currency);
}

static inline void jw_price(struct jw *w, const char *key, int64_t micros, const char *currency)
{
    jw_put_price(w, jw_name(key), micros, currency);
}

/* DATE_NONE = null */
static inline void jw_date(struct jw *w, const char *key, date_t d)
{
    jw_put_date(w, jw_name(key), d);
}

/* The name alone; its value comes next, written with no name. */
static inline void jw_key(struct jw *w, const char *key)
{
    jw_put_raw(w, jw_name(key), "", 0);
    w->comma = false;
}

/* Text that is JSON already. */
static inline void jw_raw(struct jw *w, const char *key, const char *json)
{
    jw_put_raw(w, jw_name(key), json, strlen(json));
}

#endif
