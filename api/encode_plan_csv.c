/* encode_plan_csv.c — a plan as a flat table, one row an option, for spreadsheets.
 *
 * Column names are a contract: added only at the end, never renamed. "_cny" becomes the plan's currency.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/csv_write.h"
#include "api/encode_plan.h"
#include "api/message.h"

/* '$' marks an amount: the currency follows the name. */
static const char *const columns[] = {
    "plan_id",
    "catalog_revision",
    "as_of",
    "option_label",
    "rank",
    "plan_kind",
    "option_name",
    "provider_names",
    "gpu_model",
    "gpus_per_node",
    "node_count",
    "gpu_count",
    "vram_gb_per_gpu",
    "interconnect",
    "storage_tier",
    "pricing_mode",
    "start_on",
    "finish_on",
    "finish_hours_p50",
    "finish_hours_p90",
    "compute_net$",
    "network_net$",
    "storage_net$",
    "ops_net$",
    "trial_net$",
    "reserve_net$",
    "net$",
    "tax$",
    "gross$",
    "gross$_per_1k_gpu_hours",
    "confidence",
    "price_as_of",
    "warnings",
    "feasible",
    "recommended",
    "software_net$",
    "egress_net$",
    "migration_net$",
    "gross_low$",
    "gross_high$",
    "meets_deadline",
    "deadline_probability",
    "probability_cheapest",
    "on_pareto_front",
    "score",
    "vram_gb_total",
    "train_hours",
    "train_gpu_hours",
    "tokens_per_s",
    "mfu_pct",
    "reserve_gpu",
    "reserve_gpus",
    "reserve_months",
    "reserve_basis",
    "price_state",
    "reasons",
};

#define COLUMNS (sizeof columns / sizeof *columns)
_Static_assert(COLUMNS <= PLAN_COLUMNS_MAX, "a column without its place in csv_form");

/* "gross$" -> "gross_cny"; the catalogs know it without a currency, as *ret_key. */
static void column_name(size_t i, const char *currency, char ret_name[80], char ret_key[64])
{
    size_t o = 0, k = 0;
    for (const char *p = columns[i]; *p && o < 70; p++) {
        if (*p != '$') {
            ret_key[k++] = ret_name[o++] = *p;
            continue;
        }
        ret_name[o++] = '_';
        for (size_t c = 0; c < 3 && currency[c]; c++)
            ret_name[o++] = (char)tolower((unsigned char)currency[c]);
    }
    ret_name[o] = ret_key[k] = '\0';
}

const char *plan_columns_select(struct csv_form *form, char *names, const char *currency)
{
    char *save = NULL;
    for (char *wanted = strtok_r(names, ",", &save); wanted; wanted = strtok_r(NULL, ",", &save)) {
        char name[80], key[64];
        size_t i = 0;
        for (; i < COLUMNS; i++) {
            column_name(i, currency, name, key);
            if (strcmp(name, wanted) == 0)
                break;
        }
        if (i == COLUMNS)
            return wanted;
        form->some = form->keep[i] = true;
    }
    return NULL;
}

static void write_header(struct csv *out, const char *currency, bool chinese)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        char name[80], key[64];
        column_name(i, currency, name, key);
        const char *label = chinese ? message_find(LANG_ZH_CN, "column.", key) : NULL;
        csv_text(out, label ? label : name);
    }
    csv_end_row(out);
}

static const struct supply *main_supply(const struct option *o)
{
    for (size_t i = 0; i < o->n_supply; i++)
        if (strcmp(o->supply[i].role, "train") == 0)
            return &o->supply[i];
    return o->n_supply ? &o->supply[0] : NULL;
}

/* Distinct provider names, joined. */
static void provider_names(struct buf *out, const struct encode *e, const struct option *o)
{
    for (size_t i = 0; i < o->n_supply; i++) {
        const struct provider *p = o->supply[i].sku->provider;
        bool seen = false;
        for (size_t k = 0; k < i; k++)
            seen = seen || o->supply[k].sku->provider == p;
        if (!seen)
            buf_addf(out, "%s%s", out->len ? "; " : "", e->language == LANG_ZH_CN ? p->name_zh : p->name_en);
    }
}

static void codes(struct csv *out, const struct note_list *list)
{
    struct buf text;
    buf_init(&text, 4096);
    for (size_t i = 0; i < list->n; i++)
        buf_addf(&text, "%s%s", i ? ";" : "", list->items[i].code);
    csv_text(out, text.data);
    buf_done(&text);
}

static date_t oldest_price(const struct option *o)
{
    date_t oldest = DATE_NONE;
    for (size_t i = 0; i < o->cost.n_lines; i++) {
        const struct price *p = o->cost.lines[i].price;
        if (p && p->observed_on != DATE_NONE && (oldest == DATE_NONE || p->observed_on < oldest))
            oldest = p->observed_on;
    }
    return oldest;
}

static const char *storage_tier(const struct option *o)
{
    for (size_t i = 0; i < o->cost.n_lines; i++)
        if (o->cost.lines[i].section == SECTION_STORAGE && o->cost.lines[i].item)
            return o->cost.lines[i].item;
    return NULL;
}

static enum price_state weakest_price(const struct option *o)
{
    enum price_state worst = PRICE_FIRM;
    for (size_t i = 0; i < o->cost.n_lines; i++)
        if (o->cost.lines[i].price && o->cost.lines[i].price->state > worst)
            worst = o->cost.lines[i].price->state;
    return worst;
}

