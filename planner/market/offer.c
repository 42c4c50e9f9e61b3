/* offer.c — see offer.h. */
#include "planner/market/offer.h"

#include <math.h>
#include <string.h>

#include "base/money.h"

static bool in_force(const struct price *p, date_t on)
{
    return (p->effective_from == DATE_NONE || p->effective_from <= on) &&
           (p->effective_to == DATE_NONE || p->effective_to > on);
}

static bool usable(const struct price *p, date_t on)
{
    return in_force(p, on) && p->state != PRICE_QUOTE_ONLY && (p->micros > 0 || p->free_of_charge);
}

/* A re-plan may ask what another price would change. */
static int64_t repriced(const struct reprice *r, const struct price *p, int64_t micros)
{
    if (!(r->factor > 0) || p->subject != r->subject)
        return micros;
    const char *id = p->sku != NULL ? p->sku->id : p->subject_id;
    return id != NULL && strcmp(id, r->id) == 0 ? llround((double)micros * r->factor) : micros;
}

/* Quoted micros -> plan currency, net of tax. */
static int net_micros(const struct trade_day *day, const struct price *p, int64_t tax_bp, int64_t *ret)
{
    int64_t micros = p->micros;
    if (p->tax_included && money_net_of_tax(micros, tax_bp, &micros) != 0)
        return -1;
    if (catalog_convert(day->catalog, p->currency, day->currency, day->as_of, micros, &micros) != 0)
        return -1;
    *ret = repriced(&day->reprice, p, micros);
    return 0;
}

/* How many days one permit of this price covers and how many of its units that takes; -1: no way to rent. */
static int permit_of(const struct trade_day *day, const struct price *p, int *ret_days, double *ret_units)
{
    bool hour = p->unit == UNIT_GPU_HOUR || p->unit == UNIT_NODE_HOUR;
    bool month = p->unit == UNIT_GPU_MONTH || p->unit == UNIT_NODE_MONTH;
    bool year = p->unit == UNIT_GPU_YEAR || p->unit == UNIT_NODE_YEAR;
    if (p->mode == MODE_HOURLY || p->mode == MODE_SPOT) {
        *ret_days = 0;
        *ret_units = 1;
        return hour ? 0 : -1;
    }
    if (p->mode == MODE_MONTHLY) {
        int months = p->term_months > 1 ? p->term_months : 1;
        *ret_days = (int)lround(day->a->month_days) * months;
        *ret_units = hour ? day->a->month_hours * months : months;
        return hour || month ? 0 : -1;
    }
    int months = p->term_months > 12 ? p->term_months : 12;
    *ret_days = (int)lround(day->a->year_days * months / 12);
    *ret_units = hour ? 24 * day->a->year_days * months / 12 : month ? months : months / 12.0;
    return hour || month || year ? 0 : -1;
}

static double spot_overhead(const struct trade_day *day, const struct price *p)
{
    double per_h = p->spot_interruptions_per_h > 0 ? p->spot_interruptions_per_h : day->a->spot_interruptions_per_h;
    return per_h * (day->a->spot_checkpoint_hours / 2 + day->a->spot_restart_hours);
}

/* The newest row of one mode, unit and term stands for the older ones. */
static bool superseded(const struct offer *o, const struct price *p)
{
    for (size_t i = 0; i < o->n_rates; i++) {
        const struct price *q = o->rates[i].price;
        if (q->mode == p->mode && q->unit == p->unit && q->term_months == p->term_months &&
            q->off_peak_only == p->off_peak_only)
            return true;
    }
    return false;
}

static void add_rate(const struct trade_day *day, struct offer *o, const struct price *p, bool per_card, int64_t micros)
{
    double units;
    struct rate r = {.price = p, .mode = p->mode, .per_card = per_card, .unit = p->unit, .unit_micros = micros};
    if (o->n_rates == OFFER_RATES_MAX || permit_of(day, p, &r.days, &units) != 0)
        return;
    bool card_quote = p->unit == UNIT_GPU_HOUR || p->unit == UNIT_GPU_MONTH || p->unit == UNIT_GPU_YEAR;
    double cards = card_quote && !per_card ? o->sku->gpus_per_node : 1;
    r.quantity_milli = llround(units * cards * 1000);
    r.granularity_milli_h = p->granularity_milli_h > 0 ? p->granularity_milli_h : 1000;
    r.spot_overhead = p->mode == MODE_SPOT ? spot_overhead(day, p) : 0;
    o->rates[o->n_rates++] = r;
    double month = (double)r.quantity_milli / 1000 * (double)micros *
                   (r.days == 0 ? OFFER_MONTH_HOURS : (double)OFFER_MONTH_DAYS / r.days);
    double *least = per_card ? &o->card_month_micros : &o->node_month_micros;
    *least = *least <= 0 ? month : fmin(*least, month);
    *(per_card ? &o->by_card : &o->by_node) = true;
}

