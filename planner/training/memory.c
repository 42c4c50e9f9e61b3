/* memory.c — states, activations, logits, buffers of the fullest rank at the fullest instant of a step.
 *
 * A step peaks either at the end of the forward pass (all kept activations and the logits, with whatever gradients
 * outlive a micro-batch) or in the optimizer (all gradients, activations gone); the larger one is reported, with the
 * terms that are alive then. With pipelines the first stage keeps most micro-batches and the last one the logits;
 * the fuller of the two is reported.
 */
#include "planner/training/memory.h"

#include <math.h>

#include "planner/training/training.h"

#define HALF 2.0
#define FULL 4.0

double memory_classic_layer_bytes(double seq, double batch, double hidden, double heads, int tp, bool sequence_parallel,
                                  bool selective)
{
    double scores = selective ? 0 : 5 * heads * seq / hidden;
    double per_token = sequence_parallel ? (34 + scores) / tp : 10 + (24 + scores) / tp;
    return seq * batch * hidden * per_token;
}

static double vocab_cut(const struct cut *c)
{
    return c->vocab_parallel ? c->tp : 1;
}

static struct memory_stage stage_of(const struct job *j, const struct cut *c)
{
    double share = c->stage_layers / j->layers;
    double body = larger(0, j->params - j->expert_total - j->embedding * j->vocab_matrices);
    return (struct memory_stage){
        .dense = body * share / c->tp,
        .experts = j->expert_total * share / c->expert_ranks,
        .vocab = j->embedding * (c->pp > 1 ? 1 : j->vocab_matrices) / vocab_cut(c),
    };
}

/* Micro-batches whose activations a stage keeps. */
static double in_flight(const struct cut *c, bool last)
{
    if (c->pp <= 1)
        return 1;
    double depth = last ? 1 : smaller(c->accumulation, c->pp);
    double interleave = c->vpp > 1 ? 1 + (c->pp - 1.0) / ((double)c->pp * c->vpp) : 1;
    return depth * interleave;
}

/* Moment bytes of one trained parameter with fp32 states. */
static double moment_bytes(enum optimizer o)
{
    switch (o) {
    case OPT_ADAMW_8BIT:
        return 2;
    case OPT_ADAFACTOR:
        return 0.1;
    case OPT_SGD:
    case OPT_LION:
    case OPT_MUON:
        return 4;
    case OPT_UNSTATED:
    case OPT_ADAMW:
        break;
    }
    return 8;
}

struct state_bytes {
    double weight, gradient, optimizer; /* of one trained parameter, unsharded */
};

static struct state_bytes trained_bytes(const struct job *j, const struct cut *c)
{
    double moments = moment_bytes(j->optimizer);
    if (j->full_precision)
        return (struct state_bytes){FULL, FULL, moments};
    if (j->half_states)
        return (struct state_bytes){HALF, HALF, j->optimizer == OPT_ADAMW_8BIT ? moments : moments / 2};
    if (c->sharding != SHARD_ZERO1 && (c->sharding == SHARD_ZERO3 || c->stack != STACK_PARALLEL))
        return (struct state_bytes){HALF, c->sharding == SHARD_ZERO3 ? HALF : FULL, FULL + moments};
    return (struct state_bytes){HALF, j->k->grad_bytes_ddp, FULL + moments + j->k->grad_shard_bytes};
}

double training_least_state_bytes(const struct training *t)
{
    const bool wide = t->precision == PREC_FP32 || t->precision == PREC_TF32;
    const double moments = moment_bytes(t->optimizer), element = wide ? FULL : HALF;
    double bytes = t->master_weights == TRI_NO
                       ? 2 * HALF + (t->optimizer == OPT_ADAMW_8BIT ? moments : moments / 2)
                       : 2 * FULL + moments; /* 16 bits twice and a master copy, or 32 bits twice */
    return t->optimizer_in_backward == TRI_YES ? bytes - element : bytes;
}

struct shards {
    double weight, gradient, optimizer;
};

static struct shards shards_of(enum sharding s, double ranks)
{
    return (struct shards){
        .weight = s == SHARD_ZERO3 ? ranks : 1,
        .gradient = s == SHARD_ZERO3 || s == SHARD_ZERO2 ? ranks : 1,
        .optimizer = s == SHARD_NONE || s == SHARD_UNSTATED ? 1 : ranks,
    };
}

