/* encode_estimate.c — an estimate, its notes and its trace as JSON. */
#include <math.h>

#include "api/encode.h"
#include "api/message.h"

static void note_values(struct encode *e, const struct note *n)
{
    jw_object(&e->w, "values");
    for (unsigned i = 0; i < n->n_args && i < NOTE_ARGS_MAX; i++) {
        const struct note_arg *a = &n->args[i];
        switch (a->kind) {
        case NOTE_NUMBER:
        case NOTE_PERCENT:
            jw_number(&e->w, a->name, a->number);
            break;
        case NOTE_MONEY:
            jw_money(&e->w, a->name, a->minor, e->currency);
            break;
        case NOTE_DATE:
            jw_date(&e->w, a->name, a->date);
            break;
        case NOTE_TEXT:
            jw_string(&e->w, a->name, a->text);
            break;
        }
    }
    jw_end_object(&e->w);
}

const char *encode_words(struct encode *e, const struct note *n)
{
    if (e->words.max == 0)
        buf_init(&e->words, 65536);
    e->words.len = 0;
    e->words.failed = false;
    message_note(&e->words, n, &(struct message_speech){e->language, e->currency, e->catalog, NULL});
    if (e->words.len == 0 || buf_failed(&e->words))
        return "";
    return e->words.data;
}

void encode_sentence(struct encode *e, const char *key, const struct note *n)
{
    jw_open_string(&e->w, key);
    message_note_json(e->w.out, n, &(struct message_speech){e->language, e->currency, e->catalog, e->said});
    jw_close_string(&e->w);
}

void encode_assumption_words(struct encode *e, const char *key, const char *name)
{
    jw_open_string(&e->w, key);
    message_assumption_json(e->w.out, e->language, name);
    jw_close_string(&e->w);
}

void encode_done(struct encode *e)
{
    buf_done(&e->words);
}

void encode_note_members(struct encode *e, const struct note *n)
{
    jw_string(&e->w, "code", n->code);
    encode_sentence(e, "text", n);
    jw_number(&e->w, "short_by", n->short_by);
    note_values(e, n);
}

void encode_note(struct encode *e, const char *key, const struct note *n)
{
    if (!n || !n->code) {
        jw_null(&e->w, key);
        return;
    }
    jw_object(&e->w, key);
    encode_note_members(e, n);
    jw_end_object(&e->w);
}

static void note_items(struct encode *e, const struct note_list *list)
{
    for (size_t i = 0; list && i < list->n; i++)
        encode_note(e, NULL, &list->items[i]);
}

void encode_notes(struct encode *e, const char *key, const struct note_list *list)
{
    jw_array(&e->w, key);
    note_items(e, list);
    jw_end_array(&e->w);
}

static void enum_member(struct encode *e, const char *key, enum workload_enum of, int value)
{
    jw_string(&e->w, key, workload_enum_name(of, value));
}

void encode_layout(struct encode *e, const char *key, const struct layout *l)
{
    struct jw *w = &e->w;
    jw_object(w, key);
    jw_int_or_null(w, "tp", l->tp);
    jw_int_or_null(w, "pp", l->pp);
    jw_int_or_null(w, "vpp", l->vpp);
    jw_int_or_null(w, "dp", l->dp);
    jw_int_or_null(w, "cp", l->cp);
    jw_int_or_null(w, "ep", l->ep);
    enum_member(e, "sharding", ENUM_SHARDING, (int)l->sharding);
    jw_int_or_null(w, "shard_group", l->shard_group);
    enum_member(e, "offload", ENUM_OFFLOAD, (int)l->offload);
    enum_member(e, "recompute", ENUM_RECOMPUTE, (int)l->recompute);
    jw_int_or_null(w, "micro_batch", l->micro_batch);
    jw_tri(w, "flash_attention", l->flash_attention);
    jw_tri(w, "vocab_parallel", l->vocab_parallel);
    jw_tri(w, "async_tp", l->async_tp);
    enum_member(e, "grad_sync", ENUM_GRAD_SYNC, (int)l->grad_sync);
    enum_member(e, "ep_dispatch", ENUM_EP_DISPATCH, (int)l->ep_dispatch);
    jw_end_object(w);
}

