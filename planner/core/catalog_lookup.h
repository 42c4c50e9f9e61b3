/* catalog_lookup.h — the indexes behind a catalog's lookups; built by catalog_index.c, read by catalog.c only. */
#ifndef SUANPAN_PLANNER_CORE_CATALOG_LOOKUP_H
#define SUANPAN_PLANNER_CORE_CATALOG_LOOKUP_H

#include "planner/core/catalog.h"

#define GPU_KEY_MAX 96

/* Rows of one table by id. Every indexed struct begins with its `const char *id`. */
struct id_index {
    const void **rows;
    size_t n;
};

struct gpu_key {
    const char *key; /* as gpu_key_of makes it */
    const struct gpu *gpu;
};

/* Prices of one group, of something that is no SKU: prices[first .. end). */
struct price_group {
    size_t first, end; /* end = 0: an empty slot */
};

struct catalog_lookup {
    struct id_index gpus, models, providers, links, networks, storages, schedulers, skus;
    struct gpu_key *gpu_keys;
    size_t n_gpu_keys;
    size_t n_sku_prices;        /* prices[0 .. n_sku_prices) are of SKUs, the rest of other subjects */
    struct price_group *groups; /* open addressing by price_group_hash */
    size_t n_groups;            /* slots, a power of two */
    size_t *later;              /* for each price: the next one of its group that ends later, or n_prices */
};

static inline const char *row_id(const void *row)
{
    return *(const char *const *)row;
}

/* The letters and digits of a card's name that tell it from others, lower case. */
void gpu_key_of(const char *name, char out[GPU_KEY_MAX]);

/* Order of prices: of one group (everything but dates and terms) and in full. */
int price_group_compare(const struct price *a, const struct price *b);
/* Of everything that price_group_compare looks at where the subject is no SKU. */
size_t price_group_hash(const struct price *p);
int fx_compare(const struct fx_rate *a, const char *base, const char *quote);

#endif
