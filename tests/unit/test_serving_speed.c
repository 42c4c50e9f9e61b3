/* test_serving_speed.c — speed against published figures, its properties, and answers for anything decodable. */
#include "planner/serving/serving_replica.h"
#include "tests/unit/serving_fixture.h"

#define N(a) (sizeof(a) / sizeof *(a))

/* Figures published by others than those the constants were fitted on: low-load time a token (ms) and rates. */
Test(serving_speed, published_figures_not_fitted)
{
    static const struct {
        struct ask ask;
        double tpot_ms, tokens_per_s;
        double within; /* factor */
    } rows[] = {
        {{.model = "llama-3.1-70b",
          .gpu = "h100-sxm5-80g",
          .gpus = 2,
          .tp = 2,
          .engine = ENGINE_TENSORRT_LLM,
          .format = WF_FP8,
          .kv_bits = 8,
          .batch = 1,
          .input = 128,
          .output = 128,
          .scenario = SCEN_SINGLE_STREAM},
         19.0,
         0,
         1.15},
        {{.model = "qwen2.5-72b",
          .gpu = "h100-sxm5-80g",
          .gpus = 2,
          .tp = 2,
          .engine = ENGINE_VLLM,
          .format = WF_BF16,
          .batch = 1,
          .input = 128,
          .output = 128,
          .scenario = SCEN_SINGLE_STREAM},
         31.0,
         0,
         1.15},
        {{.model = "llama-3.1-8b",
          .gpu = "h200-sxm5-141g",
          .engine = ENGINE_VLLM,
          .format = WF_BF16,
          .batch = 1,
          .input = 128,
          .output = 128,
          .scenario = SCEN_SINGLE_STREAM},
         6.53,
         0,
         1.15},
        {{.model = "llama-3.1-8b",
          .gpu = "a100-sxm4-80g",
          .engine = ENGINE_VLLM,
          .format = WF_BF16,
          .batch = 1,
          .input = 128,
          .output = 128,
          .scenario = SCEN_SINGLE_STREAM},
         12.4,
         0,
         1.15},
        {{.model = "qwen3-1.7b",
          .gpu = "a100-sxm4-80g",
          .engine = ENGINE_VLLM,
          .format = WF_BF16,
          .batch = 1,
          .input = 128,
          .output = 128,
          .scenario = SCEN_SINGLE_STREAM},
         4.73,
         0,
         1.15},
        {{.model = "qwen2.5-32b",
          .gpu = "ascend-910b2-64g",
          .gpus = 4,
          .tp = 4,
          .engine = ENGINE_MINDIE,
          .format = WF_BF16,
          .batch = 1,
          .input = 256,
          .output = 256,
          .scenario = SCEN_SINGLE_STREAM},
         54,
         0,
         1.2},
        {{.model = "llama-2-7b",
          .gpu = "a100-sxm4-80g",
          .engine = ENGINE_LMDEPLOY,
          .format = WF_BF16,
          .batch = 16,
          .input = 128,
          .output = 128,
          .scenario = SCEN_FIXED_BATCH},
         11,
         0,
         1.2},
        {{.model = "llama-2-7b",
          .gpu = "a100-sxm4-80g",
          .engine = ENGINE_LMDEPLOY,
          .format = WF_BF16,
          .batch = 64,
          .input = 128,
          .output = 2048,
          .scenario = SCEN_FIXED_BATCH},
         30,
         0,
         1.25},
        {{.model = "gpt-oss-120b",
          .gpu = "h200-sxm5-141g",
          .gpus = 4,
          .tp = 4,
          .engine = ENGINE_VLLM,
          .format = WF_MXFP4,
          .batch = 64,
          .input = 1024,
          .output = 1024,
          .scenario = SCEN_SERVER},
         0,
         4 * 1617,
         1.2},
        {{.model = "llama-3.1-70b",
          .gpu = "h100-sxm5-80g",
          .gpus = 2,
          .tp = 2,
          .engine = ENGINE_TENSORRT_LLM,
          .format = WF_FP8,
          .kv_bits = 8,
          .batch = 250,
          .input = 5000,
          .output = 500,
          .scenario = SCEN_SERVER},
         0,
         920,
         1.2},
        {{.model = "llama-2-70b",
          .gpu = "h200-sxm5-141g",
          .engine = ENGINE_TENSORRT_LLM,
          .format = WF_FP8,
          .kv_bits = 8,
          .input = 294,
          .output = 294,
          .scenario = SCEN_OFFLINE},
         0,
         4168,
         1.3},
        {{.model = "llama-3.1-405b",
          .gpu = "h100-sxm5-80g",
          .gpus = 8,
          .tp = 8,
          .engine = ENGINE_TENSORRT_LLM,
          .format = WF_FP8,
          .kv_bits = 8,
          .input = 9428,
          .output = 684,
          .scenario = SCEN_OFFLINE},
         0,
         391,
         1.3},
        {{.model = "llama-2-70b",
          .gpu = "mi300x-192g",
          .engine = ENGINE_VLLM,
          .format = WF_FP8,
          .kv_bits = 8,
          .input = 294,
          .output = 294,
          .scenario = SCEN_OFFLINE},
         0,
         3210,
         1.3},
    };
    for (size_t i = 0; i < N(rows); i++) {
        struct estimate e = answer(rows[i].ask);
        double got = rows[i].tpot_ms > 0 ? e.serving.tpot_ms : e.serving.output_tokens_per_s;
        double want = rows[i].tpot_ms > 0 ? rows[i].tpot_ms : rows[i].tokens_per_s;
        cr_expect(fabs(log(got / want)) < log(rows[i].within), "row %zu: %.4g, published %.4g", i, got, want);
    }
}

