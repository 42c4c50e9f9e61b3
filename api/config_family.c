/* config_family.c — what each family of architectures leaves unsaid in its config.json.
 *
 * Values are the defaults of the published configuration classes; a key that is present always wins.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/config_view.h"

#define GPT (F_PLAIN | F_ALL_BIAS)

/* First match wins; matched as a prefix of the type. Longer names before shorter ones. */
static const struct config_family families[] = {
    {"llama4", 0, 0, 48, 5120, 40, 8, 8192, 202048, 0},
    {"llama", 0, 0, 32, 4096, 32, 0, 11008, 32000, 2048},
    {"mixtral", 0, 0, 32, 4096, 32, 8, 14336, 32000, 131072},
    {"mistral", 0, 0, 32, 4096, 32, 8, 14336, 32000, 131072},
    {"qwen3_next", F_QK_NORM, MIX_DELTA, 0, 0, 0, 0, 0, 0, 0},
    {"qwen3_5", F_QK_NORM, MIX_DELTA, 0, 0, 0, 0, 0, 0, 0},
    {"qwen3", F_QK_NORM, 0, 32, 4096, 32, 32, 22016, 151936, 32768},
    {"qwen2", F_QKV_BIAS, 0, 32, 4096, 32, 32, 22016, 151936, 32768},
    {"qwen", F_QKV_BIAS | F_HALF_FFN, 0, 32, 4096, 32, 0, 22016, 151936, 8192},
    {"gemma4", F_TIED | F_FOUR_NORMS | F_QK_NORM, 0, 30, 2304, 8, 4, 9216, 262144, 131072},
    {"gemma3n", F_TIED | F_FOUR_NORMS | F_QK_NORM, 0, 35, 2048, 8, 2, 16384, 262400, 32768},
    {"gemma3", F_TIED | F_FOUR_NORMS | F_QK_NORM, 0, 26, 2304, 8, 4, 9216, 262208, 131072},
    {"gemma2", F_TIED | F_FOUR_NORMS, 0, 26, 2304, 8, 4, 9216, 256000, 8192},
    {"gemma", F_TIED, 0, 28, 3072, 16, 16, 24576, 256000, 8192},
    {"recurrent_gemma", F_TIED | F_HALF_FFN, MIX_RGLRU, 26, 2560, 10, 1, 15360, 256000, 8192},
    {"recurrentgemma", F_TIED | F_HALF_FFN, MIX_RGLRU, 26, 2560, 10, 1, 15360, 256000, 8192},
    {"phimoe", F_NORM_BIAS | F_HEAD_BIAS, 0, 32, 4096, 32, 8, 6400, 32064, 131072},
    {"phi3small", F_TIED | F_ALL_BIAS, 0, 32, 4096, 32, 8, 14336, 100352, 8192},
    {"phi3", 0, 0, 32, 3072, 32, 0, 8192, 32064, 4096},
    {"phi4", 0, 0, 32, 3072, 32, 0, 8192, 32064, 4096},
    {"phi", GPT | F_ONE_NORM | F_HEAD_BIAS, 0, 24, 2048, 32, 0, 8192, 51200, 2048},
    {"mixformer", GPT | F_ONE_NORM | F_HEAD_BIAS, 0, 24, 2048, 32, 0, 8192, 51200, 2048},
    {"gpt2", GPT | F_TIED | F_POSITIONS, 0, 12, 768, 12, 0, 0, 50257, 1024},
    {"gpt_neox", GPT, 0, 44, 6144, 64, 0, 24576, 50432, 2048},
    {"gptneox", GPT, 0, 44, 6144, 64, 0, 24576, 50432, 2048},
    {"gpt_neo", F_PLAIN | F_OUT_BIAS | F_MLP_BIAS | F_NORM_BIAS | F_TIED | F_POSITIONS, 0, 24, 2048, 16, 0, 0, 50257,
     2048},
    {"gptneo", F_PLAIN | F_OUT_BIAS | F_MLP_BIAS | F_NORM_BIAS | F_TIED | F_POSITIONS, 0, 24, 2048, 16, 0, 0, 50257,
     2048},
    {"gptj", F_PLAIN | F_MLP_BIAS | F_NORM_BIAS | F_ONE_NORM | F_HEAD_BIAS, 0, 28, 4096, 16, 0, 0, 50400, 2048},
    {"codegen", F_PLAIN | F_MLP_BIAS | F_NORM_BIAS | F_ONE_NORM | F_HEAD_BIAS, 0, 28, 4096, 16, 0, 0, 50400, 2048},
    {"gpt_bigcode", GPT | F_TIED | F_POSITIONS | F_MULTI_QUERY, 0, 12, 768, 12, 0, 0, 50257, 1024},
    {"gptbigcode", GPT | F_TIED | F_POSITIONS | F_MULTI_QUERY, 0, 12, 768, 12, 0, 0, 50257, 1024},
    {"gpt_oss", F_QKV_BIAS | F_OUT_BIAS | F_MLP_BIAS, 0, 36, 2880, 64, 8, 2880, 201088, 131072},
    {"gptoss", F_QKV_BIAS | F_OUT_BIAS | F_MLP_BIAS, 0, 36, 2880, 64, 8, 2880, 201088, 131072},
    {"starcoder2", GPT | F_TIED, 0, 30, 3072, 24, 2, 12288, 49152, 4096},
    {"biogpt", GPT | F_TIED | F_POSITIONS, 0, 24, 1024, 16, 0, 4096, 42384, 1024},
    {"bloom", GPT | F_TIED, 0, 0, 0, 0, 0, 0, 250880, 2048},
    {"opt", GPT | F_TIED | F_POSITIONS, 0, 12, 768, 12, 0, 3072, 50272, 2048},
    {"xlnet", GPT | F_TIED, 0, 24, 1024, 16, 0, 4096, 32000, 512},
    {"kosmos", GPT | F_TIED, 0, 24, 2048, 32, 0, 8192, 65037, 2048},
    {"molmo", F_HALF_FFN | F_QKV_BIAS, 0, 0, 0, 0, 0, 0, 0, 0},
    {"xglm", GPT | F_TIED, 0, 24, 1024, 16, 0, 4096, 256008, 2048},
    {"falcon_h1", 0, MIX_MAMBA2, 0, 0, 0, 0, 0, 0, 0},
    {"falcon_mamba", F_TIED | F_MIX_EVERYWHERE, MIX_MAMBA1, 32, 768, 0, 0, 0, 50280, 0},
    {"falconmamba", F_TIED | F_MIX_EVERYWHERE, MIX_MAMBA1, 32, 768, 0, 0, 0, 50280, 0},
    {"falcon", F_PLAIN | F_TIED | F_NORM_BIAS | F_ONE_NORM | F_MULTI_QUERY, 0, 32, 4544, 71, 0, 0, 65024, 2048},
    {"refinedweb", F_PLAIN | F_TIED | F_NORM_BIAS | F_ONE_NORM | F_MULTI_QUERY, 0, 32, 4544, 71, 0, 0, 65024, 2048},
    {"mpt", F_PLAIN | F_TIED, 0, 24, 2048, 16, 0, 0, 50368, 2048},
    {"grok", F_FOUR_NORMS, 0, 64, 6144, 48, 8, 32768, 131072, 8192},
    {"dbrx", 0, 0, 24, 2048, 16, 8, 0, 32000, 2048},
    {"bitnet", F_TIED, 0, 30, 2560, 20, 5, 6912, 128256, 4096},
    {"stablelm", F_NORM_BIAS, 0, 32, 2560, 32, 32, 6912, 50304, 4096},
    {"cohere", F_TIED | F_ONE_NORM, 0, 40, 8192, 64, 0, 22528, 256000, 8192},
    {"internlm2", 0, 0, 32, 4096, 32, 0, 11008, 103168, 2048},
    {"internlm", F_QKV_BIAS | F_OUT_BIAS, 0, 32, 4096, 32, 0, 11008, 103168, 2048},
    {"chatglm", F_QKV_BIAS, 0, 28, 4096, 32, 0, 13696, 65024, 2048},
    {"glm4_moe", 0, 0, 46, 4096, 96, 8, 10944, 151552, 131072},
    {"glm4", F_FOUR_NORMS, 0, 40, 4096, 32, 2, 13696, 151552, 131072},
    {"glm", 0, 0, 40, 4096, 32, 2, 13696, 151552, 131072},
    {"nemotron_h", F_PLAIN, MIX_MAMBA2, 52, 4096, 32, 8, 21504, 131072, 4096},
    {"nemotronh", F_PLAIN, MIX_MAMBA2, 52, 4096, 32, 8, 21504, 131072, 4096},
    {"nemotron-nas", 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"nemotron", F_PLAIN | F_NORM_BIAS, 0, 32, 6144, 48, 0, 24576, 256000, 4096},
    {"persimmon", GPT, 0, 36, 4096, 64, 0, 16384, 262144, 16384},
    {"fuyu", GPT, 0, 36, 4096, 64, 0, 16384, 262144, 16384},
    {"olmo2", F_QK_NORM, 0, 32, 4096, 32, 0, 11008, 50304, 2048},
    {"olmo3", F_QK_NORM, 0, 32, 4096, 32, 0, 11008, 50304, 2048},
    {"olmoe", F_QK_NORM, 0, 16, 2048, 16, 0, 2048, 50304, 4096},
    {"olmo", 0, 0, 32, 4096, 32, 0, 11008, 50304, 2048},
    {"minicpm", F_TIED, 0, 32, 4096, 32, 0, 11008, 32000, 2048},
    {"smollm3", F_TIED, 0, 36, 2048, 16, 4, 11008, 128256, 32768},
    {"ernie4_5", F_TIED, 0, 0, 0, 0, 0, 0, 103424, 131072},
    {"openelm", F_TIED | F_QK_NORM, 0, 0, 0, 0, 0, 0, 32000, 2048},
    {"hymba", F_TIED | F_FUSED, MIX_MAMBA1, 32, 1600, 25, 5, 5504, 32001, 8192},
    {"jetmoe", F_TIED | F_EXPERT_HEADS, 0, 12, 2048, 0, 16, 5632, 32000, 4096},
    {"jamba", 0, MIX_MAMBA1, 32, 4096, 32, 8, 14336, 65536, 262144},
    {"bamba", 0, MIX_MAMBA2, 32, 4096, 32, 8, 14336, 128000, 262144},
    {"granitemoehybrid", F_TIED, MIX_MAMBA2, 0, 0, 0, 0, 0, 0, 0},
    {"zamba2", F_TIED, MIX_MAMBA2, 54, 2560, 32, 0, 0, 32000, 4096},
    {"zamba", F_TIED, MIX_MAMBA1, 76, 3712, 16, 0, 14848, 32000, 4096},
    {"minimax_m", F_QK_NORM, MIX_LIGHTNING, 0, 0, 0, 0, 0, 0, 0},
    {"minimax", 0, MIX_LIGHTNING, 0, 0, 0, 0, 0, 0, 0},
    {"lfm2", F_TIED | F_QK_NORM, MIX_CONV, 32, 2560, 32, 8, 12288, 65536, 128000},
    {"kimi_linear", 0, MIX_DELTA, 0, 0, 0, 0, 0, 0, 0},
    {"mamba2", F_MIX_EVERYWHERE, MIX_MAMBA2, 64, 4096, 0, 0, 0, 32768, 0},
    {"mamba", F_TIED | F_MIX_EVERYWHERE, MIX_MAMBA1, 32, 768, 0, 0, 0, 50280, 0},
    {"rwkv", F_PLAIN | F_MIX_EVERYWHERE, MIX_RWKV, 32, 4096, 0, 0, 0, 50277, 1024},
    /* encoders */
    {"xlm-roberta", GPT | F_ENCODER | F_POSITIONS | F_SEGMENTS, 0, 12, 768, 12, 0, 3072, 30522, 512},
    {"xlmroberta", GPT | F_ENCODER | F_POSITIONS | F_SEGMENTS, 0, 12, 768, 12, 0, 3072, 30522, 512},
    {"longformer", GPT | F_ENCODER | F_POSITIONS | F_SEGMENTS, 0, 12, 768, 12, 0, 3072, 30522, 512},
    {"roberta", GPT | F_ENCODER | F_POSITIONS | F_SEGMENTS, 0, 12, 768, 12, 0, 3072, 50265, 512},
    {"camembert", GPT | F_ENCODER | F_POSITIONS | F_SEGMENTS, 0, 12, 768, 12, 0, 3072, 30522, 512},
    {"distilbert", GPT | F_ENCODER | F_POSITIONS, 0, 6, 768, 12, 0, 3072, 30522, 512},
    {"albert", GPT | F_ENCODER | F_POSITIONS | F_SEGMENTS, 0, 12, 4096, 64, 0, 16384, 30000, 512},
    {"electra", GPT | F_ENCODER | F_POSITIONS | F_SEGMENTS, 0, 12, 256, 4, 0, 1024, 30522, 512},
    {"deberta", GPT | F_ENCODER | F_POSITIONS, 0, 24, 1536, 24, 0, 6144, 128100, 512},
    {"mpnet", GPT | F_ENCODER | F_POSITIONS | F_SEGMENTS, 0, 12, 768, 12, 0, 3072, 30527, 512},
    {"nomic_bert", F_ENCODER | F_NORM_BIAS, 0, 12, 768, 12, 0, 3072, 30528, 8192},
    {"ernie", GPT | F_ENCODER | F_POSITIONS | F_SEGMENTS, 0, 12, 768, 12, 0, 3072, 30522, 513},
    {"nezha", GPT | F_ENCODER | F_SEGMENTS, 0, 12, 768, 12, 0, 3072, 21128, 512},
    {"roformer", GPT | F_ENCODER | F_SEGMENTS, 0, 12, 768, 12, 0, 3072, 50000, 1536},
    {"megatron-bert", GPT | F_ENCODER | F_POSITIONS | F_SEGMENTS, 0, 24, 1024, 16, 0, 4096, 29056, 512},
    {"big_bird", GPT | F_ENCODER | F_POSITIONS | F_SEGMENTS, 0, 12, 768, 12, 0, 3072, 50358, 4096},
    {"layoutlm", GPT | F_ENCODER | F_POSITIONS | F_SEGMENTS, 0, 12, 768, 12, 0, 3072, 30522, 512},
    {"modernbert", F_ENCODER, 0, 22, 768, 12, 0, 1152, 50368, 8192},
    {"new", F_ENCODER | F_QKV_BIAS | F_OUT_BIAS | F_NORM_BIAS, 0, 12, 768, 12, 0, 3072, 30528, 8192},
    {"jina_bert", F_ENCODER | F_ALL_BIAS, 0, 12, 768, 12, 0, 3072, 30528, 8192},
    {"esm", GPT | F_ENCODER | F_POSITIONS, 0, 12, 768, 12, 0, 3072, 33, 1026},
    {"rembert", GPT | F_ENCODER | F_POSITIONS | F_SEGMENTS, 0, 32, 1152, 18, 0, 4608, 250300, 512},
    {"bert", GPT | F_ENCODER | F_POSITIONS | F_SEGMENTS, 0, 12, 768, 12, 0, 3072, 30522, 512},
    {"vit", GPT | F_ENCODER, 0, 12, 768, 12, 0, 3072, 0, 0},
    {"dinov2", GPT | F_ENCODER, 0, 12, 768, 12, 0, 3072, 0, 0},
    {"wav2vec2", GPT | F_ENCODER, 0, 12, 768, 12, 0, 3072, 32, 0},
    {"hubert", GPT | F_ENCODER, 0, 12, 768, 12, 0, 3072, 32, 0},
    {"clip", GPT | F_ENCODER | F_POSITIONS, 0, 12, 512, 8, 0, 2048, 49408, 77},
    {"siglip", GPT | F_ENCODER | F_POSITIONS, 0, 12, 768, 12, 0, 3072, 32000, 64},
    /* an encoder and a decoder */
    {"mt5", F_ENCODER_DECODER, 0, 8, 512, 6, 0, 1024, 250112, 512},
    {"umt5", F_ENCODER_DECODER, 0, 8, 512, 6, 0, 1024, 250112, 512},
    {"longt5", F_ENCODER_DECODER | F_PLAIN | F_TIED, 0, 6, 512, 8, 0, 2048, 32128, 512},
    {"switch_transformers", F_ENCODER_DECODER | F_PLAIN | F_TIED, 0, 12, 768, 12, 0, 2048, 32128, 512},
    {"t5", F_ENCODER_DECODER | F_PLAIN | F_TIED, 0, 6, 512, 8, 0, 2048, 32128, 512},
    {"whisper", GPT | F_ENCODER_DECODER | F_TIED | F_POSITIONS, 0, 4, 384, 6, 0, 1536, 51865, 448},
    {"bart", GPT | F_ENCODER_DECODER | F_TIED | F_POSITIONS, 0, 12, 1024, 16, 0, 4096, 50265, 1024},
    {"mbart", GPT | F_ENCODER_DECODER | F_TIED | F_POSITIONS, 0, 12, 1024, 16, 0, 4096, 50265, 1024},
    {"marian", GPT | F_ENCODER_DECODER | F_TIED | F_POSITIONS, 0, 12, 1024, 16, 0, 4096, 58101, 1024},
    {"pegasus", GPT | F_ENCODER_DECODER | F_TIED | F_POSITIONS, 0, 12, 1024, 16, 0, 4096, 50265, 1024},
    {"m2m_100", GPT | F_ENCODER_DECODER | F_TIED, 0, 12, 1024, 16, 0, 4096, 128112, 1024},
    {"nllb", GPT | F_ENCODER_DECODER | F_TIED, 0, 12, 1024, 16, 0, 4096, 128112, 1024},
};

