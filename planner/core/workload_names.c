/* workload_names.c — the wire names of a workload's enums, one list each.
 *
 * A list is written once and read three ways: value -> name, name -> value, and the sentence of choices in a refusal.
 */
#include "planner/core/names.h"
#include "planner/core/workload.h"

/* It tears lists of macros apart, differently each time. */
/* clang-format off */
#define METHODS(X)                                                                                                     \
    X(METHOD_PRETRAIN, "pretrain")                                                                                     \
    X(METHOD_FULL_FINETUNE, "full_finetune")                                                                           \
    X(METHOD_LORA, "lora")                                                                                             \
    X(METHOD_QLORA, "qlora")                                                                                           \
    X(METHOD_EMBEDDING, "embedding")                                                                                   \
    X(METHOD_CUSTOM, "custom")
#define PRECISIONS(X)                                                                                                  \
    X(PREC_BF16, "bf16")                                                                                               \
    X(PREC_FP16, "fp16")                                                                                               \
    X(PREC_FP8, "fp8")                                                                                                 \
    X(PREC_FP4, "fp4")                                                                                                 \
    X(PREC_TF32, "tf32")                                                                                               \
    X(PREC_FP32, "fp32")
#define OPTIMIZERS(X)                                                                                                  \
    X(OPT_ADAMW, "adamw")                                                                                              \
    X(OPT_ADAMW_8BIT, "adamw_8bit")                                                                                    \
    X(OPT_ADAFACTOR, "adafactor")                                                                                      \
    X(OPT_SGD, "sgd")                                                                                                  \
    X(OPT_LION, "lion")                                                                                                \
    X(OPT_MUON, "muon")
#define LOSSES(X)                                                                                                      \
    X(LOSS_EAGER, "eager")                                                                                             \
    X(LOSS_CHUNKED, "chunked")                                                                                         \
    X(LOSS_FUSED, "fused")
#define SHARDINGS(X)                                                                                                   \
    X(SHARD_NONE, "none")                                                                                              \
    X(SHARD_ZERO1, "zero1")                                                                                            \
    X(SHARD_ZERO2, "zero2")                                                                                            \
    X(SHARD_ZERO3, "zero3")
#define OFFLOADS(X)                                                                                                    \
    X(OFFLOAD_NONE, "none")                                                                                            \
    X(OFFLOAD_OPTIMIZER, "optimizer")                                                                                  \
    X(OFFLOAD_PARAMETERS, "parameters")                                                                                \
    X(OFFLOAD_ACTIVATIONS, "activations")
#define RECOMPUTES(X)                                                                                                  \
    X(RECOMPUTE_NONE, "none")                                                                                          \
    X(RECOMPUTE_SELECTIVE, "selective")                                                                                \
    X(RECOMPUTE_FULL, "full")
#define GRAD_SYNCS(X)                                                                                                  \
    X(GRAD_SYNC_EACH, "each")                                                                                          \
    X(GRAD_SYNC_LAST, "last")
#define EP_DISPATCHES(X)                                                                                               \
    X(EP_DISPATCH_ALLTOALL, "alltoall")                                                                                \
    X(EP_DISPATCH_DEEPEP, "deepep")
#define TEAMS(X)                                                                                                       \
    X(TEAM_NONE, "none")                                                                                               \
    X(TEAM_SINGLE_NODE, "single_node")                                                                                 \
    X(TEAM_SLURM, "slurm")                                                                                             \
    X(TEAM_KUBERNETES, "kubernetes")                                                                                   \
    X(TEAM_EXPERT, "expert")
#define PRIORITIES(X)                                                                                                  \
    X(PRIORITY_CHEAPEST, "cheapest")                                                                                   \
    X(PRIORITY_BALANCED, "balanced")                                                                                   \
    X(PRIORITY_FASTEST, "fastest")
#define KINDS(X)                                                                                                       \
    X(KIND_SINGLE_MACHINE, "single_machine")                                                                           \
    X(KIND_SMALL_CLUSTER, "small_cluster")                                                                             \
    X(KIND_HYBRID_CLOUD, "hybrid_cloud")                                                                               \
    X(KIND_UNIVERSITY_TIME, "university_time")
#define LANGUAGES(X)                                                                                                   \
    X(LANG_ZH_CN, "zh-CN")                                                                                             \
    X(LANG_EN, "en")
#define ENGINES(X)                                                                                                     \
    X(ENGINE_VLLM, "vllm")                                                                                             \
    X(ENGINE_SGLANG, "sglang")                                                                                         \
    X(ENGINE_TENSORRT_LLM, "tensorrt_llm")                                                                             \
    X(ENGINE_LMDEPLOY, "lmdeploy")                                                                                     \
    X(ENGINE_MINDIE, "mindie")                                                                                         \
    X(ENGINE_LLAMA_CPP, "llama_cpp")                                                                                   \
    X(ENGINE_TGI, "tgi")                                                                                               \
    X(ENGINE_TRANSFORMERS, "transformers")                                                                             \
    X(ENGINE_EXLLAMAV2, "exllamav2")                                                                                   \
    X(ENGINE_MLC, "mlc")                                                                                               \
    X(ENGINE_AUTOAWQ, "autoawq")                                                                                       \
    X(ENGINE_ATOM, "atom")