/* One replica offline, in a fixed batch, in a closed loop and alone; decoding only; dense and with experts. */
Test(serving_speed, operating_points)
{
    const char *models[] = {"llama-3.1-70b", "qwen3-235b-a22b", "deepseek-v3"};
    const enum engine engines[] = {ENGINE_UNSTATED, ENGINE_VLLM, ENGINE_SGLANG, ENGINE_TENSORRT_LLM};
    for (size_t m = 0; m < N(models); m++)
        for (size_t i = 0; i < N(engines); i++) {
            struct ask a = {.model = models[m],
                            .gpu = "h200-sxm5-141g",
                            .gpus = 8,
                            .tp = 8,
                            .engine = engines[i],
                            .format = WF_FP8,
                            .input = 1024,
                            .output = 512};
            a.scenario = SCEN_SINGLE_STREAM;
            struct serving_estimate alone = answer(a).serving;
            cr_expect_lt(alone.output_tokens_per_s, 1000 / alone.tpot_ms, "%s: the prompt takes its time", models[m]);
            a.batch = 32;
            a.scenario = SCEN_FIXED_BATCH;
            struct serving_estimate batch = answer(a).serving;
            a.scenario = SCEN_SERVER;
            struct serving_estimate loop = answer(a).serving;
            cr_expect_gt(loop.tpot_ms, batch.tpot_ms, "%s: prompts of others fall between two tokens", models[m]);
            cr_expect_gt(batch.ttft_ms, 4 * loop.ttft_ms, "%s: all prompts come first", models[m]);
            cr_expect_gt(loop.ttft_ms, alone.ttft_ms, "%s: others are at work", models[m]);
            cr_expect_float_eq(32 / loop.requests_per_s, 512 * 32 / loop.output_tokens_per_s, 1e-6, "Little");
            a.decode_only = true;
            struct serving_estimate decode = answer(a).serving;
            cr_expect_gt(decode.output_tokens_per_s, loop.output_tokens_per_s, "%s: nothing is read", models[m]);
            a.decode_only = false;
            a.batch = 0;
            a.scenario = SCEN_OFFLINE;
            struct serving_estimate offline = answer(a).serving;
            cr_expect_gt(offline.output_tokens_per_s, loop.output_tokens_per_s, "%s", models[m]);
            cr_expect_gt(loop.output_tokens_per_s, alone.output_tokens_per_s, "%s", models[m]);
            cr_expect_float_eq(offline.total_tokens_per_s / offline.output_tokens_per_s, 3, 1e-9);
        }
}

