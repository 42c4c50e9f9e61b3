/* test_model.c — parameter counts, cache bytes, and models known only in part. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test_catalog.h"

static struct model row(const char *id)
{
    const struct model *m = catalog_model(test_catalog(), id);
    cr_assert_not_null(m, "no model '%s'", id);
    return *m;
}

/* What the model table does not carry: how many norms a layer has, which biases, learned positions. */
static void family_details(struct model *m)
{
    const char *id = m->id;
    if (strncmp(id, "gemma-2-", 8) == 0 || strncmp(id, "gemma-3", 7) == 0)
        m->norms_per_layer = 4;
    if (strncmp(id, "falcon", 6) == 0)
        m->norm_bias = TRI_YES;
    if (strcmp(id, "falcon-7b") == 0)
        m->norms_per_layer = 1;
    if (strncmp(id, "bloom", 5) == 0 || strcmp(id, "gpt-neox-20b") == 0 || strncmp(id, "opt", 3) == 0)
        m->norm_bias = m->linear_bias = TRI_YES;
    if (strncmp(id, "opt", 3) == 0)
        m->learned_positions = 2050;
    if (strcmp(id, "phi-2") == 0) {
        m->norms_per_layer = 1;
        m->norm_bias = m->linear_bias = TRI_YES;
    }
    if (strcmp(id, "bge-large-en-v1.5") == 0) {
        m->norm_bias = m->linear_bias = TRI_YES;
        m->learned_positions = 512 + 2;
    }
}

Test(model, parameter_counts_are_exact)
{
    const struct catalog *c = test_catalog();
    int exact = 0, checked = 0;
    for (size_t i = 0; i < c->n_models; i++) {
        struct model m = c->models[i];
        if (m.layers == 0 || m.vocab == 0 || m.intermediate == 0 || m.kv_heads + m.kv_lora_rank == 0)
            continue;
        /* Rows with towers, state spaces or sizes from a card say so; such a reason must not be stale either. */
        bool excused = m.uncounted[0] != '\0';
        family_details(&m);
        double counted = model_count_params(&m);
        if (excused) {
            cr_expect(counted != m.params, "%s: the dimensions give its size, no reason is needed", m.id);
            continue;
        }
        checked++;
        exact += counted == m.params;
        cr_expect(fabs(counted / m.params - 1) < 3e-4, "%s: counted %.0f, table %.0f", m.id, counted, m.params);
    }
    cr_expect_geq(checked, 75);
    cr_expect_geq(exact, checked - 9, "only %d of %d to the digit", exact, checked);
}

Test(model, golden_4_1)
{
    const struct {
        const char *id;
        double params;
    } counts[] = {{"llama-3.1-8b", 8030261248.0},
                  {"llama-2-7b", 6738415616.0},
                  {"llama-3.1-70b", 70553706496.0},
                  {"mistral-7b-v0.1", 7241732096.0}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct model m = row(counts[i].id);
        cr_expect_eq(model_count_params(&m), counts[i].params, "%s", counts[i].id);
    }
    struct model m = row("qwen3-235b-a22b");
    cr_expect_float_eq(model_count_active(&m) / 1e9, 22.19, 0.005);
    m = row("mixtral-8x7b");
    cr_expect_float_eq(model_count_active(&m) / 1e9, 12.88, 0.005);
    m = row("deepseek-v3");
    cr_expect_float_eq(model_count_params(&m) / 1e9, 671.03, 0.005);
    const struct {
        const char *id;
        double bytes;
    } caches[] = {{"llama-2-7b", 524288},      {"llama-3.1-8b", 131072}, {"llama-3.1-70b", 327680},
                  {"llama-3.1-405b", 516096},  {"qwen2.5-7b", 57344},    {"qwen2.5-72b", 327680},
                  {"mistral-7b-v0.1", 131072}, {"deepseek-v3", 70272},   {"mistral-small-24b", 163840}};
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        m = row(caches[i].id);
        cr_expect_eq(model_kv_bytes_per_token(&m, 16), caches[i].bytes, "%s", caches[i].id);
    }
}

Test(model, hybrid_layers_keep_no_growing_cache)
{
    struct model m = row("qwen3.5-397b-a17b");
    cr_expect_eq(model_kv_bytes_per_token(&m, 16), 2.0 * m.full_attention_layers * m.kv_heads * m.head_dim * 2);
    m = row("bge-large-en-v1.5");
    cr_expect_eq(model_kv_bytes_per_token(&m, 16), 0);
}

