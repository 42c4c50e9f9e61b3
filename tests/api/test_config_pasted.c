/* test_config_pasted.c — the same file, as people paste it: damaged, wrapped, prefixed, cut. What comes out is the
 * same model or a refusal by name, never a part taken for the whole. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/decode.h"
#include "api/model_config.h"
#include "base/buf.h"
#include "tests/api/client.h"
#include "tests/support/test_catalog.h"

static bool read_value(json_t *value, struct model *ret, struct fault_list *faults)
{
    struct arena *arena = arena_new(1u << 20);
    struct decode d;
    api_init();
    decode_init(&d, test_catalog(), arena, LANG_EN, 0, faults);
    memset(ret, 0, sizeof *ret);
    model_config_decode(&d, value, "/workload/model/config", ret);
    arena_free(arena);
    return faults->n == 0;
}

static char *replaced(const char *text, const char *from, const char *to)
{
    struct buf b;
    buf_init(&b, 1u << 20);
    while (*text) {
        if (strncmp(text, from, strlen(from)) == 0) {
            buf_adds(&b, to);
            text += strlen(from);
        } else {
            buf_addc(&b, *text++);
        }
    }
    buf_addc(&b, '\0');
    return b.data;
}

static char *around(const char *before, const char *text, const char *behind)
{
    struct buf b;
    buf_init(&b, 1u << 20);
    buf_addf(&b, "%s%s%s", before, text, behind);
    buf_addc(&b, '\0');
    return b.data;
}

static char *each_line(const char *prefix, const char *text)
{
    struct buf b;
    char *joined;
    buf_init(&b, 1u << 20);
    buf_addf(&b, "\n%s", prefix);
    buf_addc(&b, '\0');
    char *lines = replaced(text, "\n", b.data);
    joined = around(prefix, lines, "");
    free(lines);
    buf_done(&b);
    return joined;
}

static char *without(const char *text, size_t front, size_t back)
{
    size_t n = strlen(text);
    char *copy = calloc(1, n + 1);
    memcpy(copy, text + front, n - front - back);
    return copy;
}

static char *python(const char *text)
{
    char *a = replaced(text, "\"", "'"), *b = replaced(a, "true", "True"), *c = replaced(b, "false", "False"),
         *d = replaced(c, "null", "None");
    free(a);
    free(b);
    free(c);
    return d;
}

#define DAMAGES 26
static char *damaged(int kind, const char *t)
{
    switch (kind) {
    case 0:
        return replaced(t, "\n", "\r\n");
    case 1:
        return around("\xef\xbb\xbf", t, "");
    case 2:
        return replaced(t, "\n", "\n\n");
    case 3:
        return replaced(t, "  ", "\t");
    case 4:
        return python(t);
    case 5:
        return around("[INFO|configuration_utils.py:768] 2023-07-27 22:49:09,277 >> Model config XConfig ", t,
                      "\n\n[INFO|modeling_utils.py:2600] >> loading weights\n");
    case 6:
        return each_line("2024-01-01 10:00:00,123 - INFO - ", t);
    case 7:
        return replaced(t, "\n}", ",\n}");
    case 8:
        return replaced(t, ",\n", ",  // as published\n");
    case 9:
        return replaced(t, ",\n", ",  # as published\n");
    case 10:
        return around("This is it:\n```json\n", t, "\n```\nThanks {all}.\n");
    case 11:
        return around("", t, "\n{\"_from_model_config\": true, \"eos_token_id\": 2}\n");
    case 12:
        return around("{\"_from_model_config\": true, \"eos_token_id\": 2}\n", t, "");
    case 13: /* no braces at either end */
        return without(t, 1, 1);
    case 14:
        return without(t, 1, 0);
    case 15:
        return without(t, 0, 1);
    case 16: /* cut in the middle of the last member */
        return without(t, 0, 9);
    case 17:
        return around("{\"repository\": \"someone/model\", \"downloads\": 12, \"config\": ", t, "}");
    case 18:
        return around("[", t, "]");
    case 19:
        return replaced(t, "\"", "\xe2\x80\x9c");
    case 20:
        return replaced(t, ",", "\xef\xbc\x8c");
    case 21:
        return each_line("+ ", t);
    case 22:
        return each_line("> ", t);
    case 23:
        return replaced(t, "\"", "&quot;");
    case 24:
        return around("", t, "\n{\"model_type\": \"gpt2\", \"n_embd\": 768, \"n_layer\": 12, \"n_head\": 12}\n");
    default:
        return replaced(t, "  ", "\xc2\xa0\xc2\xa0");
    }
}

