/* serving_trace.c — the "why" of memory, cache, step, prefill and throughput. */
#include "planner/serving/serving_trace.h"

#define GB 1e9

static void trace_memory(const struct replica *r, const struct serving_memory *m, struct trace *t)
{
    double cards = (double)r->tp * r->pp;
    trace_add(t, "serving.weights_gb", r->bytes.total / GB, "GB",
              "attention + dense + experts + beside + vocabulary + replicated", 6, "attention", r->bytes.attention / GB,
              "dense", r->bytes.dense / GB, "experts", r->bytes.experts / GB, "beside",
              (r->bytes.encoder + r->bytes.companions) / GB, "vocabulary", r->bytes.vocab / GB, "replicated",
              r->bytes.replicated / GB);
    trace_add(t, "serving.kv_bytes_per_token", (r->full_layers + r->window_layers) * r->kv_kept * r->kv_layer_bytes,
              "bytes", "layers * bytes_per_layer", 2, "layers", (r->full_layers + r->window_layers) * r->kv_kept,
              "bytes_per_layer", r->kv_layer_bytes);
    trace_add(t, "memory.usable_gb", m->budget / GB, "GB", "usable * utilisation", 2, "usable", r->card.usable / GB,
              "utilisation", m->budget / r->card.usable);
    trace_add(t, "serving.kv_room_gb", m->kv_room / GB, "GB", "budget - weights - activation - overhead", 4, "budget",
              m->budget / GB, "weights", m->weights / GB, "activation", m->activation / GB, "overhead",
              m->overhead / GB);
    trace_add(t, "serving.kv_cache_gb", m->kv_total / GB, "GB", "room * cards", 2, "room", m->kv_room / GB, "cards",
              cards);
    trace_add(t, "serving.kv_cache_tokens", m->kv_tokens, "tokens", "room / token_bytes_per_card", 2, "room",
              m->kv_room, "token_bytes_per_card", m->kv_token);
    trace_add(t, "serving.max_concurrency", m->max_concurrency, "requests", "room / longest_sequence_bytes_per_card", 2,
              "room", m->kv_room, "longest_sequence_bytes_per_card", m->kv_sequence);
    trace_add(t, "memory.total_gb", m->needed / GB, "GB", "weights + activation + overhead + cache", 4, "weights",
              m->weights / GB, "activation", m->activation / GB, "overhead", m->overhead / GB, "cache",
              (m->needed - m->weights - m->activation - m->overhead) / GB);
}

static void trace_step(const char *name, const char *formula, const struct step_time *s, struct trace *t)
{
    trace_add(t, name, s->total * 1e3, "ms", formula, 7, "launch", s->launch * 1e3, "weights", s->weights * 1e3, "math",
              s->math * 1e3, "experts", s->experts * 1e3, "cache", s->cache * 1e3, "collectives", s->collectives * 1e3,
              "host", s->host * 1e3);
}

void serving_trace(const struct replica *r, const struct point *p, const struct replica_answer *a, struct trace *t)
{
    const struct load_speed *s = &a->speed;
    trace_memory(r, &a->memory, t);
    trace_add(t, "serving.in_flight", a->in_flight, "requests", "min(wanted, admitted)", 2, "wanted",
              p->saturated ? a->admitted : p->batch, "admitted", a->admitted);
    const char *sum = "launch + (weights^3 + math^3)^(1/3) + experts + cache + collectives + host";
    const char *eager = "launch beside ((weights^3 + math^3)^(1/3) + experts + cache + collectives) + host";
    trace_step("serving.decode_step_ms", r->engine.eager ? eager : sum, &s->step, t);
    trace_step("serving.prefill_ms", sum, &s->prefill, t);
    trace_add(t, "serving.token_step_ms", s->token_step * 1e3, "ms",
              "step * (bubble * unnamed engine / drafts / share of two stacks)", 2, "step", s->step.total * 1e3,
              "factor", s->token_step / s->step.total);
    trace_add(t, "serving.requests_per_s", s->requests_per_s, "1/s",
              "min(in_flight, stages) / (prefill + output * step / microbatch)", 6, "in_flight", a->in_flight, "stages",
              (double)r->pp, "prefill", s->prefill.total, "output", p->output, "step", s->token_step, "microbatch",
              s->microbatch);
    trace_add(t, "serving.output_tokens_per_s", s->output_tokens_per_s, "tokens/s", "requests_per_s * output", 2,
              "requests_per_s", s->requests_per_s, "output", p->output);
    trace_add(t, "serving.total_tokens_per_s", s->total_tokens_per_s, "tokens/s", "requests_per_s * (input + output)",
              3, "requests_per_s", s->requests_per_s, "input", p->decode_only ? 0 : p->input, "output", p->output);
    trace_add(t, "serving.tpot_ms", s->tpot * 1e3, "ms", "step + interference of other requests' prefill", 2, "step",
              s->token_step * 1e3, "interference", (s->tpot - s->token_step) * 1e3);
    trace_add(t, "serving.ttft_ms", s->ttft * 1e3, "ms", "factor * prefill + step", 3, "factor", s->ttft_factor,
              "prefill", (s->ttft - s->token_step) / s->ttft_factor * 1e3, "step", s->token_step * 1e3);
    trace_add(t, "serving.output_tokens_per_s_low", s->output_tokens_per_s / a->band, "tokens/s", "expected / band", 2,
              "expected", s->output_tokens_per_s, "band", a->band);
    trace_add(t, "serving.output_tokens_per_s_high", s->output_tokens_per_s * a->band, "tokens/s", "expected * band", 2,
              "expected", s->output_tokens_per_s, "band", a->band);
}
