/* test_serving_memory.c — weights, cache and overheads against published figures, and the facts that must hold. */
#include "tests/unit/serving_fixture.h"

#define N(a) (sizeof(a) / sizeof *(a))

/* Bytes of one token in 16 bits; what vLLM prints (docs/planner-serving.md, "Cache"). */
Test(serving_memory, kv_bytes_per_token)
{
    static const struct {
        const char *model;
        double bytes;
    } rows[] = {
        {"llama-2-7b", 524288},      {"llama-3.1-8b", 131072}, {"llama-3.1-70b", 327680},
        {"llama-3.1-405b", 516096},  {"qwen2.5-7b", 57344},    {"qwen2.5-72b", 327680},
        {"mistral-7b-v0.1", 131072}, {"deepseek-v3", 70272},   {"mistral-small-24b", 163840},
    };
    for (size_t i = 0; i < N(rows); i++) {
        struct estimate e =
            answer((struct ask){.model = rows[i].model, .gpu = "b200-sxm-180g", .gpus = 8, .tp = 8, .kv_bits = 16});
        cr_expect_eq(e.serving.kv_bytes_per_token, rows[i].bytes, "%s: %.0f", rows[i].model,
                     e.serving.kv_bytes_per_token);
    }
}

/* The same of every other kind of cache, from the published dimensions: 2 x layers that keep one x heads x head size x
 * 2 bytes, or the latent and its rope width. Jamba's paper: 4 GB for 256k tokens. */
Test(serving_memory, kv_bytes_per_token_of_hybrids_windows_and_shared_layers)
{
    static const struct {
        const char *model;
        double bytes;
    } rows[] = {
        {"jamba-v0.1", 4.0 * 1073741824 / 262144}, /* 4 of 32 layers attend */
        {"jamba-1.5-large", 2.0 * 9 * 8 * 128 * 2},
        {"bamba-9b", 2.0 * 3 * 8 * 128 * 2},
        {"lfm2-1.2b", 2.0 * 6 * 8 * 64 * 2},
        {"nemotron-h-8b", 2.0 * 4 * 8 * 128 * 2},
        {"nemotron-3-nano-30b-a3b", 2.0 * 6 * 2 * 128 * 2},
        {"qwen3-next-80b-a3b", 2.0 * 12 * 2 * 256 * 2}, /* gated delta-net in the other 36 */
        {"qwen3.5-397b-a17b", 2.0 * 15 * 2 * 256 * 2},
        {"minimax-text-01", 2.0 * 10 * 8 * 128 * 2}, /* lightning attention in the other 70 */
        {"zamba2-7b", 2.0 * 13 * 32 * 224 * 2},      /* one block of attention, used 13 times */
        {"mamba2-2.7b", 0},
        {"codestral-mamba-7b", 0},
        {"rwkv-7-2.9b", 0},
        {"kimi-linear-48b", 7.0 * (512 + 64) * 2},       /* latent in 7 of 27 */
        {"longcat-flash", 2 * 28.0 * (512 + 64) * 2},    /* two latent attentions a layer */
        {"gemma-3n-e4b", 2.0 * (35 - 15) * 2 * 256 * 2}, /* the last 15 read an earlier layer's */
        {"gemma-3-4b", 2.0 * 34 * 4 * 256 * 2},          /* windows in full: what a token costs before they close */
        {"gemma-3-27b", 2.0 * 62 * 16 * 128 * 2},
        {"gpt-oss-120b", 2.0 * 36 * 8 * 64 * 2},
        {"hunyuan-large", 2.0 * 64 / 2 * 8 * 80 * 2},     /* two layers share one cache */
        {"llama-3.2-11b-vision", 2.0 * 32 * 8 * 128 * 2}, /* eight of 40 attend to the picture */
        {"step-3", 2.0 * 61 * 256 * 2},
        {"starcoder", 2.0 * 40 * 128 * 2}, /* one head */
        {"deepseek-v2", 60.0 * (512 + 64) * 2},
        {"bge-m3", 0}, /* an encoder keeps nothing */
    };
    for (size_t i = 0; i < N(rows); i++)
        for (int bits = 8; bits <= 16; bits *= 2) {
            struct estimate e = answer((struct ask){
                .model = rows[i].model, .gpu = "b200-sxm-180g", .gpus = 8, .tp = 1, .pp = 1, .kv_bits = bits});
            cr_expect_float_eq(e.serving.kv_bytes_per_token, rows[i].bytes * bits / 16, 0.5,
                               "%s in %d bits: %.0f of %.0f", rows[i].model, bits, e.serving.kv_bytes_per_token,
                               rows[i].bytes * bits / 16);
        }
}

