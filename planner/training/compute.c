/* compute.c — kernels of one micro-batch: matrix products, attention, memory-bound work, launches.
 *
 * A product reaches a share of the tensor peak that falls with narrow matrices and few tokens; everything between
 * products moves activation bytes through memory; and no layer is faster than the host can launch its kernels.
 */
#include "planner/training/compute.h"

#include <math.h>

static double rising(double x, double half)
{
    return x / (x + half);
}

/* Share of its rate that a product of n x depth by depth x width reaches: every operand and result passes through
 * memory a few times while the tensor cores work, and few tiles leave processors idle. */
static double shape_share(const struct job *j, double rate, double n, double width, double depth)
{
    double element = j->full_precision ? 2 : j->precision == PREC_FP8 || j->precision == PREC_FP4 ? 0.5 : 1;
    double half = element * rate / j->bandwidth; /* rows whose products take as long as reading their weights */
    /* Weights are read beside the work; operands and results wait for each other tile by tile. */
    double weights = j->k->weight_traffic * half / n;
    double waits = sqrt(1 + weights * weights) + j->k->product_traffic * half * (1 / width + 1 / depth);
    return rising(n * width, j->k->area_half) / waits;
}

static bool aligned(double width)
{
    return width - 64 * floor(width / 64) <= 0;
}

/* One forward pass of the attention block's products of a layer. */
static double attention_products(const struct job *j, const struct cut *c, double rate)
{
    double n = c->tokens, q = j->attention_width, kv = 2 * j->kv_width;
    double in = (q + kv) / (2 * q + kv), params = j->attention_params / c->tp;
    return 2 * n * params *
           (in / (rate * shape_share(j, rate, n, (q + kv) / c->tp, j->hidden)) +
            (1 - in) / (rate * shape_share(j, rate, n, j->hidden, q / c->tp)));
}

static double expert_products(const struct job *j, const struct cut *c, double rate)
{
    const struct training_constants *k = j->k;
    double n = c->tokens, shared = 0;
    double tensor_cut = c->ep > 1 ? 1 : c->tp;
    double matrices = j->model->ffn == FFN_PLAIN ? 2 : 3;
    if (j->shared_width > 0)
        shared = 2 * n * j->shared_factor * matrices * j->hidden * j->shared_width / c->tp /
                 (rate * shape_share(j, rate, n, j->shared_width / c->tp, j->hidden));
    double spread = c->ep > 1 ? c->ep : 1, senders = c->ep > 1 ? 1.0 / c->tp : 1;
    double rows = n * senders * j->topk * spread / larger(1, j->experts);
    double width = j->expert_width / tensor_cut;
    double efficiency = k->moe_share * rising(width, k->moe_width_half) * rising(rows, k->moe_tokens_half);
    double routed = 2 * n * senders * j->topk * j->routed_params / tensor_cut / (rate * efficiency);
    return shared + routed + k->expert_overhead * j->experts / spread;
}

static void layer_products(const struct job *j, const struct cut *c, double passes, struct compute *r)
{
    double rate = j->product_rate, n = c->tokens, width = j->ffn_width / c->tp;
    double tile = aligned(j->hidden / c->tp) ? 1 : j->k->misaligned;
    double attention = attention_products(j, c, rate);
    double share = shape_share(j, rate, n, width, j->hidden);
    double dense = 2 * n * j->dense_ffn_params / c->tp / (rate * share);
    double moe_share = j->moe_layers / j->layers;
    double experts = moe_share > 0 ? expert_products(j, c, rate) : 0;
    double adapters = 0;
    if (j->adapter_params > 0) /* thin matrices: their rank is one side of every product */
        adapters = 6 * n * j->adapter_params / j->layers / c->tp / (rate * rising(j->adapter_rank, j->k->head_half));
    r->matmul_share = rate * share / j->peak;
    r->matmul_s = c->stage_layers * (passes * (attention + (1 - moe_share) * dense) / tile + adapters);
    r->expert_s = c->stage_layers * passes * moe_share * experts / tile;
}

static double attention_seconds(const struct job *j, const struct cut *c)
{
    const struct training_constants *k = j->k;
    double share = k->attention[j->gpu->gpu_class];
    if (c->stack == STACK_PARALLEL && c->flash)
        share = k->attention_tuned[j->gpu->gpu_class] * rising(j->attended, k->length_half);
    else if (j->model->ffn != FFN_PLAIN) /* the code of gated models came with the second generation of flash kernels */
        share *= k->attention_modern;
    double rate = j->peak16 * share * rising(j->head_dim, k->head_half);
    double context = c->flash ? j->attended : j->attended / j->causal; /* plain kernels compute the full square */
    double layers = c->stage_layers;
    double forward = 4 * layers * j->attention_width / c->tp * context * c->tokens / rate;
    double seconds = forward * (1 + k->attention_backward + k->recompute_cost * c->recompute_share);
    if (!c->flash) {
        if (j->head_dim - 8 * floor(j->head_dim / 8) > 0)
            seconds *= k->unaligned_heads;
        /* Scores, softmax and dropout go through memory. */
        double element = j->full_precision ? 2 : 1;
        double bytes = 5 * element * j->heads / c->tp * context * c->tokens * layers;
        seconds += bytes * k->score_passes * (1 + c->recompute_share / 3) / j->bandwidth;
    }
    return seconds;
}

