/* launch_request.h — what the launch text of an option is written from, and what follows from it for every text. */
#ifndef SUANPAN_PLANNER_TAKEAWAY_LAUNCH_REQUEST_H
#define SUANPAN_PLANNER_TAKEAWAY_LAUNCH_REQUEST_H

#include "planner/core/plan.h"

struct launch_request {
    const struct workload *workload;
    const struct estimate *estimate; /* of the training machine, or of one replica where there is no training */
    const struct shape *shape;       /* the machine of that estimate */
    const struct sku *sku;           /* NULL = unknown supplier */
    const struct reserve *reserve;   /* NULL = no service */
    enum option_kind kind;
    double learning_rate;       /* launch_learning_rate_... */
    double checkpoints_per_job; /* launch_checkpoints_per_job; 0 = as the failures alone want it */
    double default_seq_tokens;  /* train.default_seq, and the rank of an adapter: what the plan was reckoned with */
    double default_lora_rank;   /* train.default_lora_rank */
    double reserve_input_tokens, reserve_output_tokens;             /* of a service nobody described */
    double serve_default_input_tokens, serve_default_output_tokens; /* of one described without its lengths */
};

/* The batch of one optimizer step as the launch text states it: global = micro x accumulation x dp. */
struct launch_batch {
    int micro, accumulation, dp, global;
};

struct launch_batch launch_batch_of(const struct workload *w, const struct estimate *e, const struct shape *s);

/* True where the layout is one that a DeepSpeed configuration alone can express. */
bool launch_uses_deepspeed(const struct workload *w, const struct layout *l);

/* Key of the assumption that holds the learning rate written into the launch text for this method. */
const char *launch_learning_rate_key(enum method m);

/* Optimizer steps between two checkpoints; 0 where nobody knows. */
int launch_save_steps(const struct launch_request *q);

/* Hours a job of this supply may run; 0 = no cap. */
double launch_cap_hours(const struct launch_request *q);

/* Hours of one run at the low end of the estimated speed: what a scheduler's time limit must leave room for. */
double launch_slow_hours(const struct launch_request *q);

/* A LoRA or QLoRA adapter is trained, not the model itself. */
bool launch_is_adapter(const struct launch_request *q);

/* What the card runs: a V100 that was asked for bf16 must not be told to enable it. */
enum precision launch_precision(const struct launch_request *q);

/* Layout of one serving replica; NULL where nothing is served. */
const struct layout *launch_serving_layout(const struct launch_request *q);

#endif