/* The usual preparation of a k-bit base casts what is not quantised to 32 bits; code that asks for pure 16-bit states
 * or shards its weights does not. */
static bool casts_up(const struct job *j, const struct cut *c)
{
    return j->quantised && c->stack == STACK_EAGER && !j->half_states && c->sharding != SHARD_ZERO3;
}

static double adapter_share(const struct cut *c)
{
    return 1.0 / ((double)c->tp * c->pp);
}

/* Weights, gradients and optimizer of a model whose base is frozen: only adapters (and embeddings) are trained. */
static void frozen_states(const struct job *j, const struct cut *c, const struct memory_stage *s, struct memory *m)
{
    const struct training_constants *k = j->k;
    double shard = c->sharding == SHARD_ZERO3 ? c->shard : 1,
           expert_shard = c->sharding == SHARD_ZERO3 ? c->expert_shard : 1;
    double element = j->full_precision ? FULL : HALF, vocab = element;
    if (j->quantised) {
        double bits = j->training->quant_bits > 0 ? j->training->quant_bits : 4;
        element = k->quant_bytes * bits / 4;
        vocab = casts_up(j, c) ? k->quant_vocab_bytes : HALF;
    }
    m->weights = (element * s->dense + vocab * s->vocab) / shard + element * s->experts / expert_shard;
    double adapters = j->adapter_params * adapter_share(c);
    struct shards a = shards_of(c->sharding, c->shard);
    m->weights += FULL * adapters / a.weight;
    m->gradients = FULL * adapters / a.gradient;
    m->optimizer = larger(0, k->adapter_bytes - 2 * FULL) * adapters / a.optimizer;
    m->trained_params = adapters;
    m->owned_params = adapters / a.optimizer;
    if (j->training->train_embeddings == TRI_YES) {
        double states = k->trained_vocab_bytes * s->vocab / (c->sharding == SHARD_ZERO3 ? c->shard : 1);
        m->optimizer += states;
        m->trained_params += s->vocab;
        m->owned_params += s->vocab / a.weight;
    }
    m->state_bytes_per_owned = k->adapter_bytes;
}

static void trained_states(const struct job *j, const struct cut *c, const struct memory_stage *s, struct memory *m)
{
    struct state_bytes b = trained_bytes(j, c);
    double dense = s->dense + s->vocab;
    struct shards d = shards_of(c->sharding, c->shard), x = shards_of(c->sharding, c->expert_shard);
    m->weights = b.weight * (dense / d.weight + s->experts / x.weight);
    m->gradients = b.gradient * (dense / d.gradient + s->experts / x.gradient);
    if (c->sharding == SHARD_ZERO3 && c->sync_last)
        m->gradients = FULL * (dense + s->experts); /* reduced only after the last micro-batch */
    if (j->training->optimizer_in_backward == TRI_YES)
        m->gradients = b.gradient * larger(j->embedding / vocab_cut(c), s->dense / larger(1, c->stage_layers));
    m->optimizer = b.optimizer * (dense / d.optimizer + s->experts / x.optimizer);
    m->state_bytes_per_owned = b.optimizer + b.gradient;
    m->trained_params = dense + s->experts;
    m->owned_params = dense / d.optimizer + s->experts / x.optimizer;
}

static double layer_params(const struct cut *c, const struct memory_stage *s)
{
    return (s->dense + s->experts) / larger(1, c->stage_layers);
}

static void working_buffers(const struct job *j, const struct cut *c, const struct memory_stage *s, struct memory *m)
{
    const struct training_constants *k = j->k;
    double element = j->quantised ? k->quant_bytes : j->full_precision ? FULL : HALF;
    m->buffers = 0;
    if (c->sharding == SHARD_ZERO3 && c->shard > 1)
        m->buffers += k->shard_units * element * layer_params(c, s) +
                      k->shard_vocab * (j->full_precision ? FULL : HALF) * j->embedding / vocab_cut(c);
    if (c->sharding == SHARD_ZERO3 && c->sync_last && c->pp > 1) /* a stage stays gathered for all micro-batches */
        m->buffers += (j->full_precision ? FULL : HALF) * (s->dense + s->vocab + s->experts);
    bool on_card = c->offload != OFFLOAD_OPTIMIZER && c->offload != OFFLOAD_PARAMETERS;
    if (!j->frozen && !j->half_states && on_card && (c->sharding == SHARD_ZERO2 || c->sharding == SHARD_ZERO3))
        m->buffers += k->flat_bytes * (s->dense + s->vocab + s->experts) / c->shard;
    if (j->quantised)
        m->buffers += k->dequant_copies * HALF * j->hidden * larger(j->ffn_width, j->attention_width) / c->tp;
}

