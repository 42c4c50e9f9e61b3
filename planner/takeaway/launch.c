/* launch.c — batch arithmetic, the DeepSpeed configuration, and the door of the launch text.
 *
 * JSON is written by hand here: the planner links no JSON library. Every value is a number, a literal or one of our own
 * words, so nothing needs escaping.
 */
#include "planner/takeaway/launch.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "planner/drafting/build.h"
#include "planner/takeaway/launch_text.h"
#include "planner/takeaway/takeaway.h"

#define LAUNCH_TEXT_MAX 16384

static int at_least(int value, int least)
{
    return value > least ? value : least;
}

bool launch_uses_deepspeed(const struct workload *w, const struct layout *l)
{
    if (!w->training.stated || w->training.method == METHOD_EMBEDDING || w->training.method == METHOD_CUSTOM)
        return false;
    return l->tp <= 1 && l->pp <= 1 && l->cp <= 1 && l->ep <= 1;
}

const char *launch_learning_rate_key(enum method m)
{
    if (m == METHOD_LORA || m == METHOD_QLORA)
        return "launch_learning_rate_adapter";
    return m == METHOD_PRETRAIN ? "launch_learning_rate_pretrain" : "launch_learning_rate_full";
}

struct launch_batch launch_batch_of(const struct workload *w, const struct estimate *e, const struct shape *s)
{
    const struct layout *l = &e->layout;
    struct launch_batch b = {0};
    int replica = at_least(l->tp, 1) * at_least(l->pp, 1) * at_least(l->cp, 1);
    b.dp = at_least(shape_gpus(s) / replica, 1);
    b.micro = at_least(l->micro_batch, 1);
    int wanted = e->training.global_batch > 0 ? e->training.global_batch : w->training.global_batch;
    b.accumulation = w->training.grad_accumulation;
    if (b.accumulation <= 0)
        b.accumulation = at_least((int)lround((double)wanted / ((double)b.micro * b.dp)), 1);
    b.global = b.micro * b.accumulation * b.dp;
    return b;
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

enum precision launch_precision(const struct launch_request *q)
{
    const enum precision runs = q->estimate->has_training ? q->estimate->training.precision : PREC_UNSTATED;
    return runs != PREC_UNSTATED ? runs : q->workload->training.precision;
}

static void add_precision(struct buf *b, enum precision p)
{
    if (p == PREC_FP16)
        buf_adds(b, "\"fp16\": {\"enabled\": true, \"loss_scale\": 0, \"initial_scale_power\": 16}, ");
    else
        buf_addf(b, "\"bf16\": {\"enabled\": %s}, ", p == PREC_FP32 || p == PREC_TF32 ? "false" : "true");
}

static void add_deepspeed(struct buf *b, const struct launch_request *q)
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
    if (l->offload == OFFLOAD_ACTIVATIONS)
        buf_adds(b, "\"activation_checkpointing\": {\"partition_activations\": true, \"cpu_checkpointing\": true}, ");
    add_zero(b, l);
    buf_adds(b, "}");
}

typedef void writer(struct buf *b, const struct launch_request *q);

/* Runs one writer and keeps its text in the arena. */
static int keep(writer *write, const struct launch_request *q, struct arena *arena, const char **ret, struct err *err)
{
    struct buf b;
    buf_init(&b, LAUNCH_TEXT_MAX);
    write(&b, q);
    char *text = buf_failed(&b) || !b.data ? NULL : arena_strndup(arena, b.data, b.len);
    buf_done(&b);
    if (!text)
        return err_set(err, ERR_NOMEM, "launch text does not fit");
    *ret = text;
    return 0;
}

/* Slurm where its users are: clusters and research machines. */
static bool wants_slurm(const struct launch_request *q)
{
    return q->workload->training.stated &&
           (q->shape->nodes > 1 || q->kind == KIND_UNIVERSITY_TIME ||
            (q->sku && q->sku->provider && q->sku->provider->kind == PROVIDER_HPC_CENTRE));
}

/* Kubernetes where the supply is containers or the team works that way. */
static bool wants_kubernetes(const struct launch_request *q)
{
    if (!q->workload->training.stated || q->kind == KIND_UNIVERSITY_TIME)
        return false;
    bool containers = q->sku && (q->sku->form == FORM_CONTAINER || q->sku->form == FORM_CONTAINER_CLUSTER);
    return containers || q->workload->constraints.team == TEAM_KUBERNETES;
}

int launch_make(const struct launch_request *q, struct arena *arena, struct launch *ret, struct err *err)
{
    struct launch out = {0};
    const bool service = launch_serving_layout(q) != NULL;
    if (q->workload->training.stated && keep(launch_text_torchrun, q, arena, &out.torchrun, err))
        return -1;
    if (launch_uses_deepspeed(q->workload, &q->estimate->layout) &&
        keep(add_deepspeed, q, arena, &out.deepspeed_config, err))
        return -1;
    if (wants_slurm(q) && keep(launch_text_slurm, q, arena, &out.slurm, err))
        return -1;
    if (wants_kubernetes(q) && keep(launch_text_kubernetes, q, arena, &out.kubernetes, err))
        return -1;
    if (service && keep(launch_text_serve, q, arena, &out.serve, err))
        return -1;
    *ret = out;
    return 0;
}

int launch_build(struct build *b, const struct draft *d, struct option *option, struct err *err)
{
    const char *key = launch_learning_rate_key(b->training.method);
    const struct param *rate = param_find(&b->params, key);
    if (!rate)
        return err_set(err, ERR_NOT_FOUND, "assumption %s is missing", key);
    if (!d->estimate)
        return 0;
    const struct launch_request q = {
        .workload = b->workload,
        .estimate = d->estimate,
        .shape = &d->shape,
        .sku = d->n_groups > 0 && d->groups[d->train_group].offer ? d->groups[d->train_group].offer->sku : NULL,
        .reserve = &option->reserve,
        .kind = d->kind,
        .learning_rate = rate->value,
    };
    return launch_make(&q, b->arena, &option->launch, err);
}
