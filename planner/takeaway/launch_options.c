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

bool launch_uses_megatron(const struct launch_request *q)
{
    const enum method m = q->workload->training.method;
    return m != METHOD_EMBEDDING && m != METHOD_CUSTOM && !launch_uses_deepspeed(q->workload, &q->estimate->layout);
}

bool launch_uses_megatron_fsdp(const struct launch_request *q)
{
    const enum sharding s = q->estimate->layout.sharding;
    return launch_uses_megatron(q) && (s == SHARD_ZERO2 || s == SHARD_ZERO3);
}

/* As physics takes it where none is stated (training/job.c). */
static int sequence_length(const struct launch_request *q)
{
    const struct workload *w = q->workload;
    if (w->training.seq_len > 0)
        return w->training.seq_len;
    const int otherwise = (int)q->default_seq_tokens;
    return w->model.max_context > 0 && w->model.max_context < otherwise ? w->model.max_context : otherwise;
}

static int lora_rank(const struct launch_request *q)
{
    return q->workload->training.lora_rank > 0 ? q->workload->training.lora_rank : (int)q->default_lora_rank;
}

/* How long: epochs over the data, or steps where the amount of work was given in steps. */
static void trainer_amount(struct buf *b, const struct training *t)
{
    if (t->steps > 0)
        buf_addf(b, " --max_steps %.0f", t->steps);
    else
        buf_addf(b, " --num_train_epochs %g", t->epochs > 0 ? t->epochs : 1.0);
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
    buf_addf(b, " --max_seq_length %d", sequence_length(q));
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
    else if (t->optimizer == OPT_MUON) /* LLaMA-Factory's own; transformers has no such name */
        buf_adds(b, " --use_muon true");
    else if (t->optimizer == OPT_ADAFACTOR || t->optimizer == OPT_SGD)
        buf_addf(b, " --optim %s", workload_enum_name(ENUM_OPTIMIZER, (int)t->optimizer));
    if (launch_is_adapter(q)) {
        next(b, indent);
        buf_addf(b, "--lora_rank %d", lora_rank(q));
        if (t->method == METHOD_QLORA)
            buf_addf(b, " --quantization_bit %.0f", t->quant_bits > 0 ? t->quant_bits : 4.0);
    }
    next(b, indent);
    buf_adds(b, "--output_dir checkpoints");
    trainer_amount(b, t);
    if (launch_save_steps(q) > 0)
        buf_addf(b, " --save_strategy steps --save_steps %d", launch_save_steps(q));
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
    if (l->pp > 1 && layers % l->pp != 0) { /* the others alike, the last stage with what is left */
        int each = (layers + l->pp - 1) / l->pp;
        each -= each * (l->pp - 1) >= layers;
        buf_addf(b, " --decoder-last-pipeline-num-layers %d", layers - each * (l->pp - 1));
    }
    if (l->cp > 1)
        buf_addf(b, " --context-parallel-size %d", l->cp);
    if (l->ep > 1)
        buf_addf(b, " --expert-model-parallel-size %d", l->ep);
    if (launch_uses_megatron_fsdp(q)) {
        next(b, indent);
        buf_addf(b,
                 "--use-megatron-fsdp --use-distributed-optimizer --data-parallel-sharding-strategy %s "
                 "--ckpt-format fsdp_dtensor --no-gradient-accumulation-fusion",
                 l->sharding == SHARD_ZERO3 ? "optim_grads_params" : "optim_grads");
    } else if (l->sharding == SHARD_ZERO1) {
        next(b, indent);
        buf_adds(b, "--use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather");
    }
    if (l->offload == OFFLOAD_OPTIMIZER || l->offload == OFFLOAD_PARAMETERS)
        buf_addf(b, "%s --optimizer-cpu-offload --use-precision-aware-optimizer",
                 l->sharding == SHARD_NONE ? " --use-distributed-optimizer" : "");
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
    if (m->kv_lora_rank > 0)
        buf_addf(b, " --multi-latent-attention --kv-lora-rank %d --qk-pos-emb-head-dim %d", m->kv_lora_rank,
                 m->rope_head_dim > 0 ? m->rope_head_dim : 64);
    else if (m->head_dim > 0 && m->head_dim * m->heads != m->hidden)
        buf_addf(b, " --kv-channels %d", m->head_dim);
    next(b, indent);
    if (m->ffn == FFN_GATED)
        buf_adds(b, "--swiglu ");
    if (m->norm_bias != TRI_YES)
        buf_adds(b, "--normalization RMSNorm ");
    if (m->learned_positions == 0)
        buf_adds(b, "--position-embedding-type rope ");
    if (m->linear_bias != TRI_YES)
        buf_addf(b, "--disable-bias-linear%s ", m->qkv_bias == TRI_YES ? " --add-qkv-bias" : "");
    if (m->qk_norm == TRI_YES)
        buf_adds(b, "--qk-layernorm ");
    buf_adds(b, m->tied_embeddings == TRI_YES ? "--make-vocab-size-divisible-by 128"
                                              : "--untie-embeddings-and-output-weights");
    if (m->experts > 0) {
        next(b, indent);
        buf_addf(b,
                 "--num-experts %d --moe-router-topk %d --moe-ffn-hidden-size %d --moe-token-dispatcher-type alltoall "
                 "--moe-grouped-gemm",
                 m->experts, m->experts_per_token, m->intermediate);
        if (m->shared_intermediate > 0)
            buf_addf(b, " --moe-shared-expert-intermediate-size %d", m->shared_intermediate);
    }
}