static const struct config_family decoder = {"decoder", 0, 0, 0, 0, 0, 0, 0, 0, 0};
/* BEiT, DeiT, YOLOS, VideoMAE, ...: pictures in patches, no words. */
static const struct config_family picture_encoder = {"pictures", GPT | F_ENCODER, 0, 0, 0, 0, 0, 0, 0, 0};

/* BlenderBot, LED, SpeechT5, ...: two stacks as BART has them. */
static const struct config_family two_stacks = {
    "two stacks", GPT | F_ENCODER_DECODER | F_TIED | F_POSITIONS, 0, 0, 0, 0, 0, 0, 0, 0};

static const struct config_family *family_of(const char *type)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strncmp(type, families[i].name, strlen(families[i].name)) == 0)
            return &families[i];
    return NULL;
}

static void lower(char *out, size_t size, const char *in)
{
    size_t n = 0;
    for (; in[n] && n + 1 < size; n++)
        out[n] = (char)tolower((unsigned char)in[n]);
    out[n] = '\0';
}

static const char *architecture(json_t *o)
{
    const char *a = json_string_value(json_array_get(json_object_get(o, "architectures"), 0));
    return a ? a : "";
}

bool config_encoder_only(const struct config_view *v)
{
    return strstr(architecture(v->text), "EncoderModel") != NULL && (v->family->traits & F_ENCODER_DECODER);
}

