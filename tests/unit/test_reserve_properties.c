/* The inference reserve over random loads on the shipped catalog: what may only rise, rises. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "planner/offers/engine.h"
#include "planner/reserve/reserve.h"
#include "planner/reserve/reserve_try.h"
#include "tests/support/test_catalog.h"

enum { LADDERS = 60 };

static struct catalog *catalog;
static uint32_t seed = 20261130;

static void setup(void)
{
    struct err err = {0};
    catalog = test_catalog();
    cr_assert_eq(engine_bind(catalog, &err), 0, "%s", err.detail);
}

static void teardown(void)
{
    test_catalog_free(catalog);
}

TestSuite(reserve_properties, .init = setup, .fini = teardown);

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static double one_of(const double *values, uint32_t n)
{
    return values[draw(n)];
}
#define ONE_OF(...) one_of((const double[]){__VA_ARGS__}, sizeof(double[]){__VA_ARGS__} / sizeof(double))

/* A random service; only_gpu: on one card alone, so that machines of different kinds are not compared. */
static struct workload random_service(const char *const *only_gpu)
{
    static const char *const models[] = {"qwen2.5-0.5b", "qwen2.5-7b", "qwen2.5-14b", "qwen2.5-32b", "llama-3.1-70b"};
    struct workload w;
    workload_init(&w);
    w.model = *catalog_model(catalog, models[draw(5)]);
    struct serving *s = &w.serving;
    s->stated = true;
    s->requests_per_s = ONE_OF(0.2, 1, 4);
    s->input_tokens = (int)ONE_OF(200, 1000, 4000);
    s->output_tokens = (int)ONE_OF(50, 300, 1000);
    s->peak_factor = ONE_OF(1, 2, 3, 5);
    s->hours_per_day = ONE_OF(6, 10, 24);
    s->weight_bits = ONE_OF(4, 8, 16);
    s->tpot_ms = draw(2) ? ONE_OF(60, 100, 200) : 0;
    s->spare_replicas = (int)draw(3);
    s->months = ONE_OF(1, 3, 6, 12);
    s->months_stated = true;
    if (only_gpu != NULL) {
        w.constraints.gpus = (const char **)(uintptr_t)only_gpu;
        w.constraints.n_gpus = 1;
    }
    return w;
}

/* The reserve of this request; its notes and offers die with the arena, its figures do not. */
static struct reserve_plan reserve_of(const struct workload *w)
{
    struct arena *arena = arena_new(8 << 20);
    struct build *b = arena_alloc(arena, sizeof *b);
    struct err err = {0};
    struct plan_request q = {.catalog = catalog, .workload = w};
    date_parse("2026-11-30", &q.as_of);
    cr_assert_eq(build_init(b, &q, arena, &err), 0, "%s", err.detail);
    cr_assert_eq(reserve_build(b, &err), 0, "%s", err.detail);
    struct reserve_plan r = b->reserve;
    arena_free(arena);
    return r;
}

enum knob { KNOB_REQUESTS, KNOB_USERS, KNOB_CONCURRENCY, KNOB_PEAK, KNOB_SPARE, KNOB_HOURS, KNOB_MONTHS, KNOB_COUNT };
static const char *const knob_names[KNOB_COUNT] = {"requests/s", "users", "concurrency", "peak",
                                                   "spare",      "hours", "months"};

static void turn(struct serving *s, enum knob knob, int step)
{
    const double rising = pow(1.8, step);
    if (knob <= KNOB_CONCURRENCY)
        s->requests_per_s = s->users = s->concurrency = 0;
    switch (knob) {
    case KNOB_REQUESTS:
        s->requests_per_s = 0.1 * rising;
        break;
    case KNOB_USERS:
        s->users = floor(20 * rising);
        break;
    case KNOB_CONCURRENCY:
        s->concurrency = floor(rising);
        break;
    case KNOB_PEAK:
        s->peak_factor = 1 + 0.5 * step;
        break;
    case KNOB_SPARE:
        s->spare_replicas = step;
        break;
    case KNOB_HOURS:
        s->hours_per_day = 3 * (step + 1);
        break;
    case KNOB_MONTHS:
        s->months = 1 + 2 * step;
        break;
    case KNOB_COUNT:
        break;
    }
}

/* Whatever of a load rises, the reserve never falls: over all cards that are for sale. */
Test(reserve_properties, a_larger_load_is_never_cheaper, .timeout = 120)
{
    for (int k = 0; k < LADDERS; k++) {
        const enum knob knob = (enum knob)draw(KNOB_COUNT);
        struct workload w = random_service(NULL);
        int64_t last = 0;
        for (int step = 0; step < 8; step++) {
            turn(&w.serving, knob, step);
            const struct reserve_plan r = reserve_of(&w);
            if (r.missing || r.over > 0)
                break;
            cr_expect_geq(r.net, last, "ladder %d, %s step %d: %ld after %ld", k, knob_names[knob], step, (long)r.net,
                          (long)last);
            cr_expect(r.net_low <= r.net && r.net <= r.net_high);
            last = r.net;
        }
    }
}

