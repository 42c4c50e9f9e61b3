/* test_serving_regularities.c — what published measurements of serving have in common, each rule under its own name:
 * memory by engine and version, bandwidth at low load, scaling over cards. Tolerances are those of the rules.
 */
#include "planner/serving/serving_replica.h"
#include "tests/unit/serving_fixture.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define GIB 1.073741824 /* in GB */

static void near(double got, double published, double within, const char *what)
{
    cr_expect(fabs(log(got / published)) < log(within), "%s: %.4g, published %.4g", what, got, published);
}

Test(serving_regularities, usable_memory_is_not_the_label)
{
    const struct {
        const char *gpu;
        double gib;
    } rows[] = {{"h100-sxm5-80g", 79.19}, {"a100-sxm4-40g", 39.4}, {"rtx-3090-24g", 23.55},  {"rtx-4090-24g", 23.55},
                {"a10g-24g", 22.0},       {"a40-48g", 44.3},       {"h200-sxm5-141g", 139.8}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct shape shape = {.gpu = card(rows[i].gpu), .gpus_per_node = 1, .nodes = 1};
        struct card_traits c;
        struct err err;
        cr_assert_eq(card_traits_of(constants(), &shape, &c, &err), 0);
        near(c.usable / BYTES_PER_GIB, rows[i].gib, 1.012, rows[i].gpu);
    }
}

Test(serving_regularities, weights_by_quantisation)
{
    const struct {
        const char *model;
        enum weight_format format;
        double gib;
    } logged[] = {{"llama-3.1-8b", WF_BF16, 14.99},     {"llama-3.1-70b", WF_FP8, 67.7},
                  {"gemma-2-27b", WF_BF16, 50.7},       {"gpt-oss-120b", WF_MXFP4, 65.2},
                  {"mistral-small-24b", WF_INT8, 23.2}, {"llama-2-70b", WF_BNB4, 33.4}};
    for (size_t i = 0; i < COUNT(logged); i++) {
        struct ask a = {.model = logged[i].model, .gpu = "b200-sxm-180g", .format = logged[i].format};
        near(answer(a).serving.weights_gb / GIB, logged[i].gib, 1.02, logged[i].model);
    }
    const struct {
        enum weight_format format;
        double bits;
    } gguf[] = {{WF_GGUF_Q2_K, 2.99},   {WF_GGUF_Q3_K_M, 3.89}, {WF_GGUF_IQ4_XS, 4.30}, {WF_GGUF_Q4_K_M, 4.82},
                {WF_GGUF_Q5_K_M, 5.66}, {WF_GGUF_Q6_K, 6.56},   {WF_GGUF_Q8_0, 8.50},   {WF_GGUF_F16, 16}};
    struct model m = preset("llama-3-70b");
    for (size_t i = 0; i < COUNT(gguf); i++) {
        struct ask a = {.model = "llama-3-70b", .gpu = "b200-sxm-180g", .format = gguf[i].format};
        near(answer(a).serving.weights_gb * 1e9, m.params * gguf[i].bits / 8, 1.001, "GGUF file");
    }
    /* Four bits with scales, vocabulary in sixteen. */
    struct ask awq = {.model = "llama-3.1-70b", .gpu = "b200-sxm-180g", .format = WF_AWQ};
    m = preset("llama-3.1-70b");
    double vocab = 2.0 * m.vocab * m.hidden;
    near(answer(awq).serving.weights_gb * 1e9, (m.params - vocab) * 4.25 / 8 + vocab * 2, 1.001, "AWQ");
}

/* Nothing stated: what the maker publishes. DeepSeek-V3 in 8 bits is 688 GB with its vocabulary, gpt-oss-120b 66 GiB.
 */
Test(serving_regularities, unstated_weights_are_those_published)
{
    struct ask a = {.model = "deepseek-v3", .gpu = "h200-sxm5-141g", .gpus = 8, .tp = 8};
    near(answer(a).serving.weights_gb, 680, 1.02, "DeepSeek-V3");
    cr_expect_eq(answer(a).fits, FITS_YES);
    a.format = WF_BF16;
    cr_expect_eq(answer(a).fits, FITS_NO, "1.3 TB in 16 bits");
    struct ask oss = {.model = "gpt-oss-120b", .gpu = "h100-sxm5-80g", .gpus = 2, .tp = 2};
    near(answer(oss).serving.weights_gb / GIB, 65.2, 1.03, "gpt-oss-120b");
    struct ask llama = {.model = "llama-3.1-70b", .gpu = "h100-sxm5-80g", .gpus = 4, .tp = 4};
    near(answer(llama).serving.weights_gb, 141, 1.01, "published in 16 bits");
}

