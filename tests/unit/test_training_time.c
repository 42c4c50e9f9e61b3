/* test_training_time.c — step time, scaling and whole runs: published tables and what must hold of any figure. */
#include <criterion/criterion.h>
#include <math.h>

#include "planner/training/run.h"
#include "tests/support/training_case.h"

Test(training_time, golden_4_3_megatron_steps)
{
    const struct {
        int layers, hidden, heads, tp, pp, vpp, nodes, batch;
        double full_s, selective_s, mfu_pct;
    } cases[] = {
        {48, 6144, 64, 8, 1, 1, 1, 4, 1.42, 1.10, 41.7},
        {96, 12288, 96, 8, 8, 3, 8, 64, 18.13, 13.75, 51.4},
        {105, 20480, 128, 8, 35, 3, 35, 280, 49.05, 37.83, 56.0},
        {128, 25600, 160, 8, 64, 1, 64, 512, 94.42, 71.49, 56.3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int micro = cases[i].pp == 1 ? 4 : 1;
        struct training_case c = {.gpu = "a100-sxm4-80g",
                                  .per_node = 8,
                                  .nodes = cases[i].nodes,
                                  .model = {.layers = cases[i].layers,
                                            .hidden = cases[i].hidden,
                                            .heads = cases[i].heads,
                                            .kv_heads = cases[i].heads,
                                            .vocab = 51200,
                                            .ffn = FFN_PLAIN,
                                            .tied_embeddings = TRI_YES},
                                  .training = {.method = METHOD_PRETRAIN,
                                               .seq_len = 2048,
                                               .global_batch = cases[i].batch,
                                               .precision = PREC_FP16},
                                  .layout = {.tp = 8,
                                             .pp = cases[i].pp,
                                             .vpp = cases[i].vpp,
                                             .dp = 1,
                                             .micro_batch = micro,
                                             .recompute = RECOMPUTE_SELECTIVE,
                                             .flash_attention = TRI_YES}};
        struct estimate selective = training_case_run(&c);
        c.layout.recompute = RECOMPUTE_FULL;
        c.layout.flash_attention = TRI_NO;
        struct estimate full = training_case_run(&c);
        c.layout.recompute = RECOMPUTE_NONE;
        c.layout.flash_attention = TRI_YES;
        struct estimate none = training_case_run(&c);
        double s = selective.training.step_time_s, f = full.training.step_time_s;
        cr_expect_leq(fabs(s / cases[i].selective_s - 1), 0.13, "case %zu selective: %.2f s, measured %.2f", i, s,
                      cases[i].selective_s);
        cr_expect_leq(fabs(f / cases[i].full_s - 1), 0.13, "case %zu full: %.2f s, measured %.2f", i, f,
                      cases[i].full_s);
        cr_expect(f / s > 1.25 && f / s < 1.40, "case %zu: full costs %.2f of selective, measured %.2f", i, f / s,
                  cases[i].full_s / cases[i].selective_s);
        cr_expect_leq(s / none.training.step_time_s, 1.05, "case %zu: selective costs almost nothing", i);
        /* The table's own convention: six FLOPs a parameter and the whole score square. */
        double n = model_count_params(&c.model) > 0
                       ? 12.0 * c.model.layers * c.model.hidden * c.model.hidden + 51200.0 * c.model.hidden
                       : 0;
        double flops = 6 * n + 12.0 * c.model.layers * c.model.hidden * 2048.0;
        double mfu = 100 * cases[i].batch * 2048.0 / cases[i].selective_s * flops / (8.0 * cases[i].nodes * 312e12);
        cr_expect_float_eq(mfu, cases[i].mfu_pct, 0.2, "case %zu: %.2f %%", i, mfu);
    }
}

Test(training_time, golden_4_4_seconds)
{
    const struct {
        int model;
        enum method method;
        double seconds[6];
    } rows[] = {
        {0, METHOD_LORA, {1.0, 1.0, 1.1, 1.7, 3.3, 6.8}},         {1, METHOD_LORA, {1.2, 1.5, 2.8, 5.2, 10.1, 21.3}},
        {2, METHOD_LORA, {1.6, 2.4, 4.4, 8.4, 17.0, 36.0}},       {0, METHOD_QLORA, {1.4, 1.4, 1.4, 2.0, 3.4, 6.5}},
        {1, METHOD_QLORA, {3.0, 3.0, 3.5, 7.0, 11.6, 22.3}},      {2, METHOD_QLORA, {5.3, 6.3, 8.2, 11.8, 20.1, 38.3}},
        {3, METHOD_QLORA, {27.4, 31.5, 41.4, 59.5, 97.7, 179.8}},
    };
    double sum[2] = {0};
    int n[2] = {0};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        for (int i = 0; i < 6; i++) {
            struct training_case c = {
                .gpu = "a100-sxm4-80g",
                .model = PROFILED_QWEN[rows[r].model],
                .training = {.method = rows[r].method,
                             .seq_len = PROFILED_LENGTHS[i],
                             .global_batch = 8,
                             .lora_rank = 64,
                             .precision = PREC_BF16},
                .layout = {.micro_batch = 1, .recompute = RECOMPUTE_FULL, .flash_attention = TRI_YES}};
            double s = training_case_run(&c).training.step_time_s;
            double off = fabs(s / rows[r].seconds[i] - 1);
            sum[rows[r].method == METHOD_QLORA] += off;
            n[rows[r].method == METHOD_QLORA]++;
            cr_expect_leq(off, 0.2, "model %d method %d seq %d: %.2f s, measured %.2f", rows[r].model,
                          (int)rows[r].method, PROFILED_LENGTHS[i], s, rows[r].seconds[i]);
        }
    }
    cr_expect_leq(sum[0] / n[0], 0.08, "mean error of LoRA %.3f", sum[0] / n[0]);
    cr_expect_leq(sum[1] / n[1], 0.08, "mean error of QLoRA %.3f", sum[1] / n[1]);
}

