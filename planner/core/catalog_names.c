/* catalog_names.c — wire names of the catalog's enums. */
#include "planner/core/catalog.h"
#include "planner/core/names.h"

static const char *const PROVIDERS[PROVIDER_KIND_COUNT] = {
    [PROVIDER_LOCAL_IDC] = "local_idc",     [PROVIDER_PUBLIC_CLOUD] = "public_cloud",
    [PROVIDER_MARKETPLACE] = "marketplace", [PROVIDER_HPC_CENTRE] = "hpc_centre",
    [PROVIDER_UNIVERSITY] = "university",
};
static const char *const MODES[MODE_COUNT] = {
    [MODE_HOURLY] = "hourly",
    [MODE_MONTHLY] = "monthly",
    [MODE_ANNUAL] = "annual",
    [MODE_SPOT] = "spot",
};
static const char *const FORMS[] = {
    [FORM_BARE_METAL] = "bare_metal",
    [FORM_CONTAINER] = "container",
    [FORM_MANAGED_MACHINE] = "managed_machine",
    [FORM_CONTAINER_CLUSTER] = "container_cluster",
};
static const char *const STATES[] = {
    [PRICE_FIRM] = "firm",
    [PRICE_ILLUSTRATIVE] = "illustrative",
    [PRICE_DERIVED] = "derived",
    [PRICE_QUOTE_ONLY] = "quote_only",
};
static const char *const UNITS[UNIT_COUNT] = {
    [UNIT_GPU_HOUR] = "gpu_hour",
    [UNIT_NODE_HOUR] = "node_hour",
    [UNIT_GPU_MONTH] = "gpu_month",
    [UNIT_NODE_MONTH] = "node_month",
    [UNIT_GPU_YEAR] = "gpu_year",
    [UNIT_NODE_YEAR] = "node_year",
    [UNIT_GB_MONTH] = "gb_month",
    [UNIT_GB] = "gb",
    [UNIT_MBPS_MONTH] = "mbps_month",
    [UNIT_MONTH] = "month",
    [UNIT_ONCE] = "once",
};
static const char *const SUBJECTS[SUBJECT_COUNT] = {
    [SUBJECT_SKU] = "sku",
    [SUBJECT_NETWORK] = "network",
    [SUBJECT_STORAGE] = "storage",
    [SUBJECT_EGRESS] = "egress",
    [SUBJECT_LINE] = "line",
    [SUBJECT_SOFTWARE] = "software",
    [SUBJECT_OPERATIONS] = "operations",
};

/* Both directions of one table. */
#define NAMED(type, function, table)                                                                                   \
    const char *function##_name(enum type v)                                                                           \
    {                                                                                                                  \
        return names_get(table, sizeof table / sizeof *table, (int)v);                                                 \
    }                                                                                                                  \
    int function##_parse(const char *name, enum type *ret)                                                             \
    {                                                                                                                  \
        int v;                                                                                                         \
        if (names_parse(table, sizeof table / sizeof *table, name, &v) != 0)                                           \
            return -1;                                                                                                 \
        *ret = (enum type)v;                                                                                           \
        return 0;                                                                                                      \
    }

NAMED(provider_kind, provider_kind, PROVIDERS)
NAMED(pricing_mode, pricing_mode, MODES)
NAMED(supply_form, supply_form, FORMS)
NAMED(price_state, price_state, STATES)
NAMED(price_unit, price_unit, UNITS)
NAMED(price_subject, price_subject, SUBJECTS)