Test(model, size_alone_is_enough)
{
    const double sizes[] = {1e6, 3e7, 1.25e8, 1.1e9, 8e9, 7e10, 4e11, 1e14};
    struct fault_list *f = calloc(1, sizeof *f);
    struct arena *a = arena_new(1 << 20);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct note_list notes;
        note_list_init(&notes, a);
        struct model m = {.params = sizes[i]};
        model_complete(&m, "/m", &notes, f);
        cr_expect_eq(f->n, 0);
        cr_expect(m.layers > 0 && m.hidden > 0 && m.heads > 0 && m.kv_heads > 0 && m.head_dim > 0 &&
                      m.intermediate > 0 && m.vocab > 0,
                  "%g", sizes[i]);
        cr_expect_eq(m.heads % m.kv_heads, 0);
        cr_expect(m.size_only && !m.architecture_known);
        cr_expect_eq(m.params, sizes[i], "a stated size is kept");
        cr_expect(fabs(log(model_count_params(&m) / sizes[i])) < 0.35, "%g counted as %g", sizes[i],
                  model_count_params(&m));
        cr_expect_not_null(note_find(&notes, "model_shape_assumed"));
    }
    struct model eight = {.params = 8e9};
    model_complete(&eight, "/m", NULL, f);
    cr_expect(eight.hidden >= 3800 && eight.hidden <= 4700 && eight.layers >= 30 && eight.layers <= 38,
              "8B became %d x %d", eight.layers, eight.hidden);
    arena_free(a);
    free(f);
}

Test(model, what_is_stated_decides_what_is_not)
{
    struct fault_list *f = calloc(1, sizeof *f);
    struct model m = {.params = 7.3e9, .layers = 32, .hidden = 4096, .heads = 32, .kv_heads = 32, .vocab = 103168};
    model_complete(&m, "/m", NULL, f);
    cr_expect(abs(m.intermediate - 11008) < 160, "FFN width %d", m.intermediate);
    m = (struct model){.params = 6.6589e9,
                       .layers = 32,
                       .hidden = 4096,
                       .heads = 32,
                       .kv_heads = 32,
                       .vocab = 50368,
                       .ffn = FFN_PLAIN};
    model_complete(&m, "/m", NULL, f);
    cr_expect_eq(m.intermediate, 16384);
    cr_expect_eq(m.tied_embeddings, TRI_YES, "MPT-7B shares its matrix: the size says so");
    m = (struct model){.params = 3.05e10,
                       .active_params = 3.3e9,
                       .layers = 48,
                       .hidden = 2048,
                       .heads = 32,
                       .kv_heads = 4,
                       .vocab = 151936,
                       .head_dim = 128};
    model_complete(&m, "/m", NULL, f);
    cr_expect(m.experts > 100 && m.experts < 160 && m.intermediate > 600 && m.intermediate < 950, "%d experts of %d",
              m.experts, m.intermediate);
    m = (struct model){.layers = 24, .hidden = 1024, .heads = 16};
    model_complete(&m, "/m", NULL, f);
    cr_expect_eq(m.params, model_count_params(&m));
    cr_expect_eq(m.kv_heads, 16, "heads stated alone are all key-value heads");
    cr_expect_eq(f->n, 0);
    free(f);
}

Test(model, a_size_that_contradicts_its_dimensions_is_told)
{
    struct arena *a = arena_new(1 << 20);
    struct fault_list *f = calloc(1, sizeof *f);
    struct note_list notes;
    note_list_init(&notes, a);
    struct model m = row("llama-3.1-8b");
    m.params *= 1.05;
    model_complete(&m, "/m", &notes, f);
    cr_expect_not_null(note_find(&notes, "model_size_differs"));
    note_list_init(&notes, a);
    m = row("llama-3.1-8b");
    m.params *= 1.02;
    model_complete(&m, "/m", &notes, f);
    cr_expect_null(note_find(&notes, "model_size_differs"));
    arena_free(a);
    free(f);
}

Test(model, impossible_pairs_are_refused_by_name)
{
    const struct {
        struct model m;
        const char *pointer, *code;
    } cases[] = {
        {{.vocab = 32000}, "/m", "model_unknown"},
        {{.params = 7e9, .heads = 32, .kv_heads = 5}, "/m/kv_heads", "kv_heads_not_dividing"},
        {{.params = 7e9, .active_params = 8e9}, "/m/active_params_b", "active_above_total"},
        {{.params = 7e9, .experts = 8, .experts_per_token = 9}, "/m/experts_per_token", "topk_above_experts"},
        {{.params = 7e9, .layers = 4, .dense_layers = 5}, "/m/dense_layers", "dense_above_layers"},
        {{.params = 7e9, .layers = 4, .full_attention_layers = 5},
         "/m/full_attention_layers",
         "full_attention_above_layers"},
    };
    struct fault_list *f = calloc(1, sizeof *f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model m = cases[i].m;
        f->n = 0;
        model_complete(&m, "/m", NULL, f);
        cr_assert_eq(f->n, 1, "case %zu", i);
        cr_expect_str_eq(f->items[0].pointer, cases[i].pointer);
        cr_expect_str_eq(f->items[0].code, cases[i].code);
    }
    free(f);
}
