/* serving_step.h — how long one decode step and one prefill of a replica take, by term. */
#ifndef SUANPAN_PLANNER_SERVING_SERVING_STEP_H
#define SUANPAN_PLANNER_SERVING_SERVING_STEP_H

#include "planner/serving/serving_replica.h"

struct step_time {  /* seconds, of the whole replica's pass over all layers */
    double launch;  /* kernels' fixed cost */
    double weights; /* reading weights of attention, dense FFN and head */
    double math;    /* multiplying them */
    double linear;  /* the two combined */
    double experts; /* the routed experts, reading and multiplying */
    double cache;   /* reading the cache */
    double collectives;
    double host; /* scheduler and sampler */
    double total;
};

/* One token for each of `batch` sequences whose context is `context` tokens long. */
struct step_time serving_decode(const struct replica *r, double batch, double context);
/* One prompt of `tokens`, its share of a pass that takes `group` prompts together. */
struct step_time serving_prefill(const struct replica *r, double tokens, double group);

struct load_point {
    double batch, input, output;
    bool decode_only, together;    /* together: all prompts arrive at once (fixed batch) */
    const struct step_time *alone; /* serving_prefill of one prompt of `input`, where it is at hand; NULL = it is not */
};
struct load_speed {
    struct step_time step, prefill;
    double microbatch; /* sequences in one pipeline stage */
    double token_step; /* s of a token: the step with bubbles, drafts and what an unnamed engine costs */
    double requests_per_s, output_tokens_per_s, total_tokens_per_s;
    double ttft, tpot, end_to_end; /* s */
    double ttft_factor;            /* first token against its prompt alone */
};
/* Steady state with `batch` requests always in flight. */
struct load_speed serving_speed(const struct replica *r, const struct load_point *p);

#endif
