/* Launch text matches the layout: the DeepSpeed file parses and multiplies out, all shell passes shellcheck. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "planner/takeaway/launch.h"
#include "tests/support/small_market.h"
#include "tests/support/test_catalog.h"

static const struct gpu a100 = {.id = "a100-sxm4-80g", .name = "A100-80G-SXM4", .vendor = "NVIDIA", .memory_gb = 80};
static const struct gpu ascend = {
    .id = "ascend-910b3-64g", .name = "Ascend 910B3", .vendor = "Huawei", .memory_gb = 64};

struct launch_case {
    const char *name;
    enum method method;
    enum precision precision;
    enum optimizer optimizer;
    int gpus_per_node, nodes, global_batch;
    struct layout layout;
    const char *provider; /* "idc", "hpc", "university" */
    bool deepspeed, slurm;
    int stage;
    const char *torchrun_has[3];
};

static const struct launch_case cases[] = {
    {"one card",
     METHOD_QLORA,
     PREC_BF16,
     OPT_UNSTATED,
     1,
     1,
     16,
     {.micro_batch = 2},
     "idc",
     true,
     false,
     0,
     {"--standalone --nproc-per-node=1", "--quantization_bit 4", "--gradient_accumulation_steps 8"}},
    {"one card offload",
     METHOD_FULL_FINETUNE,
     PREC_BF16,
     OPT_ADAMW,
     1,
     1,
     16,
     {.micro_batch = 1, .offload = OFFLOAD_OPTIMIZER, .recompute = RECOMPUTE_FULL},
     "idc",
     true,
     false,
     1,
     {"--gradient_checkpointing true", "--bf16 true"}},
    {"ddp",
     METHOD_LORA,
     PREC_FP16,
     OPT_ADAMW_8BIT,
     8,
     1,
     64,
     {.dp = 8, .micro_batch = 4, .sharding = SHARD_NONE},
     "idc",
     true,
     false,
     0,
     {"--fp16 true", "adamw_bnb_8bit", "--lora_rank 16"}},
    {"zero1",
     METHOD_FULL_FINETUNE,
     PREC_BF16,
     OPT_LION,
     8,
     1,
     100,
     {.dp = 8, .micro_batch = 4, .sharding = SHARD_ZERO1},
     "idc",
     true,
     false,
     1,
     {"--per_device_train_batch_size 4"}},
    {"zero2",
     METHOD_FULL_FINETUNE,
     PREC_FP32,
     OPT_SGD,
     8,
     2,
     128,
     {.dp = 16, .micro_batch = 1, .sharding = SHARD_ZERO2},
     "idc",
     true,
     true,
     2,
     {"--nnodes=2 --nproc-per-node=8", "--node-rank=\"$NODE_RANK\"", "--optim sgd"}},
    {"zero3 offload",
     METHOD_FULL_FINETUNE,
     PREC_BF16,
     OPT_ADAMW,
     8,
     4,
     256,
     {.dp = 32, .micro_batch = 2, .sharding = SHARD_ZERO3, .shard_group = 8, .offload = OFFLOAD_PARAMETERS},
     "hpc",
     true,
     true,
     3,
     {"--nnodes=4"}},
    {"3d",
     METHOD_PRETRAIN,
     PREC_BF16,
     OPT_ADAMW,
     8,
     16,
     512,
     {.tp = 8, .pp = 2, .vpp = 2, .dp = 8, .micro_batch = 1, .sharding = SHARD_ZERO1, .recompute = RECOMPUTE_SELECTIVE},
     "hpc",
     false,
     true,
     0,
     {"--tensor-model-parallel-size 8 --pipeline-model-parallel-size 2 --sequence-parallel",
      "--num-layers-per-virtual-pipeline-stage 20", "--micro-batch-size 1 --global-batch-size 512"}},
    {"university",
     METHOD_LORA,
     PREC_BF16,
     OPT_ADAMW,
     4,
     1,
     32,
     {.dp = 4, .micro_batch = 4, .sharding = SHARD_ZERO2},
     "university",
     true,
     true,
     2,
     {"--standalone --nproc-per-node=4"}},
    {"embedding",
     METHOD_EMBEDDING,
     PREC_BF16,
     OPT_UNSTATED,
     8,
     1,
     0,
     {.dp = 8, .micro_batch = 64},
     "idc",
     false,
     false,
     0,
     {"embed.py", "--batch_size 64"}},
    {"custom",
     METHOD_CUSTOM,
     PREC_BF16,
     OPT_UNSTATED,
     8,
     2,
     256,
     {.dp = 16, .micro_batch = 4},
     "idc",
     false,
     true,
     0,
     {"train.py --batch-size-per-gpu 4 --gradient-accumulation 4"}},
};