#define WEIGHT_FORMATS(X)                                                                                              \
    X(WF_BF16, "bf16")                                                                                                 \
    X(WF_FP16, "fp16")                                                                                                 \
    X(WF_FP32, "fp32")                                                                                                 \
    X(WF_FP8, "fp8")                                                                                                   \
    X(WF_FP8_FBGEMM, "fp8_fbgemm")                                                                                     \
    X(WF_INT8, "int8")                                                                                                 \
    X(WF_INT8_WEIGHT_ONLY, "int8_weight_only")                                                                         \
    X(WF_GPTQ, "gptq")                                                                                                 \
    X(WF_AWQ, "awq")                                                                                                   \
    X(WF_INT4, "int4")                                                                                                 \
    X(WF_BNB4, "bnb4")                                                                                                 \
    X(WF_NVFP4, "nvfp4")                                                                                               \
    X(WF_MXFP4, "mxfp4")                                                                                               \
    X(WF_Q4F16, "q4f16")                                                                                               \
    X(WF_EXL2, "exl2")                                                                                                 \
    X(WF_GGUF, "gguf")                                                                                                 \
    X(WF_GGUF_F16, "gguf_f16")                                                                                         \
    X(WF_GGUF_Q2_K, "gguf_q2_k")                                                                                       \
    X(WF_GGUF_Q3_K_M, "gguf_q3_k_m")                                                                                   \
    X(WF_GGUF_IQ4_XS, "gguf_iq4_xs")                                                                                   \
    X(WF_GGUF_Q4_K_M, "gguf_q4_k_m")                                                                                   \
    X(WF_GGUF_Q5_K_M, "gguf_q5_k_m")                                                                                   \
    X(WF_GGUF_Q6_K, "gguf_q6_k")                                                                                       \
    X(WF_GGUF_Q8_0, "gguf_q8_0")
#define SCENARIOS(X)                                                                                                   \
    X(SCEN_FIXED_BATCH, "fixed_batch")                                                                                 \
    X(SCEN_OFFLINE, "offline")                                                                                         \
    X(SCEN_SERVER, "server")                                                                                           \
    X(SCEN_SINGLE_STREAM, "single_stream")
#define VERDICTS(X)                                                                                                    \
    X(VERDICT_INSUFFICIENT, "insufficient")                                                                            \
    X(VERDICT_HEALTHY, "healthy")                                                                                      \
    X(VERDICT_PCIE_BOUND, "pcie_bound")                                                                                \
    X(VERDICT_REAL_NEED, "real_need")                                                                                  \
    X(VERDICT_WAITING, "waiting")                                                                                      \
    X(VERDICT_BANDWIDTH_BOUND, "bandwidth_bound")                                                                      \
    X(VERDICT_UNSTABLE_ITERATIONS, "unstable_iterations")                                                              \
    X(VERDICT_DATA_PIPELINE, "data_pipeline")
#define FFNS(X)                                                                                                        \
    X(FFN_GATED, "gated")                                                                                              \
    X(FFN_PLAIN, "plain")
/* clang-format on */

struct enum_names {
    const char *const *names;
    size_t n;
    const char *choices;
};

#define AS_NAME(value, text) [value] = (text),
#define AS_CHOICE(value, text) ", " text
#define NAMES(id, list) static const char *const id[] = {list(AS_NAME)};
#define ROW(id, list)                                                                                                  \
    {                                                                                                                  \
        id, sizeof id / sizeof *id, list(AS_CHOICE) ""                                                                 \
    }

NAMES(methods, METHODS)
NAMES(precisions, PRECISIONS)
NAMES(optimizers, OPTIMIZERS)
NAMES(losses, LOSSES)
NAMES(shardings, SHARDINGS)
NAMES(offloads, OFFLOADS)
NAMES(recomputes, RECOMPUTES)
NAMES(grad_syncs, GRAD_SYNCS)
NAMES(ep_dispatches, EP_DISPATCHES)
NAMES(teams, TEAMS)
NAMES(priorities, PRIORITIES)
NAMES(kinds, KINDS)
NAMES(languages, LANGUAGES)
NAMES(engines, ENGINES)
NAMES(weight_formats, WEIGHT_FORMATS)
NAMES(scenarios, SCENARIOS)
NAMES(ffns, FFNS)
NAMES(verdicts, VERDICTS)

static const struct enum_names TABLE[] = {
    [ENUM_METHOD] = ROW(methods, METHODS),
    [ENUM_PRECISION] = ROW(precisions, PRECISIONS),
    [ENUM_OPTIMIZER] = ROW(optimizers, OPTIMIZERS),
    [ENUM_LOSS_IMPL] = ROW(losses, LOSSES),
    [ENUM_SHARDING] = ROW(shardings, SHARDINGS),
    [ENUM_OFFLOAD] = ROW(offloads, OFFLOADS),
    [ENUM_RECOMPUTE] = ROW(recomputes, RECOMPUTES),
    [ENUM_GRAD_SYNC] = ROW(grad_syncs, GRAD_SYNCS),
    [ENUM_EP_DISPATCH] = ROW(ep_dispatches, EP_DISPATCHES),
    [ENUM_TEAM] = ROW(teams, TEAMS),
    [ENUM_PRIORITY] = ROW(priorities, PRIORITIES),
    [ENUM_KIND] = ROW(kinds, KINDS),
    [ENUM_LANGUAGE] = ROW(languages, LANGUAGES),
    [ENUM_ENGINE] = ROW(engines, ENGINES),
    [ENUM_WEIGHT_FORMAT] = ROW(weight_formats, WEIGHT_FORMATS),
    [ENUM_SCENARIO] = ROW(scenarios, SCENARIOS),
    [ENUM_FFN] = ROW(ffns, FFNS),
    [ENUM_VERDICT] = ROW(verdicts, VERDICTS),
};

const char *workload_enum_name(enum workload_enum e, int value)
{
    return names_get(TABLE[e].names, TABLE[e].n, value);
}

int workload_enum_parse(enum workload_enum e, const char *name, int *ret)
{
    return names_parse(TABLE[e].names, TABLE[e].n, name, ret);
}

const char *workload_enum_choices(enum workload_enum e)
{
    return TABLE[e].choices + 2; /* past the first ", " */
}
