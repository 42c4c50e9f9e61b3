/* quantiles.c — see quantiles.h.
 *
 * Values are dealt into places by size, evenly over their range, which puts nearly every one where it belongs; only
 * what shares a place with an asked rank is ordered. That several ranks are asked of one sample costs next to nothing.
 */
#include "planner/advice/quantiles.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { PLACES = 128 };

/* The k-th smallest, which is among lo .. hi; reorders them: what is below it comes before it. */
static float nth(float *v, int lo, int hi, int k)
{
    while (lo < hi) {
        float pivot = v[(lo + hi) / 2];
        int i = lo, j = hi;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i <= j) {
                float t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        if (k <= j)
            hi = j;
        else if (k >= i)
            lo = i;
        else
            break;
    }
    return v[k];
}

/* Where each value belongs, which never falls as the value rises; all alike where the range cannot be divided. */
static void place(const float *values, int n, uint8_t *ret)
{
    float least = values[0], most = values[0];
    for (int i = 1; i < n; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    const float scale = (PLACES - 1) / (most - least);
    if (!isfinite(scale) || !(scale > 0)) {
        memset(ret, 0, (size_t)n);
        return;
    }
    for (int i = 0; i < n; i++)
        ret[i] = (uint8_t)((values[i] - least) * scale);
}

/* The k-th smallest where only lo .. hi of the row share its place: many share one where values are in steps, as days
 * are, and then mostly all of them are alike. */
static float pick(float *v, int lo, int hi, int k)
{
    for (int i = lo + 1; i <= hi; i++)
        if (v[i] < v[lo] || v[i] > v[lo])
            return nth(v, lo, hi, k);
    return v[lo];
}

void quantiles(const float *values, int n, const int *ranks, int n_ranks, float *ret)
{
    uint8_t at[QUANTILES_SAMPLE_MAX];
    int16_t ends[PLACES + 1] = {0}; /* of the place before; once the values are dealt: its own */
    float dealt[QUANTILES_SAMPLE_MAX];
    place(values, n, at);
    for (int i = 0; i < n; i++)
        ends[at[i] + 1]++;
    for (int p = 0; p < PLACES; p++)
        ends[p + 1] = (int16_t)(ends[p + 1] + ends[p]);
    for (int i = 0; i < n; i++)
        dealt[ends[at[i]]++] = values[i];
    for (int r = 0; r < n_ranks; r++) {
        int p = 0;
        while (ends[p] <= ranks[r])
            p++;
        ret[r] = pick(dealt, p > 0 ? ends[p - 1] : 0, ends[p] - 1, ranks[r]);
    }
}
