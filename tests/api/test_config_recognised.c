/* test_config_recognised.c — which pasted configuration is which published model, what is taken from the presets for
 * it, what is said of that, and which is a new model that has to be counted. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/decode.h"
#include "api/model_config.h"
#include "tests/api/client.h"
#include "tests/support/test_catalog.h"

struct reading {
    struct arena *arena;
    struct model model;
    struct note_list notes;
    struct fault_list faults;
};

static struct reading *read_config(const struct catalog *catalog, json_t *value)
{
    struct reading *r = calloc(1, sizeof *r);
    api_init();
    struct decode d;
    r->arena = arena_new(1u << 20);
    note_list_init(&r->notes, r->arena);
    decode_init(&d, catalog, r->arena, LANG_EN, 0, &r->faults);
    d.notes = &r->notes;
    model_config_decode(&d, value, "/workload/model/config", &r->model);
    return r;
}

/* The shipped catalog without its presets: what a file counts to by itself. */
static const struct catalog *without_presets(void)
{
    static struct catalog bare;
    bare = *test_catalog();
    bare.n_models = 0;
    return &bare;
}

static struct reading *read_text(const char *text)
{
    json_t *v = json_loads(text, 0, NULL);
    struct reading *r = read_config(test_catalog(), v);
    cr_assert_eq(r->faults.n, 0u, "%s: %s", text, r->faults.items[0].detail);
    json_decref(v);
    return r;
}

static void done(struct reading *r)
{
    arena_free(r->arena);
    free(r);
}

static double off(double has, json_t *want)
{
    return json_is_number(want) ? fabs(has / json_number_value(want) - 1) : 0;
}

/* 320 published models: the count from the file alone and what the presets know, both within 2 % of what was
 * published. A count that cannot be has its reason in the file. */
Test(recognised, published_models_within_two_percent, .timeout = 60)
{
    char *lines = read_file("tests/data/configs/published.jsonl", NULL), *save = NULL;
    size_t n = 0, known = 0, uncounted = 0;
    cr_assert_not_null(lines);
    api_init();
    for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save), n++) {
        json_t *row = json_loads(line, 0, NULL), *config = json_object_get(row, "config");
        const char *name = json_string_value(json_object_get(row, "name"));
        json_t *total = json_object_get(row, "params_total"), *active = json_object_get(row, "params_active");
        cr_assert(name && json_is_number(total) && json_is_object(config), "line %zu", n + 1);
        struct reading *counted = read_config(without_presets(), config), *with = read_config(test_catalog(), config);
        cr_assert_eq(counted->faults.n, 0u, "%s: %s", name, counted->faults.items[0].detail);
        bool excused = json_object_get(row, "counted_off") != NULL;
        cr_expect_eq(off(counted->model.params, total) > 0.02, excused, "%s: counted %.5g of %.5g", name,
                     counted->model.params, json_number_value(total));
        cr_expect_leq(off(with->model.params, total), 0.02, "%s: %.5g of %.5g", name, with->model.params,
                      json_number_value(total));
        cr_expect_leq(off(with->model.active_params, active), 0.02, "%s: active %.5g of %.5g", name,
                      with->model.active_params, json_number_value(active));
        known += note_find(&with->notes, "config_recognised") != NULL;
        uncounted += excused;
        done(counted);
        done(with);
        json_decref(row);
    }
    free(lines);
    cr_expect_geq(n, 320u);
    cr_expect_geq(known, n - 6, "only %zu of %zu are recognised", known, n);
    cr_expect_leq(uncounted, 3u);
}

