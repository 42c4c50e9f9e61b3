/* enum_alias.c — second names of wire values, mainly of weight formats, which every toolkit names its own way. */
#include "api/enum_alias.h"

#include <ctype.h>
#include <string.h>

#define NAME_MAX_BYTES 40

static const struct {
    enum workload_enum of;
    const char *alias, *name;
} aliases[] = {
    {ENUM_ENGINE, "trtllm", "tensorrt_llm"},
    {ENUM_ENGINE, "trt_llm", "tensorrt_llm"},
    {ENUM_ENGINE, "tensorrt", "tensorrt_llm"},
    {ENUM_ENGINE, "llamacpp", "llama_cpp"},
    {ENUM_ENGINE, "llama.cpp", "llama_cpp"},
    {ENUM_ENGINE, "ollama", "llama_cpp"},
    {ENUM_ENGINE, "hf", "transformers"},
    {ENUM_ENGINE, "huggingface", "transformers"},
    {ENUM_ENGINE, "exllama", "exllamav2"},
    {ENUM_ENGINE, "mlc_llm", "mlc"},
    {ENUM_ENGINE, "text_generation_inference", "tgi"},
    {ENUM_ENGINE, "vllm_ascend", "vllm"},
    {ENUM_PRECISION, "bfloat16", "bf16"},
    {ENUM_PRECISION, "float16", "fp16"},
    {ENUM_PRECISION, "half", "fp16"},
    {ENUM_PRECISION, "float32", "fp32"},
    {ENUM_PRECISION, "nvfp4", "fp4"},
    {ENUM_OPTIMIZER, "adam", "adamw"},
    {ENUM_OPTIMIZER, "adam8bit", "adamw_8bit"},
    {ENUM_OPTIMIZER, "adamw8bit", "adamw_8bit"},
    {ENUM_OPTIMIZER, "paged_adamw_8bit", "adamw_8bit"},
    {ENUM_SHARDING, "fsdp", "zero3"},
    {ENUM_SHARDING, "full_shard", "zero3"},
    {ENUM_SHARDING, "ddp", "none"},
    {ENUM_METHOD, "full", "full_finetune"},
    {ENUM_METHOD, "sft", "full_finetune"},
    {ENUM_METHOD, "pretraining", "pretrain"},
    {ENUM_WEIGHT_FORMAT, "bfloat16", "bf16"},
    {ENUM_WEIGHT_FORMAT, "float16", "fp16"},
    {ENUM_WEIGHT_FORMAT, "fp8_e4m3", "fp8"},
    {ENUM_WEIGHT_FORMAT, "fp8_dynamic", "fp8"},
    {ENUM_WEIGHT_FORMAT, "fp8_block", "fp8"},
    {ENUM_WEIGHT_FORMAT, "w8a8", "int8"},
    {ENUM_WEIGHT_FORMAT, "w8a8_int8", "int8"},
    {ENUM_WEIGHT_FORMAT, "int8_sq", "int8"},
    {ENUM_WEIGHT_FORMAT, "smoothquant", "int8"},
    {ENUM_WEIGHT_FORMAT, "w8a16", "int8_weight_only"},
    {ENUM_WEIGHT_FORMAT, "int8_wo", "int8_weight_only"},
    {ENUM_WEIGHT_FORMAT, "w4a16", "int4"},
    {ENUM_WEIGHT_FORMAT, "int4_wo", "int4"},
    {ENUM_WEIGHT_FORMAT, "int4_weight_only", "int4"},
    {ENUM_WEIGHT_FORMAT, "int4_awq", "awq"},
    {ENUM_WEIGHT_FORMAT, "awq_int4", "awq"},
    {ENUM_WEIGHT_FORMAT, "awq_marlin", "awq"},
    {ENUM_WEIGHT_FORMAT, "gptq_int4", "gptq"},
    {ENUM_WEIGHT_FORMAT, "int4_gptq", "gptq"},
    {ENUM_WEIGHT_FORMAT, "gptq_marlin", "gptq"},
    {ENUM_WEIGHT_FORMAT, "nf4", "bnb4"},
    {ENUM_WEIGHT_FORMAT, "bnb", "bnb4"},
    {ENUM_WEIGHT_FORMAT, "bitsandbytes", "bnb4"},
    {ENUM_WEIGHT_FORMAT, "fp4", "nvfp4"},
    {ENUM_WEIGHT_FORMAT, "exl3", "exl2"},
    {ENUM_WEIGHT_FORMAT, "q4f16_1", "q4f16"},
};

/* A format's many variants: the nearest of its family, of the same bits. */
static const char *format_family(const char *name)
{
    static const char *const families[][2] = {
        {"fp8", "fp8"},        {"awq", "awq"},         {"gptq", "gptq"},       {"nvfp4", "nvfp4"},
        {"mxfp4", "mxfp4"},    {"int8", "int8"},       {"int4", "int4"},       {"bnb", "bnb4"},
        {"exl", "exl2"},       {"q4f", "q4f16"},       {"q2", "gguf_q2_k"},    {"iq2", "gguf_q2_k"},
        {"q3", "gguf_q3_k_m"}, {"iq3", "gguf_q3_k_m"}, {"iq4", "gguf_iq4_xs"}, {"q4", "gguf_q4_k_m"},
        {"q5", "gguf_q5_k_m"}, {"q6", "gguf_q6_k"},    {"q8", "gguf_q8_0"},    {"f16", "gguf_f16"},
        {"bf16", "gguf_f16"},
    };
    const char *kind = strncmp(name, "gguf_", 5) == 0 ? name + 5 : name;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strncmp(kind, families[i][0], strlen(families[i][0])) == 0)
            return families[i][1];
    return NULL;
}

int enum_alias_parse(enum workload_enum e, const char *name, int *ret)
{
    char plain[NAME_MAX_BYTES];
    size_t n = strlen(name);
    if (workload_enum_parse(e, name, ret) == 0)
        return 0;
    if (n >= sizeof plain)
        return -1;
    for (size_t i = 0; i <= n; i++)
        plain[i] = name[i] == '-' || name[i] == ' ' ? '_' : (char)tolower((unsigned char)name[i]);
    if (workload_enum_parse(e, plain, ret) == 0)
        return 0;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (aliases[i].of == e && strcmp(aliases[i].alias, plain) == 0)
            return workload_enum_parse(e, aliases[i].name, ret);
    const char *family = e == ENUM_WEIGHT_FORMAT ? format_family(plain) : NULL;
    return family ? workload_enum_parse(e, family, ret) : -1;
}
