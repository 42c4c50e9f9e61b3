/* test_config.c — pasted config.json files of many families, our own and (where present) other people's. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/decode.h"
#include "api/model_config.h"
#include "tests/api/client.h"
#include "tests/support/test_catalog.h"

/* With the presets a published model is recognised, without everything is counted. */
static bool read_config(const struct catalog *catalog, json_t *value, struct model *ret, struct fault_list *faults)
{
    struct arena *arena = arena_new(1u << 20);
    struct decode d;
    api_init();
    decode_init(&d, catalog, arena, LANG_EN, 0, faults);
    memset(ret, 0, sizeof *ret);
    model_config_decode(&d, value, "/workload/model/config", ret);
    arena_free(arena);
    return faults->n == 0;
}

/* Text that is JSON goes in as the object a caller would send, anything else as pasted text. */
static json_t *as_caller_sends(const char *text)
{
    json_t *v = json_loads(text, 0, NULL);
    return v ? v : json_string(text);
}

static void expect_int(const char *file, json_t *expect, const char *key, int has)
{
    json_t *want = json_object_get(expect, key);
    if (json_is_integer(want))
        cr_expect_eq(has, json_integer_value(want), "%s: %s %d, not %lld", file, key, has, json_integer_value(want));
}

static void expect_share(const char *file, json_t *expect, const char *key, double has, double tolerance)
{
    json_t *want = json_object_get(expect, key);
    if (json_is_number(want))
        cr_expect_leq(fabs(has / json_number_value(want) - 1), tolerance, "%s: %s %.6g, not %.6g (%.2f %%)", file, key,
                      has, json_number_value(want), 100 * (has / json_number_value(want) - 1));
}

/* The shipped catalog without its presets. */
static const struct catalog *without_presets(void)
{
    static struct catalog bare;
    bare = *test_catalog();
    bare.n_models = 0;
    return &bare;
}

/* What counting alone makes of it; "counted_off" says why a sample cannot be counted. */
static void check_counted(const char *file, json_t *value, json_t *expect, double tolerance)
{
    struct model m;
    struct fault_list faults;
    json_t *want = json_object_get(expect, "params_total");
    if (!json_is_number(want) || json_object_get(expect, "refused"))
        return;
    bool within =
        read_config(without_presets(), value, &m, &faults) && fabs(m.params / json_number_value(want) - 1) <= tolerance;
    if (json_object_get(expect, "counted_off"))
        cr_expect(!within, "%s: can be counted, no reason is needed", file);
    else
        cr_expect(within, "%s: counted %.6g, not %.6g (%.2f %%)", file, m.params, json_number_value(want),
                  100 * (m.params / json_number_value(want) - 1));
}

static void check_sample(const char *file, const char *text, json_t *expect, double tolerance)
{
    struct model m;
    struct fault_list faults;
    json_t *value = as_caller_sends(text);
    bool understood = read_config(test_catalog(), value, &m, &faults);
    if (!strstr(file, "/")) /* our own */
        check_counted(file, value, expect, tolerance);
    const char *refused = json_string_value(json_object_get(expect, "refused"));
    json_decref(value);
    if (refused) {
        cr_expect(!understood && strstr(faults.items[0].detail, refused), "%s: %s", file, faults.items[0].detail);
        return;
    }
    cr_expect(understood, "%s: %s", file, faults.items[0].detail);
    bool moe = json_object_get(expect, "moe_intermediate") != NULL;
    expect_int(file, expect, "layers", m.layers);
    expect_int(file, expect, "hidden", m.hidden);
    expect_int(file, expect, "heads", m.heads);
    expect_int(file, expect, "kv_heads", m.kv_heads);
    expect_int(file, expect, "kv_heads_effective", m.kv_heads);
    expect_int(file, expect, "head_dim", m.head_dim);
    expect_int(file, expect, "head_dim_effective", m.head_dim);
    expect_int(file, expect, moe ? "moe_intermediate" : "intermediate", m.intermediate);
    expect_int(file, expect, "vocab", m.vocab);
    expect_int(file, expect, "experts", m.experts);
    expect_int(file, expect, "experts_per_token", m.experts_per_token);
    expect_int(file, expect, "context", m.max_context);
    expect_int(file, expect, "full_attention_layers", m.full_attention_layers);
    expect_int(file, expect, "window", m.window);
    expect_int(file, expect, "kv_lora_rank", m.kv_lora_rank);
    expect_share(file, expect, "params_total", m.params, tolerance);
    expect_share(file, expect, "params_active", m.active_params, tolerance);
}

