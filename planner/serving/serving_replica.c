/* serving_replica.c — resolves a request into a replica: card, weights by kind, cache, links. */
#include "planner/serving/serving_replica.h"

#include <math.h>
#include <string.h>

#include "planner/serving/serving.h"

#define VLLM_LATENT_CACHE 7 /* before 0.7 latent attention was cached as full keys and values */

static double first_positive(double a, double b)
{
    return a > 0 ? a : b;
}

/* Peaks that a data sheet leaves out are derived from the neighbouring precision: halving the width doubles the rate
 * on every tensor unit so far. */
static int card_peaks(const struct gpu *g, struct card_traits *c, struct err *err)
{
    c->f16 = first_positive(g->bf16_tflops, g->fp16_tflops);
    if (c->f16 <= 0)
        c->f16 = first_positive(g->fp8_tflops, g->int8_tops) / 2;
    if (c->f16 <= 0)
        c->f16 = g->fp32_tflops;
    if (c->f16 <= 0)
        return err_at(err, ERR_UNSUPPORTED, "/hardware/gpu", "%s: bf16_tflops is not known", g->id);
    if (g->mem_bw_gb_s <= 0)
        return err_at(err, ERR_UNSUPPORTED, "/hardware/gpu", "%s: mem_bw_gb_s is not known", g->id);
    c->has_fp8 = g->fp8_tflops > 0;
    c->has_fp4 = g->fp4_tflops > 0;
    c->f8 = c->has_fp8 ? g->fp8_tflops : first_positive(g->int8_tops, c->f16);
    c->f4 = c->has_fp4 ? g->fp4_tflops : c->f8;
    c->f16 *= 1e12;
    c->f8 *= 1e12;
    c->f4 *= 1e12;
    c->bw = g->mem_bw_gb_s * 1e9;
    return 0;
}

int card_traits_of(const struct serving_constants *k, const struct shape *shape, struct card_traits *ret,
                   struct err *err)
{
    const struct gpu *g = shape->gpu;
    *ret = (struct card_traits){0};
    if (card_peaks(g, ret, err) != 0)
        return -1;
    ret->usable = shape_usable_bytes(shape);
    ret->label = (shape->gpu_memory_gb > 0 ? shape->gpu_memory_gb : g->memory_gb) * BYTES_PER_GIB;
    if (ret->usable <= 0)
        return err_at(err, ERR_UNSUPPORTED, "/hardware/gpu", "%s: memory_gb is not known", g->id);
    ret->cdna3 = g->gpu_class == GPU_CDNA3 || g->gpu_class == GPU_CDNA2;
    ret->amd = ret->cdna3 || g->gpu_class == GPU_CDNA4;
    ret->npu = g->gpu_class == GPU_ASCEND;
    ret->hbm = g->memory_type != NULL && strstr(g->memory_type, "HBM") != NULL;
    ret->old_hbm = ret->hbm && (g->gpu_class == GPU_AMPERE || g->gpu_class == GPU_VOLTA || g->gpu_class == GPU_CDNA2);
    ret->grace = g->coherent_host;
    ret->large = ret->usable / BYTES_PER_GIB >= k->large_card_gib && ret->f16 >= k->large_card_tflops * 1e12;
    ret->multicast = g->gpu_class == GPU_HOPPER || g->gpu_class == GPU_BLACKWELL;
    ret->rare = g->gpu_class == GPU_CLASS_OTHER || g->gpu_class == GPU_VOLTA || g->gpu_class == GPU_TURING ||
                g->gpu_class == GPU_CDNA2 || ret->npu;
    return 0;
}

/* Narrow weights that are widened before the multiplication. */
static void weight_only(struct weight_traits *w, double bits)
{
    w->body_bits = bits;
    w->weight_only = true;
    w->four_bit = bits < 6;
}