static void megatron_amount(struct buf *b, const struct training *t, int seq_len)
{
    double epochs = t->epochs > 0 ? t->epochs : 1;
    if (t->steps > 0)
        buf_addf(b, " --train-iters %.0f", t->steps);
    else if (t->samples > 0 || t->tokens > 0)
        buf_addf(b, " --train-samples %.0f", ceil((t->samples > 0 ? t->samples : t->tokens / seq_len) * epochs));
}

/* Where the weights come from, where they go, and the data in between. */
static void megatron_files(struct buf *b, const struct launch_request *q, int indent)
{
    next(b, indent);
    buf_adds(b, "--data-path data/text_document --tokenizer-type HuggingFaceTokenizer --tokenizer-model ");
    launch_word_add(b, q->workload->model.id, "your-model");
    next(b, indent);
    if (q->workload->training.method != METHOD_PRETRAIN)
        buf_adds(b, "--pretrained-checkpoint base ");
    buf_adds(b, "--load checkpoints --save checkpoints");
    if (launch_save_steps(q) > 0)
        buf_addf(b, " --save-interval %d", launch_save_steps(q));
    const double cap_h = launch_cap_hours(q);
    if (cap_h > 0 && launch_slow_hours(q) > cap_h) /* saves and leaves before the scheduler ends the job */
        buf_addf(b, " --exit-duration-in-mins %.0f", floor(cap_h * 60 * 0.95));
}

static void megatron_options(struct buf *b, const struct launch_request *q, int indent)
{
    const struct training *t = &q->workload->training;
    const struct launch_batch batch = launch_batch_of(q->workload, q->estimate, q->shape);
    const int seq_len = sequence_length(q);
    buf_adds(b, launch_is_adapter(q) ? "finetune_lora.py" : "pretrain_gpt.py");
    next(b, indent);
    megatron_parallel(b, q, indent);
    next(b, indent);
    megatron_model(b, &q->workload->model, indent);
    next(b, indent);
    buf_addf(b, "--micro-batch-size %d --global-batch-size %d --seq-length %d --max-position-embeddings %d",
             batch.micro, batch.global, seq_len, seq_len);
    megatron_amount(b, t, seq_len);
    next(b, indent);
    buf_addf(b, "--lr %.2e --attention-dropout 0.0 --hidden-dropout 0.0 --%s", q->learning_rate,
             launch_precision(q) == PREC_FP16 ? "fp16" : "bf16");
    if (launch_precision(q) == PREC_FP8)
        buf_addf(b, " --fp8-format hybrid%s", t->fp8_mx ? " --fp8-recipe mxfp8" : "");
    if (launch_is_adapter(q))
        buf_addf(b, " --lora-rank %d", lora_rank(q));
    if (t->method == METHOD_QLORA)
        buf_addf(b, " --quantization-bit %.0f", t->quant_bits > 0 ? t->quant_bits : 4.0);
    megatron_files(b, q, indent);
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
        buf_addf(b, " --batch_size %d --max_seq_length %d", batch.micro, sequence_length(q));
    } else if (t->method == METHOD_CUSTOM) {
        buf_addf(b, "train.py --batch-size-per-gpu %d --gradient-accumulation %d", batch.micro, batch.accumulation);
    } else {
        megatron_options(b, q, indent);
    }
}
