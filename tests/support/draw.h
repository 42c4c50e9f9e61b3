/* draw.h — the same random draws in every run: a linear congruential sequence from a test's own seed. */
#ifndef SUANPAN_TESTS_SUPPORT_DRAW_H
#define SUANPAN_TESTS_SUPPORT_DRAW_H

#include <stdint.h>

/* [0, 1), in steps of 2^-31. */
static inline double draw_uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 33) / 2147483648.0;
}

/* 0 .. n - 1 */
static inline int draw_below(uint64_t *seed, int n)
{
    return (int)(draw_uniform(seed) * n);
}

#endif
