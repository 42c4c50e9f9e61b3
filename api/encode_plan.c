/* encode_plan.c — a whole plan as JSON. */
#include "api/encode_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/message.h"
#include "base/sha256.h"
#include "planner/offers/engine.h"

/* Of a plan with half a dozen options and more: room that is made at once is not copied while it grows. */
#define USUAL_BYTES ((size_t)256 << 10)

void plan_id_of(const struct decoded_plan *in, const struct plan *p, char out[PLAN_ID_MAX])
{
    static const char base32[] = "0123456789abcdefghjkmnpqrstvwxyz";
    struct sha256 hash;
    unsigned char digest[SHA256_BYTES];
    char context[64];
    int n = snprintf(context, sizeof context, "|%d|%lld|", (int)in->as_of, (long long)p->catalog_revision);
    sha256_init(&hash);
    sha256_add(&hash, in->canonical, strlen(in->canonical));
    sha256_add(&hash, context, (size_t)n);
    sha256_add(&hash, engine_version(), strlen(engine_version()));
    sha256_end(&hash, digest);
    size_t o = 3;
    memcpy(out, "pl_", 3);
    unsigned bits = 0, held = 0;
    for (size_t i = 0; i < 15; i++) {
        bits = bits << 8 | digest[i];
        for (held += 8; held >= 5; held -= 5)
            out[o++] = base32[bits >> (held - 5) & 31];
    }
    out[o] = '\0';
}

static void encode_summary(struct encode *e, const struct plan *p)
{
    struct jw *w = &e->w;
    jw_object(w, "summary");
    jw_string(w, "recommended_option", p->recommended);
    encode_note(e, "reason", &p->recommendation);
    encode_notes(e, "cluster_triggers", &p->cluster_triggers);
    encode_notes(e, "counter_signs", &p->counter_signs);
    encode_note(e, "diagnosis", p->has_diagnosis ? &p->diagnosis : NULL);
    jw_end_object(w);
}

static void encode_infeasible(struct encode *e, const struct plan *p)
{
    struct jw *w = &e->w;
    jw_array(w, "infeasible");
    for (size_t i = 0; i < p->n_infeasible; i++) {
        jw_object(w, NULL);
        jw_string(w, "kind", workload_enum_name(ENUM_KIND, (int)p->infeasible[i].kind));
        encode_notes(e, "reasons", &p->infeasible[i].reasons);
        encode_relaxations(e, &p->infeasible[i].relaxations);
        jw_end_object(w);
    }
    jw_end_array(w);
}

static void encode_purchase(struct encode *e, const struct purchase_price *p)
{
    struct jw *w = &e->w;
    if (!p) {
        jw_null(w, "purchase");
        return;
    }
    jw_object(w, "purchase");
    jw_string(w, "gpu", p->gpu->id);
    jw_int(w, "gpus_per_server", p->gpus_per_server);
    jw_price(w, "low", p->low_micros, p->currency);
    jw_price(w, "price", p->micros, p->currency);
    jw_price(w, "high", p->high_micros, p->currency);
    jw_date(w, "observed_on", p->observed_on);
    jw_string(w, "source", p->source);
    jw_string(w, "confidence", p->confidence);
    jw_end_object(w);
}

static void encode_own(struct encode *e, const struct own_hardware *o)
{
    struct jw *w = &e->w;
    jw_object(w, "own_hardware");
    jw_bool(w, "known", o->known);
    encode_purchase(e, o->known ? o->purchase : NULL);
    if (o->known) {
        jw_int(w, "servers", o->servers);
        jw_money(w, "three_year_cost", o->three_year_cost, e->currency);
        jw_money(w, "equivalent_rental", o->equivalent_rental, e->currency);
        jw_number(w, "ratio", o->ratio);
        jw_number(w, "break_even_utilisation", o->break_even_utilisation);
        jw_number(w, "utilisation", o->utilisation);
    } else {
        static const char *const members[] = {"servers", "three_year_cost",        "equivalent_rental",
                                              "ratio",   "break_even_utilisation", "utilisation"};
        for (size_t i = 0; i < sizeof members / sizeof *members; i++)
            jw_null(w, members[i]);
    }
    encode_notes(e, "notes", &o->notes);
    jw_end_object(w);
}

static void encode_attribution(struct encode *e, const struct plan *p)
{
    struct jw *w = &e->w;
    jw_array(w, "attribution");
    for (size_t i = 0; i < p->n_attributions; i++) {
        const struct attribution *a = &p->attributions[i];
        jw_object(w, NULL);
        jw_string(w, "from", a->from);
        jw_string(w, "to", a->to);
        jw_money(w, "amount", a->minor, e->currency);
        jw_array(w, "by");
        for (size_t k = 0; k < a->n_parts; k++) {
            jw_object(w, NULL);
            jw_string(w, "category", a->parts[k].category);
            jw_money(w, "amount", a->parts[k].minor, e->currency);
            jw_number(w, "share", a->parts[k].share);
            jw_end_object(w);
        }
        jw_end_array(w);
        jw_end_object(w);
    }
    jw_end_array(w);
}

