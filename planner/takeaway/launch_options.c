/* launch_options.c — what follows the script's name on the command line, for each framework a layout needs. */
#include "planner/takeaway/launch_options.h"

#include <math.h>
#include <string.h>

void launch_word_add(struct buf *b, const char *text, const char *otherwise)
{
    size_t before = b->len;
    for (const char *c = text ? text : ""; *c; c++)
        if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || strchr("._/-", *c))
            buf_addc(b, *c);
    if (b->len == before)
        buf_adds(b, otherwise);
}

static void next(struct buf *b, int indent)
{
    buf_addf(b, " \\\n%*s", indent, "");
}

static int sequence_length(const struct workload *w)
{
    if (w->training.seq_len > 0)
        return w->training.seq_len;
    return w->model.max_context > 0 && w->model.max_context < 4096 ? w->model.max_context : 4096;
}

static bool is_adapter(enum method m)
{
    return m == METHOD_LORA || m == METHOD_QLORA;
}

/* Names that PyTorch trainers (Hugging Face Trainer, LLaMA-Factory, ms-swift) share. */
static void trainer_options(struct buf *b, const struct launch_request *q, int indent)
{
    const struct training *t = &q->workload->training;
    const struct launch_batch batch = launch_batch_of(q->workload, q->estimate, q->shape);
    buf_adds(b, "train.py --deepspeed ds_config.json");
    next(b, indent);
    buf_adds(b, "--model_name_or_path ");
    launch_word_add(b, q->workload->model.id, "your-model");
    buf_addf(b, " --max_seq_length %d", sequence_length(q->workload));
    next(b, indent);
    buf_addf(b, "--per_device_train_batch_size %d --gradient_accumulation_steps %d", batch.micro, batch.accumulation);
    next(b, indent);
    buf_addf(b, "--learning_rate %.2e", q->learning_rate);
    const enum precision p = launch_precision(q);
    if (p != PREC_FP32)
        buf_addf(b, " --%s true", p == PREC_FP16 ? "fp16" : p == PREC_TF32 ? "tf32" : "bf16");
    if (q->estimate->layout.recompute == RECOMPUTE_FULL || q->estimate->layout.recompute == RECOMPUTE_SELECTIVE)
        buf_adds(b, " --gradient_checkpointing true");
    if (t->optimizer == OPT_ADAMW_8BIT)
        buf_adds(b, " --optim adamw_bnb_8bit");
    else if (t->optimizer == OPT_ADAFACTOR || t->optimizer == OPT_SGD || t->optimizer == OPT_MUON)
        buf_addf(b, " --optim %s", workload_enum_name(ENUM_OPTIMIZER, (int)t->optimizer));
    if (is_adapter(t->method)) {
        next(b, indent);
        buf_addf(b, "--lora_rank %d", t->lora_rank > 0 ? t->lora_rank : 16);
        if (t->method == METHOD_QLORA)
            buf_addf(b, " --quantization_bit %.0f", t->quant_bits > 0 ? t->quant_bits : 4.0);
    }
    if (t->checkpoints_kept > 0)
        buf_addf(b, " --save_total_limit %d", t->checkpoints_kept);
}

static void megatron_parallel(struct buf *b, const struct launch_request *q, int indent)
{
    const struct layout *l = &q->estimate->layout;
    const int layers = q->workload->model.layers;
    buf_addf(b, "--tensor-model-parallel-size %d --pipeline-model-parallel-size %d", l->tp > 1 ? l->tp : 1,
             l->pp > 1 ? l->pp : 1);
    if (l->tp > 1)
        buf_adds(b, " --sequence-parallel");
    if (l->pp > 1 && l->vpp > 1 && layers % (l->pp * l->vpp) == 0)
        buf_addf(b, " --num-layers-per-virtual-pipeline-stage %d", layers / (l->pp * l->vpp));
    if (l->cp > 1)
        buf_addf(b, " --context-parallel-size %d", l->cp);
    if (l->ep > 1)
        buf_addf(b, " --expert-model-parallel-size %d", l->ep);
    if (l->sharding == SHARD_ZERO2 || l->sharding == SHARD_ZERO3) {
        next(b, indent);
        buf_addf(b, "--use-megatron-fsdp --data-parallel-sharding-strategy %s",
                 l->sharding == SHARD_ZERO3 ? "optim_grads_params" : "optim_grads");
    } else if (l->sharding == SHARD_ZERO1) {
        next(b, indent);
        buf_adds(b, "--use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather");
    }
    if (l->offload == OFFLOAD_OPTIMIZER || l->offload == OFFLOAD_PARAMETERS)
        buf_adds(b, " --optimizer-cpu-offload");
    if (l->recompute == RECOMPUTE_FULL)
        buf_adds(b, " --recompute-granularity full --recompute-method uniform --recompute-num-layers 1");
    else if (l->recompute == RECOMPUTE_SELECTIVE)
        buf_adds(b, " --recompute-granularity selective");
}

