/* encode_option.c — one option of a plan as JSON. */
#include <string.h>

#include "api/encode.h"
#include "api/encode_plan.h"
#include "api/message.h"

static const char *price_source(const struct price *p)
{
    return p ? p->source : NULL;
}

static void encode_supply(struct encode *e, const struct supply *s)
{
    struct jw *w = &e->w;
    const struct sku *sku = s->sku;
    jw_object(w, NULL);
    jw_string(w, "role", s->role);
    jw_string(w, "provider", sku->provider->id);
    jw_string(w, "provider_name", e->language == LANG_ZH_CN ? sku->provider->name_zh : sku->provider->name_en);
    jw_string(w, "city", sku->provider->city);
    jw_string(w, "sku", sku->id);
    jw_string(w, "gpu", sku->gpu->id);
    jw_string(w, "gpu_name", sku->gpu->name);
    jw_int(w, "gpus_per_node", s->gpus_per_node);
    jw_int(w, "nodes", s->nodes);
    jw_number(w, "vram_gb_per_gpu", sku->gpu->memory_gb);
    jw_number(w, "vram_gb_total", sku->gpu->memory_gb * s->gpus_per_node * s->nodes);
    jw_string(w, "form", supply_form_name(sku->form));
    jw_string(w, "intra_link", intra_link_name(sku->intra));
    if (s->nodes > 1 && sku->network) {
        jw_object(w, "inter_link");
        jw_string(w, "network", sku->network->id);
        jw_string(w, "kind", inter_link_name(sku->network->kind));
        jw_number(w, "gbps_per_node", sku->network->gbps_per_node);
        jw_bool(w, "dedicated", sku->bandwidth_dedicated);
        jw_end_object(w);
    } else {
        jw_null(w, "inter_link");
    }
    jw_string(w, "pricing_mode", pricing_mode_name(s->mode));
    jw_int(w, "term_units", s->term_units);
    jw_date(w, "price_as_of", s->price ? s->price->observed_on : DATE_NONE);
    jw_string(w, "price_source", price_source(s->price));
    jw_string(w, "price_state", s->price ? price_state_name(s->price->state) : NULL);
    jw_string(w, "price_rule", s->price ? s->price->rule : NULL);
    jw_end_object(w);
}

static void encode_phase(struct encode *e, const struct phase *p)
{
    struct jw *w = &e->w;
    jw_object(w, NULL);
    jw_string(w, "code", phase_name(p->code));
    jw_date(w, "start_on", p->start_on);
    jw_date(w, "end_on", p->end_on);
    jw_number(w, "hours", p->hours);
    jw_int(w, "gpus", p->gpus);
    jw_money(w, "cost", p->minor, e->currency);
    if (p->has_gate) {
        jw_object(w, "gate");
        jw_string(w, "metric", p->gate.metric);
        jw_number(w, "threshold", p->gate.threshold);
        jw_money(w, "saved", p->gate.saved_minor, e->currency);
        encode_note_members(e, &p->gate.text);
        jw_end_object(w);
    } else {
        jw_null(w, "gate");
    }
    encode_notes(e, "reasons", &p->reasons);
    jw_end_object(w);
}

static void encode_line(struct encode *e, const struct cost_line *l)
{
    struct jw *w = &e->w;
    jw_object(w, NULL);
    jw_string(w, "phase", phase_name(l->phase));
    jw_string(w, "section", section_name(l->section));
    jw_string(w, "sku", l->sku ? l->sku->id : NULL);
    jw_string(w, "item", l->item);
    jw_number(w, "quantity", (double)l->quantity_milli / 1000);
    jw_string(w, "unit", price_unit_name(l->unit));
    jw_price(w, "unit_price", l->unit_price_micros, e->currency);
    jw_money(w, "amount", l->minor, e->currency);
    jw_money(w, "tax", l->tax_minor, e->currency);
    jw_string(w, "tax_code", l->tax_code);
    jw_string(w, "pricing_mode", l->sku || l->price ? pricing_mode_name(l->mode) : NULL);
    jw_number(w, "unused_share", l->unused_share);
    jw_string(w, "price", l->price ? l->price->id : NULL);
    jw_date(w, "price_as_of", l->price ? l->price->observed_on : DATE_NONE);
    jw_string(w, "price_state", l->price ? price_state_name(l->price->state) : NULL);
    jw_string(w, "source", price_source(l->price));
    jw_string(w, "assumption", l->assumption);
    jw_end_object(w);
}

