/* catalog_market.c — providers, SKUs, prices, rates, taxes, lines and assumptions as JSON. */
#include <stdio.h>
#include <string.h>

#include "api/catalog_read.h"
#include "api/message.h"

static const char *provider_attribute_of(const struct provider *p, const char *filter)
{
    if (!p)
        return NULL;
    if (strcmp(filter, "city") == 0)
        return p->city;
    if (strcmp(filter, "provider") == 0)
        return p->id;
    return strcmp(filter, "kind") == 0 ? provider_kind_name(p->kind) : NULL;
}

/* ---- providers --------------------------------------------------------------------------------------------- */

static size_t provider_count(const struct catalog *c)
{
    return c->n_providers;
}

static void provider_id(const struct catalog *c, size_t i, char out[COLLECTION_ID_MAX])
{
    (void)snprintf(out, COLLECTION_ID_MAX, "%s", c->providers[i].id);
}

static void provider_encode(struct encode *e, size_t i)
{
    const struct provider *p = &e->catalog->providers[i];
    bool zh = e->language == LANG_ZH_CN;
    struct jw *w = &e->w;
    jw_object(w, NULL);
    jw_string(w, "id", p->id);
    jw_string(w, "name", zh ? p->name_zh : p->name_en);
    jw_string(w, "kind", provider_kind_name(p->kind));
    jw_string(w, "city", p->city);
    jw_string(w, "place", zh ? p->place_zh : p->place_en);
    jw_string(w, "tier", p->tier);
    jw_string(w, "support_level", p->support_level);
    jw_bool(w, "data_stays", p->data_stays);
    jw_bool(w, "serves", p->serves);
    jw_number(w, "queue_median_h", p->queue_median_h);
    jw_number(w, "queue_p90_h", p->queue_p90_h);
    jw_number_or_null(w, "job_cap_h", p->job_cap_h);
    jw_string(w, "source", p->source);
    jw_string(w, "source_date", p->source_date);
    jw_string(w, "confidence", p->confidence);
    jw_string(w, "note", p->note && *p->note ? p->note : NULL);
    jw_end_object(w);
}

static const char *provider_attribute(const struct catalog *c, size_t i, const char *filter)
{
    return provider_attribute_of(&c->providers[i], filter);
}

static const char *const provider_filters[] = {"city", "kind", NULL};
const struct collection collection_providers = {"providers",     provider_count,     provider_id,
                                                provider_encode, provider_attribute, provider_filters};

/* ---- SKUs -------------------------------------------------------------------------------------------------- */

static size_t sku_count(const struct catalog *c)
{
    return c->n_skus;
}

static void sku_id(const struct catalog *c, size_t i, char out[COLLECTION_ID_MAX])
{
    (void)snprintf(out, COLLECTION_ID_MAX, "%s", c->skus[i].id);
}

static void sku_encode(struct encode *e, size_t i)
{
    const struct sku *s = &e->catalog->skus[i];
    struct jw *w = &e->w;
    jw_object(w, NULL);
    jw_string(w, "id", s->id);
    jw_string(w, "provider", s->provider->id);
    jw_string(w, "city", s->provider->city);
    jw_string(w, "region", s->region);
    jw_string(w, "gpu", s->gpu->id);
    jw_int(w, "gpus_per_node", s->gpus_per_node);
    jw_number(w, "vram_gb_per_gpu", s->gpu->memory_gb);
    jw_number(w, "vram_gb_total", s->gpu->memory_gb * s->gpus_per_node);
    jw_bool(w, "sold_by_card", s->sold_by_card);
    jw_int(w, "max_nodes", s->max_nodes);
    jw_string(w, "intra_link", intra_link_name(s->intra));
    jw_string(w, "network", s->network ? s->network->id : NULL);
    jw_bool(w, "bandwidth_dedicated", s->bandwidth_dedicated);
    jw_string(w, "form", supply_form_name(s->form));
    jw_number_or_null(w, "host_memory_gb", s->host_memory_gb);
    jw_number_or_null(w, "cpu_cores", s->cpu_cores);
    jw_number_or_null(w, "nvme_gb", s->nvme_gb);
    jw_string(w, "tax_code", s->tax_code);
    jw_array(w, "prices");
    for (size_t k = 0; k < s->n_prices; k++)
        jw_string(w, NULL, e->catalog->prices[s->first_price + k].id);
    jw_end_array(w);
    jw_string(w, "source", s->source);
    jw_string(w, "source_date", s->source_date);
    jw_string(w, "confidence", s->confidence);
    jw_string(w, "note", s->note && *s->note ? s->note : NULL);
    jw_end_object(w);
}