bool config_headless(const struct config_view *v)
{
    static const char *const ends[] = {"ForSequenceClassification",
                                       "ForRewardModel",
                                       "ForTokenClassification",
                                       "MistralModel",
                                       "LlamaModel",
                                       "Qwen2Model",
                                       "Qwen3Model"};
    const char *name = *architecture(v->text) ? architecture(v->text) : architecture(v->root);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strlen(name) >= strlen(ends[i]) && strcmp(name + strlen(name) - strlen(ends[i]), ends[i]) == 0)
            return true;
    return false;
}

/* The part of a bigger configuration that is the language model. */
static json_t *text_part(json_t *root)
{
    static const char *const names[] = {"text_config",    "language_config",       "llm_config",     "llm",
                                        "thinker_config", "language_model_config", "decoder_config", "decoder",
                                        "model_config",   "text_model_config",     "config",         "model"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_t *part = json_object_get(root, names[i]);
        if (json_is_object(part) && json_object_size(part) > 0)
            return text_part(part);
    }
    return root;
}

static json_t *vision_part(json_t *root)
{
    static const char *const names[] = {"vision_config", "vision_tower_config", "visual", "vision", "vit_config"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_t *part = json_object_get(root, names[i]);
        if (json_is_object(part))
            return part;
    }
    json_t *thinker = json_object_get(root, "thinker_config");
    return thinker ? vision_part(thinker) : NULL;
}

