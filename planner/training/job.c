/* job.c — resolves a request: precision the card has, amounts, defaults, the dimensions formulas need. */
#include "planner/training/job.h"

#include <math.h>
#include <string.h>

#include "planner/training/rates.h"

#define TERA 1e12
#define SHARED_BELOW 0.4   /* of the dimensions' size */
#define LINEAR_CHUNK 256.0 /* tokens a linear-attention or state-space layer mixes at once */

double job_adapter_params(const struct model *m, double rank)
{
    double h = m->hidden, q = (double)m->heads * m->head_dim, kv = 2.0 * m->kv_heads * m->head_dim;
    /* One adapter for the fused query-key-value matrix, one for the output, one a FFN matrix. */
    double attention = (h + q + kv) + (q + h);
    double width = m->experts > 0 && m->shared_intermediate > 0 ? m->shared_intermediate : m->intermediate;
    double ffn = (m->ffn == FFN_PLAIN ? 2 : 3) * (h + width);
    return rank * m->layers * (attention + ffn);
}

static double first_known(double a, double b, double c)
{
    return a > 0 ? a : b > 0 ? b : c;
}

/* Dense 16-bit tensor peak; cards without tensor cores of that width run what they have. */
static double peak_16bit(const struct gpu *g, enum precision p)
{
    double half = p == PREC_FP16 ? first_known(g->fp16_tflops, g->bf16_tflops, 0)
                                 : first_known(g->bf16_tflops, g->fp16_tflops, 0);
    return first_known(half, 0.5 * g->fp8_tflops, 2 * g->tf32_tflops);
}

static int missing(struct err *err, const struct gpu *g, const char *figure)
{
    return err_at(err, ERR_UNSUPPORTED, "/hardware/gpu",
                  "card '%s' has no known %s: its training speed cannot be computed", g->id != NULL ? g->id : "?",
                  figure);
}

static void fall_back(struct note_list *assumed, const char *from, const char *to)
{
    if (assumed)
        note_text(note_text(note_add_once(assumed, "training_precision_not_on_card"), "from", from), "to", to);
}

/* The precision that runs: what was asked where the card has it, the next wider one with a note where it has not. */
static int resolve_precision(struct job *j, struct note_list *assumed, struct err *err)
{
    const struct gpu *g = j->gpu;
    enum precision p = j->training->precision;
    if (p == PREC_UNSTATED) {
        p = g->bf16_tflops <= 0 && g->fp16_tflops > 0 ? PREC_FP16 : PREC_BF16;
        if (assumed)
            note_text(note_add_once(assumed, "training_precision_assumed"), "precision",
                      workload_enum_name(ENUM_PRECISION, (int)p));
    }
    if (p == PREC_FP4 && g->fp4_tflops <= 0) {
        p = PREC_FP8;
        fall_back(assumed, "fp4", "fp8");
    }
    if (p == PREC_FP8 && g->fp8_tflops <= 0) {
        p = PREC_BF16;
        fall_back(assumed, "fp8", "bf16");
    }
    if (p == PREC_BF16 && g->bf16_tflops <= 0 && g->fp16_tflops > 0) {
        p = PREC_FP16;
        fall_back(assumed, "bf16", "fp16");
    }
    double half = peak_16bit(g, p);
    double tf32 = first_known(g->tf32_tflops, g->fp32_tflops, 0.5 * half);
    double full = first_known(g->fp32_tflops, 0.125 * half, 0);
    j->precision = p;
    j->full_precision = p == PREC_FP32 || p == PREC_TF32;
    double peak = p == PREC_FP4    ? g->fp4_tflops
                  : p == PREC_FP8  ? g->fp8_tflops
                  : p == PREC_TF32 ? tf32
                  : p == PREC_FP32 ? full
                                   : half;
    j->peak16 = (j->full_precision ? peak : half > 0 ? half : peak) * TERA;
    j->peak = peak * TERA;
    j->bandwidth = g->mem_bw_gb_s * 1e9;
    if (!(j->peak > 0))
        return missing(err, g, "tensor peak (bf16_tflops, fp16_tflops)");
    if (!(j->bandwidth > 0))
        return missing(err, g, "memory bandwidth (mem_bw_gb_s)");
    return 0;
}

/* Where the stated size and the dimensions disagree (towers, unusual layers), the size decides how much is multiplied.
 * A size far below its dimensions is of layers that share their weights: the work stays. */