/* A depth that nobody published is a new model, however well its width is known. */
Test(recognised, another_depth_of_a_family_of_several_sizes_is_counted)
{
    static const struct {
        const char *config;
        double params;
    } cases[] = {
        {"{\"model_type\":\"llama\",\"hidden_size\":4096,\"num_hidden_layers\":48,\"num_attention_heads\":32,"
         "\"num_key_value_heads\":8,\"intermediate_size\":14336,\"vocab_size\":32000}",
         10.73e9},
        {"{\"architectures\":[\"LlamaForCausalLM\"],\"hidden_size\":4096,\"num_hidden_layers\":48,"
         "\"num_attention_heads\":32,\"intermediate_size\":14336,\"vocab_size\":32000}", /* the grouping dropped */
         10.73e9},
        {"{\"model_type\":\"mistral\",\"hidden_size\":4096,\"num_hidden_layers\":16,\"num_attention_heads\":32,"
         "\"num_key_value_heads\":8,\"intermediate_size\":14336,\"vocab_size\":32000}",
         3.75e9},
        {"{\"model_type\":\"qwen2\",\"hidden_size\":3584,\"num_hidden_layers\":36,\"num_attention_heads\":28,"
         "\"num_key_value_heads\":4,\"intermediate_size\":18944,\"vocab_size\":152064,\"tie_word_embeddings\":false}",
         9.48e9},
        {"{\"model_type\":\"mixtral\",\"hidden_size\":4096,\"num_hidden_layers\":40,\"num_attention_heads\":32,"
         "\"num_key_value_heads\":8,\"intermediate_size\":14336,\"vocab_size\":32000,\"num_local_experts\":8,"
         "\"num_experts_per_tok\":2}",
         58.3e9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reading *r = read_text(cases[i].config);
        cr_expect_leq(fabs(r->model.params / cases[i].params - 1), 0.005, "%s: %.5g", cases[i].config, r->model.params);
        cr_expect_null(note_find(&r->notes, "config_recognised"));
        cr_expect_null(note_find(&r->notes, "config_recognised_unlike"));
        cr_expect_eq(r->model.kv_heads, i == 3 ? 4 : 8);
        cr_expect_eq(note_find(&r->notes, "config_gaps_by_family") != NULL, i == 1, "%s", cases[i].config);
        done(r);
    }
}

#define ONLY_MIXTURE(layers, kv, experts)                                                                              \
    "{\"model_type\":\"dbrx\",\"d_model\":6144,\"n_heads\":48,\"n_layers\":" #layers ",\"vocab_size\":100352,"         \
    "\"attn_config\":{\"kv_n_heads\":" #kv "},\"ffn_config\":{\"ffn_hidden_size\":10752,\"moe_num_experts\":" #experts \
    ",\"moe_top_k\":4}}"

/* The only mixture of its family is known by width, heads and experts: its published size counts, the stated depth
 * stays, and both figures are told. A cut-down one, or one with other experts, is counted. */
Test(recognised, only_mixture_of_its_family_keeps_its_published_size)
{
    struct reading *r = read_text(ONLY_MIXTURE(46, 12, 16));
    const struct model *published = catalog_model(test_catalog(), "dbrx");
    cr_assert_not_null(published);
    cr_expect_eq(r->model.params, published->params);
    cr_expect_eq(r->model.active_params, published->active_params);
    cr_expect(r->model.layers == 46 && r->model.kv_heads == 12);
    cr_expect_not_null(note_find(&r->notes, "config_recognised_unlike"));
    const struct note *both = note_find(&r->notes, "config_count_differs");
    cr_assert_not_null(both);
    cr_expect(both->n_args == 4 && both->args[1].number > 145 && fabs(both->args[2].number - 131.6) < 0.1);
    done(r);
    const char *others[] = {ONLY_MIXTURE(4, 8, 16), ONLY_MIXTURE(60, 8, 16), ONLY_MIXTURE(40, 8, 8)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        r = read_text(others[i]);
        cr_expect_null(note_find(&r->notes, "config_recognised_unlike"), "%s", others[i]);
        cr_expect_gt(fabs(r->model.params / published->params - 1), 0.1, "%s", others[i]);
        done(r);
    }
}

static const char *fact(const struct reading *r, const char *code)
{
    const struct note *n = note_find(&r->notes, code);
    return n ? n->args[0].text : "";
}

/* What an extract drops comes from the model it agrees with, and is named. */
Test(recognised, gaps_are_filled_from_the_published_model_and_named)
{
    struct reading *r = read_text("{\"architectures\":[\"LlamaForCausalLM\"],\"hidden_size\":8192,"
                                  "\"intermediate_size\":28672,\"num_attention_heads\":64,\"num_hidden_layers\":80,"
                                  "\"vocab_size\":32000}");
    cr_expect(r->model.kv_heads == 8 && r->model.params == 68976648192.0);
    cr_expect_str_eq(fact(r, "config_gaps_filled"), "num_key_value_heads 8");
    cr_expect_str_eq(r->model.name, "Llama-2-70B");
    done(r);
    r = read_text("{\"architectures\":[\"MixtralForCausalLM\"],\"hidden_size\":4096,\"intermediate_size\":14336,"
                  "\"num_attention_heads\":32,\"num_hidden_layers\":32,\"vocab_size\":32000}");
    cr_expect(r->model.experts == 8 && r->model.experts_per_token == 2 && r->model.kv_heads == 8);
    cr_expect_not_null(strstr(fact(r, "config_gaps_filled"), "num_experts 8"));
    done(r);
    r = read_text("{\"architectures\":[\"BloomForCausalLM\"],\"n_inner\":null,\"n_layer\":70,"
                  "\"num_attention_heads\":112,\"vocab_size\":250880}"); /* the width: only one has this depth */
    cr_expect(r->model.hidden == 14336 && fabs(r->model.params / 176.247e9 - 1) < 0.005);
    done(r);
    r = read_text("{\"hidden_size\":768,\"num_hidden_layers\":12,\"num_attention_heads\":12,"
                  "\"intermediate_size\":3072,\"vocab_size\":30522}"); /* no family named, but no other is like it */
    cr_expect(r->model.causal == TRI_NO && fabs(r->model.params / 109.48e6 - 1) < 0.006); /* or its twin ELECTRA */
    done(r);
}

/* Several published models agree: nothing that they differ in is taken. */
Test(recognised, ambiguous_gaps_stay_open)
{
    struct reading *r = read_text("{\"model_type\":\"llama\",\"hidden_size\":4096,\"intermediate_size\":11008,"
                                  "\"num_attention_heads\":32,\"num_hidden_layers\":32}");
    cr_expect_eq(r->model.kv_heads, 32, "Llama 2 7B has 32, Yi 6B has 4: the class's default holds");
    cr_expect_null(note_find(&r->notes, "config_recognised"));
    done(r);
    json_t *bloom = json_loads("{\"architectures\":[\"BloomForCausalLM\"],\"n_layer\":24,\"num_attention_heads\":16,"
                               "\"vocab_size\":250880}",
                               0, NULL);
    r = read_config(test_catalog(), bloom); /* three sizes have this depth */
    cr_expect(r->faults.n == 1 && strstr(r->faults.items[0].detail, "hidden_size"));
    cr_expect_str_eq(r->faults.items[0].pointer, "/workload/model/config");
    json_decref(bloom);
    done(r);
}

/* A judge or an embedder made of a published model has no head: its size is not the published one. */
Test(recognised, a_part_of_a_published_model_is_counted)
{
    struct reading *r = read_text("{\"architectures\":[\"LlamaForSequenceClassification\"],\"model_type\":\"llama\","
                                  "\"hidden_size\":4096,\"num_hidden_layers\":32,\"num_attention_heads\":32,"
                                  "\"num_key_value_heads\":8,\"intermediate_size\":14336,\"vocab_size\":128256}");
    cr_expect_leq(fabs(r->model.params / 7.505e9 - 1), 0.005, "%.5g", r->model.params);
    cr_expect_null(note_find(&r->notes, "config_recognised"));
    done(r);
    /* a tower beside it is another model than the one without */
    r = read_text("{\"model_type\":\"chatglm\",\"hidden_size\":4096,\"num_layers\":40,\"num_attention_heads\":32,"
                  "\"multi_query_attention\":true,\"multi_query_group_num\":2,\"ffn_hidden_size\":13696,"
                  "\"padded_vocab_size\":151552,\"vision_config\":{\"hidden_size\":1024,\"num_hidden_layers\":24,"
                  "\"num_heads\":16,\"intermediate_size\":4096,\"image_size\":448,\"patch_size\":14}}");
    cr_expect_null(note_find(&r->notes, "config_recognised"));
    cr_expect_gt(r->model.params, 9.65e9);
    done(r);
}

/* The answer says it in both languages, in words and not in codes. */
Test(recognised, both_languages_tell_what_was_taken)
{
    static const char *const words[][2] = {{"en", "published"}, {"zh-CN", "公布"}};
    for (size_t i = 0; i < 2; i++) {
        json_t *config = json_loads(ONLY_MIXTURE(46, 12, 16), 0, NULL);
        json_t *body = json_pack("{s:{s:s, s:{s:o}, s:{s:i}}, s:{s:s, s:i, s:i}}", "workload", "language", words[i][0],
                                 "model", "config", config, "serving", "weight_bits", 16, "hardware", "gpu",
                                 "b200-sxm-180g", "gpus_per_node", 8, "nodes", 1);
        char *bytes = json_dumps(body, 0);
        struct reply r = ask((struct ask){.path = "/api/v1/estimates", .body = bytes});
        cr_assert_eq(r.status, 200, "%s", r.text);
        json_t *note, *lists[] = {json_object_get(r.json, "assumptions"), json_object_get(r.json, "warnings")};
        size_t k, told = 0;
        for (size_t l = 0; l < 2; l++)
            json_array_foreach(lists[l], k, note)
            {
                const char *code = json_string_value(json_object_get(note, "code"));
                const char *text = json_string_value(json_object_get(note, "text"));
                if (code && strncmp(code, "config_", 7) == 0) {
                    told++;
                    cr_expect(text && strstr(text, "DBRX") && strstr(text, words[i][1]) && !strchr(text, '{'), "%s",
                              text ? text : code);
                }
            }
        cr_expect_geq(told, 2u, "%s", r.text);
        reply_done(&r);
        free(bytes);
        json_decref(body);
    }
}

/* What is recognised must also be calculable, and what it is called comes back with it. */
Test(recognised, every_published_file_can_be_estimated, .timeout = 120)
{
    char *lines = read_file("tests/data/configs/published.jsonl", NULL), *save = NULL;
    cr_assert_not_null(lines);
    for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        json_t *row = json_loads(line, 0, NULL);
        json_t *body = json_pack("{s:{s:{s:O}, s:{s:i}}, s:{s:s, s:i, s:i}}", "workload", "model", "config",
                                 json_object_get(row, "config"), "serving", "weight_bits", 16, "hardware", "gpu",
                                 "b200-sxm-180g", "gpus_per_node", 8, "nodes", 1);
        char *bytes = json_dumps(body, 0);
        struct reply r = ask((struct ask){.path = "/api/v1/estimates", .body = bytes, .unrecorded = true});
        const char *name = json_string_value(json_object_get(row, "name"));
        json_t *serving = json_object_get(r.json, "serving");
        double size = json_number_value(json_object_get(json_object_get(r.json, "model"), "params_b"));
        double weights = json_number_value(json_object_get(serving, "weights_gb"));
        cr_expect_eq(r.status, 200, "%s: %s", name, r.text);
        cr_expect(size > 0 && weights >= 1.98 * size, "%s: %.4g GB of %.4g B", name, weights, size);
        cr_expect(!has_code(json_object_get(r.json, "assumptions"), "model_size_differs"), "%s: nobody stated a size",
                  name);
        cr_expect(!has_code(json_object_get(r.json, "assumptions"), "model_experts_assumed"), "%s", name);
        reply_done(&r);
        free(bytes);
        json_decref(body);
        json_decref(row);
    }
    free(lines);
}