static const struct provider providers[] = {
    {.id = "idc", .kind = PROVIDER_LOCAL_IDC},
    {.id = "hpc", .kind = PROVIDER_HPC_CENTRE},
    {.id = "university", .kind = PROVIDER_UNIVERSITY, .job_cap_h = 48},
};

static const struct provider *provider_named(const char *id)
{
    for (size_t i = 0; i < 3; i++)
        if (strcmp(providers[i].id, id) == 0)
            return &providers[i];
    return NULL;
}

/* Builds the launch text of a case on `gpu`; the structs must outlive the text only in the arena. */
static struct launch launch_of(const struct launch_case *c, const struct gpu *gpu, struct arena *arena,
                               struct workload *w)
{
    struct estimate e = {.layout = c->layout, .has_training = true};
    struct sku sku = {.id = "sku",
                      .provider = provider_named(c->provider),
                      .gpu = gpu,
                      .form = FORM_CONTAINER,
                      .gpus_per_node = c->gpus_per_node,
                      .cpu_cores = 96,
                      .host_memory_gb = 1024};
    struct shape shape = {.gpu = gpu, .gpus_per_node = c->gpus_per_node, .nodes = c->nodes, .inter = INTER_ROCE};
    workload_init(w);
    w->model = (struct model){.id = "llama-2-70b",
                              .layers = 80,
                              .hidden = 8192,
                              .heads = 64,
                              .kv_heads = 8,
                              .intermediate = 28672,
                              .ffn = FFN_GATED,
                              .max_context = 4096};
    w->training.stated = true;
    w->training.method = c->method;
    w->training.precision = c->precision;
    w->training.optimizer = c->optimizer;
    w->training.tokens = 1e9;
    e.training.global_batch = c->global_batch;
    e.training.wall_hours = 130.5;
    struct launch_request q = {.workload = w,
                               .estimate = &e,
                               .shape = &shape,
                               .sku = &sku,
                               .learning_rate = 1e-5,
                               .default_seq_tokens = 4096,
                               .default_lora_rank = 16,
                               .kind =
                                   strcmp(c->provider, "university") == 0 ? KIND_UNIVERSITY_TIME : KIND_SMALL_CLUSTER};
    struct launch out;
    struct err err;
    cr_assert_eq(launch_make(&q, arena, &out, &err), 0, "%s: %s", c->name, err.detail);
    return out;
}