static void encode_cost(struct encode *e, const struct cost *c)
{
    struct jw *w = &e->w;
    jw_object(w, "cost");
    jw_array(w, "lines");
    for (size_t i = 0; i < c->n_lines; i++)
        encode_line(e, &c->lines[i]);
    jw_end_array(w);
    jw_object(w, "by_section");
    for (int s = 0; s < SECTION_COUNT; s++)
        jw_money(w, section_name((enum section)s), c->by_section[s], e->currency);
    jw_end_object(w);
    jw_array(w, "tax_lines");
    for (size_t i = 0; i < c->n_taxes; i++) {
        jw_object(w, NULL);
        jw_string(w, "tax_code", c->taxes[i].code);
        jw_money(w, "net", c->taxes[i].net, e->currency);
        jw_money(w, "tax", c->taxes[i].tax, e->currency);
        jw_end_object(w);
    }
    jw_end_array(w);
    jw_money(w, "net", c->net, e->currency);
    jw_money(w, "tax", c->tax, e->currency);
    jw_money(w, "total", c->total, e->currency);
    jw_money(w, "low", c->low, e->currency);
    jw_money(w, "expected", c->expected, e->currency);
    jw_money(w, "high", c->high, e->currency);
    jw_money(w, "deposit", c->deposit, e->currency);
    jw_end_object(w);
}

/* The same machines paid otherwise, and the same service on other cards: all net, over the months of the reserve. */
static void encode_reserve_choices(struct encode *e, const struct reserve *r)
{
    struct jw *w = &e->w;
    jw_array(w, "pricing");
    for (size_t i = 0; i < r->n_ways; i++) {
        jw_object(w, NULL);
        jw_string(w, "code", r->ways[i].code);
        jw_money(w, "total", r->ways[i].total, e->currency);
        jw_end_object(w);
    }
    jw_end_array(w);
    jw_array(w, "alternatives");
    for (size_t i = 0; i < r->n_cards; i++) {
        const struct reserve_card *c = &r->cards[i];
        jw_object(w, NULL);
        jw_string(w, "role", c->role);
        jw_string(w, "gpu", c->sku->gpu->id);
        jw_string(w, "sku", c->sku->id);
        jw_string(w, "provider", c->sku->provider->id);
        jw_int(w, "gpus", c->gpus);
        jw_int(w, "gpus_per_replica", c->gpus_per_replica);
        jw_int(w, "replicas", c->replicas);
        jw_int(w, "replicas_per_gpu", c->replicas_per_gpu);
        jw_number(w, "utilisation", c->utilisation);
        jw_number(w, "ttft_ms", c->ttft_ms);
        jw_number(w, "tpot_ms", c->tpot_ms);
        jw_money(w, "total", c->total, e->currency);
        jw_end_object(w);
    }
    jw_end_array(w);
}

static void encode_burst(struct encode *e, const struct reserve_away *a)
{
    struct jw *w = &e->w;
    if (a->sku == NULL) {
        jw_null(w, "burst");
        return;
    }
    jw_object(w, "burst");
    jw_string(w, "provider", a->sku->provider->id);
    jw_string(w, "sku", a->sku->id);
    jw_string(w, "gpu", a->sku->gpu->id);
    jw_int(w, "gpus", a->gpus);
    jw_int(w, "replicas", a->replicas);
    jw_number(w, "hours_per_day", a->hours_per_day);
    jw_number(w, "share_of_peak", a->share_of_peak);
    jw_end_object(w);
}

