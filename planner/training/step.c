/* step.c — one optimizer step: micro-batches with what communication they cannot hide, bubble, gradients, optimizer.
 *
 * Communication is charged by what stays exposed: tensor-parallel collectives stand between products and hide little,
 * gathers of sharded weights hide behind the micro-batch they feed, gradients behind the last backward pass. A link
 * too slow for the compute it has to hide behind shows up here as the trap it is.
 */
#include "planner/training/step.h"

#include <math.h>

#define HALF 2.0
#define FULL 4.0

static double width_bytes(const struct job *j)
{
    return j->full_precision ? FULL : HALF;
}

static double tensor_seconds(const struct job *j, const struct fabric *f, const struct cut *c)
{
    if (c->tp < 2)
        return 0;
    struct group g = {c->tp, 1};
    double collectives = 4 + 2 * c->recompute_share;           /* all-reduces a layer: two forward, two backward */
    double bytes = 2 * c->tokens * j->hidden * width_bytes(j); /* an all-reduce is a scatter and a gather */
    double each = fabric_gather(f, g, bytes, true) + fabric_latency(f, g);
    return c->stage_layers * collectives * each * (c->async_tp ? j->k->tp_async_exposed : j->k->tp_exposed);
}

static double context_seconds(const struct job *j, const struct fabric *f, const struct cut *c, double attention_s)
{
    if (c->cp < 2)
        return 0;
    struct group g = {c->cp, c->tp};
    /* Keys and values travel the ring in the forward pass, again with their gradients in the backward. */
    double kv = c->tokens * c->cp * 2 * j->kv_width / c->tp * width_bytes(j);
    double each = fabric_gather(f, g, kv, false) + fabric_latency(f, g) * (c->cp - 1);
    double traffic = c->stage_layers * each * (3 + c->recompute_share);
    return larger(j->k->cp_exposed * traffic, traffic - attention_s);
}

static double expert_seconds(const struct job *j, const struct fabric *f, const struct cut *c)
{
    if (c->ep < 2 || j->moe_layers <= 0)
        return 0;
    struct group g = {c->ep, c->tp};
    double layers = c->stage_layers * j->moe_layers / j->layers;
    double each = c->tokens / c->tp * j->hidden * HALF * fabric_exchange_seconds(f, g, j->topk) + fabric_latency(f, g);
    return layers * (4 + 2 * smaller(c->recompute_share, j->k->moe_recompute_cap)) * each *
           (c->deepep ? j->k->deepep_exposed : j->k->a2a_exposed);
}

static double pipeline_seconds(const struct job *j, const struct fabric *f, const struct cut *c)
{
    if (c->pp < 2)
        return 0;
    int stride = j->gpus / c->pp;
    double bytes = c->tokens * j->hidden * width_bytes(j) / (c->flash ? c->tp : 1);
    double each = bytes / fabric_point(f, stride) + f->inner_latency;
    return 2 * each * (c->vpp > 1 ? c->vpp : 1) * j->k->pp_exposed;
}

static double gather_seconds(const struct job *j, const struct fabric *f, const struct cut *c, int ranks, double params)
{
    if (ranks < 2 || params <= 0)
        return 0;
    struct group g = {ranks, c->tp};
    double weight = j->quantised ? j->k->quant_bytes : width_bytes(j);
    double bytes = 2 * weight * params;
    if (!j->frozen && !c->sync_last)
        bytes += width_bytes(j) * params;
    bool inside = ranks * c->tp <= f->domain;
    double share = c->stack == STACK_EAGER && inside ? j->k->gather_eager : 1;
    return bytes * (ranks - 1) / ranks / (share * fabric_ring(f, g, false)) +
           3 * c->stage_layers * fabric_latency(f, g);
}

/* Sharded weights: gathered for the forward and the backward pass, gradients scattered; per micro-batch. */
static double shard_traffic(const struct job *j, const struct fabric *f, const struct cut *c, const struct memory *m)
{
    if (c->sharding != SHARD_ZERO3)
        return 0;
    int expert_ranks = c->shard < c->dp * c->cp && c->expert_shard > c->shard ? c->shard : c->expert_shard;
    double seconds = gather_seconds(j, f, c, c->shard, m->rank_params - m->rank_experts) +
                     gather_seconds(j, f, c, expert_ranks, m->rank_experts);
    return c->pp > 1 ? seconds / c->accumulation : seconds; /* pipelines gather once a step */
}