/* A document around the file ("config": {...} in a record of a hub): the file itself. */
static json_t *unwrapped(json_t *root)
{
    static const char *const names[] = {"config", "model_config", "hf_config", "model", NULL};
    for (const char *const *name = names; *name; name++) {
        json_t *part = json_object_get(root, *name);
        bool own = json_object_get(root, "model_type") || json_object_get(root, "architectures");
        if (!own && (json_object_get(part, "model_type") || json_object_get(part, "architectures")))
            return unwrapped(part);
    }
    return root;
}

bool config_view_of(json_t *root, struct config_view *ret, const char **ret_why)
{
    memset(ret, 0, sizeof *ret);
    root = unwrapped(root);
    *ret_why = config_other_file(root);
    if (*ret_why)
        return false;
    if (json_array_size(json_object_get(root, "depths")) > 0) {
        *ret_why = "stages";
        return false;
    }
    ret->root = root;
    ret->text = text_part(root);
    ret->vision = vision_part(root);
    const char *type = json_string_value(json_object_get(ret->text, "model_type"));
    if (!type) /* llama.cpp's dump of a GGUF file */
        type =
            json_string_value(json_object_get(ret->text, json_object_get(ret->text, "arch") ? "arch" : "architecture"));
    const char *arch = *architecture(ret->text) ? architecture(ret->text) : architecture(root);
    lower(ret->type, sizeof ret->type, type ? type : *arch ? arch : config_guessed_type(ret->text));
    if (!ret->type[0]) /* diffusers */
        lower(ret->type, sizeof ret->type,
              json_is_string(json_object_get(root, "_class_name"))
                  ? json_string_value(json_object_get(root, "_class_name"))
                  : "");
    if (strncmp(ret->type, "rwforcausallm", 13) == 0 || strncmp(ret->type, "rwmodel", 7) == 0)
        (void)snprintf(ret->type, sizeof ret->type, "falcon");
    ret->named = type || *arch;
    ret->family = family_of(ret->type);
    if (!ret->family && type && *arch) {
        char from_arch[64];
        lower(from_arch, sizeof from_arch, arch);
        ret->family = family_of(from_arch);
    }
    ret->family_known = ret->family != NULL;
    bool both = (json_object_get(ret->text, "encoder_layers") && json_object_get(ret->text, "decoder_layers")) ||
                (json_object_get(ret->text, "num_encoder_layers") && json_object_get(ret->text, "num_decoder_layers"));
    if (!ret->family && both)
        ret->family = &two_stacks;
    if (!ret->family)
        ret->family = ret->text == root && json_object_get(root, "patch_size") && json_object_get(root, "image_size")
                          ? &picture_encoder
                          : &decoder;
    return true;
}

