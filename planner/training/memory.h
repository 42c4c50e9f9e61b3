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

void memory_of(const struct job *j, const struct cut *c, struct memory *ret);

/* Activation bytes of one layer of the classic transformer (plain FFN of 4 widths, multi-head attention, 16 bits):
 * docs/planner-training.md "Activations", the closed form of the published table. */
double memory_classic_layer_bytes(double seq, double batch, double hidden, double heads, int tp, bool sequence_parallel,
                                  bool selective);

/* Name of the largest term that a change of layout could squeeze. */
const char *memory_tightest(const struct memory *m);

#endif
