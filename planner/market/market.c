/* market.c — prices of the day in the plan's currency, net of tax, and the cheapest offers of a GPU. */
#include <math.h>
#include <string.h>

#include "base/money.h"
#include "planner/drafting/build.h"
#include "planner/offers/guess.h"

static bool in_force(const struct price *p, date_t on)
{
    return (p->effective_from == DATE_NONE || p->effective_from <= on) &&
           (p->effective_to == DATE_NONE || p->effective_to > on);
}

static bool usable(const struct price *p, date_t on)
{
    return in_force(p, on) && p->state != PRICE_QUOTE_ONLY && (p->micros > 0 || p->free_of_charge);
}

/* Quoted micros -> plan currency, net of tax. */
static int net_micros(const struct build *b, const struct price *p, int64_t tax_bp, int64_t *ret)
{
    int64_t micros = p->micros, rate;
    date_t rate_on;
    if (p->tax_included && money_net_of_tax(micros, tax_bp, &micros) != 0)
        return -1;
    if (catalog_fx(b->catalog, p->currency, b->currency, b->as_of, &rate, &rate_on) != 0)
        return -1;
    return money_convert(micros, rate, ret);
}

/* How many days one permit of this price covers and how many of its units that takes; -1: no way to rent. */
static int permit_of(const struct build *b, const struct price *p, int *ret_days, double *ret_units)
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
        *ret_days = (int)lround(b->a.month_days) * months;
        *ret_units = hour ? b->a.month_hours * months : months;
        return hour || month ? 0 : -1;
    }
    int months = p->term_months > 12 ? p->term_months : 12;
    *ret_days = (int)lround(b->a.year_days * months / 12);
    *ret_units = hour ? 24 * b->a.year_days * months / 12 : month ? months : months / 12.0;
    return hour || month || year ? 0 : -1;
}

