/* utf8.h — what is a character and what only looks like one. */
#ifndef SUANPAN_API_UTF8_H
#define SUANPAN_API_UTF8_H

#include <stddef.h>

/* Length of the UTF-8 sequence at s, 0 when it is none (overlong, surrogate, beyond U+10FFFF, cut off). n > 0. */
size_t utf8_length(const char *s, size_t n);
/* The longest prefix of at most `max` bytes that ends between characters. */
size_t utf8_cut(const char *s, size_t max);

#endif
