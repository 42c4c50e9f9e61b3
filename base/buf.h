/* buf.h — a growable byte buffer that is given its maximum at birth.
 *
 * Errors stick: after the first failure every append is a no-op and buf_failed says so; check once at the end.
 */
#ifndef SUANPAN_BASE_BUF_H
#define SUANPAN_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data; /* malloc'd, always NUL-terminated when not NULL */
    size_t len, cap, max;
    bool failed;
};

void buf_init(struct buf *b, size_t max);
void buf_done(struct buf *b); /* frees; harmless on a zeroed struct */

void buf_add(struct buf *b, const void *data, size_t n);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool buf_failed(const struct buf *b);

/* For writers that put together what they write in place: room for n bytes behind what is there, NULL once failed. The
 * room may reach past max, what is written may not. */
char *buf_make_room(struct buf *b, size_t n);
static inline char *buf_room(struct buf *b, size_t n)
{
    return b->cap - b->len > n && !b->failed ? b->data + b->len : buf_make_room(b, n);
}
/* Takes in what was written from buf_room's pointer up to `end`. */
static inline void buf_wrote(struct buf *b, const char *end)
{
    size_t len = (size_t)(end - b->data);
    if (len > b->max)
        b->failed = true;
    else
        b->len = len;
    b->data[b->len] = '\0';
}

/* Hands the malloc'd block over to the caller and leaves the buffer empty. NULL when failed (block freed). */
char *buf_take(struct buf *b, size_t *ret_len);

#endif