/* What vLLM takes beside weights and cache on one card of two, by version: startup logs. */
Test(serving_regularities, overheads_by_engine_and_version)
{
    const struct {
        const char *model, *gpu, *version;
        int tp;
        double low, high; /* GiB: activation and what torch does not see */
    } rows[] = {
        {"qwen2-7b", "a100-sxm4-80g", "0.10.1", 1, 0.5, 0.7},
        {"qwen2-7b", "a100-sxm4-80g", "0.10.1", 2, 0.5, 0.8},
        {"llama-3.1-8b", "h100-sxm5-80g", "0.11", 1, 4.85, 5.1},
        {"qwen3-14b", "h100-sxm5-80g", "0.16.0", 1, 5.6, 5.9},
        {"gpt-oss-20b", "h100-sxm5-80g", "0.11", 1, 7.4, 7.7},
        {"llama-3.1-8b", "h100-sxm5-80g", "0.19.0", 1, 2.0, 2.3},
        {"llama-3.1-70b", "h100-sxm5-80g", "0.19.0", 4, 3.9, 4.2}, /* 1.9 and 2.1 */
        {"llama-3.1-70b", "h100-sxm5-80g", "0.12.0", 4, 5.2, 5.5}, /* 4.8 and 0.55 */
        {"qwen2.5-7b", "h100-sxm5-80g", "0.19.0", 1, 2.4, 2.55},
        {"gemma-2-27b", "h100-sxm5-80g", "0.19.0", 1, 3.8, 4.3},
        {"llama-3.1-8b", "h100-sxm5-80g", "0.22.0", 1, 2.5, 3.2}, /* graphs inside from 0.21 */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct estimate e = answer((struct ask){.model = rows[i].model,
                                                .gpu = rows[i].gpu,
                                                .gpus = rows[i].tp,
                                                .tp = rows[i].tp,
                                                .engine = ENGINE_VLLM,
                                                .version = rows[i].version,
                                                .utilisation = 0.9,
                                                .max_len = 8192});
        double gib = (e.memory.activations_gb + e.memory.overhead_gb) / GIB;
        cr_expect(rows[i].low <= gib && gib <= rows[i].high, "%s %s tp %d: %.2f GiB", rows[i].model, rows[i].version,
                  rows[i].tp, gib);
    }
}

/* DeepSeek-R1 in SGLang: 509k tokens in 33.3 GiB on each of eight cards. One copy of weights a replica: eight cards as
 * one hold more than as two. gpt-oss-120b on one H100: not at 0.90, at 0.97 with a small context. */
Test(serving_regularities, pools)
{
    struct estimate e = answer((struct ask){.model = "deepseek-v3",
                                            .gpu = "h200-sxm5-141g",
                                            .gpus = 8,
                                            .tp = 8,
                                            .engine = ENGINE_SGLANG,
                                            .format = WF_FP8,
                                            .kv_bits = 16});
    double gib_a_card = e.serving.kv_cache_gb / GIB / 8;
    near(e.serving.kv_cache_tokens / gib_a_card, 509e3 / 33.3, 1.01, "tokens a GiB of each card");
    struct ask a = {.model = "llama-3.1-70b", .gpu = "h100-sxm5-80g", .gpus = 8, .tp = 8, .max_len = 32768};
    double together = answer(a).serving.max_concurrency;
    a.gpus = a.tp = 4;
    cr_expect_gt(together, 2 * answer(a).serving.max_concurrency);
    struct ask oss = {.model = "gpt-oss-120b",
                      .gpu = "h100-sxm5-80g",
                      .engine = ENGINE_VLLM,
                      .version = "0.11",
                      .format = WF_MXFP4,
                      .utilisation = 0.9,
                      .max_len = 8192};
    cr_expect_eq(answer(oss).fits, FITS_NO);
    oss.utilisation = 0.97;
    cr_expect_neq(answer(oss).fits, FITS_NO);
    struct ask fp8 = {.model = "llama-3.1-70b",
                      .gpu = "h100-sxm5-80g",
                      .engine = ENGINE_VLLM,
                      .version = "0.11",
                      .format = WF_FP8,
                      .utilisation = 0.9,
                      .max_len = 8192};
    cr_expect_eq(answer(fp8).fits, FITS_NO, "logged: -1.44 GiB of cache");
    fp8.engine = ENGINE_TENSORRT_LLM;
    fp8.version = NULL;
    fp8.utilisation = 0.95;
    fp8.kv_bits = 8;
    cr_expect_neq(answer(fp8).fits, FITS_NO, "TensorRT-LLM runs it with little cache");
}

