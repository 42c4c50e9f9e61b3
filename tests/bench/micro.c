/* micro.c — what one estimate, one layout search and the plan of every example cost a core, taken apart, and what a
 * hundred thousand price rows add; then what the requests of requests.jsonl cost, which nobody chose: members and
 * values drawn at random, every one of which is answered.
 *
 * Processor time of this thread, best of a few rounds, so that a busy machine disturbs little. Absolute figures are of
 * this machine; what travels is the ratios, which stand beside them. Goals are printed, not enforced: a bench reports.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/api.h"
#include "api/decode.h"
#include "api/encode_plan.h"
#include "planner/advice/plan_make.h"
#include "planner/offers/engine.h"
#include "tests/support/synthetic_catalog.h"
#include "tests/support/test_catalog.h"

#define ARENA_BYTES ((size_t)256 << 20)
#define MANY_ROWS 100000
#define ROUNDS 4
#define ROUND_NS 60000000.0
#define MADE_MAX 1000

static const char fixed[] =
    "{\"workload\":{\"model\":{\"preset\":\"llama-2-70b\"},\"training\":{\"method\":\"pretrain\",\"seq_len\":4096,"
    "\"global_batch\":512,\"precision\":\"bf16\"}},\"hardware\":{\"gpu\":\"h100-sxm5-80g\",\"gpus_per_node\":8,"
    "\"nodes\":16,"
    "\"intra_link\":\"nvswitch\",\"inter_link\":{\"kind\":\"infiniband\",\"gbps_per_node\":3200}},\"layout\":{\"tp\":8,"
    "\"pp\":2,"
    "\"vpp\":1,\"dp\":8,\"cp\":1,\"ep\":1,\"sharding\":\"zero1\",\"offload\":\"none\",\"recompute\":\"selective\","
    "\"micro_batch\":1,\"flash_attention\":true}}";
static const char search[] =
    "{\"workload\":{\"model\":{\"preset\":\"llama-2-70b\"},\"training\":{\"method\":\"pretrain\",\"seq_len\":4096,"
    "\"global_batch\":512,\"precision\":\"bf16\"}},\"hardware\":{\"gpu\":\"h100-sxm5-80g\",\"gpus_per_node\":8,"
    "\"nodes\":8,"
    "\"intra_link\":\"nvswitch\",\"inter_link\":{\"kind\":\"infiniband\",\"gbps_per_node\":3200}}}";

enum part { ESTIMATE, DECODE, PLAN, ENCODE, WHOLE };

struct subject {
    const struct catalog *catalog;
    enum part part;
    struct decoded_estimate estimate;
    struct decoded_plan request;
    struct plan *plan; /* of the request, to be encoded */
    const char *bytes; /* of the request */
    size_t n;
};

static void die(const char *what, const struct err *err)
{
    fprintf(stderr, "bench: %s: %s %s\n", what, err->pointer, err->detail);
    exit(1);
}

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static date_t today(void)
{
    return date_from_civil(2026, 11, 30);
}

/* Bytes in, bytes out. */
static void whole(const struct subject *s, struct arena *arena)
{
    struct api_response res = {0};
    const struct api_request req = {.method = "POST",
                                    .path = "/api/v1/plans",
                                    .query = "",
                                    .content_type = "application/json",
                                    .request_id = "bench",
                                    .body = s->bytes,
                                    .body_len = s->n,
                                    .catalog = s->catalog,
                                    .today = today(),
                                    .arena = arena};
    struct err err = {.detail = "not answered"};
    api_handle(&req, &res);
    if (res.status != 200)
        die("request", &err);
    api_response_done(&res);
}

static void decode(const struct catalog *c, const char *bytes, size_t n, struct arena *arena,
                   struct decoded_plan *ret_plan, struct decoded_estimate *ret_estimate)
{
    struct decode d;
    struct fault_list *faults = arena_alloc(arena, sizeof *faults);
    struct err err = {0};
    decode_init(&d, c, arena, LANG_EN, today(), faults);
    int rc = ret_plan != NULL ? decode_plan_request(&d, bytes, n, ret_plan, &err)
                              : decode_estimate_request(&d, bytes, n, ret_estimate, &err);
    if (rc != 0) {
        fprintf(stderr, "bench: %s %s\n", faults->n > 0 ? faults->items[0].pointer : "",
                faults->n > 0 ? faults->items[0].detail : err.detail);
        exit(1);
    }
}

static struct plan *plan(const struct subject *s, struct arena *arena)
{
    const struct plan_request q = {s->catalog, &s->request.workload, s->request.as_of};
    struct plan *p = arena_alloc(arena, sizeof *p);
    struct err err = {0};
    if (plan_make(&q, arena, p, &err) != 0)
        die("plan", &err);
    if (p->n_options == 0)
        die("a plan without options", &err);
    return p;
}

static void encode(const struct subject *s)
{
    struct buf body;
    buf_init(&body, (size_t)8 << 20);
    struct encode e = {
        .w = {.out = &body}, .catalog = s->catalog, .language = LANG_ZH_CN, .currency = s->plan->currency};
    encode_plan(&e, &s->request, s->plan);
    encode_done(&e);
    buf_done(&body);
}

static void estimate(const struct subject *s, struct arena *arena)
{
    const struct estimate_request q = {.catalog = s->catalog,
                                       .workload = &s->estimate.workload,
                                       .shape = &s->estimate.shape,
                                       .layout = s->estimate.has_layout ? &s->estimate.layout : NULL};
    struct err err = {0};
    if (engine_estimate(&q, arena, arena_alloc(arena, sizeof(struct estimate)), &err) != 0)
        die("estimate", &err);
}

