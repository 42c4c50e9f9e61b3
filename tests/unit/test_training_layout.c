/* test_training_layout.c — the layout search: what it may choose, what it must respect, what it costs. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "planner/training/search.h"
#include "tests/support/training_case.h"

static struct training_case pretrain(const char *preset, int nodes)
{
    return (struct training_case){
        .gpu = "h100-sxm5-80g",
        .per_node = 8,
        .nodes = nodes,
        .preset = preset,
        .training = {.method = METHOD_PRETRAIN, .seq_len = 4096, .global_batch = 1024, .precision = PREC_BF16}};
}

static int cards(const struct layout *l)
{
    return l->tp * l->pp * l->dp * l->cp;
}

Test(training_layout, what_is_found_uses_every_card_and_fits)
{
    const char *presets[] = {"llama-3.2-1b",   "llama-3.1-8b", "llama-3.1-70b",
                             "llama-3.1-405b", "mixtral-8x7b", "qwen3-235b-a22b"};
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        for (int nodes = 8; nodes <= 64; nodes *= 8) {
            struct training_case c = pretrain(presets[i], nodes);
            struct estimate e = training_case_run(&c);
            cr_expect_eq(cards(&e.layout), 8 * nodes, "%s on %d nodes", presets[i], nodes);
            cr_expect_leq(e.layout.tp, 8, "%s: no tensor parallelism across nodes", presets[i]);
            if (i < 3 || nodes == 64)
                cr_expect_leq(e.memory.total_gb, e.memory.usable_gb, "%s on %d nodes", presets[i], nodes);
        }
    }
}

Test(training_layout, stated_members_are_kept)
{
    struct training_case c = pretrain("llama-3.1-70b", 8);
    c.layout = (struct layout){.tp = 4,
                               .pp = 4,
                               .vpp = 5,
                               .micro_batch = 2,
                               .sharding = SHARD_ZERO1,
                               .recompute = RECOMPUTE_FULL,
                               .flash_attention = TRI_NO,
                               .shard_group = 2,
                               .offload = OFFLOAD_NONE,
                               .grad_sync = GRAD_SYNC_LAST};
    struct layout l = training_case_run(&c).layout;
    cr_expect(l.tp == 4 && l.pp == 4 && l.vpp == 5 && l.dp == 4 && l.micro_batch == 2 && l.sharding == SHARD_ZERO1 &&
              l.recompute == RECOMPUTE_FULL && l.flash_attention == TRI_NO && l.shard_group == 2 &&
              l.offload == OFFLOAD_NONE && l.grad_sync == GRAD_SYNC_LAST);
}

Test(training_layout, the_search_is_no_worse_than_any_layout_named)
{
    struct training_case c = pretrain("llama-3.1-70b", 4);
    double found = training_case_run(&c).training.tokens_per_s;
    const int tensor[] = {1, 2, 4, 8};
    for (size_t i = 0; i < 4; i++) {
        for (int pp = 1; pp <= 4; pp *= 2) {
            struct training_case n = c;
            n.layout = (struct layout){.offload = OFFLOAD_NONE,
                                       .tp = tensor[i],
                                       .pp = pp,
                                       .sharding = pp > 1 ? SHARD_ZERO1 : SHARD_ZERO3,
                                       .vpp = 1};
            struct estimate e = training_case_run(&n);
            if (e.memory.total_gb <= 0.94 * e.memory.usable_gb && e.layout.tp == tensor[i] && e.layout.pp == pp)
                cr_expect_leq(e.training.tokens_per_s, found * 1.001, "tp %d pp %d: %.0f against %.0f", tensor[i], pp,
                              e.training.tokens_per_s, found);
        }
    }
}

Test(training_layout, same_request_same_answer)
{
    struct training_case c = pretrain("mixtral-8x7b", 4);
    struct estimate a = training_case_run(&c), b = training_case_run(&c);
    cr_expect_eq(memcmp(&a.training, &b.training, sizeof a.training), 0);
    cr_expect_eq(memcmp(&a.layout, &b.layout, sizeof a.layout), 0);
}

Test(training_layout, offload_only_when_nothing_else_fits)
{
    struct training_case c = {.gpu = "rtx-4090-24g",
                              .per_node = 1,
                              .preset = "llama-2-7b",
                              .training = {.method = METHOD_FULL_FINETUNE, .seq_len = 1024, .global_batch = 8}};
    struct estimate e = training_case_run(&c);
    cr_expect_neq(e.layout.offload, OFFLOAD_NONE, "7B full on 24 GB");
    cr_expect_gt(e.training.host_memory_gb, 50);
    c.gpu = "h100-sxm5-80g";
    c.per_node = 8;
    cr_expect_eq(training_case_run(&c).layout.offload, OFFLOAD_NONE);
}

Test(training_layout, runner_up_lost_for_a_reason)
{
    struct training_case c = pretrain("llama-3.1-70b", 8);
    struct arena *a = arena_new(1 << 20);
    struct estimate e;
    struct err err;
    cr_assert_eq(training_case_try(&c, a, &e, &err), 0);
    cr_assert(e.has_runner_up);
    cr_expect_neq(memcmp(&e.layout, &e.runner_up, sizeof e.layout), 0);
    cr_expect_eq(strncmp(e.runner_up_reason.code, "layout_runner_up_", 17), 0);
    cr_expect_gt(e.runner_up_reason.n_args, 0);
    arena_free(a);
}

Test(training_layout, what_cannot_fit_is_answered_with_its_term)
{
    struct training_case c = {.gpu = "rtx-4090-24g",
                              .per_node = 1,
                              .preset = "llama-3.1-405b",
                              .training = {.method = METHOD_PRETRAIN, .seq_len = 4096, .global_batch = 8}};
    struct arena *a = arena_new(1 << 20);
    struct estimate e;
    struct err err;
    cr_assert_eq(training_case_try(&c, a, &e, &err), 0);
    cr_expect_eq(e.fits, FITS_NO);
    const struct note *n = note_find(&e.warnings, "training_does_not_fit");
    cr_assert_not_null(n);
    cr_expect_float_eq(n->short_by, e.memory.total_gb - e.memory.usable_gb, 1e-9);
    cr_expect_gt(e.training.tokens_per_s, 0);
    arena_free(a);
}

/* The caller fixes one member, the search finds the rest. */
Test(training_layout, any_member_alone_is_kept)
{
    const struct layout wishes[] = {
        {.tp = 4},           {.pp = 4},
        {.dp = 16},          {.cp = 2},
        {.micro_batch = 4},  {.sharding = SHARD_ZERO3},
        {.vpp = 2, .pp = 2}, {.recompute = RECOMPUTE_FULL},
        {.ep = 8},           {.offload = OFFLOAD_OPTIMIZER},
    };
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        const struct layout *w = &wishes[i];
        struct training_case c = pretrain(w->ep > 0 ? "mixtral-8x7b" : "llama-3.1-70b", 8);
        c.layout = *w;
        struct estimate e = training_case_run(&c);
        const struct layout *l = &e.layout;
        cr_expect_eq(cards(l), 64, "wish %zu: %d cards", i, cards(l));
        cr_expect((w->tp == 0 || l->tp == w->tp) && (w->pp == 0 || l->pp == w->pp) && (w->dp == 0 || l->dp == w->dp) &&
                      (w->cp == 0 || l->cp == w->cp) && (w->ep == 0 || l->ep == w->ep) &&
                      (w->vpp == 0 || l->vpp == w->vpp),
                  "wish %zu: tp %d pp %d vpp %d dp %d cp %d ep %d", i, l->tp, l->pp, l->vpp, l->dp, l->cp, l->ep);
        cr_expect(w->micro_batch == 0 || l->micro_batch == w->micro_batch, "wish %zu", i);
        cr_expect(w->sharding == SHARD_UNSTATED || l->sharding == w->sharding, "wish %zu", i);
        cr_expect(w->recompute == RECOMPUTE_UNSTATED || l->recompute == w->recompute, "wish %zu", i);
        cr_expect(w->offload == OFFLOAD_UNSTATED || l->offload == w->offload, "wish %zu", i);
        cr_expect(e.memory.total_gb <= e.memory.usable_gb, "wish %zu: %.0f GB", i, e.memory.total_gb);
    }
}