static double offline(const char *model, const char *gpu, int tp, enum weight_format f)
{
    return answer((struct ask){.model = model,
                               .gpu = gpu,
                               .gpus = tp,
                               .tp = tp,
                               .engine = ENGINE_TENSORRT_LLM,
                               .version = "0.17",
                               .format = f,
                               .kv_bits = 8,
                               .input = 1000,
                               .output = 1000,
                               .scenario = SCEN_OFFLINE})
        .serving.output_tokens_per_s;
}

Test(serving_speed, over_pcie_eight_way_tensor_parallelism_gains_little_over_four)
{
    double gain = offline("llama-3.1-70b", "l40s-48g", 8, WF_FP8) / offline("llama-3.1-70b", "l40s-48g", 4, WF_FP8);
    cr_expect(gain >= 1.0 && gain <= 1.15, "x%.3f", gain);
    double nvlink =
        offline("llama-3.1-70b", "h100-sxm5-80g", 8, WF_FP8) / offline("llama-3.1-70b", "h100-sxm5-80g", 4, WF_FP8);
    cr_expect(nvlink > 1.3, "over NVLink x%.3f", nvlink);
}

Test(serving_speed, replicas_beat_tensor_parallelism_for_a_7b)
{
    static const char *const gpus[] = {"h100-sxm5-80g", "a100-sxm4-80g", "l40s-48g", "rtx-4090-24g"};
    for (size_t g = 0; g < N(gpus); g++)
        for (int tp = 2; tp <= 8; tp *= 2) {
            double one = offline("mistral-7b-v0.1", gpus[g], 1, WF_INT8),
                   many = offline("mistral-7b-v0.1", gpus[g], tp, WF_INT8);
            cr_expect_lt(many, tp * one, "%s: one %.0f, tensor parallel %d %.0f", gpus[g], one, tp, many);
        }
}

Test(serving_speed, more_requests_more_tokens_and_slower_each)
{
    static const char *const models[] = {"llama-3.1-8b", "llama-3.1-70b", "qwen3-30b-a3b", "deepseek-v3"};
    for (size_t m = 0; m < N(models); m++) {
        double rate = 0, tpot = 0;
        for (int b = 1; b <= 256; b *= 2) {
            struct estimate e = answer((struct ask){.model = models[m],
                                                    .gpu = "h200-sxm5-141g",
                                                    .gpus = 8,
                                                    .tp = 8,
                                                    .engine = ENGINE_SGLANG,
                                                    .format = WF_FP8,
                                                    .batch = b,
                                                    .input = 1024,
                                                    .output = 512,
                                                    .scenario = SCEN_SERVER});
            cr_expect_geq(e.serving.output_tokens_per_s, rate * 0.999, "%s batch %d", models[m], b);
            cr_expect_geq(e.serving.tpot_ms, tpot * 0.999, "%s batch %d", models[m], b);
            rate = e.serving.output_tokens_per_s;
            tpot = e.serving.tpot_ms;
        }
    }
}