static const char *sku_attribute(const struct catalog *c, size_t i, const char *filter)
{
    const struct sku *s = &c->skus[i];
    return strcmp(filter, "gpu") == 0 ? s->gpu->id : provider_attribute_of(s->provider, filter);
}

static const char *const sku_filters[] = {"city", "gpu", "provider", "kind", NULL};
const struct collection collection_skus = {"skus", sku_count, sku_id, sku_encode, sku_attribute, sku_filters};

/* ---- prices ------------------------------------------------------------------------------------------------ */

static size_t price_count(const struct catalog *c)
{
    return c->n_prices;
}

static void price_id(const struct catalog *c, size_t i, char out[COLLECTION_ID_MAX])
{
    (void)snprintf(out, COLLECTION_ID_MAX, "%s", c->prices[i].id);
}

static const struct provider *seller(const struct price *p)
{
    return p->sku ? p->sku->provider : p->provider;
}

static void price_amounts(struct jw *w, const struct price *p)
{
    bool known = p->state != PRICE_QUOTE_ONLY;
    if (known)
        jw_price(w, "price", p->micros, p->currency);
    else
        jw_null(w, "price");
    if (known && p->micros_high)
        jw_price(w, "price_high", p->micros_high, p->currency);
    else
        jw_null(w, "price_high");
}

static void price_encode(struct encode *e, size_t i)
{
    const struct price *p = &e->catalog->prices[i];
    struct jw *w = &e->w;
    jw_object(w, NULL);
    jw_string(w, "id", p->id);
    jw_string(w, "subject", price_subject_name(p->subject));
    jw_string(w, "sku", p->sku ? p->sku->id : NULL);
    jw_string(w, "subject_id", p->sku ? p->sku->id : p->subject_id);
    jw_string(w, "provider", seller(p) ? seller(p)->id : NULL);
    jw_string(w, "gpu", p->sku ? p->sku->gpu->id : NULL);
    jw_string(w, "pricing_mode", pricing_mode_name(p->mode));
    jw_int(w, "term_months", p->term_months);
    jw_string(w, "unit", price_unit_name(p->unit));
    price_amounts(w, p);
    jw_bool(w, "free_of_charge", p->free_of_charge);
    jw_bool(w, "tax_included", p->tax_included);
    jw_number(w, "billing_step_h", (double)p->granularity_milli_h / 1000);
    jw_number(w, "deposit_share", (double)p->deposit_ppm / 1e6);
    jw_string(w, "user_class", p->user_class && *p->user_class ? p->user_class : NULL);
    jw_bool(w, "off_peak_only", p->off_peak_only);
    jw_date(w, "effective_from", p->effective_from);
    jw_date(w, "effective_to", p->effective_to);
    jw_date(w, "observed_on", p->observed_on);
    jw_string(w, "state", price_state_name(p->state));
    jw_string(w, "rule", p->rule && *p->rule ? p->rule : NULL);
    jw_number(w, "spot_interruptions_per_h", p->spot_interruptions_per_h);
    jw_string(w, "source", p->source);
    jw_string(w, "source_url", p->source_url && *p->source_url ? p->source_url : NULL);
    jw_string(w, "confidence", p->confidence);
    jw_string(w, "note", p->note && *p->note ? p->note : NULL);
    jw_end_object(w);
}