static double gguf_bits(const struct serving_constants *k, enum weight_format f)
{
    switch ((int)f) {
    case WF_GGUF_Q2_K:
        return k->bits_gguf_q2_k;
    case WF_GGUF_Q3_K_M:
        return k->bits_gguf_q3_k_m;
    case WF_GGUF_IQ4_XS:
        return k->bits_gguf_iq4_xs;
    case WF_GGUF_Q5_K_M:
        return k->bits_gguf_q5_k_m;
    case WF_GGUF_Q6_K:
        return k->bits_gguf_q6_k;
    case WF_GGUF_Q8_0:
        return k->bits_gguf_q8_0;
    case WF_GGUF_F16:
        return 16;
    default:
        return k->bits_gguf_q4_k_m;
    }
}

/* A width alone (weight_bits without a format) means what the card multiplies best at that width; nothing stated, what
 * the model is published in. */
static enum weight_format format_of(const struct serving *s, const struct model *m, const struct card_traits *card)
{
    if (s->weight_format != WF_UNSTATED)
        return s->weight_format;
    bool local = s->engine == ENGINE_LLAMA_CPP;
    if (s->weight_bits <= 0 && m->published_bits > 0 && !local)
        return m->published_bits < 6 ? WF_MXFP4 : WF_FP8;
    if (s->weight_bits <= 0 || s->weight_bits > 12)
        return s->weight_bits > 20 ? WF_FP32 : local ? WF_GGUF_F16 : WF_BF16;
    if (local)
        return WF_GGUF;
    if (s->weight_bits > 6)
        return card->has_fp8 ? WF_FP8 : WF_INT8_WEIGHT_ONLY;
    return WF_AWQ;
}

static void eight_bit(struct weight_traits *w, bool native)
{
    w->body_bits = 8;
    w->math = native ? MATH_8 : MATH_16;
    w->weight_only = !native;
}

static void by_format(const struct serving_constants *k, enum weight_format f, double stated,
                      const struct card_traits *card, struct weight_traits *w)
{
    switch ((int)f) {
    case WF_UNSTATED:
    case WF_BF16:
    case WF_FP16:
        break;
    case WF_FP32:
        w->body_bits = w->vocab_bits = 32;
        break;
    case WF_FP8:
    case WF_FP8_FBGEMM:
        eight_bit(w, card->has_fp8);
        w->fp8 = true;
        break;
    case WF_INT8:
        eight_bit(w, true);
        break;
    case WF_INT8_WEIGHT_ONLY:
        eight_bit(w, false);
        break;
    case WF_GPTQ:
    case WF_AWQ:
    case WF_INT4:
    case WF_Q4F16:
    case WF_EXL2:
        weight_only(w, stated > 0 ? stated : k->bits_weight_only_4);
        break;
    case WF_BNB4:
        weight_only(w, stated > 0 ? stated : k->bits_bnb4);
        break;
    case WF_NVFP4:
    case WF_MXFP4:
        weight_only(w, f == WF_NVFP4 ? k->bits_nvfp4 : k->bits_mxfp4);
        w->weight_only = !card->has_fp4;
        w->math = card->has_fp4 ? MATH_4 : MATH_16;
        break;
    default: /* GGUF kinds */
        weight_only(w, stated > 0 ? stated : gguf_bits(k, f));
        w->gguf = true;
        w->vocab_bits = w->body_bits;
        break;
    }
}

struct weight_traits weight_traits_of(const struct serving_constants *k, const struct serving *s, const struct model *m,
                                      const struct card_traits *card)
{
    struct weight_traits w = {.body_bits = 16, .vocab_bits = 16, .math = MATH_16};
    enum weight_format f = format_of(s, m, card);
    by_format(k, f, s->weight_bits, card, &w);
    if (w.body_bits >= 16)
        w.weight_only = w.four_bit = false;
    w.attention_bits = w.expert_bits = w.body_bits;
    /* Meta's FP8 checkpoints leave attention in 16 bits; MXFP4 packs routed experts only, padded to tiles. */
    if (f == WF_FP8_FBGEMM)
        w.attention_bits = 16;
    if (f == WF_MXFP4 && m->experts > 0 && m->kv_lora_rank == 0) {
        w.attention_bits = w.body_bits = 16;
        w.expert_bits = k->bits_mxfp4 * k->mxfp4_padding;
    }
    return w;
}

