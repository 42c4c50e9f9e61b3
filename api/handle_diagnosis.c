/* handle_diagnosis.c — POST /api/v1/diagnoses: pasted readings in, a verdict out. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/decode.h"
#include "api/encode.h"
#include "api/handlers.h"
#include "api/message.h"
#include "api/respond.h"
#include "planner/diagnosis/diagnosis.h"
#include "planner/diagnosis/rules.h"

#define ITERATIONS_MAX 10000

struct diagnosis_body {
    struct diagnosis_input in;
    const char *language;
};

/* Pasted text keeps its line breaks and colours: no rule about control characters here. */
static void take_paste(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    if (json_is_string(value))
        *(const char **)dest = arena_strndup(d->arena, json_string_value(value), json_string_length(value));
    else
        jspec_wrong_type(d, pointer, "string", value);
}

static void take_times(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    struct diagnosis_body *b = dest;
    size_t n = json_array_size(value);
    if (!json_is_array(value)) {
        jspec_wrong_type(d, pointer, "array", value);
        return;
    }
    if (n < 1 || n > ITERATIONS_MAX) {
        jspec_out_of_range(d, pointer, 1, ITERATIONS_MAX, false);
        return;
    }
    double *times = arena_array(d->arena, n, sizeof *times);
    for (size_t i = 0; times && i < n; i++) {
        char at[JSPEC_POINTER_MAX];
        (void)snprintf(at, sizeof at, "%.90s/%zu", pointer, i);
        jspec_number(d, json_array_get(value, i), at, 0, 1e6, J_EXCLUSIVE_MIN, &times[i]);
    }
    b->in.iteration_times_s = times;
    b->in.n_iteration_times = times ? n : 0;
}

#define PASTE(name)                                                                                                    \
    {                                                                                                                  \
#name, J_CUSTOM, offsetof(struct diagnosis_body, in.name), 0, 0, 0, 0, NULL, take_paste                        \
    }

static const struct jfield fields[] = {
    PASTE(nvidia_smi),
    PASTE(nvidia_smi_csv),
    PASTE(dmon),
    PASTE(topo),
    PASTE(training_log),
    {"iteration_times_s", J_CUSTOM, 0, 0, 0, 0, 0, NULL, take_times},
    {"language", J_STRING, offsetof(struct diagnosis_body, language), 2, 8, 0, 0, NULL, NULL},
};
static const struct jspec spec_diagnosis = {JFIELDS(fields), JSPEC_NO_STATED};

/* ---- encoding ---------------------------------------------------------------------------------------------- */

static void encode_finding(struct encode *e, const struct finding *f)
{
    struct jw *w = &e->w;
    jw_object(w, NULL);
    jw_string(w, "verdict", verdict_name(f->verdict));
    jw_string(w, "metric", f->metric);
    jw_number(w, "value", f->value);
    jw_number(w, "threshold", f->threshold);
    if (f->card >= 0)
        jw_int(w, "gpu_index", f->card);
    else
        jw_null(w, "gpu_index");
    encode_note_members(e, &f->note);
    jw_end_object(w);
}

static void encode_card(struct encode *e, const struct card_reading *c)
{
    struct jw *w = &e->w;
    jw_object(w, NULL);
    jw_int(w, "index", c->index);
    jw_string(w, "gpu", c->gpu ? c->gpu->id : NULL);
    jw_string(w, "name", c->name);
    jw_string(w, "bus_id", c->bus_id);
    jw_number(w, "memory_used_mib", c->memory_used_mib);
    jw_number(w, "memory_total_mib", c->memory_total_mib);
    jw_number(w, "memory_used_gb", c->memory_used_gb);
    jw_number(w, "memory_total_gb", c->memory_total_gb);
    jw_number(w, "memory_used_pct", card_memory_share(c) * 100);
    jw_number(w, "utilisation_pct", c->utilisation_pct);
    jw_number(w, "memory_busy_pct", c->memory_busy_pct);
    jw_number(w, "power_w", c->power_w);
    jw_number(w, "power_limit_w", c->power_limit_w);
    jw_int(w, "samples", c->samples);
    jw_bool(w, "mig", c->mig);
    jw_int(w, "mig_devices", c->mig_devices);
    jw_string(w, "verdict", verdict_name(c->verdict));
    jw_end_object(w);
}