static double size_factor(const struct job *j)
{
    struct model counted = *j->model;
    counted.active_params = counted.counted_active = 0;
    double by_dimensions = model_matmul_params(&counted), stated = model_matmul_params(j->model);
    double factor = by_dimensions > 0 ? stated / by_dimensions : 1;
    return factor > SHARED_BELOW && fabs(factor - 1) > 0.02 ? factor : 1;
}

static void resolve_model(struct job *j)
{
    const struct model *m = j->model;
    j->params = m->params;
    j->active = m->active_params > 0 ? m->active_params : m->params;
    j->embedding = model_embedding_params(m);
    j->layers = m->layers;
    j->hidden = m->hidden;
    j->heads = m->heads;
    j->head_dim = m->kv_lora_rank > 0 ? m->head_dim + m->rope_head_dim : m->head_dim;
    j->attention_width = (double)m->heads * m->head_dim;
    j->kv_width = (double)m->kv_heads * m->head_dim;
    j->vocab = m->vocab;
    j->vocab_matrices = m->tied_embeddings == TRI_YES || m->causal == TRI_NO ? 1 : 2;
    j->attention_params = model_attention_params(m);
    j->moe_layers = model_moe_layers(m);
    j->experts = m->experts;
    j->topk = m->experts_per_token;
    j->expert_width = m->intermediate;
    j->shared_width = m->shared_intermediate;
    j->expert_total = fmin(model_expert_params(m), 0.98 * j->params);
    double matrices = m->ffn == FFN_PLAIN ? 2 : 3;
    j->ffn_width = m->dense_intermediate > 0 ? m->dense_intermediate : m->intermediate;
    j->dense_ffn_params = matrices * j->hidden * (j->moe_layers > 0 && j->layers <= j->moe_layers ? 0 : j->ffn_width);
    j->routed_params = matrices * j->hidden * j->expert_width;
    double factor = size_factor(j);
    j->attention_params *= factor;
    j->dense_ffn_params *= factor;
    j->routed_params *= factor;
    j->shared_factor = factor;
    j->score_layers = m->full_attention_layers > 0 && m->window == 0 ? m->full_attention_layers : j->layers;
}

/* Mean number of tokens each token is scored against, over all layers, where the upper triangle is skipped. */
static double attended_tokens(const struct job *j)
{
    const struct model *m = j->model;
    double span = j->seq;
    if (j->training->packed == TRI_YES && j->training->mean_len > 0)
        span = fmin(span, j->training->mean_len);
    double full = span * j->causal;
    double share = m->full_attention_layers > 0 ? m->full_attention_layers / j->layers : m->window > 0 ? 0 : 1;
    double local = m->window > 0 ? fmin((double)m->window, span) : fmin(LINEAR_CHUNK, span);
    /* A window as long as the sequence is plain causal attention. */
    double local_mean = local * (1 - (1 - j->causal) * local / span);
    return share * full + (1 - share) * local_mean;
}

/* Who states a tensor or pipeline degree, be it one, runs a framework that has them. */
static bool names_degrees(const struct layout *l)
{
    return l != NULL && (l->tp > 0 || l->pp > 0 || l->cp > 0 || l->ep > 0);
}

static void resolve_stack(struct job *j, const struct layout *l)
{
    const struct training *t = j->training;
    j->parallel = l != NULL && (l->tp > 1 || l->pp > 1 || l->vpp > 0 || l->cp > 1 || l->ep > 1);
    j->sharded_stack = l != NULL && l->sharding == SHARD_ZERO3;
    bool narrow = j->precision == PREC_FP8 || j->precision == PREC_FP4;
    j->compiled = t->compile == TRI_YES;
    j->scripted = j->finetune && !names_degrees(l);
    /* Eight-bit training outside FSDP is done by Transformer-Engine stacks. */
    bool engine = narrow && !j->sharded_stack;
    j->eight_bit_plain = narrow && j->sharded_stack && !j->parallel;
    if (engine)
        j->stack = STACK_PARALLEL;
    else if (!j->finetune || j->compiled || names_degrees(l))
        j->stack = STACK_FUSED;
    else
        j->stack = STACK_EAGER;
}