static void check_deepspeed(const struct launch_case *c, const char *text)
{
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    cr_assert(root, "%s: line %d: %s\n%s", c->name, error.line, error.text, text);
    json_int_t total = json_integer_value(json_object_get(root, "train_batch_size"));
    json_int_t micro = json_integer_value(json_object_get(root, "train_micro_batch_size_per_gpu"));
    json_int_t accumulation = json_integer_value(json_object_get(root, "gradient_accumulation_steps"));
    int ranks = c->gpus_per_node * c->nodes;
    cr_expect_eq(total, micro * accumulation * ranks, "%s: %lld", c->name, (long long)total);
    cr_expect_eq(micro, c->layout.micro_batch, "%s", c->name);
    cr_expect(llabs(total - c->global_batch) < micro * ranks, "%s: batch %lld far from %d", c->name, (long long)total,
              c->global_batch);
    json_t *zero = json_object_get(root, "zero_optimization");
    cr_expect_eq(json_integer_value(json_object_get(zero, "stage")), c->stage, "%s", c->name);
    bool offload = c->layout.offload == OFFLOAD_OPTIMIZER || c->layout.offload == OFFLOAD_PARAMETERS;
    cr_expect_eq(json_object_get(zero, "offload_optimizer") != NULL, offload, "%s", c->name);
    cr_expect_eq(json_object_get(zero, "offload_param") != NULL, c->layout.offload == OFFLOAD_PARAMETERS, "%s",
                 c->name);
    cr_expect_eq(json_is_true(json_object_get(json_object_get(root, "fp16"), "enabled")), c->precision == PREC_FP16,
                 "%s", c->name);
    cr_expect_not(json_is_true(json_object_get(json_object_get(root, "fp16"), "enabled")) &&
                  json_is_true(json_object_get(json_object_get(root, "bf16"), "enabled")));
    json_decref(root);
}

Test(launch, text_matches_the_layout)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct launch_case *c = &cases[i];
        struct arena *arena = arena_new(1 << 20);
        struct workload w;
        struct launch l = launch_of(c, &a100, arena, &w);
        cr_assert(l.torchrun, "%s", c->name);
        for (size_t k = 0; k < 3 && c->torchrun_has[k]; k++)
            cr_expect(strstr(l.torchrun, c->torchrun_has[k]), "%s: no `%s` in\n%s", c->name, c->torchrun_has[k],
                      l.torchrun);
        cr_expect_eq(l.deepspeed_config != NULL, c->deepspeed, "%s", c->name);
        if (l.deepspeed_config)
            check_deepspeed(c, l.deepspeed_config);
        cr_expect_eq(l.slurm != NULL, c->slurm, "%s", c->name);
        arena_free(arena);
    }
}

Test(launch, university_job_cap_becomes_a_chain_of_restarting_jobs)
{
    struct arena *arena = arena_new(1 << 20);
    struct workload w;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, "university") != 0)
            continue;
        struct launch l = launch_of(&cases[i], &a100, arena, &w);
        cr_assert(l.slurm);
        cr_expect(strstr(l.slurm, "#SBATCH --array=1-3%1"), "%s", l.slurm); /* 130.5 h in jobs of 48 h */
        cr_expect(strstr(l.slurm, "#SBATCH --time=2-00:00:00"), "%s", l.slurm);
        cr_expect_null(l.kubernetes);
    }
    arena_free(arena);
}

Test(launch, kubernetes_asks_for_the_makers_own_resource)
{
    struct arena *arena = arena_new(1 << 20);
    struct workload w;
    struct launch nvidia = launch_of(&cases[4], &a100, arena, &w), huawei = launch_of(&cases[4], &ascend, arena, &w);
    cr_assert(nvidia.kubernetes && huawei.kubernetes);
    cr_expect(strstr(nvidia.kubernetes, "nvidia.com/gpu: 8"));
    cr_expect(strstr(nvidia.kubernetes, "rdma/hca: 1"));
    cr_expect(strstr(nvidia.kubernetes, "completions: 2"));
    cr_expect(strstr(huawei.kubernetes, "huawei.com/Ascend910: 8"));
    cr_expect(strstr(nvidia.slurm, "#SBATCH --gpus-per-node=8\n"), "%s", nvidia.slurm);
    cr_expect(strstr(huawei.slurm, "#SBATCH --gres=npu:8\n"), "%s", huawei.slurm);
    cr_expect_not(strstr(huawei.kubernetes, "rdma/hca"), "its network cards are in the cards");
    arena_free(arena);
}

