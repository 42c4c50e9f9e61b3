/* serving_estimate.c — the door for one replica on one shape: resolve, search a layout where none was stated, answer
 * with notes and a trace.
 */
#include "planner/serving/serving.h"

#include <math.h>

#include "planner/serving/serving_layout.h"
#include "planner/serving/serving_point.h"
#include "planner/serving/serving_trace.h"

#define GB 1e9

static void fill_memory(const struct replica *r, const struct replica_answer *a, struct estimate *e)
{
    const struct serving_memory *m = &a->memory;
    e->fits = m->fits;
    e->memory = (struct memory_estimate){.total_gb = m->needed / GB,
                                         .usable_gb = m->budget / GB,
                                         .weights_gb = m->weights / GB,
                                         .activations_gb = m->activation / GB,
                                         .overhead_gb = m->overhead / GB,
                                         .kv_cache_gb = m->kv_sequence / GB,
                                         .low_gb = m->needed / m->band / GB,
                                         .high_gb = m->needed * m->band / GB};
    e->memory.tightest_term = m->kv_sequence > m->weights ? "kv_cache" : "weights";
    e->serving.weights_gb = r->bytes.total / GB;
    e->serving.kv_bytes_per_token = (r->full_layers + r->window_layers) * r->kv_kept * r->kv_layer_bytes;
    e->serving.kv_cache_gb = m->kv_total / GB;
    e->serving.kv_cache_tokens = m->kv_tokens;
    e->serving.max_concurrency = m->max_concurrency;
}

static void fill_speed(const struct replica_answer *a, const struct point *p, struct serving_estimate *s)
{
    s->output_tokens_per_s = a->speed.output_tokens_per_s;
    s->total_tokens_per_s = a->speed.total_tokens_per_s;
    s->requests_per_s = a->speed.requests_per_s;
    s->ttft_ms = p->decode_only ? NAN : a->speed.ttft * 1e3;
    s->tpot_ms = a->speed.tpot * 1e3;
    s->output_tokens_per_s_low = s->output_tokens_per_s / a->band;
    s->output_tokens_per_s_high = s->output_tokens_per_s * a->band;
}

static void add_notes(const struct replica *r, const struct serving_request *q, const struct point *p,
                      const struct replica_answer *a, struct estimate *e)
{
    if (!r->engine.known)
        note_percent(note_add(&e->assumptions, "serving_engine_assumed"), "slower", r->k->unknown_engine_factor - 1);
    else if (!r->engine.version_known && r->engine.id == ENGINE_VLLM)
        note_add(&e->assumptions, "serving_engine_version_assumed");
    if (q->serving->weight_bits <= 0 && q->serving->weight_format == WF_UNSTATED)
        note_num(note_add(&e->assumptions, "serving_weight_bits_assumed"), "bits",
                 q->model->published_bits > 0 ? q->model->published_bits : r->wt.body_bits);
    if (q->serving->kv_bits <= 0)
        note_num(note_add(&e->assumptions, "serving_kv_bits_assumed"), "bits", r->kv_bits);
    bool lengths = (q->at != NULL && q->at->stated && (q->at->input_tokens > 0 || q->at->output_tokens > 0)) ||
                   q->serving->input_tokens > 0 || q->serving->output_tokens > 0;
    if (q->model->flops_per_sample > 0)
        note_num(note_add(&e->assumptions, "serving_request_is_passes"), "passes", p->output);
    else if (!lengths)
        note_num(note_num(note_add(&e->assumptions, "serving_lengths_assumed"), "input", p->input), "output",
                 p->output);
    if (!p->decode_only)
        note_num(note_num(note_add(&e->assumptions, "serving_ttft_is_a_mean"), "low_ms",
                          e->serving.ttft_ms * r->k->ttft_band_low),
                 "high_ms", e->serving.ttft_ms * r->k->ttft_band_high);
    note_num(note_num(note_add(&e->assumptions, "serving_tpot_is_a_mean"), "low_ms", e->serving.tpot_ms / a->tpot_band),
             "high_ms", e->serving.tpot_ms * a->tpot_band);
    if (e->fits == FITS_NO) {
        struct note *n = note_add(&e->warnings, "serving_memory_short");
        n->short_by = (a->memory.needed - a->memory.budget) / GB;
        note_num(note_num(n, "needed_gb", a->memory.needed / GB), "usable_gb", a->memory.budget / GB);
    } else if (e->fits == FITS_TIGHT) {
        note_num(note_num(note_add(&e->warnings, "serving_memory_tight"), "needed_gb", a->memory.needed / GB),
                 "usable_gb", a->memory.budget / GB);
    }
    if (e->fits != FITS_NO && !p->saturated && p->batch > a->admitted) {
        note_num(note_num(note_add(&e->warnings, "serving_requests_queue"), "wanted", p->batch), "in_flight",
                 a->admitted);
    }
    if (r->tp > 4 && (r->link == INTRA_PCIE3 || r->link == INTRA_PCIE4 || r->link == INTRA_PCIE5))
        note_num(note_add(&e->warnings, "serving_pcie_tensor_parallel"), "tp", r->tp);
    if (r->tp > r->shape->gpus_per_node)
        note_num(note_add(&e->warnings, "serving_tp_across_nodes"), "tp", r->tp);
    if (r->card.npu || r->card.rare)
        note_text(note_add(&e->warnings, "serving_few_measurements"), "gpu", r->shape->gpu->name);
}

int serving_estimate(const struct serving_constants *k, const struct serving_request *q, struct arena *arena,
                     struct estimate *ret, struct err *err)
{
    *ret = (struct estimate){.has_serving = true};
    note_list_init(&ret->assumptions, arena);
    note_list_init(&ret->warnings, arena);
    trace_init(&ret->trace, arena);
    struct replica r;
    struct layout layout = q->layout != NULL ? *q->layout : (struct layout){0};
    struct layout_choice choice;
    if (serving_layout_choose(k, q, &layout, &choice, err) != 0 ||
        replica_resolve(k, q->model, q->serving, q->shape, &choice.best, &r, err) != 0)
        return -1;
    struct point p = point_resolve(&r, q->serving, q->at);
    struct replica_answer a = replica_answer_at(&r, &p);
    ret->layout = choice.best;
    ret->has_runner_up = choice.has_runner_up;
    ret->runner_up = choice.runner_up;
    ret->runner_up_reason = choice.reason;
    ret->confidence = r.engine.known && !r.card.rare && !q->model->size_only ? CONF_CALIBRATED : CONF_ANALYTIC;
    fill_memory(&r, &a, ret);
    fill_speed(&a, &p, &ret->serving);
    add_notes(&r, q, &p, &a, ret);
    if (q->want_trace)
        serving_trace(&r, &p, &a, &ret->trace);
    return arena_failed(arena) ? err_set(err, ERR_NOMEM, "arena full") : 0;
}
