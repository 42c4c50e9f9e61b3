/* ownership.c — see ownership.h. */
#include "planner/advice/ownership.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/money.h"
#include "planner/advice/follow.h"
#include "planner/drafting/build.h"

#define HOME_CURRENCY "CNY" /* of the assumptions below */

int ownership_terms_bind(const struct param_table *params, struct ownership_terms *ret, struct err *err)
{
    static const struct param_field fields[] = {
        PARAM_FIELD(struct ownership_terms, years, "own_years"),
        PARAM_FIELD(struct ownership_terms, month_hours, "month_hours"),
        PARAM_FIELD(struct ownership_terms, hosting_per_kw_month, "hosting_per_kw_month"),
        PARAM_FIELD(struct ownership_terms, power_per_kwh, "power_per_kwh"),
        PARAM_FIELD(struct ownership_terms, pue, "pue"),
        PARAM_FIELD(struct ownership_terms, server_overhead_share, "server_overhead_share"),
        PARAM_FIELD(struct ownership_terms, power_share_idle, "power_share_idle"),
        PARAM_FIELD(struct ownership_terms, maintenance_share, "maintenance_share"),
        PARAM_FIELD(struct ownership_terms, staff_share, "staff_share"),
        PARAM_FIELD(struct ownership_terms, engineer_per_year, "engineer_per_year"),
        PARAM_FIELD(struct ownership_terms, residual_share, "residual_share"),
        PARAM_FIELD(struct ownership_terms, utilisation, "own_utilisation"),
        PARAM_FIELD(struct ownership_terms, dates_apart_days, "own_dates_apart_days"),
    };
    return param_bind(params, fields, sizeof fields / sizeof *fields, ret, err);
}

static int add_line(double quantity, int64_t unit_micros, int64_t *sum)
{
    int64_t line;
    if (!isfinite(quantity) || fabs(quantity) > 1e12 ||
        money_line((int64_t)llround(quantity * 1000), unit_micros, &line) || money_add(*sum, line, sum))
        return -1;
    return 0;
}

static int64_t to_micros(double amount)
{
    return (int64_t)llround(amount * MONEY_MICROS);
}

/* Kilowatts of one server under full load: the cards and what stands around them. */
static double server_kw(const struct ownership_terms *t, const struct purchase_price *p)
{
    const double watts = p->gpu->tdp_w > 0 ? p->gpu->tdp_w : t->card_watts;
    return p->gpus_per_server * watts / 1000 * (1 + t->server_overhead_share);
}

enum { OWN_PURCHASE, OWN_MAINTENANCE, OWN_HOSTING, OWN_POWER, OWN_STAFF, OWN_PARTS };

/* In the currency of the purchase price: what is written off, repairs, the room, electricity, people. */
static int owned_parts(const struct ownership_terms *t, const struct purchase_price *p, int servers, double u,
                       int64_t ret[OWN_PARTS])
{
    const double months = t->years * 12, hours = months * t->month_hours, kw = server_kw(t, p) * servers;
    const double load = t->power_share_idle + (1 - t->power_share_idle) * u;
    memset(ret, 0, OWN_PARTS * sizeof *ret);
    if (add_line(servers * (1 - t->residual_share), p->micros, &ret[OWN_PURCHASE]) ||
        add_line(servers * t->maintenance_share * t->years, p->micros, &ret[OWN_MAINTENANCE]) ||
        add_line(kw * months, to_micros(t->hosting_per_kw_month), &ret[OWN_HOSTING]) ||
        add_line(kw * load * t->pue * hours, to_micros(t->power_per_kwh), &ret[OWN_POWER]) ||
        add_line(servers * t->staff_share * t->years, to_micros(t->engineer_per_year), &ret[OWN_STAFF]))
        return -1;
    return 0;
}

static int owned_at_home(const struct ownership_terms *t, const struct purchase_price *p, int servers, double u,
                         int64_t *ret)
{
    int64_t parts[OWN_PARTS], sum = 0;
    if (owned_parts(t, p, servers, u, parts))
        return -1;
    for (int i = 0; i < OWN_PARTS; i++)
        if (money_add(sum, parts[i], &sum))
            return -1;
    *ret = sum;
    return 0;
}

int ownership_owned(const struct ownership_terms *t, const struct purchase_price *p, int servers, double utilisation,
                    int64_t fx_micros, int64_t *ret_minor)
{
    int64_t home;
    if (owned_at_home(t, p, servers, utilisation, &home))
        return -1;
    return money_convert(home, fx_micros, ret_minor); /* any scale converts alike */
}

