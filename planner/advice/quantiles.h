/* quantiles.h — the k-th smallest values of a small sample, several of them at once. */
#ifndef SUANPAN_PLANNER_ADVICE_QUANTILES_H
#define SUANPAN_PLANNER_ADVICE_QUANTILES_H

enum { QUANTILES_SAMPLE_MAX = 256 };

/* ret[i]: the ranks[i]-th smallest (from 0) of the n values, 1 <= n <= QUANTILES_SAMPLE_MAX; no NaN among them. */
void quantiles(const float *values, int n, const int *ranks, int n_ranks, float *ret);

#endif