static const char *price_attribute(const struct catalog *c, size_t i, const char *filter)
{
    const struct price *p = &c->prices[i];
    if (strcmp(filter, "gpu") == 0)
        return p->sku ? p->sku->gpu->id : NULL;
    if (strcmp(filter, "sku") == 0)
        return p->sku ? p->sku->id : NULL;
    if (strcmp(filter, "pricing_mode") == 0)
        return pricing_mode_name(p->mode);
    if (strcmp(filter, "subject") == 0)
        return price_subject_name(p->subject);
    if (strcmp(filter, "state") == 0)
        return price_state_name(p->state);
    return provider_attribute_of(seller(p), filter);
}

static const char *const price_filters[] = {"city",         "gpu",     "provider", "kind", "sku",
                                            "pricing_mode", "subject", "state",    NULL};
const struct collection collection_prices = {"prices",     price_count,     price_id,
                                             price_encode, price_attribute, price_filters};

/* ---- exchange rates, taxes, lines -------------------------------------------------------------------------- */

static size_t fx_count(const struct catalog *c)
{
    return c->n_fx_rates;
}

static void fx_id(const struct catalog *c, size_t i, char out[COLLECTION_ID_MAX])
{
    char on[DATE_TEXT_MAX];
    date_text(c->fx_rates[i].on, on);
    (void)snprintf(out, COLLECTION_ID_MAX, "%s-%s-%s", c->fx_rates[i].base, c->fx_rates[i].quote, on);
}

static void fx_encode(struct encode *e, size_t i)
{
    const struct fx_rate *r = &e->catalog->fx_rates[i];
    char id[COLLECTION_ID_MAX], rate[MONEY_TEXT_MAX];
    fx_id(e->catalog, i, id);
    money_price_text(r->rate_micros, rate);
    jw_object(&e->w, NULL);
    jw_string(&e->w, "id", id);
    jw_string(&e->w, "base", r->base);
    jw_string(&e->w, "quote", r->quote);
    jw_date(&e->w, "on", r->on);
    jw_string(&e->w, "rate", rate);
    jw_string(&e->w, "source", r->source);
    jw_end_object(&e->w);
}

static const char *fx_attribute(const struct catalog *c, size_t i, const char *filter)
{
    return strcmp(filter, "base") == 0 ? c->fx_rates[i].base : c->fx_rates[i].quote;
}

static const char *const fx_filters[] = {"base", "quote", NULL};
const struct collection collection_fx_rates = {"fx-rates", fx_count, fx_id, fx_encode, fx_attribute, fx_filters};

static size_t tax_count(const struct catalog *c)
{
    return c->n_tax_codes;
}

static void tax_id(const struct catalog *c, size_t i, char out[COLLECTION_ID_MAX])
{
    const struct tax_code *t = &c->tax_codes[i];
    bool earlier = false; /* a code whose rate changed has a row for each time */
    for (size_t k = 0; k < i; k++)
        earlier = earlier || strcmp(c->tax_codes[k].code, t->code) == 0;
    char from[DATE_TEXT_MAX] = "";
    if (earlier && t->valid_from != DATE_NONE)
        date_text(t->valid_from, from);
    (void)snprintf(out, COLLECTION_ID_MAX, "%s%s%s", t->code, earlier ? "@" : "", from);
}

static void tax_encode(struct encode *e, size_t i)
{
    const struct tax_code *t = &e->catalog->tax_codes[i];
    char id[COLLECTION_ID_MAX];
    tax_id(e->catalog, i, id);
    jw_object(&e->w, NULL);
    jw_string(&e->w, "id", id);
    jw_string(&e->w, "code", t->code);
    jw_string(&e->w, "name", e->language == LANG_ZH_CN ? t->name_zh : t->name_en);
    jw_number(&e->w, "rate_pct", (double)t->rate_bp / 100);
    jw_date(&e->w, "valid_from", t->valid_from);
    jw_date(&e->w, "valid_to", t->valid_to);
    jw_string(&e->w, "source", t->source);
    jw_end_object(&e->w);
}