Test(serving_speed, unnamed_engine_and_size_alone_answer_with_a_wider_interval)
{
    struct ask a = {.model = "llama-3.1-8b",
                    .gpu = "h100-sxm5-80g",
                    .engine = ENGINE_VLLM,
                    .batch = 32,
                    .input = 1000,
                    .output = 300,
                    .scenario = SCEN_SERVER};
    struct estimate known = answer(a);
    a.engine = ENGINE_UNSTATED;
    struct estimate unnamed = answer(a);
    a.model = NULL;
    a.billions = 8;
    struct estimate size_only = answer(a);
    const struct estimate *e[] = {&known, &unnamed, &size_only};
    double last = 1;
    for (int i = 0; i < 3; i++) {
        const struct serving_estimate *s = &e[i]->serving;
        double width = s->output_tokens_per_s_high / s->output_tokens_per_s_low;
        cr_expect(s->output_tokens_per_s_low < s->output_tokens_per_s &&
                  s->output_tokens_per_s < s->output_tokens_per_s_high);
        cr_expect_gt(width, last, "answer %d", i);
        last = width;
    }
    cr_expect_eq(known.confidence, CONF_CALIBRATED);
    cr_expect_eq(size_only.confidence, CONF_ANALYTIC);
    cr_expect_lt(unnamed.serving.output_tokens_per_s, known.serving.output_tokens_per_s);
    cr_expect(fabs(log(size_only.serving.output_tokens_per_s / unnamed.serving.output_tokens_per_s)) < log(1.3));
}

static bool sane(double x)
{
    return isfinite(x) && x >= 0;
}

static void expect_sane(const struct estimate *e, const char *model, const char *gpu)
{
    const struct serving_estimate *s = &e->serving;
    const double all[] = {s->weights_gb,
                          s->kv_bytes_per_token,
                          s->kv_cache_gb,
                          s->kv_cache_tokens,
                          s->max_concurrency,
                          s->output_tokens_per_s,
                          s->total_tokens_per_s,
                          s->requests_per_s,
                          s->ttft_ms,
                          s->tpot_ms,
                          s->output_tokens_per_s_low,
                          s->output_tokens_per_s_high,
                          e->memory.total_gb,
                          e->memory.usable_gb,
                          e->memory.low_gb,
                          e->memory.high_gb};
    for (size_t i = 0; i < N(all); i++)
        cr_expect(sane(all[i]), "%s on %s: figure %zu is %g", model, gpu, i, all[i]);
    cr_expect_gt(s->output_tokens_per_s, 0, "%s on %s", model, gpu);
}

/* Every model of the catalog on every card, in every engine and format that can be written down: a finite answer or a
 * refusal that names the figure that is not known. */
Test(serving_speed, anything_decodable_is_answered)
{
    const struct catalog *c = test_catalog();
    size_t refused = 0, answered = 0;
    struct arena *arena = arena_new((size_t)256 << 20);
    for (size_t m = 0; m < c->n_models; m++) {
        struct model model = preset(c->models[m].id);
        for (size_t g = 0; g < c->n_gpus; g++) {
            int i = (int)(m * 7 + g);
            struct serving s = {.stated = true,
                                .engine = (enum engine)(i % (ENGINE_ATOM + 1)),
                                .spare_replicas = -1,
                                .weight_format = (enum weight_format)(i % (WF_GGUF_Q8_0 + 1)),
                                .engine_version = i % 3 == 0   ? "0.6.3"
                                                  : i % 3 == 1 ? "not a version"
                                                               : NULL,
                                .attention_dp = i % 5 == 0,
                                .speculative_mtp = i % 4 == 0,
                                .enforce_eager = i % 6 == 0};
            struct shape shape = {.gpu = &c->gpus[g], .gpus_per_node = 1 + i % 8, .nodes = 1 + i % 2};
            struct operating_point at = {.stated = i % 2 == 0,
                                         .batch = i % 1000,
                                         .input_tokens = i % 9 * 5000,
                                         .output_tokens = i % 7,
                                         .scenario = (enum scenario)(i % 5)};
            struct serving_request q = {
                .model = &model, .serving = &s, .shape = &shape, .at = &at, .want_trace = i % 11 == 0};
            struct estimate e;
            struct err err = {0};
            if (serving_estimate(constants(), &q, arena, &e, &err) != 0) {
                cr_expect_eq(err.code, ERR_UNSUPPORTED, "%s", err.detail);
                refused++;
                continue;
            }
            expect_sane(&e, c->models[m].id, c->gpus[g].id);
            answered++;
        }
    }
    arena_free(arena);
    cr_expect_gt(answered, 9 * refused, "%zu answered, %zu refused", answered, refused);
}