static bool warned(const struct training_case *c, const char *code, struct layout *ret)
{
    struct arena *a = arena_new(1 << 20);
    struct estimate e;
    struct err err = {0};
    cr_assert_eq(training_case_try(c, a, &e, &err), 0, "%s", err.detail);
    *ret = e.layout;
    bool said = note_find(&e.warnings, code) != NULL;
    arena_free(a);
    return said;
}

/* Cards without a fast link, one to a node: nothing but tensor parallelism across nodes holds layers this wide, and it
 * is said; wherever anything else fits, it is never taken. */
Test(training_layout, tensor_parallelism_crosses_nodes_only_when_nothing_else_fits)
{
    struct training_case c = {
        .gpu = "rtx-4090-24g",
        .per_node = 1,
        .nodes = 32,
        .inter = INTER_INFINIBAND,
        .gbps = 400,
        .model = {.layers = 2, .hidden = 32768, .heads = 256, .kv_heads = 256, .intermediate = 131072, .vocab = 1024},
        .training = {.method = METHOD_LORA, .seq_len = 2048, .global_batch = 1, .precision = PREC_BF16},
        .layout = {.offload = OFFLOAD_NONE}};
    struct layout l;
    cr_expect(warned(&c, "training_tensor_across_nodes", &l));
    cr_expect_gt(l.tp, 1);
    const char *presets[] = {"llama-3.1-8b", "llama-3.1-70b", "mixtral-8x7b", "llama-3.1-405b", "deepseek-v3"};
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        for (int per_node = 1; per_node <= 8; per_node *= 2) {
            struct training_case n = pretrain(presets[i], 512 / per_node);
            n.per_node = per_node;
            cr_expect(!warned(&n, "training_tensor_across_nodes", &l), "%s", presets[i]);
            cr_expect_leq(l.tp, per_node, "%s on nodes of %d", presets[i], per_node);
        }
    }
}

