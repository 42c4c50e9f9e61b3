/* test_training_properties.c — any request gets a finite answer or a named refusal; every figure has its trace and
 * every note its text. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "planner/training/training_constants.h"
#include "tests/support/training_case.h"

static unsigned long long state = 88172645463325252ull;

static double unit(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0;
}

static int pick(int n)
{
    return (int)(unit() * n);
}

static double between(double low, double high)
{
    return low * pow(high / low, unit());
}

static struct training_case any_case(const struct catalog *cat)
{
    static const int sizes[] = {1, 2, 4, 8, 16};
    struct training_case c = {.gpu = cat->gpus[(size_t)pick((int)cat->n_gpus)].id,
                              .per_node = sizes[pick(5)],
                              .nodes = (int)between(1, 2048),
                              .inter = (enum inter_link)pick(INTER_COUNT),
                              .intra = (enum intra_link)pick(INTRA_COUNT)};
    if (c.per_node == 1 && unit() < 0.5)
        c.nodes = 1;
    c.gbps = unit() < 0.5 ? 0 : between(0.1, 10000);
    c.storage_gb_s = unit() < 0.7 ? 0 : between(0.001, 1000);
    if (unit() < 0.5)
        c.preset = cat->models[(size_t)pick((int)cat->n_models)].id;
    else
        c.model = (struct model){.params = between(1e6, 1e14), .ffn = (enum ffn_kind)pick(3)};
    if (c.preset == NULL && unit() < 0.3)
        c.model.active_params = c.model.params * between(0.01, 1);
    c.training = (struct training){.method = (enum method)pick(METHOD_QLORA + 1),
                                   .seq_len = unit() < 0.2 ? 0 : (int)between(1, 1e7),
                                   .global_batch = unit() < 0.4 ? 0 : (int)between(1, 1e6),
                                   .precision = (enum precision)pick(PREC_FP32 + 1),
                                   .optimizer = (enum optimizer)pick(OPT_MUON + 1),
                                   .packed = (enum tri)pick(3),
                                   .compile = (enum tri)pick(3),
                                   .master_weights = (enum tri)pick(3),
                                   .loss_impl = (enum loss_impl)pick(LOSS_FUSED + 1),
                                   .lora_rank = pick(300),
                                   .train_embeddings = (enum tri)pick(3),
                                   .tokens = unit() < 0.5 ? 0 : between(1, 1e15)};
    if (unit() < 0.5)
        c.layout = (struct layout){.tp = pick(2) * sizes[pick(4)],
                                   .pp = pick(2) * sizes[pick(4)],
                                   .vpp = pick(4),
                                   .cp = pick(3) ? 0 : sizes[pick(4)],
                                   .sharding = (enum sharding)pick(SHARD_ZERO3 + 1),
                                   .offload = (enum offload)pick(OFFLOAD_ACTIVATIONS + 1),
                                   .recompute = (enum recompute)pick(RECOMPUTE_FULL + 1),
                                   .micro_batch = pick(2) * (int)between(1, 1000),
                                   .flash_attention = (enum tri)pick(3),
                                   .shard_group = pick(3) ? 0 : 8};
    return c;
}

static bool finite_training(const struct training_estimate *t)
{
    const double v[] = {t->step_time_s,
                        t->tokens_per_s,
                        t->tokens_per_s_per_gpu,
                        t->samples_per_s,
                        t->tflops_per_gpu,
                        t->mfu_pct,
                        t->communication_share,
                        t->bubble_share,
                        t->data_wait_share,
                        t->scaling_efficiency,
                        t->tokens_per_s_per_gpu_low,
                        t->tokens_per_s_per_gpu_high,
                        t->run_overhead,
                        t->checkpoint_gb,
                        t->host_memory_gb};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        if (!isfinite(v[i]) || v[i] < 0)
            return false;
    }
    return t->step_time_s > 0 && t->tokens_per_s > 0 && t->mfu_pct <= 100;
}

Test(training_properties, every_answer_is_finite, .timeout = 60)
{
    const struct catalog *cat = test_catalog();
    int answered = 0, refused = 0;
    for (int i = 0; i < 4000; i++) {
        struct training_case c = any_case(cat);
        struct arena *a = arena_new(1 << 20);
        struct estimate e;
        struct err err = {0};
        c.trace = i % 16 == 0;
        if (training_case_try(&c, a, &e, &err) != 0) {
            refused++;
            cr_expect(err.code == ERR_UNSUPPORTED || err.code == ERR_INVALID, "%d: %s %s", i, err.pointer, err.detail);
            cr_expect(err.detail[0] != '\0');
        } else {
            answered++;
            const struct memory_estimate *m = &e.memory;
            cr_expect(isfinite(m->total_gb) && m->total_gb > 0 && m->low_gb < m->high_gb, "case %d: memory %g", i,
                      m->total_gb);
            cr_expect(m->weights_gb >= 0 && m->gradients_gb >= 0 && m->optimizer_gb >= 0 && m->activations_gb >= 0 &&
                          m->logits_gb >= 0 && m->buffers_gb >= 0 && m->overhead_gb >= 0,
                      "case %d", i);
            cr_expect(finite_training(&e.training), "case %d: %s %d x %d %s step %g rate %g mfu %g eff %g", i, c.gpu,
                      c.per_node, c.nodes, c.preset ? c.preset : "", e.training.step_time_s, e.training.tokens_per_s,
                      e.training.mfu_pct, e.training.scaling_efficiency);
            cr_expect(c.training.tokens > 0 ? isfinite(e.training.gpu_hours) : isnan(e.training.gpu_hours));
            cr_expect_eq(e.layout.tp * e.layout.pp * e.layout.dp * e.layout.cp, c.per_node * c.nodes, "case %d", i);
        }
        arena_free(a);
    }
    cr_expect_gt(answered, 2000, "%d answered, %d refused", answered, refused);
}

Test(training_properties, a_card_without_its_figures_is_refused_by_name)
{
    const struct catalog *cat = test_catalog();
    int unknown = 0;
    for (size_t i = 0; i < cat->n_gpus; i++) {
        const struct gpu *g = &cat->gpus[i];
        struct training_case c = {.gpu = g->id,
                                  .per_node = 1,
                                  .preset = "llama-3.2-1b",
                                  .training = {.method = METHOD_LORA, .seq_len = 1024, .global_batch = 8}};
        struct arena *a = arena_new(1 << 20);
        struct estimate e;
        struct err err = {0};
        int rc = training_case_try(&c, a, &e, &err);
        bool known = (g->bf16_tflops > 0 || g->fp16_tflops > 0 || g->fp8_tflops > 0 || g->tf32_tflops > 0 ||
                      g->fp32_tflops > 0) &&
                     g->mem_bw_gb_s > 0;
        cr_expect_eq(rc == 0, known, "%s: %s", g->id, err.detail);
        if (!known) {
            unknown++;
            cr_expect_eq(err.code, ERR_UNSUPPORTED);
            cr_expect_not_null(strstr(err.detail, "no known"), "%s", err.detail);
        }
        arena_free(a);
    }
    cr_expect_gt(unknown, 0, "the catalog has cards with unknown figures");
}

Test(training_properties, every_figure_has_its_trace)
{
    struct training_case c = {
        .gpu = "h100-sxm5-80g",
        .per_node = 8,
        .nodes = 4,
        .preset = "llama-3.1-70b",
        .trace = true,
        .training = {.method = METHOD_PRETRAIN, .seq_len = 4096, .global_batch = 512, .tokens = 1e12}};
    struct arena *a = arena_new(1 << 20);
    struct estimate e;
    struct err err;
    cr_assert_eq(training_case_try(&c, a, &e, &err), 0);
    const struct {
        const char *name;
        double value;
    } figures[] = {{"memory.total_gb", e.memory.total_gb},
                   {"memory.activations_gb", e.memory.activations_gb},
                   {"training.step_time_s", e.training.step_time_s},
                   {"training.tokens_per_s", e.training.tokens_per_s},
                   {"training.tokens_per_s_per_gpu", e.training.tokens_per_s_per_gpu},
                   {"training.mfu_pct", e.training.mfu_pct},
                   {"training.gpu_hours", e.training.gpu_hours},
                   {"training.wall_hours", e.training.wall_hours},
                   {"training.scaling_efficiency", e.training.scaling_efficiency},
                   {"training.communication_share", e.training.communication_share},
                   {"training.run_overhead", e.training.run_overhead}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const struct trace_step *found = NULL;
        for (size_t k = 0; k < e.trace.n; k++) {
            if (strcmp(e.trace.items[k].name, figures[i].name) == 0)
                found = &e.trace.items[k];
        }
        cr_assert_not_null(found, "%s has no trace", figures[i].name);
        cr_expect_eq(found->value, figures[i].value, "%s", figures[i].name);
        cr_expect(found->n_inputs > 0 && found->formula[0] != '\0' && found->unit[0] != '\0');
    }
    arena_free(a);
}

Test(training_properties, unknown_means_wider)
{
    struct training_case c = {.gpu = "a100-sxm4-80g",
                              .per_node = 8,
                              .preset = "llama-2-7b",
                              .training = {.method = METHOD_PRETRAIN, .seq_len = 2048, .global_batch = 64}};
    struct estimate known = training_case_run(&c);
    c.preset = NULL;
    c.model = (struct model){.params = 6.74e9};
    struct estimate size_only = training_case_run(&c);
    c.gpu = "ascend-910b2-64g";
    struct estimate far_card = training_case_run(&c);
    double w[3] = {0};
    const struct estimate *e[3] = {&known, &size_only, &far_card};
    for (int i = 0; i < 3; i++)
        w[i] = e[i]->training.tokens_per_s_per_gpu_high / e[i]->training.tokens_per_s_per_gpu_low;
    cr_expect(w[0] < w[1] && w[1] < w[2], "%.2f %.2f %.2f", w[0], w[1], w[2]);
    cr_expect_eq(known.confidence, CONF_CALIBRATED);
    cr_expect_eq(far_card.confidence, CONF_ANALYTIC);
    /* Measured here, then measured on one card of the machine: known better than any model of it. */
    c = (struct training_case){.gpu = "a100-sxm4-80g",
                               .per_node = 8,
                               .preset = "llama-2-7b",
                               .training = {.method = METHOD_PRETRAIN, .seq_len = 2048, .global_batch = 64},
                               .measured = {.stated = true, .gpu = "a100-sxm4-80g", .gpus = 8, .tokens_per_s = 26000}};
    struct estimate here = training_case_run(&c);
    double m = here.training.tokens_per_s_per_gpu_high / here.training.tokens_per_s_per_gpu_low;
    cr_expect(m < w[0], "measured %.2f, modelled %.2f", m, w[0]);
    cr_expect_eq(here.confidence, CONF_MEASURED);
}

Test(training_properties, a_precision_the_card_lacks_falls_back_with_a_note)
{
    struct training_case c = {
        .gpu = "a100-sxm4-80g",
        .per_node = 8,
        .preset = "llama-2-7b",
        .training = {.method = METHOD_PRETRAIN, .seq_len = 2048, .global_batch = 64, .precision = PREC_FP4}};
    struct arena *a = arena_new(1 << 20);
    struct estimate e;
    struct err err;
    cr_assert_eq(training_case_try(&c, a, &e, &err), 0);
    cr_expect_not_null(note_find(&e.assumptions, "training_precision_not_on_card"));
    arena_free(a);
}

Test(training_properties, embedding_is_no_training)
{
    struct training_case c = {.gpu = "a100-sxm4-80g", .preset = "bge-m3", .training = {.method = METHOD_EMBEDDING}};
    struct arena *a = arena_new(1 << 20);
    struct estimate e;
    struct err err;
    cr_expect_eq(training_case_try(&c, a, &e, &err), -1);
    cr_expect_eq(err.code, ERR_UNSUPPORTED);
    arena_free(a);
}