static double offload_traffic(const struct job *j, const struct fabric *f, const struct cut *c, const struct memory *m)
{
    double bytes = 0;
    if (c->offload == OFFLOAD_PARAMETERS)
        bytes += 2 * (j->quantised ? j->k->quant_bytes : HALF) * m->rank_params / c->shard;
    if (c->offload == OFFLOAD_ACTIVATIONS)
        bytes += 2 * HALF * c->tokens * j->hidden * c->stage_layers;
    return bytes / f->host;
}

/* Traffic that runs beside `window` seconds of compute: what is left over, and what the compute loses to it. */
static double exposed(const struct job *j, const struct cut *c, double traffic, double window)
{
    if (traffic <= 0)
        return 0;
    double hidden = (c->stack == STACK_EAGER ? j->k->shard_hidden_eager : j->k->shard_hidden) * window;
    double slowed = j->k->contention * window * smaller(1, traffic / larger(hidden, 1e-12));
    return larger(0, traffic - hidden) + slowed;
}

static double gradient_seconds(const struct job *j, const struct fabric *f, const struct cut *c, const struct memory *m,
                               double window)
{
    int replicas = c->dp * c->cp;
    if (replicas < 2 || m->trained_params <= 0)
        return 0;
    /* Whoever moves a script to code with stages and tensor ranks gets its defaults, which overlap no gradients. */
    bool defaults = j->scripted && c->stack == STACK_PARALLEL;
    double hidden = defaults ? 0 : j->k->grad_hidden * window;
    struct group all = {replicas, c->tp}, own = {c->shard, c->tp};
    double element = j->full_precision ? FULL : c->stack == STACK_PARALLEL ? j->k->gradient_wire_bytes : HALF;
    double params = m->trained_params;
    if (c->sharding == SHARD_ZERO3 && !j->frozen) {
        /* Scattered with every micro-batch already; copies of a shard group still have to agree. */
        double seconds = c->sync_last ? fabric_gather(f, own, width_bytes(j) * params, false) : 0;
        struct group copies = {replicas / c->shard, c->tp * c->shard};
        if (copies.n > 1)
            seconds += 2 * fabric_gather(f, copies, element * params / c->shard, false);
        return larger(0, seconds - hidden);
    }
    double reduce, after = 0;
    if (c->sharding == SHARD_ZERO1 || c->sharding == SHARD_ZERO2) {
        struct group copies = {replicas / c->shard, c->tp * c->shard};
        reduce = fabric_gather(f, own, element * params, false) +
                 2 * fabric_gather(f, copies, element * params / c->shard, false);
        /* Updated weights come back when the optimizer is done, under ZeRO-1 owner by owner. */
        after = fabric_gather(f, own, width_bytes(j) * params, false);
        after += c->sharding == SHARD_ZERO1 && c->stack != STACK_PARALLEL ? j->k->broadcast_rank_s * c->shard : 0;
        reduce += c->stack == STACK_PARALLEL ? after : 0; /* overlapped with the next forward pass there */
        after = c->stack == STACK_PARALLEL ? 0 : after;
    } else {
        reduce = 2 * fabric_gather(f, all, element * params, false);
    }
    return larger(0, reduce - hidden) + after + fabric_latency(f, all);
}

/* Nodes that wait for each other in collectives. One replica cut into stages has none between nodes: a stage hands its
 * activations on and waits for nobody else. */
static double nodes_spanned(const struct job *j, const struct cut *c)
{
    bool one_replica = c->dp * c->cp == 1 && c->tp <= j->shape.gpus_per_node;
    return one_replica ? 1 : j->shape.nodes;
}

/* Every collective waits for the slowest rank, and more nodes have slower slowest ones. */
static double skew_share(const struct job *j, const struct fabric *f, const struct cut *c)
{
    double spanned = nodes_spanned(j, c);
    return (spanned > 1 ? f->leave_share + j->k->node_skew * doublings(spanned) : 0) + f->rank_skew;
}

static double optimizer_seconds(const struct job *j, const struct fabric *f, const struct cut *c,
                                const struct memory *m)
{
    double seconds = j->k->optimizer_passes * m->owned_params / j->bandwidth;
    if (c->offload == OFFLOAD_OPTIMIZER || c->offload == OFFLOAD_PARAMETERS) {
        double ranks = smaller(j->gpus, j->shape.gpus_per_node);
        /* The host reads and writes every state once; its memory is the limit. */
        double host = 2 * m->state_bytes_per_owned * m->owned_params * ranks / (j->k->host_update_gb_s * 1e9);
        seconds = host + (FULL + HALF) * m->owned_params / f->host;
    }
    return seconds;
}