/* Time a token at low load = weights / (cards x bandwidth x 0.94) + 95 us a layer, whatever the NVLink degree. */
Test(serving_regularities, low_load_rule_of_dense_models)
{
    const struct {
        const char *model, *gpu;
        int tp;
        enum engine engine;
        enum weight_format format;
        double ms, within; /* the rule itself misses the 4B on GDDR by x1.12, the 405B by x0.87 */
    } rows[] = {{"llama-3.1-70b", "h100-sxm5-80g", 4, ENGINE_VLLM, WF_BF16, 19.2, 1.1},
                {"llama-3.1-70b", "h200-sxm5-141g", 4, ENGINE_VLLM, WF_BF16, 16.2, 1.1},
                {"llama-3.1-8b", "h100-sxm5-80g", 1, ENGINE_VLLM, WF_BF16, 7.8, 1.15},
                {"qwen3-4b", "rtx-4090-24g", 1, ENGINE_VLLM, WF_BF16, 10.6, 1.25},
                {"llama-3.1-405b", "h100-sxm5-80g", 8, ENGINE_VLLM, WF_FP8_FBGEMM, 33.8, 1.15}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct estimate e = answer((struct ask){.model = rows[i].model,
                                                .gpu = rows[i].gpu,
                                                .gpus = rows[i].tp,
                                                .tp = rows[i].tp,
                                                .engine = rows[i].engine,
                                                .format = rows[i].format,
                                                .batch = 1,
                                                .input = 128,
                                                .output = 128,
                                                .scenario = SCEN_SINGLE_STREAM});
        near(e.serving.tpot_ms, rows[i].ms, rows[i].within, rows[i].model);
    }
}

static double rate(const char *model, const char *gpu, int tp, int pp, enum weight_format f, int input, int output)
{
    return answer((struct ask){.model = model,
                               .gpu = gpu,
                               .gpus = tp * pp,
                               .tp = tp,
                               .pp = pp,
                               .engine = ENGINE_TENSORRT_LLM,
                               .version = "0.17",
                               .format = f,
                               .kv_bits = 8,
                               .input = input,
                               .output = output,
                               .scenario = SCEN_OFFLINE})
        .serving.output_tokens_per_s;
}

/* NVLink: x1.7 from two to four, x1.5 from four to eight; A100 x1.75. PCIe: next to nothing by tensors (70B x1.07,
 * Mixtral x1.09), 0.96 to 1.0 where reading prevails; pipelines x2.07, 3.34, 4.57 over one. */
Test(serving_regularities, scaling_over_cards)
{
    const char *h100 = "h100-sxm5-80g", *l40s = "l40s-48g", *pro = "rtx-pro-6000-96g";
    const char *models[] = {"llama-3.1-70b", "mixtral-8x7b"};
    for (size_t m = 0; m < COUNT(models); m++) {
        double two = rate(models[m], h100, 2, 1, WF_FP8, 1000, 1000),
               four = rate(models[m], h100, 4, 1, WF_FP8, 1000, 1000),
               eight = rate(models[m], h100, 8, 1, WF_FP8, 1000, 1000);
        near(four / two, 1.7, 1.25, "NVLink, two to four");
        near(eight / four, 1.5, 1.15, "NVLink, four to eight");
        near(rate(models[m], l40s, 8, 1, WF_FP8, 1000, 1000) / rate(models[m], l40s, 4, 1, WF_FP8, 1000, 1000),
             m == 0 ? 1.07 : 1.09, 1.12, "PCIe, four to eight");
        near(rate(models[m], l40s, 8, 1, WF_FP8, 2048, 128) / rate(models[m], l40s, 4, 1, WF_FP8, 2048, 128), 0.98,
             1.08, "PCIe, reading");
    }
    near(rate("llama-3.1-70b", "a100-sxm4-80g", 8, 1, WF_BF16, 1000, 1000) /
             rate("llama-3.1-70b", "a100-sxm4-80g", 4, 1, WF_BF16, 1000, 1000),
         1.775, 1.15, "A100, four to eight");
    const double stages[] = {2.07, 3.34, 4.57};
    double one = rate("llama-3.3-70b", pro, 1, 1, WF_NVFP4, 1000, 1000);
    for (int i = 0; i < 3; i++)
        near(rate("llama-3.3-70b", pro, 1, 2 << i, WF_NVFP4, 1000, 1000) / one, stages[i], 1.3, "stages over PCIe");
}

/* Two cards of one box against one card each of two boxes on a plain network: 3.3 to 3.9 times (its rate is not told).
 */
Test(serving_regularities, tensors_across_nodes_are_slow)
{
    struct model m = preset("llama-2-13b");
    struct serving s = {.stated = true, .engine = ENGINE_VLLM, .spare_replicas = -1};
    struct layout l = {.tp = 2, .pp = 1};
    double each[2];
    for (int nodes = 1; nodes <= 2; nodes++) {
        struct shape shape = {
            .gpu = card("a100-sxm4-80g"), .gpus_per_node = 2 / nodes, .nodes = nodes, .inter_gbps_per_node = 25};
        struct operating_point at = {
            .stated = true, .batch = 50, .input_tokens = 256, .output_tokens = 256, .scenario = SCEN_SERVER};
        struct serving_request q = {.model = &m, .serving = &s, .shape = &shape, .layout = &l, .at = &at};
        struct arena *arena = arena_new((size_t)1 << 20);
        struct estimate e;
        struct err err;
        cr_assert_eq(serving_estimate(constants(), &q, arena, &e, &err), 0);
        each[nodes - 1] = e.serving.output_tokens_per_s;
        arena_free(arena);
    }
    cr_expect(each[0] > 2 * each[1] && each[0] < 6 * each[1], "x%.2f", each[0] / each[1]);
}