Test(launch, serving_command_carries_the_replicas_parallelism)
{
    struct arena *arena = arena_new(1 << 20);
    struct workload w;
    workload_init(&w);
    w.model = (struct model){.id = "qwen2.5-72b"};
    w.serving.stated = true;
    w.serving.input_tokens = 1000, w.serving.output_tokens = 300;
    struct estimate e = {.layout = {.tp = 4, .dp = 1}, .has_serving = true};
    struct shape shape = {.gpu = &a100, .gpus_per_node = 4, .nodes = 1};
    struct launch_request q = {.workload = &w, .estimate = &e, .shape = &shape};
    struct launch l;
    struct err err;
    const enum engine engines[] = {ENGINE_UNSTATED, ENGINE_SGLANG, ENGINE_LMDEPLOY, ENGINE_TENSORRT_LLM};
    const char *expected[] = {"vllm serve qwen2.5-72b --tensor-parallel-size 4 --max-model-len 1300\n",
                              "sglang.launch_server --model-path qwen2.5-72b --tp-size 4 --context-length 1300\n",
                              "lmdeploy serve api_server qwen2.5-72b --tp 4 --session-len 1300\n",
                              "trtllm-serve qwen2.5-72b --tp_size 4 --max_seq_len 1300\n"};
    for (size_t i = 0; i < 4; i++) {
        w.serving.engine = engines[i];
        cr_assert_eq(launch_make(&q, arena, &l, &err), 0);
        cr_expect_null(l.torchrun);
        cr_expect_null(l.deepspeed_config);
        cr_assert(l.serve);
        cr_expect(strstr(l.serve, expected[i]), "%s", l.serve);
    }
    arena_free(arena);
}

/* What was reckoned with four bits must not be started with sixteen. */
Test(launch, serving_command_carries_the_packing_of_the_weights)
{
    static const struct {
        enum engine engine;
        enum weight_format format;
        double bits;
        const struct gpu *gpu;
        const char *line;
    } rows[] = {
        {ENGINE_UNSTATED, WF_UNSTATED, 0, &a100, "vllm serve m --max-model-len 1300\n"},
        {ENGINE_UNSTATED, WF_UNSTATED, 16, &a100, "vllm serve m --max-model-len 1300\n"},
        {ENGINE_UNSTATED, WF_UNSTATED, 8, &a100, "vllm serve m --max-model-len 1300 --quantization fp8\n"},
        {ENGINE_VLLM, WF_UNSTATED, 4, &a100, "vllm serve m-awq --max-model-len 1300\n"},
        {ENGINE_VLLM, WF_GPTQ, 0, &a100, "vllm serve m-gptq --max-model-len 1300\n"},
        {ENGINE_VLLM, WF_BNB4, 0, &a100, "vllm serve m --max-model-len 1300 --quantization bitsandbytes\n"},
        {ENGINE_VLLM, WF_UNSTATED, 8, &ascend, "vllm serve m-w8a8 --max-model-len 1300 --quantization ascend\n"},
        {ENGINE_SGLANG, WF_FP8, 0, &a100, "--model-path m --context-length 1300 --quantization fp8\n"},
        {ENGINE_SGLANG, WF_INT8, 0, &a100, "--model-path m-w8a8 --context-length 1300\n"},
        {ENGINE_LMDEPLOY, WF_AWQ, 0, &a100, "api_server m-awq --session-len 1300 --model-format awq\n"},
        {ENGINE_TENSORRT_LLM, WF_NVFP4, 0, &a100, "trtllm-serve m-nvfp4 --max_seq_len 1300\n"},
        {ENGINE_TGI, WF_AWQ, 0, &a100, "--model-id m-awq --max-total-tokens 1300 --quantize awq\n"},
        {ENGINE_UNSTATED, WF_GGUF_Q4_K_M, 0, &a100,
         "llama-server --model m-q4_k_m.gguf --ctx-size 1300 --n-gpu-layers 999\n"},
        {ENGINE_LLAMA_CPP, WF_UNSTATED, 0, &a100,
         "llama-server --model m-f16.gguf --ctx-size 1300 --n-gpu-layers 999\n"},
    };
    struct arena *arena = arena_new(1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct workload w;
        workload_init(&w);
        w.model = (struct model){.id = "m"};
        w.serving.stated = true;
        w.serving.input_tokens = 1000, w.serving.output_tokens = 300;
        w.serving.engine = rows[i].engine;
        w.serving.weight_format = rows[i].format;
        w.serving.weight_bits = rows[i].bits;
        struct estimate e = {.layout = {.tp = 1, .dp = 1}, .has_serving = true};
        struct shape shape = {.gpu = rows[i].gpu, .gpus_per_node = 1, .nodes = 1};
        struct launch_request q = {.workload = &w, .estimate = &e, .shape = &shape};
        struct launch l;
        struct err err;
        cr_assert_eq(launch_make(&q, arena, &l, &err), 0);
        cr_expect(l.serve && strstr(l.serve, rows[i].line), "row %zu: %s", i, l.serve);
    }
    arena_free(arena);
}