/* What can wait, and when it runs where; null where nothing can. */
static void encode_waiting(struct encode *e, const struct reserve_waiting *t)
{
    struct jw *w = &e->w;
    if (!(t->requests > 0)) {
        jw_null(w, "batch");
        return;
    }
    jw_object(w, "batch");
    jw_number(w, "requests", t->requests);
    jw_number(w, "requests_in_idle_hours", t->requests_idle);
    jw_number(w, "idle_machine_hours", t->hours_idle);
    jw_number(w, "requests_in_service", t->requests_service);
    jw_int(w, "rented_replicas", t->replicas);
    jw_number(w, "rented_hours", t->hours);
    jw_money(w, "saved", t->saved, e->currency);
    jw_array(w, "windows");
    for (size_t i = 0; i < t->n_windows; i++) {
        const struct reserve_window *x = &t->windows[i];
        jw_object(w, NULL);
        jw_string(w, "sku", x->sku->id);
        jw_string(w, "unit", price_unit_name(x->cards ? UNIT_GPU_HOUR : UNIT_NODE_HOUR));
        jw_int(w, "units", x->machines);
        jw_int(w, "gpus", x->gpus);
        jw_date(w, "start_on", x->start_on);
        jw_date(w, "end_on", x->end_on);
        jw_number(w, "hours_per_day", x->hours_per_day);
        jw_number(w, "machine_hours", x->hours);
        jw_number(w, "requests", x->requests);
        jw_end_object(w);
    }
    jw_end_array(w);
    jw_end_object(w);
}

static void write_reserve(struct encode *e, const struct reserve *r)
{
    struct jw *w = &e->w;
    jw_object(w, NULL);
    jw_string(w, "basis", r->basis);
    jw_string(w, "gpu", r->gpu ? r->gpu->id : NULL);
    jw_string(w, "sku", r->sku ? r->sku->id : NULL);
    jw_string(w, "provider", r->sku ? r->sku->provider->id : NULL);
    jw_int(w, "gpus", r->gpus);
    jw_int(w, "replicas", r->replicas);
    jw_int(w, "replicas_per_gpu", r->replicas_per_gpu);
    jw_int(w, "base_gpus", r->base_gpus);
    encode_burst(e, &r->burst);
    jw_number(w, "peak_hours_per_day", r->peak_hours);
    jw_number(w, "months", r->months);
    jw_number(w, "utilisation", r->utilisation);
    jw_money(w, "monthly", r->monthly, e->currency);
    jw_money(w, "total", r->total, e->currency);
    jw_money(w, "low", r->low, e->currency);
    jw_money(w, "high", r->high, e->currency);
    encode_reserve_choices(e, r);
    encode_waiting(e, &r->waiting);
    if (r->has_estimate)
        encode_estimate(e, "estimate", &r->estimate, NULL, NULL);
    else
        jw_null(w, "estimate");
    encode_notes(e, "notes", &r->notes);
    jw_end_object(w);
}

static void encode_reserve(struct encode *e, const struct reserve *r)
{
    jw_key(&e->w, "inference_reserve");
    if (e->reserve && memcmp(e->reserve, r, sizeof *r) == 0) {
        jw_again(&e->w, e->reserve_from, e->reserve_to);
        return;
    }
    e->reserve = r;
    e->reserve_from = e->w.out->len;
    write_reserve(e, r);
    e->reserve_to = e->w.out->len;
}

static void encode_finish(struct encode *e, const struct finish *f)
{
    struct jw *w = &e->w;
    jw_object(w, "finish");
    jw_number(w, "low_days", f->low_days);
    jw_number(w, "expected_days", f->expected_days);
    jw_number(w, "high_days", f->high_days);
    jw_date(w, "finish_on", f->finish_on);
    if (f->has_deadline)
        jw_bool(w, "meets_deadline", f->meets_deadline);
    else
        jw_null(w, "meets_deadline");
    jw_number(w, "deadline_probability", f->deadline_probability);
    jw_end_object(w);
}

static void encode_change(struct encode *e, const struct change *c)
{
    struct jw *w = &e->w;
    jw_object(w, NULL);
    jw_string(w, "input", c->input);
    switch (c->kind) {
    case CHANGE_NULL:
        jw_null(w, "value");
        break;
    case CHANGE_NUMBER:
        jw_number(w, "value", c->number);
        break;
    case CHANGE_TEXT:
        jw_string(w, "value", c->text);
        break;
    case CHANGE_BOOL:
        jw_bool(w, "value", c->number > 0);
        break;
    case CHANGE_DATE:
        jw_date(w, "value", c->date);
        break;
    case CHANGE_MONEY:
        jw_money(w, "value", c->minor, e->currency);
        break;
    case CHANGE_LIST:
        jw_array(w, "value");
        for (size_t i = 0; i < c->n_list; i++)
            jw_string(w, NULL, c->list[i]);
        jw_end_array(w);
        break;
    }
    jw_end_object(w);
}

