/* training_case.h — one training estimate with as few words as a test wants to say. */
#ifndef SUANPAN_TESTS_SUPPORT_TRAINING_CASE_H
#define SUANPAN_TESTS_SUPPORT_TRAINING_CASE_H

#include "planner/training/training.h"
#include "tests/support/test_catalog.h"

struct training_case {
    const char *gpu;     /* catalog id */
    int per_node, nodes; /* 0 = 1 */
    enum intra_link intra;
    enum inter_link inter;
    double gbps, storage_gb_s, host_memory_gb;
    const char *preset; /* or the model below */
    struct model model;
    struct training training;
    struct layout layout;
    struct measured measured;
    bool trace, prudent;
};

/* What the published profile of Qwen fine-tuning measured: four sizes at six lengths. */
extern const struct model PROFILED_QWEN[4];
extern const int PROFILED_LENGTHS[6];

/* The shipped constants, bound once. */
const struct training_constants *training_case_constants(void);

/* Runs it in `arena`; 0 or -1 with *err. The model is completed first. */
int training_case_try(const struct training_case *c, struct arena *arena, struct estimate *ret, struct err *err);
/* As above, and ends the test on an error. Lists of the estimate are not kept. */
struct estimate training_case_run(const struct training_case *c);

#endif
