/* test_serving_forward.c — embedding, reranking, images and speech against every published figure in hand. */
#include "tests/unit/serving_fixture.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void near(double got, double published, double within, const char *what, const char *where)
{
    cr_expect(fabs(log(got / published)) < log(within), "%s on %s: %.4g, published %.4g", what, where, got, published);
}

static struct estimate forward_with(struct model m, const char *gpu, struct training work, char *notes, size_t size)
{
    struct shape shape = {.gpu = card(gpu), .gpus_per_node = 1, .nodes = 1};
    struct arena *arena = arena_new((size_t)1 << 20);
    struct estimate e;
    struct err err;
    work.stated = true;
    work.method = METHOD_EMBEDDING;
    int rc = embedding_estimate(constants(), &m, &work, &shape, arena, &e, &err);
    for (size_t i = 0; rc == 0 && notes != NULL && i < e.assumptions.n; i++)
        if (strcmp(e.assumptions.items[i].code, "embedding_index") == 0)
            snprintf(notes, size, "%.1f", e.assumptions.items[i].args[1].number);
    arena_free(arena);
    cr_assert_eq(rc, 0, "%s", err.detail);
    return e;
}

static struct estimate forward(const char *model, const char *gpu, struct training work)
{
    return forward_with(preset(model), gpu, work, NULL, 0);
}

/* text-embeddings-inference on L4: 62k tokens/s, 0.31 of the peak; infinity on MI210: 86k, 0.29. */
Test(serving_forward, embedding_of_a_corpus)
{
    const struct {
        const char *gpu;
        double tokens_per_s;
    } cases[] = {{"l4-24g", 62000}, {"mi210-64g", 86000}};
    struct training corpus = {.tokens = 1e9, .seq_len = 512};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct estimate e = forward("bge-large-en-v1.5", cases[i].gpu, corpus);
        near(e.training.tokens_per_s_per_gpu, cases[i].tokens_per_s, 1.15, "bge-large", cases[i].gpu);
        cr_expect(e.training.tokens_per_s_per_gpu_low < cases[i].tokens_per_s &&
                  cases[i].tokens_per_s < e.training.tokens_per_s_per_gpu_high);
        cr_expect_float_eq(e.training.gpu_hours, 1e9 / e.training.tokens_per_s_per_gpu / 3600, 1e-6);
        cr_expect_eq(e.fits, FITS_YES);
    }
    char index[40] = "";
    corpus.samples = 1e6;
    forward_with(preset("bge-large-en-v1.5"), "l4-24g", corpus, index, sizeof index);
    cr_expect_str_eq(index, "4.1", "a million vectors of 1,024 floats");
}

/* A corpus may be told in tokens, in texts or in steps of a batch: the same work takes as long. */
Test(serving_forward, work_however_it_is_counted)
{
    const struct training counted[] = {{.tokens = 512e6, .seq_len = 512},
                                       {.samples = 1e6, .seq_len = 512},
                                       {.steps = 1e6 / 64, .global_batch = 64, .seq_len = 512}};
    for (size_t i = 0; i < COUNT(counted); i++) {
        struct estimate e = forward("bge-large-en-v1.5", "l4-24g", counted[i]);
        cr_expect_float_eq(e.training.gpu_hours, 512e6 / e.training.tokens_per_s_per_gpu / 3600, 1e-6, "case %zu", i);
    }
    const struct training passes[] = {{.samples = 6400}, {.steps = 100, .global_batch = 64}};
    for (size_t i = 0; i < COUNT(passes); i++) {
        struct estimate e = forward("sdxl-base-unet", "l4-24g", passes[i]);
        cr_expect_float_eq(e.training.gpu_hours, 6400 / e.training.samples_per_s / 3600, 1e-6, "case %zu", i);
    }
}

/* ALBERT computes twelve layers with the weights of one: as fast as BERT, whose layers are as wide, not twelve times.
 */
Test(serving_forward, shared_weights_are_computed_every_time)
{
    struct training corpus = {.tokens = 1e9, .seq_len = 512};
    struct model bert = preset("albert-base");
    bert.params = 108e6;
    bert.embedding_width = 0;
    double albert = forward("albert-base", "l4-24g", corpus).training.tokens_per_s_per_gpu;
    near(albert, forward_with(bert, "l4-24g", corpus, NULL, 0).training.tokens_per_s_per_gpu, 1.05, "ALBERT", "L4");
}

