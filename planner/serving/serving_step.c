/* serving_step.c — a roofline by term: fixed launches, weights, cache, experts, collectives, host.
 *
 * docs/planner-serving.md, "Speed". All times are of one pass over all layers by one microbatch; a pipeline works on
 * several microbatches at once, which serving_speed accounts for.
 */
#include "planner/serving/serving_step.h"

#include <math.h>

#include "planner/serving/serving_forward.h"

#define VLLM_V1 8 /* 0.8: the scheduler of the second generation */

/* Two things at once: the longer decides, and near equality each delays the other. */
static double beside(double a, double b)
{
    return cbrt(a * a * a + b * b * b);
}

/* Large matrix products of one rank, FLOP/s. */
static double gemm_rate(const struct replica *r, enum math_kind math)
{
    const struct serving_constants *k = r->k;
    double rate = r->card.f16 * k->gemm16;
    if (math == MATH_8)
        rate = r->card.f8 * k->gemm8;
    if (math == MATH_4)
        rate = r->card.f4 * k->gemm4;
    return rate * (!r->card.amd ? 1 : r->moe && r->card.cdna3 ? k->gemm_amd_moe : k->gemm_amd);
}

/* Formats that pack experts only leave the rest in 16 bits. */
static bool packed_dense(const struct replica *r)
{
    return r->wt.body_bits < 16;
}

static enum math_kind dense_math(const struct replica *r)
{
    return packed_dense(r) ? r->wt.math : MATH_16;
}

/* Share of the bandwidth that a stream of dense weights reaches. */
static double weight_share(const struct replica *r)
{
    const struct serving_constants *k = r->k;
    double eta = !r->card.hbm ? k->eta_weights_gddr : r->card.old_hbm ? k->eta_weights_old : k->eta_weights;
    if (r->engine.id == ENGINE_LLAMA_CPP && r->card.hbm)
        eta *= k->eta_weights_local_hbm;
    if (r->wt.four_bit && r->wt.gguf)
        eta *= k->local_4bit; /* k-quants carry more arithmetic than plain groups */
    else if (r->wt.four_bit && r->wt.weight_only && packed_dense(r) && r->engine.kind != EK_LOCAL)
        eta *= k->weight_only_4bit;
    return eta;
}

/* Without graphs the host launches every kernel: more of them where weights must be widened first. */
static double eager_factor(const struct replica *r)
{
    const struct serving_constants *k = r->k;
    if (r->wt.body_bits >= 16)
        return 1;
    if (r->wt.math == MATH_8 || r->wt.fp8)
        return k->eager_factor_fp8;
    return r->wt.four_bit ? k->eager_factor_4bit : k->eager_factor_8bit;
}

static double layer_seconds(const struct replica *r)
{
    const struct serving_constants *k = r->k;
    double us = r->moe ? k->layer_us_moe : k->layer_us_dense;
    if (r->mla)
        us += k->layer_us_mla;
    if (r->moe && r->wt.math == MATH_8)
        us += k->layer_us_moe_fp8;
    if (r->engine.kind == EK_LOCAL)
        us = k->layer_us_local;
    if (r->engine.kind == EK_EAGER)
        us = k->layer_us_eager * eager_factor(r);
    else if (r->engine.eager) /* graphs switched off: fused kernels, but each is launched */
        us = fmax(us, k->layer_us_no_graphs);
    if (r->card.npu)
        us = k->layer_us_npu;
    if (r->card.cdna3 && r->moe && !r->engine.tuned_cdna3)
        us *= k->layer_factor_cdna3;
    return us * 1e-6;
}

static double launch_time(const struct replica *r)
{
    const struct serving_constants *k = r->k;
    double t = r->pass_layers * layer_seconds(r);
    if (r->moe && r->engine.kind == EK_EAGER)
        t += r->moe_layers * (double)r->m->experts * k->eager_expert_us * 1e-6;
    else if (r->moe && r->wt.weight_only && r->wt.four_bit && !r->wt.gguf && r->engine.id == ENGINE_SGLANG)
        t += r->moe_layers * k->gptq_expert_us * 1e-6;
    return t;
}

