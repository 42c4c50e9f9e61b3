/* job.h — one training request resolved to numbers: what every formula of this room reads.
 *
 * Built once per estimate from the caller's words, with every default taken here and nowhere else. Rates are per
 * second and per card (FLOP/s, B/s); sizes are bytes and counts as doubles.
 */
#ifndef SUANPAN_PLANNER_TRAINING_JOB_H
#define SUANPAN_PLANNER_TRAINING_JOB_H

#include <math.h>
#include <string.h>

#include "planner/training/training_constants.h"

/* fmax and fmin for the search's inner loops, where a call costs more than the comparison; no NaN stands there. */
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* log2, at no cost for the powers of two that most groups of ranks are. */
static inline double doublings(double n)
{
    const unsigned long long mantissa = (1ULL << 52) - 1;
    unsigned long long bits;
    memcpy(&bits, &n, sizeof bits);
    return n >= 1 && (bits & mantissa) == 0 ? (double)(bits >> 52) - 1023 : log2(n);
}

struct job {
    const struct training_constants *k;
    const struct model *model;
    const struct training *training;
    const struct gpu *gpu;
    struct shape shape; /* links resolved */
    int gpus;

    enum method method;
    bool frozen; /* LoRA or QLoRA: the base is not trained */
    bool quantised;
    bool finetune; /* anything but pretraining */
    bool parallel; /* the caller names a Megatron-class layout */
    bool compiled;
    bool scripted;            /* a fine-tuning script, with the habits of one */
    bool sharded_stack;       /* FSDP / ZeRO-3 stated */
    bool prudent;             /* as the request's */
    enum stack stack;         /* where the layout has no degrees beyond data parallelism */
    enum precision precision; /* what the card runs */
    bool eight_bit_plain;     /* FP8 by plain framework code */
    enum optimizer optimizer;
    enum loss_impl loss;
    bool half_states;    /* no fp32 master copy: moments in 16 bits */
    bool full_precision; /* fp32 / tf32: no 16-bit copies */

    double product_rate; /* FLOP/s that large products of the precision reach */
    double wide_rate;    /* of those that stay in 16 bits whatever it is (the output head) */
    double peak;         /* FLOP/s of the precision's tensor cores */
    double peak16;       /* of 16-bit ones (or of fp32 where that is what runs) */
    double bandwidth;
    double seq, attended; /* tokens; mean context a token attends to in the scores computed by flash kernels */
    double causal;        /* 0.5 or 1 */
    double real_share;    /* real tokens of computed ones (padding) */
    double adapter_params, adapter_rank;
    int global_batch;                 /* 0 = free */
    double compute_scale, comm_scale; /* what a reading says the model is off by; 1 without one */
    double network_scale;             /* of the bandwidth between nodes */
    double wait_s;                    /* a node's token waits so long for data and host, by a reading of utilisation */
    double time_scale;                /* of whole steps: what the scales above could not explain of a reading */

    /* model, as doubles */
    double params, active, embedding, layers, hidden, attention_width, kv_width, heads, head_dim, vocab;
    double attention_params, dense_ffn_params, moe_layers, routed_params, expert_width, ffn_width, shared_width,
        shared_factor;
    double experts, topk, expert_total;          /* expert_total: routed parameters of all layers */
    double vocab_matrices;                       /* 1 tied, 2 apart */
    double score_layers;                         /* layers with quadratic attention */
    double activation_bytes[STACK_PARALLEL + 1]; /* job_activation_bytes of each stack */
};

/* ERR_UNSUPPORTED names the figure of the card that is missing. Notes on what was assumed go to `assumed`. */
int job_resolve(const struct training_constants *k, const struct training_request *q, struct note_list *assumed,
                struct job *ret, struct err *err);

/* Stored activation bytes of one token in one layer with nothing recomputed (docs/planner-training.md), unsharded. */
double job_activation_bytes(const struct job *j, enum stack stack);

/* Model FLOPs of one trained token, forward and backward, causal attention, without recomputation. */
double job_flops_per_token(const struct job *j);

/* LoRA adapter parameters of rank r on every linear matrix of the model. */
double job_adapter_params(const struct model *m, double rank);

#endif