double serving_least_bits(const struct serving_constants *k, const struct serving *s, const struct model *m,
                          double open)
{
    if (s->weight_bits <= 0 && s->weight_format == WF_UNSTATED)
        return open;
    const struct card_traits plain = {0};
    const struct weight_traits w = weight_traits_of(k, s, m, &plain);
    return fmin(fmin(w.body_bits, w.vocab_bits), fmin(w.attention_bits, w.expert_bits));
}

/* Encoder and decoder: a decoder's layer has two attentions, of which one makes its keys and values of the source. */
static void split_stacks(struct replica *r)
{
    const struct model *m = r->m;
    if (m->encoder_layers <= 0 || m->decoder_layers <= 0)
        return;
    double attention = model_attention_params(m);
    double feed = (m->ffn == FFN_GATED ? 3.0 : 2.0) * m->hidden * m->intermediate;
    double encoder = m->encoder_layers * (attention + feed), decoder = m->decoder_layers * (2 * attention + feed);
    double body = r->params.attention + r->params.dense;
    r->params.encoder = body * encoder / (encoder + decoder);
    r->params.attention = (body - r->params.encoder) * 2 * attention / (2 * attention + feed);
    r->params.dense = body - r->params.encoder - r->params.attention;
    r->params.cross = m->decoder_layers * 2.0 * m->hidden * m->kv_heads * m->head_dim;
    r->encoder_layers = m->encoder_layers;
    r->source_positions = m->encoder_positions;
}

static void weigh(struct replica *r, double embeddings)
{
    const struct weight_params *p = &r->params;
    r->bytes = (struct weight_bytes){.attention = p->attention * r->wt.attention_bits / 8,
                                     .dense = p->dense * r->wt.body_bits / 8,
                                     .experts = p->experts * r->wt.expert_bits / 8,
                                     .encoder = p->encoder * r->wt.body_bits / 8,
                                     .companions = r->m->companion_params * 2,
                                     .vocab = embeddings * r->wt.vocab_bits / 8,
                                     .head = p->head * r->wt.vocab_bits / 8};
    r->bytes.total = r->bytes.attention + r->bytes.dense + r->bytes.experts + r->bytes.encoder + r->bytes.companions +
                     r->bytes.vocab;
}

/* Parameters by kind. Where the stated total is not what the dimensions give (multimodal towers, hybrid layers), the
 * routed experts, or else the dense part, take the difference. */
static void split_params(struct replica *r)
{
    const struct model *m = r->m;
    bool tied = m->tied_embeddings == TRI_YES;
    double vocab = model_embedding_params(m);
    double embeddings = vocab * (tied ? 1 : 2);
    if (m->causal == TRI_NO || m->vocab == 0)
        embeddings = vocab;
    double attention = m->layers * model_attention_params(m);
    double experts = m->experts > 0 ? model_expert_params(m) : 0;
    double total = m->params > 0 ? m->params : model_count_params(m);
    double counted = model_count_params(m);
    if (experts > 0 && fabs(counted / total - 1) > 0.03)
        experts = fmax(0.1 * experts, experts + total - counted);
    attention = fmin(attention, 0.9 * fmax(0, total - embeddings)); /* layers that share one set of weights */
    experts = fmin(experts, fmax(0, total - attention - embeddings));
    double dense = fmax(0, total - attention - experts - embeddings);
    r->params = (struct weight_params){
        .attention = attention, .dense = dense, .experts = experts, .head = m->causal == TRI_NO ? 0 : vocab};
    r->moe = experts > 0 && m->experts > 0;
    r->moe_layers = model_moe_layers(m);
    double per_layer = (double)m->experts * 2 * m->hidden * m->intermediate;
    if (r->moe && per_layer > 0)
        r->moe_layers = (int)fmin(r->moe_layers, ceil(experts / per_layer));
    split_stacks(r);
    weigh(r, embeddings);
}