struct machine {
    const char *gpu;
    int cards, micro_batch;
    enum intra_link link;
    enum offload offload;
    double seconds, price_low, price_high; /* measured; dollars of the whole job */
};

/* 70B QLoRA, 1,024 samples of 2,048 tokens. */
static const struct machine MACHINES[] = {
    {"rtx-a5000-24g", 2, 2, INTRA_UNSTATED, OFFLOAD_PARAMETERS, 9688, 2.37, 4.14},
    {"rtx-a5000-24g", 4, 1, INTRA_UNSTATED, OFFLOAD_NONE, 4829, 2.36, 4.13},
    {"rtx-a5000-24g", 8, 1, INTRA_UNSTATED, OFFLOAD_NONE, 2613, 2.55, 4.47},
    {"rtx-6000-ada-48g", 2, 4, INTRA_UNSTATED, OFFLOAD_NONE, 5867, 3.72, 5.22},
    {"rtx-6000-ada-48g", 4, 4, INTRA_UNSTATED, OFFLOAD_NONE, 2904, 3.68, 5.16},
    {"a100-sxm4-40g", 2, 1, INTRA_NVSWITCH, OFFLOAD_NONE, 3277, 3.28, 3.75},
    {"a100-sxm4-40g", 4, 4, INTRA_NVSWITCH, OFFLOAD_NONE, 1266, 2.53, 2.90},
    {"a100-sxm4-40g", 8, 4, INTRA_NVSWITCH, OFFLOAD_NONE, 672, 2.69, 3.08},
    {"h100-sxm5-80g", 4, 8, INTRA_NVSWITCH, OFFLOAD_NONE, 667, 3.48, 3.53},
};
#define N_MACHINES (sizeof MACHINES / sizeof *MACHINES)

