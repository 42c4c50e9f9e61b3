/* test_training_terms.c — every term of memory and of step time by itself: what it is made of, what divides it, which
 * instant counts it. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "planner/training/fabric.h"
#include "planner/training/job.h"
#include "tests/support/training_case.h"

#define GIGA 1e9

/* One A100, Llama-2-7B, several micro-batches a step, so that gradients outlive them. */
static struct training_case full(void)
{
    return (struct training_case){
        .gpu = "a100-sxm4-80g",
        .preset = "llama-2-7b",
        .training = {.method = METHOD_FULL_FINETUNE, .seq_len = 1024, .global_batch = 8, .precision = PREC_BF16},
        .layout = {.micro_batch = 1, .recompute = RECOMPUTE_FULL, .offload = OFFLOAD_NONE}};
}

static struct training_case on_cards(int cards, enum sharding sharding)
{
    struct training_case c = full();
    c.per_node = cards;
    c.training.global_batch = 8 * cards;
    c.layout.dp = cards;
    c.layout.sharding = sharding;
    return c;
}

static struct memory_estimate memory(struct training_case c)
{
    return training_case_run(&c).memory;
}

static double states(struct memory_estimate m)
{
    return (m.weights_gb + m.gradients_gb + m.optimizer_gb) * GIGA / 6738415616.0;
}