static void resolve_amounts(struct job *j, struct note_list *assumed)
{
    const struct training *t = j->training;
    double longest = j->model->max_context > 0 ? j->model->max_context : j->k->default_seq;
    j->seq = t->seq_len > 0 ? t->seq_len : fmin(j->k->default_seq, longest);
    if (t->seq_len == 0 && assumed)
        note_num(note_add_once(assumed, "training_seq_assumed"), "seq_len", j->seq);
    j->causal = j->model->causal == TRI_NO ? 1 : 0.5;
    j->attended = attended_tokens(j);
    j->real_share = 1;
    if (t->packed == TRI_NO)
        j->real_share = t->mean_len > 0 ? fmin(1, t->mean_len / j->seq) : j->k->pad_unpacked;
    j->global_batch = t->global_batch;
}

static void resolve_method(struct job *j, struct note_list *assumed)
{
    const struct training *t = j->training;
    j->method = t->method;
    if (j->method == METHOD_UNSTATED) {
        j->method = METHOD_FULL_FINETUNE;
        if (assumed)
            note_add_once(assumed, "training_method_assumed");
    }
    j->quantised = j->method == METHOD_QLORA;
    j->frozen = j->quantised || j->method == METHOD_LORA;
    j->finetune = j->method != METHOD_PRETRAIN;
    j->optimizer = t->optimizer != OPT_UNSTATED ? t->optimizer : OPT_ADAMW;
    j->loss = t->loss_impl;
    j->half_states = t->master_weights == TRI_NO;
    if (j->frozen) {
        double rank = t->lora_rank > 0 ? t->lora_rank : j->k->default_lora_rank;
        j->adapter_params = job_adapter_params(j->model, rank);
        j->adapter_rank = rank;
        if (t->lora_rank == 0 && assumed)
            note_num(note_add_once(assumed, "training_lora_rank_assumed"), "rank", rank);
    }
}

int job_resolve(const struct training_constants *k, const struct training_request *q, struct note_list *assumed,
                struct job *ret, struct err *err)
{
    struct job j = {.k = k,
                    .model = q->model,
                    .training = q->training,
                    .gpu = q->shape->gpu,
                    .shape = *q->shape,
                    .prudent = q->prudent,
                    .compute_scale = 1,
                    .comm_scale = 1,
                    .network_scale = 1,
                    .time_scale = 1};
    if (j.shape.gpus_per_node < 1 || j.shape.nodes < 1)
        return err_at(err, ERR_INVALID, "/hardware", "a shape needs at least one node of one card");
    if (j.model->layers <= 0 || j.model->hidden <= 0)
        return err_at(err, ERR_UNSUPPORTED, "/workload/model", "the model's architecture is not complete");
    j.gpus = shape_gpus(&j.shape);
    if (j.shape.intra == INTRA_UNSTATED)
        j.shape.intra = hardware_default_intra(j.gpu, j.shape.gpus_per_node);
    resolve_method(&j, assumed);
    if (resolve_precision(&j, assumed, err) != 0)
        return -1;
    resolve_model(&j);
    resolve_amounts(&j, assumed);
    resolve_stack(&j, q->layout);
    rates_resolve(&j);
    for (int stack = 0; stack <= STACK_PARALLEL; stack++)
        j.activation_bytes[stack] = job_activation_bytes(&j, (enum stack)stack);
    *ret = j;
    return 0;
}

double job_activation_bytes(const struct job *j, enum stack stack)
{
    const struct model *m = j->model;
    double h = j->hidden, element = j->full_precision ? 2 : 1; /* the formula counts 16-bit tensors */
    double attention = 4 * j->attention_width + 4 * j->kv_width + 4 * j->heads;
    if (m->kv_lora_rank > 0)
        attention = 2.0 * (m->q_lora_rank + m->kv_lora_rank + m->rope_head_dim) +
                    2 * j->heads * (2.0 * (m->head_dim + m->rope_head_dim) + 2.0 * m->head_dim);
    double per_width = m->ffn == FFN_PLAIN ? 6 : stack == STACK_EAGER ? 8 : 6;
    double dense_share = 1 - j->moe_layers / j->layers;
    double routed = per_width * (j->topk * j->expert_width * j->k->moe_imbalance + j->shared_width) + 4 * j->experts +
                    4 * j->topk * h;
    double ffn = dense_share * per_width * j->ffn_width + (1 - dense_share) * routed;
    return element * (8 * h + attention + ffn);
}

double job_flops_per_token(const struct job *j)
{
    double matmul = model_matmul_params(j->model);
    double attention = 4 * j->layers * j->attention_width * j->attended;
    double weight_passes = j->frozen ? 4 : 6;
    return weight_passes * matmul + 3 * attention + 6 * j->adapter_params;
}