/* A matrix kernel computes whole tiles: few rows cost as much as a tile. Engines of one user have vector kernels. */
static double tile_rows(const struct replica *r)
{
    if (r->engine.kind == EK_LOCAL || r->engine.kind == EK_EAGER)
        return 1;
    return r->wt.weight_only && packed_dense(r) ? r->k->tile_rows_weight_only : r->k->tile_rows;
}

/* The busiest of `ranks` against the mean, when each has `mean` hits of variance mean x spread: whole experts fall on
 * ranks by chance, and a step lasts as long as the last of them. */
static double imbalance(double ranks, double mean, double spread)
{
    return ranks > 1 && mean > 0 ? 1 + sqrt(log(ranks) * spread / mean) : 1;
}

/* Routed experts for `tokens` rows: what is read beside what is multiplied, and what is moved. */
static double expert_time(const struct replica *r, double tokens, double rate)
{
    if (!r->moe)
        return 0;
    const struct serving_constants *k = r->k;
    const struct model *m = r->m;
    double chosen = (double)m->experts_per_token / m->experts;
    double touched = 1 - pow(1 - chosen, tokens);
    double cards = r->tp;
    double read = r->bytes.experts * touched / (cards * r->card.bw * k->eta_experts);
    double ranks = fmin(r->ep, r->tp);
    read *= imbalance(ranks, touched * m->experts / ranks, 1 - touched);
    double width = (double)m->intermediate / (r->tp / ranks);
    double pad = k->expert_pad_rows * (r->wt.weight_only ? k->tile_rows_weight_only / k->tile_rows : 1);
    double rows = tokens * chosen + pad * touched; /* per expert */
    double flops = 2 * r->params.experts * rows;
    double multiply = flops / (cards * rate) * (1 + k->expert_narrow / width);
    /* Rows are gathered, scattered and summed once for each expert chosen. */
    double moved = r->moe_layers * tokens * m->experts_per_token * (double)m->hidden * 2 * k->expert_passes;
    return beside(read, multiply) + moved / (cards * r->card.bw);
}

static double cache_time(const struct replica *r, double batch, double context)
{
    const struct serving_constants *k = r->k;
    double window = fmin(context, r->m->window);
    double tokens = r->full_layers * context + r->window_layers * window;
    double requests = r->attention_dp ? fmax(batch, r->tp) : batch;
    double bytes = requests * tokens * r->kv_layer_bytes * r->kv_share;
    double rate = r->card.bw * k->eta_kv;
    if (r->engine.kind == EK_EAGER) {
        double groups = r->mla ? 1 : (double)r->m->heads / r->m->kv_heads;
        bytes *= k->eager_kv_passes * (3 + 2 * groups);
        rate = fmin(rate, k->eager_copy_gb_s * 1e9); /* copies are bound by the multiprocessors on fast memory */
    }
    double state = 2 * requests * r->state_layers * r->state_layer_bytes / (r->attention_dp ? 1 : r->tp);
    return (bytes + state) / rate;
}

/* Two reductions a layer of `rows` rows; attention-DP moves half of it. */
static double collective_time(const struct replica *r, double rows)
{
    if (r->tp <= 1)
        return 0;
    double bytes = rows * r->m->hidden * 2;
    double one = r->link_lat + 2.0 * (r->tp - 1) / r->tp * bytes / r->link_bw;
    return 2 * r->pass_layers * one * (r->attention_dp ? 0.5 : 1);
}

/* A step of the scheduler that the card waits for. */
static double step_overhead(const struct replica *r)
{
    const struct serving_constants *k = r->k;
    bool first_generation = (r->engine.id == ENGINE_VLLM && r->engine.version < VLLM_V1) || r->engine.id == ENGINE_TGI;
    return (first_generation ? k->host_ms_old : k->host_ms) * 1e-3;
}

