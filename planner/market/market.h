/* market.h — what a request can rent on the day of its plan, cheapest first.
 *
 * A SKU is looked at only when somebody asks for its GPU, cheapest first by an index made with the snapshot, so that
 * a plan touches a handful of price rows however many there are.
 */
#ifndef SUANPAN_PLANNER_MARKET_MARKET_H
#define SUANPAN_PLANNER_MARKET_MARKET_H

#include "planner/core/workload.h"
#include "planner/market/offer.h"

enum { MARKET_BEST_MAX = 8, MARKET_MISSING_MAX = 6 };

/* One request's view of the market; nothing of it outlives the request's arena. */
struct market {
    const struct trade_day *day;
    const struct constraints *wants; /* the request's own city, cards and suppliers */
    struct arena *arena;
    bool data_at_home;         /* sensitive data that may not be desensitised: only where data_stays */
    double state_bytes;        /* what the job must hold in memory; 0 = nothing is known about it */
    double rough_cny;          /* units of the day's currency in one CNY, about: bounds are in CNY */
    double month_scale;        /* on the index's bounds of a month, for other lengths of months and years: 1 at most */
    struct note_list unpriced; /* offers that would answer but say no price, one note a card */
    struct offer **offers;     /* cache of market_offer, open addressing by SKU number */
    uint8_t *provider_ok;      /* by provider number: 1 = in the request's city, 2 = anywhere; 0 = not allowed */
};

/* Fills in everything that is not given: caches, the providers allowed, rough_cny. -1: no memory. */
int market_open(struct market *m);
/* The same for a plan made of another on the same snapshot, which outlives it; from NULL: of none. */
int market_open_like(const struct market *from, struct market *m);

/* The SKUs that `from` has looked at are at hand in `to`, but for one that `to` takes another price of: for the same
 * day, currency and terms. */
void market_inherit(const struct market *from, struct market *to);

enum { MARKET_ANY_PROVIDER = (1 << PROVIDER_KIND_COUNT) - 1 };

struct market_query {
    const struct gpu *gpu;
    unsigned provider_kinds;         /* mask of 1 << enum provider_kind */
    int cards;                       /* cards wanted of one node; 0 = any */
    int nodes;                       /* sku.max_nodes at least this; 0 = any */
    bool data_stays;                 /* only where sensitive data may stay */
    bool any_city;                   /* the request's city does not bind this one (the far half of a pair) */
    bool serves;                     /* only where a service may run */
    const struct provider *provider; /* NULL = any */
    const char *user_class;          /* universities; NULL = not asked */
    bool off_peak;                   /* prices that hold off-peak only are welcome */
};

/* The cheapest usable offers that answer the query and the request's own constraints (city, gpus, providers): by the
 * month and by the hour in turn, no offer twice, at most `max` (<= MARKET_BEST_MAX). gpu must be given. Offers without
 * a usable price are left out and remembered in m->unpriced. */
size_t market_find(struct market *m, const struct market_query *q, const struct offer **ret, size_t max);

/* The least that a card of this GPU can cost a month and an hour (CNY, on any day) where the request lets it be rented;
 * INFINITY: nobody sells it so. */
void market_least(const struct market *m, size_t gpu, double *ret_month, double *ret_hour);

/* Remembers offers of cards that nobody prices at all; the query's GPU is not looked at. */
void market_note_unpriced(struct market *m, const struct market_query *q);

/* The SKU's usable rates on the day of the plan; NULL when it has none, or there is no memory. Cached: ask for one SKU
 * always alike. market_offer: off-peak prices count where a user class is given. */
const struct offer *market_offer(struct market *m, const struct sku *sku, const char *user_class);
const struct offer *market_offer_at(struct market *m, const struct sku *sku, const char *user_class, bool off_peak);

/* The request's own lists of GPUs and providers, and its city. */
bool market_gpu_allowed(const struct market *m, const struct gpu *gpu);
bool market_provider_allowed(const struct market *m, const struct provider *p, bool any_city);

/* The `max` SKUs of one provider whose card costs least at best, by the month or by the hour, of GPUs that the request
 * allows. Added to the n there are in *ret, which stays in order; returns how many there are then. */
size_t market_cheapest_of(const struct market *m, const struct provider *p, bool by_hour, const struct sku **ret,
                          size_t n, size_t max);

/* All SKUs of one provider, of GPUs that the request allows; of those that differ in nothing but seller and price
 * (market_alike) only the `each` that cost least at best, by the month or by the hour, this and that provider's
 * together. Added to the n there are in *ret; returns how many there are then, at most `max`. */
size_t market_cheapest_alike(const struct market *m, const struct provider *p, bool by_hour, size_t each,
                             const struct sku **ret, size_t n, size_t max);

/* The same machine under the same terms of use: only its seller and its price may differ. */
bool market_alike(const struct sku *a, const struct sku *b);

#endif
