/* workload.h — what the customer wants: training and/or serving, measurements, constraints.
 *
 * Decoded by api/ (wire names as in docs/api.md), checked by workload_check, completed with defaults by the rooms
 * that need them. 0 / *_UNSTATED means "not stated" except where a field says otherwise. Strings live in the
 * request's arena. All shares are 0..1, all _pct are 0..100.
 */
#ifndef SUANPAN_PLANNER_CORE_WORKLOAD_H
#define SUANPAN_PLANNER_CORE_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/date.h"
#include "base/fault.h"
#include "planner/core/model.h"

enum method {
    METHOD_UNSTATED = 0,
    METHOD_PRETRAIN,
    METHOD_FULL_FINETUNE,
    METHOD_LORA,
    METHOD_QLORA,
    METHOD_EMBEDDING, /* embedding of a corpus: forward passes only */
    METHOD_CUSTOM     /* no transformer: measured samples/s, or flops_per_sample */
};
enum precision { PREC_UNSTATED = 0, PREC_BF16, PREC_FP16, PREC_FP8, PREC_FP4, PREC_TF32, PREC_FP32 };
enum optimizer { OPT_UNSTATED = 0, OPT_ADAMW, OPT_ADAMW_8BIT, OPT_ADAFACTOR, OPT_SGD, OPT_LION, OPT_MUON };
enum loss_impl { LOSS_UNSTATED = 0, LOSS_EAGER, LOSS_CHUNKED, LOSS_FUSED };
enum sharding { SHARD_UNSTATED = 0, SHARD_NONE, SHARD_ZERO1, SHARD_ZERO2, SHARD_ZERO3 };
enum offload { OFFLOAD_UNSTATED = 0, OFFLOAD_NONE, OFFLOAD_OPTIMIZER, OFFLOAD_PARAMETERS, OFFLOAD_ACTIVATIONS };
enum recompute { RECOMPUTE_UNSTATED = 0, RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL };
enum grad_sync { GRAD_SYNC_UNSTATED = 0, GRAD_SYNC_EACH, GRAD_SYNC_LAST };
enum ep_dispatch { EP_DISPATCH_UNSTATED = 0, EP_DISPATCH_ALLTOALL, EP_DISPATCH_DEEPEP };
enum team { TEAM_UNSTATED = 0, TEAM_NONE, TEAM_SINGLE_NODE, TEAM_SLURM, TEAM_KUBERNETES, TEAM_EXPERT };
enum priority { PRIORITY_UNSTATED = 0, PRIORITY_CHEAPEST, PRIORITY_BALANCED, PRIORITY_FASTEST };
enum option_kind { KIND_SINGLE_MACHINE = 0, KIND_SMALL_CLUSTER, KIND_HYBRID_CLOUD, KIND_UNIVERSITY_TIME, KIND_COUNT };
enum language { LANG_ZH_CN = 0, LANG_EN };
enum engine {
    ENGINE_UNSTATED = 0,
    ENGINE_VLLM,
    ENGINE_SGLANG,
    ENGINE_TENSORRT_LLM,
    ENGINE_LMDEPLOY,
    ENGINE_MINDIE,
    ENGINE_LLAMA_CPP,
    ENGINE_TGI,
    ENGINE_TRANSFORMERS,
    ENGINE_EXLLAMAV2,
    ENGINE_MLC,
    ENGINE_AUTOAWQ,
    ENGINE_ATOM
};
enum weight_format {
    WF_UNSTATED = 0,
    WF_BF16,
    WF_FP16,
    WF_FP32,
    WF_FP8,
    WF_FP8_FBGEMM,
    WF_INT8,
    WF_INT8_WEIGHT_ONLY,
    WF_GPTQ,
    WF_AWQ,
    WF_INT4,
    WF_BNB4,
    WF_NVFP4,
    WF_MXFP4,
    WF_Q4F16,
    WF_EXL2,
    WF_GGUF,
    WF_GGUF_F16,
    WF_GGUF_Q2_K,
    WF_GGUF_Q3_K_M,
    WF_GGUF_IQ4_XS,
    WF_GGUF_Q4_K_M,
    WF_GGUF_Q5_K_M,
    WF_GGUF_Q6_K,
    WF_GGUF_Q8_0
};
enum scenario { SCEN_UNSTATED = 0, SCEN_FIXED_BATCH, SCEN_OFFLINE, SCEN_SERVER, SCEN_SINGLE_STREAM };