static void encode_sensitivity(struct encode *e, const struct plan *p)
{
    struct jw *w = &e->w;
    jw_array(w, "sensitivity");
    for (size_t i = 0; i < p->n_sensitivities; i++) {
        const struct sensitivity *s = &p->sensitivities[i];
        jw_object(w, NULL);
        jw_string(w, "input", s->input);
        jw_number(w, "now", s->now);
        jw_number(w, "turning_point", s->turning_point);
        jw_string(w, "unit", s->unit);
        jw_string(w, "recommended_then", s->recommended_then[0] ? s->recommended_then : NULL);
        if (s->title_then.code != NULL)
            encode_sentence(e, "title_then", &s->title_then);
        else
            jw_null(w, "title_then");
        jw_bool(w, "confirmed", s->confirmed);
        jw_end_object(w);
    }
    jw_end_array(w);
    jw_array(w, "sensitivity_unsettled");
    for (size_t i = 0; i < p->n_unsettled; i++)
        jw_string(w, NULL, p->unsettled[i]);
    jw_end_array(w);
    jw_array(w, "budget_shares");
    for (size_t i = 0; i < p->n_budget_shares; i++) {
        jw_object(w, NULL);
        jw_string(w, "code", p->budget_shares[i].code);
        jw_string(w, "text", message_term(e->language, p->budget_shares[i].code));
        jw_money(w, "amount", p->budget_shares[i].minor, e->currency);
        jw_end_object(w);
    }
    jw_end_array(w);
}

static void assumption(struct encode *e, const char *name, double value, const char *unit, const char *source,
                       const struct note *n)
{
    struct jw *w = &e->w;
    jw_object(w, NULL);
    jw_string(w, "name", name);
    jw_number(w, "value", value);
    jw_string(w, "unit", unit);
    jw_string(w, "source", source);
    if (n)
        encode_sentence(e, "text", n);
    else
        encode_assumption_words(e, "text", name);
    jw_end_object(w);
}

static void encode_assumptions(struct encode *e, const struct decoded_plan *in, const struct plan *p)
{
    jw_array(&e->w, "assumptions");
    for (size_t i = 0; i < p->n_assumptions; i++)
        assumption(e, p->assumptions[i].name, p->assumptions[i].value, p->assumptions[i].unit, p->assumptions[i].source,
                   NULL);
    const struct note_list *lists[] = {&in->assumed, &p->assumed};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < lists[k]->n; i++)
            assumption(e, lists[k]->items[i].code, NAN, NULL, "default", &lists[k]->items[i]);
    jw_end_array(&e->w);
}

void encode_plan(struct encode *e, const struct decoded_plan *in, const struct plan *p)
{
    struct jw *w = &e->w;
    char id[PLAN_ID_MAX];
    plan_id_of(in, p, id);
    (void)buf_room(w->out, USUAL_BYTES);
    jw_object(w, NULL);
    jw_string(w, "plan_id", id);
    jw_int(w, "catalog_revision", p->catalog_revision);
    jw_date(w, "as_of", p->as_of);
    jw_string(w, "engine_version", engine_version());
    jw_string(w, "currency", e->currency);
    jw_string(w, "language", workload_enum_name(ENUM_LANGUAGE, (int)e->language));
    jw_string(w, "name", in->workload.name);
    encode_model(e, "model", &in->workload.model);
    encode_summary(e, p);
    jw_array(w, "options");
    for (size_t i = 0; i < p->n_options; i++)
        encode_option(e, &p->options[i]);
    jw_end_array(w);
    encode_infeasible(e, p);
    encode_own(e, &p->own);
    jw_object(w, "break_even");
    jw_number(w, "monthly_beats_hourly_after_hours", p->monthly_beats_hourly_after_hours);
    jw_number(w, "annual_beats_monthly_after_months", p->annual_beats_monthly_after_months);
    jw_number(w, "cluster_beats_single_at_tokens", p->cluster_beats_single_at_tokens);
    jw_end_object(w);
    encode_attribution(e, p);
    encode_sensitivity(e, p);
    jw_object(w, "weights");
    jw_number(w, "cost", p->weights.cost);
    jw_number(w, "time", p->weights.time);
    jw_number(w, "risk", p->weights.risk);
    jw_end_object(w);
    encode_notes(e, "staged_advice", &p->staged_advice);
    encode_assumptions(e, in, p);
    encode_notes(e, "warnings", &p->warnings);
    jw_end_object(w);
}