/* Lines of {"file", "expect"} below a folder. */
static size_t check_index(const char *folder, const char *index, double tolerance)
{
    char path[700];
    snprintf(path, sizeof path, "%s/%s", folder, index);
    char *lines = read_file(path, NULL), *save = NULL;
    size_t n = 0;
    cr_assert_not_null(lines, "%s", path);
    for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        json_t *row = json_loads(line, 0, NULL);
        const char *file = json_string_value(json_object_get(row, "file"));
        const char *kind = json_string_value(json_object_get(row, "kind"));
        if (file && (!kind || strcmp(kind, "config") == 0)) {
            snprintf(path, sizeof path, "%s/%s", folder, file);
            char *text = read_file(path, NULL);
            cr_assert_not_null(text, "%s", path);
            check_sample(file, text, json_object_get(row, "expect"), tolerance);
            free(text);
            n++;
        }
        json_decref(row);
    }
    free(lines);
    return n;
}

Test(config, own_samples_of_every_family)
{
    client_catalog();
    cr_assert_geq(check_index("tests/data/configs", "index.jsonl", 0.02), 25);
}

Test(config, published_samples_where_present)
{
    const char *folder = shared_path("data/inputs");
    client_catalog();
    if (folder) {
        char copy[600];
        snprintf(copy, sizeof copy, "%s", folder);
        cr_assert_geq(check_index(copy, "index.jsonl", 0.02), 10);
    }
}

/* What is understood must also be calculable: no heads to divide by, no cache, no decoder are no excuse. */
Test(config, every_understood_sample_can_be_estimated, .timeout = 120)
{
    char *lines = read_file("tests/data/configs/index.jsonl", NULL), *save = NULL;
    cr_assert_not_null(lines);
    for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        json_t *row = json_loads(line, 0, NULL);
        const char *file = json_string_value(json_object_get(row, "file"));
        char path[300];
        snprintf(path, sizeof path, "tests/data/configs/%s", file);
        char *text = read_file(path, NULL);
        json_t *config = as_caller_sends(text);
        bool refused = json_object_get(json_object_get(row, "expect"), "refused") != NULL;
        for (int training = 0; training < 2; training++) {
            json_t *work = training ? json_pack("{s:s}", "method", "lora") : json_pack("{s:i}", "weight_bits", 16);
            json_t *body = json_pack("{s:{s:{s:O}, s:o}, s:{s:s, s:i, s:i}}", "workload", "model", "config", config,
                                     training ? "training" : "serving", work, "hardware", "gpu", "b200-sxm-180g",
                                     "gpus_per_node", 8, "nodes", training ? 4 : 1);
            char *bytes = json_dumps(body, 0);
            struct reply r = ask((struct ask){.path = "/api/v1/estimates", .body = bytes});
            cr_expect_eq(r.status, refused ? 422 : 200, "%s: %d %s", file, r.status, r.status == 200 ? "" : r.text);
            json_t *rate = json_object_get(json_object_get(r.json, training ? "training" : "serving"),
                                           training ? "tokens_per_s" : "weights_gb");
            if (r.status == 200)
                cr_expect(json_is_number(rate) && json_number_value(rate) > 0, "%s: %s", file, r.text);
            double size = json_number_value(json_object_get(json_object_get(r.json, "model"), "params_b"));
            /* 16 bits are two bytes a parameter */
            if (r.status == 200 && !training)
                cr_expect_float_eq(json_number_value(rate) / (2 * size), 1, 0.02, "%s: %.4g GB of %.4g B", file,
                                   json_number_value(rate), size);
            reply_done(&r);
            free(bytes);
            json_decref(body);
        }
        json_decref(config);
        json_decref(row);
        free(text);
    }
    free(lines);
}