/* What a diagnosis concludes (planner/diagnosis/), here because a workload may carry it. In order of precedence: of two
 * findings the later one is the verdict. */
enum verdict {
    VERDICT_INSUFFICIENT = 0,    /* too little to judge */
    VERDICT_HEALTHY,             /* works as it should; no need shown */
    VERDICT_PCIE_BOUND,          /* cards joined by PCIe only */
    VERDICT_REAL_NEED,           /* add cards of the same model */
    VERDICT_WAITING,             /* busy, but far under the power limit */
    VERDICT_BANDWIDTH_BOUND,     /* memory bandwidth saturated while compute idles */
    VERDICT_UNSTABLE_ITERATIONS, /* CPU preprocessing or network I/O */
    VERDICT_DATA_PIPELINE,       /* data loading or code */
    VERDICT_COUNT
};

/* Wire name of an enum value <-> value, one table each (workload_names.c): workload_enum_name(ENUM_METHOD, v). */
enum workload_enum {
    ENUM_METHOD,
    ENUM_PRECISION,
    ENUM_OPTIMIZER,
    ENUM_LOSS_IMPL,
    ENUM_SHARDING,
    ENUM_OFFLOAD,
    ENUM_RECOMPUTE,
    ENUM_GRAD_SYNC,
    ENUM_EP_DISPATCH,
    ENUM_TEAM,
    ENUM_PRIORITY,
    ENUM_KIND,
    ENUM_LANGUAGE,
    ENUM_ENGINE,
    ENUM_WEIGHT_FORMAT,
    ENUM_SCENARIO,
    ENUM_FFN,
    ENUM_VERDICT
};
const char *workload_enum_name(enum workload_enum e, int value);           /* NULL for unstated or unknown */
int workload_enum_parse(enum workload_enum e, const char *name, int *ret); /* -1 when unknown */
/* "bf16, fp16, ..." for a refusal's detail. Static. */
const char *workload_enum_choices(enum workload_enum e);

/* How the work is cut over the GPUs. 0 / UNSTATED members are free for the search. */
struct layout {
    int tp, pp, vpp, dp, cp, ep;
    enum sharding sharding;
    int shard_group; /* ranks that share one copy of what is sharded; 0 = all of dp (x cp) */
    enum offload offload;
    enum recompute recompute;
    int micro_batch;
    enum tri flash_attention;
    enum tri vocab_parallel;
    enum tri async_tp;
    enum grad_sync grad_sync;
    enum ep_dispatch ep_dispatch;
};

struct training {
    bool stated;
    enum method method;
    double tokens, samples, steps; /* amount of one run: one of these, or none (estimates only) */
    double epochs;                 /* 0 = 1 */
    int seq_len;                   /* 0 = default 4096 (or the model's maximum where smaller) */
    int global_batch;              /* sequences a step; 0 = chosen */
    int grad_accumulation;         /* 0 = derived */
    enum tri packed;
    double mean_len; /* unpacked data: mean real tokens of a sequence; 0 = not stated */
    enum precision precision;
    enum optimizer optimizer;
    int runs, parallel_runs; /* 0 = 1 */
    int shareable_runs;      /* of `runs`: use only public or synthetic data, so they may leave; < 0 = not stated */
    double dataset_gb;
    int checkpoints_kept; /* 0 = default */
    int lora_rank;        /* 0 = default 16 */
    double quant_bits;    /* qlora; 0 = 4 */
    enum tri compile, master_weights, train_embeddings, optimizer_in_backward;
    enum loss_impl loss_impl;
    bool fp8_mx; /* fp8_recipe mxfp8 */
    /* method custom: */
    double flops_per_sample; /* forward + backward of one sample */
    double state_gb, activation_gb_per_sample;
};