static double host_time(const struct replica *r, double batch, double gpu)
{
    const struct serving_constants *k = r->k;
    if (r->engine.kind == EK_EAGER)
        return 0;
    if (r->engine.kind == EK_LOCAL)
        return k->host_ms_local * 1e-3;
    double per_sequence = batch * k->host_seq_us * 1e-6 * (r->card.grace ? k->host_grace : 1);
    if (r->engine.kind == EK_COMPILED && r->engine.version < 1000)
        return 0;
    if (r->engine.overlapped_host)
        return sqrt(gpu * gpu + per_sequence * per_sequence) - gpu;
    return per_sequence + step_overhead(r);
}

/* Launching runs ahead of the card: the slower of both decides, except where kernels wait for the host. */
static double launched(const struct replica *r, double launch, double work)
{
    if (r->wt.math == MATH_8 || r->wt.fp8)
        return launch + work;
    return beside(launch, work);
}

struct step_time serving_decode(const struct replica *r, double batch, double context)
{
    const struct serving_constants *k = r->k;
    struct step_time t = {.launch = launch_time(r)};
    double rate = gemm_rate(r, dense_math(r)) * k->gemm_decode, bw = r->card.bw * weight_share(r);
    double cards = r->attention_dp ? 1 : r->tp; /* what the dense part is cut over */
    double rows = fmax(r->attention_dp ? batch / r->tp : batch, tile_rows(r));
    t.weights = (r->bytes.attention + r->bytes.dense + r->bytes.head) / cards / bw;
    t.math = 2 * (r->params.attention + r->params.dense + r->params.head) / cards * rows / rate;
    t.linear = beside(t.weights, t.math);
    t.experts = expert_time(r, batch, gemm_rate(r, r->wt.math) * k->gemm_decode);
    t.cache = cache_time(r, batch, context);
    t.collectives = collective_time(r, batch);
    double work = t.linear + t.experts + t.cache + t.collectives;
    double gpu = r->engine.eager ? launched(r, t.launch, work) : t.launch + work;
    t.host = host_time(r, batch * r->pp, gpu);
    t.total = gpu + t.host;
    return t;
}

/* A source of `tokens` through the encoder, and its keys and values for every layer of the decoder. */
static struct step_time encode(const struct replica *r, double tokens, double group)
{
    const struct serving_constants *k = r->k;
    double rate = gemm_rate(r, dense_math(r)) / (r->engine.kind == EK_COMPILED ? 1 : k->gemm_prefill_python);
    double all = tokens * group, params = r->params.encoder + r->params.cross;
    struct step_time t = {.launch = r->encoder_layers * layer_seconds(r) / group};
    t.weights = r->bytes.encoder / r->tp / (r->card.bw * weight_share(r)) / group;
    t.math = 2 * params * fmax(all, tile_rows(r)) / (r->tp * rate) / group;
    t.linear = beside(t.weights, t.math);
    double span = (double)r->encoder_layers * tokens * tokens; /* both ways */
    t.cache = 4 * span * r->m->heads * r->m->head_dim / (r->tp * r->card.f16 * k->attention_share);
    double rows = all * r->encoder_layers / r->pass_layers; /* reductions are counted by the decoder's layers */
    t.collectives = collective_time(r, rows) / group;
    t.total = t.launch + t.linear + t.cache + t.collectives;
    return t;
}

struct step_time serving_prefill(const struct replica *r, double tokens, double group)
{
    const struct serving_constants *k = r->k;
    const struct model *m = r->m;
    struct step_time t = {0};
    if (tokens <= 0)
        return t;
    if (r->encoder_layers > 0)
        return encode(r, tokens, group);
    double all = tokens * group;
    t.launch = launch_time(r) / group;
    double slower = r->engine.kind == EK_COMPILED ? 1 : k->gemm_prefill_python;
    double rate = gemm_rate(r, dense_math(r)) / slower;
    double rows = fmax(all, tile_rows(r)), window = fmin(tokens, m->window);
    t.weights = (r->bytes.attention + r->bytes.dense) / r->tp / (r->card.bw * weight_share(r)) / group;
    t.math = 2 * (r->params.attention + r->params.dense) * rows / (r->tp * rate) / group;
    t.linear = beside(t.weights, t.math);
    t.experts = expert_time(r, all, gemm_rate(r, r->wt.math) / slower) / group;
    double span = r->full_layers * tokens * tokens / 2 + r->window_layers * tokens * window;
    double width = r->mla ? 2.0 * m->head_dim + m->rope_head_dim : 2.0 * m->head_dim;
    t.cache = 2 * span * m->heads * width / (r->tp * r->card.f16 * k->attention_share);
    t.collectives = collective_time(r, all) / group;
    t.total = t.launch + t.linear + t.experts + t.cache + t.collectives;
    return t;
}

