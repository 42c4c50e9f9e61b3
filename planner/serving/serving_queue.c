/* serving_queue.c — Erlang-C without factorials: the Erlang-B recursion; the Halfin-Whitt limit for very many servers,
 * where the recursion would be slow and the limit is exact to three digits.
 */
#include "planner/serving/serving_queue.h"

#include <math.h>

#define RECURSION_MAX 1024.0

static double normal_cdf(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

static double normal_pdf(double x)
{
    return exp(-x * x / 2) / sqrt(2 * acos(-1));
}

double erlang_c(double servers, double offered)
{
    if (!(offered > 0))
        return 0;
    if (offered >= servers)
        return 1;
    if (servers > RECURSION_MAX) {
        double beta = (servers - offered) / sqrt(offered);
        return 1 / (1 + beta * normal_cdf(beta) / normal_pdf(beta));
    }
    double b = 1;
    for (double n = 1; n <= servers; n++)
        b = offered * b / (n + offered * b);
    return servers * b / (servers - offered * (1 - b));
}

double erlang_wait(double servers, double offered, double service)
{
    if (offered >= servers)
        return INFINITY;
    return erlang_c(servers, offered) * service / (servers - offered);
}

/* 1/B is the sum of s/a, s(s-1)/a^2, ... with 1 before it, and C = s / ((s-a)/B + a): the first few terms are enough to
 * say that a wait is short, and those until they vanish, far fewer than servers, that it is long. What lies nearer to
 * the limit than the sum is exact is counted out. */
bool erlang_wait_within(double servers, double offered, double service, double most)
{
    const double near = 1e-9, vanished = 1e-12, least = 1e-200; /* where the recursion has all its digits */
    if (!(offered > 0) || offered >= servers || servers > RECURSION_MAX || !(most > least))
        return erlang_wait(servers, offered, service) <= most;
    const double idle = servers - offered, enough = (servers * service / (most * idle) - offered) / idle;
    double sum = 1, term = 1;
    for (double n = servers; n >= 1 && sum < enough * (1 + near); n--) {
        term *= n / offered;
        sum += term;
        if (n - 1 < offered && term * (n - 1) < vanished * sum * (offered - n + 1))
            break;
    }
    if (sum >= enough * (1 + near))
        return true;
    return sum * (1 + near) < enough ? false : erlang_wait(servers, offered, service) <= most;
}
