/* test_serving_random.c — properties that must hold for any load, target, length, card and width: drawn at random from
 * the whole catalog with a fixed seed, so that a failure comes back. A failure prints its draw.
 */
#include "tests/unit/serving_fixture.h"

#define N(a) (sizeof(a) / sizeof *(a))

static uint64_t seed;

static double drawn(void) /* [0, 1) */
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static double between(double low, double high) /* even in the logarithm */
{
    return low * pow(high / low, drawn());
}

static size_t one_of(size_t n)
{
    return (size_t)(drawn() * (double)n);
}

/* A model that writes text, and a card that is sold. */
static const struct model *any_model(void)
{
    for (;;) {
        const struct model *m = &test_catalog()->models[one_of(test_catalog()->n_models)];
        if (m->causal != TRI_NO && m->flops_per_sample <= 0 && m->layers > 0)
            return m;
    }
}

static const struct gpu *any_card(void)
{
    for (;;) {
        const struct gpu *g = &test_catalog()->gpus[one_of(test_catalog()->n_gpus)];
        if (g->rentable && g->mem_bw_gb_s > 0 && (g->bf16_tflops > 0 || g->fp16_tflops > 0))
            return g;
    }
}

static const enum engine ENGINES[] = {ENGINE_UNSTATED, ENGINE_UNSTATED,     ENGINE_VLLM,        ENGINE_VLLM,
                                      ENGINE_SGLANG,   ENGINE_TENSORRT_LLM, ENGINE_TRANSFORMERS};
static const enum weight_format FORMATS[] = {WF_UNSTATED, WF_BF16, WF_FP8, WF_INT8, WF_AWQ, WF_NVFP4, WF_BNB4};

struct draw {
    struct model model;
    const struct gpu *gpu;
    struct serving s;
    int node;
    double utilisation;
    char text[300];
};

static struct draw draw(void)
{
    const struct model *m = any_model();
    struct draw d = {.model = preset(m->id), .gpu = any_card(), .node = 1 << one_of(4)};
    d.utilisation = 0.3 + 0.65 * drawn();
    d.s = (struct serving){.stated = true,
                           .engine = ENGINES[one_of(N(ENGINES))],
                           .weight_format = FORMATS[one_of(N(FORMATS))],
                           .kv_bits = drawn() < 0.3 ? 8 : 0,
                           .input_tokens = (int)between(8, 30000),
                           .output_tokens = (int)between(1, 4000),
                           .spare_replicas = (int)one_of(3),
                           .peak_factor = 1 + 4 * drawn(),
                           .ttft_ms = drawn() < 0.3 ? between(200, 20000) : 0};
    snprintf(d.text, sizeof d.text,
             "%s on %s x%d engine %d format %d kv %.0f %d/%d spare %d peak %.3f ttft %.0f rho %.3f", d.model.id,
             d.gpu->id, d.node, (int)d.s.engine, (int)d.s.weight_format, d.s.kv_bits, d.s.input_tokens,
             d.s.output_tokens, d.s.spare_replicas, d.s.peak_factor, d.s.ttft_ms, d.utilisation);
    return d;
}

enum load_kind { RATE, USERS, IN_FLIGHT };

static struct serving_sizing size_of(const struct draw *d, enum load_kind kind, double load, double tpot_ms)
{
    struct serving s = d->s;
    s.requests_per_s = kind == RATE ? load : 0;
    s.users = kind == USERS ? 360 * load : 0;
    s.concurrency = kind == IN_FLIGHT ? ceil(20 * load) : 0;
    s.tpot_ms = tpot_ms;
    struct serving_sizing_request q = {.model = &d->model,
                                       .serving = &s,
                                       .gpu = d->gpu,
                                       .gpus_per_node = d->node,
                                       .load_low = 0.7,
                                       .load_high = 1.4,
                                       .utilisation_target = d->utilisation};
    struct serving_sizing z;
    struct err err;
    struct arena *arena = arena_new((size_t)1 << 20);
    int rc = serving_size(constants(), &q, arena, &z, &err);
    arena_free(arena);
    cr_assert_eq(rc, 0, "%s: %s", d->text, err.detail);
    return z;
}

/* On one type of card, with one engine and width: more load never takes fewer replicas or cards, a stricter time per
 * token never fewer cards; what the harder of two can do, the easier can too. */
Test(serving_random, more_load_and_stricter_targets_never_take_less, .timeout = 120)
{
    int sized = 0, compared = 0;
    seed = 20261130;
    for (int i = 0; i < 1500; i++) {
        struct draw d = draw();
        enum load_kind kind = (enum load_kind)one_of(3);
        double less = between(0.01, 100), more = less * between(1.001, 30);
        double loose = between(8, 400), strict = loose / between(1.001, 6);
        bool any_tpot = drawn() < 0.2;
        struct serving_sizing a = size_of(&d, kind, less, any_tpot ? 0 : loose);
        struct serving_sizing b = size_of(&d, kind, more, any_tpot ? 0 : loose);
        struct serving_sizing c = size_of(&d, kind, less, strict);
        sized += a.feasible;
        if (b.feasible) {
            cr_expect(a.feasible, "%s: %.4f carried, %.4f not", d.text, more, less);
            cr_expect(a.replicas <= b.replicas, "%s: kind %d, %d replicas at %.6f, %d at %.6f, tpot %.2f", d.text,
                      (int)kind, a.replicas, less, b.replicas, more, any_tpot ? 0 : loose);
            cr_expect(a.gpus <= b.gpus, "%s: kind %d, %d cards at %.6f, %d at %.6f, tpot %.2f", d.text, (int)kind,
                      a.gpus, less, b.gpus, more, any_tpot ? 0 : loose);
            compared++;
        }
        if (c.feasible) {
            cr_expect(a.feasible, "%s: %.2f ms kept, %.2f not", d.text, strict, loose);
            if (!any_tpot)
                cr_expect(a.gpus <= c.gpus, "%s: kind %d, %d cards at %.3f ms, %d at %.3f, load %.5f", d.text,
                          (int)kind, a.gpus, loose, c.gpus, strict, less);
            cr_expect_leq(c.tpot_ms, strict * 1.001, "%s: %.2f ms of %.2f", d.text, c.tpot_ms, strict);
            compared++;
        }
    }
    cr_expect_gt(sized, 700, "%d sized", sized);
    cr_expect_gt(compared, 1000, "%d compared", compared);
}