Test(launch, words_of_the_caller_never_reach_a_shell)
{
    struct arena *arena = arena_new(1 << 20);
    struct workload w;
    workload_init(&w);
    w.model =
        (struct model){.id = "x; rm -rf $HOME `id`\n\"'", .layers = 1, .hidden = 1, .heads = 1, .intermediate = 1};
    w.training.stated = true;
    w.training.method = METHOD_LORA;
    struct estimate e = {.layout = {.micro_batch = 1}};
    struct shape shape = {.gpu = &a100, .gpus_per_node = 1, .nodes = 1};
    struct launch_request q = {.workload = &w, .estimate = &e, .shape = &shape, .learning_rate = 1e-4};
    struct launch l;
    struct err err;
    cr_assert_eq(launch_make(&q, arena, &l, &err), 0);
    cr_expect(strstr(l.torchrun, "--model_name_or_path xrm-rfHOMEid "), "%s", l.torchrun);
    cr_expect_not(strpbrk(l.torchrun, ";`$'"), "%s", l.torchrun);
    arena_free(arena);
}

Test(launch, time_limits_leave_room_for_the_slow_end_and_jobs_save_before_they_end)
{
    struct workload w;
    workload_init(&w);
    w.training.stated = true;
    struct estimate e = {.has_training = true,
                         .training = {.wall_hours = 100,
                                      .step_time_s = 10,
                                      .tokens_per_s_per_gpu = 1000,
                                      .tokens_per_s_per_gpu_low = 800,
                                      .checkpoint_interval_h = 50}};
    struct provider centre = {.id = "hpc", .kind = PROVIDER_HPC_CENTRE, .job_cap_h = 24};
    struct sku sku = {.id = "sku", .provider = &centre, .gpu = &a100, .gpus_per_node = 8};
    struct shape shape = {.gpu = &a100, .gpus_per_node = 8, .nodes = 1};
    struct launch_request q = {.workload = &w, .estimate = &e, .shape = &shape, .sku = &sku};
    cr_expect_float_eq(launch_slow_hours(&q), 125, 1e-9);
    cr_expect_eq(launch_save_steps(&q), 18000, "the failures alone: every 50 h of 10 s steps");
    q.checkpoints_per_job = 10;
    cr_expect_eq(launch_save_steps(&q), 864, "ten in a job of 24 h");
    centre.job_cap_h = 0;
    cr_expect_eq(launch_save_steps(&q), 3600, "ten in the run of 100 h");
    e.training.checkpoint_interval_h = 1;
    cr_expect_eq(launch_save_steps(&q), 360, "more often where failures want it");
    e.training.step_time_s = 0;
    cr_expect_eq(launch_save_steps(&q), 0, "not known");
}

