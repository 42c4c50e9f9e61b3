/* memory.h — peak bytes of the fullest rank, term by term. */
#ifndef SUANPAN_PLANNER_TRAINING_MEMORY_H
#define SUANPAN_PLANNER_TRAINING_MEMORY_H

#include "planner/training/cut.h"

struct memory {
    double weights, gradients, optimizer, activations, logits, buffers, overhead; /* bytes alive at the peak */
    double total;
    double rank_params;           /* parameters of one rank before sharding */
    double rank_experts;          /* of them in routed experts */
    double owned_params;          /* whose optimizer states the rank keeps */
    double state_bytes_per_owned; /* master copy and moments */
    double trained_params;        /* of the rank, before sharding */
    double host_bytes;            /* per node, of what was moved to host memory */
    double checkpoint;            /* bytes of one checkpoint of the whole model */
};

/* One stage of a pipeline, or all of the model: its parameters on one rank and what they take. */
struct memory_stage {
    double dense, vocab, experts; /* parameters of the rank */
    struct memory states; /* weights, gradients, optimizer, buffers and what follows from them; no activations */
};

/* What a layout holds whatever its micro-batch and its recomputation are: a search that tries many of them asks once.
 */
struct memory_held {
    struct memory_stage stage;  /* the first or the last: as many layers, and a matrix of the vocabulary */
    double layer, boundary;     /* bytes of one token: of a whole layer, between two layers */
    double checkpoint, runtime; /* bytes */
    double least;               /* bytes that no micro-batch and no recomputation goes below */
};

/* The fullest instant of a step, in the fuller stage. */
struct memory_peak {
    double gradients, activations, logits, overhead; /* bytes alive then, as in struct memory */
    double total;
};

/* The cut must be derived (cut_derive). Once for what a cut holds, then a peak for each way to run it; memory_at tells
 * it term by term. memory_of: all in one. */
void memory_hold(const struct job *j, const struct cut *c, struct memory_held *ret);
struct memory_peak memory_peak_of(const struct job *j, const struct cut *c, const struct memory_held *h);
void memory_at(const struct memory_held *h, const struct memory_peak *p, struct memory *ret);
void memory_of(const struct job *j, const struct cut *c, struct memory *ret);

/* Activation bytes of one layer of the classic transformer (plain FFN of 4 widths, multi-head attention, 16 bits):
 * docs/planner-training.md "Activations", the closed form of the published table. */
double memory_classic_layer_bytes(double seq, double batch, double hidden, double heads, int tp, bool sequence_parallel,
                                  bool selective);

/* Name of the largest term that a change of layout could squeeze. */
const char *memory_tightest(const struct memory *m);

#endif