/* What every rank holds besides its share: latent down-projections under TP, everything but the experts
 * under attention-DP. The
 * extra head of speculative decoding is one more layer. */
static void replicate(struct replica *r)
{
    const struct model *m = r->m;
    double copies = r->tp - 1;
    if (r->attention_dp)
        r->bytes.replicated = copies * (r->bytes.attention + r->bytes.dense + r->bytes.vocab);
    else if (r->mla)
        r->bytes.replicated = copies * m->layers * (double)m->hidden *
                              (m->q_lora_rank + m->kv_lora_rank + m->rope_head_dim) * r->wt.attention_bits / 8;
    if (r->mtp)
        r->bytes.total += (r->bytes.attention + r->bytes.dense + r->bytes.experts) / fmax(1, m->layers);
    r->bytes.total += r->bytes.replicated;
}

/* Blocks of the stack: an ordinary layer is a mixer and an FFN; some hybrids have layers that are one or the other,
 * told by routed experts that account for a part of the layers only while nothing says what the others hold. */
static void stack_of(struct replica *r)
{
    const struct model *m = r->m;
    bool single =
        r->moe && r->moe_layers < m->layers - m->dense_layers && m->moe_every <= 1 && m->full_attention_layers > 0;
    r->pass_layers = single ? m->layers / 2.0 : r->encoder_layers > 0 ? m->decoder_layers : m->layers;
    double mixers = single ? m->layers - r->moe_layers : m->layers;
    bool linear = m->full_attention_layers > 0 && m->window == 0;
    r->state_layers = m->no_attention ? mixers : linear ? fmax(0, mixers - m->full_attention_layers) : 0;
    r->state_layer_bytes = r->k->state_bytes_per_width * m->hidden;
}

static void cache_of(struct replica *r)
{
    const struct model *m = r->m;
    double layers = r->encoder_layers > 0 ? m->decoder_layers : m->layers;
    r->full_layers = m->full_attention_layers > 0 ? m->full_attention_layers : layers;
    r->window_layers = m->window > 0 ? layers - r->full_layers : 0;
    double kept = m->kv_layers > 0 ? m->kv_layers / layers : 1;
    if (kept > 1) { /* several attentions in a layer: each is kept, and read */
        r->full_layers *= kept;
        r->window_layers *= kept;
    }
    r->kv_kept = fmin(1, kept);
    if (m->causal == TRI_NO || m->no_attention) /* nothing is kept, or only a state that does not grow */
        r->full_layers = r->window_layers = 0;
    double group = fmin(r->full_layers, r->window_layers);
    r->pool_layers = group > 0 ? group * (ceil(r->full_layers / group) + ceil(r->window_layers / group))
                               : r->full_layers + r->window_layers;
    bool expanded = r->mla && r->engine.id == ENGINE_VLLM && r->engine.version < VLLM_LATENT_CACHE;
    r->kv_layer_bytes = expanded ? 2.0 * m->heads * (m->head_dim + m->rope_head_dim) * r->kv_bits / 8
                        : r->mla ? (m->kv_lora_rank + m->rope_head_dim) * r->kv_bits / 8
                                 : 2.0 * m->kv_heads * m->head_dim * r->kv_bits / 8;
    double heads = expanded ? m->heads : r->mla ? 1 : m->kv_heads;
    r->kv_share = r->attention_dp ? 1.0 / r->tp : 1 / fmin(r->tp, heads);
}

static void pcie(struct replica *r, double generation)
{
    r->link_bw = r->k->pcie4_gb_s * 1e9 * generation;
    r->link_lat = r->k->all_reduce_pcie_us * 1e-6;
}

