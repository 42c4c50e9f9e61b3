/* json_write.h — JSON written straight into a bounded buffer: members in the order they are written, numbers in at
 * most 15 significant digits, NAN and infinities as null, money as {"amount","currency"}.
 *
 * `key` is the member's name inside an object, a word that needs no escaping, and NULL inside an array or at the root.
 */
#ifndef SUANPAN_API_JSON_WRITE_H
#define SUANPAN_API_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/date.h"
#include "base/money.h"
#include "planner/core/model.h"

struct jw {
    struct buf *out;
    bool comma; /* the next value needs one */
};

void jw_object(struct jw *w, const char *key);
void jw_end_object(struct jw *w);
void jw_array(struct jw *w, const char *key);
void jw_end_array(struct jw *w);

void jw_string(struct jw *w, const char *key, const char *s); /* NULL = null */
void jw_string_n(struct jw *w, const char *key, const char *s, size_t n);
void jw_number(struct jw *w, const char *key, double v);
void jw_int(struct jw *w, const char *key, int64_t v);
void jw_int_or_null(struct jw *w, const char *key, int64_t v);   /* 0 = null */
void jw_number_or_null(struct jw *w, const char *key, double v); /* 0 = null */
void jw_bool(struct jw *w, const char *key, bool v);
void jw_tri(struct jw *w, const char *key, enum tri v);
void jw_null(struct jw *w, const char *key);
void jw_money(struct jw *w, const char *key, int64_t minor, const char *currency);
void jw_price(struct jw *w, const char *key, int64_t micros, const char *currency);
void jw_date(struct jw *w, const char *key, date_t d); /* DATE_NONE = null */
/* Text that is JSON already. */
void jw_raw(struct jw *w, const char *key, const char *json);

/* A number as jw_number prints it; "null" where it is none. */
void jw_number_text(char out[32], double v);

#endif
