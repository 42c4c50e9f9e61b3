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

/* Hands the malloc'd block over to the caller and leaves the buffer empty. NULL when failed (block freed). */
char *buf_take(struct buf *b, size_t *ret_len);

#endif