/* Scores a plain attention kernel keeps for one token of one layer. */
static double score_bytes(const struct job *j, const struct cut *c)
{
    return c->flash ? 0 : 5 * (j->full_precision ? 2 : 1) * j->heads * j->seq / c->tp;
}

/* Bytes of one token of one layer: all that the backward pass needs, and what stands between two layers. */
static void layer_bytes(const struct job *j, const struct cut *c, struct memory_held *h)
{
    const struct training_constants *k = j->k;
    double style = c->stack == STACK_EAGER ? k->act_eager : c->stack == STACK_FUSED ? k->act_fused : k->act_parallel;
    if (j->quantised)
        style *= k->act_quant;
    /* Stacks before sequence parallelism (those with plain attention) keep part of a layer on every tensor rank. */
    double tensor_cut = c->flash || c->tp == 1 ? c->tp : 1 / (10.0 / 34 + 24.0 / 34 / c->tp);
    double boundary_cut = c->flash ? c->tp : 1;
    h->layer = j->activation_bytes[c->stack] * style / tensor_cut + score_bytes(j, c);
    h->boundary = (j->full_precision ? FULL : HALF) * j->hidden / boundary_cut;
}

static double logit_bytes(const struct job *j, const struct cut *c)
{
    const struct training_constants *k = j->k;
    double eager = casts_up(j, c) ? k->logits_quant : k->logits_eager;
    double each = c->stack == STACK_EAGER ? eager : c->stack == STACK_FUSED ? k->logits_fused : k->logits_parallel;
    if (j->loss == LOSS_CHUNKED)
        each = k->logits_chunked;
    if (j->loss == LOSS_FUSED)
        each = k->logits_cut;
    double positions = j->model->causal == TRI_NO ? k->encoder_positions : 1;
    return each * positions * c->tokens * j->vocab / vocab_cut(c);
}

static void offload(const struct job *j, const struct cut *c, const struct memory_stage *s, struct memory *m)
{
    double ranks = smaller(j->gpus, j->shape.gpus_per_node);
    double moved = 0;
    if (c->offload == OFFLOAD_OPTIMIZER || c->offload == OFFLOAD_PARAMETERS) {
        moved += m->optimizer + m->gradients;
        m->optimizer = 0;
        m->gradients = j->frozen ? m->gradients : HALF * layer_params(c, s);
    }
    if (c->offload == OFFLOAD_PARAMETERS) {
        moved += m->weights;
        m->weights = 2 * (j->quantised ? j->k->quant_bytes : HALF) * layer_params(c, s) / larger(1, c->shard);
    }
    /* A base quantised while it is loaded lies whole in host memory first. */
    double loaded = j->quantised ? HALF * j->params : 0;
    m->host_bytes = larger(loaded, moved * 1.5 * ranks); /* pinned staging on top */
}

/* Context, libraries and communication buffers. */
static double runtime_gb(const struct job *j)
{
    const struct training_constants *k = j->k;
    enum intra_link l = j->shape.intra;
    if (j->gpus < 2)
        return k->overhead_one_gb;
    bool pcie = l == INTRA_PCIE3 || l == INTRA_PCIE4 || l == INTRA_PCIE5;
    return pcie && j->shape.nodes == 1 ? k->overhead_pcie_gb : k->overhead_many_gb;
}

static void hold_stage(const struct job *j, const struct cut *c, struct memory_stage *ret)
{
    struct memory *states = &ret->states;
    *ret = stage_of(j, c);
    states->rank_params = ret->dense + ret->vocab + ret->experts;
    states->rank_experts = ret->experts;
    if (j->frozen)
        frozen_states(j, c, ret, states);
    else
        trained_states(j, c, ret, states);
    working_buffers(j, c, ret, states);
    offload(j, c, ret, states);
}