static const char *const pasted[] = {"qwen2-vl-2b", "llava-next-mistral-7b", "deepseek-vl2-tiny", "mamba-370m",
                                     "dbrx",        "bert-base-uncased",     "t5-base",           "falcon-h1-7b",
                                     "glm-4.5",     "kimi-linear-48b",       "whisper-tiny",      "gpt-neo-2.7b"};

static bool is_pasted(const char *name)
{
    for (size_t i = 0; i < sizeof pasted / sizeof *pasted; i++)
        if (strcmp(name, pasted[i]) == 0)
            return true;
    return false;
}

Test(pasted, a_damaged_file_is_the_same_model, .timeout = 60)
{
    char *lines = read_file("tests/data/configs/published.jsonl", NULL), *save = NULL;
    size_t n = 0;
    cr_assert_not_null(lines);
    for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        json_t *row = json_loads(line, 0, NULL), *config = json_object_get(row, "config");
        const char *name = json_string_value(json_object_get(row, "name"));
        struct model whole, m;
        struct fault_list faults;
        if (!is_pasted(name)) {
            json_decref(row);
            continue;
        }
        cr_assert(read_value(config, &whole, &faults), "%s", name);
        char *text = json_dumps(config, JSON_INDENT(2));
        for (int k = 0; k < DAMAGES; k++, n++) {
            char *bad = damaged(k, text);
            json_t *value = json_string_nocheck(bad);
            bool understood = read_value(value, &m, &faults);
            cr_expect(understood, "%s, damage %d: %s", name, k, understood ? "" : faults.items[0].detail);
            if (understood)
                cr_expect(m.params == whole.params && m.layers == whole.layers && m.hidden == whole.hidden &&
                              m.experts == whole.experts,
                          "%s, damage %d: %.5g, not %.5g", name, k, m.params, whole.params);
            json_decref(value);
            free(bad);
        }
        free(text);
        json_decref(row);
    }
    free(lines);
    cr_expect_eq(n, sizeof pasted / sizeof *pasted * DAMAGES);
}

/* Nesting by indentation, and a record that holds the file as text. */
Test(pasted, yaml_and_records)
{
    static const char *const texts[] = {
        "model_type: llava\narchitectures:\n- LlavaForConditionalGeneration\ntext_config:\n  model_type: llama\n"
        "  hidden_size: 4096\n  num_hidden_layers: 32\n  num_attention_heads: 32\n  num_key_value_heads: 32\n"
        "  intermediate_size: 11008\n  vocab_size: 32064\nvision_config:\n  model_type: clip_vision_model\n"
        "  hidden_size: 1024\n  num_hidden_layers: 24\n  num_attention_heads: 16\n  intermediate_size: 4096\n"
        "  image_size: 336\n  patch_size: 14\n",
        "vision_config: {\"hidden_size\": 1024, \"num_hidden_layers\": 24, \"num_attention_heads\": 16, "
        "\"intermediate_size\": 4096, \"image_size\": 336, \"patch_size\": 14}\nmodel_type: llava\n"
        "text_config: {\"model_type\": \"llama\", \"hidden_size\": 4096, \"num_hidden_layers\": 32, "
        "\"num_attention_heads\": 32, \"num_key_value_heads\": 32, \"intermediate_size\": 11008, "
        "\"vocab_size\": 32064}\n",
        "{\"id\": 7, \"text\": \"{\\\"model_type\\\": \\\"llava\\\", \\\"text_config\\\": {\\\"model_type\\\": "
        "\\\"llama\\\", \\\"hidden_size\\\": 4096, \\\"num_hidden_layers\\\": 32, \\\"num_attention_heads\\\": 32, "
        "\\\"intermediate_size\\\": 11008, \\\"vocab_size\\\": 32064}, \\\"vision_config\\\": {\\\"hidden_size\\\": "
        "1024, \\\"num_hidden_layers\\\": 24, \\\"num_attention_heads\\\": 16, \\\"image_size\\\": 336, "
        "\\\"patch_size\\\": 14}}\"}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct model m;
        struct fault_list faults;
        json_t *value = json_string(texts[i]);
        cr_expect(read_value(value, &m, &faults), "%zu: %s", i, faults.items[0].detail);
        cr_expect_leq(fabs(m.params / 7.063e9 - 1), 0.005, "%zu: %.5g", i, m.params);
        json_decref(value);
    }
}