double ownership_rented(const struct ownership_terms *t, const struct ownership_rent *rent, int cards,
                        double utilisation)
{
    const double months = t->years * 12;
    double least = INFINITY;
    if (rent->hour > 0)
        least = rent->hour * utilisation * months * t->month_hours;
    if (rent->month > 0)
        least = fmin(least, rent->month * months);
    if (isinf(least) && rent->year > 0)
        least = rent->year * t->years;
    return least * cards;
}

double ownership_prepaid(const struct ownership_terms *t, const struct ownership_rent *rent, int cards)
{
    return rent->year > 0 ? rent->year * t->years * cards : INFINITY;
}

/* Of the three years, whatever the use; INFINITY where only hours are sold. */
static double rented_full(const struct ownership_terms *t, const struct ownership_rent *rent, int cards)
{
    struct ownership_rent whole = *rent;
    whole.hour = 0;
    return ownership_rented(t, &whole, cards, 1);
}

/* Owning is a straight line over utilisation, renting a line through the origin that turns flat: they meet on the
 * slope, or owning stays above. Where no hour is sold renting is flat from the start. */
double ownership_break_even(const struct ownership_terms *t, const struct ownership_rent *rent, int cards,
                            double owned_idle_minor, double owned_full_minor)
{
    const double slope = owned_full_minor - owned_idle_minor;
    const double hourly = rent->hour * t->years * 12 * t->month_hours * cards;
    const double flat = rented_full(t, rent, cards);
    if (hourly <= 0)
        return owned_idle_minor < flat ? 0 : NAN;
    if (hourly <= slope)
        return NAN;
    const double u = owned_idle_minor / (hourly - slope);
    return u <= 1 && hourly * u <= flat ? u : NAN;
}

double ownership_dearer_again(const struct ownership_terms *t, const struct ownership_rent *rent, int cards,
                              double owned_idle_minor, double owned_full_minor)
{
    const double flat = rented_full(t, rent, cards);
    if (owned_full_minor <= flat)
        return INFINITY;
    return (flat - owned_idle_minor) / (owned_full_minor - owned_idle_minor);
}

/* The rent and the quotes that it is: where it comes from, and of when. NULL: not sold that way. */
struct rent_quote {
    struct ownership_rent rent;
    const struct price *hour, *month, *year;
};

/* Cheapest way of paying for one card of this offer, per mode. Only what the customer would rent: no spot. */
static struct rent_quote rent_of(const struct offer *o)
{
    struct rent_quote q = {0};
    struct ownership_rent *rent = &q.rent;
    for (size_t i = 0; i < o->n_rates; i++) {
        const struct rate *r = &o->rates[i];
        const double term_days = r->mode == MODE_MONTHLY ? 30 : r->mode == MODE_ANNUAL ? 365 : 0;
        const double terms = r->days > 0 && term_days > 0 ? r->days / term_days : 1;
        const double permit = (double)r->unit_micros * (double)r->quantity_milli / 1e3 / 1e4 / terms;
        const double card = r->per_card ? permit : permit / o->sku->gpus_per_node;
        double *slot = r->mode == MODE_HOURLY    ? &rent->hour
                       : r->mode == MODE_MONTHLY ? &rent->month
                       : r->mode == MODE_ANNUAL  ? &rent->year
                                                 : NULL;
        const struct price **from = slot == &rent->hour ? &q.hour : slot == &rent->month ? &q.month : &q.year;
        if (slot && (*slot <= 0 || card < *slot)) {
            *slot = card;
            *from = r->price;
        }
    }
    return q;
}

static void say_quote(struct note_list *notes, const char *code, double card, const struct price *from)
{
    if (!from)
        return;
    struct note *n = note_money(note_add(notes, code), "price", (int64_t)llround(card));
    note_date(note_text(n, "source", from->source), "observed_on", from->observed_on);
}

/* What the rented side is made of, and whether both sides are of one market: prices of one card move by a third within
 * months, so a purchase and a rent of different seasons compare two markets. */