/* More spare, a higher peak and a lower utilisation target never take less either. */
Test(serving_random, more_caution_never_takes_less, .timeout = 120)
{
    int compared = 0;
    seed = 7;
    for (int i = 0; i < 600; i++) {
        struct draw d = draw();
        double load = between(0.01, 50), tpot = between(15, 300);
        struct serving_sizing a = size_of(&d, RATE, load, tpot);
        if (!a.feasible)
            continue;
        struct draw spare = d, peak = d, idle = d;
        spare.s.spare_replicas += 1;
        peak.s.peak_factor *= 1.5;
        idle.utilisation *= 0.7;
        cr_expect_geq(size_of(&spare, RATE, load, tpot).gpus, a.gpus, "%s: spare", d.text);
        cr_expect_geq(size_of(&peak, RATE, load, tpot).gpus, a.gpus, "%s: peak", d.text);
        cr_expect_geq(size_of(&idle, RATE, load, tpot).gpus, a.gpus, "%s: utilisation", d.text);
        compared++;
    }
    cr_expect_gt(compared, 250, "%d compared", compared);
}

static struct estimate on_cards(const struct draw *d, const struct serving *s, int tp, int pp, double utilisation)
{
    struct shape shape = {.gpu = d->gpu, .gpus_per_node = tp * pp, .nodes = 1};
    struct layout layout = {.tp = tp, .pp = pp, .ep = 1, .dp = 1};
    struct operating_point at = {.stated = true,
                                 .input_tokens = s->input_tokens,
                                 .output_tokens = s->output_tokens,
                                 .gpu_memory_utilization = utilisation};
    struct serving_request q = {.model = &d->model, .serving = s, .shape = &shape, .layout = &layout, .at = &at};
    struct arena *arena = arena_new((size_t)1 << 20);
    struct estimate e;
    struct err err;
    int rc = serving_estimate(constants(), &q, arena, &e, &err);
    arena_free(arena);
    cr_assert_eq(rc, 0, "%s: %s", d->text, err.detail);
    return e;
}

/* Two cards never hold fewer tokens than one, by tensors or by stages. */
Test(serving_random, two_cards_never_hold_fewer_tokens_than_one, .timeout = 120)
{
    seed = 42;
    for (int i = 0; i < 1500; i++) {
        struct draw d = draw();
        double last_tp = 0, last_pp = 0;
        for (int cards = 1; cards <= 8; cards *= 2) {
            if (d.model.heads % cards == 0) {
                double tokens = on_cards(&d, &d.s, cards, 1, 0).serving.kv_cache_tokens;
                cr_expect_geq(tokens, last_tp * (1 - 1e-9), "%s: tp %d", d.text, cards);
                last_tp = tokens;
            }
            if (d.model.layers >= cards) {
                double tokens = on_cards(&d, &d.s, 1, cards, 0).serving.kv_cache_tokens;
                cr_expect_geq(tokens, last_pp * (1 - 1e-9), "%s: pp %d", d.text, cards);
                last_pp = tokens;
            }
        }
    }
}

/* Narrower weights weigh less and leave more cache; a narrower cache holds more; longer sequences run fewer at once; a
 * larger share of the card holds more. */
Test(serving_random, widths_lengths_and_shares, .timeout = 120)
{
    seed = 99;
    for (int i = 0; i < 1500; i++) {
        struct draw d = draw();
        int tp = d.model.heads % d.node == 0 ? d.node : 1;
        const enum weight_format narrower[] = {WF_FP32, WF_BF16, WF_FP8, WF_AWQ};
        double weights = INFINITY, tokens = -1;
        d.s.weight_format = WF_UNSTATED;
        for (size_t f = 0; f < N(narrower); f++) {
            struct serving s = d.s;
            s.weight_format = narrower[f];
            s.kv_bits = 16;
            struct estimate e = on_cards(&d, &s, tp, 1, 0.9);
            cr_expect_lt(e.serving.weights_gb, weights, "%s: format %d", d.text, (int)narrower[f]);
            cr_expect_geq(e.serving.kv_cache_tokens, tokens, "%s: format %d", d.text, (int)narrower[f]);
            weights = e.serving.weights_gb;
            tokens = e.serving.kv_cache_tokens;
        }
        struct serving wide = d.s, slim = d.s, longer = d.s;
        wide.kv_bits = 16;
        slim.kv_bits = 8;
        longer.input_tokens *= 2;
        struct estimate w = on_cards(&d, &wide, tp, 1, 0.8);
        cr_expect_geq(on_cards(&d, &slim, tp, 1, 0.8).serving.kv_cache_tokens, w.serving.kv_cache_tokens, "%s", d.text);
        cr_expect_geq(on_cards(&d, &wide, tp, 1, 0.9).serving.kv_cache_tokens, w.serving.kv_cache_tokens, "%s", d.text);
        longer.kv_bits = 16;
        cr_expect_leq(on_cards(&d, &longer, tp, 1, 0.8).serving.max_concurrency, w.serving.max_concurrency * (1 + 1e-9),
                      "%s", d.text);
    }
}