/* Dropout, scaling and sum of every adapter pass over the inputs and outputs of the matrix it sits on. */
static double adapter_bytes(const struct job *j, const struct cut *c)
{
    if (j->adapter_params <= 0)
        return 0;
    double widths = j->adapter_params / j->adapter_rank / j->layers;
    return j->k->adapter_passes * 2 * widths * c->tokens / c->tp;
}

static double elementwise_seconds(const struct job *j, const struct cut *c)
{
    double bytes = j->activation_bytes[c->stack] * c->tokens / c->tp;
    bool eager = c->stack == STACK_EAGER || (c->stack == STACK_FUSED && j->training->compile == TRI_NO);
    double fused = j->compiled ? j->k->memory_compiled : eager ? j->k->memory_eager : j->k->memory_fused;
    double moved = bytes * j->k->memory_passes * fused + (eager ? adapter_bytes(j, c) : 0);
    return c->stage_layers * moved * (1 + c->recompute_share / 3) / j->bandwidth;
}

static double launch_floor(const struct job *j, const struct cut *c)
{
    const struct training_constants *k = j->k;
    double a_layer = k->floor_fused;
    if (c->stack == STACK_EAGER) {
        a_layer = k->floor_eager + (j->frozen ? k->floor_adapter : 0) + (j->quantised ? k->floor_quant : 0);
        a_layer += c->sharding == SHARD_ZERO3 && c->shard > 1 ? k->floor_shard : 0;
    }
    /* Each step of a context ring launches its kernels anew. */
    double rounds = 1 + k->context_floor * (c->cp - 1);
    return a_layer * c->stage_layers * rounds * (1 + c->recompute_share / 3);
}

static void head(const struct job *j, const struct cut *c, struct compute *r)
{
    double n = c->tokens, cut = c->vocab_parallel ? c->tp : 1;
    double passes = j->frozen && j->training->train_embeddings != TRI_YES ? 2 : 3;
    double rate = j->wide_rate;
    if (j->model->causal == TRI_NO)
        n *= j->k->encoder_positions; /* a masked objective looks at few positions */
    r->head_s = passes * 2 * n * j->embedding / cut / (rate * shape_share(j, rate, n, j->vocab / cut, j->hidden));
    bool plain = c->stack == STACK_EAGER && j->loss != LOSS_FUSED && j->loss != LOSS_CHUNKED;
    double implementation = j->loss == LOSS_FUSED ? 0.5 : plain ? j->k->logit_eager : 1;
    r->logits_s = j->k->logit_passes * implementation * n * j->vocab / cut / j->bandwidth;
}

static double dequant_seconds(const struct job *j, const struct cut *c)
{
    if (!j->quantised)
        return 0;
    double params = larger(0, j->params - j->embedding * j->vocab_matrices) / (c->tp * (double)c->pp);
    return j->k->dequant_bytes * params / j->bandwidth;
}

void compute_micro_batch(const struct job *j, const struct cut *c, struct compute *ret)
{
    struct compute r = {0};
    double passes = (j->frozen ? 2 : 3) + j->k->recompute_cost * c->recompute_share;
    layer_products(j, c, passes, &r);
    r.attention_s = attention_seconds(j, c);
    r.elementwise_s = elementwise_seconds(j, c);
    r.floor_s = launch_floor(j, c);
    head(j, c, &r);
    r.dequant_s = dequant_seconds(j, c);
    /* A reading faster than the model is of faster kernels; the host does not launch them any faster. */
    double kernels = j->compute_scale * (r.matmul_s + r.expert_s + r.attention_s + r.elementwise_s + r.dequant_s);
    double floor = larger(1, j->compute_scale) * r.floor_s;
    double blend = j->k->launch_blend, longer = larger(kernels, floor), shorter = smaller(kernels, floor);
    r.layers_s = longer > 0 ? longer * pow(1 + pow(shorter / longer, blend), 1 / blend) : 0;
    double on_top = c->pp > 1 && !c->head_apart ? 0 : r.head_s + r.logits_s;
    r.ends_s = j->compute_scale * on_top;
    r.total_s = r.layers_s + r.ends_s;
    *ret = r;
}