static double spot_overhead(const struct build *b, const struct price *p)
{
    double per_h = p->spot_interruptions_per_h > 0 ? p->spot_interruptions_per_h : b->a.spot_interruptions_per_h;
    return per_h * (b->a.spot_checkpoint_hours / 2 + b->a.spot_restart_hours);
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

static void add_rate(struct build *b, struct offer *o, const struct price *p, bool per_card, int64_t micros)
{
    double units;
    struct rate r = {.price = p, .mode = p->mode, .per_card = per_card, .unit = p->unit, .unit_micros = micros};
    if (o->n_rates == OFFER_RATES_MAX || permit_of(b, p, &r.days, &units) != 0)
        return;
    bool card_quote = p->unit == UNIT_GPU_HOUR || p->unit == UNIT_GPU_MONTH || p->unit == UNIT_GPU_YEAR;
    double cards = card_quote && !per_card ? o->sku->gpus_per_node : 1;
    r.quantity_milli = llround(units * cards * 1000);
    r.granularity_milli_h = p->granularity_milli_h > 0 ? p->granularity_milli_h : 1000;
    r.spot_overhead = p->mode == MODE_SPOT ? spot_overhead(b, p) : 0;
    o->rates[o->n_rates++] = r;
    double month = (double)r.quantity_milli / 1000 * (double)micros * (r.days == 0 ? 720 : 30.0 / r.days);
    double *least = per_card ? &o->card_month_micros : &o->node_month_micros;
    *least = *least <= 0 ? month : fmin(*least, month);
    *(per_card ? &o->by_card : &o->by_node) = true;
}

static void take_price(struct build *b, struct offer *o, const struct price *p)
{
    bool card_quote = p->unit == UNIT_GPU_HOUR || p->unit == UNIT_GPU_MONTH || p->unit == UNIT_GPU_YEAR;
    int64_t micros;
    if (superseded(o, p) || (p->mode == MODE_SPOT && !b->workload->constraints.allow_spot) ||
        net_micros(b, p, o->tax_bp, &micros) != 0)
        return;
    size_t before = o->n_rates;
    add_rate(b, o, p, false, micros);
    if (card_quote && o->sku->sold_by_card)
        add_rate(b, o, p, true, micros);
    if (o->n_rates == before)
        return;
    o->illustrative |= p->state == PRICE_ILLUSTRATIVE;
    o->derived |= p->state == PRICE_DERIVED;
    o->stale |= p->observed_on != DATE_NONE && b->as_of - p->observed_on > (int)b->a.price_stale_days;
}

/* "" suits everybody; a class only its members; off-peak prices only who asked for them. */
static bool for_us(const struct price *p, const char *user_class, bool off_peak)
{
    const char *class = p->user_class != NULL ? p->user_class : "";
    if (p->off_peak_only && !off_peak)
        return false;
    return class[0] == '\0' || (user_class != NULL && strcmp(class, user_class) == 0);
}

static struct offer *offer_make(struct build *b, const struct sku *sku, const char *user_class, bool off_peak)
{
    struct offer *o = arena_alloc(b->arena, sizeof *o);
    if (o == NULL)
        return NULL;
    o->sku = sku;
    if (catalog_tax(b->catalog, sku->tax_code, b->as_of, &o->tax_bp) != 0)
        o->tax_bp = 0;
    for (size_t i = sku->first_price; i < sku->first_price + sku->n_prices; i++) {
        const struct price *p = &b->catalog->prices[i];
        if (usable(p, b->as_of) && for_us(p, user_class, off_peak))
            take_price(b, o, p);
    }
    return o;
}

const struct offer *market_offer_at(struct build *b, const struct sku *sku, const char *user_class, bool off_peak)
{
    uint32_t number = (uint32_t)(sku - b->catalog->skus);
    size_t at = (number * 2654435761u) % OFFER_CACHE_SIZE;
    for (size_t step = 0; step < OFFER_CACHE_SIZE / 2; step++) {
        struct offer **slot = &b->offers[(at + step) % OFFER_CACHE_SIZE];
        if (*slot == NULL)
            *slot = offer_make(b, sku, user_class, off_peak);
        if (*slot == NULL)
            return NULL;
        if ((*slot)->sku == sku)
            return (*slot)->n_rates > 0 ? *slot : NULL;
    }
    const struct offer *o = offer_make(b, sku, user_class, off_peak);
    return o != NULL && o->n_rates > 0 ? o : NULL;
}

const struct offer *market_offer(struct build *b, const struct sku *sku, const char *user_class)
{
    return market_offer_at(b, sku, user_class, user_class != NULL);
}

static bool listed(const char *const *items, size_t n, const char *id)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(items[i], id) == 0)
            return true;
    return n == 0;
}

bool market_gpu_allowed(const struct build *b, const struct gpu *gpu)
{
    const struct constraints *c = &b->workload->constraints;
    return listed((const char *const *)c->gpus, c->n_gpus, gpu->id);
}

int market_providers(struct build *b)
{
    const struct constraints *c = &b->workload->constraints;
    b->provider_ok = arena_alloc(b->arena, b->catalog->n_providers + 1);
    if (b->provider_ok == NULL)
        return -1;
    for (size_t i = 0; i < b->catalog->n_providers; i++) {
        const struct provider *p = &b->catalog->providers[i];
        bool here = c->city == NULL || (p->city != NULL && strcmp(p->city, c->city) == 0);
        if (listed((const char *const *)c->providers, c->n_providers, p->id) && !(p->abroad && c->n_providers == 0))
            b->provider_ok[i] = here ? 1 : 2;
    }
    return 0;
}

bool market_provider_allowed(const struct build *b, const struct provider *p, bool any_city)
{
    int ok = b->provider_ok[p - b->catalog->providers];
    return ok == 1 || (ok == 2 && any_city);
}

