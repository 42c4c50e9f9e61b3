/* launch_deepspeed.c — the DeepSpeed configuration of a layout.
 *
 * JSON is written by hand here: the planner links no JSON library. Every value is a number, a literal or one of our own
 * words, so nothing needs escaping.
 */
#include "planner/takeaway/launch_text.h"

static int at_least(int value, int least)
{
    return value > least ? value : least;
}

/* DeepSpeed's own names of the optimizers it builds itself; NULL: the training script brings it. */
static const char *deepspeed_optimizer(enum optimizer o)
{
    switch (o) {
    case OPT_UNSTATED:
    case OPT_ADAMW:
        return "AdamW";
    case OPT_LION:
        return "Lion";
    case OPT_ADAMW_8BIT:
    case OPT_ADAFACTOR:
    case OPT_SGD:
    case OPT_MUON:
        break;
    }
    return NULL;
}

/* The stage the layout shards to. Offload is a feature of the sharded optimizer: on one rank stage 0 and stage 1 hold
 * the same state, but only stage 1 can move it to the host, and only stage 3 the parameters. */
static int zero_stage(const struct layout *l)
{
    int stage = l->sharding == SHARD_ZERO1 ? 1 : l->sharding == SHARD_ZERO2 ? 2 : l->sharding == SHARD_ZERO3 ? 3 : 0;
    if (l->offload == OFFLOAD_OPTIMIZER)
        stage = at_least(stage, 1);
    if (l->offload == OFFLOAD_PARAMETERS)
        stage = 3;
    return stage;
}

static void add_zero(struct buf *b, const struct layout *l)
{
    int stage = zero_stage(l);
    buf_addf(b, "\"zero_optimization\": {\"stage\": %d", stage);
    if (stage > 0)
        buf_adds(b, ", \"overlap_comm\": true, \"contiguous_gradients\": true");
    if (stage == 2)
        buf_adds(b, ", \"reduce_scatter\": true");
    if (stage == 3)
        buf_adds(b, ", \"stage3_gather_16bit_weights_on_model_save\": true");
    if (stage == 3 && l->shard_group > 1)
        buf_addf(b, ", \"mics_shard_size\": %d", l->shard_group);
    if (l->offload == OFFLOAD_OPTIMIZER || l->offload == OFFLOAD_PARAMETERS)
        buf_adds(b, ", \"offload_optimizer\": {\"device\": \"cpu\", \"pin_memory\": true}");
    if (l->offload == OFFLOAD_PARAMETERS)
        buf_adds(b, ", \"offload_param\": {\"device\": \"cpu\", \"pin_memory\": true}");
    buf_adds(b, "}");
}

static void add_precision(struct buf *b, enum precision p)
{
    if (p == PREC_FP16)
        buf_adds(b, "\"fp16\": {\"enabled\": true, \"loss_scale\": 0, \"initial_scale_power\": 16}, ");
    else
        buf_addf(b, "\"bf16\": {\"enabled\": %s}, ", p == PREC_FP32 || p == PREC_TF32 ? "false" : "true");
}

void launch_deepspeed_add(struct buf *b, const struct launch_request *q)
{
    const struct layout *l = &q->estimate->layout;
    const struct launch_batch batch = launch_batch_of(q->workload, q->estimate, q->shape);
    const char *optimizer = deepspeed_optimizer(q->workload->training.optimizer);
    buf_addf(b,
             "{\"train_batch_size\": %d, \"train_micro_batch_size_per_gpu\": %d, "
             "\"gradient_accumulation_steps\": %d, \"gradient_clipping\": 1.0, ",
             batch.global, batch.micro, batch.accumulation);
    add_precision(b, launch_precision(q));
    if (optimizer)
        buf_addf(b, "\"optimizer\": {\"type\": \"%s\", \"params\": {\"lr\": %.2e}}, ", optimizer, q->learning_rate);
    else
        buf_adds(b, "\"zero_allow_untested_optimizer\": true, ");
    if (!optimizer && (l->offload == OFFLOAD_OPTIMIZER || l->offload == OFFLOAD_PARAMETERS))
        buf_adds(b, "\"zero_force_ds_cpu_optimizer\": false, "); /* else it insists on its own Adam on the host */
    if (l->offload == OFFLOAD_ACTIVATIONS)
        buf_adds(b, "\"activation_checkpointing\": {\"partition_activations\": true, \"cpu_checkpointing\": true}, ");
    add_zero(b, l);
    buf_adds(b, "}");
}
