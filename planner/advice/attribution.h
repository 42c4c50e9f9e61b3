/* attribution.h — what accounts for the difference between two options, by category; parts sum to it exactly. */
#ifndef SUANPAN_PLANNER_ADVICE_ATTRIBUTION_H
#define SUANPAN_PLANNER_ADVICE_ATTRIBUTION_H

#include "planner/costing/draft.h"

/* One option's total by what it is paid for. Minor units; sums to the total. */
struct attribution_view {
    int64_t train; /* machines while the runs run: split between two options into price, hours and goodput */
    int64_t debugging, setup, network, storage, support, egress, reserve, tax;
    double card_hours; /* billed for the runs */
    double lost_share; /* of them lost to faults, checkpoints and restarts */
};

struct attribution_view attribution_view_of(const struct draft *d, const struct cost *c);

/* From one option to another. Parts that are nothing are left out; false when the options cost the same. */
bool attribution_between(const struct attribution_view *from, const struct attribution_view *to,
                         struct attribution *ret);

#endif