static void once(const struct subject *s)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    struct decoded_plan again;
    switch (s->part) {
    case ESTIMATE:
        estimate(s, arena);
        break;
    case DECODE:
        decode(s->catalog, s->bytes, s->n, arena, &again, NULL);
        break;
    case PLAN:
        plan(s, arena);
        break;
    case ENCODE:
        encode(s);
        break;
    case WHOLE:
        whole(s, arena);
        break;
    }
    arena_free(arena);
}

/* Microseconds of one call: the best round's mean. */
static double measure(const struct subject *s)
{
    double best = 0;
    once(s);
    for (int round = 0; round < ROUNDS; round++) {
        double started = cpu_ns(), spent = 0;
        int n = 0;
        while (spent < ROUND_NS) {
            once(s);
            n++;
            spent = cpu_ns() - started;
        }
        if (best <= 0 || spent / n < best)
            best = spent / n;
    }
    return best / 1e3;
}

static double measure_part(struct subject *s, enum part part)
{
    s->part = part;
    return measure(s);
}

static double measure_estimate(const struct catalog *c, const char *body)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    struct subject s = {.catalog = c, .part = ESTIMATE};
    decode(c, body, strlen(body), arena, NULL, &s.estimate);
    double us = measure(&s);
    arena_free(arena);
    return us;
}

static struct catalog *bound(struct catalog *c)
{
    struct err err = {0};
    if (engine_bind(c, &err) != 0)
        die("catalog", &err);
    return c;
}

/* The whole of a request, and its parts; *ret_whole, *ret_ratio: what the goals are about. */
static void bench_example(const char *file, const struct catalog *c, const struct catalog *big, double *ret_whole,
                          double *ret_ratio)
{
    char bytes[65536];
    struct err err = {.detail = "cannot be read"};
    FILE *f = fopen(file, "rb");
    if (f == NULL)
        die(file, &err);
    struct arena *arena = arena_new(ARENA_BYTES);
    struct subject s = {.catalog = c, .bytes = bytes, .n = fread(bytes, 1, sizeof bytes, f)}, large = s;
    fclose(f);
    large.catalog = big;
    decode(c, bytes, s.n, arena, &s.request, NULL);
    decode(big, bytes, s.n, arena, &large.request, NULL);
    s.plan = plan(&s, arena);
    double decoded = measure_part(&s, DECODE), planned = measure_part(&s, PLAN), encoded = measure_part(&s, ENCODE);
    double all = measure_part(&s, WHOLE), over = measure_part(&large, WHOLE);
    printf("%-28s %8.0f %8.0f %8.0f | %8.0f | %8.0f  x %.2f\n", strrchr(file, '/') + 1, decoded, planned, encoded, all,
           over, over / all);
    *ret_whole = all;
    *ret_ratio = over / all;
    arena_free(arena);
}

/* Nanoseconds of a request, bytes in and out: the least of a few. */
static double least(const struct subject *s)
{
    double best = 0;
    for (int i = 0; i <= ROUNDS; i++) {
        double started = cpu_ns();
        once(s);
        double spent = cpu_ns() - started;
        best = best <= 0 || spent < best ? spent : best;
    }
    return best;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void bench_made(const char *file, const struct catalog *c)
{
    static char line[65536];
    static double us[MADE_MAX];
    size_t n = 0, over = 0;
    FILE *f = fopen(file, "rb");
    if (f == NULL)
        die(file, &(struct err){.detail = "cannot be read"});
    while (n < MADE_MAX && fgets(line, sizeof line, f) != NULL) {
        const struct subject s = {.catalog = c, .part = WHOLE, .bytes = line, .n = strlen(line)};
        us[n] = least(&s) / 1e3;
        over += us[n++] > 3000;
    }
    fclose(f);
    if (n == 0)
        die(file, &(struct err){.detail = "has no request"});
    qsort(us, n, sizeof *us, by_size);
    printf(
        "\n%zu requests made at random: half %.0f, nine of ten %.0f, 99 of 100 %.0f, the dearest %.0f; %zu over 3000\n",
        n, us[n / 2], us[n * 9 / 10], us[n * 99 / 100], us[n - 1], over);
}

int main(void)
{
    arena_keep_pages();
    api_init();
    const struct catalog *c = bound(test_catalog());
    struct catalog *big = bound(synthetic_catalog(MANY_ROWS));
    glob_t examples;
    double most = 0, most_ratio = 0;

    printf("one core, best of %d rounds, microseconds; %zu price rows as seeded, %zu in the large catalog\n", ROUNDS,
           c->n_prices, big->n_prices);
    printf("estimate, layout given, 128 GPUs: %.1f (goal 20)\n", measure_estimate(c, fixed));
    printf("estimate, layout searched, 64 GPUs: %.1f (goal 2000)\n", measure_estimate(c, search));
    printf("\n%-28s %8s %8s %8s | %8s | %s\n", "example", "decode", "plan", "encode", "request", "large catalog");
    if (glob("examples/*.json", 0, NULL, &examples) != 0)
        die("examples", &(struct err){.detail = "none found"});
    for (size_t i = 0; i < examples.gl_pathc; i++) {
        double all, ratio;
        bench_example(examples.gl_pathv[i], c, big, &all, &ratio);
        most = all > most ? all : most;
        most_ratio = ratio > most_ratio ? ratio : most_ratio;
    }
    printf("%-28s %8s %8s %8s | %8.0f | %8s  x %.2f   (goals: 3000, x 3)\n", "the dearest", "", "", "", most, "",
           most_ratio);
    bench_made("tests/bench/requests.jsonl", c);
    globfree(&examples);
    test_catalog_free(big);
    return 0;
}
