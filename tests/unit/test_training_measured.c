/* test_training_measured.c — readings of real machines beat the model, and what no machine can do is refused. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/support/training_case.h"

static struct training_case finetune(int per_node, int nodes)
{
    return (struct training_case){.gpu = "a100-sxm4-80g",
                                  .per_node = per_node,
                                  .nodes = nodes,
                                  .preset = "llama-2-7b",
                                  .inter = nodes > 1 ? INTER_INFINIBAND : INTER_NONE,
                                  .gbps = nodes > 1 ? 1600 : 0,
                                  .training = {.method = METHOD_FULL_FINETUNE,
                                               .seq_len = 2048,
                                               .global_batch = per_node * nodes * 8,
                                               .precision = PREC_BF16},
                                  .layout = {.sharding = SHARD_ZERO3, .micro_batch = 2, .recompute = RECOMPUTE_FULL}};
}

static struct measured read(int gpus, int nodes, double tokens_per_s)
{
    return (struct measured){.stated = true,
                             .gpu = "a100-sxm4-80g",
                             .gpus = gpus,
                             .nodes = nodes,
                             .tokens_per_s = tokens_per_s,
                             .global_batch = gpus * 8};
}

Test(training_measured, the_same_machine_gives_the_reading_back)
{
    const double rates[] = {6000, 14000, 22000, 30000};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct training_case c = finetune(8, 1);
        c.measured = read(8, 1, rates[i]);
        struct estimate e = training_case_run(&c);
        cr_expect_float_eq(e.training.tokens_per_s / rates[i], 1, 1e-3, "%.0f became %.0f", rates[i],
                           e.training.tokens_per_s);
        cr_expect_eq(e.confidence, CONF_MEASURED);
        cr_expect_lt(e.training.tokens_per_s_per_gpu_high / e.training.tokens_per_s_per_gpu_low, 1.3);
    }
}

Test(training_measured, a_larger_machine_follows_the_reading)
{
    struct training_case modelled = finetune(8, 4), c = finetune(8, 4);
    double expected = training_case_run(&modelled).training.tokens_per_s;
    c.measured = read(8, 1, 12000);
    struct estimate slow = training_case_run(&c);
    c.measured = read(8, 1, 24000);
    struct estimate fast = training_case_run(&c);
    cr_expect(slow.training.tokens_per_s < fast.training.tokens_per_s);
    cr_expect(slow.training.tokens_per_s > 0.75 * 4 * 12000 && slow.training.tokens_per_s <= 4 * 12000 * 1.0001);
    cr_expect(fast.training.tokens_per_s > 0.70 * 4 * 24000 && fast.training.tokens_per_s <= 4 * 24000 * 1.0001);
    cr_expect_gt(expected, 0);
}

Test(training_measured, step_time_and_samples_say_the_same_as_tokens)
{
    struct training_case c = finetune(8, 2);
    c.measured = read(8, 1, 20000);
    double tokens = training_case_run(&c).training.tokens_per_s;
    c.measured = read(8, 1, 0);
    c.measured.samples_per_s = 20000.0 / 2048;
    cr_expect_float_eq(training_case_run(&c).training.tokens_per_s, tokens, 1e-6 * tokens);
    c.measured = read(8, 1, 0);
    c.measured.step_time_s = 64 * 2048 / 20000.0;
    cr_expect_float_eq(training_case_run(&c).training.tokens_per_s, tokens, 1e-6 * tokens);
}

Test(training_measured, another_card_keeps_the_software_factor)
{
    struct training_case c = finetune(8, 1);
    double modelled = training_case_run(&c).training.tokens_per_s;
    c.measured = read(8, 1, modelled * 0.8);
    c.gpu = "h100-sxm5-80g";
    struct training_case plain = c;
    plain.measured = (struct measured){0};
    double ratio = training_case_run(&c).training.tokens_per_s / training_case_run(&plain).training.tokens_per_s;
    cr_expect(ratio > 0.7 && ratio < 0.95, "%.3f", ratio);
}

Test(training_measured, above_peak_is_refused)
{
    const struct {
        double tokens, samples, step;
        const char *pointer;
    } cases[] = {{1e7, 0, 0, "/workload/measured/tokens_per_s"},
                 {0, 1e4, 0, "/workload/measured/samples_per_s"},
                 {0, 0, 1e-3, "/workload/measured/step_time_s"}};
    for (size_t i = 0; i < 3; i++) {
        struct training_case c = finetune(8, 1);
        c.measured = read(8, 1, cases[i].tokens);
        c.measured.samples_per_s = cases[i].samples;
        c.measured.step_time_s = cases[i].step;
        struct arena *a = arena_new(1 << 20);
        struct estimate e;
        struct err err = {0};
        cr_assert_eq(training_case_try(&c, a, &e, &err), -1);
        cr_expect_eq(err.code, ERR_RANGE);
        cr_expect_str_eq(err.pointer, cases[i].pointer);
        cr_expect_not_null(strstr(err.detail, "TFLOP/s"), "%s", err.detail);
        arena_free(a);
    }
    struct training_case custom = {.gpu = "a100-sxm4-80g",
                                   .training = {.method = METHOD_CUSTOM, .flops_per_sample = 1e12, .state_gb = 1},
                                   .measured = {.stated = true, .gpu = "a100-sxm4-80g", .samples_per_s = 1000}};
    struct arena *a = arena_new(1 << 20);
    struct estimate e;
    struct err err = {0};
    cr_expect_eq(training_case_try(&custom, a, &e, &err), -1);
    cr_expect_eq(err.code, ERR_RANGE);
    arena_free(a);
}

Test(training_measured, peak_memory_moves_the_estimate)
{
    struct training_case c = finetune(8, 1);
    double modelled = training_case_run(&c).memory.total_gb;
    c.measured = read(8, 1, 20000);
    c.measured.peak_memory_gb = modelled + 6;
    struct estimate e = training_case_run(&c);
    cr_expect_float_eq(e.memory.total_gb, modelled + 6, 1e-6);
    struct training_case wide = finetune(8, 4);
    double without = training_case_run(&wide).memory.total_gb;
    wide.measured = c.measured;
    cr_expect_float_eq(training_case_run(&wide).memory.total_gb, without + 6, 1e-6);
    c.measured.peak_memory_gb = 300;
    struct arena *a = arena_new(1 << 20);
    struct err err = {0};
    cr_expect_eq(training_case_try(&c, a, &e, &err), -1);
    cr_expect_str_eq(err.pointer, "/workload/measured/peak_memory_gb");
    arena_free(a);
}

Test(training_measured, two_node_gate_reading_is_honoured)
{
    struct training_case c = finetune(8, 2);
    c.inter = INTER_ETHERNET;
    c.gbps = 100;
    const double speedups[] = {1.2, 1.5, 1.8};
    double one = 0;
    struct training_case single = finetune(8, 1);
    single.measured = read(8, 1, 20000);
    one = training_case_run(&single).training.tokens_per_s;
    for (size_t i = 0; i < 3; i++) {
        c.measured = read(8, 1, 20000);
        c.measured.two_node_speedup = speedups[i];
        double got = training_case_run(&c).training.tokens_per_s / one;
        cr_expect_float_eq(got, speedups[i], 0.06, "asked %.2f got %.2f", speedups[i], got);
    }
}

Test(training_measured, communication_share_is_honoured)
{
    struct training_case c = finetune(8, 2);
    c.measured = read(16, 2, 30000);
    c.measured.gpu_util_pct = c.measured.memory_used_pct = c.measured.iteration_time_cv = -1;
    c.measured.comm_share_pct = 35;
    struct estimate e = training_case_run(&c);
    cr_expect_float_eq(e.training.tokens_per_s, 30000, 300);
    cr_expect_float_eq(e.training.communication_share, 0.35, 0.06);
}

Test(training_measured, utilisation_is_honoured)
{
    /* Half idle: the reading comes back with half of its step as waiting, and a faster card shortens only the rest. */
    const double busy[] = {95, 90, 45};
    double same[3], faster[3], waits[3];
    for (int i = 0; i < 3; i++) {
        struct training_case c = finetune(8, 1);
        c.measured = read(8, 1, 20000);
        c.measured.memory_used_pct = c.measured.comm_share_pct = c.measured.iteration_time_cv = -1;
        c.measured.gpu_util_pct = busy[i];
        struct estimate e = training_case_run(&c);
        same[i] = e.training.tokens_per_s;
        waits[i] = e.training.data_wait_share;
        c.gpu = "h100-sxm5-80g";
        faster[i] = training_case_run(&c).training.tokens_per_s;
    }
    cr_expect_float_eq(same[2], 20000, 20);
    cr_expect_float_eq(waits[2], 0.5, 0.01, "%.3f of the step", waits[2]);
    cr_expect(waits[0] == 0 && waits[1] == 0 && same[0] == same[1] && faster[0] == faster[1], "over 90 %% is busy");
    double gain = faster[0] / same[0], little = faster[2] / same[2];
    cr_expect_float_eq(1 / little, 0.5 + 0.5 / gain, 0.03, "%.2f times, %.2f where half is waiting", gain, little);
}

Test(training_measured, custom_work_scales_its_reading)
{
    struct training_case c = {.gpu = "rtx-4090-24g",
                              .per_node = 4,
                              .intra = INTRA_PCIE4,
                              .training = {.method = METHOD_CUSTOM, .samples = 1e6, .state_gb = 0.4},
                              .measured = {.stated = true, .gpu = "rtx-4090-24g", .gpus = 1, .samples_per_s = 900}};
    struct estimate e = training_case_run(&c);
    cr_expect(e.training.samples_per_s > 2.5 * 900 && e.training.samples_per_s < 3.5 * 900, "%.0f",
              e.training.samples_per_s);
    cr_expect_gt(e.training.gpu_hours, 0);
    cr_expect_eq(e.confidence, CONF_MEASURED);
    c.per_node = 1;
    cr_expect_float_eq(training_case_run(&c).training.samples_per_s, 900, 1e-6);
    c.measured = (struct measured){0};
    struct arena *a = arena_new(1 << 20);
    struct err err = {0};
    cr_expect_eq(training_case_try(&c, a, &e, &err), -1, "neither FLOPs nor a rate");
    cr_expect_eq(err.code, ERR_INVALID);
    arena_free(a);
}
