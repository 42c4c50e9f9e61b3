/* measured.h — readings of real machines beat the model: what they say about compute, communication and memory. */
#ifndef SUANPAN_PLANNER_TRAINING_MEASURED_H
#define SUANPAN_PLANNER_TRAINING_MEASURED_H

#include "planner/training/search.h"

struct reading {
    bool used;            /* a speed was read, and the job's scales follow it */
    double tokens_per_s;  /* of the whole measured job, real tokens */
    double efficiency;    /* predicted per-card speed of the asked shape against the reading's, set by the door */
    double memory_offset; /* bytes a rank needs more than the model says; 0 without a reading */
    bool memory_used;
    int gpus;
    bool same_work;             /* same card and no shorter sequences: more cards cannot make each one faster */
    bool same_shape;            /* same card, same number of cards */
    double communication_share; /* modelled, of the measured shape */
};

/* Sets j->compute_scale, comm_scale and network_scale so that the model reproduces the readings.
 * ERR_RANGE (pointer into /workload/measured) when a reading is above what the card can do. */
int measured_apply(const struct training_request *q, struct job *j, struct reading *ret, struct err *err);

#endif