static void megatron_model(struct buf *b, const struct model *m, int indent)
{
    buf_addf(b, "--num-layers %d --hidden-size %d --num-attention-heads %d --ffn-hidden-size %d", m->layers, m->hidden,
             m->heads, m->intermediate);
    if (m->kv_heads > 0 && m->kv_heads != m->heads)
        buf_addf(b, " --group-query-attention --num-query-groups %d", m->kv_heads);
    if (m->ffn == FFN_GATED)
        buf_adds(b, " --swiglu");
    if (m->tied_embeddings != TRI_YES)
        buf_adds(b, " --untie-embeddings-and-output-weights");
    if (m->experts > 0) {
        next(b, indent);
        buf_addf(b, "--num-experts %d --moe-router-topk %d --moe-ffn-hidden-size %d", m->experts, m->experts_per_token,
                 m->intermediate);
    }
}

static void megatron_options(struct buf *b, const struct launch_request *q, int indent)
{
    const struct training *t = &q->workload->training;
    const struct launch_batch batch = launch_batch_of(q->workload, q->estimate, q->shape);
    const int seq_len = sequence_length(q->workload);
    buf_adds(b, is_adapter(t->method) ? "finetune_lora.py" : "pretrain_gpt.py");
    next(b, indent);
    megatron_parallel(b, q, indent);
    next(b, indent);
    megatron_model(b, &q->workload->model, indent);
    next(b, indent);
    buf_addf(b, "--micro-batch-size %d --global-batch-size %d --seq-length %d --max-position-embeddings %d",
             batch.micro, batch.global, seq_len, seq_len);
    if (t->tokens > 0)
        buf_addf(b, " --train-samples %.0f", ceil(t->tokens * (t->epochs > 0 ? t->epochs : 1) / seq_len));
    next(b, indent);
    buf_addf(b, "--lr %.2e --%s --save checkpoints --load checkpoints", q->learning_rate,
             launch_precision(q) == PREC_FP16 ? "fp16" : "bf16");
    if (launch_precision(q) == PREC_FP8)
        buf_addf(b, " --fp8-format hybrid%s", t->fp8_mx ? " --fp8-recipe mxfp8" : "");
    if (is_adapter(t->method))
        buf_addf(b, " --lora-rank %d", t->lora_rank > 0 ? t->lora_rank : 16);
}

void launch_options_add(struct buf *b, const struct launch_request *q, int indent)
{
    const struct training *t = &q->workload->training;
    const struct launch_batch batch = launch_batch_of(q->workload, q->estimate, q->shape);
    if (launch_uses_deepspeed(q->workload, &q->estimate->layout)) {
        trainer_options(b, q, indent);
    } else if (t->method == METHOD_EMBEDDING) {
        buf_adds(b, "embed.py --model_name_or_path ");
        launch_word_add(b, q->workload->model.id, "your-model");
        buf_addf(b, " --batch_size %d --max_seq_length %d", batch.micro, sequence_length(q->workload));
    } else if (t->method == METHOD_CUSTOM) {
        buf_addf(b, "train.py --batch-size-per-gpu %d --gradient-accumulation %d", batch.micro, batch.accumulation);
    } else {
        megatron_options(b, q, indent);
    }
}