/* Prompts that share one pass: as many as arrive between two steps, at most what one pass takes. */
static double prompts_together(const struct replica *r, const struct load_point *p, double output)
{
    double fit = p->input > 0 ? r->k->batched_tokens_large_card / p->input : 1;
    double arrive = p->together ? p->batch : p->batch / output;
    return fmax(1, fmin(arrive, fit));
}

/* How much faster accepted drafts make a token: falls from few to many sequences. */
static double speculation_gain(const struct replica *r, double batch)
{
    if (!r->mtp)
        return 1;
    double share = fmin(1, fmax(0, log2(fmax(batch, 1) / 4) / 5)); /* 0 at 4, 1 at 128 */
    double gain = r->k->mtp_gain_few + share * (r->k->mtp_gain_many - r->k->mtp_gain_few);
    /* SGLang gives up running its scheduler beside the card while it drafts. */
    return r->engine.id == ENGINE_SGLANG ? 1 + (gain - 1) * (1 - share * (1 - r->k->mtp_kept_sglang)) : gain;
}

/* A source longer than one pass of the encoder (speech: 30 s) is read and written window by window. */
static struct load_speed by_windows(const struct replica *r, const struct load_point *p)
{
    double windows = ceil(p->input / r->source_positions);
    struct load_point one = *p;
    one.input = p->input / windows;
    one.output = fmax(1, p->output / windows);
    one.alone = NULL;
    struct load_speed s = serving_speed(r, &one);
    s.requests_per_s /= windows;
    s.end_to_end *= windows;
    return s;
}

struct load_speed serving_speed(const struct replica *r, const struct load_point *p)
{
    if (forward_only(r))
        return forward_speed(r, p);
    if (r->source_positions > 0 && p->input > r->source_positions)
        return by_windows(r, p);
    const struct serving_constants *k = r->k;
    struct load_speed s = {.microbatch = fmax(1, p->batch / r->pp)};
    double busy = fmin(p->batch, r->pp), output = fmax(1, p->output);
    s.step = serving_decode(r, s.microbatch, p->input + output / 2);
    double group = prompts_together(r, p, output), input = p->decode_only ? 0 : p->input;
    const struct step_time own = p->alone != NULL ? *p->alone : serving_prefill(r, input, 1);
    s.prefill = group > 1 ? serving_prefill(r, input, group) : own;
    double unknown = r->engine.known ? 1 : k->unknown_engine_factor;
    if (r->encoder_layers > 0)
        unknown /= k->two_stacks_share;
    double bubble = r->pp > 1 && p->batch > 1 ? 1 + k->pipeline_bubble * (r->pp - 1) : 1;
    double step = s.step.total * bubble * unknown / speculation_gain(r, p->batch);
    double prefill = s.prefill.total * unknown;
    s.token_step = step;
    double work = prefill + output * step / s.microbatch; /* of one pipeline's turn, for one request */
    s.requests_per_s = busy / work;
    s.output_tokens_per_s = s.requests_per_s * output;
    s.total_tokens_per_s = s.requests_per_s * (output + input);
    s.end_to_end = p->batch / s.requests_per_s;
    double alone = own.total * unknown;
    /* All prompts of a fixed batch come first; one that meets others at work is held up by them; one alone is not. */
    s.ttft_factor = p->batch > 1 ? k->ttft_factor : 1;
    if (p->together && alone > 0)
        s.ttft_factor = p->batch * prefill / alone;
    s.ttft = s.ttft_factor * alone + step;
    double others = p->together ? 0 : k->prefill_interference;
    s.tpot = step + others * (p->batch - busy) / busy * prefill / output;
    return s;
}
