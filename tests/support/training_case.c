/* training_case.c — builds the request that the api would build. */
#include "tests/support/training_case.h"

#include <criterion/criterion.h>
#include <stdlib.h>

const struct model PROFILED_QWEN[4] = {
    {.params = 1.84e9, .layers = 24, .hidden = 2048, .heads = 16, .kv_heads = 16, .vocab = 151936},
    {.params = 7.721324544e9,
     .layers = 32,
     .hidden = 4096,
     .heads = 32,
     .kv_heads = 32,
     .intermediate = 11008,
     .vocab = 151936},
    {.params = 14.16729088e9,
     .layers = 40,
     .hidden = 5120,
     .heads = 40,
     .kv_heads = 40,
     .intermediate = 13696,
     .vocab = 152064},
    {.params = 72.3e9, .layers = 80, .hidden = 8192, .heads = 64, .kv_heads = 64, .vocab = 152064},
};
const int PROFILED_LENGTHS[6] = {256, 512, 1024, 2048, 4096, 8192};

const struct training_constants *training_case_constants(void)
{
    static void *k;
    if (k == NULL) {
        struct err err = {0};
        k = malloc(training_constants_size());
        cr_assert_eq(training_constants_bind(&test_catalog()->params, k, &err), 0, "%s", err.detail);
    }
    return k;
}

int training_case_try(const struct training_case *c, struct arena *arena, struct estimate *ret, struct err *err)
{
    struct catalog *cat = test_catalog();
    struct model m = c->model;
    if (c->preset != NULL) {
        const struct model *row = catalog_model(cat, c->preset);
        cr_assert_not_null(row, "no model '%s'", c->preset);
        m = *row;
    }
    struct fault_list *faults = calloc(1, sizeof *faults);
    if (c->training.method != METHOD_CUSTOM)
        model_complete(&m, "/workload/model", NULL, faults);
    cr_assert_eq(faults->n, 0, "%s: %s", faults->items[0].pointer, faults->items[0].detail);
    free(faults);
    struct shape s = {.gpu = catalog_gpu(cat, c->gpu),
                      .gpus_per_node = c->per_node > 0 ? c->per_node : 1,
                      .nodes = c->nodes > 0 ? c->nodes : 1,
                      .intra = c->intra,
                      .inter = c->inter,
                      .inter_gbps_per_node = c->gbps,
                      .storage_gb_s = c->storage_gb_s,
                      .host_memory_gb = c->host_memory_gb};
    cr_assert_not_null(s.gpu, "no card '%s'", c->gpu);
    struct workload defaults;
    workload_init(&defaults);
    struct measured measured = c->measured;
    if (measured.stated && measured.comm_share_pct == 0) {
        double peak = measured.peak_memory_gb, speedup = measured.two_node_speedup;
        measured.gpu_util_pct = measured.memory_used_pct = measured.comm_share_pct = measured.iteration_time_cv = -1;
        measured.peak_memory_gb = peak;
        measured.two_node_speedup = speedup;
    }
    struct training_request q = {.model = &m,
                                 .training = &c->training,
                                 .measured = measured.stated ? &measured : NULL,
                                 .measured_gpu = measured.gpu != NULL ? catalog_gpu(cat, measured.gpu) : NULL,
                                 .shape = &s,
                                 .layout = &c->layout,
                                 .want_trace = c->trace,
                                 .prudent = c->prudent};
    return training_estimate(training_case_constants(), &q, arena, ret, err);
}

struct estimate training_case_run(const struct training_case *c)
{
    struct arena *arena = arena_new(1 << 20);
    struct estimate e;
    struct err err = {0};
    int rc = training_case_try(c, arena, &e, &err);
    cr_assert_eq(rc, 0, "%s %s", err.pointer, err.detail);
    e.assumptions.items = e.warnings.items = NULL;
    e.trace.items = NULL;
    arena_free(arena);
    return e;
}