void encode_relaxations(struct encode *e, const struct relaxation_list *list)
{
    struct jw *w = &e->w;
    jw_array(w, "relaxations");
    for (size_t i = 0; i < list->n; i++) {
        const struct relaxation *r = &list->items[i];
        struct note text = r->text;
        text.code = text.code ? text.code : r->code;
        jw_object(w, NULL);
        jw_string(w, "code", r->code);
        encode_sentence(e, "text", &text);
        if (r->priced)
            jw_money(w, "total_cost_to_finish", r->total, e->currency);
        else
            jw_null(w, "total_cost_to_finish");
        jw_date(w, "finish_on", r->priced ? r->finish_on : DATE_NONE);
        jw_array(w, "changes");
        for (size_t k = 0; k < r->n_changes; k++)
            encode_change(e, &r->changes[k]);
        jw_end_array(w);
        jw_bool(w, "exact", r->exact);
        jw_end_object(w);
    }
    jw_end_array(w);
}

static void encode_launch(struct encode *e, const struct launch *l)
{
    struct jw *w = &e->w;
    jw_object(w, "launch");
    jw_string(w, "torchrun", l->torchrun);
    jw_raw(w, "deepspeed_config", l->deepspeed_config ? l->deepspeed_config : "null");
    jw_string(w, "slurm", l->slurm);
    jw_string(w, "kubernetes", l->kubernetes);
    jw_string(w, "serve", l->serve);
    jw_end_object(w);
}

static void encode_checklist(struct encode *e, const struct option *o)
{
    struct jw *w = &e->w;
    jw_array(w, "checklist");
    for (size_t i = 0; i < o->n_checklist; i++) {
        const struct checklist_item *item = &o->checklist[i];
        jw_object(w, NULL);
        jw_string(w, "code", item->code);
        jw_string(w, "command", item->command);
        encode_sentence(e, "text", &item->text);
        jw_end_object(w);
    }
    jw_end_array(w);
}

static void encode_scores(struct encode *e, const struct scores *s)
{
    struct jw *w = &e->w;
    jw_object(w, "scores");
    jw_number(w, "cost", s->cost);
    jw_number(w, "time", s->time);
    jw_number(w, "risk", s->risk);
    jw_number(w, "overall", s->overall);
    jw_end_object(w);
}

void encode_option(struct encode *e, const struct option *o)
{
    struct jw *w = &e->w;
    jw_object(w, NULL);
    jw_string(w, "label", o->label);
    jw_int(w, "rank", o->rank);
    jw_string(w, "kind", workload_enum_name(ENUM_KIND, (int)o->kind));
    jw_bool(w, "feasible", o->feasible);
    encode_sentence(e, "title", &o->title);
    jw_array(w, "supply");
    for (size_t i = 0; i < o->n_supply; i++)
        encode_supply(e, &o->supply[i]);
    jw_end_array(w);
    encode_estimate(e, "estimate", &o->estimate, NULL, NULL);
    jw_array(w, "phases");
    for (size_t i = 0; i < o->n_phases; i++)
        encode_phase(e, &o->phases[i]);
    jw_end_array(w);
    encode_finish(e, &o->finish);
    encode_cost(e, &o->cost);
    encode_reserve(e, &o->reserve);
    jw_money(w, "total_cost_to_finish", o->cost.total, e->currency);
    encode_scores(e, &o->scores);
    jw_bool(w, "on_pareto_front", o->on_pareto_front);
    jw_number(w, "probability_cheapest", o->probability_cheapest);
    jw_number(w, "monthly_beats_hourly_after_hours", o->monthly_beats_hourly_after_hours);
    jw_number(w, "annual_beats_monthly_after_months", o->annual_beats_monthly_after_months);
    encode_notes(e, "reasons", &o->reasons);
    encode_notes(e, "warnings", &o->warnings);
    encode_relaxations(e, &o->relaxations);
    encode_launch(e, &o->launch);
    encode_checklist(e, o);
    jw_end_object(w);
}
