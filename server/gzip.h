/* gzip.h — content coding of responses: whether the client asked for it, and the coded bytes. */
#ifndef SUANPAN_SERVER_GZIP_H
#define SUANPAN_SERVER_GZIP_H

#include <stdbool.h>
#include <stddef.h>

#define GZIP_MIN_BYTES 1024 /* below, the header and the time are not worth it */

/* Reads an Accept-Encoding value (NULL = absent): gzip or * with a weight above nought. */
bool gzip_accepted(const char *accept_encoding);

/* Text gains, images do not. */
bool gzip_worthwhile(const char *content_type, size_t body_len);

/* A malloc'd gzip member, the same bytes for the same input. -1 when out of memory or when it would not be smaller. */
int gzip_encode(const void *body, size_t body_len, char **ret, size_t *ret_len);

#endif
