/* market.h — what can be rented on the day of the plan: SKUs with their prices in the plan's currency, net of tax.
 *
 * A SKU is looked at only when somebody asks for its GPU, cheapest first by an index made with the snapshot, so that
 * a plan touches a handful of price rows however many there are.
 */
#ifndef SUANPAN_PLANNER_MARKET_MARKET_H
#define SUANPAN_PLANNER_MARKET_MARKET_H

#include "planner/core/catalog.h"

struct build;
struct reserve_plan;

enum { OFFER_RATES_MAX = 12, OFFER_CACHE_SIZE = 1024, MARKET_BEST_MAX = 8, PRICE_MISSING_MAX = 6 };

/* Tax code of rented compute where nothing else is said (docs/plans.md). */
#define TAX_CODE_DEFAULT "service_6"

/* One way of paying for one unit (a whole node, or one card where the SKU is sold by the card). */
struct rate {
    const struct price *price;
    enum pricing_mode mode;
    bool per_card;          /* buys one card; otherwise one node (per-card quotes of whole nodes are multiplied) */
    int days;               /* what one permit covers; 0 = pay per hour (MODE_HOURLY, MODE_SPOT) */
    enum price_unit unit;   /* as quoted */
    int64_t unit_micros;    /* one `unit`, plan currency, net of tax */
    int64_t quantity_milli; /* units in one permit, or in one hour: 8 cards at a card-hour price = 8000 */
    int64_t granularity_milli_h;
    double spot_overhead; /* MODE_SPOT: share added to the hours */
};

struct offer {
    const struct sku *sku;
    int64_t tax_bp;
    struct rate rates[OFFER_RATES_MAX];
    size_t n_rates;
    bool by_node, by_card;                       /* there is a rate for a node / for a card */
    double node_month_micros, card_month_micros; /* cheapest full month of one; 0 = none */
    bool illustrative, derived, stale;           /* said of at least one rate */
};

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
 * month and by the hour in turn, no offer twice, at most `max`. gpu must be given. Offers without a usable price are
 * left out and remembered for `price_missing`. */
size_t market_find(struct build *b, const struct market_query *q, const struct offer **ret, size_t max);

/* The least that a card of this GPU can cost a month and an hour (CNY, on any day) where the request lets it be rented;
 * INFINITY: nobody sells it so. */
void market_least(const struct build *b, size_t gpu, double *ret_month, double *ret_hour);

/* Remembers offers of cards that nobody prices at all; the query's GPU is not looked at. */
void market_note_unpriced(struct build *b, const struct market_query *q);

/* The SKU's usable rates on the day of the plan; NULL when it has none. Cached: ask for one SKU always alike. */
const struct offer *market_offer(struct build *b, const struct sku *sku, const char *user_class);
const struct offer *market_offer_at(struct build *b, const struct sku *sku, const char *user_class, bool off_peak);

/* Which providers the request allows; made once per plan, before anything is asked of the market. */
int market_providers(struct build *b);

/* The request's own lists of GPUs and providers, and its city. */
bool market_gpu_allowed(const struct build *b, const struct gpu *gpu);
bool market_provider_allowed(const struct build *b, const struct provider *p, bool any_city);

/* A price that is no SKU's (network, storage, egress, line, ...): net of tax, plan currency. Answers `free_of_charge`
 * rows with 0. -1 when there is none that can be used. */
int market_unit_price(struct build *b, enum price_subject subject, const char *subject_id,
                      const struct provider *provider, enum price_unit unit, const struct price **ret_price,
                      int64_t *ret_micros);

/* Made once per snapshot by engine_bind: SKUs of each GPU, cheapest card first by the month and by the hour, whatever
 * the day (a lower bound of the price on any day). INFINITY: never sold that way. */
struct market_index {
    uint32_t *by_month, *by_hour;    /* SKU numbers, grouped by GPU as in catalog->gpus */
    uint32_t *first_of_gpu;          /* n_gpus + 1 offsets into both */
    uint32_t *by_provider;           /* SKU numbers, grouped by provider as in catalog->providers */
    uint32_t *first_of_provider;     /* n_providers + 1 offsets into it */
    float *month_bound, *hour_bound; /* of one card, by SKU number, in CNY */
};
int market_index_make(struct catalog *c, struct err *err);

/* The `max` SKUs of one provider whose card costs least at best, by the month or by the hour, of GPUs that the request
 * allows. Added to the n there are in *ret, which stays in order; returns how many there are then. */
size_t market_cheapest_of(const struct build *b, const struct provider *p, bool by_hour, const struct sku **ret,
                          size_t n, size_t max);

#endif