Test(training_time, golden_4_5_order_of_nine_machines)
{
    double seconds[N_MACHINES], dollars[N_MACHINES];
    for (size_t i = 0; i < N_MACHINES; i++) {
        const struct machine *m = &MACHINES[i];
        struct training_case c = {.gpu = m->gpu,
                                  .per_node = m->cards,
                                  .intra = m->link,
                                  .preset = "llama-2-70b",
                                  .training = {.method = METHOD_QLORA, .seq_len = 2048, .precision = PREC_BF16},
                                  .layout = {.micro_batch = m->micro_batch,
                                             .sharding = SHARD_ZERO3,
                                             .recompute = RECOMPUTE_FULL,
                                             .offload = m->offload}};
        seconds[i] = 1024.0 * 2048 / training_case_run(&c).training.tokens_per_s;
        dollars[i] = seconds[i] * (m->price_low + m->price_high) / 2 / m->seconds;
    }
    int dearer = 0;
    double off = 0;
    for (size_t i = 0; i < N_MACHINES; i++) {
        for (size_t k = 0; k < N_MACHINES; k++) {
            const struct machine *a = &MACHINES[i], *b = &MACHINES[k];
            if (a->seconds < b->seconds) {
                cr_expect_lt(seconds[i], seconds[k], "%d x %s (%.0f s, measured %.0f) against %d x %s (%.0f s, %.0f)",
                             a->cards, a->gpu, seconds[i], a->seconds, b->cards, b->gpu, seconds[k], b->seconds);
                double ratio = seconds[k] / seconds[i] / (b->seconds / a->seconds);
                off += fabs(log(ratio)) / (N_MACHINES * (N_MACHINES - 1) / 2.0);
                cr_expect(ratio > 1 / 1.5 && ratio < 1.5, "%d x %s against %d x %s: %.2f of the measured ratio",
                          a->cards, a->gpu, b->cards, b->gpu, ratio);
            }
            /* Where the price ranges leave no doubt who is dearer, the figures have none either. */
            if (a->price_high < b->price_low) {
                dearer++;
                cr_expect_lt(dollars[i], dollars[k], "cost of %d x %s %.2f against %d x %s %.2f", a->cards, a->gpu,
                             dollars[i], b->cards, b->gpu, dollars[k]);
            }
        }
    }
    cr_expect_eq(dearer, 10, "%d pairs of machines have prices apart", dearer);
    cr_expect_leq(off, 0.17, "ratios between machines are off by %.3f", off);
    double slow = 0, fast = INFINITY, dear = 0, cheap = INFINITY;
    for (size_t i = 0; i < N_MACHINES; i++) {
        slow = fmax(slow, seconds[i]);
        fast = fmin(fast, seconds[i]);
        dear = fmax(dear, dollars[i]);
        cheap = fmin(cheap, dollars[i]);
    }
    cr_expect(slow / fast > 10, "time spreads %.1f-fold (measured 14)", slow / fast);
    cr_expect(dear / cheap < 3, "cost spreads %.1f-fold (measured 2)", dear / cheap);
}

static struct training_case cluster(const char *preset, int nodes, enum inter_link link, double gbps,
                                    enum sharding sharding)
{
    return (struct training_case){
        .gpu = "a100-sxm4-80g",
        .per_node = 8,
        .nodes = nodes,
        .inter = nodes > 1 ? link : INTER_NONE,
        .gbps = gbps,
        .preset = preset,
        .training = {.method = METHOD_PRETRAIN, .seq_len = 2048, .global_batch = 128 * nodes, .precision = PREC_BF16},
        .layout = {.tp = 1, .pp = 1, .sharding = sharding, .micro_batch = 2, .recompute = RECOMPUTE_FULL}};
}

static double rate(struct training_case c)
{
    return training_case_run(&c).training.tokens_per_s;
}

Test(training_time, two_node_gate)
{
    double one = rate(cluster("llama-2-13b", 1, INTER_NONE, 0, SHARD_ZERO3));
    double two = rate(cluster("llama-2-13b", 2, INTER_INFINIBAND, 1600, SHARD_ZERO3));
    cr_expect(two / one >= 1.5 && two / one <= 1.96, "two nodes over InfiniBand give %.2f", two / one);
}

Test(training_time, fabric_bound)
{
    double one = rate(cluster("llama-2-13b", 1, INTER_NONE, 0, SHARD_ZERO3));
    struct training_case slow = cluster("llama-2-13b", 2, INTER_ETHERNET, 10, SHARD_ZERO3);
    struct estimate e = training_case_run(&slow);
    cr_expect_lt(e.training.tokens_per_s / one, 0.7, "ZeRO-3 over 10G Ethernet gives %.2f",
                 e.training.tokens_per_s / one);
    cr_expect_gt(e.training.communication_share, 0.4);
}

Test(training_time, small_model_penalty)
{
    struct training_case c = {
        .gpu = "a100-sxm4-80g",
        .per_node = 8,
        .nodes = 4,
        .inter = INTER_ETHERNET,
        .gbps = 10,
        .model = {.params = 1e9},
        .training = {.method = METHOD_PRETRAIN, .seq_len = 2048, .global_batch = 32, .precision = PREC_BF16}};
    double four = rate(c);
    c.nodes = 1;
    c.inter = INTER_NONE;
    cr_expect_lt(four, rate(c), "four nodes of 10G Ethernet");
}