/* The link of the tensor-parallel group. Bridges join pairs; xGMI is a mesh, of which a small group uses a part. */
static void link_of(struct replica *r)
{
    const struct serving_constants *k = r->k;
    const struct gpu *g = r->shape->gpu;
    r->link = r->shape->intra != INTRA_UNSTATED ? r->shape->intra : hardware_default_intra(g, r->shape->gpus_per_node);
    double one_way = (g->link_gb_s_bidir > 0 ? g->link_gb_s_bidir : k->link_assumed_gb_s) / 2 * 1e9;
    r->link_bw = one_way * k->link_share;
    r->link_lat = k->all_reduce_us * 1e-6;
    if (r->tp > r->shape->gpus_per_node) {
        double gbps = r->shape->inter_gbps_per_node > 0 ? r->shape->inter_gbps_per_node : k->inter_assumed_gbps;
        r->link_bw = gbps / 8 * 1e9 * k->inter_share;
        r->link_lat = k->all_reduce_inter_us * 1e-6;
    } else if (r->link == INTRA_PCIE3) {
        pcie(r, 0.5);
    } else if (r->link == INTRA_PCIE5) {
        pcie(r, 2);
    } else if (r->link == INTRA_PCIE4 || (r->link == INTRA_NVLINK_BRIDGE && r->tp > 2)) {
        pcie(r, g->pcie_gen >= 5 ? 2 : 1);
    } else if (r->link == INTRA_XGMI && r->tp < 8) {
        r->link_bw *= (r->tp - 1) / 7.0;
    }
    if (r->engine.old_collectives)
        r->link_lat *= k->all_reduce_old;
}

/* Some formats are read by one engine only. */
static enum engine engine_of_format(enum weight_format f)
{
    if (f >= WF_GGUF)
        return ENGINE_LLAMA_CPP;
    return f == WF_EXL2 ? ENGINE_EXLLAMAV2 : f == WF_Q4F16 ? ENGINE_MLC : ENGINE_UNSTATED;
}

/* Checkpoints that NVIDIA's tools pack (4-bit floats; 8-bit ones for TensorRT-LLM) name an 8-bit cache, and engines
 * follow what a checkpoint names. */
static double checkpoint_kv_bits(const struct serving *s, const struct replica *r)
{
    bool native8 = r->wt.math == MATH_8 && r->wt.fp8;
    bool named =
        s->weight_format == WF_NVFP4 || (native8 && r->engine.id == ENGINE_TENSORRT_LLM) || r->engine.id == ENGINE_ATOM;
    return named ? 8 : 16;
}

int replica_resolve(const struct serving_constants *k, const struct model *m, const struct serving *s,
                    const struct shape *shape, const struct layout *layout, struct replica *ret, struct err *err)
{
    *ret = (struct replica){.k = k, .m = m, .shape = shape};
    if (card_traits_of(k, shape, &ret->card, err) != 0)
        return -1;
    enum engine engine = s->engine != ENGINE_UNSTATED ? s->engine : engine_of_format(s->weight_format);
    ret->engine = engine_traits_of(engine, s->engine_version, s->enforce_eager);
    ret->wt = weight_traits_of(k, s, m, &ret->card);
    ret->tp = layout != NULL && layout->tp > 0 ? layout->tp : 1;
    ret->pp = layout != NULL && layout->pp > 0 ? layout->pp : 1;
    if (ret->pp > m->layers)
        ret->pp = m->layers;
    ret->ep = layout != NULL && layout->ep > 0 ? layout->ep : 1;
    ret->attention_dp = s->attention_dp && ret->tp > 1;
    if (ret->attention_dp && ret->ep == 1)
        ret->ep = ret->tp; /* experts stay whole where attention is not cut */
    ret->mtp = s->speculative_mtp;
    ret->mla = m->kv_lora_rank > 0;
    ret->kv_bits = s->kv_bits > 0 ? s->kv_bits : checkpoint_kv_bits(s, ret);
    split_params(ret);
    replicate(ret);
    stack_of(ret);
    cache_of(ret);
    link_of(ret);
    return 0;
}

struct replica replica_attention_dp(const struct replica *r)
{
    struct replica d = *r;
    d.attention_dp = true;
    split_params(&d);
    replicate(&d);
    cache_of(&d);
    return d;
}