static struct training_case adapters(const char *preset, enum method method, const char *gpu, int per_node, int nodes)
{
    return (struct training_case){
        .gpu = gpu,
        .per_node = per_node,
        .nodes = nodes,
        .preset = preset,
        .inter = nodes > 1 ? INTER_INFINIBAND : INTER_NONE,
        .gbps = nodes > 1 ? 400 : 0,
        .training = {.method = method, .lora_rank = 16, .seq_len = 2048, .precision = PREC_BF16}};
}

/* Adapters are trained in copies or on sharded states, as their frameworks do, as long as any of that fits; a degree
 * that is named is kept, and where neither copies nor shards nor the host's memory do, stages and tensor ranks may. */
Test(training_layout, adapters_are_trained_by_data_parallelism)
{
    static const struct {
        const char *preset;
        enum method method;
        const char *gpu;
        int per_node, nodes;
    } cases[] = {
        {"qwen2.5-7b", METHOD_LORA, "rtx-4090-24g", 4, 1},     {"llama-3.1-70b", METHOD_QLORA, "rtx-4090-24g", 8, 1},
        {"llama-3.1-70b", METHOD_LORA, "a100-sxm4-80g", 8, 2}, {"qwen2.5-72b", METHOD_LORA, "h100-sxm5-80g", 8, 1},
        {"llama-3.1-8b", METHOD_QLORA, "v100-sxm2-32g", 8, 1}, {"mixtral-8x7b", METHOD_LORA, "a100-sxm4-80g", 8, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int prudent = 0; prudent < 2; prudent++) {
            struct training_case c =
                adapters(cases[i].preset, cases[i].method, cases[i].gpu, cases[i].per_node, cases[i].nodes);
            c.prudent = prudent == 1;
            const struct estimate e = training_case_run(&c);
            const struct layout *l = &e.layout;
            cr_expect(l->tp == 1 && l->pp == 1 && l->cp == 1 && l->dp == c.per_node * c.nodes,
                      "%s on %s: tp %d pp %d cp %d dp %d", c.preset, c.gpu, l->tp, l->pp, l->cp, l->dp);
            cr_expect_leq(e.memory.total_gb, e.memory.usable_gb, "%s on %s", c.preset, c.gpu);
        }
    }
    struct training_case named = adapters("qwen2.5-7b", METHOD_LORA, "a100-sxm4-80g", 8, 1);
    named.layout = (struct layout){.tp = 2, .pp = 2};
    const struct layout kept = training_case_run(&named).layout;
    cr_expect(kept.tp == 2 && kept.pp == 2 && kept.dp == 2);
    /* One sample a step: copies have nothing to do. */
    struct training_case lone = adapters("llama-3.1-70b", METHOD_LORA, "a100-sxm4-80g", 8, 1);
    lone.training.global_batch = 1;
    const struct layout cut = training_case_run(&lone).layout;
    cr_expect(cut.dp == 1 && cut.tp * cut.pp == 8, "tp %d pp %d dp %d", cut.tp, cut.pp, cut.dp);
}