/* What is no language model, or cannot be, is refused by name at its place. */
Test(pasted, what_cannot_be_understood_is_refused_by_name)
{
    static const struct {
        const char *config, *en, *zh;
    } cases[] = {
        {"{\"_class_name\":\"UNet2DConditionModel\",\"block_out_channels\":[320,640],\"cross_attention_dim\":768}",
         "diffusion U-Net", "扩散模型"},
        {"{\"_class_name\":\"FluxTransformer2DModel\",\"num_layers\":19,\"num_attention_heads\":24}", "diffusion",
         "扩散模型"},
        {"{\"_class_name\":\"LuminaNextDiT2DModel\",\"hidden_size\":2304,\"num_layers\":24,\"num_attention_heads\":32}",
         "diffusion", "扩散模型"}, /* a hidden size makes no language model of it */
        {"{\"num_layers\":19,\"num_attention_heads\":24,\"attention_head_dim\":128,\"joint_attention_dim\":4096}",
         "diffusion", "扩散模型"},
        {"{\"model_type\":\"detr\",\"d_model\":256,\"encoder_layers\":6,\"decoder_layers\":6,"
         "\"use_timm_backbone\":true}",
         "detector", "检测模型"},
        {"{\"model_type\":\"resnet\",\"depths\":[3,4,6,3],\"hidden_sizes\":[256,512]}", "depths", "depths"},
        {"{\"model_type\":\"sam\",\"mask_decoder_config\":{\"hidden_size\":256},\"vision_config\":{}}", "segmentation",
         "分割模型"},
        {"{\"peft_type\":\"LORA\",\"r\":16}", "LoRA adapter", "LoRA"},
        {"{\"weight_map\":{}}", "safetensors", "safetensors"},
        {"{\"model_type\":\"llama\",\"hidden_size\":-4096,\"num_hidden_layers\":32,\"num_attention_heads\":32}",
         "hidden_size", "hidden_size"},
        {"{\"model_type\":\"llama\",\"hidden_size\":\"wide\",\"num_hidden_layers\":32,\"num_attention_heads\":32}",
         "hidden_size", "hidden_size"},
        {"{\"model_type\":\"llama\",\"hidden_size\":4096,\"num_hidden_layers\":32,\"num_attention_heads\":32,"
         "\"num_key_value_heads\":7,\"intermediate_size\":11008,\"vocab_size\":32000}",
         "num_key_value_heads", "num_key_value_heads"},
        {"{\"model_type\":\"mixtral\",\"hidden_size\":4096,\"num_hidden_layers\":32,\"num_attention_heads\":32,"
         "\"num_local_experts\":8,\"num_experts_per_tok\":9,\"vocab_size\":32000}",
         "num_experts_per_tok", "num_experts_per_tok"},
        {"{\"model_type\":\"unheard_of\",\"hidden_size\":512,\"num_hidden_layers\":4,\"num_attention_heads\":8}",
         "vocab_size", "vocab_size"},
        {"{\"model_type\":\"unheard_of\"}", "num_hidden_layers", "层数"},
        {"{}", "num_hidden_layers", "层数"},
        {"\"no words of a model here\"", "no JSON object", "没有 JSON 对象"},
        /* its towers and the end are gone: the language model alone would be another size */
        {"\"..., \\\"text_config\\\": {\\\"model_type\\\": \\\"llama\\\", \\\"hidden_size\\\": 4096, "
         "\\\"num_hidden_layers\\\": 32, \\\"num_attention_heads\\\": 32}, \\\"vision_config\\\": {{{\"",
         "num_hidden_layers", "层数"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int chinese = 0; chinese < 2; chinese++) {
            json_t *config = json_loads(cases[i].config, JSON_DECODE_ANY, NULL);
            cr_assert_not_null(config, "%s", cases[i].config);
            json_t *body = json_pack("{s:{s:s, s:{s:o}, s:{s:i}}, s:{s:s, s:i, s:i}}", "workload", "language",
                                     chinese ? "zh-CN" : "en", "model", "config", config, "serving", "weight_bits", 16,
                                     "hardware", "gpu", "b200-sxm-180g", "gpus_per_node", 8, "nodes", 1);
            char *bytes = json_dumps(body, 0);
            struct reply r =
                ask((struct ask){.path = "/api/v1/estimates", .body = bytes, .language = chinese ? "zh-CN" : "en"});
            json_t *errors = json_object_get(r.json, "errors");
            const char *detail = json_string_value(json_object_get(json_array_get(errors, 0), "detail"));
            cr_expect_eq(r.status, 422, "%s: %d", cases[i].config, r.status);
            cr_expect(has_fault(&r, "#/workload/model/config", "config_not_understood"), "%s", r.text);
            cr_expect_eq(json_array_size(errors), 1u, "nothing that only follows from it: %s", r.text);
            cr_expect(detail && strstr(detail, chinese ? cases[i].zh : cases[i].en), "%s: %s", cases[i].config,
                      detail ? detail : "");
            reply_done(&r);
            free(bytes);
            json_decref(body);
        }
}
