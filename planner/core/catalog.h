/* catalog.h — an immutable snapshot of everything for sale, with its indexes.
 *
 * Filled by db/ from storage into one arena, then never written again; shared by reference count (db/snapshot.h).
 * Money and dates live here, physics does not. Unit prices are micros of `currency` exactly as quoted.
 */
#ifndef SUANPAN_PLANNER_CORE_CATALOG_H
#define SUANPAN_PLANNER_CORE_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/date.h"
#include "base/err.h"
#include "planner/core/hardware.h"
#include "planner/core/model.h"
#include "planner/core/params.h"

enum provider_kind {
    PROVIDER_LOCAL_IDC = 0,
    PROVIDER_PUBLIC_CLOUD,
    PROVIDER_MARKETPLACE,
    PROVIDER_HPC_CENTRE,
    PROVIDER_UNIVERSITY,
    PROVIDER_KIND_COUNT
};
enum pricing_mode { MODE_HOURLY = 0, MODE_MONTHLY, MODE_ANNUAL, MODE_SPOT, MODE_COUNT };
enum supply_form { FORM_BARE_METAL = 0, FORM_CONTAINER, FORM_MANAGED_MACHINE, FORM_CONTAINER_CLUSTER };
/* What a price says of itself; anything but PRICE_FIRM is told in every answer that uses it. */
enum price_state { PRICE_FIRM = 0, PRICE_ILLUSTRATIVE, PRICE_DERIVED, PRICE_QUOTE_ONLY };
/* What a price is per. */
enum price_unit {
    UNIT_GPU_HOUR = 0,
    UNIT_NODE_HOUR,
    UNIT_GPU_MONTH,
    UNIT_NODE_MONTH,
    UNIT_GPU_YEAR,
    UNIT_NODE_YEAR,
    UNIT_GB_MONTH,
    UNIT_GB,
    UNIT_MBPS_MONTH,
    UNIT_MONTH,
    UNIT_ONCE,
    UNIT_COUNT
};
/* What is priced. */
enum price_subject {
    SUBJECT_SKU = 0,
    SUBJECT_NETWORK,
    SUBJECT_STORAGE,
    SUBJECT_EGRESS,
    SUBJECT_LINE,
    SUBJECT_SOFTWARE,
    SUBJECT_OPERATIONS,
    SUBJECT_COUNT
};

/* Wire names ("local_idc", "gpu_hour", ...). Parsers return -1 on an unknown name. */
const char *provider_kind_name(enum provider_kind k);
const char *pricing_mode_name(enum pricing_mode m);
const char *supply_form_name(enum supply_form f);
const char *price_state_name(enum price_state s);
const char *price_unit_name(enum price_unit u);
const char *price_subject_name(enum price_subject s);
int provider_kind_parse(const char *name, enum provider_kind *ret);
int pricing_mode_parse(const char *name, enum pricing_mode *ret);
int supply_form_parse(const char *name, enum supply_form *ret);
int price_state_parse(const char *name, enum price_state *ret);
int price_unit_parse(const char *name, enum price_unit *ret);
int price_subject_parse(const char *name, enum price_subject *ret);

struct provider {
    const char *id, *name_zh, *name_en;
    enum provider_kind kind;
    const char *city;                /* "hefei", "shenzhen", "wuhan", or the region's own id ("northwest") */
    const char *place_zh, *place_en; /* "Hefei High-tech Zone" */
    const char *tier;          /* quality tier: key of the assumptions "tier_<tier>_..." (failure, support, setup) */
    const char *support_level; /* "business_hours", "24x7", "ticket" */
    bool data_stays;           /* sensitive data may stay here (local, single tenant) */
    bool serves;               /* may run inference service (universities: no) */
    bool abroad;               /* outside mainland China: only where a request names it */
    double queue_median_h, queue_p90_h; /* 0 = no queue */
    double job_cap_h;                   /* 0 = none */
    const char *note, *source, *source_date, *confidence;
};

struct link { /* intra-node links, for the catalog page */
    const char *id, *name;
    enum intra_link kind;
    double gb_s_one_way; /* per GPU, effective ceiling before efficiency */
    const char *note, *source, *source_date;
};

