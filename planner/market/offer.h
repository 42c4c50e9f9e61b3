/* offer.h — what one SKU costs on one day: its usable rates in the plan's currency, net of tax.
 *
 * Everything here follows from the snapshot and the day alone; which SKUs a request may have is market.h's.
 */
#ifndef SUANPAN_PLANNER_MARKET_OFFER_H
#define SUANPAN_PLANNER_MARKET_OFFER_H

#include "planner/core/assume.h"
#include "planner/core/catalog.h"

enum { OFFER_RATES_MAX = 12 };

/* What machines are compared by, whatever months and years a request reckons with: 30 days. */
enum { OFFER_MONTH_DAYS = 30, OFFER_MONTH_HOURS = 24 * OFFER_MONTH_DAYS };

/* Tax code of rented compute where nothing else is said (docs/plans.md). */
#define TAX_CODE_DEFAULT "service_6"

/* A price that a re-plan changes: every tariff of a SKU, or of a network. factor 0 = none. */
struct reprice {
    enum price_subject subject;
    const char *id;
    double factor;
};

struct costing_room;

/* The day that prices are read on, and the terms they are read by. */
struct trade_day {
    const struct catalog *catalog;
    const struct assume *a;
    date_t as_of;
    char currency[4]; /* of every amount */
    bool allow_spot;
    int64_t service_tax_bp; /* of TAX_CODE_DEFAULT */
    struct reprice reprice;
    struct costing_room *room; /* to reckon in (costing.h); NULL = none lent */
};

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

/* Fills in what follows from snapshot and day. */
void trade_day_open(struct trade_day *day);

/* The SKU's usable rates on the day, by the catalog's order; none where nobody prices it (ret->n_rates = 0).
 * user_class: whose prices count besides everybody's, NULL = nobody's; off_peak: prices that hold off-peak only are
 * welcome. */
void offer_make(const struct trade_day *day, const struct sku *sku, const char *user_class, bool off_peak,
                struct offer *ret);

/* Does anybody price this SKU on the day, whoever may have that price? In a currency without a rate nobody does. */
bool offer_priced(const struct trade_day *day, const struct sku *sku);

/* The least that one card costs a month, as a share of a node or by itself; micros. 0 = not sold so. */
double offer_card_month(const struct offer *o);

/* The least that one card costs an hour, spot included; micros. INFINITY: not sold by the hour. */
double offer_card_hour(const struct offer *o);

/* Does a node cost what its cards do, in every way of paying for it? Then a card that is rented alone may be one of a
 * node's later. */
bool offer_nodes_of_cards(const struct offer *o);

/* Whole machines that so many units take: nodes, or cards of a SKU that is sold by the card. */
int offer_machines(const struct offer *o, bool by_card, int units);

/* A price that is no SKU's (network, storage, egress, line, ...): net of tax, micros of the day's currency. Answers
 * `free_of_charge` rows with 0. -1 when there is none that can be used. */
int offer_unit_price(const struct trade_day *day, enum price_subject subject, const char *subject_id,
                     const struct provider *provider, enum price_unit unit, const struct price **ret_price,
                     int64_t *ret_micros);

/* What a dedicated line costs a month, by the Mbit/s or whole. false: nobody prices it. */
struct line_price {
    const struct price *price;
    enum price_unit unit;
    int64_t micros; /* of one unit */
};
bool offer_line_price(const struct trade_day *day, const struct dedicated_line *line, struct line_price *ret);

#endif
