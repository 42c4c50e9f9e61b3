/* catalog_read.h — the collections of the catalog as the API shows them. */
#ifndef SUANPAN_API_CATALOG_READ_H
#define SUANPAN_API_CATALOG_READ_H

#include "api/encode.h"

#define COLLECTION_ID_MAX 128

struct collection {
    const char *name; /* "gpus" */
    size_t (*count)(const struct catalog *c);
    void (*id)(const struct catalog *c, size_t i, char out[COLLECTION_ID_MAX]);
    void (*encode)(struct encode *e, size_t i); /* one object */
    /* The item's value for a filter; NULL where it has none. `filters` names the known ones, NULL-terminated. */
    const char *(*attribute)(const struct catalog *c, size_t i, const char *filter);
    const char *const *filters;
};

extern const struct collection collection_models, collection_gpus, collection_links, collection_providers,
    collection_networks, collection_storages, collection_schedulers, collection_skus, collection_prices,
    collection_fx_rates, collection_assumptions, collection_tax_codes, collection_lines;

#endif