/* Bounded work, whatever is left open and however many cards there are. */
Test(training_layout, the_search_stays_within_its_budget)
{
    const char *presets[] = {"llama-3.1-405b", "deepseek-v3", "qwen3-235b-a22b"};
    for (size_t i = 0; i < 3; i++) {
        struct model m = *catalog_model(test_catalog(), presets[i]);
        struct fault_list *faults = calloc(1, sizeof *faults);
        model_complete(&m, "/workload/model", NULL, faults);
        free(faults);
        struct training t = {.method = METHOD_PRETRAIN, .seq_len = 131072, .precision = PREC_BF16};
        struct shape s = {.gpu = catalog_gpu(test_catalog(), "h100-sxm5-80g"), .gpus_per_node = 8, .nodes = 1920};
        struct training_request q = {.model = &m, .training = &t, .shape = &s};
        struct job j;
        struct fabric f;
        struct found found;
        struct err err = {0};
        cr_assert_eq(job_resolve(training_case_constants(), &q, NULL, &j, &err), 0);
        fabric_resolve(&j, &f);
        cr_assert_eq(search_layout(&j, &f, NULL, &found, &err), 0, "%s", err.detail);
        cr_expect(found.evaluated > 100 && found.evaluated <= 3200, "%s: %d", presets[i], found.evaluated);
    }
}

/* Against every even layout without offload that names all its members, on fast and on slow networks. */
static double best_named(const struct training_case *open)
{
    const int n = open->per_node * open->nodes;
    const struct model *m = catalog_model(test_catalog(), open->preset);
    double best = 0;
    for (int tp = 1; tp <= 8; tp *= 2)
        for (int pp = 1; pp <= (m->params < 1e10 ? 1 : 8) && tp * pp <= n; pp *= 2)
            for (int vpp = 1; vpp <= (pp > 1 ? 4 : 1); vpp *= 2)
                for (int kind = SHARD_NONE; kind <= SHARD_ZERO3; kind++)
                    for (int b = 1; b <= 8; b *= 2) {
                        if (kind == SHARD_ZERO2 || (kind == SHARD_ZERO3 && pp > 1) || m->layers % (pp * vpp) != 0 ||
                            b * (n / tp / pp) > open->training.global_batch)
                            continue;
                        struct training_case c = *open;
                        c.layout = (struct layout){.tp = tp,
                                                   .pp = pp,
                                                   .vpp = pp > 1 ? vpp : 0,
                                                   .dp = n / tp / pp,
                                                   .sharding = (enum sharding)kind,
                                                   .offload = OFFLOAD_NONE,
                                                   .micro_batch = b};
                        struct estimate e = training_case_run(&c);
                        if (e.memory.total_gb <= 0.94 * e.memory.usable_gb && e.layout.tp == tp && e.layout.pp == pp)
                            best = fmax(best, e.training.tokens_per_s);
                    }
    return best;
}

Test(training_layout, the_search_finds_the_best_of_all_even_layouts, .timeout = 60)
{
    const char *presets[] = {"llama-3.2-1b", "llama-3.1-8b", "llama-2-13b", "llama-3.1-70b"};
    const char *gpus[] = {"h100-sxm5-80g", "a100-pcie-40g", "rtx-4090-24g"};
    int compared = 0;
    for (size_t p = 0; p < 4; p++)
        for (size_t g = 0; g < 3; g++)
            for (int nodes = 1; nodes <= 4; nodes *= 4)
                for (int slow = 0; slow <= (nodes > 1); slow++) {
                    struct training_case c = pretrain(presets[p], nodes);
                    c.gpu = gpus[g];
                    c.training.global_batch = 128;
                    c.inter = nodes == 1 ? INTER_NONE : slow ? INTER_ETHERNET : INTER_INFINIBAND;
                    c.gbps = nodes == 1 ? 0 : slow ? 25 : 1600;
                    const double found = training_case_run(&c).training.tokens_per_s, best = best_named(&c);
                    compared += best > 0;
                    cr_expect_leq(best, found * 1.01, "%s on %d x %s%s: %.0f found, %.0f named", presets[p], 8 * nodes,
                                  gpus[g], slow ? " over slow Ethernet" : "", found, best);
                }
    cr_expect_gt(compared, 20);
}