static void train_hours(const struct option *o, double *ret_hours, double *ret_gpu_hours)
{
    *ret_hours = *ret_gpu_hours = 0;
    for (size_t i = 0; i < o->n_phases; i++)
        if (o->phases[i].code == PHASE_TRAIN) {
            *ret_hours += o->phases[i].hours;
            *ret_gpu_hours += o->phases[i].hours * o->phases[i].gpus;
        }
}

static void machine_cells(struct csv *out, const struct encode *e, const struct option *o)
{
    const struct supply *s = main_supply(o);
    struct buf names;
    char interconnect[160] = "";
    buf_init(&names, 4096);
    provider_names(&names, e, o);
    csv_text(out, names.data);
    buf_done(&names);
    if (!s) {
        for (int i = 0; i < 6; i++)
            csv_empty(out);
        return;
    }
    csv_text(out, s->sku->gpu->name);
    csv_int(out, s->gpus_per_node);
    csv_int(out, s->nodes);
    csv_int(out, (int64_t)s->gpus_per_node * s->nodes);
    csv_number(out, s->sku->gpu->memory_gb);
    const char *intra = intra_link_name(s->sku->intra);
    (void)snprintf(interconnect, sizeof interconnect, "%s%s%s", intra ? intra : "",
                   s->nodes > 1 && s->sku->network ? " + " : "",
                   s->nodes > 1 && s->sku->network ? s->sku->network->id : "");
    csv_text(out, interconnect);
}

static void money_cells(struct csv *out, const struct option *o, double gpu_hours)
{
    static const enum section order[] = {SECTION_COMPUTE,    SECTION_NETWORK,    SECTION_STORAGE,
                                         SECTION_OPERATIONS, SECTION_VALIDATION, SECTION_INFERENCE_RESERVE};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        csv_money(out, o->cost.by_section[order[i]]);
    csv_money(out, o->cost.net);
    csv_money(out, o->cost.tax);
    csv_money(out, o->cost.total);
    if (gpu_hours > 0) /* two decimals, as every amount */
        csv_money(out, (int64_t)llround((double)o->cost.total / gpu_hours * 1000));
    else
        csv_empty(out);
}

static void more_cells(struct csv *out, const struct option *o, const struct plan *p, double hours, double gpu_hours)
{
    const struct supply *s = main_supply(o);
    csv_bool(out, o->feasible);
    csv_bool(out, p->recommended && strcmp(p->recommended, o->label) == 0);
    csv_money(out, o->cost.by_section[SECTION_SOFTWARE]);
    csv_money(out, o->cost.by_section[SECTION_EGRESS]);
    csv_money(out, o->cost.by_section[SECTION_MIGRATION]);
    csv_money(out, o->cost.low);
    csv_money(out, o->cost.high);
    if (o->finish.has_deadline)
        csv_bool(out, o->finish.meets_deadline);
    else
        csv_empty(out);
    csv_number(out, o->finish.has_deadline ? o->finish.deadline_probability : NAN);
    csv_number(out, o->probability_cheapest);
    csv_bool(out, o->on_pareto_front);
    csv_number(out, o->scores.overall);
    csv_number(out, s ? s->sku->gpu->memory_gb * s->gpus_per_node * s->nodes : NAN);
    csv_number(out, hours);
    csv_number(out, gpu_hours);
    csv_number(out, o->estimate.has_training ? o->estimate.training.tokens_per_s : NAN);
    csv_number(out, o->estimate.has_training ? o->estimate.training.mfu_pct : NAN);
    csv_text(out, o->reserve.gpu ? o->reserve.gpu->name : NULL);
    csv_int(out, o->reserve.gpus);
    csv_number(out, o->reserve.months);
    csv_text(out, o->reserve.basis);
    csv_text(out, price_state_name(weakest_price(o)));
    codes(out, &o->reasons);
}

static void write_row(struct csv *out, struct encode *e, const char *plan_id, const struct plan *p,
                      const struct option *o)
{
    const struct supply *s = main_supply(o);
    double hours, gpu_hours;
    train_hours(o, &hours, &gpu_hours);
    csv_text(out, plan_id);
    csv_int(out, p->catalog_revision);
    csv_date(out, p->as_of);
    csv_text(out, o->label);
    csv_int(out, o->rank);
    csv_text(out, workload_enum_name(ENUM_KIND, (int)o->kind));
    csv_text(out, encode_words(e, &o->title));
    machine_cells(out, e, o);
    csv_text(out, storage_tier(o));
    csv_text(out, s ? pricing_mode_name(s->mode) : NULL);
    csv_date(out, o->n_phases ? o->phases[0].start_on : DATE_NONE);
    csv_date(out, o->finish.finish_on);
    csv_number(out, o->finish.expected_days * 24);
    csv_number(out, o->finish.high_days * 24);
    money_cells(out, o, gpu_hours);
    csv_text(out, confidence_name(o->estimate.confidence));
    csv_date(out, oldest_price(o));
    codes(out, &o->warnings);
    more_cells(out, o, p, hours, gpu_hours);
    csv_end_row(out);
}

void encode_plan_csv(struct encode *e, const struct decoded_plan *in, const struct plan *p, const struct csv_form *form)
{
    struct csv out = {.out = e->w.out, .keep = form->some ? form->keep : NULL};
    char id[PLAN_ID_MAX];
    plan_id_of(in, p, id);
    if (form->bom)
        buf_adds(e->w.out, "\xEF\xBB\xBF");
    write_header(&out, e->currency, form->chinese);
    for (size_t i = 0; i < p->n_options; i++)
        write_row(&out, e, id, p, &p->options[i]);
}
