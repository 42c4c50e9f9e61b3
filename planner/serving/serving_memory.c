/* serving_memory.c — memory first: weights, the engine's own share, and what is left for the cache.
 *
 * docs/planner-serving.md, "Memory". vLLM's peak beside weights and cache is its sampler warm-up, which depends on
 * the vocabulary and not on the network; the first generation ran one full prefill instead.
 */
#include "planner/serving/serving_memory.h"

#include <math.h>

#define VLLM_V1 8          /* 0.8: chunked prefill, cache room independent of the longest sequence */
#define VLLM_CHUNKS_LONG 6 /* 0.6 and 0.7 chunk the prefill of models with contexts over 32k only */
#define CHUNKED_FROM 32768
#define VLLM_LEAN_SAMPLER 17
#define VLLM_GRAPHS_INSIDE 21

static double default_utilisation(const struct replica *r)
{
    const struct serving_constants *k = r->k;
    switch (r->engine.id) {
    case ENGINE_VLLM:
    case ENGINE_TGI:
    case ENGINE_MINDIE:
        return k->util_vllm;
    case ENGINE_SGLANG:
    case ENGINE_ATOM:
        return k->util_sglang;
    case ENGINE_UNSTATED:
        return k->util_unknown;
    case ENGINE_TENSORRT_LLM:
    case ENGINE_LMDEPLOY:
        return k->util_compiled;
    case ENGINE_LLAMA_CPP:
    case ENGINE_TRANSFORMERS:
    case ENGINE_EXLLAMAV2:
    case ENGINE_MLC:
    case ENGINE_AUTOAWQ:
        break;
    }
    return k->util_local;
}

double serving_batched_tokens(const struct replica *r, const struct serving_point *p)
{
    if (p->batched_tokens > 0)
        return p->batched_tokens;
    bool large = r->card.large && r->engine.version >= VLLM_V1;
    return large ? r->k->batched_tokens_large_card : r->k->batched_tokens;
}

/* Activations of one prefill of `tokens` on one rank. */
static double prefill_bytes(const struct replica *r, double tokens)
{
    const struct serving_constants *k = r->k;
    double width = r->m->intermediate * (r->moe ? (double)r->m->experts_per_token : 1);
    return 2 * tokens * (k->prefill_ffn * width / r->tp + k->prefill_hidden * r->m->hidden);
}

static double vllm_activation(const struct replica *r, const struct serving_point *p)
{
    const struct serving_constants *k = r->k;
    bool first = r->engine.version < VLLM_V1, large = r->card.large && !first;
    double tokens = serving_batched_tokens(r, p);
    double seqs = p->max_seqs > 0 ? p->max_seqs : large ? k->max_seqs_large_card : k->max_seqs;
    bool fat = first || (r->engine.version < VLLM_LEAN_SAMPLER && large);
    double sampler = (fat ? k->sampler_factor_old : k->sampler_factor) * 4 * seqs * r->m->vocab;
    bool chunked = p->batched_tokens > 0 || (r->engine.version >= VLLM_CHUNKS_LONG && p->max_len > CHUNKED_FROM);
    double prefill = first && !chunked ? fmax(p->max_len, tokens) : first ? tokens : fmin(tokens, fmax(1, p->max_len));
    return fmax(sampler, prefill_bytes(r, prefill));
}

static double vllm_overhead(const struct replica *r)
{
    const struct serving_constants *k = r->k;
    double version = r->engine.version;
    bool middle = version >= VLLM_V1 && version < VLLM_LEAN_SAMPLER;
    bool many = r->tp > 1;
    double gib = middle ? k->non_torch_one_old_gib : k->non_torch_one_gib;
    if (many && r->card.multicast && r->link == INTRA_NVSWITCH) { /* buffers of reductions inside the switch */
        double buffers = (version < VLLM_LEAN_SAMPLER ? k->non_torch_many_old_gib : k->non_torch_many_gib) - gib;
        /* Nobody cuts a model so small that the buffers outweigh what cutting it sets free. */
        double freed = r->bytes.total - r->bytes.replicated - r->bytes.total / r->tp;
        gib += fmin(buffers, fmax(0, freed) / BYTES_PER_GIB);
    }
    if (r->engine.version >= VLLM_GRAPHS_INSIDE && r->engine.version_known && !r->engine.eager)
        gib += k->graphs_gib;
    return gib * BYTES_PER_GIB;
}

