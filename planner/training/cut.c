/* cut.c — group sizes, stage loads and batch arithmetic of a layout. */
#include "planner/training/cut.h"

#include <math.h>

static double default_global_batch(const struct job *j, const struct cut *c)
{
    double per_pass = (double)c->dp * c->micro_batch;
    double wanted = j->finetune ? j->k->default_finetune_sequences : j->k->default_pretrain_tokens / j->seq;
    return per_pass * larger(1, floor(wanted / per_pass + 0.5));
}

static void derive_batch(const struct job *j, struct cut *c)
{
    if (c->micro_batch < 1)
        c->micro_batch = 1;
    if (j->global_batch > 0) {
        c->global_batch = j->global_batch;
        double per_rank = c->global_batch / c->dp;
        if (c->micro_batch > per_rank && per_rank >= 1)
            c->micro_batch = (int)per_rank;
        c->accumulation = larger(1, per_rank / c->micro_batch);
    } else if (j->training->grad_accumulation > 0) {
        c->accumulation = j->training->grad_accumulation;
        c->global_batch = c->accumulation * c->dp * c->micro_batch;
    } else {
        c->global_batch = default_global_batch(j, c);
        c->accumulation = c->global_batch / ((double)c->dp * c->micro_batch);
    }
    c->tokens = (double)c->micro_batch * j->seq / c->cp;
}

static void derive_stages(const struct job *j, struct cut *c)
{
    bool even = !j->model->architecture_known || j->model->layers % c->pp == 0;
    c->head_apart = even;
    c->stage_layers = even ? j->layers / c->pp : ceil(j->layers / c->pp);
}

static void derive_groups(struct cut *c)
{
    int replicas = c->dp * c->cp;
    if (c->shard <= 0 || c->shard > replicas)
        c->shard = replicas;
    bool spread = c->ep > 1;
    c->expert_ranks = spread ? c->ep : c->tp;
    double copies = (double)replicas * c->tp / c->expert_ranks;
    c->expert_shard = copies > 1 ? (int)copies : 1;
}

void cut_derive_recompute(const struct job *j, struct cut *c)
{
    switch (c->recompute) {
    case RECOMPUTE_FULL:
        c->recompute_share = 1;
        c->store_share = 0;
        break;
    case RECOMPUTE_SELECTIVE:
        c->recompute_share = c->stack == STACK_PARALLEL ? j->k->selective_recompute : j->k->selective_native;
        /* Megatron drops the score matrix only, which flash kernels never store; plain code drops whole operations. */
        c->store_share = c->stack == STACK_PARALLEL ? 1 : j->k->selective_store;
        break;
    case RECOMPUTE_UNSTATED:
    case RECOMPUTE_NONE:
        c->recompute_share = 0;
        c->store_share = 1;
        break;
    }
}

enum stack cut_stack(const struct job *j, const struct cut *c)
{
    bool degrees = c->tp > 1 || c->pp > 1 || c->cp > 1 || c->ep > 1 || j->parallel;
    return degrees && c->sharding != SHARD_ZERO3 ? STACK_PARALLEL : j->stack;
}

void cut_derive(const struct job *j, struct cut *c)
{
    c->stack = cut_stack(j, c);
    derive_batch(j, c);
    derive_stages(j, c);
    derive_groups(c);
    cut_derive_recompute(j, c);
}

struct layout cut_layout(const struct cut *c)
{
    return (struct layout){
        .tp = c->tp,
        .pp = c->pp,
        .vpp = c->vpp,
        .dp = c->dp,
        .cp = c->cp,
        .ep = c->ep,
        .sharding = c->sharding,
        .shard_group = c->shard < c->dp * c->cp ? c->shard : 0,
        .offload = c->offload,
        .recompute = c->recompute,
        .micro_batch = c->micro_batch,
        .flash_attention = c->flash ? TRI_YES : TRI_NO,
        .vocab_parallel = c->vocab_parallel ? TRI_YES : TRI_NO,
        .async_tp = c->async_tp ? TRI_YES : TRI_NO,
        .grad_sync = c->sync_last ? GRAD_SYNC_LAST : GRAD_SYNC_EACH,
        .ep_dispatch = c->deepep ? EP_DISPATCH_DEEPEP : EP_DISPATCH_ALLTOALL,
    };
}
