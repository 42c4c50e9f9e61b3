/* micro.c — what one estimate, one layout search and one plan cost a core, and what a hundred thousand price rows add.
 *
 * Processor time of this thread, best of five rounds, so that a busy machine disturbs little. Absolute figures are of
 * this machine; what travels is the ratios, which stand beside them. Goals are printed, not enforced: a bench reports.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/api.h"
#include "api/decode.h"
#include "planner/advice/plan_make.h"
#include "planner/offers/engine.h"
#include "tests/support/synthetic_catalog.h"
#include "tests/support/test_catalog.h"

#define ARENA_BYTES ((size_t)256 << 20)
#define MANY_ROWS 100000
#define ROUNDS 5
#define ROUND_NS 200000000.0

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

struct subject {
    const struct catalog *catalog;
    struct decoded_estimate estimate;
    struct decoded_plan plan;
    bool is_plan;
    const void *body; /* not NULL: the whole of api_handle, bytes in and bytes out */
    size_t body_len;
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

static void once_whole(const struct subject *s, struct arena *arena)
{
    struct api_response res = {0};
    const struct api_request req = {.method = "POST",
                                    .path = "/api/v1/plans",
                                    .query = "",
                                    .content_type = "application/json",
                                    .request_id = "bench",
                                    .body = s->body,
                                    .body_len = s->body_len,
                                    .catalog = s->catalog,
                                    .today = date_from_civil(2026, 11, 30),
                                    .arena = arena};
    struct err err = {.detail = "not answered"};
    api_handle(&req, &res);
    if (res.status != 200)
        die("request", &err);
    api_response_done(&res);
}

static void once(const struct subject *s)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    struct err err = {0};
    if (s->body != NULL) {
        once_whole(s, arena);
    } else if (s->is_plan) {
        const struct plan_request q = {s->catalog, &s->plan.workload, s->plan.as_of};
        struct plan *plan = arena_alloc(arena, sizeof *plan);
        if (plan_make(&q, arena, plan, &err) != 0)
            die("plan", &err);
        if (plan->n_options == 0)
            die("a plan without options", &err);
    } else {
        struct estimate_request q = {
            .catalog = s->catalog, .workload = &s->estimate.workload, .shape = &s->estimate.shape};
        struct estimate *estimate = arena_alloc(arena, sizeof *estimate);
        q.layout = s->estimate.has_layout ? &s->estimate.layout : NULL;
        if (engine_estimate(&q, arena, estimate, &err) != 0)
            die("estimate", &err);
    }
    arena_free(arena);
}

/* Nanoseconds of one call: the best round's mean. */
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
        if (best == 0 || spent / n < best)
            best = spent / n;
    }
    return best;
}

static void decode(struct subject *s, const void *bytes, size_t n, struct arena *arena)
{
    struct decode d;
    struct fault_list *faults = arena_alloc(arena, sizeof *faults);
    struct err err = {0};
    date_t today = date_from_civil(2026, 11, 30);
    decode_init(&d, s->catalog, arena, LANG_EN, today, faults);
    int rc = s->is_plan ? decode_plan_request(&d, bytes, n, &s->plan, &err)
                        : decode_estimate_request(&d, bytes, n, &s->estimate, &err);
    if (rc != 0) {
        fprintf(stderr, "bench: %s %s\n", faults->n > 0 ? faults->items[0].pointer : "",
                faults->n > 0 ? faults->items[0].detail : err.detail);
        exit(1);
    }
}

static double measure_estimate(const struct catalog *c, const char *body)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    struct subject s = {.catalog = c};
    decode(&s, body, strlen(body), arena);
    double ns = measure(&s);
    arena_free(arena);
    return ns;
}

static double measure_plan(const struct catalog *c, const char *file, bool whole)
{
    char bytes[65536];
    FILE *f = fopen(file, "rb");
    struct err err = {.detail = "cannot be read"};
    if (f == NULL)
        die(file, &err);
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    struct arena *arena = arena_new(ARENA_BYTES);
    struct subject s = {.catalog = c, .is_plan = true};
    decode(&s, bytes, n, arena);
    s.body = whole ? bytes : NULL;
    s.body_len = n;
    double ns = measure(&s);
    arena_free(arena);
    return ns;
}

static struct catalog *bound(struct catalog *c)
{
    struct err err = {0};
    if (engine_bind(c, &err) != 0)
        die("catalog", &err);
    return c;
}

static void row(const char *what, double ns, const char *goal, double plain_ns)
{
    printf("%-44s %10.1f us   %-14s", what, ns / 1e3, goal);
    if (plain_ns > 0)
        printf(" x %.2f", ns / plain_ns);
    putchar('\n');
}

int main(void)
{
    api_init();
    static const char *const examples[] = {"examples/01-lora-7b.json", "examples/03-full-14b-deadline.json",
                                           "examples/06-pretrain-130b.json", "examples/08-serve-70b-latency.json"};
    const struct catalog *c = bound(test_catalog());
    struct catalog *big = bound(synthetic_catalog(MANY_ROWS));

    printf("one core, best of %d rounds; %zu price rows as seeded, %zu in the large catalog\n", ROUNDS, c->n_prices,
           big->n_prices);
    double estimate = measure_estimate(c, fixed);
    row("estimate, layout given, 128 GPUs", estimate, "goal 20 us", 0);
    double searched = measure_estimate(c, search);
    row("estimate, layout searched, 64 GPUs", searched, "goal 2000 us", estimate);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char what[96];
        double small = measure_plan(c, examples[i], false), large = measure_plan(big, examples[i], false);
        double whole = measure_plan(c, examples[i], true);
        snprintf(what, sizeof what, "plan %s", examples[i] + strlen("examples/"));
        row(what, small, "goal 3000 us", 0);
        row("  with decoding and encoding", whole, "", small);
        snprintf(what, sizeof what, "  over %zu price rows", big->n_prices);
        row(what, large, "goal x 3", small);
    }
    test_catalog_free(big);
    return 0;
}