/* A figure of the card that is not known is named. */
Test(serving_speed, unknown_figures_of_a_card)
{
    struct gpu g = *card("h100-sxm5-80g");
    struct shape shape = {.gpu = &g, .gpus_per_node = 1, .nodes = 1};
    struct card_traits t;
    struct err err = {0};
    g.bf16_tflops = g.fp16_tflops = 0;
    cr_expect_eq(card_traits_of(constants(), &shape, &t, &err), 0);
    cr_expect_float_eq(t.f16, g.fp8_tflops / 2 * 1e12, 1e6, "half the 8-bit rate");
    g.fp8_tflops = g.int8_tops = g.fp32_tflops = 0;
    cr_expect_neq(card_traits_of(constants(), &shape, &t, &err), 0);
    cr_expect_eq(err.code, ERR_UNSUPPORTED);
    cr_expect_not_null(strstr(err.detail, "bf16_tflops"));
    g = *card("h100-sxm5-80g");
    g.mem_bw_gb_s = 0;
    cr_expect_neq(card_traits_of(constants(), &shape, &t, &err), 0);
    cr_expect_not_null(strstr(err.detail, "mem_bw_gb_s"));
}

/* The parts of a step add up to it, and the figures of the answer are all explained. */
Test(serving_speed, trace_explains_every_figure)
{
    struct model m = preset("deepseek-v3");
    struct serving s = {.stated = true, .engine = ENGINE_SGLANG, .weight_format = WF_FP8, .spare_replicas = -1};
    struct shape shape = {.gpu = card("h200-sxm5-141g"), .gpus_per_node = 8, .nodes = 1};
    struct operating_point at = {.stated = true, .batch = 64, .input_tokens = 1024, .output_tokens = 512};
    struct serving_request q = {.model = &m, .serving = &s, .shape = &shape, .at = &at, .want_trace = true};
    struct arena *arena = arena_new((size_t)1 << 20);
    struct estimate e;
    struct err err;
    cr_assert_eq(serving_estimate(constants(), &q, arena, &e, &err), 0);
    static const char *const names[] = {"serving.weights_gb",
                                        "serving.kv_bytes_per_token",
                                        "serving.kv_cache_gb",
                                        "serving.kv_cache_tokens",
                                        "serving.max_concurrency",
                                        "serving.output_tokens_per_s",
                                        "serving.total_tokens_per_s",
                                        "serving.requests_per_s",
                                        "serving.ttft_ms",
                                        "serving.tpot_ms",
                                        "serving.output_tokens_per_s_low",
                                        "serving.output_tokens_per_s_high",
                                        "memory.total_gb",
                                        "memory.usable_gb",
                                        "serving.decode_step_ms"};
    for (size_t i = 0; i < N(names); i++) {
        bool found = false;
        for (size_t j = 0; j < e.trace.n; j++)
            found |= strcmp(e.trace.items[j].name, names[i]) == 0;
        cr_expect(found, "%s", names[i]);
    }
    for (size_t j = 0; j < e.trace.n; j++) {
        const struct trace_step *t = &e.trace.items[j];
        if (strcmp(t->name, "serving.decode_step_ms") != 0)
            continue;
        double v[8];
        for (unsigned i = 0; i < t->n_inputs; i++)
            v[i] = t->inputs[i].value;
        double sum = v[0] + cbrt(v[1] * v[1] * v[1] + v[2] * v[2] * v[2]) + v[3] + v[4] + v[5] + v[6];
        cr_expect_float_eq(sum, t->value, 1e-6 * t->value);
    }
    arena_free(arena);
}
