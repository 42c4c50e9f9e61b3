/* bill.h — the bill of an option: every line once, one rounding a line, net + tax = total. */
#ifndef SUANPAN_PLANNER_COSTING_BILL_H
#define SUANPAN_PLANNER_COSTING_BILL_H

#include "planner/core/plan.h"
#include "planner/costing/shares.h"

enum { BILL_LINES_MAX = 72 };

struct bill {
    struct cost_line lines[BILL_LINES_MAX];
    size_t n;
    int64_t machines_net, deposit;       /* minor units */
    double spot_hours, machine_hours;    /* of single machines (nodes or cards) */
    bool failed;                         /* an amount past int64, or too many lines */
    struct shares *shares;               /* every line divided over the steps; NULL = nobody asks */
    int64_t machines_used[SHARE_PLACES]; /* of them those of the option's machines, where somebody asks */
};

/* An empty bill; its lines are written only as they are added. */
void bill_start(struct bill *bill);

/* One more line; its minor and tax_minor are filled here. tax_bp: basis points. -1, and bill->failed: no room, or an
 * amount past int64. */
int bill_add(struct bill *bill, struct cost_line line, int64_t tax_bp);

/* A deposit more, minor units; past int64 bill->failed. */
void bill_hold(struct bill *bill, int64_t deposit);

/* Minor units. -1: past int64. */
int bill_sum(const struct bill *bill, int64_t *ret_net, int64_t *ret_tax);

/* A finished option's cost: the lines in the order of phases, copied into the arena and summed. -1: no memory, or past
 * int64. */
int bill_cost(const struct bill *bill, struct arena *arena, struct cost *ret);

#endif