static const char *no_attribute(const struct catalog *c, size_t i, const char *filter)
{
    (void)c;
    (void)i;
    (void)filter;
    return NULL;
}

static const char *const no_filters[] = {NULL};
const struct collection collection_tax_codes = {"tax-codes", tax_count, tax_id, tax_encode, no_attribute, no_filters};

static size_t line_count(const struct catalog *c)
{
    return c->n_lines;
}

static void line_id(const struct catalog *c, size_t i, char out[COLLECTION_ID_MAX])
{
    (void)snprintf(out, COLLECTION_ID_MAX, "%s", c->lines[i].id);
}

static void line_encode(struct encode *e, size_t i)
{
    const struct dedicated_line *l = &e->catalog->lines[i];
    jw_object(&e->w, NULL);
    jw_string(&e->w, "id", l->id);
    jw_string(&e->w, "a", l->a->id);
    jw_string(&e->w, "b", l->b->id);
    jw_string(&e->w, "network", l->network ? l->network->id : NULL);
    jw_number(&e->w, "gbps", l->gbps);
    jw_string(&e->w, "source", l->source);
    jw_string(&e->w, "source_date", l->source_date);
    jw_string(&e->w, "note", l->note && *l->note ? l->note : NULL);
    jw_end_object(&e->w);
}
const struct collection collection_lines = {"lines", line_count, line_id, line_encode, no_attribute, no_filters};

/* ---- assumptions and calibration --------------------------------------------------------------------------- */

static size_t param_count(const struct catalog *c)
{
    return c->params.n;
}

/* A key's '/' would end a path segment. */
static void param_id(const struct catalog *c, size_t i, char out[COLLECTION_ID_MAX])
{
    (void)snprintf(out, COLLECTION_ID_MAX, "%s", c->params.rows[i].key);
    for (char *p = out; *p; p++)
        *p = *p == '/' ? ':' : *p;
}

static void param_encode(struct encode *e, size_t i)
{
    const struct param *p = &e->catalog->params.rows[i];
    char id[COLLECTION_ID_MAX];
    param_id(e->catalog, i, id);
    struct jw *w = &e->w;
    jw_object(w, NULL);
    jw_string(w, "id", id);
    jw_string(w, "key", p->key);
    encode_assumption_words(e, "text", p->key);
    jw_string(w, "kind", p->kind);
    jw_number(w, "value", p->value);
    jw_number(w, "min", p->min);
    jw_number(w, "max", p->max);
    jw_string(w, "unit", p->unit);
    jw_bool(w, "overridable", p->overridable);
    jw_string(w, "gpu_class", p->gpu_class && *p->gpu_class ? p->gpu_class : NULL);
    jw_string(w, "precision", p->precision && *p->precision ? p->precision : NULL);
    jw_string(w, "class", p->workload_class && *p->workload_class ? p->workload_class : NULL);
    jw_string(w, "evidence", p->evidence);
    jw_string(w, "source", p->source);
    jw_string(w, "source_date", p->source_date);
    jw_end_object(w);
}

static const char *param_attribute(const struct catalog *c, size_t i, const char *filter)
{
    const struct param *p = &c->params.rows[i];
    if (strcmp(filter, "overridable") == 0)
        return p->overridable ? "true" : "false";
    return strcmp(filter, "gpu_class") == 0 ? p->gpu_class : p->kind;
}

static const char *const param_filters[] = {"kind", "overridable", "gpu_class", NULL};
const struct collection collection_assumptions = {"assumptions", param_count,     param_id,
                                                  param_encode,  param_attribute, param_filters};
