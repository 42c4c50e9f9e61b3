/* test_training_memory.c — memory of training: closed forms, published tables, who fits where. */
#include <criterion/criterion.h>
#include <math.h>

#include "planner/training/job.h"
#include "planner/training/memory.h"
#include "tests/support/training_case.h"

#define GIB 1073741824.0

Test(training_memory, golden_4_1_lora_parameters)
{
    /* Rank 64 on the fused query-key-value matrix, the attention output and the three FFN matrices. */
    const struct {
        struct model m;
        double adapters;
    } cases[] = {
        {{.layers = 32, .hidden = 4096, .heads = 32, .kv_heads = 32, .head_dim = 128, .intermediate = 11008},
         143130624},
        {{.layers = 24, .hidden = 2048, .heads = 16, .kv_heads = 16, .head_dim = 128, .intermediate = 5504}, 53673984},
        {{.layers = 40, .hidden = 5120, .heads = 40, .kv_heads = 40, .head_dim = 128, .intermediate = 13696},
         223150080},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(job_adapter_params(&cases[i].m, 64), cases[i].adapters, "case %zu: %.0f", i,
                     job_adapter_params(&cases[i].m, 64));
}

Test(training_memory, golden_4_2_activations_to_four_decimals)
{
    const struct {
        double layers, hidden, heads;
        int p, v;
        double batch, plain, sequence_parallel, states;
    } cases[] = {
        {48, 6144, 64, 1, 1, 4, 59.2500, 9.5625, 45.5625},
        {96, 12288, 96, 8, 3, 1, 66.8438, 12.3516, 45.5625},
        {105, 20480, 128, 35, 3, 1, 114.0234, 23.0762, 31.6406},
        {128, 25600, 160, 64, 1, 1, 131.2500, 26.5625, 32.9590},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double in_flight = cases[i].v > 1 ? 1 + (cases[i].p - 1.0) / ((double)cases[i].p * cases[i].v) : 1;
        /* The first stage keeps p micro-batches of L/p layers each. */
        double layers = cases[i].layers * in_flight / GIB;
        double plain =
            layers * memory_classic_layer_bytes(2048, cases[i].batch, cases[i].hidden, cases[i].heads, 8, false, false);
        double parallel =
            layers * memory_classic_layer_bytes(2048, cases[i].batch, cases[i].hidden, cases[i].heads, 8, true, true);
        double states = 18 * 12 * cases[i].layers * cases[i].hidden * cases[i].hidden / (8.0 * cases[i].p) / GIB;
        cr_expect_float_eq(plain, cases[i].plain, 6e-5, "%.4f, published %.4f", plain, cases[i].plain);
        cr_expect_float_eq(parallel, cases[i].sequence_parallel, 6e-5, "%.4f", parallel);
        cr_expect_float_eq(states, cases[i].states, 6e-5, "%.4f", states);
    }
}

static struct training_case qwen_case(int model, enum method method, int seq)
{
    return (struct training_case){
        .gpu = "a100-sxm4-80g",
        .model = PROFILED_QWEN[model],
        .training = {.method = method,
                     .seq_len = seq,
                     .global_batch = 8,
                     .lora_rank = 64,
                     .precision = PREC_BF16,
                     .quant_bits = 4},
        .layout = {.micro_batch = 1, .recompute = RECOMPUTE_FULL, .flash_attention = TRI_YES}};
}

struct table_row {
    int model;
    enum method method;
    double value[6];
};

Test(training_memory, golden_4_4_gigabytes)
{
    const struct table_row rows[] = {
        {0, METHOD_LORA, {6.7, 7.4, 8.4, 11.0, 16.2, 21.8}},
        {1, METHOD_LORA, {20.1, 20.4, 21.5, 23.8, 29.7, 36.6}},
        {2, METHOD_LORA, {34.6, 35.1, 35.3, 37.4, 42.5, 55.2}},
        {0, METHOD_QLORA, {5.8, 6.0, 6.6, 7.8, 10.2, 15.8}},
        {1, METHOD_QLORA, {11.5, 11.5, 12.3, 13.9, 16.9, 23.5}},
        {2, METHOD_QLORA, {18.7, 18.4, 18.9, 19.9, 23.0, 27.9}},
        {3, METHOD_QLORA, {61.4, 61.4, 62.9, 64.1, 68.0, 75.6}},
    };
    double sum = 0;
    int n = 0;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        for (int i = 0; i < 6; i++) {
            struct training_case c = qwen_case(rows[r].model, rows[r].method, PROFILED_LENGTHS[i]);
            struct estimate e = training_case_run(&c);
            double off = fabs(e.memory.total_gb / rows[r].value[i] - 1);
            sum += off;
            n++;
            cr_expect_leq(off, 0.13, "model %d method %d seq %d: %.1f GB, measured %.1f", rows[r].model,
                          (int)rows[r].method, PROFILED_LENGTHS[i], e.memory.total_gb, rows[r].value[i]);
        }
    }
    cr_expect_leq(sum / n, 0.05, "mean error %.3f", sum / n);
}