/* Gradients outlive a micro-batch, or they are whole in the optimizer step: either way they count. */
static double held_bytes(const struct job *j, const struct memory *states)
{
    return states->weights + states->optimizer + states->gradients + states->buffers * (1 + j->k->fragmentation);
}

void memory_hold(const struct job *j, const struct cut *c, struct memory_held *ret)
{
    hold_stage(j, c, &ret->stage);
    layer_bytes(j, c, ret);
    double trained = j->frozen ? j->adapter_params : j->params;
    double moments = j->half_states ? moment_bytes(j->optimizer) / 2 : moment_bytes(j->optimizer);
    ret->checkpoint = trained * (HALF + (j->frozen ? 0 : (j->half_states ? 0 : FULL) + moments));
    ret->runtime = BYTES_PER_GIB * runtime_gb(j);
    ret->least = ret->runtime + held_bytes(j, &ret->stage.states);
}

/* The first or the last stage at its fullest instant. */
static struct memory_peak stage_peak(const struct job *j, const struct cut *c, const struct memory_held *h, bool last)
{
    const struct training_constants *k = j->k;
    const struct memory *m = &h->stage.states;
    struct memory_peak p = {.logits = 0};
    bool full = c->recompute == RECOMPUTE_FULL;
    double kept = c->offload == OFFLOAD_ACTIVATIONS ? 0 : full ? h->boundary : c->store_share * h->layer;
    kept *= c->tokens * c->stage_layers * in_flight(c, last); /* of all micro-batches in flight */
    double working = full ? c->tokens * h->layer : 0;         /* of the layer being recomputed */
    double logits = last || c->pp == 1 ? logit_bytes(j, c) : 0;
    /* Gradients outlive a micro-batch when there are several, or when they live in buffers made in advance. */
    bool persistent = c->accumulation > 1 || c->pp > 1 || c->sharding == SHARD_ZERO1 || c->sharding == SHARD_ZERO2 ||
                      c->stack == STACK_PARALLEL;
    /* The allocator does not hand all blocks of the logits on to the layer that is recomputed after them. */
    double both = larger(logits, working) + k->peak_overlap * smaller(logits, working);
    double forward_end = kept + both + (persistent ? m->gradients : 0);
    double optimizer_step = m->gradients + working;
    if (forward_end >= optimizer_step) {
        p.activations = kept + both - logits;
        p.logits = logits;
        p.gradients = persistent ? m->gradients : 0;
    } else {
        p.activations = working;
        p.gradients = m->gradients;
    }
    double dynamic = p.activations + p.logits + m->buffers;
    p.overhead = h->runtime + k->fragmentation * dynamic;
    p.total = m->weights + p.gradients + m->optimizer + p.activations + p.logits + m->buffers + p.overhead;
    return p;
}

struct memory_peak memory_peak_of(const struct job *j, const struct cut *c, const struct memory_held *h)
{
    const struct memory_peak first = stage_peak(j, c, h, false);
    if (c->pp <= 1)
        return first;
    const struct memory_peak last = stage_peak(j, c, h, true);
    return last.total > first.total ? last : first;
}

void memory_at(const struct memory_held *h, const struct memory_peak *p, struct memory *ret)
{
    *ret = h->stage.states;
    ret->gradients = p->gradients;
    ret->activations = p->activations;
    ret->logits = p->logits;
    ret->overhead = p->overhead;
    ret->total = p->total;
    ret->checkpoint = h->checkpoint;
}

void memory_of(const struct job *j, const struct cut *c, struct memory *ret)
{
    struct memory_held h;
    memory_hold(j, c, &h);
    const struct memory_peak p = memory_peak_of(j, c, &h);
    memory_at(&h, &p, ret);
}

const char *memory_tightest(const struct memory *m)
{
    struct {
        const char *name;
        double bytes;
    } terms[] = {
        {"weights", m->weights},         {"gradients", m->gradients}, {"optimizer", m->optimizer},
        {"activations", m->activations}, {"logits", m->logits},       {"buffers", m->buffers},
    };
    size_t largest = 0;
    for (size_t i = 1; i < sizeof terms / sizeof *terms; i++) {
        if (terms[i].bytes > terms[largest].bytes)
            largest = i;
    }
    return terms[largest].name;
}
