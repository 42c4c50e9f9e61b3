/* advice.h — inside advice: the terms and the view that its two files share. */
#ifndef SUANPAN_PLANNER_ADVICE_ADVICE_H
#define SUANPAN_PLANNER_ADVICE_ADVICE_H

#include "planner/drafting/build.h"

struct advice_terms {
    double one_card_days, data_wait_share, busy_util_pct, comm_share, gap_soft, gap_hard;
    double container_days; /* shorter rentals go into containers, longer ones on bare metal */
    double budget_contingency, budget_reserve_most;
};

int advice_terms_bind(const struct param_table *params, struct advice_terms *ret, struct err *err);

struct advice {
    const struct build *b;
    const struct option_list *ranked;
    struct plan *plan;
    struct advice_terms t;
    const struct draft *first, *single, *cluster; /* best of all, best of the kind; NULL = none */
    double need_gb, machine_gb; /* weights, gradients and optimizer state against the biggest machine's memory */
};

/* Steps in their order, the upgrade path, the scheduler and the form of supply into plan->staged_advice. */
void advice_staged(struct advice *a);

#endif
