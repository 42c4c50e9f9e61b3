/* catalog.c — every lookup a request makes: binary searches over what catalog_index sorted. */
#include "planner/core/catalog.h"

#include <string.h>

#include "base/money.h"
#include "planner/core/catalog_lookup.h"

static const void *find_id(const struct id_index *index, const char *id)
{
    size_t lo = 0, hi = index->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = strcmp(row_id(index->rows[mid]), id);
        if (c == 0)
            return index->rows[mid];
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

#define LOOKUP(type, table)                                                                                            \
    const struct type *catalog_##type(const struct catalog *c, const char *id)                                         \
    {                                                                                                                  \
        return c->lookup == NULL || id == NULL ? NULL : find_id(&c->lookup->table, id);                                \
    }

LOOKUP(model, models)
LOOKUP(provider, providers)
LOOKUP(link, links)
LOOKUP(network, networks)
LOOKUP(storage, storages)
LOOKUP(scheduler, schedulers)
LOOKUP(sku, skus)

const struct gpu *catalog_gpu(const struct catalog *c, const char *name)
{
    if (c->lookup == NULL || name == NULL)
        return NULL;
    const struct gpu *gpu = find_id(&c->lookup->gpus, name);
    if (gpu != NULL)
        return gpu;
    char key[GPU_KEY_MAX];
    gpu_key_of(name, key);
    size_t lo = 0, hi = c->lookup->n_gpu_keys;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int order = strcmp(c->lookup->gpu_keys[mid].key, key);
        if (order == 0)
            return c->lookup->gpu_keys[mid].gpu;
        if (order < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

/* The newest rate of the pair on or before the day. */
static const struct fx_rate *find_rate(const struct catalog *c, const char *base, const char *quote, date_t on)
{
    size_t lo = 0, hi = c->n_fx_rates;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int order = fx_compare(&c->fx_rates[mid], base, quote);
        if (order < 0 || (order == 0 && c->fx_rates[mid].on > on))
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == c->n_fx_rates || fx_compare(&c->fx_rates[lo], base, quote) != 0)
        return NULL;
    return &c->fx_rates[lo];
}

int catalog_fx(const struct catalog *c, const char *base, const char *quote, date_t on, int64_t *ret_rate_micros,
               date_t *ret_rate_on)
{
    if (strcmp(base, quote) == 0) {
        *ret_rate_micros = MONEY_MICROS;
        *ret_rate_on = on;
        return 0;
    }
    const struct fx_rate *rate = find_rate(c, base, quote, on);
    if (rate != NULL && rate->rate_micros > 0) {
        *ret_rate_micros = rate->rate_micros;
        *ret_rate_on = rate->on;
        return 0;
    }
    rate = find_rate(c, quote, base, on);
    if (rate == NULL || rate->rate_micros <= 0)
        return -1;
    *ret_rate_micros = money_div_round((money_wide)MONEY_MICROS * MONEY_MICROS, rate->rate_micros);
    *ret_rate_on = rate->on;
    return *ret_rate_micros > 0 ? 0 : -1;
}

int catalog_convert(const struct catalog *c, const char *base, const char *quote, date_t on, int64_t amount,
                    int64_t *ret)
{
    const struct fx_rate *rate;
    int64_t times = MONEY_MICROS, by = MONEY_MICROS;
    if (strcmp(base, quote) == 0)
        times = by;
    else if ((rate = find_rate(c, base, quote, on)) != NULL && rate->rate_micros > 0)
        times = rate->rate_micros;
    else if ((rate = find_rate(c, quote, base, on)) != NULL && rate->rate_micros > 0)
        by = rate->rate_micros;
    else
        return -1;
    const money_wide product = (money_wide)amount * times;
    if (product / by >= INT64_MAX || product / by <= INT64_MIN)
        return -1;
    *ret = money_div_round(product, by);
    return 0;
}

int catalog_tax(const struct catalog *c, const char *code, date_t on, int64_t *ret_rate_bp)
{
    if (code == NULL)
        return -1;
    size_t lo = 0, hi = c->n_tax_codes;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int order = strcmp(c->tax_codes[mid].code, code);
        if (order < 0 || (order == 0 && c->tax_codes[mid].valid_from > on))
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < c->n_tax_codes && strcmp(c->tax_codes[lo].code, code) == 0; lo++)
        if (c->tax_codes[lo].valid_to == DATE_NONE || c->tax_codes[lo].valid_to > on) {
            *ret_rate_bp = c->tax_codes[lo].rate_bp;
            return 0;
        }
    return -1;
}

/* In the sorted prices [lo, hi): the first row of `wanted`'s group that has begun and not ended on the day. */
static const struct price *find_price(const struct catalog *c, size_t lo, size_t hi, const struct price *wanted,
                                      date_t on)
{
    size_t end = hi;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int order = price_group_compare(&c->prices[mid], wanted);
        if (order < 0 || (order == 0 && c->prices[mid].effective_from > on))
            lo = mid + 1;
        else
            hi = mid;
    }
    while (lo < end && price_group_compare(&c->prices[lo], wanted) == 0) {
        const struct price *p = &c->prices[lo];
        if (p->effective_to == DATE_NONE || p->effective_to > on)
            return p;
        lo = c->lookup->later[lo];
    }
    return NULL;
}

const struct price *catalog_sku_price(const struct catalog *c, const struct sku *sku, enum pricing_mode mode,
                                      const char *user_class, date_t on)
{
    if (c->lookup == NULL || sku == NULL || sku->n_prices == 0)
        return NULL;
    size_t lo = sku->first_price, hi = lo + sku->n_prices;
    struct price wanted = {.subject = SUBJECT_SKU, .sku = sku, .mode = mode, .user_class = user_class};
    const struct price *found = find_price(c, lo, hi, &wanted, on);
    if (found == NULL && user_class != NULL && user_class[0] != '\0') {
        wanted.user_class = "";
        found = find_price(c, lo, hi, &wanted, on);
    }
    return found;
}

/* The row of this group that has begun and not ended on the day. */
static const struct price *group_price(const struct catalog *c, const struct price *wanted, date_t on)
{
    const struct catalog_lookup *l = c->lookup;
    const struct price_group *g;
    for (size_t at = price_group_hash(wanted);; at++) {
        g = &l->groups[at & (l->n_groups - 1)];
        if (g->end == 0)
            return NULL;
        if (price_group_compare(&c->prices[g->first], wanted) == 0)
            break;
    }
    size_t lo = g->first, hi = g->end;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (c->prices[mid].effective_from > on)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < g->end; lo = l->later[lo])
        if (c->prices[lo].effective_to == DATE_NONE || c->prices[lo].effective_to > on)
            return &c->prices[lo];
    return NULL;
}

const struct price *catalog_price(const struct catalog *c, enum price_subject subject, const char *subject_id,
                                  const struct provider *provider, enum price_unit unit, date_t on)
{
    if (subject_id == NULL)
        subject_id = provider != NULL ? provider->id : "";
    if (c->lookup == NULL || subject == SUBJECT_SKU)
        return NULL;
    struct price wanted = {.subject = subject, .subject_id = subject_id, .provider = provider, .unit = unit};
    const struct price *found = group_price(c, &wanted, on);
    if (found == NULL && provider != NULL) {
        wanted.provider = NULL;
        found = group_price(c, &wanted, on);
    }
    return found;
}