Test(launch, offload_of_an_optimizer_deepspeed_does_not_build_is_allowed_in_the_file)
{
    static const struct {
        enum optimizer optimizer;
        bool own;
    } rows[] = {{OPT_ADAMW, true}, {OPT_LION, true}, {OPT_ADAMW_8BIT, false}, {OPT_ADAFACTOR, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena *arena = arena_new(1 << 20);
        struct workload w;
        struct launch_case c = cases[1];
        c.optimizer = rows[i].optimizer;
        struct launch l = launch_of(&c, &a100, arena, &w);
        json_t *root = json_loads(l.deepspeed_config, 0, NULL);
        cr_expect_eq(json_object_get(root, "optimizer") != NULL, rows[i].own, "%zu", i);
        cr_expect_eq(json_is_false(json_object_get(root, "zero_force_ds_cpu_optimizer")), !rows[i].own, "%zu", i);
        json_decref(root);
        arena_free(arena);
    }
}

Test(launch, megatron_starts_from_the_base_and_goes_on_from_its_own_checkpoints)
{
    struct arena *arena = arena_new(1 << 20);
    struct workload w;
    struct launch_case c = cases[6];
    struct launch pretrain = launch_of(&c, &a100, arena, &w);
    c.method = METHOD_FULL_FINETUNE;
    struct launch tune = launch_of(&c, &a100, arena, &w);
    cr_expect_not(strstr(pretrain.torchrun, "--pretrained-checkpoint"), "%s", pretrain.torchrun);
    cr_expect(strstr(tune.torchrun, "--pretrained-checkpoint base --load checkpoints --save checkpoints"), "%s",
              tune.torchrun);
    cr_expect(strstr(tune.torchrun, "export CUDA_DEVICE_MAX_CONNECTIONS=1\n"), "%s", tune.torchrun);
    cr_expect(strstr(tune.torchrun, "--tokenizer-model llama-2-70b"), "%s", tune.torchrun);
    cr_expect(strstr(tune.torchrun, "--normalization RMSNorm --position-embedding-type rope --disable-bias-linear "),
              "%s", tune.torchrun);
    arena_free(arena);
}

static void shellcheck(const char *name, const char *text)
{
    char path[] = "/tmp/suanpan_launch_XXXXXX";
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    char command[128];
    snprintf(command, sizeof command, "shellcheck -s bash %s", path);
    cr_expect_eq(system(command), 0, "%s:\n%s", name, text);
    unlink(path);
}

Test(launch, shell_passes_shellcheck, .timeout = 60)
{
    if (system("command -v shellcheck >/dev/null 2>&1") != 0)
        cr_skip_test("shellcheck is not installed");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_new(1 << 20);
        struct workload w;
        struct launch l = launch_of(&cases[i], &a100, arena, &w);
        shellcheck(cases[i].name, l.torchrun);
        if (l.slurm)
            shellcheck(cases[i].name, l.slurm);
        arena_free(arena);
    }
}

/* What the request leaves open is written as the plan was reckoned, also where the request changes the default. */
Test(launch, defaults_of_the_text_are_those_of_the_plan)
{
    struct catalog *c = small_market();
    struct arena *arena = arena_new(64 << 20);
    struct workload w = small_workload(c);
    struct assumption_override defaults[] = {{"train.default_seq", 2048}, {"train.default_lora_rank", 64}};
    w.training.seq_len = 0;
    w.overrides = defaults;
    w.n_overrides = sizeof defaults / sizeof *defaults;
    const struct plan *p = small_plan(c, &w, arena);
    cr_assert_gt(p->n_options, 0);
    for (size_t i = 0; i < p->n_options; i++) {
        const char *text = p->options[i].launch.torchrun;
        cr_expect(strstr(text, "--max_seq_length 2048") != NULL || strstr(text, "--seq-length 2048") != NULL, "%s",
                  text);
        cr_expect(strstr(text, "--lora_rank 64") != NULL || strstr(text, "--lora-rank 64") != NULL, "%s", text);
    }
    arena_free(arena);
    test_catalog_free(c);
}