/* Ten thousand tokens of context, against a hundred thousand: what a sequence holds beyond its windows grows with the
 * full layers only, and not at all in a state-space model. */
Test(serving_memory, a_long_sequence_grows_with_its_full_layers)
{
    static const struct {
        const char *model;
        double full, bytes_a_layer;
    } rows[] = {{"gemma-3-27b", 10, 2.0 * 16 * 128 * 2},
                {"gpt-oss-120b", 18, 2.0 * 8 * 64 * 2},
                {"gemma-3n-e4b", 7.0 * 20 / 35, 2.0 * 2 * 256 * 2},
                {"jamba-v0.1", 4, 2.0 * 8 * 128 * 2},
                {"falcon-mamba-7b", 0, 0},
                {"longcat-flash", 56, 576 * 2.0}};
    for (size_t i = 0; i < N(rows); i++) {
        struct ask a = {.model = rows[i].model, .gpu = "b200-sxm-180g", .gpus = 8, .tp = 1, .kv_bits = 16, .batch = 1};
        a.input = 10000;
        a.output = 240; /* whole blocks */
        double near = answer(a).memory.kv_cache_gb * 1e9;
        a.input = 100000;
        double far = answer(a).memory.kv_cache_gb * 1e9;
        double expected = 90000 * rows[i].full * rows[i].bytes_a_layer;
        cr_expect(fabs(far - near - expected) <= 0.002 * expected + 1, "%s: %.0f bytes more, %.0f expected",
                  rows[i].model, far - near, expected);
    }
}

/* Logged pools of vLLM and llama.cpp facts, restated from their public sources. */
Test(serving_memory, logged_pools)
{
    static const struct {
        struct ask ask;
        double weights_gb, kv_gb, concurrency, within; /* 0 = not logged */
    } rows[] = {
        {{.model = "qwen2.5-7b",
          .gpu = "h100-sxm5-80g",
          .engine = ENGINE_VLLM,
          .version = "0.19.0",
          .format = WF_BF16,
          .utilisation = 0.95,
          .max_len = 2048},
         15.30,
         62.85,
         535.16,
         0.01},
        {{.model = "qwen2.5-7b",
          .gpu = "h100-sxm5-80g",
          .engine = ENGINE_VLLM,
          .version = "0.19.0",
          .format = WF_BF16,
          .utilisation = 0.95,
          .max_len = 8192,
          .kv_bits = 8},
         15.30,
         62.85,
         267.58,
         0.01},
        {{.model = "qwen3-14b",
          .gpu = "h100-sxm5-80g",
          .engine = ENGINE_VLLM,
          .version = "0.15.0",
          .format = WF_BF16,
          .utilisation = 0.95,
          .max_len = 8192},
         29.55,
         45.03,
         33.55,
         0.01},
        {{.model = "qwen3-14b",
          .gpu = "h100-sxm5-80g",
          .engine = ENGINE_VLLM,
          .version = "0.17.0",
          .format = WF_BF16,
          .utilisation = 0.95,
          .max_len = 8192},
         29.55,
         48.68,
         36.27,
         0.01},
        {{.model = "gemma-2-27b",
          .gpu = "h100-sxm5-80g",
          .engine = ENGINE_VLLM,
          .version = "0.19.0",
          .format = WF_BF16,
          .utilisation = 0.95,
          .max_len = 8192},
         54.46,
         22.11,
         7.16,
         0.02},
        {{.model = "llama-3.1-8b",
          .gpu = "h100-sxm5-80g",
          .engine = ENGINE_VLLM,
          .version = "0.11",
          .format = WF_BF16,
          .utilisation = 0.9,
          .max_len = 16000},
         16.10,
         55.17,
         0,
         0.01},
        {{.model = "gpt-oss-20b",
          .gpu = "h100-sxm5-80g",
          .engine = ENGINE_VLLM,
          .version = "0.11",
          .format = WF_MXFP4,
          .utilisation = 0.9,
          .max_len = 16000},
         14.46,
         53.99,
         0,
         0.05},
        {{.model = "deepseek-v3",
          .gpu = "h200-sxm5-141g",
          .gpus = 8,
          .tp = 8,
          .engine = ENGINE_SGLANG,
          .version = "0.5.12",
          .format = WF_FP8},
         685.48,
         0,
         0,
         0.02},
        {{.model = "llama-3.1-405b",
          .gpu = "h100-sxm5-80g",
          .gpus = 8,
          .tp = 8,
          .engine = ENGINE_VLLM,
          .version = "0.5.3",
          .format = WF_FP8_FBGEMM,
          .utilisation = 0.9},
         496.09,
         0,
         0,
         0.04},
    };
    for (size_t i = 0; i < N(rows); i++) {
        struct estimate e = answer(rows[i].ask);
        const double got[] = {e.serving.weights_gb, e.serving.kv_cache_gb, e.serving.max_concurrency};
        const double want[] = {rows[i].weights_gb, rows[i].kv_gb, rows[i].concurrency};
        for (int j = 0; j < 3; j++)
            if (want[j] > 0)
                cr_expect(fabs(got[j] / want[j] - 1) < rows[i].within, "row %zu figure %d: %.2f, logged %.2f", i, j,
                          got[j], want[j]);
    }
}

