/* market_index.c — SKUs of each GPU in the order of what they can cost at best; made once per snapshot. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/market/market_index.h"
#include "planner/market/offer.h"

/* The least that one unit of a currency was ever worth in CNY. */
static double least_rate(const struct catalog *c, const char *currency)
{
    double least = INFINITY;
    if (strcmp(currency, "CNY") == 0)
        return 1;
    for (size_t i = 0; i < c->n_fx_rates; i++) {
        const struct fx_rate *r = &c->fx_rates[i];
        if (strcmp(r->base, currency) == 0 && strcmp(r->quote, "CNY") == 0)
            least = fmin(least, (double)r->rate_micros / 1e6);
        else if (strcmp(r->quote, currency) == 0 && strcmp(r->base, "CNY") == 0 && r->rate_micros > 0)
            least = fmin(least, 1e6 / (double)r->rate_micros);
    }
    return isinf(least) ? 0 : least;
}

/* The highest rate that this code ever had: what can be inside a price quoted with tax. */
static double most_tax(const struct catalog *c, const char *code)
{
    double most = 0;
    for (size_t i = 0; i < c->n_tax_codes; i++)
        if (strcmp(c->tax_codes[i].code, code) == 0)
            most = fmax(most, (double)c->tax_codes[i].rate_bp / 10000);
    return most;
}

/* 30 days' worth of what this price is per: as the permits of offer.c work it out. */
static double months_worth(const struct price *p)
{
    bool hour = p->unit == UNIT_GPU_HOUR || p->unit == UNIT_NODE_HOUR;
    bool year = p->unit == UNIT_GPU_YEAR || p->unit == UNIT_NODE_YEAR;
    if (hour)
        return OFFER_MONTH_HOURS;
    if (p->mode == MODE_ANNUAL)
        return (year ? 1 : 12) * (double)OFFER_MONTH_DAYS / 365;
    return year ? 1.0 / 12 : 1;
}

/* The least a card can cost a month or an hour by this row. */
static void bound_by(const struct catalog *c, const struct price *p, float *month, float *hour)
{
    if (p->state == PRICE_QUOTE_ONLY || (p->micros <= 0 && !p->free_of_charge))
        return;
    double cards = p->sku->gpus_per_node > 0 ? p->sku->gpus_per_node : 1;
    double amount = (double)p->micros / 1e6 * least_rate(c, p->currency) * months_worth(p);
    if (p->unit == UNIT_NODE_HOUR || p->unit == UNIT_NODE_MONTH || p->unit == UNIT_NODE_YEAR)
        amount /= cards;
    if (p->tax_included)
        amount /= 1 + most_tax(c, p->sku->tax_code);
    *month = fminf(*month, (float)amount);
    if (p->mode == MODE_HOURLY || p->mode == MODE_SPOT) /* spot: only asked where there is nothing else */
        *hour = fminf(*hour, (float)(amount / OFFER_MONTH_HOURS));
}

/* The month of a card by spot as a share of its month otherwise; 1: not sold by spot. */
static float spot_share(const struct catalog *c, const struct sku *s)
{
    float month[2] = {INFINITY, INFINITY}, hour = INFINITY;
    for (size_t p = s->first_price; p < s->first_price + s->n_prices; p++)
        bound_by(c, &c->prices[p], &month[c->prices[p].mode == MODE_SPOT], &hour);
    return isinf(month[1]) ? 1 : isinf(month[0]) ? 0 : fminf(1, month[1] / month[0]);
}

struct sort_key {
    uint32_t gpu, sku;
    float bound;
};

static int by_key(const void *a, const void *b)
{
    const struct sort_key *x = a, *y = b;
    if (x->gpu != y->gpu)
        return x->gpu < y->gpu ? -1 : 1;
    if (x->bound < y->bound || x->bound > y->bound)
        return x->bound < y->bound ? -1 : 1;
    return x->sku < y->sku ? -1 : x->sku > y->sku;
}

static void sort_into(const struct catalog *c, struct sort_key *keys, const float *bound, uint32_t *ret)
{
    for (size_t i = 0; i < c->n_skus; i++)
        keys[i] = (struct sort_key){(uint32_t)(c->skus[i].gpu - c->gpus), (uint32_t)i, bound[i]};
    if (c->n_skus > 0)
        qsort(keys, c->n_skus, sizeof *keys, by_key);
    for (size_t i = 0; i < c->n_skus; i++)
        ret[i] = keys[i].sku;
}

/* Counting sort; first_of_provider comes zeroed. */
static void group_by_provider(const struct catalog *c, struct market_index *m)
{
    for (size_t i = 0; i < c->n_skus; i++)
        m->first_of_provider[(c->skus[i].provider - c->providers) + 1]++;
    for (size_t p = 0; p < c->n_providers; p++)
        m->first_of_provider[p + 1] += m->first_of_provider[p];
    for (size_t i = c->n_skus; i-- > 0;)
        m->by_provider[--m->first_of_provider[(c->skus[i].provider - c->providers) + 1]] = (uint32_t)i;
    /* Each end was walked down to its group's beginning: one place to the left of where it is read. */
    memmove(m->first_of_provider, m->first_of_provider + 1, c->n_providers * sizeof *m->first_of_provider);
    m->first_of_provider[c->n_providers] = (uint32_t)c->n_skus;
}

int market_index_make(struct catalog *c, struct err *err)
{
    struct market_index *m = arena_alloc(c->arena, sizeof *m);
    struct sort_key *keys = malloc((c->n_skus + 1) * sizeof *keys);
    if (m != NULL) {
        m->by_month = arena_array(c->arena, c->n_skus + 1, sizeof *m->by_month);
        m->by_hour = arena_array(c->arena, c->n_skus + 1, sizeof *m->by_hour);
        m->first_of_gpu = arena_array(c->arena, c->n_gpus + 1, sizeof *m->first_of_gpu);
        m->by_provider = arena_array(c->arena, c->n_skus + 1, sizeof *m->by_provider);
        m->first_of_provider = arena_array(c->arena, c->n_providers + 1, sizeof *m->first_of_provider);
        m->month_bound = arena_array(c->arena, c->n_skus + 1, sizeof *m->month_bound);
        m->hour_bound = arena_array(c->arena, c->n_skus + 1, sizeof *m->hour_bound);
    }
    if (m == NULL || keys == NULL || arena_failed(c->arena)) {
        free(keys);
        return err_set(err, ERR_NOMEM, "no room to order %zu SKUs", c->n_skus);
    }
    m->spot_least_share = 1;
    for (size_t i = 0; i < c->n_skus; i++) {
        const struct sku *s = &c->skus[i];
        m->month_bound[i] = m->hour_bound[i] = INFINITY;
        for (int spot = 0; spot < 2 && isinf(m->month_bound[i]); spot++)
            for (size_t p = s->first_price; p < s->first_price + s->n_prices; p++)
                if ((c->prices[p].mode == MODE_SPOT) == (spot == 1))
                    bound_by(c, &c->prices[p], &m->month_bound[i], &m->hour_bound[i]);
        m->first_of_gpu[(s->gpu - c->gpus) + 1]++;
        m->spot_least_share = fminf(m->spot_least_share, spot_share(c, s));
    }
    for (size_t g = 0; g < c->n_gpus; g++)
        m->first_of_gpu[g + 1] += m->first_of_gpu[g];
    sort_into(c, keys, m->month_bound, m->by_month);
    sort_into(c, keys, m->hour_bound, m->by_hour);
    group_by_provider(c, m);
    free(keys);
    c->market = m;
    return 0;
}