static struct estimate on(const char *preset, enum method method, int cards, enum sharding sharding, int nodes)
{
    struct training_case c = {.gpu = "a100-sxm4-80g",
                              .per_node = cards,
                              .nodes = nodes,
                              .preset = preset,
                              .training = {.method = method, .seq_len = 2048, .global_batch = cards * nodes * 4},
                              .layout = {.tp = 1,
                                         .pp = 1,
                                         .sharding = sharding,
                                         .micro_batch = 1,
                                         .recompute = RECOMPUTE_FULL,
                                         .offload = OFFLOAD_NONE}};
    return training_case_run(&c);
}

Test(training_memory, memory_wall)
{
    struct estimate e = on("llama-2-7b", METHOD_FULL_FINETUNE, 1, SHARD_NONE, 1);
    cr_expect_eq(e.fits, FITS_NO, "7B full on one 80 GB card: %.0f of %.0f GB", e.memory.total_gb, e.memory.usable_gb);
    e = on("llama-3.1-70b", METHOD_FULL_FINETUNE, 8, SHARD_NONE, 1);
    cr_expect_eq(e.fits, FITS_NO, "70B full on 8 x 80 GB without sharding");
    e = on("llama-3.1-70b", METHOD_LORA, 8, SHARD_ZERO3, 1);
    cr_expect_neq(e.fits, FITS_NO, "70B LoRA on one machine: %.0f GB", e.memory.total_gb);
    e = on("llama-3.1-70b", METHOD_QLORA, 1, SHARD_NONE, 1);
    cr_expect_neq(e.fits, FITS_NO, "70B QLoRA on one card: %.0f GB", e.memory.total_gb);
}

Test(training_memory, qlora_below_lora_below_full)
{
    const char *presets[] = {"qwen2.5-0.5b",  "llama-3.2-1b",  "qwen2.5-7b",  "gemma-2-9b",
                             "llama-3.1-70b", "qwen3-30b-a3b", "deepseek-v3", "falcon-7b"};
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        for (int sharding = SHARD_NONE; sharding <= SHARD_ZERO3; sharding += SHARD_ZERO3 - SHARD_NONE) {
            double q = on(presets[i], METHOD_QLORA, 8, (enum sharding)sharding, 1).memory.total_gb;
            double l = on(presets[i], METHOD_LORA, 8, (enum sharding)sharding, 1).memory.total_gb;
            double f = on(presets[i], METHOD_FULL_FINETUNE, 8, (enum sharding)sharding, 1).memory.total_gb;
            cr_expect(q <= l && l <= f, "%s sharding %d: qlora %.1f lora %.1f full %.1f", presets[i], sharding, q, l,
                      f);
        }
    }
}

Test(training_memory, more_cards_never_need_more_a_card_under_sharding)
{
    const enum sharding shardings[] = {SHARD_ZERO1, SHARD_ZERO2, SHARD_ZERO3};
    for (size_t s = 0; s < 3; s++) {
        double before = INFINITY;
        for (int nodes = 1; nodes <= 256; nodes *= 2) {
            double now = on("llama-2-13b", METHOD_PRETRAIN, 8, shardings[s], nodes).memory.total_gb;
            cr_expect_leq(now, before * (1 + 1e-12), "sharding %d, %d nodes", (int)shardings[s], nodes);
            before = now;
        }
    }
}

