/* buf.c — bytes appended with doubling up to the maximum given at birth. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 256

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.max = max};
}

void buf_done(struct buf *b)
{
    free(b->data);
    *b = (struct buf){.max = b->max};
}

/* Capacity for n more bytes and the closing NUL. */
static bool grow(struct buf *b, size_t n)
{
    size_t need;
    if (b->failed)
        return false;
    if (__builtin_add_overflow(b->len + 1, n, &need)) { /* max == SIZE_MAX: the NUL has no room */
        b->failed = true;
        return false;
    }
    if (need <= b->cap)
        return true;
    size_t cap = b->cap > 0 ? b->cap : FIRST_CAP;
    while (cap < need && cap <= (size_t)-1 / 2)
        cap *= 2;
    if (cap < need)
        cap = need;
    char *data = realloc(b->data, cap);
    if (data == NULL) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->cap = cap;
    return true;
}

char *buf_make_room(struct buf *b, size_t n)
{
    return grow(b, n) ? b->data + b->len : NULL;
}

/* The same for what is certain to be written. */
static bool reserve(struct buf *b, size_t n)
{
    if (n > b->max - b->len)
        b->failed = true;
    return grow(b, n);
}

void buf_add(struct buf *b, const void *data, size_t n)
{
    if (!reserve(b, n))
        return;
    if (n > 0)
        memcpy(b->data + b->len, data, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void buf_adds(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_addc(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        b->failed = true;
    else if (reserve(b, (size_t)n)) {
        vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

bool buf_failed(const struct buf *b)
{
    return b->failed;
}

char *buf_take(struct buf *b, size_t *ret_len)
{
    if (!b->failed)
        buf_add(b, "", 0); /* an empty buffer still hands out "" */
    char *data = b->data;
    size_t len = b->len;
    bool failed = b->failed;
    *b = (struct buf){.max = b->max};
    if (failed) {
        free(data);
        return NULL;
    }
    if (ret_len != NULL)
        *ret_len = len;
    return data;
}
