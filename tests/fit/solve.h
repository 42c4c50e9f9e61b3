/* solve.h — least squares that outliers do not rule: Levenberg and Marquardt's steps under Huber's loss, each parameter
 * held by a weak pull to where it is believed to be. */
#ifndef SUANPAN_TESTS_FIT_SOLVE_H
#define SUANPAN_TESTS_FIT_SOLVE_H

#include <stddef.h>

struct least_squares {
    size_t n_residuals, n_parameters;
    const double *weights; /* of residuals; 0 = not looked at */
    const double *believed, *least, *most;
    double pull;
    /* Residuals at these parameters. */
    void (*residuals)(void *context, const double *parameters, double *ret);
    void *context;
};

/* Moves the parameters downhill for at most `rounds` Jacobians; returns the cost reached. */
double least_squares_solve(const struct least_squares *p, int rounds, double *parameters);

#endif