/* What is known not to fit is refused, what is known to run is not. */
Test(serving_memory, negative_facts)
{
    static const struct {
        struct ask ask;
        bool runs;
    } rows[] = {
        {{.model = "llama-3-70b",
          .gpu = "rtx-4090-24g",
          .engine = ENGINE_LLAMA_CPP,
          .format = WF_GGUF,
          .weight_bits = 4.8,
          .batch = 1,
          .output = 1024},
         false},
        {{.model = "llama-3-70b",
          .gpu = "rtx-a6000-48g",
          .engine = ENGINE_LLAMA_CPP,
          .format = WF_GGUF_Q4_K_M,
          .batch = 1,
          .output = 1024},
         true},
        {{.model = "llama-3-8b",
          .gpu = "rtx-4080-16g",
          .engine = ENGINE_LLAMA_CPP,
          .format = WF_GGUF_F16,
          .batch = 1,
          .output = 8192},
         false},
        {{.model = "llama-3-8b",
          .gpu = "rtx-4080-16g",
          .engine = ENGINE_LLAMA_CPP,
          .format = WF_GGUF_Q4_K_M,
          .batch = 1,
          .output = 8192},
         true},
        {{.model = "gpt-oss-120b",
          .gpu = "h100-sxm5-80g",
          .engine = ENGINE_VLLM,
          .version = "0.10",
          .format = WF_MXFP4,
          .utilisation = 0.9},
         false},
        {{.model = "llama-3.1-405b",
          .gpu = "h100-sxm5-80g",
          .gpus = 8,
          .tp = 8,
          .engine = ENGINE_VLLM,
          .version = "0.5.3",
          .format = WF_FP8_FBGEMM,
          .utilisation = 0.9},
         false},
        {{.model = "deepseek-v2",
          .gpu = "h100-sxm5-80g",
          .gpus = 8,
          .tp = 8,
          .engine = ENGINE_VLLM,
          .version = "0.5.4",
          .format = WF_BF16,
          .utilisation = 0.95,
          .max_len = 64000},
         false},
        {{.model = "qwen3-30b-a3b",
          .gpu = "rtx-5090-32g",
          .engine = ENGINE_VLLM,
          .version = "0.20",
          .format = WF_FP8,
          .utilisation = 0.95,
          .max_len = 16384},
         false},
        {{.model = "llama-3.1-8b",
          .gpu = "rtx-3090-24g",
          .engine = ENGINE_VLLM,
          .version = "0.6",
          .format = WF_BF16,
          .utilisation = 0.9,
          .max_len = 20000},
         true},
        {{.model = "llama-3.1-8b",
          .gpu = "rtx-3090-24g",
          .engine = ENGINE_VLLM,
          .version = "0.6",
          .format = WF_BF16,
          .utilisation = 0.9,
          .max_len = 29000},
         false},
    };
    for (size_t i = 0; i < N(rows); i++) {
        struct estimate e = answer(rows[i].ask);
        cr_expect_eq(e.fits == FITS_YES, rows[i].runs, "row %zu: %s, %.1f of %.1f GB", i, fits_name(e.fits),
                     e.memory.total_gb, e.memory.usable_gb);
        cr_expect(rows[i].runs || e.fits == FITS_NO, "row %zu", i);
    }
}

static const char *const MODELS[] = {"qwen2.5-0.5b", "llama-3.1-8b",  "qwen2.5-14b",  "llama-3.1-70b", "gemma-3-27b",
                                     "mixtral-8x7b", "qwen3-30b-a3b", "gpt-oss-120b", "deepseek-v3"};