void encode_model(struct encode *e, const char *key, const struct model *m)
{
    struct jw *w = &e->w;
    if (!m || (m->params <= 0 && m->layers == 0)) {
        jw_null(w, key);
        return;
    }
    jw_object(w, key);
    jw_string(w, "preset", m->id && *m->id ? m->id : NULL);
    jw_string(w, "name", m->name && *m->name ? m->name : NULL);
    jw_number_or_null(w, "params_b", m->params / 1e9);
    jw_number_or_null(w, "active_params_b", m->active_params / 1e9);
    jw_int_or_null(w, "layers", m->layers);
    jw_int_or_null(w, "hidden", m->hidden);
    jw_int_or_null(w, "heads", m->heads);
    jw_int_or_null(w, "kv_heads", m->kv_heads);
    jw_int_or_null(w, "head_dim", m->head_dim);
    jw_int_or_null(w, "intermediate", m->intermediate);
    jw_int_or_null(w, "vocab", m->vocab);
    jw_int_or_null(w, "experts", m->experts);
    jw_int_or_null(w, "experts_per_token", m->experts_per_token);
    jw_int_or_null(w, "shared_intermediate", m->shared_intermediate);
    jw_int_or_null(w, "dense_layers", m->dense_layers);
    jw_int_or_null(w, "kv_lora_rank", m->kv_lora_rank);
    jw_int_or_null(w, "rope_head_dim", m->rope_head_dim);
    jw_int_or_null(w, "window", m->window);
    jw_int_or_null(w, "full_attention_layers", m->full_attention_layers);
    jw_int_or_null(w, "max_context", m->max_context);
    enum_member(e, "ffn", ENUM_FFN, (int)m->ffn);
    jw_tri(w, "tied_embeddings", m->tied_embeddings);
    jw_tri(w, "causal", m->causal);
    jw_bool(w, "size_only", m->size_only);
    jw_end_object(w);
}

static void encode_memory(struct encode *e, const struct memory_estimate *m)
{
    struct jw *w = &e->w;
    jw_object(w, "memory");
    jw_number(w, "total_gb", m->total_gb);
    jw_number(w, "usable_gb", m->usable_gb);
    jw_number(w, "weights_gb", m->weights_gb);
    jw_number(w, "gradients_gb", m->gradients_gb);
    jw_number(w, "optimizer_gb", m->optimizer_gb);
    jw_number(w, "activations_gb", m->activations_gb);
    jw_number(w, "logits_gb", m->logits_gb);
    jw_number(w, "buffers_gb", m->buffers_gb);
    jw_number(w, "overhead_gb", m->overhead_gb);
    jw_number(w, "kv_cache_gb", m->kv_cache_gb);
    jw_number(w, "low_gb", m->low_gb);
    jw_number(w, "high_gb", m->high_gb);
    jw_string(w, "tightest_term", m->tightest_term);
    jw_end_object(w);
}