/* What was read on real machines. */
struct measured {
    bool stated;
    const char *gpu;                                 /* catalog id or alias as written */
    int gpus, nodes;                                 /* 0 = 1 */
    double tokens_per_s, samples_per_s, step_time_s; /* of the whole job; one of these or none */
    int seq_len, global_batch;                       /* 0 = the workload's */
    struct layout layout;
    double gpu_util_pct, memory_used_pct, peak_memory_gb, comm_share_pct, iteration_time_cv; /* < 0 = not stated */
    double recoverable_share;                           /* of the diagnosis; < 0 = not stated */
    double two_node_speedup, parallel_file_system_gbps; /* 0 = not stated */
    enum verdict verdict; /* of the diagnosis these readings come from; INSUFFICIENT = not stated */
};

struct serving {
    bool stated;
    bool own_model; /* `model` below differs from the trained one */
    struct model model;
    double weight_bits, kv_bits;                                       /* 0 = not stated */
    double requests_per_s, concurrency, users, requests_per_user_hour; /* load: one of the first three, or none */
    double peak_factor;
    int input_tokens, output_tokens;
    double ttft_ms, tpot_ms; /* targets; 0 = none */
    double hours_per_day;    /* 0 = 24 */
    double months;           /* months_stated tells 0 (no serving wanted) from not stated */
    bool months_stated;
    double batch_share; /* of the requests, that nobody waits for; 0 = none */
    int spare_replicas; /* < 0 = not stated */
    enum engine engine;
    const char *engine_version; /* NULL = not stated */
    enum weight_format weight_format;
    bool speculative_mtp, attention_dp, enforce_eager;
};

/* One fixed operating point of an estimate. */
struct operating_point {
    bool stated;
    int batch; /* requests in flight; 0 = not stated (memory facts only) */
    int input_tokens, output_tokens;
    int max_model_len, max_num_seqs, max_num_batched_tokens; /* 0 = engine's default */
    double gpu_memory_utilization;                           /* 0 = engine's default */
    bool decode_only;
    enum scenario scenario;
};

struct constraints {
    date_t start_on, deadline_on; /* DATE_NONE = not stated */
    int64_t budget_minor;         /* 0 = none; in budget_currency */
    char budget_currency[4];
    const char *city; /* "hefei", "shenzhen", "wuhan", ... ; NULL = any */
    bool data_sensitive;
    enum tri can_desensitise;
    double egress_gb; /* < 0 = not stated: what the training makes is brought home */
    enum team team;
    int max_nodes; /* 0 = no limit of the caller's */
    bool allow_spot;
    bool kinds[KIND_COUNT]; /* all true when not stated */
    const char **gpus;      /* catalog ids; n = 0: any */
    size_t n_gpus;
    const char **providers;
    size_t n_providers;
    bool mix_gpus;   /* the caller asks for different cards in one job: answered by slow_card_gates */
    double wan_gbps; /* customer's line for staging; 0 = default */
};

struct assumption_override {
    const char *name;
    double value;
};

struct workload {
    const char *name;   /* NULL = none */
    const char *preset; /* model preset as written, NULL when the architecture was given */
    struct model model;
    struct training training;
    struct measured measured;
    struct serving serving;
    struct constraints constraints;
    enum priority priority; /* UNSTATED = balanced */
    char currency[4];       /* "CNY" when not stated */
    enum language language;
    struct assumption_override *overrides;
    size_t n_overrides;
};

/* An unstated workload with every "not stated" marker in place (kinds all true, negatives for unread readings). */
void workload_init(struct workload *w);

/* Contradictions and impossible pairs that a field-by-field decoder cannot see (deadline before start, both
 * requests_per_s and concurrency, no amount of work where `need_amount`, tp not dividing heads, ...), pointers below
 * `pointer` ("/workload"). */
void workload_check(const struct workload *w, const char *pointer, bool need_amount, struct fault_list *faults);
void layout_check(const struct layout *l, const struct model *m, int gpus, const char *pointer,
                  struct fault_list *faults);

#endif
