/* solve.c — see solve.h. */
#include "tests/fit/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond it a residual counts by its size, no longer by its square: 15 % off. */
static const double HUBER = 0.15;
static const double DIFFERENCE = 0.01; /* of a parameter, for a derivative */
static const double STRIDE_MAX = 0.4;  /* of a parameter in one step */

enum { TRIES = 6 };

struct work {
    const struct least_squares *p;
    double *r, *r_next, *jacobian, *normal, *step, *next;
    double damping, cost;
};

static double loss(double r)
{
    const double a = fabs(r);
    return a < HUBER ? r * r / 2 : HUBER * (a - HUBER / 2);
}

static double cost_of(const struct least_squares *p, const double *r, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < p->n_residuals; i++)
        sum += p->weights[i] * loss(r[i]);
    for (size_t j = 0; j < p->n_parameters; j++)
        sum += p->pull * (x[j] - p->believed[j]) * (x[j] - p->believed[j]);
    return sum;
}

static void differentiate(struct work *w, double *x)
{
    const size_t n = w->p->n_parameters;
    for (size_t j = 0; j < n; j++) {
        const double was = x[j], h = was + DIFFERENCE > w->p->most[j] ? -DIFFERENCE : DIFFERENCE;
        x[j] = was + h;
        w->p->residuals(w->p->context, x, w->r_next);
        x[j] = was;
        for (size_t i = 0; i < w->p->n_residuals; i++)
            w->jacobian[i * n + j] = (w->r_next[i] - w->r[i]) / h;
    }
}

/* The normal equations with every residual weighed down to what Huber's loss makes of it. */
static void normal_equations(struct work *w, const double *x)
{
    const struct least_squares *p = w->p;
    const size_t n = p->n_parameters;
    memset(w->normal, 0, n * n * sizeof *w->normal);
    memset(w->step, 0, n * sizeof *w->step);
    for (size_t i = 0; i < p->n_residuals; i++) {
        const double a = fabs(w->r[i]), weight = p->weights[i] * (a < HUBER ? 1 : HUBER / a);
        const double *row = &w->jacobian[i * n];
        for (size_t j = 0; weight > 0 && j < n; j++) {
            w->step[j] -= weight * row[j] * w->r[i];
            for (size_t k = 0; row[j] != 0 && k < n; k++)
                w->normal[j * n + k] += weight * row[j] * row[k];
        }
    }
    for (size_t j = 0; j < n; j++) {
        w->normal[j * n + j] += 2 * p->pull + w->damping * (w->normal[j * n + j] + 1e-6);
        w->step[j] -= 2 * p->pull * (x[j] - p->believed[j]);
    }
}

/* Cholesky in place, then both triangles; -1 where the matrix is not positive. */
static int solve_in_place(double *a, double *b, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            if (i == j && !(sum > 0))
                return -1;
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            b[i] -= a[k * n + i] * b[k];
        b[i] /= a[i * n + i];
    }
    return 0;
}

static void stride(struct work *w, const double *x)
{
    for (size_t j = 0; j < w->p->n_parameters; j++) {
        const double by = fmax(-STRIDE_MAX, fmin(STRIDE_MAX, w->step[j]));
        w->next[j] = fmax(w->p->least[j], fmin(w->p->most[j], x[j] + by));
    }
}

/* One step downhill, ever shorter until it is one. 0: none found. */
static int descend(struct work *w, double *x)
{
    for (int i = 0; i < TRIES; i++) {
        normal_equations(w, x);
        if (solve_in_place(w->normal, w->step, w->p->n_parameters) == 0) {
            stride(w, x);
            w->p->residuals(w->p->context, w->next, w->r_next);
            const double cost = cost_of(w->p, w->r_next, w->next);
            if (cost < w->cost) {
                memcpy(x, w->next, w->p->n_parameters * sizeof *x);
                memcpy(w->r, w->r_next, w->p->n_residuals * sizeof *w->r);
                w->cost = cost;
                w->damping = fmax(1e-5, w->damping / 4);
                return 1;
            }
        }
        w->damping *= 5;
    }
    return 0;
}

double least_squares_solve(const struct least_squares *p, int rounds, double *parameters)
{
    const size_t m = p->n_residuals, n = p->n_parameters;
    struct work w = {.p = p, .damping = 1e-2};
    double *block = calloc(2 * m + m * n + n * n + 2 * n, sizeof *block);
    if (block == NULL)
        abort();
    w.r = block;
    w.r_next = w.r + m;
    w.jacobian = w.r_next + m;
    w.normal = w.jacobian + m * n;
    w.step = w.normal + n * n;
    w.next = w.step + n;
    p->residuals(p->context, parameters, w.r);
    w.cost = cost_of(p, w.r, parameters);
    for (int i = 0; i < rounds; i++) {
        const double before = w.cost;
        differentiate(&w, parameters);
        if (!descend(&w, parameters) || before - w.cost < 1e-4 * before)
            break;
    }
    free(block);
    return w.cost;
}
