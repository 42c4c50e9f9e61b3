/* cut.h — a complete layout on a complete shape: how many ranks share what, and where they sit.
 *
 * Ranks are numbered as Megatron does: tensor ranks next to each other, then context, data (with experts inside),
 * pipeline stages outermost.
 */
#ifndef SUANPAN_PLANNER_TRAINING_CUT_H
#define SUANPAN_PLANNER_TRAINING_CUT_H

#include "planner/training/job.h"

struct cut {
    int tp, pp, vpp, dp, cp, ep;
    enum sharding sharding;
    enum offload offload;
    enum recompute recompute;
    int micro_batch;
    enum stack stack; /* of code that runs this layout */
    bool flash, vocab_parallel, async_tp, sync_last, deepep;
    double recompute_share; /* of a forward pass done again in the backward */
    double store_share;     /* of the activations kept between the passes */

    int shard;           /* ranks over which dense states are sharded */
    double expert_ranks; /* ranks over which the experts of one stage are spread (ep x tensor cut of an expert) */
    int expert_shard;    /* ranks over which one expert's states are sharded */
    double accumulation; /* micro-batches of one rank in a step */
    double global_batch; /* sequences a step */
    double tokens;       /* of one micro-batch on one rank (after the context cut) */
    double stage_layers; /* of the fullest stage */
    bool head_apart;     /* the last stage carries the output head on top of a full share of layers */
};

/* What kind of code runs a layout: degrees beyond data parallelism are Megatron's, unless its weights are sharded. */
enum stack cut_stack(const struct job *j, const struct cut *c);
/* Fills the derived members from the layout ones. */
void cut_derive(const struct job *j, struct cut *c);
/* The share done again and kept, where nothing but `recompute` changed since. */
void cut_derive_recompute(const struct job *j, struct cut *c);
/* The public layout of a cut. */
struct layout cut_layout(const struct cut *c);

#endif