static void say_rent(const struct ownership_terms *t, const struct rent_quote *q, struct own_hardware *own)
{
    say_quote(&own->notes, "own_rent_hour", q->rent.hour, q->hour);
    say_quote(&own->notes, "own_rent_month", q->rent.month, q->month);
    if (!q->hour && !q->month)
        say_quote(&own->notes, "own_rent_year", q->rent.year, q->year);
    const struct price *of = q->month ? q->month : q->hour ? q->hour : q->year;
    if (!of || of->observed_on == DATE_NONE || own->purchase->observed_on == DATE_NONE)
        return;
    const int apart = abs(of->observed_on - own->purchase->observed_on);
    if (apart > t->dates_apart_days) {
        struct note *n = note_num(note_add(&own->notes, "own_dates_apart"), "days", apart);
        note_date(note_date(n, "bought_on", own->purchase->observed_on), "rented_on", of->observed_on);
    }
}

static const struct purchase_price *purchase_of(const struct catalog *c, const struct gpu *gpu)
{
    const struct purchase_price *newest = NULL;
    for (size_t i = 0; i < c->n_purchases; i++)
        if (c->purchases[i].gpu == gpu && (!newest || c->purchases[i].observed_on > newest->observed_on))
            newest = &c->purchases[i];
    return newest;
}

/* What the ratio is at full use for all the years, at both ends of the purchase price, and against years paid ahead. */
static int say_around(const struct ownership_terms *t, const struct ownership_rent *rent, int64_t fx, int64_t full,
                      struct own_hardware *own)
{
    const int cards = own->servers * own->purchase->gpus_per_server;
    const double by_month = ownership_rented(t, rent, cards, 1), prepaid = ownership_prepaid(t, rent, cards);
    struct purchase_price cheap = *own->purchase, dear = *own->purchase;
    int64_t low, high;
    cheap.micros = cheap.low_micros > 0 ? cheap.low_micros : cheap.micros;
    dear.micros = dear.high_micros > 0 ? dear.high_micros : dear.micros;
    if (ownership_owned(t, &cheap, own->servers, t->utilisation, fx, &low) ||
        ownership_owned(t, &dear, own->servers, t->utilisation, fx, &high))
        return -1;
    note_num(note_num(note_add(&own->notes, "own_full_use"), "ratio", (double)full / by_month), "years", t->years);
    if (low < high) {
        struct note *n =
            note_num(note_add(&own->notes, "own_price_range"), "low", (double)low / (double)own->equivalent_rental);
        note_num(n, "high", (double)high / (double)own->equivalent_rental);
    }
    if (isfinite(prepaid) && prepaid < by_month)
        note_num(note_num(note_add(&own->notes, "own_prepaid"), "ratio", (double)full / prepaid), "years", t->years);
    return 0;
}

/* What the three years are made of. */
static int say_parts(const struct ownership_terms *t, int64_t fx, struct own_hardware *own)
{
    static const char *const names[OWN_PARTS] = {"purchase", "maintenance", "hosting", "power", "staff"};
    int64_t parts[OWN_PARTS], minor;
    if (owned_parts(t, own->purchase, own->servers, t->utilisation, parts))
        return -1;
    struct note *n = note_add(&own->notes, "own_parts");
    for (int i = 0; i < OWN_PARTS; i++) {
        if (money_convert(parts[i], fx, &minor))
            return -1;
        note_money(n, names[i], minor);
    }
    return 0;
}

static void say_turn(const struct ownership_terms *t, struct own_hardware *own, double again)
{
    const double turn = own->break_even_utilisation;
    if (isnan(turn))
        note_num(note_add(&own->notes, "own_never_cheaper"), "years", t->years);
    else if (again < 1)
        note_percent(note_percent(note_add(&own->notes, "own_cheaper_between"), "from", turn), "to", again);
    else if (turn <= 0)
        note_num(note_add(&own->notes, "own_always_cheaper"), "years", t->years);
    else
        note_percent(note_add(&own->notes, "own_break_even"), "utilisation", turn);
}

