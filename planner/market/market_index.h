/* market_index.h — SKUs of each GPU and provider in the order of what they can cost at best. */
#ifndef SUANPAN_PLANNER_MARKET_MARKET_INDEX_H
#define SUANPAN_PLANNER_MARKET_MARKET_INDEX_H

#include "planner/core/catalog.h"

/* Made once per snapshot by engine_bind: SKUs of each GPU, cheapest card first by the month and by the hour, whatever
 * the day (a lower bound of the price on any day). INFINITY: never sold that way. */
struct market_index {
    uint32_t *by_month, *by_hour;    /* SKU numbers, grouped by GPU as in catalog->gpus */
    uint32_t *first_of_gpu;          /* n_gpus + 1 offsets into both */
    uint32_t *by_provider;           /* SKU numbers, grouped by provider as in catalog->providers */
    uint32_t *first_of_provider;     /* n_providers + 1 offsets into it */
    float spot_least_share;          /* of what the same machine costs otherwise, the least that any is by spot; 0 = some
                                      * are sold by spot alone */
    float *month_bound, *hour_bound; /* of one card, by SKU number, in CNY */
};

/* Orders the snapshot into c->market, in its arena. ERR_NOMEM. */
int market_index_make(struct catalog *c, struct err *err);

#endif
