/* micro.c — what one estimate, one layout search and one plan cost a core, and what a hundred thousand price rows add.
 *
 * Processor time of this thread, best of five rounds, so that a busy machine disturbs little. Absolute figures are of
 * this machine; what travels is the ratios, which stand beside them. Goals are printed, not enforced: a bench reports.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/decode.h"
#include "planner/offers/engine.h"
#include "planner/offers/plan.h"
#include "server/store.h"

#define ARENA_BYTES ((size_t)256 << 20)
#define MANY_ROWS 100000
#define ROUNDS 5
#define ROUND_NS 200000000.0

static const char fixed[] =
    "{\"workload\":{\"model\":{\"preset\":\"llama-2-70b\"},\"training\":{\"method\":\"pretrain\",\"seq_len\":4096,"
    "\"global_batch\":512,\"precision\":\"bf16\"}},\"hardware\":{\"gpu\":\"h100-sxm5-80g\",\"gpus_per_node\":8,\"nodes\":16,"
    "\"intra_link\":\"nvswitch\",\"inter_link\":{\"kind\":\"infiniband\",\"gbps_per_node\":3200}},\"layout\":{\"tp\":8,\"pp\":2,"
    "\"vpp\":1,\"dp\":8,\"cp\":1,\"ep\":1,\"sharding\":\"zero1\",\"offload\":\"none\",\"recompute\":\"selective\","
    "\"micro_batch\":1,\"flash_attention\":true}}";
static const char search[] =
    "{\"workload\":{\"model\":{\"preset\":\"llama-2-70b\"},\"training\":{\"method\":\"pretrain\",\"seq_len\":4096,"
    "\"global_batch\":512,\"precision\":\"bf16\"}},\"hardware\":{\"gpu\":\"h100-sxm5-80g\",\"gpus_per_node\":8,\"nodes\":8,"
    "\"intra_link\":\"nvswitch\",\"inter_link\":{\"kind\":\"infiniband\",\"gbps_per_node\":3200}}}";

struct subject {
    const struct catalog *catalog;
    struct decoded_estimate estimate;
    struct decoded_plan plan;
    bool is_plan;
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

static void once(const struct subject *s)
{
    struct arena *arena = arena_new(ARENA_BYTES);
    struct err err = {0};
    if (s->is_plan) {
        const struct plan_request q = {s->catalog, &s->plan.workload, s->plan.as_of};
        struct plan *plan = arena_alloc(arena, sizeof *plan);
        if (plan_make(&q, arena, plan, &err) != 0)
            die("plan", &err);
        if (plan->n_options == 0)
            die("a plan without options", &err);
    } else {
        struct estimate_request q = {.catalog = s->catalog, .workload = &s->estimate.workload, .shape = &s->estimate.shape};
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
    int rc = s->is_plan ? decode_plan_request(&d, bytes, n, &s->plan, &err) : decode_estimate_request(&d, bytes, n, &s->estimate, &err);
    if (rc != 0) {
        fprintf(stderr, "bench: %s %s\n", faults->n > 0 ? faults->items[0].pointer : "", faults->n > 0 ? faults->items[0].detail : err.detail);
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

static double measure_plan(const struct catalog *c, const char *file)
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
    double ns = measure(&s);
    arena_free(arena);
    return ns;
}

/* The same catalog with every SKU and its prices again and again under other names, each a little dearer, until there
 * are MANY_ROWS price rows. */
static struct catalog *multiply(const struct catalog *c, struct arena *arena)
{
    struct err err = {0};
    struct catalog *big = arena_alloc(arena, sizeof *big);
    size_t of_skus = 0, n_prices = 0;
    for (size_t i = 0; i < c->n_prices; i++)
        of_skus += c->prices[i].subject == SUBJECT_SKU;
    size_t copies = MANY_ROWS / of_skus + 1;
    *big = *c;
    big->arena = arena;
    big->skus = arena_array(arena, c->n_skus * copies, sizeof *big->skus);
    big->prices = arena_array(arena, c->n_prices * copies, sizeof *big->prices);
    for (size_t k = 0; k < copies; k++)
        for (size_t i = 0; i < c->n_skus; i++) {
            struct sku *sku = &big->skus[k * c->n_skus + i];
            *sku = c->skus[i];
            sku->id = k == 0 ? sku->id : arena_printf(arena, "%s-%zu", sku->id, k);
        }
    for (size_t k = 0; k < copies && n_prices < MANY_ROWS; k++)
        for (size_t i = 0; i < c->n_prices; i++) {
            if (k > 0 && c->prices[i].subject != SUBJECT_SKU)
                continue;
            struct price *p = &big->prices[n_prices++];
            *p = c->prices[i];
            if (p->subject == SUBJECT_SKU)
                p->sku = &big->skus[k * c->n_skus + (size_t)(p->sku - c->skus)];
            p->id = k == 0 ? p->id : arena_printf(arena, "%s-%zu", p->id, k);
            p->micros += p->micros / 1000 * (int64_t)(k % 97);
        }
    big->n_skus = c->n_skus * copies;
    big->n_prices = n_prices;
    if (arena_failed(arena) || catalog_index(big, &err) != 0 || engine_bind(big, &err) != 0)
        die("the large catalog", &err);
    return big;
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
    static const char *const examples[] = {"examples/01-lora-7b.json", "examples/03-full-14b-deadline.json",
                                           "examples/06-pretrain-130b.json", "examples/08-serve-70b-latency.json"};
    struct store store;
    struct err err = {0};
    const struct store_options options = {.path = ":memory:", .create = true};
    if (store_open(&options, &store, &err) != 0)
        die("store", &err);
    struct snapshot *snapshot = snapshot_ref(store.cell);
    const struct catalog *c = snapshot_catalog(snapshot);
    struct arena *arena = arena_new((size_t)1 << 30);
    const struct catalog *big = multiply(c, arena);

    printf("one core, best of %d rounds; %zu price rows as seeded, %zu in the large catalog\n", ROUNDS, c->n_prices, big->n_prices);
    double estimate = measure_estimate(c, fixed);
    row("estimate, layout given, 128 GPUs", estimate, "goal 20 us", 0);
    double searched = measure_estimate(c, search);
    row("estimate, layout searched, 64 GPUs", searched, "goal 2000 us", estimate);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char what[96];
        double small = measure_plan(c, examples[i]), large = measure_plan(big, examples[i]);
        snprintf(what, sizeof what, "plan %s", examples[i] + strlen("examples/"));
        row(what, small, "goal 3000 us", 0);
        snprintf(what, sizeof what, "  over %zu price rows", big->n_prices);
        row(what, large, "goal x 3", small);
    }
    arena_free(arena);
    snapshot_unref(snapshot);
    store_close(&store);
    return 0;
}