static void take_price(const struct trade_day *day, struct offer *o, const struct price *p)
{
    bool card_quote = p->unit == UNIT_GPU_HOUR || p->unit == UNIT_GPU_MONTH || p->unit == UNIT_GPU_YEAR;
    int64_t micros;
    if (superseded(o, p) || (p->mode == MODE_SPOT && !day->allow_spot) || net_micros(day, p, o->tax_bp, &micros) != 0)
        return;
    size_t before = o->n_rates;
    add_rate(day, o, p, false, micros);
    if (card_quote && o->sku->sold_by_card)
        add_rate(day, o, p, true, micros);
    if (o->n_rates == before)
        return;
    o->illustrative |= p->state == PRICE_ILLUSTRATIVE;
    o->derived |= p->state == PRICE_DERIVED;
    o->stale |= p->observed_on != DATE_NONE && day->as_of - p->observed_on > (int)day->a->price_stale_days;
}

/* "" suits everybody; a class only its members; off-peak prices only who asked for them. */
static bool for_us(const struct price *p, const char *user_class, bool off_peak)
{
    const char *class = p->user_class != NULL ? p->user_class : "";
    if (p->off_peak_only && !off_peak)
        return false;
    return class[0] == '\0' || (user_class != NULL && strcmp(class, user_class) == 0);
}

void trade_day_open(struct trade_day *day)
{
    if (catalog_tax(day->catalog, TAX_CODE_DEFAULT, day->as_of, &day->service_tax_bp) != 0)
        day->service_tax_bp = 0;
}

void offer_make(const struct trade_day *day, const struct sku *sku, const char *user_class, bool off_peak,
                struct offer *ret)
{
    *ret = (struct offer){.sku = sku};
    if (catalog_tax(day->catalog, sku->tax_code, day->as_of, &ret->tax_bp) != 0)
        ret->tax_bp = 0;
    for (size_t i = sku->first_price; i < sku->first_price + sku->n_prices; i++) {
        const struct price *p = &day->catalog->prices[i];
        if (usable(p, day->as_of) && for_us(p, user_class, off_peak))
            take_price(day, ret, p);
    }
}

bool offer_priced(const struct trade_day *day, const struct sku *sku)
{
    int64_t micros;
    for (size_t i = sku->first_price; i < sku->first_price + sku->n_prices; i++)
        if (usable(&day->catalog->prices[i], day->as_of) && net_micros(day, &day->catalog->prices[i], 0, &micros) == 0)
            return true;
    return false;
}

double offer_card_month(const struct offer *o)
{
    double node = o->node_month_micros / o->sku->gpus_per_node;
    return !o->by_card ? node : !o->by_node ? o->card_month_micros : fmin(node, o->card_month_micros);
}

double offer_card_hour(const struct offer *o)
{
    double least = INFINITY;
    for (size_t i = 0; i < o->n_rates; i++) {
        const struct rate *r = &o->rates[i];
        if (r->days == 0)
            least = fmin(least, (double)r->quantity_milli * (double)r->unit_micros /
                                    (r->per_card ? 1000.0 : 1000.0 * o->sku->gpus_per_node));
    }
    return least;
}

int offer_unit_price(const struct trade_day *day, enum price_subject subject, const char *subject_id,
                     const struct provider *provider, enum price_unit unit, const struct price **ret_price,
                     int64_t *ret_micros)
{
    const struct price *p = catalog_price(day->catalog, subject, subject_id, provider, unit, day->as_of);
    int64_t micros = 0;
    if (p == NULL || !usable(p, day->as_of))
        return -1;
    if (!p->free_of_charge && net_micros(day, p, day->service_tax_bp, &micros) != 0)
        return -1;
    *ret_price = p;
    *ret_micros = micros;
    return 0;
}

bool offer_nodes_of_cards(const struct offer *o)
{
    size_t nodes = 0;
    for (size_t i = 0; i < o->n_rates; i++) {
        const struct rate *r = &o->rates[i], *next = i + 1 < o->n_rates ? &o->rates[i + 1] : NULL;
        nodes += !r->per_card;
        if (!r->per_card && (next == NULL || !next->per_card || next->price != r->price))
            return false;
    }
    return nodes > 0;
}

int offer_machines(const struct offer *o, bool by_card, int units)
{
    const int node = o->sku->gpus_per_node;
    return by_card ? (units + node - 1) / node : units;
}

bool offer_line_price(const struct trade_day *day, const struct dedicated_line *line, struct line_price *ret)
{
    static const enum price_unit units[] = {UNIT_MBPS_MONTH, UNIT_MONTH};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        ret->unit = units[i];
        if (offer_unit_price(day, SUBJECT_LINE, line->id, NULL, units[i], &ret->price, &ret->micros) == 0)
            return true;
    }
    return false;
}
