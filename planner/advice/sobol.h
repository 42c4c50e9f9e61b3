/* sobol.h — 256 points of Sobol's sequence: every coordinate of a point is a whole number of 256ths, and over the 256
 * points each takes every value once. No seed, no state: the same points for everybody. */
#ifndef SUANPAN_PLANNER_ADVICE_SOBOL_H
#define SUANPAN_PLANNER_ADVICE_SOBOL_H

#include <stdint.h>

enum { SOBOL_POINTS = 256, SOBOL_DIMENSIONS = 69 };

/* ret[i]: coordinate of point i in this dimension, 0..255; dimension < SOBOL_DIMENSIONS. */
void sobol_dimension(int dimension, uint8_t ret[SOBOL_POINTS]);

/* ret[k]: the standard normal quantile of (k + 0.5) / 256. */
void sobol_normal(double ret[SOBOL_POINTS]);
/* The last and largest of them. */
double sobol_normal_most(void);

#endif