Test(training_time, scaling_single_node)
{
    /* A typical vision model: 12 GFLOPs a sample forward and backward, 26 million parameters, four PCIe cards. */
    struct training_case c = {.gpu = "rtx-3090-24g",
                              .per_node = 1,
                              .intra = INTRA_PCIE3,
                              .training = {.method = METHOD_CUSTOM,
                                           .flops_per_sample = 12.3e9,
                                           .state_gb = 0.41,
                                           .activation_gb_per_sample = 0.1,
                                           .samples = 1e6},
                              .layout = {0}};
    double one = training_case_run(&c).training.samples_per_s;
    const char *cards[] = {"rtx-3090-24g", "rtx-4090-24g", "a100-pcie-80g", "v100-pcie-32g"};
    const enum intra_link links[] = {INTRA_PCIE3, INTRA_PCIE4, INTRA_PCIE4, INTRA_PCIE3};
    for (size_t i = 0; i < 4; i++) {
        c.gpu = cards[i];
        c.intra = links[i];
        c.per_node = 1;
        one = training_case_run(&c).training.samples_per_s;
        c.per_node = 4;
        double speedup = training_case_run(&c).training.samples_per_s / one;
        cr_expect(speedup >= 2.5 && speedup <= 3.3, "%s: four cards give %.2f", cards[i], speedup);
    }
}

Test(training_time, faster_links_are_never_slower)
{
    const double gbps[] = {1, 10, 25, 100, 400, 1600, 3200};
    const enum sharding shardings[] = {SHARD_ZERO1, SHARD_ZERO3};
    for (size_t s = 0; s < 2; s++) {
        double before = 0;
        for (size_t i = 0; i < sizeof gbps / sizeof *gbps; i++) {
            double now = rate(cluster("llama-2-7b", 4, INTER_INFINIBAND, gbps[i], shardings[s]));
            cr_expect_geq(now, before * (1 - 1e-12), "%g Gbit/s", gbps[i]);
            before = now;
        }
    }
    struct training_case c = {.gpu = "h100-sxm5-80g",
                              .per_node = 8,
                              .preset = "llama-3.1-70b",
                              .training = {.method = METHOD_LORA, .seq_len = 4096, .global_batch = 64},
                              .layout = {.tp = 8, .micro_batch = 2, .recompute = RECOMPUTE_FULL}};
    const enum intra_link links[] = {INTRA_PCIE3, INTRA_PCIE4, INTRA_PCIE5, INTRA_NVSWITCH};
    double before = 0;
    for (size_t i = 0; i < 4; i++) {
        c.intra = links[i];
        double now = rate(c);
        cr_expect_geq(now, before, "link %s", intra_link_name(links[i]));
        before = now;
    }
}

Test(training_time, twice_the_tokens_take_twice_the_hours)
{
    struct training_case c = cluster("llama-2-7b", 2, INTER_INFINIBAND, 1600, SHARD_ZERO3);
    c.training.tokens = 3e11;
    double hours = training_case_run(&c).training.gpu_hours;
    c.training.tokens = 6e11;
    cr_expect_float_eq(training_case_run(&c).training.gpu_hours, 2 * hours, 1e-9 * hours);
    c.training.tokens = 0;
    cr_expect(isnan(training_case_run(&c).training.gpu_hours), "no amount of work, no hours");
}

Test(training_time, storage_bound)
{
    struct training_case c = cluster("llama-2-7b", 4, INTER_INFINIBAND, 1600, SHARD_ZERO3);
    c.training.tokens = 1e9;
    c.training.dataset_gb = 40000; /* images: 40 kB a token */
    struct estimate free_disk = training_case_run(&c);
    c.storage_gb_s = 1;
    struct estimate slow = training_case_run(&c);
    cr_expect_eq(free_disk.training.data_wait_share, 0);
    cr_expect_gt(slow.training.data_wait_share, 0.1);
    cr_expect_lt(slow.training.tokens_per_s, free_disk.training.tokens_per_s);
    cr_expect_float_eq(slow.training.tokens_per_s * 40000 / 1e9, 1, 0.01, "reads at the rate of the storage");
}

Test(training_time, young_daly)
{
    /* 1,024 cards, 45,000 GPU-hours between failures, half an hour to restart, checkpoints of 40 s: about 3.4 %. */
    double interval;
    double share = run_failure_share(40.0 / 3600, 45000.0 / 1024, 0.5, &interval);
    cr_expect_float_eq(share, 0.034, 0.002, "%.4f", share);
    cr_expect_float_eq(interval, 1.0, 0.05, "%.3f h", interval);
    cr_expect_lt(run_failure_share(40.0 / 3600, 45000.0 / 8, 0.5, NULL), 0.003);
}

/* What a run adds to its steps: failures, restarts and checkpoints grow with the cards, evaluation is a share, and big
 * runs have always lost more than that. */