/* Bytes a parameter before sharding, as the training guides count them. */
Test(training_terms, states_of_every_regime)
{
    const struct {
        enum optimizer optimizer;
        enum tri master;
        enum precision precision;
        double bytes;
    } cases[] = {{OPT_ADAMW, TRI_UNSTATED, PREC_BF16, 18},
                 {OPT_ADAMW, TRI_UNSTATED, PREC_FP32, 16},
                 {OPT_ADAMW, TRI_NO, PREC_BF16, 8},
                 {OPT_ADAMW_8BIT, TRI_UNSTATED, PREC_BF16, 12},
                 {OPT_ADAMW_8BIT, TRI_NO, PREC_BF16, 6},
                 {OPT_SGD, TRI_UNSTATED, PREC_BF16, 14},
                 {OPT_LION, TRI_UNSTATED, PREC_BF16, 14},
                 {OPT_MUON, TRI_UNSTATED, PREC_BF16, 14},
                 {OPT_ADAFACTOR, TRI_UNSTATED, PREC_BF16, 10.1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct training_case c = full();
        c.training.optimizer = cases[i].optimizer;
        c.training.master_weights = cases[i].master;
        c.training.precision = cases[i].precision;
        cr_expect_float_eq(states(memory(c)), cases[i].bytes, 0.05, "case %zu: %.2f bytes a parameter", i,
                           states(memory(c)));
    }
    /* FSDP: gradients reduced in 16 bits, 16 bytes a parameter over all ranks. */
    cr_expect_float_eq(8 * states(memory(on_cards(8, SHARD_ZERO3))), 16, 0.05);
    /* The optimizer fused into the backward pass never holds all gradients. */
    struct training_case c = full();
    double apart = memory(c).gradients_gb;
    c.training.optimizer_in_backward = TRI_YES;
    cr_expect_lt(memory(c).gradients_gb, 0.05 * apart);
}

Test(training_terms, each_stage_of_sharding_divides_its_own_term)
{
    const enum sharding stages[] = {SHARD_NONE, SHARD_ZERO1, SHARD_ZERO2, SHARD_ZERO3};
    struct memory_estimate m[4];
    for (int i = 0; i < 4; i++)
        m[i] = memory(on_cards(8, stages[i]));
    cr_expect(m[1].optimizer_gb < m[0].optimizer_gb / 4, "an eighth, and reduced gradients of the shard");
    cr_expect_float_eq(m[1].weights_gb, m[0].weights_gb, 1e-6);
    cr_expect_float_eq(m[1].gradients_gb, m[0].gradients_gb, 0.15 * m[0].gradients_gb);
    cr_expect_float_eq(m[2].optimizer_gb, m[0].optimizer_gb / 8, 1e-6);
    cr_expect_float_eq(m[2].gradients_gb, m[0].gradients_gb / 8, 1e-6);
    cr_expect_float_eq(m[3].weights_gb, m[0].weights_gb / 8, 1e-6);
    cr_expect_gt(m[3].buffers_gb, m[0].buffers_gb, "gathered units and flat buffers");
    /* A shard group of four holds twice the share of a group of eight. */
    struct training_case c = on_cards(8, SHARD_ZERO3);
    c.layout.shard_group = 4;
    cr_expect_float_eq(memory(c).weights_gb, 2 * m[3].weights_gb, 1e-6);
}

Test(training_terms, tensor_pipeline_context_and_experts_divide_what_they_cut)
{
    struct training_case c = on_cards(8, SHARD_ZERO1);
    c.preset = "mixtral-8x7b";
    c.training.seq_len = 8192;
    struct training_case one = c, t = c, p = c, x = c, e = c;
    one.layout.ep = x.layout.ep = t.layout.ep = p.layout.ep = 1;
    t.layout.tp = 8;
    p.layout.pp = 8;
    x.layout.cp = 8;
    t.layout.dp = p.layout.dp = x.layout.dp = 1;
    e.layout.ep = 8;
    struct memory_estimate whole = memory(one);
    cr_expect_float_eq(memory(t).weights_gb, whole.weights_gb / 8, 0.01 * whole.weights_gb);
    cr_expect(memory(p).weights_gb < whole.weights_gb / 7, "%.1f of %.1f", memory(p).weights_gb, whole.weights_gb);
    cr_expect_float_eq(memory(x).weights_gb, whole.weights_gb, 1e-6, "%g of %g", memory(x).weights_gb,
                       whole.weights_gb);
    cr_expect_lt(memory(x).activations_gb, 0.3 * whole.activations_gb);
    /* Seven eighths of the experts leave the rank; everything else stays. */
    double experts = 3.0 * 4096 * 14336 * 8 * 32 * 2 / GIGA;
    cr_expect_float_eq(whole.weights_gb - memory(e).weights_gb, experts * 7 / 8, 0.02 * experts);
}

Test(training_terms, the_fullest_stage_of_a_pipeline_counts)
{
    /* Few micro-batches and a large vocabulary: the last stage, with its logits. Many: the first, without. */
    struct training_case c = {
        .gpu = "h100-sxm5-80g",
        .per_node = 8,
        .preset = "llama-3.1-8b",
        .training = {.method = METHOD_PRETRAIN, .seq_len = 8192, .global_batch = 4, .precision = PREC_BF16},
        .layout = {.tp = 1, .pp = 8, .micro_batch = 4, .recompute = RECOMPUTE_FULL, .sharding = SHARD_ZERO1}};
    cr_expect_gt(memory(c).logits_gb, 5);
    c.training.global_batch = 64;
    c.layout.micro_batch = 1;
    c.layout.recompute = RECOMPUTE_NONE;
    struct memory_estimate first = memory(c);
    cr_expect_eq(first.logits_gb, 0);
    /* Interleaving keeps more micro-batches in flight: (p - 1) / (p v) of the first stage more. */
    c.layout.vpp = 2;
    cr_expect_float_eq(memory(c).activations_gb / first.activations_gb, 1 + 7.0 / 16, 1e-6);
}

Test(training_terms, recomputation_keeps_a_boundary_a_share_or_everything)
{
    struct training_case c = on_cards(8, SHARD_ZERO3);
    c.training.method = METHOD_PRETRAIN;
    c.training.seq_len = 4096;
    double kept[3];
    const enum recompute modes[] = {RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL};
    for (int i = 0; i < 3; i++) {
        c.layout.recompute = modes[i];
        kept[i] = memory(c).activations_gb;
    }
    cr_expect_float_eq(kept[1] / kept[0], 0.6, 0.02, "operation-level recomputation keeps %.2f", kept[1] / kept[0]);
    /* Full: two bytes of the hidden width a token and layer, and one layer's working set. */
    double boundary = 2.0 * 4096 * 4096 * 32 / GIGA;
    cr_expect(kept[2] > boundary && kept[2] < boundary + 2.2 * kept[0] / 32, "%.2f GB", kept[2]);
    c.layout.offload = OFFLOAD_ACTIVATIONS;
    cr_expect_lt(memory(c).activations_gb, kept[2] - 0.9 * boundary);
}

Test(training_terms, logits_by_implementation)
{
    struct training_case c = full();
    c.preset = "llama-3.1-8b";
    c.training.seq_len = 8192;
    c.training.method = METHOD_LORA;
    double entries = 8192.0 * 128256 / GIGA;
    const struct {
        enum loss_impl loss;
        double low, high;
    } cases[] = {{LOSS_EAGER, 9, 13}, {LOSS_CHUNKED, 0.5, 1.5}, {LOSS_FUSED, 0, 0.3}};
    for (size_t i = 0; i < 3; i++) {
        c.training.loss_impl = cases[i].loss;
        double bytes = memory(c).logits_gb / entries;
        cr_expect(bytes >= cases[i].low && bytes <= cases[i].high, "implementation %zu: %.2f bytes", i, bytes);
    }
    /* Vocabulary parallel: each rank has its columns only. */
    struct training_case t = {
        .gpu = "h100-sxm5-80g",
        .per_node = 8,
        .preset = "llama-3.1-8b",
        .training = {.method = METHOD_PRETRAIN, .seq_len = 8192, .global_batch = 8, .precision = PREC_BF16},
        .layout = {.tp = 8, .micro_batch = 1, .recompute = RECOMPUTE_NONE, .vocab_parallel = TRI_YES}};
    double cut = memory(t).logits_gb;
    t.layout.vocab_parallel = TRI_NO;
    cr_expect_float_eq(memory(t).logits_gb, 8 * cut, 1e-6);
}

static struct job resolved(const struct training_case *c, struct model *m, struct shape *s)
{
    *m = c->preset != NULL ? *catalog_model(test_catalog(), c->preset) : c->model;
    struct fault_list *faults = calloc(1, sizeof *faults);
    model_complete(m, "/workload/model", NULL, faults);
    free(faults);
    *s = (struct shape){.gpu = catalog_gpu(test_catalog(), c->gpu),
                        .gpus_per_node = c->per_node > 0 ? c->per_node : 1,
                        .nodes = c->nodes > 0 ? c->nodes : 1,
                        .intra = c->intra,
                        .inter = c->inter,
                        .inter_gbps_per_node = c->gbps};
    struct training_request q = {.model = m, .training = &c->training, .shape = s, .layout = &c->layout};
    struct job j;
    struct err err = {0};
    cr_assert_eq(job_resolve(training_case_constants(), &q, NULL, &j, &err), 0, "%s", err.detail);
    return j;
}

Test(training_terms, stored_activations_of_a_layer)
{
    struct model m;
    struct shape s;
    /* Published: 90.4 KB a token and layer for a compiled 3B, 229 KB for an eager 8B (28 copies of the width). */
    struct training_case c = full();
    c.preset = "llama-3.2-3b";
    struct job j = resolved(&c, &m, &s);
    cr_expect_float_eq(job_activation_bytes(&j, STACK_FUSED) / 1e3, 90.3, 1, "%.1f KB",
                       job_activation_bytes(&j, STACK_FUSED) / 1e3);
    c.preset = "llama-3.1-8b";
    j = resolved(&c, &m, &s);
    cr_expect_float_eq(1.35 * job_activation_bytes(&j, STACK_EAGER) / 1e3, 227, 3, "%.1f KB",
                       1.35 * job_activation_bytes(&j, STACK_EAGER) / 1e3);
    /* Grouped queries keep fewer keys and values. */
    struct training_case g = full();
    g.preset = NULL;
    g.model = (struct model){
        .layers = 32, .hidden = 4096, .heads = 32, .kv_heads = 32, .intermediate = 11008, .vocab = 32000};
    struct job all = resolved(&g, &m, &s);
    double many = job_activation_bytes(&all, STACK_FUSED);
    g.model.kv_heads = 8;
    struct job few = resolved(&g, &m, &s);
    cr_expect_float_eq(many - job_activation_bytes(&few, STACK_FUSED), 4 * 24 * 128, 1e-6);
    /* Latent attention by its ranks; routed experts by how many a token sees, not by how many there are. */
    c.preset = "deepseek-v3";
    j = resolved(&c, &m, &s);
    double attention = 2.0 * (1536 + 512 + 64) + 2.0 * 128 * (2 * 192 + 2 * 128);
    double routed = 6 * (8 * 2048 * 1.2 + 2048) + 4 * 256 + 4 * 8 * 7168.0;
    double expected = 8 * 7168.0 + attention + (3 * 6 * 18432.0 + 58 * routed) / 61;
    cr_expect_float_eq(job_activation_bytes(&j, STACK_FUSED) / expected, 1, 0.01, "%.0f, expected %.0f",
                       job_activation_bytes(&j, STACK_FUSED), expected);
}

Test(training_terms, adapters_quantised_bases_and_trained_vocabularies)
{
    struct training_case c = full();
    c.preset = "qwen-7b";
    c.training.lora_rank = 64;
    c.training.method = METHOD_LORA;
    struct memory_estimate lora = memory(c);
    double adapters = 143130624 / GIGA, vocabulary = 2.0 * 151936 * 4096 / GIGA;
    cr_expect_float_eq(lora.gradients_gb + lora.optimizer_gb + 4 * adapters, 16 * adapters, 0.5 * adapters);
    c.training.train_embeddings = TRI_YES;
    cr_expect_float_eq((memory(c).total_gb - lora.total_gb) / vocabulary, 10.6, 0.9,
                       "new tokens: %.1f bytes a parameter of the vocabulary",
                       (memory(c).total_gb - lora.total_gb) / vocabulary);
    c.training.train_embeddings = TRI_NO;
    c.training.method = METHOD_QLORA;
    struct memory_estimate qlora = memory(c);
    double base = 0.52 * (7.721324544 - vocabulary) + 4 * vocabulary + 4 * adapters;
    cr_expect_float_eq(qlora.weights_gb, base, 0.06 * base, "%.2f GB, 4 bits and a 32-bit vocabulary are %.2f",
                       qlora.weights_gb, base);
    cr_expect_gt(qlora.buffers_gb, lora.buffers_gb, "the matrix that is being expanded");
}

Test(training_terms, offload_moves_states_to_the_host)
{
    struct training_case c = on_cards(4, SHARD_ZERO3);
    struct estimate card = training_case_run(&c);
    c.layout.offload = OFFLOAD_OPTIMIZER;
    struct estimate optimizer = training_case_run(&c);
    c.layout.offload = OFFLOAD_PARAMETERS;
    struct estimate parameters = training_case_run(&c);
    cr_expect_eq(optimizer.memory.optimizer_gb, 0);
    cr_expect_lt(parameters.memory.weights_gb, 0.2 * optimizer.memory.weights_gb);
    double moved = (card.memory.optimizer_gb + 2 * 6.738 / 4) * 4 * 1.5;
    cr_expect_float_eq(optimizer.training.host_memory_gb, moved, 0.05 * moved);
    cr_expect(optimizer.training.step_time_s > card.training.step_time_s &&
                  parameters.training.step_time_s > optimizer.training.step_time_s,
              "the host's memory and the slot cost time");
    /* 70B QLoRA: the base lies whole in host memory while it is quantised; published, over 128 GB. */
    struct training_case q = {.gpu = "rtx-4090-24g",
                              .per_node = 2,
                              .preset = "llama-2-70b",
                              .training = {.method = METHOD_QLORA, .seq_len = 2048, .global_batch = 32},
                              .layout = {.sharding = SHARD_ZERO3, .micro_batch = 1, .recompute = RECOMPUTE_FULL}};
    cr_expect_float_eq(training_case_run(&q).training.host_memory_gb, 138, 2);
}

Test(training_terms, a_peak_and_not_a_sum)
{
    /* One micro-batch a step: the logits are gone when the last gradient is there. */
    struct training_case once = on_cards(8, SHARD_ZERO3);
    once.preset = "llama-3.1-8b";
    once.training.seq_len = 8192;
    once.training.global_batch = 8;
    struct training_case often = once;
    often.training.global_batch = 64;
    struct memory_estimate a = memory(once), b = memory(often);
    cr_expect(a.gradients_gb == 0 || a.logits_gb == 0, "gradients %.1f and logits %.1f at one instant", a.gradients_gb,
              a.logits_gb);
    cr_expect(b.gradients_gb > 0 && b.logits_gb > 0, "gradients outlive a micro-batch when there are several");
    cr_expect_lt(a.total_gb, b.total_gb);
    /* A short sample peaks in the optimizer instead: all gradients, no logits. */
    once.training.seq_len = 128;
    cr_expect(memory(once).gradients_gb > 0 && memory(once).logits_gb == 0);
}

Test(training_terms, what_frameworks_take_for_themselves)
{
    /* Context and libraries, more with communication buffers; and a share of what comes and goes. */
    struct training_case c = full();
    c.preset = "qwen2.5-0.5b";
    c.training.method = METHOD_LORA;
    c.training.seq_len = 128;
    double one = memory(c).overhead_gb;
    cr_expect(one > 1 && one < 2, "one card: %.2f GB", one);
    c.per_node = 8;
    c.layout.sharding = SHARD_NONE;
    double many = memory(c).overhead_gb;
    cr_expect(many > one + 0.8 && many < 4, "eight: %.2f GB", many);
    c.training.seq_len = 4096;
    struct memory_estimate m = memory(c);
    cr_expect_float_eq(m.overhead_gb - many, 0.052 * (m.activations_gb + m.logits_gb + m.buffers_gb), 0.1);
    cr_expect_lt(m.usable_gb, 86, "of a card of 80, what a framework sees");
}

Test(training_terms, three_verdicts_and_the_term_to_squeeze)
{
    bool seen[3] = {false};
    enum fits before = FITS_YES;
    for (int seq = 256; seq <= 1000000; seq += seq / 4) {
        struct training_case c = full();
        c.training.method = METHOD_LORA;
        c.training.seq_len = seq;
        struct estimate e = training_case_run(&c);
        seen[e.fits] = true;
        cr_expect_leq(e.fits, before, "longer never fits better");
        before = e.fits;
        const struct memory_estimate *m = &e.memory;
        cr_expect_eq(e.fits, m->high_gb <= m->usable_gb    ? FITS_YES
                             : m->total_gb <= m->usable_gb ? FITS_TIGHT
                                                           : FITS_NO);
    }
    cr_expect(seen[FITS_NO] && seen[FITS_TIGHT] && seen[FITS_YES]);
    const struct {
        const char *preset, *term;
        enum method method;
        int seq;
    } cases[] = {{"llama-2-7b", "optimizer", METHOD_FULL_FINETUNE, 512},
                 {"llama-2-7b", "weights", METHOD_LORA, 512},
                 {"gemma-2-2b", "logits", METHOD_LORA, 8192}};
    for (size_t i = 0; i < 3; i++) {
        struct training_case c = full();
        c.preset = cases[i].preset;
        c.training.method = cases[i].method;
        c.training.seq_len = cases[i].seq;
        cr_expect_str_eq(memory(c).tightest_term, cases[i].term);
    }
    struct training_case c = full();
    c.training.method = METHOD_LORA;
    c.training.seq_len = 8192;
    c.layout.recompute = RECOMPUTE_NONE;
    cr_expect_str_eq(memory(c).tightest_term, "activations");
}

static double speed(struct training_case c)
{
    return training_case_run(&c).training.tokens_per_s;
}

Test(training_terms, model_flops)
{
    struct model m;
    struct shape s;
    struct training_case c = full();
    c.training.seq_len = 4096;
    struct job j = resolved(&c, &m, &s);
    /* Six a multiplied parameter (the head included, the input table not), causal attention by half. */
    double matmul = 6738415616.0 - 32000.0 * 4096, attention = 12.0 * 32 * 4096 * 4096 * 0.5;
    cr_expect_float_eq(job_flops_per_token(&j) / (6 * matmul + attention), 1, 1e-9, "%.12f",
                       job_flops_per_token(&j) / (6 * matmul + attention));
    /* A frozen base needs no weight gradients: four; adapters six of their own. Published: 12,473 tokens/s of an 8B
     * are 402 TFLOP/s. */
    c.preset = "llama-3.1-8b";
    c.training.method = METHOD_LORA;
    c.training.lora_rank = 16;
    j = resolved(&c, &m, &s);
    double lora = job_flops_per_token(&j) * 12473 / 1e12;
    cr_expect(lora > 395 && lora < 440, "%.0f TFLOP/s", lora);
    /* Windows and linear layers by what they attend to; experts by those a token sees. */
    c = full();
    c.preset = "mixtral-8x7b";
    c.training.seq_len = 1;
    j = resolved(&c, &m, &s);
    cr_expect_float_eq(job_flops_per_token(&j) / (6 * 12.75e9), 1, 0.01, "%.3g", job_flops_per_token(&j));
    c.preset = "gemma-2-9b";
    c.training.seq_len = 65536;
    j = resolved(&c, &m, &s);
    cr_expect_lt(j.attended, 0.6 * 65536 / 2, "half of the layers see 4,096 tokens");
}

Test(training_terms, recomputation_and_frozen_bases_cost_what_they_are)
{
    struct training_case c = on_cards(8, SHARD_ZERO3);
    c.gpu = "h100-sxm5-80g";
    c.preset = "llama-3.1-8b";
    c.training.method = METHOD_PRETRAIN;
    c.training.seq_len = 4096;
    c.layout.recompute = RECOMPUTE_NONE;
    double none = speed(c);
    c.layout.recompute = RECOMPUTE_SELECTIVE;
    double selective = speed(c);
    c.layout.recompute = RECOMPUTE_FULL;
    double all = speed(c);
    cr_expect(none / all > 1.18 && none / all < 1.34, "full recomputation costs %.2f", none / all);
    cr_expect(selective < none && selective > all);
    /* LoRA 1.36 to 1.6 times full fine-tuning, by six and four FLOPs a parameter. */
    c.layout.sharding = SHARD_NONE;
    c.training.compile = TRI_YES;
    c.training.method = METHOD_FULL_FINETUNE;
    double trained = speed(c);
    c.training.method = METHOD_LORA;
    cr_expect(speed(c) / trained > 1.25 && speed(c) / trained < 1.65, "%.2f", speed(c) / trained);
}

Test(training_terms, a_quantised_base_has_a_fixed_cost)
{
    /* Published for 14B: three times slower at 256 tokens, 6 % slower at 8,192. */
    struct training_case c = full();
    c.preset = NULL;
    c.model = (struct model){.params = 14.16729088e9,
                             .layers = 40,
                             .hidden = 5120,
                             .heads = 40,
                             .kv_heads = 40,
                             .intermediate = 13696,
                             .vocab = 152064};
    for (int seq = 256; seq <= 8192; seq *= 32) {
        c.training.seq_len = seq;
        c.training.method = METHOD_LORA;
        double lora = speed(c);
        c.training.method = METHOD_QLORA;
        double ratio = lora / speed(c);
        cr_expect(seq == 256 ? ratio > 2.2 && ratio < 3.6 : ratio > 1.02 && ratio < 1.2, "%d tokens: %.2f", seq, ratio);
    }
    /* On slow links the smaller base wins: 2.4 times on two RTX 3090 with short samples. */
    struct training_case p = {.gpu = "rtx-3090-24g",
                              .per_node = 2,
                              .intra = INTRA_PCIE3,
                              .preset = "llama-2-7b",
                              .training = {.method = METHOD_LORA, .seq_len = 2048, .global_batch = 64},
                              .layout = {.sharding = SHARD_ZERO3, .micro_batch = 1, .recompute = RECOMPUTE_FULL}};
    double lora = speed(p);
    p.training.method = METHOD_QLORA;
    cr_expect(speed(p) / lora > 1.7 && speed(p) / lora < 3, "%.2f", speed(p) / lora);
}

Test(training_terms, padding_is_work_without_tokens)
{
    struct training_case c = full();
    c.training.packed = TRI_YES;
    double packed = speed(c);
    c.training.packed = TRI_NO;
    c.training.mean_len = 1024 / 3.4;
    cr_expect_float_eq(packed / speed(c), 3.4, 0.05);
    c.training.mean_len = 0;
    cr_expect_lt(speed(c), packed, "an unstated mean length is assumed, and said");
}

Test(training_terms, narrower_formats_are_faster_where_the_card_has_them)
{
    struct training_case c = {
        .gpu = "h100-sxm5-80g",
        .per_node = 8,
        .preset = "llama-3.1-70b",
        .training = {.method = METHOD_PRETRAIN, .seq_len = 4096, .global_batch = 256, .precision = PREC_BF16},
        .nodes = 8,
        .layout = {.tp = 4, .pp = 4, .vpp = 5, .micro_batch = 1, .recompute = RECOMPUTE_NONE}};
    double wide = speed(c);
    c.training.precision = PREC_FP8;
    double narrow = speed(c);
    cr_expect(narrow / wide > 1.3 && narrow / wide < 1.8, "FP8 gives %.2f (published 1.5 to 1.8)", narrow / wide);
    c.training.precision = PREC_TF32;
    cr_expect_lt(speed(c), wide);
    c.gpu = "a100-sxm4-80g";
    c.training.precision = PREC_FP8;
    double fallen = speed(c);
    c.training.precision = PREC_BF16;
    cr_expect_float_eq(fallen, speed(c), 1e-9 * fallen, "no FP8 units: 16 bits, and a note");
}

Test(training_terms, larger_micro_batches_fill_the_card)
{
    struct training_case c = on_cards(8, SHARD_ZERO3);
    c.preset = "llama-3.2-1b";
    c.training.seq_len = 256;
    c.training.global_batch = 1024;
    double before = 0;
    for (int b = 1; b <= 16; b *= 2) {
        c.layout.micro_batch = b;
        cr_expect_gt(speed(c), before * (b <= 4 ? 1.5 : 1.05), "micro-batch %d", b);
        before = speed(c);
    }
}

Test(training_terms, the_bubble_is_stages_over_micro_batches)
{
    for (int vpp = 1; vpp <= 4; vpp *= 2) {
        for (int m = 8; m <= 128; m *= 4) {
            struct training_case c = {
                .gpu = "h100-sxm5-80g",
                .per_node = 8,
                .preset = "llama-2-7b",
                .training = {.method = METHOD_PRETRAIN, .seq_len = 2048, .global_batch = m, .precision = PREC_BF16},
                .layout = {.tp = 1, .pp = 8, .dp = 1, .vpp = vpp, .micro_batch = 1, .recompute = RECOMPUTE_FULL}};
            double bubble = training_case_run(&c).training.bubble_share;
            double expected = 7.0 / (m * vpp + 7);
            cr_expect_float_eq(bubble, expected, 0.18 * expected, "%d micro-batches in %d chunks: %.3f, expected %.3f",
                               m, vpp, bubble, expected);
        }
    }
}

static struct fabric fabric_of(const char *gpu, int per_node, int nodes, enum intra_link intra, enum inter_link inter,
                               double gbps)
{
    struct model m;
    struct shape s;
    struct training_case c = full();
    c.gpu = gpu;
    c.per_node = per_node;
    c.nodes = nodes;
    c.intra = intra;
    c.inter = inter;
    c.gbps = gbps;
    struct job j = resolved(&c, &m, &s);
    struct fabric f;
    fabric_resolve(&j, &f);
    return f;
}

/* GB/s of one card as published for the kind of link. */
Test(training_terms, every_link_has_its_bandwidth)
{
    const struct {
        const char *gpu;
        int cards, nodes, group, stride;
        enum intra_link intra;
        enum inter_link inter;
        double gbps, low, high;
    } cases[] = {
        {"a100-sxm4-80g", 8, 1, 8, 1, INTRA_NVSWITCH, INTER_NONE, 0, 225, 275},
        {"h100-sxm5-80g", 8, 1, 8, 1, INTRA_NVSWITCH, INTER_NONE, 0, 350, 410},
        {"b200-sxm-180g", 8, 1, 8, 1, INTRA_NVSWITCH, INTER_NONE, 0, 700, 820},
        {"v100-sxm2-32g", 8, 1, 8, 1, INTRA_NVLINK, INTER_NONE, 0, 110, 150},
        {"a100-pcie-80g", 4, 1, 2, 1, INTRA_NVLINK_BRIDGE, INTER_NONE, 0, 225, 275},
        {"a100-pcie-80g", 4, 1, 4, 1, INTRA_NVLINK_BRIDGE, INTER_NONE, 0, 9, 25},
        {"a100-pcie-80g", 4, 1, 4, 1, INTRA_PCIE4, INTER_NONE, 0, 9, 25},
        {"h100-pcie-80g", 4, 1, 4, 1, INTRA_PCIE5, INTER_NONE, 0, 19, 50},
        {"rtx-4090-24g", 2, 1, 2, 1, INTRA_PCIE4, INTER_NONE, 0, 6, 20},
        {"rtx-3090-24g", 2, 1, 2, 1, INTRA_PCIE3, INTER_NONE, 0, 2, 12},
        {"mi300x-192g", 8, 1, 8, 1, INTRA_XGMI, INTER_NONE, 0, 300, 330},
        {"mi300x-192g", 8, 1, 2, 1, INTRA_XGMI, INTER_NONE, 0, 43, 50},
        {"ascend-910b2-64g", 8, 1, 8, 1, INTRA_HCCS, INTER_NONE, 0, 120, 190},
        {"ascend-910b2-64g", 8, 1, 2, 1, INTRA_HCCS, INTER_NONE, 0, 17, 28},
        /* A ring over whole nodes has the way out of a node to itself; one rank of each node shares it with seven. */
        {"h100-sxm5-80g", 8, 2, 16, 1, INTRA_NVSWITCH, INTER_INFINIBAND, 3200, 310, 380},
        {"h100-sxm5-80g", 8, 2, 2, 8, INTRA_NVSWITCH, INTER_INFINIBAND, 3200, 39, 48},
        {"a100-sxm4-80g", 8, 2, 2, 8, INTRA_NVSWITCH, INTER_INFINIBAND, 1600, 19, 24},
        {"a100-sxm4-80g", 8, 2, 2, 8, INTRA_NVSWITCH, INTER_ROCE, 1600, 17, 24},
        {"a100-sxm4-80g", 8, 2, 16, 1, INTRA_NVSWITCH, INTER_ETHERNET, 100, 7.4, 10},
        {"a100-sxm4-80g", 8, 2, 16, 1, INTRA_NVSWITCH, INTER_ETHERNET, 10, 0.74, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fabric f =
            fabric_of(cases[i].gpu, cases[i].cards, cases[i].nodes, cases[i].intra, cases[i].inter, cases[i].gbps);
        double rate = fabric_ring(&f, (struct group){cases[i].group, cases[i].stride}, false) / GIGA;
        cr_expect(rate >= cases[i].low && rate <= cases[i].high, "case %zu, %s: %.2f GB/s", i, cases[i].gpu, rate);
    }
}

/* GeForce by what the card may do, not by how its name begins: the RTX 5000 Ada is a workstation card. */
Test(training_terms, who_goes_through_host_memory_is_a_fact_of_the_card)
{
    static const struct {
        const char *gpu;
        bool through_host, link_mesh, coherent_host;
    } cases[] = {
        {"rtx-4090-24g", true, false, false},      {"rtx-3090-24g", true, false, false},
        {"rtx-5000-ada-32g", false, false, false}, {"a100-sxm4-80g", false, false, false},
        {"mi300x-192g", false, true, false},       {"ascend-910b2-64g", false, true, false},
        {"gh200-96g", false, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gpu *g = catalog_gpu(test_catalog(), cases[i].gpu);
        cr_assert_not_null(g, "%s", cases[i].gpu);
        cr_expect_eq(g->through_host, cases[i].through_host, "%s", g->id);
        cr_expect_eq(g->link_mesh, cases[i].link_mesh, "%s", g->id);
        cr_expect_eq(g->coherent_host, cases[i].coherent_host, "%s", g->id);
    }
}

/* A rack that is one link domain: the catalog says so, whatever the form factor is called. */
Test(training_terms, a_rack_of_one_link_domain_is_a_fact_of_the_card)
{
    struct catalog *c = test_catalog();
    for (size_t i = 0; i < c->n_gpus; i++) {
        const bool rack = strstr(c->gpus[i].form_factor, "NVL72") != NULL;
        cr_expect_eq(c->gpus[i].rack_cards, rack ? 72 : 0, "%s", c->gpus[i].id);
    }
    const struct fabric node = fabric_of("b200-sxm-180g", 4, 4, INTRA_NVSWITCH, INTER_INFINIBAND, 1600),
                        rack = fabric_of("gb200-nvl72-186g", 4, 4, INTRA_NVSWITCH, INTER_INFINIBAND, 1600);
    cr_expect_eq(node.domain, 4);
    cr_expect_eq(rack.domain, 72);
}

Test(training_terms, collectives_move_what_a_ring_moves)
{
    struct fabric f = fabric_of("a100-sxm4-80g", 8, 1, INTRA_NVSWITCH, INTER_NONE, 0);
    for (int n = 2; n <= 8; n *= 2) {
        struct group g = {n, 1};
        double seconds = fabric_gather(&f, g, 1e9, false) - fabric_latency(&f, g);
        cr_expect_float_eq(seconds * fabric_ring(&f, g, false), 1e9 * (n - 1) / n, 1);
    }
    cr_expect_eq(fabric_gather(&f, (struct group){1, 1}, 1e9, false), 0);
    /* A token goes to as many places as it has experts there, once to each. */
    double one = fabric_exchange_seconds(&f, (struct group){8, 1}, 1);
    double eight = fabric_exchange_seconds(&f, (struct group){8, 1}, 8);
    cr_expect(eight > 3 * one && eight < 8 * one, "%.2f", eight / one);
}

/* Sharded weights hide behind compute from so many tokens a card and micro-batch on; far below they do not. */
Test(training_terms, golden_3_4_hiding_rule)
{
    const struct {
        const char *gpu;
        enum inter_link inter;
        double gbps, tokens;
    } clusters[] = {{"h100-sxm5-80g", INTER_INFINIBAND, 3200, 1300},
                    {"a100-sxm4-80g", INTER_INFINIBAND, 1600, 1000},
                    {"a100-sxm4-80g", INTER_INFINIBAND, 400, 4100},
                    {"a100-sxm4-80g", INTER_ETHERNET, 100, 20000}};
    for (size_t i = 0; i < sizeof clusters / sizeof *clusters; i++) {
        double share[2];
        for (int k = 0; k < 2; k++) {
            int seq = (int)(clusters[i].tokens * (k ? 4 : 0.25));
            struct training_case c = {
                .gpu = clusters[i].gpu,
                .per_node = 8,
                .nodes = 4,
                .inter = clusters[i].inter,
                .gbps = clusters[i].gbps,
                .preset = "llama-2-13b",
                .training = {.method = METHOD_PRETRAIN, .seq_len = seq, .global_batch = 32, .precision = PREC_BF16},
                .layout = {.sharding = SHARD_ZERO3, .micro_batch = 1, .recompute = RECOMPUTE_NONE, .dp = 32}};
            share[k] = training_case_run(&c).training.communication_share;
        }
        cr_expect_gt(share[0], 0.4, "cluster %zu at a quarter of the tokens: %.2f", i, share[0]);
        cr_expect_lt(share[1], 0.25, "cluster %zu at four times the tokens: %.2f", i, share[1]);
    }
}

Test(training_terms, experts_travel_between_ranks)
{
    struct training_case c = {
        .gpu = "h100-sxm5-80g",
        .per_node = 8,
        .nodes = 4,
        .inter = INTER_INFINIBAND,
        .gbps = 3200,
        .preset = "qwen3-30b-a3b",
        .training = {.method = METHOD_PRETRAIN, .seq_len = 4096, .global_batch = 256, .precision = PREC_BF16},
        .layout = {.tp = 1, .pp = 1, .ep = 32, .micro_batch = 1, .recompute = RECOMPUTE_NONE}};
    double plain = speed(c);
    c.layout.ep_dispatch = EP_DISPATCH_DEEPEP;
    cr_expect_gt(speed(c), plain, "a dispatch that overlaps");
    c.layout.ep_dispatch = EP_DISPATCH_UNSTATED;
    c.gbps = 400;
    cr_expect_lt(speed(c), 0.8 * plain, "a thin network");
}

Test(training_terms, collectives_that_wait_and_collectives_that_hide)
{
    /* Tensor parallelism stands between products; with pipelined overlap less of it. */
    struct training_case c = {
        .gpu = "h100-sxm5-80g",
        .per_node = 8,
        .preset = "llama-3.1-70b",
        .training = {.method = METHOD_PRETRAIN, .seq_len = 4096, .global_batch = 64, .precision = PREC_BF16},
        .layout = {.tp = 8, .pp = 1, .micro_batch = 1, .recompute = RECOMPUTE_NONE}};
    double waits = training_case_run(&c).training.communication_share;
    c.layout.async_tp = TRI_YES;
    double overlapped = training_case_run(&c).training.communication_share;
    cr_expect(waits > 0.05 && overlapped < waits, "%.3f, overlapped %.3f", waits, overlapped);
    /* Accumulation spreads the exchange of gradients over more work; shard groups keep gathers inside the node. */
    struct training_case d = {
        .gpu = "a100-sxm4-80g",
        .per_node = 8,
        .nodes = 8,
        .inter = INTER_ETHERNET,
        .gbps = 25,
        .preset = "llama-2-7b",
        .training = {.method = METHOD_PRETRAIN, .seq_len = 2048, .global_batch = 128, .precision = PREC_BF16},
        .layout = {.dp = 64, .sharding = SHARD_ZERO3, .micro_batch = 1, .recompute = RECOMPUTE_FULL}};
    double global = speed(d);
    d.layout.shard_group = 8;
    cr_expect_gt(speed(d), 1.5 * global, "sharded inside the node");
    d.layout.shard_group = 0;
    d.layout.sharding = SHARD_ZERO1;
    double few = training_case_run(&d).training.communication_share;
    d.training.global_batch = 2048;
    cr_expect_lt(training_case_run(&d).training.communication_share, 0.55 * few, "%.3f of %.3f",
                 training_case_run(&d).training.communication_share, few);
}