static void strings(struct jw *w, const char *key, const char *const *items, size_t n)
{
    jw_array(w, key);
    for (size_t i = 0; i < n; i++)
        jw_string(w, NULL, items[i]);
    jw_end_array(w);
}

static void encode_topology(struct encode *e, const struct topology *t)
{
    struct jw *w = &e->w;
    if (!t->read) {
        jw_null(w, "topology");
        return;
    }
    jw_object(w, "topology");
    jw_int(w, "gpus", t->gpus);
    jw_int(w, "nics", t->nics);
    jw_string(w, "link", t->link);
    strings(w, "links", t->kinds, t->n_kinds);
    strings(w, "nic_links", t->nic_links, t->n_nic_links);
    jw_int(w, "nvlink_pairs", t->nvlink_pairs);
    jw_int(w, "pcie_pairs", t->pcie_pairs);
    jw_bool(w, "nvlink_connected", t->nvlink_connected);
    jw_bool(w, "pcie_bound", t->pcie_bound);
    jw_end_object(w);
}

static void encode_iterations(struct encode *e, const struct iteration_stats *s)
{
    struct jw *w = &e->w;
    bool rates = isfinite(s->samples_per_s) || isfinite(s->tokens_per_s) || isfinite(s->tokens_per_s_per_gpu) ||
                 isfinite(s->peak_memory_gb);
    if (!s->read && !rates) {
        jw_null(w, "iterations");
        return;
    }
    jw_object(w, "iterations");
    jw_string(w, "framework", s->framework);
    jw_int(w, "n", (int64_t)s->n);
    jw_number(w, "mean_s", s->mean_s);
    jw_number(w, "median_s", s->median_s);
    jw_number(w, "cv", s->cv);
    jw_number(w, "steady_mean_s", s->steady_mean_s);
    jw_number(w, "steady_median_s", s->steady_median_s);
    jw_number(w, "steady_cv", s->steady_cv);
    jw_int(w, "steady_n", (int64_t)s->steady_n);
    jw_int(w, "warmup_left_out", (int64_t)s->warmup_left_out);
    jw_int(w, "pauses_left_out", (int64_t)s->pauses_left_out);
    jw_bool(w, "smoothed", s->smoothed);
    jw_number(w, "data_share", s->data_share);
    jw_number(w, "samples_per_s", s->samples_per_s);
    jw_number(w, "tokens_per_s", s->tokens_per_s);
    jw_number(w, "tokens_per_s_per_gpu", s->tokens_per_s_per_gpu);
    jw_number(w, "peak_memory_gb", s->peak_memory_gb);
    jw_int_or_null(w, "global_batch", s->global_batch);
    jw_int_or_null(w, "seq_len", s->seq_len);
    jw_int_or_null(w, "world_size", s->world_size);
    jw_end_object(w);
}

static void member(struct jw *w, const char *key, double v, bool stated)
{
    if (stated)
        jw_number(w, key, v);
}

/* Only what was read: it must decode again as workload.measured. */
static void encode_measured(struct encode *e, const struct measured *m)
{
    struct jw *w = &e->w;
    if (!m->stated) {
        jw_null(w, "measured");
        return;
    }
    jw_object(w, "measured");
    if (m->gpu)
        jw_string(w, "gpu", m->gpu);
    member(w, "gpus", m->gpus, m->gpus > 0);
    member(w, "nodes", m->nodes, m->nodes > 0);
    member(w, "tokens_per_s", m->tokens_per_s, m->tokens_per_s > 0);
    member(w, "samples_per_s", m->samples_per_s, m->samples_per_s > 0);
    member(w, "step_time_s", m->step_time_s, m->step_time_s > 0);
    member(w, "seq_len", m->seq_len, m->seq_len > 0);
    member(w, "global_batch", m->global_batch, m->global_batch > 0);
    member(w, "gpu_util_pct", m->gpu_util_pct, m->gpu_util_pct >= 0);
    member(w, "memory_used_pct", m->memory_used_pct, m->memory_used_pct >= 0);
    member(w, "peak_memory_gb", m->peak_memory_gb, m->peak_memory_gb >= 0);
    member(w, "comm_share_pct", m->comm_share_pct, m->comm_share_pct >= 0);
    member(w, "iteration_time_cv", m->iteration_time_cv, m->iteration_time_cv >= 0);
    if (m->verdict != VERDICT_INSUFFICIENT)
        jw_string(w, "verdict", verdict_name(m->verdict));
    member(w, "recoverable_share", m->recoverable_share, m->recoverable_share >= 0);
    jw_end_object(w);
}