/* The same work as a service: a tuned server as above; sentence-transformers 19.5k tokens/s on L4. */
Test(serving_forward, embedding_and_reranking_as_a_service)
{
    struct ask a = {.model = "bge-large-en-v1.5", .gpu = "l4-24g", .input = 512, .output = 1, .batch = 32};
    near(answer(a).serving.total_tokens_per_s, 62000, 1.2, "bge-large served", a.gpu);
    a.engine = ENGINE_TRANSFORMERS;
    near(answer(a).serving.total_tokens_per_s, 19500, 1.2, "bge-large, plain library", a.gpu);
    a.engine = ENGINE_UNSTATED;
    double short_texts = answer(a).serving.requests_per_s;
    a.input = 256;
    cr_expect_gt(answer(a).serving.requests_per_s, 1.9 * short_texts, "near-linear in the length");
}

/* MLPerf, BERT-large on SQuAD (up to 384 tokens, 178 on average): 3.6 to 4.5 queries/s per dense 8-bit TOPS, heavily
 * tuned; the interval of a plan reaches it. */
Test(serving_forward, bert_in_8_bits)
{
    const char *cards[] = {"l4-24g", "l40s-48g", "h100-pcie-80g", "h100-nvl-94g", "h100-sxm5-80g", "gh200-96g"};
    struct training squad = {.samples = 1e6, .seq_len = 384, .mean_len = 178, .precision = PREC_FP8};
    for (size_t i = 0; i < COUNT(cards); i++) {
        struct estimate e = forward("bge-large-en-v1.5", cards[i], squad);
        const struct gpu *g = card(cards[i]);
        double tops = g->fp8_tflops > 0 ? g->fp8_tflops : g->int8_tops;
        near(e.training.samples_per_s / tops, 4.1, 1.6, "queries/s per TOPS", cards[i]);
    }
}

/* Images/s at 1024 x 1024 in 20 steps with guidance (MLPerf), seconds of FLUX.1-dev in 28 steps (diffusers). */
Test(serving_forward, images)
{
    const struct {
        const char *gpu;
        double images_per_s;
    } sdxl[] = {{"h100-sxm5-80g", 2.0e-3 * 989}, /* 2.0e-3 images/s per dense 16-bit TFLOP/s, +-25 % */
                {"h200-sxm5-141g", 2.0e-3 * 989},
                {"b200-sxm-180g", 4.0},
                {"l40s-48g", 0.7},
                {"l4-24g", 0.25},
                {"mi325x-256g", 2.3}};
    struct training one = {.samples = 1000};
    for (size_t i = 0; i < COUNT(sdxl); i++) {
        struct estimate e = forward("sdxl-base-unet", sdxl[i].gpu, one);
        near(e.training.samples_per_s / 40, sdxl[i].images_per_s, 1.25, "SDXL images/s", sdxl[i].gpu);
    }
    const char *h100 = "h100-sxm5-80g", *flux = "flux.1-dev-transformer";
    near(28 / forward(flux, h100, one).training.samples_per_s, 4.2, 1.1, "FLUX, compiled, s", h100);
    struct training fp8 = {.samples = 1000, .precision = PREC_FP8};
    near(28 / forward(flux, h100, fp8).training.samples_per_s, 3.0, 1.1, "FLUX, FP8 compiled, s", h100);
    struct ask a = {.model = flux, .gpu = h100, .output = 28, .batch = 1, .engine = ENGINE_TRANSFORMERS};
    near(1 / answer(a).serving.requests_per_s, 6.6, 1.1, "FLUX, eager, s", h100);
    a.engine = ENGINE_UNSTATED;
    double first = answer(a).serving.tpot_ms * 28 / 1e3;
    for (int batch = 4; batch <= 8; batch *= 2) {
        a.batch = batch;
        near(answer(a).serving.tpot_ms * 28 / 1e3, batch == 4 ? 15.9 : 31.7, 1.1, "FLUX, several at once, s", h100);
        cr_expect_float_eq(answer(a).serving.tpot_ms * 28 / 1e3, batch * first, 1e-6, "batches scale linearly");
    }
    /* LTX-Video, 167.6 TFLOP a pass: 1.1 s where FLUX takes 0.38, compiled. */
    struct model ltx = preset(flux);
    ltx.flops_per_sample = 167.6e12;
    double passes =
        forward(flux, h100, one).training.samples_per_s / forward_with(ltx, h100, one, NULL, 0).training.samples_per_s;
    near(passes, 1.1 / 0.38, 1.1, "LTX-Video against FLUX", h100);
}