Test(training_memory, terms_sum_to_the_total)
{
    const char *presets[] = {"llama-2-7b", "mixtral-8x7b", "deepseek-v3", "bge-large-en-v1.5"};
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        for (int method = METHOD_PRETRAIN; method <= METHOD_QLORA; method++) {
            struct estimate e = on(presets[i], (enum method)method, 8, SHARD_ZERO3, 2);
            const struct memory_estimate *m = &e.memory;
            double sum = m->weights_gb + m->gradients_gb + m->optimizer_gb + m->activations_gb + m->logits_gb +
                         m->buffers_gb + m->overhead_gb;
            cr_expect_float_eq(sum, m->total_gb, 1e-6 * m->total_gb, "%s", presets[i]);
            cr_expect(m->low_gb < m->total_gb && m->total_gb < m->high_gb);
            cr_expect_not_null(m->tightest_term);
        }
    }
}

Test(training_memory, squeezes_reduce_what_they_are_for)
{
    struct training_case base = {
        .gpu = "a100-sxm4-80g",
        .per_node = 8,
        .preset = "llama-3.1-8b",
        .training = {.method = METHOD_FULL_FINETUNE, .seq_len = 8192, .global_batch = 64},
        .layout = {.tp = 1, .pp = 1, .sharding = SHARD_ZERO2, .micro_batch = 2, .recompute = RECOMPUTE_NONE}};
    struct estimate none = training_case_run(&base);
    struct training_case c = base;
    c.layout.recompute = RECOMPUTE_FULL;
    cr_expect_lt(training_case_run(&c).memory.activations_gb, none.memory.activations_gb);
    c = base;
    c.layout.sharding = SHARD_ZERO3;
    cr_expect_lt(training_case_run(&c).memory.weights_gb, none.memory.weights_gb);
    c = base;
    c.training.loss_impl = LOSS_FUSED;
    cr_expect_lt(training_case_run(&c).memory.logits_gb, none.memory.logits_gb);
    c = base;
    c.training.optimizer = OPT_ADAMW_8BIT;
    cr_expect_lt(training_case_run(&c).memory.optimizer_gb, none.memory.optimizer_gb);
    c = base;
    c.layout.offload = OFFLOAD_OPTIMIZER;
    struct estimate moved = training_case_run(&c);
    cr_expect_lt(moved.memory.optimizer_gb, none.memory.optimizer_gb);
    cr_expect_gt(moved.training.host_memory_gb, 0);
    c = base;
    c.layout.tp = 4;
    cr_expect_lt(training_case_run(&c).memory.total_gb, none.memory.total_gb);
    c = base;
    c.layout.cp = 4;
    cr_expect_lt(training_case_run(&c).memory.activations_gb, none.memory.activations_gb);
    c = base;
    c.layout.pp = 4;
    c.layout.sharding = SHARD_ZERO1;
    cr_expect_lt(training_case_run(&c).memory.weights_gb, none.memory.weights_gb);
}

Test(training_memory, late_gradient_sync_holds_gradients_whole)
{
    struct training_case c = {.gpu = "h200-sxm5-141g",
                              .per_node = 4,
                              .preset = "llama-3.1-8b",
                              .training = {.method = METHOD_PRETRAIN, .seq_len = 4096, .global_batch = 64},
                              .layout = {.sharding = SHARD_ZERO3,
                                         .dp = 4,
                                         .micro_batch = 1,
                                         .recompute = RECOMPUTE_FULL,
                                         .grad_sync = GRAD_SYNC_EACH}};
    double each = training_case_run(&c).memory.total_gb;
    c.layout.grad_sync = GRAD_SYNC_LAST;
    double last = training_case_run(&c).memory.total_gb;
    /* Published for 8B: 31 GB more. */
    cr_expect(last - each > 20 && last - each < 34, "%.1f GB more", last - each);
    c.layout.dp = 2;
    c.layout.pp = 2;
    c.layout.grad_sync = GRAD_SYNC_EACH;
    each = training_case_run(&c).memory.total_gb;
    c.layout.grad_sync = GRAD_SYNC_LAST;
    last = training_case_run(&c).memory.total_gb;
    cr_expect_gt(last - each, 8.03 / 2 * 4, "gradients and the gathered stage: %.1f GB more", last - each);
}