static void encode_training(struct encode *e, const struct estimate *est)
{
    struct jw *w = &e->w;
    const struct training_estimate *t = &est->training;
    if (!est->has_training) {
        jw_null(w, "training");
        return;
    }
    jw_object(w, "training");
    jw_number(w, "step_time_s", t->step_time_s);
    jw_number(w, "tokens_per_s", t->tokens_per_s);
    jw_number(w, "tokens_per_s_per_gpu", t->tokens_per_s_per_gpu);
    jw_number(w, "samples_per_s", t->samples_per_s);
    jw_number(w, "tflops_per_gpu", t->tflops_per_gpu);
    jw_number(w, "mfu_pct", t->mfu_pct);
    jw_number(w, "communication_share", t->communication_share);
    jw_number(w, "bubble_share", t->bubble_share);
    jw_number(w, "data_wait_share", t->data_wait_share);
    jw_number(w, "scaling_efficiency", t->scaling_efficiency);
    jw_number(w, "gpu_hours", t->gpu_hours);
    jw_number(w, "wall_hours", t->wall_hours);
    jw_number(w, "tokens_per_s_per_gpu_low", t->tokens_per_s_per_gpu_low);
    jw_number(w, "tokens_per_s_per_gpu_high", t->tokens_per_s_per_gpu_high);
    jw_int_or_null(w, "global_batch", t->global_batch);
    jw_number(w, "run_overhead", t->run_overhead);
    jw_number(w, "checkpoint_gb", t->checkpoint_gb);
    jw_number(w, "host_memory_gb", t->host_memory_gb);
    jw_end_object(w);
}

static void encode_serving(struct encode *e, const struct estimate *est)
{
    struct jw *w = &e->w;
    const struct serving_estimate *s = &est->serving;
    if (!est->has_serving) {
        jw_null(w, "serving");
        return;
    }
    jw_object(w, "serving");
    jw_number(w, "weights_gb", s->weights_gb);
    jw_number(w, "kv_bytes_per_token", s->kv_bytes_per_token);
    jw_number(w, "kv_cache_gb", s->kv_cache_gb);
    jw_number(w, "kv_cache_tokens", s->kv_cache_tokens);
    jw_number(w, "max_concurrency", s->max_concurrency);
    jw_number(w, "output_tokens_per_s", s->output_tokens_per_s);
    jw_number(w, "total_tokens_per_s", s->total_tokens_per_s);
    jw_number(w, "requests_per_s", s->requests_per_s);
    jw_number(w, "ttft_ms", s->ttft_ms);
    jw_number(w, "tpot_ms", s->tpot_ms);
    jw_number(w, "output_tokens_per_s_low", s->output_tokens_per_s_low);
    jw_number(w, "output_tokens_per_s_high", s->output_tokens_per_s_high);
    jw_end_object(w);
}

static void encode_trace(struct encode *e, const struct trace *t)
{
    struct jw *w = &e->w;
    jw_array(w, "trace");
    for (size_t i = 0; i < t->n; i++) {
        const struct trace_step *s = &t->items[i];
        jw_object(w, NULL);
        jw_string(w, "name", s->name);
        jw_number(w, "value", s->value);
        jw_string(w, "unit", s->unit);
        jw_string(w, "formula", s->formula);
        jw_object(w, "inputs");
        for (unsigned k = 0; k < s->n_inputs && k < TRACE_INPUTS_MAX; k++)
            jw_number(w, s->inputs[k].name, s->inputs[k].value);
        jw_end_object(w);
        jw_end_object(w);
    }
    jw_end_array(w);
}

static void encode_runner_up(struct encode *e, const struct estimate *est)
{
    if (!est->has_runner_up) {
        jw_null(&e->w, "runner_up");
        return;
    }
    jw_object(&e->w, "runner_up");
    encode_layout(e, "layout", &est->runner_up);
    encode_note(e, "reason", &est->runner_up_reason);
    jw_end_object(&e->w);
}

void encode_estimate(struct encode *e, const char *key, const struct estimate *est, const struct note_list *assumed,
                     const struct model *model)
{
    struct jw *w = &e->w;
    jw_object(w, key);
    jw_string(w, "fits", fits_name(est->fits));
    encode_memory(e, &est->memory);
    encode_layout(e, "layout", &est->layout);
    encode_training(e, est);
    encode_serving(e, est);
    jw_string(w, "confidence", confidence_name(est->confidence));
    encode_model(e, "model", model);
    encode_runner_up(e, est);
    jw_array(w, "assumptions");
    note_items(e, assumed);
    note_items(e, &est->assumptions);
    jw_end_array(w);
    encode_trace(e, &est->trace);
    encode_notes(e, "warnings", &est->warnings);
    jw_end_object(w);
}
