/* sobol.c — direction numbers of Joe and Kuo (new-joe-kuo-6.21201, 2010), cut to 8 bits; from degree 8 on all eight are
 * given, chosen among random ones so that no pair of normal coordinates is correlated by more than 0.23 (theirs are by
 * up to 0.25). */
#include "planner/advice/sobol.h"

#include <math.h>

struct direction {
    uint8_t degree, coefficients;
    uint8_t m[8]; /* initial numbers, odd, m[i] < 2^(i+1) */
};

static const struct direction DIRECTIONS[SOBOL_DIMENSIONS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
    {7, 7, {1, 1, 3, 13, 7, 35, 63}},
    {7, 8, {1, 3, 5, 9, 1, 25, 53}},
    {7, 14, {1, 3, 1, 13, 9, 35, 107}},
    {7, 19, {1, 3, 1, 5, 27, 61, 31}},
    {7, 21, {1, 1, 5, 11, 19, 41, 61}},
    {7, 28, {1, 3, 5, 3, 3, 13, 69}},
    {7, 31, {1, 1, 7, 13, 1, 19, 1}},
    {7, 32, {1, 3, 7, 5, 13, 19, 59}},
    {8, 0, {1, 3, 3, 9, 3, 25, 65, 87}},
    {8, 0, {1, 3, 1, 11, 9, 15, 85, 237}},
    {8, 0, {1, 3, 1, 3, 7, 41, 109, 57}},
    {8, 0, {1, 1, 1, 9, 7, 49, 91, 77}},
    {8, 0, {1, 1, 5, 1, 31, 13, 121, 123}},
    {8, 0, {1, 3, 1, 15, 9, 17, 37, 227}},
    {8, 0, {1, 1, 5, 5, 17, 53, 59, 11}},
    {8, 0, {1, 1, 1, 3, 31, 23, 1, 41}},
    {8, 0, {1, 1, 5, 11, 25, 17, 127, 77}},
    {8, 0, {1, 3, 3, 13, 29, 63, 111, 33}},
    {8, 0, {1, 1, 3, 11, 21, 47, 49, 11}},
    {8, 0, {1, 1, 5, 11, 29, 13, 101, 183}},
    {8, 0, {1, 1, 3, 7, 21, 23, 83, 105}},
    {8, 0, {1, 3, 3, 15, 11, 41, 51, 11}},
    {8, 0, {1, 3, 5, 7, 1, 7, 113, 41}},
    {8, 0, {1, 1, 1, 1, 13, 61, 67, 203}},
    {8, 0, {1, 1, 7, 3, 13, 29, 63, 107}},
    {8, 0, {1, 1, 7, 9, 19, 5, 25, 61}},
    {8, 0, {1, 3, 7, 3, 27, 27, 69, 155}},
    {8, 0, {1, 3, 7, 15, 17, 33, 63, 17}},
    {8, 0, {1, 1, 3, 13, 15, 49, 1, 189}},
    {8, 0, {1, 1, 3, 1, 1, 27, 11, 155}},
    {8, 0, {1, 3, 7, 15, 21, 25, 37, 89}},
    {8, 0, {1, 3, 1, 13, 29, 43, 105, 227}},
    {8, 0, {1, 3, 1, 15, 29, 5, 7, 135}},
    {8, 0, {1, 3, 5, 9, 3, 43, 93, 97}},
    {8, 0, {1, 1, 7, 5, 21, 11, 83, 177}},
    {8, 0, {1, 3, 7, 7, 1, 39, 71, 241}},
    {8, 0, {1, 1, 7, 5, 5, 21, 59, 129}},
    {8, 0, {1, 3, 3, 11, 31, 11, 115, 21}},
    {8, 0, {1, 1, 1, 1, 23, 61, 53, 69}},
    {8, 0, {1, 3, 3, 3, 5, 53, 55, 199}},
    {8, 0, {1, 3, 5, 7, 21, 1, 23, 77}},
    {8, 0, {1, 3, 7, 3, 25, 35, 11, 23}},
    {8, 0, {1, 3, 7, 9, 15, 7, 71, 203}},
    {8, 0, {1, 3, 7, 5, 25, 33, 53, 217}},
    {8, 0, {1, 1, 3, 7, 9, 55, 23, 223}},
    {8, 0, {1, 1, 7, 3, 15, 59, 125, 37}},
    {8, 0, {1, 3, 7, 15, 25, 33, 93, 55}},
    {8, 0, {1, 1, 5, 13, 29, 55, 57, 69}},
};

enum { BITS = 8 };

/* v[k]: what bit k of the point's number contributes, as a fraction of 256. */
static void directions_of(int dimension, unsigned v[BITS])
{
    if (dimension == 0) {
        for (int k = 0; k < BITS; k++)
            v[k] = 1u << (BITS - 1 - k);
        return;
    }
    const struct direction *d = &DIRECTIONS[dimension - 1];
    unsigned m[BITS];
    for (int k = 0; k < BITS; k++) {
        if (k < d->degree) {
            m[k] = d->m[k];
        } else {
            m[k] = m[k - d->degree] ^ (m[k - d->degree] << d->degree);
            for (int j = 1; j < d->degree; j++)
                if (d->coefficients >> (d->degree - 1 - j) & 1u)
                    m[k] ^= m[k - j] << j;
        }
        v[k] = m[k] << (BITS - 1 - k);
    }
}

void sobol_dimension(int dimension, uint8_t ret[SOBOL_POINTS])
{
    unsigned v[BITS];
    directions_of(dimension, v);
    ret[0] = 0;
    /* Point i is the sum (xor) of the directions of its bits: one more than the point without its highest bit. */
    for (unsigned k = 0; k < BITS; k++)
        for (unsigned i = 1u << k; i < 2u << k; i++)
            ret[i] = (uint8_t)(ret[i - (1u << k)] ^ v[k]);
}

/* Acklam's rational approximation of the normal quantile; relative error below 1.2e-9. */
static double normal_quantile(double p)
{
    static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                               1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
    static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                               6.680131188771972e+01, -1.328068155288572e+01};
    static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                               -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
    static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                               3.754408661907416e+00};
    if (p < 0.02425) {
        double q = sqrt(-2 * log(p));
        return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
               ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
    }
    double q = p - 0.5, r = q * q;
    return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
           (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

double sobol_normal_most(void)
{
    return -normal_quantile(0.5 / SOBOL_POINTS);
}

void sobol_normal(double ret[SOBOL_POINTS])
{
    for (int k = 0; k < SOBOL_POINTS / 2; k++) {
        ret[k] = normal_quantile((k + 0.5) / SOBOL_POINTS);
        ret[SOBOL_POINTS - 1 - k] = -ret[k];
    }
}