static const char *const CARDS[] = {"a100-sxm4-80g", "rtx-4090-24g", "h20-sxm5-96g", "l20-48g", "h800-sxm5-80g"};

/* On one card: more requests never fewer replicas or cards. */
Test(reserve_properties, more_requests_never_fewer_replicas, .timeout = 120)
{
    for (int k = 0; k < LADDERS; k++) {
        const char *card = CARDS[draw(5)];
        const enum knob knob = (enum knob)draw(KNOB_PEAK + 1);
        struct workload w = random_service(&card);
        int replicas = 0, cards = 0;
        for (int step = 0; step < 8; step++) {
            turn(&w.serving, knob, step);
            const struct reserve_plan r = reserve_of(&w);
            if (r.missing)
                break;
            cr_expect_geq(r.sizing.replicas, replicas, "ladder %d, %s on %s, step %d: %d after %d", k, knob_names[knob],
                          card, step, r.sizing.replicas, replicas);
            cr_expect_geq(r.sizing.gpus, cards, "ladder %d, %s on %s, step %d", k, knob_names[knob], card, step);
            cr_expect(r.sizing.gpus_mean <= r.sizing.gpus && r.sizing.gpus_low <= r.sizing.gpus &&
                      r.sizing.gpus <= r.sizing.gpus_high);
            cr_expect(r.sizing.utilisation > 0 && r.sizing.utilisation <= 0.65 + 1e-9, "%f", r.sizing.utilisation);
            replicas = r.sizing.replicas;
            cards = r.sizing.gpus;
        }
    }
}

/* On one card: a stricter time per token never takes fewer cards. */
Test(reserve_properties, a_stricter_target_never_takes_fewer_cards, .timeout = 120)
{
    for (int k = 0; k < LADDERS; k++) {
        const char *card = CARDS[draw(5)];
        struct workload w = random_service(&card);
        int cards = 0;
        for (double tpot = 300; tpot > 15; tpot *= 0.8) {
            w.serving.tpot_ms = tpot;
            const struct reserve_plan r = reserve_of(&w);
            if (r.missing)
                break;
            cr_expect_geq(r.sizing.gpus, cards, "ladder %d on %s, %.0f ms: %d after %d", k, card, tpot, r.sizing.gpus,
                          cards);
            cr_expect_leq(r.sizing.tpot_ms, tpot * 1.001, "%s", card);
            cards = r.sizing.gpus;
        }
    }
}

/* The bound that stops the search is below what any card costs, whatever format the weights are in: no card on which
 * the load was not tried is cheaper than the one taken. */
Test(reserve_properties, no_format_hides_a_cheaper_card, .timeout = 120)
{
    static const enum weight_format formats[] = {WF_AWQ,  WF_GPTQ, WF_BNB4, WF_NVFP4, WF_MXFP4, WF_GGUF_Q2_K,
                                                 WF_GGUF, WF_EXL2, WF_FP8,  WF_INT8,  WF_BF16,  WF_UNSTATED};
    static const char *const models[] = {"qwen2.5-32b", "llama-3.1-70b", "qwen3-30b-a3b"};
    int compared = 0;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
            struct arena *arena = arena_new(64u << 20);
            struct build *b = arena_alloc(arena, sizeof *b);
            struct workload w;
            struct err err = {0};
            workload_init(&w);
            w.model = *catalog_model(catalog, models[k]);
            w.training.stated = true; /* one machine is enough: the search stops at its bound */
            w.training.method = METHOD_LORA;
            w.training.tokens = 1e8;
            w.serving.stated = true;
            w.serving.requests_per_s = 0.3;
            w.serving.input_tokens = 500;
            w.serving.output_tokens = 100;
            w.serving.months = 3;
            w.serving.months_stated = true;
            w.serving.weight_format = formats[i];
            struct plan_request *q = arena_alloc(arena, sizeof *q);
            *q = (struct plan_request){.catalog = catalog, .workload = &w};
            date_parse("2026-11-30", &q->as_of);
            cr_assert_eq(build_init(b, q, arena, &err), 0, "%s", err.detail);
            cr_assert_eq(reserve_build(b, &err), 0, "%s", err.detail);
            struct reserve_plan other = b->reserve;
            for (size_t g = 0; b->reserve.offer != NULL && b->reserve.over == 0 && g < catalog->n_gpus; g++) {
                struct reserve_best best;
                other.serving = w.serving;
                other.serving.peak_factor = b->reserve.serving.peak_factor;
                cr_assert_eq(reserve_try(b, &other, &catalog->gpus[g], reserve_hours_of(b, &other), 2, &best, &err), 0);
                if (best.offer == NULL || best.over > 0)
                    continue;
                compared++;
                cr_expect_geq(best.net, b->reserve.net, "%s, format %d: %s costs %ld, %s taken %ld", models[k],
                              (int)formats[i], catalog->gpus[g].id, (long)best.net, b->reserve.offer->sku->id,
                              (long)b->reserve.net);
            }
            arena_free(arena);
        }
    cr_expect_gt(compared, 300);
}