void config_view_as(struct config_view *v, const char *family)
{
    char first[sizeof v->type];
    (void)snprintf(first, sizeof first, "%.*s", (int)strcspn(family, " +"), family);
    lower(v->type, sizeof v->type, first);
    const struct config_family *known = family_of(v->type);
    v->family = known ? known : &decoder;
    v->family_known = known != NULL;
}

/* ---- members ----------------------------------------------------------------------------------------------- */

static json_t *usable(json_t *v)
{
    return v && !json_is_null(v) ? v : NULL;
}

json_t *config_member(const struct config_view *v, const char *name)
{
    static const char *const parts[] = {"attn_config", "ffn_config", "ssm_cfg",           "ssm_config",
                                        "moe",         "moe_config", "linear_attn_config"};
    json_t *found = usable(json_object_get(v->text, name));
    for (size_t i = 0; !found && i < sizeof parts / sizeof *parts; i++)
        found = usable(json_object_get(json_object_get(v->text, parts[i]), name));
    return found ? found : usable(json_object_get(v->root, name));
}

static double number_of(json_t *v)
{
    if (json_is_number(v))
        return json_number_value(v);
    const char *digits = json_string_value(v); /* "4096": some writers quote everything */
    if (digits && *digits && strlen(digits) < 12 && strspn(digits, "0123456789") == strlen(digits))
        return strtod(digits, NULL);
    if (!json_is_array(v) || json_array_size(v) == 0)
        return 0;
    double sum = 0;
    size_t i;
    json_t *item;
    json_array_foreach(v, i, item)
    {
        sum += json_number_value(item);
    }
    return sum / (double)json_array_size(v);
}

double config_number(const struct config_view *v, const char *const *names)
{
    for (; *names; names++) {
        double n = number_of(config_member(v, *names));
        if (n > 0)
            return n;
    }
    return 0;
}

bool config_has(const struct config_view *v, const char *name)
{
    return config_member(v, name) != NULL;
}

int config_flag(const struct config_view *v, const char *name)
{
    json_t *f = config_member(v, name);
    return json_is_boolean(f) ? json_is_true(f) : -1;
}

const char *config_string(const struct config_view *v, const char *name)
{
    const char *s = json_string_value(config_member(v, name));
    return s ? s : "";
}
