/* serving_memory.h — does a replica fit, how much cache is left, how many requests that holds. */
#ifndef SUANPAN_PLANNER_SERVING_SERVING_MEMORY_H
#define SUANPAN_PLANNER_SERVING_SERVING_MEMORY_H

#include "planner/core/estimate.h"
#include "planner/serving/serving_replica.h"

struct serving_point { /* engine settings and lengths that memory depends on; 0 = the engine's default */
    double utilisation;
    double max_len; /* tokens of the longest sequence that must fit */
    double max_seqs, batched_tokens;
    double in_flight; /* sequences wanted at once; 1 when not known */
};

struct serving_memory {                           /* bytes; per card unless said otherwise */
    double weights, activation, overhead, budget; /* budget: usable x utilisation */
    double kv_room;         /* what is left for the cache on one card; negative when weights do not fit */
    double kv_token;        /* one token on one card, all layers of its stage */
    double kv_sequence;     /* one sequence of max_len on one card */
    double kv_tokens;       /* tokens of the replica */
    double kv_total;        /* cache of the replica, every rank's copy counted */
    double max_concurrency; /* sequences of max_len */
    double needed;          /* per card: weights + overheads + the sequences wanted */
    double band;            /* half-width factor of `needed` */
    enum fits fits;
};

struct serving_memory serving_memory_of(const struct replica *r, const struct serving_point *p);
/* Tokens of one scheduler step. */
double serving_batched_tokens(const struct replica *r, const struct serving_point *p);
/* Cache bytes of one sequence of `tokens` on one card. */
double serving_kv_sequence(const struct replica *r, double tokens, double batched_tokens);
/* Sequences of `tokens` at their fullest that the room holds. */
double serving_concurrency(const struct replica *r, const struct serving_memory *mem, double tokens);

#endif
