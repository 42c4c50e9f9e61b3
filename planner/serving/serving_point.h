/* serving_point.h — one replica at one operating point: what serving_estimate and serving_size both ask. */
#ifndef SUANPAN_PLANNER_SERVING_SERVING_POINT_H
#define SUANPAN_PLANNER_SERVING_SERVING_POINT_H

#include "planner/serving/serving_memory.h"
#include "planner/serving/serving_step.h"

struct point { /* resolved: nothing unstated left but the engine's own settings */
    struct serving_point memory;
    double input, output;
    double batch;   /* wanted in flight; 0 = as many as fit */
    bool saturated; /* batch was not stated */
    bool decode_only;
    enum scenario scenario;
};

/* Lengths and settings of a request; `at` may be NULL. */
struct point point_resolve(const struct replica *r, const struct serving *s, const struct operating_point *at);

/* What memory admits at these lengths, without a word on speed. */
struct replica_room {
    struct serving_memory memory;
    double admitted; /* most requests in flight that the cache and the engine admit */
};

struct replica_room replica_room_at(const struct replica *r, const struct point *p);

struct replica_answer {
    struct serving_memory memory;
    struct load_speed speed;
    double in_flight; /* served at once: what was wanted, or what the cache holds where that is less */
    double admitted;  /* most the cache and the engine admit at these lengths */
    double band;      /* half-width factor of the 80 % interval of the throughput */
    double tpot_band; /* the same of the mean time per token */
};

struct replica_answer replica_answer_at(const struct replica *r, const struct point *p);

#endif