static bool is_one_of(const char *name, const char *const *list)
{
    while (*list && strcmp(*list, name) != 0)
        list++;
    return *list != NULL;
}

/* A fragment that lost its type: the keys only one class has, or the one published model that is like it, say what it
 * is. Where nothing does it is refused, and only a tower that is not named goes unseen. */
Test(recognised, files_without_a_type_are_known_by_their_keys, .timeout = 60)
{
    static const char *const unseen[] = {"molmo-7b-d", "llava-1.5-7b-first", NULL};
    char *lines = read_file("tests/data/configs/published.jsonl", NULL), *save = NULL;
    size_t n = 0, refused = 0;
    cr_assert_not_null(lines);
    for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        json_t *row = json_loads(line, 0, NULL), *config = json_object_get(row, "config"), *part;
        const char *name = json_string_value(json_object_get(row, "name")), *key;
        bool nested = false;
        json_object_foreach(config, key, part)
        {
            nested = nested || json_object_get(part, "hidden_size");
        }
        json_object_del(config, "model_type");
        json_object_del(config, "architectures");
        json_object_del(config, "auto_map");
        struct reading *r = read_config(test_catalog(), config);
        if (!nested && r->faults.n == 0) {
            n++;
            cr_expect_eq(off(r->model.params, json_object_get(row, "params_total")) > 0.02, is_one_of(name, unseen),
                         "%s: %.5g of %.5g", name, r->model.params,
                         json_number_value(json_object_get(row, "params_total")));
        }
        refused += !nested && r->faults.n > 0;
        done(r);
        json_decref(row);
    }
    free(lines);
    cr_expect_geq(n, 250u);
    cr_expect_leq(refused, 3u);
}