static bool answers(const struct build *b, const struct market_query *q, const struct sku *s)
{
    const struct provider *p = s->provider;
    if (!(q->provider_kinds & 1u << p->kind) || (q->provider != NULL && q->provider != p) ||
        (q->data_stays && !p->data_stays) || (q->serves && !p->serves))
        return false;
    if ((q->cards > 0 && s->gpus_per_node != q->cards && !(s->sold_by_card && s->gpus_per_node > q->cards)) ||
        (q->nodes > 0 && s->max_nodes < q->nodes))
        return false;
    return market_provider_allowed(b, p, q->any_city);
}

/* Remembers an offer that would answer but says no price; a few are named, the rest would be noise. */
static void miss_price(struct build *b, const struct sku *s)
{
    double machines = s->max_nodes > 1 ? s->max_nodes : 1;
    for (size_t i = s->first_price; i < s->first_price + s->n_prices; i++)
        if (usable(&b->catalog->prices[i], b->as_of))
            return; /* priced, but not for this request: spot, another class */
    if (b->trains && guess_state_bytes(b) > 4 * s->gpu->usable_gib * 1073741824.0 * s->gpus_per_node * machines)
        return; /* the job could not run there at any price */
    for (size_t i = 0; i < b->price_missing.n; i++)
        if (b->price_missing.items[i].args[2].text == s->gpu->name)
            return; /* one offer a card is named: more would be noise */
    if (b->price_missing.n >= PRICE_MISSING_MAX)
        return;
    struct note *n = note_text(note_add(&b->price_missing, "price_missing"), "sku", s->id);
    note_text(note_text(n, "provider", s->provider->id), "gpu", s->gpu->name);
}

static double least_of(const struct build *b, const uint32_t *order, const float *bound, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (market_provider_allowed(b, b->catalog->skus[order[i]].provider, false) &&
            (!b->data_at_home || b->catalog->skus[order[i]].provider->data_stays))
            return (double)bound[order[i]];
    return INFINITY;
}

void market_least(const struct build *b, size_t gpu, double *ret_month, double *ret_hour)
{
    const struct market_index *m = b->catalog->market;
    uint32_t from = m->first_of_gpu[gpu], to = m->first_of_gpu[gpu + 1];
    *ret_month = least_of(b, m->by_month, m->month_bound, from, to);
    *ret_hour = least_of(b, m->by_hour, m->hour_bound, from, to);
}

void market_note_unpriced(struct build *b, const struct market_query *q)
{
    const struct market_index *m = b->catalog->market;
    for (size_t g = 0; m != NULL && g < b->catalog->n_gpus; g++) {
        uint32_t first = m->first_of_gpu[g];
        if (first == m->first_of_gpu[g + 1] || !isinf(m->month_bound[m->by_month[first]]) ||
            !market_gpu_allowed(b, &b->catalog->gpus[g]))
            continue;
        for (uint32_t i = first; i < m->first_of_gpu[g + 1]; i++)
            if (answers(b, q, &b->catalog->skus[m->by_month[i]]))
                miss_price(b, &b->catalog->skus[m->by_month[i]]);
    }
}

static double card_month(const struct offer *o)
{
    double node = o->node_month_micros / o->sku->gpus_per_node;
    return !o->by_card ? node : !o->by_node ? o->card_month_micros : fmin(node, o->card_month_micros);
}

static double card_hour(const struct offer *o)
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