/* The sums into *own; `rented` is minor units. */
static int compare(const struct ownership_terms *t, const struct ownership_rent *rent, int64_t fx,
                   struct own_hardware *own, struct err *err)
{
    int64_t idle, full;
    const int cards = own->servers * own->purchase->gpus_per_server;
    if (ownership_owned(t, own->purchase, own->servers, t->utilisation, fx, &own->three_year_cost) ||
        ownership_owned(t, own->purchase, own->servers, 0, fx, &idle) ||
        ownership_owned(t, own->purchase, own->servers, 1, fx, &full))
        return err_set(err, ERR_RANGE, "three-year cost leaves the range of money");
    const double rented = ownership_rented(t, rent, cards, t->utilisation);
    if (!isfinite(rented) || rented < 1 || rented > 9e18)
        return 0;
    own->known = true;
    own->utilisation = t->utilisation;
    own->equivalent_rental = (int64_t)llround(rented);
    own->ratio = (double)own->three_year_cost / (double)own->equivalent_rental;
    own->break_even_utilisation = ownership_break_even(t, rent, cards, (double)idle, (double)full);
    struct note *n = note_add(&own->notes, "own_hardware");
    note_num(n, "servers", own->servers);
    note_num(n, "cards", cards);
    note_text(n, "gpu", own->purchase->gpu->name);
    note_num(n, "ratio", own->ratio);
    note_percent(n, "utilisation", t->utilisation);
    note_text(n, "source", own->purchase->source);
    note_date(n, "observed_on", own->purchase->observed_on);
    if (say_parts(t, fx, own))
        return err_set(err, ERR_RANGE, "three-year cost leaves the range of money");
    say_turn(t, own, ownership_dearer_again(t, rent, cards, (double)idle, (double)full));
    return say_around(t, rent, fx, full, own) ? err_set(err, ERR_RANGE, "three-year cost leaves the range of money")
                                              : 0;
}

/* Rated power of a card that states none: its peak at what a card of its generation draws for it. 0 = not known. */
static double watts_assumed(const struct build *b, const struct gpu *gpu)
{
    char key[64];
    snprintf(key, sizeof key, "train.watts_per_tflop/%s", gpu_class_name(gpu->gpu_class));
    const struct param *p = param_find(&b->params, key);
    return p ? p->value * fmax(gpu->bf16_tflops, gpu->fp16_tflops) : 0;
}

/* The best option whose machine can be bought; the best of all where none can. Off-peak hours of a university are no
 * rental of the same power, so they are compared only where nothing else is. */
static const struct draft *pick(const struct catalog *c, const struct option_list *ranked)
{
    for (int campus = 0; campus < 2; campus++)
        for (size_t i = 0; i < ranked->n; i++) {
            const struct draft *d = ranked->items[i];
            if ((d->kind == KIND_UNIVERSITY_TIME) == (campus == 1) && d->n_groups > 0 &&
                purchase_of(c, d->groups[d->train_group].offer->sku->gpu))
                return d;
        }
    return ranked->n > 0 ? ranked->items[0] : NULL;
}

int ownership_build(struct build *b, const struct option_list *ranked, struct plan *plan, struct err *err)
{
    struct own_hardware own = {.break_even_utilisation = NAN, .ratio = NAN};
    struct ownership_terms terms;
    int64_t fx;
    date_t fx_on;
    if (ownership_terms_bind(&b->params, &terms, err))
        return -1;
    note_list_init(&own.notes, b->arena);
    const struct draft *d = pick(b->catalog, ranked);
    const struct draft_group *g = d && d->n_groups > 0 ? &d->groups[d->train_group] : NULL;
    const struct offer *offer = g ? g->offer : b->reserve.offer;
    if (!offer) {
        plan->own = own;
        return 0;
    }
    own.purchase = purchase_of(b->catalog, offer->sku->gpu);
    if (!own.purchase) {
        note_text(note_add(&own.notes, "own_price_unknown"), "gpu", offer->sku->gpu->name);
    } else if (catalog_fx(b->catalog, own.purchase->currency, b->day.currency, b->day.as_of, &fx, &fx_on) ||
               strcmp(own.purchase->currency, HOME_CURRENCY) != 0) {
        note_text(note_add(&own.notes, "own_currency_unknown"), "currency", own.purchase->currency);
    } else {
        const int cards = g ? (g->by_card ? g->cards : offer->sku->gpus_per_node) * g->units : b->reserve.sizing.gpus;
        const int per_server = own.purchase->gpus_per_server > 0 ? own.purchase->gpus_per_server : 1;
        own.servers = cards > 0 ? (cards + per_server - 1) / per_server : 1;
        const struct rent_quote quote = rent_of(offer);
        terms.card_watts = watts_assumed(b, own.purchase->gpu);
        if (compare(&terms, &quote.rent, fx, &own, err))
            return -1;
        if (own.known)
            say_rent(&terms, &quote, &own);
        if (own.known && !(own.purchase->gpu->tdp_w > 0))
            note_num(note_text(note_add(&own.notes, "own_power_assumed"), "gpu", own.purchase->gpu->name), "watts",
                     terms.card_watts);
        if (own.known && own.servers * per_server > cards)
            note_num(note_num(note_add(&own.notes, "own_whole_server"), "cards", cards), "bought",
                     own.servers * per_server);
    }
    plan->own = own;
    return 0;
}