static double data_seconds(const struct job *j, double tokens)
{
    double rate = j->shape.storage_gb_s * 1e9;
    if (rate <= 0)
        return 0;
    const struct training *t = j->training;
    double epochs = t->epochs > 0 ? t->epochs : 1;
    double amount = t->tokens > 0 ? t->tokens : t->samples > 0 ? t->samples * j->seq : 0;
    double bytes = j->k->bytes_per_token;
    if (t->dataset_gb > 0 && amount > 0)
        bytes = larger(bytes, t->dataset_gb * 1e9 * epochs / amount);
    return tokens * bytes / rate;
}

void step_with(const struct job *j, const struct fabric *f, const struct cut *c, const struct memory *m,
               const struct compute *compute, struct step *ret)
{
    struct step s = {.compute = *compute};
    s.tensor_s = j->comm_scale * tensor_seconds(j, f, c);
    s.context_s = j->comm_scale * context_seconds(j, f, c, s.compute.attention_s);
    s.expert_s = j->comm_scale * expert_seconds(j, f, c);
    s.pipeline_s = j->comm_scale * pipeline_seconds(j, f, c);
    double inner = s.compute.total_s + s.tensor_s + s.context_s + s.expert_s; /* work communication may hide behind */
    s.shard_s = exposed(j, c, j->comm_scale * shard_traffic(j, f, c, m), inner);
    s.offload_s = exposed(j, c, offload_traffic(j, f, c, m), inner);
    s.micro_s = inner + s.pipeline_s + s.shard_s + s.offload_s;
    s.bubble_s = (c->pp - 1.0) / (c->vpp > 1 ? c->vpp : 1) * (s.micro_s - s.compute.ends_s);
    s.gradient_s = j->comm_scale * gradient_seconds(j, f, c, m, inner);
    s.optimizer_s = j->compute_scale * optimizer_seconds(j, f, c, m) + j->k->step_fixed;
    double busy = c->accumulation * s.micro_s + s.bubble_s + s.gradient_s + s.optimizer_s;
    s.skew_s = busy * skew_share(j, f, c);
    busy = j->time_scale * (busy + s.skew_s);
    double tokens = c->global_batch * j->seq;
    s.data_s = data_seconds(j, tokens);
    s.wait_s = j->wait_s * tokens / j->shape.nodes;
    s.total_s = larger(busy, s.data_s) + s.wait_s;
    double waits = s.tensor_s + s.context_s + s.expert_s + s.pipeline_s + s.shard_s + s.offload_s;
    s.communication_share = (c->accumulation * waits + s.gradient_s + s.skew_s) / s.total_s;
    s.bubble_share = s.bubble_s / s.total_s;
    s.data_wait_share = larger(0, s.total_s - busy) / s.total_s;
    s.tokens_per_s = tokens * j->real_share / s.total_s;
    *ret = s;
}

void step_time(const struct job *j, const struct fabric *f, const struct cut *c, const struct memory *m,
               struct step *ret)
{
    struct compute compute;
    compute_micro_batch(j, c, &compute);
    step_with(j, f, c, m, &compute, ret);
}

#define ENDLESS 1e10 /* tokens of a micro-batch */

void step_ideal_of(const struct job *j, const struct fabric *f, const struct cut *c, struct step_ideal *ret)
{
    struct cut one = *c;
    struct compute k;
    one.pp = 1;
    one.stage_layers = 1;
    one.recompute_share = 0;
    one.tokens = ENDLESS;
    compute_micro_batch(j, &one, &k);
    *ret = (struct step_ideal){.tp = c->tp,
                               .cp = c->cp,
                               .ep = c->ep,
                               .layer_s = (k.layers_s + j->comm_scale * tensor_seconds(j, f, &one)) / ENDLESS,
                               .ends_s = k.ends_s / ENDLESS};
}

double step_most(const struct job *j, const struct fabric *f, const struct cut *c, const struct step_ideal *ideal)
{
    double layers = c->stage_layers * ideal->layer_s, ends = c->pp > 1 && !c->head_apart ? 0 : ideal->ends_s;
    double tokens = c->global_batch * j->seq, of_rank = tokens / ((double)c->dp * c->cp);
    double bubble = j->global_batch > 0 ? (c->pp - 1.0) / (c->vpp > 1 ? c->vpp : 1) * c->tokens * layers : 0;
    double busy = j->time_scale * (of_rank * (layers + ends) + bubble) * (1 + skew_share(j, f, c));
    /* The sums above are others than those of the step: what they round is not to decide. */
    return (1 + 1e-6) * tokens * j->real_share / (busy + j->wait_s * tokens / j->shape.nodes);
}
