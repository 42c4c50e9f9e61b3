/* hybrid_side.h — one end of a hybrid's line: the machine, or the few nodes, that do a run best there by the request's
 * priority. */
#ifndef SUANPAN_PLANNER_OFFERS_HYBRID_SIDE_H
#define SUANPAN_PLANNER_OFFERS_HYBRID_SIDE_H

#include "planner/drafting/build.h"

struct hybrid_side {
    const struct offer *offer; /* NULL: nothing there carries a run */
    const struct estimate *estimate;
    struct shape shape; /* of one run */
    bool by_card;
    double run_hours;
    double burden; /* of a run: to compare machines by, see hybrid_ends */
};

/* The best by what a run costs, and by cost and hours weighed by the priority; often the same. */
struct hybrid_ends {
    struct hybrid_side cheap, fit;
};

/* The nearest miss of memory, for a refusal. */
struct hybrid_miss {
    double short_gb;
    const struct gpu *gpu;
    const struct estimate *estimate; /* NULL: nothing was missed */
    int cards;
};

/* The best among the provider's few cheapest cards. `far`: the request's city does not bind this end. `vendor`: only
 * cards of this maker, so that the same software runs at both ends; NULL = any. */
int hybrid_side_choose(struct build *b, const struct provider *p, bool far, const char *vendor,
                       struct hybrid_ends *best, struct hybrid_miss *miss, struct err *err);

/* Can the provider give so many machines at once? */
bool hybrid_side_has(const struct hybrid_side *side, int machines);

/* Runs that the provider's machines carry side by side. */
int hybrid_side_lanes(const struct hybrid_side *side);

/* What one run's machines cost about an hour and a month, minor units; 0 = not sold so. */
void hybrid_side_rates(const struct hybrid_side *side, double *ret_hour, double *ret_month);

/* The same machine in the same shape. */
bool hybrid_side_same(const struct hybrid_side *a, const struct hybrid_side *b);

#endif
