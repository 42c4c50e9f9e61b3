/* shares.c — see shares.h. */
#include "planner/costing/shares.h"

#include "base/money.h"

static void divide(int64_t minor, const int64_t *weights, int64_t *to)
{
    money_wide all = 0, below = 0;
    int64_t given = 0;
    int last = SHARE_SERVE;
    for (int i = 0; i < SHARE_PLACES; i++) {
        all += weights[i];
        last = weights[i] > 0 ? i : last;
    }
    for (int i = 0; i < last && all > 0; i++) {
        below += weights[i];
        int64_t until = (int64_t)((money_wide)minor * below / all);
        to[i] += until - given;
        given = until;
    }
    to[last] += minor - given;
}

void shares_divide(int64_t minor, const struct shares *weights, struct shares *to)
{
    divide(minor, weights->used, to->used);
    divide(minor, weights->paid, to->paid);
}

void shares_give(int64_t minor, int place, struct shares *to)
{
    to->used[place] += minor;
    to->paid[place] += minor;
}
