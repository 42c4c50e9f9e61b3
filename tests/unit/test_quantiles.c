/* test_quantiles.c — the k-th smallest of any sample is what sorting it says. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "planner/advice/quantiles.h"

enum { N = QUANTILES_SAMPLE_MAX };

static uint32_t seed = 20261130;

static double uniform(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) / 16777216.0;
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Even, skewed, in steps, all alike but one, and over more than a float's range can be divided into. */
static float drawn(int kind)
{
    switch (kind) {
    case 0:
        return (float)(uniform() * 1e12);
    case 1:
        return (float)exp(12 * uniform());
    case 2:
        return (float)floor(8 * uniform());
    case 3:
        return uniform() < 0.996 ? 365 : 7e9f;
    case 4:
        return (float)(uniform() < 0.5 ? 3e38 * uniform() : -3e38 * uniform());
    default:
        return 42;
    }
}

Test(quantiles, are_what_sorting_says)
{
    for (int round = 0; round < 600; round++) {
        float values[N], sorted[N], got[5];
        const int n = round % 7 == 0 ? 1 + (int)(N * uniform()) : N;
        const int ranks[] = {0, n - 1, n / 2, n / 10, (int)(n * uniform())};
        for (int i = 0; i < n; i++)
            sorted[i] = values[i] = drawn(round % 6);
        qsort(sorted, (size_t)n, sizeof *sorted, by_size);
        quantiles(values, n, ranks, 5, got);
        for (int r = 0; r < 5; r++)
            cr_assert_eq(got[r], sorted[ranks[r]], "round %d rank %d", round, ranks[r]);
    }
}