struct network { /* fabric between nodes, or a dedicated line */
    const char *id, *name_zh, *name_en;
    enum inter_link kind; /* INTER_NONE for a dedicated line between providers */
    double gbps_per_node;
    bool rdma, dedicated_line;
    const char *note, *source, *source_date;
};

struct storage {
    const char *id, *name_zh, *name_en;
    const char *system;           /* "nvme", "nfs", "lustre", "gpfs", "beegfs", "object" */
    bool parallel;                /* not a bottleneck for many nodes */
    bool local;                   /* in the node, included in its price */
    double read_gb_s, write_gb_s; /* of one mount or cluster, planning value */
    const char *note, *source, *source_date;
};

struct scheduler {
    const char *id, *name; /* "slurm", "kubernetes", "ray" */
    const char *note, *source, *source_date;
};

struct sku { /* one thing that can be rented */
    const char *id;
    const struct provider *provider;
    const char *region; /* as the provider names it */
    const struct gpu *gpu;
    int gpus_per_node; /* cards in one node; also what one node price buys */
    bool sold_by_card; /* fewer cards than a node can be rented */
    int max_nodes;     /* how many equal nodes can be had; 1 = no cluster */
    enum intra_link intra;
    const struct network *network; /* fabric included between nodes; NULL = none stated */
    bool bandwidth_dedicated;      /* of that fabric */
    enum supply_form form;
    double host_memory_gb, cpu_cores, nvme_gb;
    const char *tax_code; /* default "service_6" */
    const char *note, *source, *source_date, *confidence;
    /* index, set by catalog_index: prices[first_price .. first_price + n_prices) of this SKU, by mode, then user class
     * (everybody first), then newest first, then the shortest term */
    size_t first_price, n_prices;
};

struct price {
    const char *id; /* "pr_..." */
    enum price_subject subject;
    const struct sku *sku; /* SUBJECT_SKU */
    /* otherwise: id of the network, storage or dedicated line; provider id (egress); scheduler id (software); team
     * level "single_node", "slurm", "kubernetes", "expert" (operations) */
    const char *subject_id;
    const struct provider *provider; /* seller of a network, storage, egress, ... ; NULL = any */
    enum pricing_mode mode;
    int term_months; /* minimum term, 0 = none */
    char currency[4];
    enum price_unit unit;
    int64_t micros;      /* 0 only where state is PRICE_QUOTE_ONLY or `free` */
    int64_t micros_high; /* upper end where the source gives a range; 0 = none */
    bool free_of_charge; /* e.g. traffic included: a known 0 */
    bool tax_included;
    int64_t granularity_milli_h; /* hourly: billed in steps of; 1000 = whole hours */
    int64_t deposit_ppm;         /* of one unit price; cash needed, no cost */
    const char *user_class;      /* universities: "internal", "partner", "external"; "" = everybody */
    bool off_peak_only;
    date_t effective_from, effective_to; /* [from, to); DATE_NONE = open */
    date_t observed_on;
    enum price_state state;
    const char *rule;                /* PRICE_DERIVED: name of the rule ("monthly_share_of_hourly") */
    double spot_interruptions_per_h; /* MODE_SPOT */
    const char *source, *source_url, *confidence, *note;
};

struct fx_rate { /* 1 base = rate_micros / 1e6 quote */
    char base[4], quote[4];
    date_t on;
    int64_t rate_micros;
    const char *source;
};

struct tax_code {
    const char *code, *name_zh, *name_en;
    int64_t rate_bp;             /* 600 = 6 % */
    date_t valid_from, valid_to; /* [from, to), DATE_NONE = open */
    const char *source;
};

struct dedicated_line { /* a pair of providers with a line between them */
    const char *id;
    const struct provider *a, *b;
    const struct network *network;
    double gbps;
    const char *source, *source_date, *note;
};

struct purchase_price { /* buying the machine, for own_hardware */
    const struct gpu *gpu;
    int gpus_per_server;
    int64_t low_micros, micros, high_micros;
    char currency[4];
    date_t observed_on;
    const char *source, *confidence, *note;
};