Test(serving_memory, int4_needs_less_than_fp16)
{
    for (size_t i = 0; i < N(MODELS); i++) {
        struct ask a = {.model = MODELS[i], .gpu = "h200-sxm5-141g", .gpus = 8, .tp = 8};
        double last = INFINITY;
        const enum weight_format formats[] = {WF_FP32, WF_BF16, WF_FP8, WF_AWQ};
        for (size_t f = 0; f < N(formats); f++) {
            a.format = formats[f];
            struct estimate e = answer(a);
            cr_expect_lt(e.serving.weights_gb, last, "%s format %zu", MODELS[i], f);
            last = e.serving.weights_gb;
        }
    }
}

Test(serving_memory, two_gpus_never_hold_fewer_tokens_than_one)
{
    static const char *const gpus[] = {"rtx-4090-24g", "a100-sxm4-80g", "h20-sxm5-96g", "ascend-910b2-64g",
                                       "mi300x-192g"};
    static const enum engine engines[] = {ENGINE_UNSTATED, ENGINE_VLLM, ENGINE_SGLANG, ENGINE_TENSORRT_LLM};
    for (size_t m = 0; m < N(MODELS); m++)
        for (size_t g = 0; g < N(gpus); g++)
            for (size_t e = 0; e < N(engines); e++) {
                double last = -1;
                for (int cards = 1; cards <= 8; cards *= 2) {
                    struct model model = preset(MODELS[m]);
                    if (model.heads % cards != 0)
                        break;
                    struct estimate s = answer((struct ask){.model = MODELS[m],
                                                            .gpu = gpus[g],
                                                            .gpus = cards,
                                                            .tp = cards,
                                                            .engine = engines[e],
                                                            .weight_bits = 8});
                    cr_expect_geq(s.serving.kv_cache_tokens, last * (1 - 1e-9), "%s %s %d", MODELS[m], gpus[g], cards);
                    last = s.serving.kv_cache_tokens;
                }
            }
}

/* Latent attention is held whole by every rank; eight-bit cache doubles tokens, not bytes. */
Test(serving_memory, latent_cache_is_replicated)
{
    struct ask a = {.model = "deepseek-v3",
                    .gpu = "h200-sxm5-141g",
                    .gpus = 8,
                    .tp = 8,
                    .engine = ENGINE_SGLANG,
                    .format = WF_FP8,
                    .kv_bits = 16};
    struct estimate e = answer(a);
    double copies = e.serving.kv_cache_gb * 1e9 / e.serving.kv_bytes_per_token / e.serving.kv_cache_tokens;
    cr_expect_float_eq(copies, 8, 1e-6, "%.3f copies", copies);
    a.kv_bits = 8;
    struct estimate half = answer(a);
    cr_expect_float_eq(half.serving.kv_cache_tokens / e.serving.kv_cache_tokens, 2, 1e-6);
    cr_expect_float_eq(half.serving.kv_cache_gb, e.serving.kv_cache_gb, 1e-6);
}

/* A window holds its own length and one step of the scheduler, no more. */
Test(serving_memory, windows_hold_less)
{
    struct ask a = {.model = "gpt-oss-120b",
                    .gpu = "a100-sxm4-80g",
                    .gpus = 4,
                    .tp = 4,
                    .engine = ENGINE_VLLM,
                    .version = "0.10.1",
                    .format = WF_MXFP4,
                    .utilisation = 0.8,
                    .max_len = 16384};
    struct estimate e = answer(a);
    double credit = e.serving.max_concurrency / (e.serving.kv_cache_tokens / 16384);
    cr_expect_float_eq(credit, 1.764, 0.01, "logged 284.25 for 2,640,144 tokens; got a credit of %.3f", credit);
}

/* Logged: an 8B in four pipeline stages holds 4.26 GiB on the first card, not a quarter (3.77). */
Test(serving_memory, pipeline_ends_are_heavier)
{
    struct estimate e = answer((struct ask){.model = "llama-3.1-8b",
                                            .gpu = "h100-sxm5-80g",
                                            .gpus = 4,
                                            .tp = 1,
                                            .pp = 4,
                                            .engine = ENGINE_VLLM,
                                            .version = "0.19",
                                            .format = WF_BF16,
                                            .max_len = 8192});
    cr_expect_float_eq(e.memory.weights_gb / 1.073741824, 4.26, 0.05, "%.2f GiB", e.memory.weights_gb / 1.073741824);
}