Test(training_time, what_a_run_adds_to_its_steps)
{
    double before = 0;
    for (int nodes = 1; nodes <= 4096; nodes *= 4) {
        struct training_case c = {.gpu = "h100-sxm5-80g",
                                  .per_node = 8,
                                  .nodes = nodes,
                                  .preset = "llama-2-70b",
                                  .training = {.method = METHOD_PRETRAIN,
                                               .seq_len = 4096,
                                               .global_batch = 32 * nodes,
                                               .tokens = 1e12,
                                               .precision = PREC_BF16}};
        struct estimate e = training_case_run(&c);
        const struct training_estimate *t = &e.training;
        cr_expect_gt(t->run_overhead, before, "%d nodes: %.3f", nodes, t->run_overhead);
        before = t->run_overhead;
        cr_expect_float_eq(t->wall_hours, 1e12 / t->tokens_per_s / 3600 * (1 + t->run_overhead), 1e-6 * t->wall_hours);
        cr_expect_float_eq(t->gpu_hours, t->wall_hours * 8 * nodes, 1e-6 * t->gpu_hours);
        if (nodes == 1)
            cr_expect(t->run_overhead > 0.007 && t->run_overhead < 0.05, "one machine adds %.3f", t->run_overhead);
        if (nodes == 256) /* 0.65 to 0.85 of the step speed is left in published runs of this size */
            cr_expect(t->run_overhead > 0.18 && t->run_overhead < 0.54, "2,048 cards add %.3f", t->run_overhead);
        c.training.method = METHOD_FULL_FINETUNE;
        cr_expect_leq(training_case_run(&c).training.run_overhead, before, "a fine-tuning is no pretraining");
    }
}

Test(training_time, bloom_checkpoint)
{
    struct training_case c = {.gpu = "a100-sxm4-80g",
                              .per_node = 8,
                              .nodes = 48,
                              .preset = "bloom-176b",
                              .training = {.method = METHOD_PRETRAIN, .seq_len = 2048, .global_batch = 2048},
                              .layout = {.tp = 4, .pp = 12, .dp = 8, .micro_batch = 2, .recompute = RECOMPUTE_FULL}};
    cr_expect_float_eq(training_case_run(&c).training.checkpoint_gb, 2470, 10);
}

Test(training_time, golden_3_4_large_local_batches_scale)
{
    /* 8B, 16k tokens a card, 8 to 128 H100: -2.7 % measured. */
    struct training_case c = {
        .gpu = "h100-sxm5-80g",
        .per_node = 8,
        .nodes = 1,
        .preset = "llama-3.1-8b",
        .training = {.method = METHOD_PRETRAIN,
                     .seq_len = 8192,
                     .global_batch = 16,
                     .precision = PREC_BF16,
                     .compile = TRI_YES},
        .layout = {.sharding = SHARD_ZERO3, .dp = 8, .micro_batch = 2, .recompute = RECOMPUTE_SELECTIVE}};
    struct estimate one = training_case_run(&c);
    c.nodes = 16;
    c.layout.dp = 128;
    c.training.global_batch = 256;
    struct estimate many = training_case_run(&c);
    double ratio = many.training.tokens_per_s_per_gpu / one.training.tokens_per_s_per_gpu;
    cr_expect(ratio > 0.92 && ratio < 1, "128 cards keep %.3f", ratio);
    cr_expect_float_eq(ratio, many.training.scaling_efficiency, 0.02);
}

Test(training_time, better_fabrics_of_one_rate_are_never_slower)
{
    const enum inter_link kinds[] = {INTER_ETHERNET, INTER_ROCE, INTER_INFINIBAND};
    const double gbps[] = {25, 100, 400, 1600};
    for (size_t g = 0; g < 4; g++) {
        for (int sharding = SHARD_ZERO1; sharding <= SHARD_ZERO3; sharding++) {
            double before = 0;
            for (size_t i = 0; i < 3; i++) {
                double now = rate(cluster("llama-2-13b", 4, kinds[i], gbps[g], (enum sharding)sharding));
                cr_expect_geq(now, before * (1 - 1e-12), "%s at %g Gbit/s", inter_link_name(kinds[i]), gbps[g]);
                before = now;
            }
        }
    }
    /* With the layout open as well. */
    double before = 0;
    for (size_t i = 0; i < 3; i++) {
        struct training_case c = cluster("llama-2-13b", 4, kinds[i], 100, SHARD_UNSTATED);
        c.layout = (struct layout){0};
        double now = rate(c);
        cr_expect_geq(now, before, "%s, open layout", inter_link_name(kinds[i]));
        before = now;
    }
}