/* The best `max` (<= 8) of one order: walks SKUs by their bound until none of the rest can be better. */
static size_t best_of(struct build *b, const struct market_query *q, bool by_hour, const struct offer **best,
                      size_t max)
{
    const struct market_index *m = b->catalog->market;
    const uint32_t *order = by_hour ? m->by_hour : m->by_month;
    const float *bound = by_hour ? m->hour_bound : m->month_bound;
    size_t gpu = (size_t)(q->gpu - b->catalog->gpus), n = 0;
    double cost[MARKET_BEST_MAX], fx = b->rough_cny;
    max = max < MARKET_BEST_MAX ? max : MARKET_BEST_MAX;
    for (uint32_t i = m->first_of_gpu[gpu]; i < m->first_of_gpu[gpu + 1]; i++) {
        const struct sku *s = &b->catalog->skus[order[i]];
        /* A little less than the bound: rates are rounded on the way. Who has no such price stands at the end. */
        if (n == max && (double)bound[order[i]] * fx * 1e6 * 0.999 > cost[n - 1])
            break;
        if (by_hour && isinf(bound[order[i]]))
            break;
        if (!answers(b, q, s))
            continue;
        const struct offer *o = market_offer_at(b, s, q->user_class, q->off_peak);
        if (o == NULL) {
            miss_price(b, s);
            if (isinf(bound[order[i]]))
                break; /* the rest has no price either, and one of them is named */
            continue;
        }
        double c = by_hour ? card_hour(o) : card_month(o);
        size_t at = n;
        while (at > 0 && cost[at - 1] > c)
            at--;
        if (at == max || isinf(c))
            continue;
        n = n < max ? n + 1 : max;
        for (size_t j = n - 1; j > at; j--) {
            best[j] = best[j - 1];
            cost[j] = cost[j - 1];
        }
        best[at] = o;
        cost[at] = c;
    }
    return n;
}

size_t market_find(struct build *b, const struct market_query *q, const struct offer **ret, size_t max)
{
    const struct offer *orders[2][MARKET_BEST_MAX];
    size_t n[2], found = 0;
    if (b->catalog->market == NULL || q->gpu == NULL || !market_gpu_allowed(b, q->gpu))
        return 0;
    n[0] = best_of(b, q, false, orders[0], max);
    n[1] = best_of(b, q, true, orders[1], max);
    for (size_t i = 0; i < MARKET_BEST_MAX; i++)
        for (size_t k = 0; k < 2 && found < max; k++) {
            bool twice = i >= n[k];
            for (size_t j = 0; j < found && !twice; j++)
                twice = ret[j] == orders[k][i];
            if (!twice)
                ret[found++] = orders[k][i];
        }
    return found;
}

int market_unit_price(struct build *b, enum price_subject subject, const char *subject_id,
                      const struct provider *provider, enum price_unit unit, const struct price **ret_price,
                      int64_t *ret_micros)
{
    const struct price *p = catalog_price(b->catalog, subject, subject_id, provider, unit, b->as_of);
    int64_t tax_bp = 0, micros = 0;
    if (p == NULL || !usable(p, b->as_of))
        return -1;
    if (catalog_tax(b->catalog, TAX_CODE_DEFAULT, b->as_of, &tax_bp) != 0)
        tax_bp = 0;
    if (!p->free_of_charge && net_micros(b, p, tax_bp, &micros) != 0)
        return -1;
    *ret_price = p;
    *ret_micros = micros;
    return 0;
}

size_t market_cheapest_of(const struct build *b, const struct provider *p, bool by_hour, const struct sku **ret,
                          size_t n, size_t max)
{
    const struct market_index *m = b->catalog->market;
    const float *bound = m == NULL ? NULL : by_hour ? m->hour_bound : m->month_bound;
    if (m == NULL)
        return n;
    const uint32_t *first = &m->first_of_provider[p - b->catalog->providers];
    for (uint32_t i = first[0]; i < first[1]; i++) {
        const struct sku *s = &b->catalog->skus[m->by_provider[i]];
        const float least = bound[m->by_provider[i]];
        if (isinf(least) || !market_gpu_allowed(b, s->gpu) ||
            (n == max && least >= bound[ret[n - 1] - b->catalog->skus]))
            continue;
        size_t at = n < max ? n++ : max - 1;
        for (; at > 0 && bound[ret[at - 1] - b->catalog->skus] > least; at--)
            ret[at] = ret[at - 1];
        ret[at] = s;
    }
    return n;
}