/* DeepSeek-R1 at 1k/1k, output tokens/s a card at 4 and at 64 requests. */
Test(serving_regularities, deepseek_r1_on_a_node)
{
    const struct {
        const char *gpu;
        enum weight_format format;
        int tp; /* at 4 requests; all eight cards at 64 */
        double at_4, at_64;
    } rows[] = {{"h200-sxm5-141g", WF_FP8, 8, 49, 260}, {"b200-sxm-180g", WF_FP8, 8, 56, 339},
                {"b300-sxm-288g", WF_FP8, 8, 58, 357},  {"b200-sxm-180g", WF_NVFP4, 4, 126, 493},
                {"mi300x-192g", WF_FP8, 8, 32, 188},    {"mi325x-256g", WF_FP8, 8, 33, 206},
                {"mi355x-288g", WF_FP8, 8, 48, 315},    {"mi355x-288g", WF_MXFP4, 4, 99, 403}};
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int batch = 4; batch <= 64; batch += 60) {
            int tp = batch == 4 ? rows[i].tp : 8;
            struct estimate e = answer((struct ask){.model = "deepseek-v3",
                                                    .gpu = rows[i].gpu,
                                                    .gpus = tp,
                                                    .tp = tp,
                                                    .engine = ENGINE_SGLANG,
                                                    .format = rows[i].format,
                                                    .batch = batch,
                                                    .input = 922,
                                                    .output = 922,
                                                    .scenario = SCEN_SERVER});
            near(e.serving.output_tokens_per_s / tp, batch == 4 ? rows[i].at_4 : rows[i].at_64, 1.3, rows[i].gpu);
        }
    /* Drafts: x1.57 up to 8 requests, x1.37 up to 32, x1.23 above. */
    const double gains[][2] = {{4, 1.57}, {24, 1.37}, {128, 1.23}};
    for (size_t i = 0; i < COUNT(gains); i++) {
        struct ask a = {.model = "deepseek-v3",
                        .gpu = "b200-sxm-180g",
                        .gpus = 8,
                        .tp = 8,
                        .engine = ENGINE_TENSORRT_LLM,
                        .format = WF_FP8,
                        .batch = (int)gains[i][0],
                        .input = 922,
                        .output = 922,
                        .scenario = SCEN_SERVER};
        double plain = answer(a).serving.output_tokens_per_s;
        a.mtp = true;
        near(answer(a).serving.output_tokens_per_s / plain, gains[i][1], 1.12, "drafts");
    }
}

/* First token of 2,048 tokens, alone, as a share of the dense peak: A100 0.58-0.67 in 16 bits; L40S 0.48-0.52, H100
 * 0.43 in 8 bits, 0.33 on four cards and 0.23 on eight. */
Test(serving_regularities, share_of_the_peak_that_reading_reaches)
{
    const struct {
        const char *model, *gpu;
        enum weight_format format;
        int tp;
        double share;
    } rows[] = {{"llama-2-7b", "a100-sxm4-80g", WF_BF16, 1, 0.62},
                {"llama-2-7b", "l40s-48g", WF_FP8, 1, 0.50},
                {"llama-2-7b", "h100-sxm5-80g", WF_FP8, 1, 0.43},
                {"llama-2-70b", "h100-sxm5-80g", WF_FP8, 4, 0.33},
                {"llama-2-70b", "h100-sxm5-80g", WF_FP8, 8, 0.23}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct gpu *g = card(rows[i].gpu);
        struct estimate e = answer((struct ask){.model = rows[i].model,
                                                .gpu = rows[i].gpu,
                                                .gpus = rows[i].tp,
                                                .tp = rows[i].tp,
                                                .engine = ENGINE_TENSORRT_LLM,
                                                .version = "0.9",
                                                .format = rows[i].format,
                                                .batch = 1,
                                                .input = 2048,
                                                .output = 1,
                                                .scenario = SCEN_SINGLE_STREAM});
        struct model m = preset(rows[i].model);
        double peak = (rows[i].format == WF_FP8 ? g->fp8_tflops : g->bf16_tflops) * 1e12 * rows[i].tp;
        double share = 2 * m.params * 2048 / (e.serving.ttft_ms / 1e3) / peak;
        near(share, rows[i].share, 1.15, rows[i].model);
    }
}