static void engine_share(const struct replica *r, const struct serving_point *p, struct serving_memory *m)
{
    const struct serving_constants *k = r->k;
    switch (r->engine.id) {
    case ENGINE_VLLM:
    case ENGINE_TGI:
    case ENGINE_MINDIE:
        m->activation = vllm_activation(r, p);
        m->overhead = vllm_overhead(r);
        return;
    case ENGINE_SGLANG:
    case ENGINE_ATOM:
        m->overhead = k->overhead_sglang_gib * BYTES_PER_GIB;
        return;
    case ENGINE_TENSORRT_LLM:
    case ENGINE_LMDEPLOY:
        m->overhead = k->overhead_compiled_gib * BYTES_PER_GIB;
        return;
    case ENGINE_TRANSFORMERS:
    case ENGINE_AUTOAWQ:
        m->overhead = k->overhead_eager_gib * BYTES_PER_GIB;
        return;
    case ENGINE_LLAMA_CPP:
    case ENGINE_EXLLAMAV2:
    case ENGINE_MLC:
        m->overhead = k->overhead_local_gib * BYTES_PER_GIB;
        return;
    case ENGINE_UNSTATED:
        break;
    }
    m->overhead = k->overhead_unknown_gib * BYTES_PER_GIB + k->overhead_unknown_share * m->weights;
}

double serving_kv_sequence(const struct replica *r, double tokens, double batched_tokens)
{
    double block = r->k->block_tokens;
    if (r->source_positions > 0) /* a long source is read in passes, one after another */
        tokens = fmin(tokens, r->source_positions + r->m->max_context);
    double full = ceil(tokens / block) * block;
    double window = fmin(full, r->m->window + batched_tokens + block);
    return (r->full_layers * full + (r->pool_layers - r->full_layers) * window) * r->kv_kept * r->kv_layer_bytes *
           r->kv_share / r->pp;
}

double serving_concurrency(const struct replica *r, const struct serving_memory *mem, double tokens)
{
    struct serving_point defaults = {0};
    double per_sequence = serving_kv_sequence(r, tokens, serving_batched_tokens(r, &defaults));
    if (mem->kv_room <= 0)
        return 0;
    return per_sequence > 0 ? mem->kv_room / per_sequence : r->k->max_seqs_large_card;
}

/* Tight: closer than logged pools are reproduced. A wider gray zone would only hedge. */
static enum fits verdict(const struct serving_memory *m, double gray)
{
    double slack = m->budget - m->needed;
    if (slack >= gray)
        return FITS_YES;
    return slack > -gray ? FITS_TIGHT : FITS_NO;
}

/* The engine's default share of the card, raised by its operator where that would starve the cache: a bare default
 * that cannot hold the model is not how anybody runs it. */
static double share_of_card(const struct replica *r, const struct serving_point *p, double usable, double wanted)
{
    if (p->utilisation > 0)
        return p->utilisation;
    double share = default_utilisation(r);
    return fmax(share, fmin(r->k->util_most, wanted / usable));
}

/* Weights of the fullest card: in a pipeline the first stage also holds the embedding, the last the head. llama.cpp
 * cuts by memory instead. */
static double heaviest_stage(const struct replica *r)
{
    double even = r->bytes.total / ((double)r->tp * r->pp);
    if (r->pp <= 1 || r->engine.kind == EK_LOCAL)
        return even;
    return fmax(even, (r->bytes.total - r->bytes.vocab) / ((double)r->tp * r->pp) + r->bytes.head / r->tp);
}

struct serving_memory serving_memory_of(const struct replica *r, const struct serving_point *p)
{
    const struct serving_constants *k = r->k;
    double cards = (double)r->tp * r->pp, usable = r->card.usable;
    struct serving_memory m = {.weights = heaviest_stage(r)};
    if (r->engine.kind == EK_LOCAL)
        usable = r->card.label; /* the published rule is in label GiB */
    engine_share(r, p, &m);
    double wanted = (m.weights + m.activation + m.overhead) * (1 + k->cache_least);
    m.budget = usable * share_of_card(r, p, usable, wanted);
    m.kv_room = m.budget - m.weights - m.activation - m.overhead;
    double batched = serving_batched_tokens(r, p);
    m.kv_token = r->pool_layers * r->kv_kept * r->kv_layer_bytes * r->kv_share / r->pp;
    m.kv_sequence = serving_kv_sequence(r, p->max_len, batched);
    double room = fmax(0, m.kv_room);
    m.kv_total = room * cards;
    m.kv_tokens = m.kv_token > 0 ? room / m.kv_token : 0;
    m.max_concurrency = m.kv_sequence > 0 ? room / m.kv_sequence : (m.kv_room > 0 ? k->max_seqs_large_card : 0);
    m.needed = m.weights + m.activation + m.overhead + m.kv_sequence * fmax(1, p->in_flight);
    m.band = r->engine.version_known && p->utilisation > 0 ? k->memory_band_known : k->memory_band_unknown;
    m.fits = verdict(&m, usable * k->tight_share);
    return m;
}