/* FLUX.1-dev: 31.4 GiB of weights with text encoders and image decoder, 33.9 GiB in all; the transformer 22.6 GB in 16
 * bits and 6.7 in NF4. SDXL's network: 5.05 GB. */
Test(serving_forward, memory_of_images)
{
    const double gib = 1073741824.0 / 1e9;
    struct training one = {.samples = 1};
    struct estimate e = forward("flux.1-dev-transformer", "h100-sxm5-80g", one);
    near(e.memory.weights_gb, 31.4 * gib, 1.01, "FLUX weights", "H100");
    near(e.memory.total_gb, 33.9 * gib, 1.02, "FLUX in all", "H100");
    cr_expect_eq(forward("flux.1-dev-transformer", "rtx-5090-32g", one).fits, FITS_NO, "32 GB do not hold it");
    double beside = preset("flux.1-dev-transformer").companion_params * 2 / 1e9;
    struct ask a = {.model = "flux.1-dev-transformer", .gpu = "h100-sxm5-80g", .output = 28, .batch = 1};
    near(answer(a).serving.weights_gb - beside, 22.6, 1.07, "FLUX transformer", "H100");
    a.format = WF_BNB4;
    near(answer(a).serving.weights_gb - beside, 6.7, 1.07, "FLUX transformer in NF4", "H100");
    a = (struct ask){.model = "sdxl-base-unet", .gpu = "h100-sxm5-80g", .output = 40, .batch = 1};
    beside = preset("sdxl-base-unet").companion_params * 2 / 1e9;
    near(answer(a).serving.weights_gb - beside, 5.05, 1.03, "SDXL network", "H100");
}

/* MLPerf, Whisper-large-v3: an encoder reads 30 s of sound (1,500 positions) once, a decoder attends to them at every
 * token. */
Test(serving_forward, speech)
{
    const struct {
        const char *gpu;
        double tokens_per_s;
    } cases[] = {
        {"l4-24g", 349}, {"l40s-48g", 1159}, {"h100-nvl-94g", 2767}, {"h200-sxm5-141g", 4256}, {"b200-sxm-180g", 5457}};
    struct ask a = {.model = "whisper-large-v3", .input = 1500, .output = 100};
    for (size_t i = 0; i < COUNT(cases); i++) {
        a.gpu = cases[i].gpu;
        near(answer(a).serving.output_tokens_per_s, cases[i].tokens_per_s, 1.25, "Whisper", a.gpu);
    }
    cr_expect_eq(answer(a).serving.kv_bytes_per_token, 2.0 * 32 * 20 * 64 * 2, "the decoder's layers keep the cache");
    /* faster-whisper large-v2 on RTX 3070 Ti (608 GB/s; the 3070 here has 448): 12.4 times real time alone, 46 times
     * eight together; 1.6 GB for seven more. */
    a = (struct ask){.model = "whisper-large-v3", .gpu = "rtx-3070-8g", .input = 1500, .output = 100, .batch = 1};
    struct estimate one = answer(a);
    near(30 * one.serving.requests_per_s, 12.4, 1.5, "times real time", a.gpu);
    near(one.memory.kv_cache_gb * 7, 6.1 - 4.5, 1.2, "GB of seven more", a.gpu);
    a.batch = 8;
    near(30 * answer(a).serving.requests_per_s, 46, 1.5, "times real time, eight together", a.gpu);
    cr_expect_eq(answer(a).fits, FITS_YES);
}

/* Ten times the sound is ten passes: the same tokens a second, a tenth of the requests. */
Test(serving_forward, long_sound_is_read_in_windows)
{
    struct ask a = {.model = "whisper-large-v3", .gpu = "l40s-48g", .input = 1500, .output = 100, .batch = 16};
    struct estimate window = answer(a);
    a.input = 15000;
    a.output = 1000;
    struct estimate minutes = answer(a);
    near(minutes.serving.output_tokens_per_s, window.serving.output_tokens_per_s, 1.01, "300 s of sound", a.gpu);
    near(minutes.serving.requests_per_s * 10, window.serving.requests_per_s, 1.01, "300 s of sound", a.gpu);
    /* Text in two stacks has no windows: twice the source, twice the cache of it. */
    struct model m = preset("whisper-large-v3");
    cr_expect_eq(m.encoder_layers + m.decoder_layers, m.layers);
}
