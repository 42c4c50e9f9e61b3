/* costing.h — the bill of an option: every line once, one rounding a line, net + tax = total. */
#ifndef SUANPAN_PLANNER_COSTING_COSTING_H
#define SUANPAN_PLANNER_COSTING_COSTING_H

#include "planner/costing/shares.h"
#include "planner/drafting/build.h"
#include "planner/market/tariff.h"

enum { BILL_LINES_MAX = 72 };

struct bill {
    struct cost_line lines[BILL_LINES_MAX];
    size_t n;
    int64_t machines_net, deposit;
    double spot_hours, machine_hours; /* of single machines (nodes or cards) */
    bool failed;                      /* an amount past int64, or too many lines */
    struct shares *shares;            /* every line divided over the steps; NULL = nobody asks */
};

/* Every line of the draft on this calendar, the reserve's included. -1 when a machine cannot be paid for at all (no
 * rate covers its days) or an amount overflows. ret_shares: the same lines divided over the steps, or NULL. */
int costing_bill(const struct build *b, const struct draft *d, const struct schedule *s, struct shares *ret_shares,
                 struct bill *ret);

/* Machines of one SKU over given days as lines of the cheapest cover; `times`: how many equal units. `steps`: what
 * the days' tags point into; NULL = all of it is the serve phase. */
int costing_cover(const struct offer *o, bool by_card, const struct tariff_day *days, size_t n, int64_t times,
                  const struct draft_step *steps, struct bill *bill);

/* Several levels of one demand, each covered on its own; what the same rate pays is one line. */
struct cover_days {
    const struct tariff_day *days;
    size_t n;
    int64_t times;
};
int costing_cover_levels(const struct offer *o, bool by_card, const struct cover_days *levels, size_t n,
                         struct bill *bill);

/* An empty bill; its lines are written only as they are added. */
void costing_start(struct bill *bill);

/* One more line; its minor and tax_minor are filled here. */
int costing_add(struct bill *bill, struct cost_line line, int64_t tax_bp);
int costing_sum(const struct bill *bill, int64_t *ret_net, int64_t *ret_tax);

/* A finished option's cost: copies the lines into the arena and sums them. */
int costing_finish(struct build *b, const struct bill *bill, struct cost *ret);

#endif