struct gpu_alias {
    const char *alias; /* "a100-80g", "NVIDIA H100 80GB HBM3"; compared as catalog_gpu compares */
    const struct gpu *gpu;
};

struct catalog {
    struct arena *arena; /* owns everything below */
    int64_t revision;    /* grows with every change of the stored catalog */
    struct gpu *gpus;
    size_t n_gpus;
    struct gpu_alias *aliases;
    size_t n_aliases;
    struct model *models;
    size_t n_models;
    struct provider *providers;
    size_t n_providers;
    struct link *links;
    size_t n_links;
    struct network *networks;
    size_t n_networks;
    struct storage *storages;
    size_t n_storages;
    struct scheduler *schedulers;
    size_t n_schedulers;
    struct sku *skus;
    size_t n_skus;
    struct price *prices;
    size_t n_prices; /* grouped by SKU, see sku.first_price */
    struct fx_rate *fx_rates;
    size_t n_fx_rates;
    struct tax_code *tax_codes;
    size_t n_tax_codes;
    struct dedicated_line *lines;
    size_t n_lines;
    struct purchase_price *purchases;
    size_t n_purchases;
    struct param_table params;           /* assumptions and calibration, sorted by key */
    const void *training;                /* struct training_constants, bound by engine_bind (planner/offers/engine.h) */
    const void *serving;                 /* struct serving_constants */
    const void *market;                  /* struct market_index (planner/market/market_index.h), made by engine_bind */
    const struct catalog_lookup *lookup; /* set by catalog_index; lookups find nothing before */
};

/* Sorts and indexes after loading; every array but prices, rates, tax codes and params keeps its order, so pointers
 * into it stay good. ERR_CORRUPT names a dangling or duplicate row. */
int catalog_index(struct catalog *c, struct err *err);

/* NULL when there is none. `name` may be an id, a name or an alias; case, blanks and dashes do not matter, nor does a
 * maker's "NVIDIA", "GeForce" or "Tesla", nor "80GB" for "80G". */
const struct gpu *catalog_gpu(const struct catalog *c, const char *name);
const struct model *catalog_model(const struct catalog *c, const char *id);
const struct provider *catalog_provider(const struct catalog *c, const char *id);
const struct network *catalog_network(const struct catalog *c, const char *id);
const struct storage *catalog_storage(const struct catalog *c, const char *id);
const struct scheduler *catalog_scheduler(const struct catalog *c, const char *id);
const struct link *catalog_link(const struct catalog *c, const char *id);
const struct sku *catalog_sku(const struct catalog *c, const char *id);

/* The rate to use on `on`: the newest not after it; the inverse of the opposite pair where only that is known. 1:1 for
 * equal currencies. -1 when none is known. */
int catalog_fx(const struct catalog *c, const char *base, const char *quote, date_t on, int64_t *ret_rate_micros,
               date_t *ret_rate_on);
/* An amount or a price of one currency in another at that rate, rounded once: where only the opposite pair is known it
 * is divided by, for its inverse has fewer digits. -1 as catalog_fx, or past int64. */
int catalog_convert(const struct catalog *c, const char *base, const char *quote, date_t on, int64_t amount,
                    int64_t *ret);
/* Rate in basis points on the day; -1 when the code has none. */
int catalog_tax(const struct catalog *c, const char *code, date_t on, int64_t *ret_rate_bp);
/* The SKU's price of this mode in force on `on` (newest effective, of those the shortest term; quote_only rows are
 * returned too: check state). A row for `user_class` (NULL = "") is preferred to one for everybody. NULL when there is
 * none. */
const struct price *catalog_sku_price(const struct catalog *c, const struct sku *sku, enum pricing_mode mode,
                                      const char *user_class, date_t on);
/* Newest price of a subject (network, storage, egress, ...) at a provider in force on `on`; falls back to rows for any
 * provider (provider == NULL). `subject_id` NULL: the provider's own id. NULL when there is none. */
const struct price *catalog_price(const struct catalog *c, enum price_subject subject, const char *subject_id,
                                  const struct provider *provider, enum price_unit unit, date_t on);

#endif
