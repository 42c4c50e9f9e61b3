/* serving_fixture.h — the shipped catalog with this room's constants bound, and short ways to ask it. */
#ifndef SUANPAN_TESTS_UNIT_SERVING_FIXTURE_H
#define SUANPAN_TESTS_UNIT_SERVING_FIXTURE_H

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/serving/serving.h"
#include "planner/serving/serving_constants.h"
#include "tests/support/test_catalog.h"

static inline const struct serving_constants *constants(void)
{
    static struct serving_constants k;
    static bool bound;
    struct err err;
    if (!bound && serving_constants_bind(&test_catalog()->params, &k, &err) != 0)
        cr_assert_fail("%s", err.detail);
    bound = true;
    return &k;
}

static inline struct model preset(const char *id)
{
    const struct model *m = catalog_model(test_catalog(), id);
    cr_assert_not_null(m, "no model %s", id);
    struct model copy = *m;
    struct fault_list faults = {0};
    model_complete(&copy, "", NULL, &faults);
    return copy;
}

static inline struct model sized(double billions)
{
    struct model m = {.id = "", .name = "", .params = billions * 1e9};
    struct fault_list faults = {0};
    model_complete(&m, "", NULL, &faults);
    return m;
}

static inline const struct gpu *card(const char *id)
{
    const struct gpu *g = catalog_gpu(test_catalog(), id);
    cr_assert_not_null(g, "no gpu %s", id);
    return g;
}

struct ask {
    const char *model, *gpu;
    int gpus, tp, pp, ep;
    enum engine engine;
    const char *version;
    enum weight_format format;
    double weight_bits, kv_bits, utilisation;
    int max_len, batch, input, output;
    enum scenario scenario;
    bool decode_only, mtp;
    double billions; /* instead of a preset */
};

/* Asserts that there is an answer. Lists of the estimate are gone when it returns. */
static inline struct estimate answer(struct ask a)
{
    struct model m = a.model != NULL ? preset(a.model) : sized(a.billions);
    struct serving s = {.stated = true,
                        .weight_bits = a.weight_bits,
                        .kv_bits = a.kv_bits,
                        .engine = a.engine,
                        .engine_version = a.version,
                        .weight_format = a.format,
                        .speculative_mtp = a.mtp,
                        .spare_replicas = -1};
    struct shape shape = {.gpu = card(a.gpu), .gpus_per_node = a.gpus > 0 ? a.gpus : 1, .nodes = 1};
    struct layout layout = {.tp = a.tp, .pp = a.pp, .ep = a.ep};
    struct operating_point at = {.stated = true,
                                 .batch = a.batch,
                                 .input_tokens = a.input,
                                 .output_tokens = a.output,
                                 .max_model_len = a.max_len,
                                 .gpu_memory_utilization = a.utilisation,
                                 .scenario = a.scenario,
                                 .decode_only = a.decode_only};
    struct serving_request q = {.model = &m, .serving = &s, .shape = &shape, .layout = &layout, .at = &at};
    struct arena *arena = arena_new((size_t)1 << 20);
    struct estimate e;
    struct err err;
    int rc = serving_estimate(constants(), &q, arena, &e, &err);
    arena_free(arena);
    cr_assert_eq(rc, 0, "%s on %s: %s", a.model ? a.model : "size", a.gpu, err.detail);
    return e;
}

#endif
