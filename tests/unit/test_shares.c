/* test_shares.c — amounts are divided over the steps to the fen. */
#include <criterion/criterion.h>

#include "planner/costing/shares.h"

Test(shares, remainders_go_to_the_last_that_has_a_weight)
{
    static const struct {
        int64_t minor, weights[4], expected[4];
    } cases[] = {
        {100, {1, 1, 1, 0}, {33, 33, 34, 0}},
        {100, {0, 0, 5, 0}, {0, 0, 100, 0}},
        {7, {3, 0, 0, 4}, {3, 0, 0, 4}},
        {1, {1, 1, 1, 1}, {0, 0, 0, 1}},
        {0, {1, 1, 1, 1}, {0, 0, 0, 0}},
        {INT64_MAX, {INT64_MAX / 4, INT64_MAX / 4, 0, 0}, {INT64_MAX / 2, INT64_MAX - INT64_MAX / 2, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct shares weights = {{0}, {0}}, to = {{0}, {0}};
        for (int k = 0; k < 4; k++)
            weights.used[k] = cases[i].weights[k];
        shares_divide(cases[i].minor, &weights, &to);
        for (int k = 0; k < 4; k++)
            cr_expect_eq(to.used[k], cases[i].expected[k], "case %zu, step %d: %ld", i, k, (long)to.used[k]);
        cr_expect_eq(to.paid[SHARE_SERVE], cases[i].minor, "what has no step is serving's");
    }
}