static void encode_diagnosis(struct encode *e, const struct diagnosis *g)
{
    struct jw *w = &e->w;
    jw_object(w, NULL);
    jw_string(w, "verdict", verdict_name(g->verdict));
    jw_string(w, "verdict_text", message_term(e->language, verdict_name(g->verdict)));
    jw_bool(w, "expand", g->expand);
    jw_number(w, "recoverable_share", g->recoverable_share);
    jw_string(w, "recoverable_basis", g->recoverable_read ? "readings" : g->recoverable_share > 0 ? "guides" : NULL);
    jw_array(w, "findings");
    for (size_t i = 0; i < g->findings.n; i++)
        encode_finding(e, &g->findings.items[i]);
    jw_end_array(w);
    jw_array(w, "per_gpu");
    for (size_t i = 0; i < g->cards.n; i++)
        encode_card(e, &g->cards.items[i]);
    jw_end_array(w);
    encode_topology(e, &g->topology);
    encode_iterations(e, &g->iterations);
    jw_string(w, "driver", g->driver);
    jw_string(w, "cuda", g->cuda);
    jw_string(w, "fault", g->fault);
    jw_number(w, "mean_utilisation_pct", g->mean_utilisation_pct);
    jw_number(w, "mean_memory_share", g->mean_memory_share);
    jw_number(w, "mean_power_share", g->mean_power_share);
    encode_measured(e, &g->measured);
    jw_end_object(w);
}

/* ---- the request ------------------------------------------------------------------------------------------- */

static bool decode_body(struct call *c, struct decode *d, struct diagnosis_body *b)
{
    static const char *const pasted[] = {"nvidia_smi", "nvidia_smi_csv", "dmon", "topo", "training_log", NULL};
    struct err err = {0};
    json_t *root = jspec_parse(d, c->req->body, c->req->body_len, pasted, &err);
    if (!root) {
        respond_err(c, &err, d);
        return false;
    }
    jspec_decode(d, &spec_diagnosis, root, "", b);
    json_decref(root);
    const struct diagnosis_input *in = &b->in;
    bool any =
        in->nvidia_smi || in->nvidia_smi_csv || in->dmon || in->topo || in->training_log || in->n_iteration_times;
    int language = c->language;
    if (b->language && workload_enum_parse(ENUM_LANGUAGE, b->language, &language))
        jspec_unknown_value(d, "/language", "unknown_value", b->language, workload_enum_choices(ENUM_LANGUAGE));
    if (!any && d->faults->n == 0)
        jspec_fault(d, "", "nothing_pasted", NULL, NULL);
    if (d->faults->n + d->faults->dropped) {
        respond_faults(c, d);
        return false;
    }
    c->language = (enum language)language;
    return true;
}

void handle_diagnosis(struct call *c)
{
    struct decode d;
    struct fault_list faults;
    struct diagnosis_body b = {0};
    struct err err = {0};
    decode_init(&d, c->req->catalog, c->req->arena, c->language, c->req->today, &faults);
    if (!decode_body(c, &d, &b))
        return;
    struct diagnosis *g = arena_alloc(c->req->arena, sizeof *g);
    if (!g) {
        respond_problem(c, API_ERROR_out_of_memory, NULL, NULL, NULL);
        return;
    }
    if (diagnosis_run(&b.in, c->req->catalog, c->req->arena, g, &err)) {
        respond_err(c, &err, &d);
        return;
    }
    struct buf body;
    buf_init(&body, RESPONSE_MAX);
    struct encode e = {.w = {.out = &body}, .catalog = c->req->catalog, .language = c->language, .currency = "CNY"};
    encode_diagnosis(&e, g);
    encode_done(&e);
    respond_body(c, CONTENT_JSON, &body);
}
