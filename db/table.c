/* table.c — the descriptions of all tables. Keep each in the order of its CREATE TABLE. */
#include "db/table.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(enum provider_kind) == sizeof(int), "enum columns are read as int-sized storage");
static_assert(sizeof(enum tri) == sizeof(int), "enum columns are read as int-sized storage");

#define CODEC(tag, type, parser, namer)                                                                                \
    static int tag##_parse(const char *name, void *ret)                                                                \
    {                                                                                                                  \
        return parser(name, (enum type *)ret);                                                                         \
    }                                                                                                                  \
    static const char *tag##_name(const void *value)                                                                   \
    {                                                                                                                  \
        return namer(*(const enum type *)value);                                                                       \
    }                                                                                                                  \
    static const struct enum_codec tag = {tag##_parse, tag##_name}

/* '' is a value of these four: not stated, none. */
static int tri_from(const char *name, enum tri *ret)
{
    if (name[0] == '\0')
        *ret = TRI_UNSTATED;
    else if (strcmp(name, "yes") == 0)
        *ret = TRI_YES;
    else if (strcmp(name, "no") == 0)
        *ret = TRI_NO;
    else
        return -1;
    return 0;
}

static const char *tri_text(enum tri t)
{
    return t == TRI_YES ? "yes" : t == TRI_NO ? "no" : "";
}

static int ffn_from(const char *name, enum ffn_kind *ret)
{
    if (name[0] == '\0')
        *ret = FFN_UNSTATED;
    else if (strcmp(name, "gated") == 0)
        *ret = FFN_GATED;
    else if (strcmp(name, "plain") == 0)
        *ret = FFN_PLAIN;
    else
        return -1;
    return 0;
}

static const char *ffn_text(enum ffn_kind k)
{
    return k == FFN_GATED ? "gated" : k == FFN_PLAIN ? "plain" : "";
}

static int intra_from(const char *name, enum intra_link *ret)
{
    if (name[0] == '\0' || strcmp(name, "none") == 0) {
        *ret = name[0] == '\0' ? INTRA_UNSTATED : INTRA_NONE;
        return 0;
    }
    return intra_link_parse(name, ret);
}

static const char *intra_text(enum intra_link l)
{
    return l == INTRA_NONE ? "none" : l == INTRA_UNSTATED ? "" : intra_link_name(l);
}

static int inter_from(const char *name, enum inter_link *ret)
{
    if (name[0] == '\0') {
        *ret = INTER_NONE;
        return 0;
    }
    return inter_link_parse(name, ret);
}

static const char *inter_text(enum inter_link l)
{
    return l == INTER_NONE ? "" : inter_link_name(l);
}

CODEC(codec_gpu_class, gpu_class, gpu_class_parse, gpu_class_name);
CODEC(codec_provider_kind, provider_kind, provider_kind_parse, provider_kind_name);
CODEC(codec_mode, pricing_mode, pricing_mode_parse, pricing_mode_name);
CODEC(codec_form, supply_form, supply_form_parse, supply_form_name);
CODEC(codec_state, price_state, price_state_parse, price_state_name);
CODEC(codec_unit, price_unit, price_unit_parse, price_unit_name);
CODEC(codec_subject, price_subject, price_subject_parse, price_subject_name);
CODEC(codec_intra, intra_link, intra_from, intra_text);
CODEC(codec_inter, inter_link, inter_from, inter_text);
CODEC(codec_tri, tri, tri_from, tri_text);
CODEC(codec_ffn, ffn_kind, ffn_from, ffn_text);

#define AT(type, member) offsetof(struct type, member)
#define TEXT(s, m)                                                                                                     \
    {                                                                                                                  \
        .name = #m, .type = COL_TEXT, .offset = AT(s, m)                                                               \
    }
#define NEED(s, m)                                                                                                     \
    {                                                                                                                  \
        .name = #m, .type = COL_TEXT, .offset = AT(s, m), .required = true                                             \
    }
#define REAL(s, m)                                                                                                     \
    {                                                                                                                  \
        .name = #m, .type = COL_REAL, .offset = AT(s, m)                                                               \
    }
#define INT(s, m)                                                                                                      \
    {                                                                                                                  \
        .name = #m, .type = COL_INT, .offset = AT(s, m)                                                                \
    }
#define BOOL(s, m)                                                                                                     \
    {                                                                                                                  \
        .name = #m, .type = COL_BOOL, .offset = AT(s, m)                                                               \
    }
#define ENUM(s, m, c)                                                                                                  \
    {                                                                                                                  \
        .name = #m, .type = COL_ENUM, .offset = AT(s, m), .codec = &(c)                                                \
    }
#define REF(col, s, m, t)                                                                                              \
    {                                                                                                                  \
        .name = col, .type = COL_REF, .offset = AT(s, m), .ref = (t), .required = true                                 \
    }
#define MAYBE_REF(col, s, m, t)                                                                                        \
    {                                                                                                                  \
        .name = col, .type = COL_REF, .offset = AT(s, m), .ref = (t), .nullable = true                                 \
    }
#define APART(col)                                                                                                     \
    {                                                                                                                  \
        .name = col, .type = COL_TEXT, .offset = COLUMN_NO_MEMBER                                                      \
    }

static const struct column gpu_columns[] = {
    NEED(gpu, id),
    NEED(gpu, name),
    NEED(gpu, vendor),
    TEXT(gpu, form_factor),
    ENUM(gpu, gpu_class, codec_gpu_class),
    REAL(gpu, memory_gb),
    TEXT(gpu, memory_type),
    REAL(gpu, mem_bw_gb_s),
    REAL(gpu, bf16_tflops),
    REAL(gpu, fp16_tflops),
    REAL(gpu, fp8_tflops),
    REAL(gpu, fp4_tflops),
    REAL(gpu, int8_tops),
    REAL(gpu, fp32_tflops),
    REAL(gpu, tf32_tflops),
    REAL(gpu, usable_gib),
    BOOL(gpu, usable_measured),
    REAL(gpu, link_gb_s_bidir),
    TEXT(gpu, link_type),
    BOOL(gpu, through_host),
    BOOL(gpu, link_mesh),
    BOOL(gpu, coherent_host),
    INT(gpu, rack_cards),
    INT(gpu, pcie_gen),
    REAL(gpu, tdp_w),
    INT(gpu, year),
    BOOL(gpu, rentable),
    NEED(gpu, confidence),
    NEED(gpu, source),
    TEXT(gpu, source_date),
    TEXT(gpu, note),
};

static const struct column alias_columns[] = {
    NEED(gpu_alias, alias),
    REF("gpu_id", gpu_alias, gpu, TABLE_GPUS),
};

static const struct column model_columns[] = {
    NEED(model, id),
    NEED(model, name),
    REAL(model, params),
    REAL(model, active_params),
    INT(model, layers),
    INT(model, hidden),
    INT(model, heads),
    INT(model, kv_heads),
    INT(model, head_dim),
    INT(model, intermediate),
    INT(model, dense_intermediate),
    INT(model, dense_layers),
    INT(model, shared_intermediate),
    INT(model, vocab),
    INT(model, embedding_width),
    INT(model, experts),
    INT(model, experts_per_token),
    INT(model, moe_every),
    INT(model, kv_lora_rank),
    INT(model, q_lora_rank),
    INT(model, rope_head_dim),
    INT(model, v_head_dim),
    INT(model, window),
    INT(model, full_attention_layers),
    INT(model, kv_layers),
    BOOL(model, no_attention),
    INT(model, encoder_layers),
    INT(model, decoder_layers),
    INT(model, encoder_positions),
    INT(model, max_context),
    ENUM(model, ffn, codec_ffn),
    ENUM(model, tied_embeddings, codec_tri),
    ENUM(model, causal, codec_tri),
    ENUM(model, qkv_bias, codec_tri),
    ENUM(model, qk_norm, codec_tri),
    REAL(model, flops_per_sample),
    REAL(model, published_bits),
    REAL(model, companion_params),
    TEXT(model, family),
    TEXT(model, uncounted),
    NEED(model, confidence),
    NEED(model, source),
    TEXT(model, source_date),
    APART("note"),
};

static const struct column provider_columns[] = {
    NEED(provider, id),
    NEED(provider, name_zh),
    NEED(provider, name_en),
    ENUM(provider, kind, codec_provider_kind),
    NEED(provider, city),
    TEXT(provider, place_zh),
    TEXT(provider, place_en),
    NEED(provider, tier),
    NEED(provider, support_level),
    BOOL(provider, data_stays),
    BOOL(provider, serves),
    REAL(provider, queue_median_h),
    REAL(provider, queue_p90_h),
    REAL(provider, job_cap_h),
    TEXT(provider, note),
    NEED(provider, source),
    TEXT(provider, source_date),
    NEED(provider, confidence),
    BOOL(provider, abroad),
};

static const struct column link_columns[] = {
    NEED(link, id),   NEED(link, name),   ENUM(link, kind, codec_intra), REAL(link, gb_s_one_way),
    TEXT(link, note), NEED(link, source), TEXT(link, source_date),
};

static const struct column network_columns[] = {
    NEED(network, id),
    NEED(network, name_zh),
    NEED(network, name_en),
    ENUM(network, kind, codec_inter),
    REAL(network, gbps_per_node),
    BOOL(network, rdma),
    BOOL(network, dedicated_line),
    TEXT(network, note),
    NEED(network, source),
    TEXT(network, source_date),
};

static const struct column storage_columns[] = {
    NEED(storage, id),       NEED(storage, name_zh), NEED(storage, name_en),     NEED(storage, system),
    BOOL(storage, parallel), BOOL(storage, local),   REAL(storage, read_gb_s),   REAL(storage, write_gb_s),
    TEXT(storage, note),     NEED(storage, source),  TEXT(storage, source_date),
};

static const struct column scheduler_columns[] = {
    NEED(scheduler, id),     NEED(scheduler, name),        TEXT(scheduler, note),
    NEED(scheduler, source), TEXT(scheduler, source_date),
};

static const struct column tax_columns[] = {
    NEED(tax_code, code),
    NEED(tax_code, name_zh),
    NEED(tax_code, name_en),
    {.name = "rate_bp", .type = COL_INT64, .offset = AT(tax_code, rate_bp)},
    {.name = "valid_from", .type = COL_DATE, .offset = AT(tax_code, valid_from)},
    {.name = "valid_to", .type = COL_DATE, .offset = AT(tax_code, valid_to), .nullable = true},
    NEED(tax_code, source),
};

static const struct column sku_columns[] = {
    NEED(sku, id),
    REF("provider_id", sku, provider, TABLE_PROVIDERS),
    TEXT(sku, region),
    REF("gpu_id", sku, gpu, TABLE_GPUS),
    INT(sku, gpus_per_node),
    BOOL(sku, sold_by_card),
    {.name = "max_nodes", .type = COL_INT, .offset = AT(sku, max_nodes), .fallback = "1"},
    ENUM(sku, intra, codec_intra),
    MAYBE_REF("network_id", sku, network, TABLE_NETWORKS),
    BOOL(sku, bandwidth_dedicated),
    ENUM(sku, form, codec_form),
    REAL(sku, host_memory_gb),
    REAL(sku, cpu_cores),
    REAL(sku, nvme_gb),
    {.name = "tax_code", .type = COL_TEXT, .offset = AT(sku, tax_code), .fallback = "service_6"},
    TEXT(sku, note),
    NEED(sku, source),
    TEXT(sku, source_date),
    NEED(sku, confidence),
};

static const struct column price_columns[] = {
    NEED(price, id),
    ENUM(price, subject, codec_subject),
    MAYBE_REF("sku_id", price, sku, TABLE_SKUS),
    TEXT(price, subject_id),
    MAYBE_REF("provider_id", price, provider, TABLE_PROVIDERS),
    ENUM(price, mode, codec_mode),
    INT(price, term_months),
    {.name = "currency", .type = COL_CURRENCY, .offset = AT(price, currency), .required = true},
    ENUM(price, unit, codec_unit),
    {.name = "price_micros", .csv = "price", .type = COL_MICROS, .offset = AT(price, micros)},
    {.name = "high_micros", .csv = "price_high", .type = COL_MICROS, .offset = AT(price, micros_high)},
    BOOL(price, free_of_charge),
    BOOL(price, tax_included),
    {.name = "granularity_milli_h", .type = COL_INT64, .offset = AT(price, granularity_milli_h), .fallback = "1000"},
    {.name = "deposit_ppm", .type = COL_INT64, .offset = AT(price, deposit_ppm)},
    TEXT(price, user_class),
    BOOL(price, off_peak_only),
    {.name = "effective_from", .type = COL_DATE, .offset = AT(price, effective_from), .required = true},
    {.name = "effective_to", .type = COL_DATE, .offset = AT(price, effective_to), .nullable = true},
    {.name = "observed_on", .type = COL_DATE, .offset = AT(price, observed_on), .required = true},
    ENUM(price, state, codec_state),
    TEXT(price, rule),
    REAL(price, spot_interruptions_per_h),
    NEED(price, source),
    TEXT(price, source_url),
    NEED(price, confidence),
    TEXT(price, note),
};

static const struct column fx_columns[] = {
    {.name = "base", .type = COL_CURRENCY, .offset = AT(fx_rate, base), .required = true},
    {.name = "quote", .type = COL_CURRENCY, .offset = AT(fx_rate, quote), .required = true},
    {.name = "on_date", .type = COL_DATE, .offset = AT(fx_rate, on), .required = true},
    {.name = "rate_micros", .csv = "rate", .type = COL_MICROS, .offset = AT(fx_rate, rate_micros)},
    NEED(fx_rate, source),
};

static const struct column line_columns[] = {
    NEED(dedicated_line, id),
    REF("a_provider_id", dedicated_line, a, TABLE_PROVIDERS),
    REF("b_provider_id", dedicated_line, b, TABLE_PROVIDERS),
    REF("network_id", dedicated_line, network, TABLE_NETWORKS),
    REAL(dedicated_line, gbps),
    NEED(dedicated_line, source),
    TEXT(dedicated_line, source_date),
    TEXT(dedicated_line, note),
};

static const struct column purchase_columns[] = {
    REF("gpu_id", purchase_price, gpu, TABLE_GPUS),
    INT(purchase_price, gpus_per_server),
    {.name = "low_micros", .csv = "price_low", .type = COL_MICROS, .offset = AT(purchase_price, low_micros)},
    {.name = "price_micros", .csv = "price", .type = COL_MICROS, .offset = AT(purchase_price, micros)},
    {.name = "high_micros", .csv = "price_high", .type = COL_MICROS, .offset = AT(purchase_price, high_micros)},
    {.name = "currency", .type = COL_CURRENCY, .offset = AT(purchase_price, currency), .required = true},
    {.name = "observed_on", .type = COL_DATE, .offset = AT(purchase_price, observed_on), .required = true},
    NEED(purchase_price, source),
    NEED(purchase_price, confidence),
    TEXT(purchase_price, note),
};

/* Assumptions and calibration are loaded together, sorted by their composed key: see catalog_load.c. */
static const struct column param_columns[] = {
    {.name = "name", .type = COL_TEXT, .offset = COLUMN_NO_MEMBER, .required = true},
    TEXT(param, gpu_class),
    TEXT(param, precision),
    {.name = "class", .type = COL_TEXT, .offset = AT(param, workload_class)},
    {.name = "value", .type = COL_REAL, .offset = AT(param, value), .required = true},
    {.name = "min", .type = COL_REAL, .offset = AT(param, min), .nullable = true},
    {.name = "max", .type = COL_REAL, .offset = AT(param, max), .nullable = true},
    TEXT(param, unit),
    BOOL(param, overridable),
    TEXT(param, evidence),
    NEED(param, source),
    TEXT(param, source_date),
};

#define COLUMNS(a) .columns = (a), .n_columns = sizeof(a) / sizeof *(a)
#define LIST(type, member)                                                                                             \
    .row_size = sizeof(struct type), .items = AT(catalog, member), .count = AT(catalog, n_##member)

const struct table db_tables[TABLE_COUNT] = {
    {TABLE_GPUS, "gpus", "id", "id", LIST(gpu, gpus), COLUMNS(gpu_columns)},
    {TABLE_GPU_ALIASES, "gpu_aliases", "alias", "alias", LIST(gpu_alias, aliases), COLUMNS(alias_columns)},
    {TABLE_MODELS, "models", "id", "id", LIST(model, models), COLUMNS(model_columns)},
    {TABLE_PROVIDERS, "providers", "id", "id", LIST(provider, providers), COLUMNS(provider_columns)},
    {TABLE_LINKS, "links", "id", "id", LIST(link, links), COLUMNS(link_columns)},
    {TABLE_NETWORKS, "networks", "id", "id", LIST(network, networks), COLUMNS(network_columns)},
    {TABLE_STORAGES, "storages", "id", "id", LIST(storage, storages), COLUMNS(storage_columns)},
    {TABLE_SCHEDULERS, "schedulers", "id", "id", LIST(scheduler, schedulers), COLUMNS(scheduler_columns)},
    {TABLE_TAX_CODES, "tax_codes", "code, valid_from", "code, valid_from", LIST(tax_code, tax_codes),
     COLUMNS(tax_columns)},
    {TABLE_SKUS, "skus", "id", "id", LIST(sku, skus), COLUMNS(sku_columns)},
    {TABLE_PRICES, "prices", "id", "sku_id, mode, effective_from DESC, id", LIST(price, prices),
     COLUMNS(price_columns)},
    {TABLE_FX_RATES, "fx_rates", "base, quote, on_date", "base, quote, on_date", LIST(fx_rate, fx_rates),
     COLUMNS(fx_columns)},
    {TABLE_LINES, "dedicated_lines", "id", "id", LIST(dedicated_line, lines), COLUMNS(line_columns)},
    {TABLE_PURCHASES, "purchase_prices", "gpu_id, gpus_per_server, observed_on", "gpu_id, gpus_per_server, observed_on",
     LIST(purchase_price, purchases), COLUMNS(purchase_columns)},
    {TABLE_ASSUMPTIONS, "assumptions", "name, gpu_class, precision, class", "name", .row_size = sizeof(struct param),
     COLUMNS(param_columns)},
    {TABLE_CALIBRATION, "calibration", "name, gpu_class, precision, class", "name", .row_size = sizeof(struct param),
     COLUMNS(param_columns)},
};

const struct table *table_of_seed(const char *file_name)
{
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        size_t n = strlen(db_tables[i].name);
        if (strncmp(file_name, db_tables[i].name, n) == 0 && (file_name[n] == '_' || file_name[n] == '.'))
            return &db_tables[i];
    }
    return NULL;
}
