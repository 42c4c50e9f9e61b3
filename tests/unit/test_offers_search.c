/* The search for machines looks at the promising cards and offers only. Here every offer of the seed in every size is
 * reckoned, for 150 jobs drawn at random, and the best of them set beside what the search kept. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/advice/contest.h"
#include "planner/advice/replan.h"
#include "planner/market/market.h"
#include "planner/offers/candidate.h"
#include "planner/offers/guess.h"
#include "planner/offers/kinds.h"
#include "planner/reserve/reserve.h"
#include "tests/support/draw.h"
#include "tests/support/test_catalog.h"

/* --- jobs --------------------------------------------------------------------------------------------------- */
static uint64_t state;

static double uniform(void)
{
    return draw_uniform(&state);
}

static int pick(int n)
{
    return draw_below(&state, n);
}

static struct workload draw(void)
{
    static const char *const models[] = {"qwen2.5-0.5b", "qwen2.5-7b",  "qwen2.5-14b", "qwen2.5-32b",  "llama-2-7b",
                                         "llama-2-13b",  "llama-2-70b", "qwen3-8b",    "qwen3-30b-a3b"};
    static const enum method methods[] = {METHOD_LORA, METHOD_QLORA, METHOD_FULL_FINETUNE, METHOD_PRETRAIN};
    static const enum priority priorities[] = {PRIORITY_CHEAPEST, PRIORITY_BALANCED, PRIORITY_FASTEST};
    static const char *const cities[] = {"hefei", "wuhan", "shenzhen", NULL};
    static const enum team teams[] = {TEAM_UNSTATED, TEAM_SLURM, TEAM_EXPERT};
    struct workload w;
    workload_init(&w);
    const struct model *m = NULL;
    while (m == NULL)
        m = catalog_model(test_catalog_bound(), models[pick(sizeof models / sizeof *models)]);
    w.model = *m;
    w.training.stated = true;
    w.training.method = methods[pick(4)];
    w.training.tokens = floor(exp(log(1e8) + uniform() * log(300)));
    w.training.runs = 1 + pick(6);
    w.training.parallel_runs = pick(3) == 0 ? 1 + pick(w.training.runs) : 1;
    w.training.dataset_gb = floor(uniform() * 200);
    w.priority = priorities[pick(3)];
    w.constraints.city = cities[pick(4)];
    w.constraints.team = teams[pick(3)];
    w.constraints.data_sensitive = pick(5) == 0;
    w.serving.months_stated = true;
    date_parse("2027-01-04", &w.constraints.start_on);
    return w;
}

/* --- everything there is ------------------------------------------------------------------------------------ */
enum { REACHED_MAX = 20000 };

/* What every offer in every size comes to. */
struct reached {
    struct {
        double total, days;
        int cards, nodes;
        const char *sku;
    } of[REACHED_MAX];
    int n;
    double least, soonest;
};

/* docs/plans.md: cost = least / this, time = soonest / this, weighed by the priority; here over all there is. */
static double score_of(const struct build *b, const struct reached *all, double total, double days)
{
    double cost, time, risk;
    candidate_weights(b, &cost, &time, &risk);
    return cost * all->least / total + time * all->soonest / days;
}

static void keep(struct build *b, enum option_kind kind, struct candidate c, struct reached *all)
{
    struct draft scratch = {0};
    if (!candidate_reckon(b, kind, &c, &scratch))
        return;
    cr_assert_lt(all->n, REACHED_MAX);
    all->of[all->n].total = (double)c.total;
    all->of[all->n].days = c.finish_days;
    all->of[all->n].cards = c.cards;
    all->of[all->n].nodes = c.nodes;
    all->of[all->n++].sku = c.offer->sku->id;
    all->least = fmin(all->least, (double)c.total);
    all->soonest = fmin(all->soonest, c.finish_days);
}

static const struct estimate *fitting(struct build *b, const struct offer *o, int cards, int nodes)
{
    struct err err = {0};
    const struct shape shape = build_shape(b, o->sku, cards, nodes, NULL);
    const struct estimate *e = build_physics(b, &shape, &err);
    return e != NULL && e->fits != FITS_NO ? e : NULL;
}

static void every_size_of_one(struct build *b, const struct offer *o, struct reached *best)
{
    const int node = o->sku->gpus_per_node, asked = b->training.parallel_runs;
    int fewest = 0;
    for (int cards = 1; cards <= node; cards *= 2)
        for (int by_card = 0; by_card < 2; by_card++)
            for (int lanes = 1; lanes <= asked; lanes++) {
                if ((by_card && !o->by_card) || (!by_card && (!o->by_node || cards < node)) || cards % lanes != 0)
                    continue;
                const struct estimate *e = fitting(b, o, cards / lanes, 1);
                if (e == NULL)
                    continue;
                if (fewest == 0 && o->by_card)
                    fewest = cards / lanes;
                struct candidate c = {
                    .offer = o, .by_card = by_card, .cards = cards, .nodes = 1, .lanes = lanes, .estimate = e};
                keep(b, KIND_SINGLE_MACHINE, c, best);
                c.home_cards = fewest < cards ? fewest : 0;
                if (c.home_cards > 0)
                    keep(b, KIND_SINGLE_MACHINE, c, best);
            }
}

/* The rules that forbid a size: the two-node gate, a fabric that the step waits for, a step that does not pay. */
static bool allowed(struct build *b, const struct offer *o, int nodes, const struct estimate *e)
{
    const struct network *net = o->sku->network;
    const int whole = o->sku->gpus_per_node;
    const struct estimate *half = fitting(b, o, whole, nodes / 2);
    if (e->training.communication_share > b->a.fabric_bound_share && (net == NULL || !net->rdma))
        return false;
    if (half == NULL)
        return true;
    const double gain = half->training.wall_hours / e->training.wall_hours;
    return gain >= (nodes == 2 ? b->a.two_node_gate : 1 + b->a.step_pays_share);
}

static void every_size_of_many(struct build *b, const struct offer *o, int most, struct reached *best)
{
    const int whole = o->sku->gpus_per_node, lanes = b->training.parallel_runs;
    int fewest = 0;
    for (int cards = 1; o->by_card && fewest == 0 && cards < whole; cards *= 2)
        if (fitting(b, o, cards, 1))
            fewest = cards;
    most = most < o->sku->max_nodes ? most : o->sku->max_nodes;
    for (int nodes = 1; nodes <= most; nodes *= 2) {
        const struct estimate *e = fitting(b, o, whole, nodes);
        if (e == NULL)
            continue;
        if (nodes > 1 && !allowed(b, o, nodes, e))
            return;
        for (int side = 1; side <= lanes; side += lanes > 1 ? lanes - 1 : 1) {
            struct candidate c = {
                .offer = o, .cards = whole, .nodes = nodes * side, .lanes = side, .estimate = e, .home_cards = fewest};
            if (c.nodes < 2 || c.nodes > most)
                continue;
            keep(b, KIND_SMALL_CLUSTER, c, best);
            c.home_cards = 0;
            keep(b, KIND_SMALL_CLUSTER, c, best);
        }
    }
}

static void exhaustive(struct build *b, enum option_kind kind, struct reached *all)
{
    const unsigned kinds =
        1u << PROVIDER_LOCAL_IDC | 1u << PROVIDER_PUBLIC_CLOUD | 1u << PROVIDER_MARKETPLACE | 1u << PROVIDER_HPC_CENTRE;
    all->n = 0;
    all->least = all->soonest = INFINITY;
    bool by_team;
    const int most = candidate_max_nodes(b, &by_team);
    for (size_t i = 0; i < b->catalog->n_skus; i++) {
        const struct sku *s = &b->catalog->skus[i];
        if (!(kinds & 1u << s->provider->kind) || !market_provider_allowed(&b->market, s->provider, false) ||
            (b->market.data_at_home && !s->provider->data_stays))
            continue;
        const struct offer *o = market_offer(&b->market, s, NULL);
        if (o == NULL)
            continue;
        if (kind == KIND_SINGLE_MACHINE)
            every_size_of_one(b, o, all);
        else if (o->by_node)
            every_size_of_many(b, o, most, all);
    }
}

static struct build *build_of(const struct workload *w, struct arena *arena)
{
    struct err err = {0};
    struct plan_request *q = arena_alloc(arena, sizeof *q);
    struct build *b = arena_alloc(arena, sizeof *b);
    *q = (struct plan_request){.catalog = test_catalog_bound(), .workload = w};
    date_parse("2026-11-30", &q->as_of);
    cr_assert_eq(build_init(b, q, arena, &err), 0, "%s", err.detail);
    cr_assert_eq(reserve_build(b, &err), 0, "%s", err.detail);
    return b;
}

/* Each centre's machines by themselves: as if there were no other. */
static void every_centre(const struct workload *w, struct arena *arena, struct reached *all)
{
    const struct catalog *c = test_catalog_bound();
    all->n = 0;
    all->least = all->soonest = INFINITY;
    for (size_t i = 0; i < c->n_skus; i++) {
        const struct sku *s = &c->skus[i];
        const char *provider = s->provider->id, *gpu = s->gpu->id;
        struct workload only = *w;
        struct option_list out = {0};
        struct err err = {0};
        if (s->provider->kind != PROVIDER_UNIVERSITY)
            continue;
        only.constraints.providers = &provider;
        only.constraints.gpus = &gpu;
        only.constraints.n_providers = only.constraints.n_gpus = 1;
        cr_assert_eq(option_university_build(build_of(&only, arena), &out, &err), 0, "%s", err.detail);
        for (size_t k = 0; k < out.n; k++) {
            const struct reckoning *r = out.items[k]->base;
            all->of[all->n].total = (double)r->total;
            all->of[all->n].days = r->schedule.finish_days;
            all->of[all->n++].sku = s->id;
            all->least = fmin(all->least, (double)r->total);
            all->soonest = fmin(all->soonest, r->schedule.finish_days);
        }
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How many times the score of the search's best the best of all has; 0 where neither finds anything. */
static double miss_of(const struct workload *w, enum option_kind kind, int job)
{
    static struct reached all;
    struct arena *arena = arena_new(64u << 20);
    struct err err = {0};
    struct option_list out = {0};
    struct build *b = build_of(w, arena);
    const int rc = kind == KIND_SINGLE_MACHINE  ? option_single_build(b, &out, &err)
                   : kind == KIND_SMALL_CLUSTER ? option_cluster_build(b, &out, &err)
                                                : option_university_build(b, &out, &err);
    cr_assert_eq(rc, 0, "%s", err.detail);
    if (kind == KIND_UNIVERSITY_TIME)
        every_centre(w, arena, &all);
    else
        exhaustive(build_of(w, arena), kind, &all);
    double found = 0, best = 0;
    int which = 0;
    for (size_t i = 0; i < out.n; i++) {
        const struct reckoning *r = out.items[i]->base;
        found = fmax(found, score_of(b, &all, (double)r->total, r->schedule.finish_days));
    }
    for (int i = 0; i < all.n; i++) {
        const double score = score_of(b, &all, all.of[i].total, all.of[i].days);
        which = score > best ? i : which;
        best = fmax(best, score);
    }
    const double miss = best <= 0 ? 0 : found <= 0 ? 99 : best / found;
    if (miss > 1.05)
        cr_log_info("job %d: %.2f times the score with %d x %d cards of %s", job, miss, all.of[which].nodes,
                    all.of[which].cards, all.of[which].sku);
    arena_free(arena);
    return miss;
}

static void compare(enum option_kind kind, double share_within, double worst_allowed)
{
    enum { JOBS = 150 };
    double misses[JOBS];
    int n = 0, within = 0;
    state = 20261130;
    for (int i = 0; i < JOBS; i++) {
        const struct workload w = draw();
        const double miss = miss_of(&w, kind, i);
        if (miss > 0)
            misses[n++] = miss;
    }
    cr_assert_gt(n, JOBS / 2, "%d jobs can be had at all", n);
    qsort(misses, (size_t)n, sizeof *misses, by_size);
    for (int i = 0; i < n; i++)
        within += misses[i] <= 1.05;
    cr_log_info("%d jobs: %d within 5 %%, worst %.3f", n, within, misses[n - 1]);
    cr_expect_geq(within, share_within * n, "%d of %d within 5 %%", within, n);
    cr_expect_leq(misses[n - 1], worst_allowed, "worst: the best of all has %.3f times the score", misses[n - 1]);
}

Test(offers_search, single_machines_are_near_the_best_of_all, .timeout = 120)
{
    compare(KIND_SINGLE_MACHINE, 0.96, 1.25);
}

Test(offers_search, clusters_are_near_the_best_of_all, .timeout = 120)
{
    compare(KIND_SMALL_CLUSTER, 0.96, 1.12);
}

Test(offers_search, centres_are_near_the_best_of_all, .timeout = 120)
{
    compare(KIND_UNIVERSITY_TIME, 1, 1.001);
}

/* --- plans made of a plan ------------------------------------------------------------------------------------- */

/* A re-plan recalls what its plan reckoned; where every card is slower, nothing is as it was. What is far behind may
 * still be recalled, so that now and then the search stops at another size. */
Test(offers_search, a_plan_of_slower_cards_recalls_nothing_as_it_was)
{
    const double by[] = {0.75, 1.25};
    enum { JOBS = 24 };
    int differ = 0;
    state = 11;
    for (int job = 0; job < JOBS; job++) {
        struct workload w = draw();
        struct arena *arena = arena_new(256 << 20);
        struct build *b = arena_alloc(arena, sizeof *b);
        struct plan_request q = {.catalog = test_catalog_bound(), .workload = &w};
        struct contest plan;
        struct err err = {0};
        date_parse("2026-11-30", &q.as_of);
        cr_assert(build_init(b, &q, arena, &err) == 0 && reserve_build(b, &err) == 0, "%s", err.detail);
        cr_assert_eq(contest_hold(b, ~0u, &plan, &err), 0, "%s", err.detail);
        for (int k = 0; k < 2; k++) {
            struct replan_ask ask = {.workload = &w, .kinds = ~0u, .slowdown = {NULL, by[k]}};
            struct replan whole, near;
            cr_assert_eq(replan_make(b, &ask, arena, &whole, &err), 0, "%s", err.detail);
            ask.near = true;
            cr_assert_eq(replan_make(b, &ask, arena, &near, &err), 0, "%s", err.detail);
            cr_expect_eq(near.draft == NULL, whole.draft == NULL);
            differ += near.draft != NULL && near.total != whole.total;
        }
        arena_free(arena);
    }
    cr_expect_leq(differ, 2, "%d of %d plans of slower and quicker cards are not those found without recalling", differ,
                  2 * JOBS);
}

/* A machine is called hopeless only where physics finds no layout either, whatever is trained with which optimizer. */
Test(offers_search, hopeless_machines_hold_no_layout)
{
    static const char *const models[] = {"qwen2.5-7b", "qwen2.5-14b", "qwen2.5-32b", "llama-2-70b"};
    static const char *const cards[] = {"a100-sxm4-80g", "rtx-4090-24g"};
    int hopeless = 0;
    for (int o = OPT_UNSTATED; o <= OPT_MUON; o++)
        for (int half = 0; half < 2; half++)
            for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
                struct workload w;
                struct arena *arena = arena_new(64 << 20);
                struct build *b = arena_alloc(arena, sizeof *b);
                struct plan_request q = {.catalog = test_catalog_bound(), .workload = &w};
                struct err err = {0};
                workload_init(&w);
                w.model = *catalog_model(test_catalog_bound(), models[m]);
                w.training.stated = true;
                w.training.method = METHOD_FULL_FINETUNE;
                w.training.tokens = 1e8;
                w.training.optimizer = (enum optimizer)o;
                w.training.master_weights = half == 1 ? TRI_NO : TRI_UNSTATED;
                w.training.optimizer_in_backward = half == 1 ? TRI_YES : TRI_UNSTATED;
                date_parse("2026-11-30", &q.as_of);
                cr_assert_eq(build_init(b, &q, arena, &err), 0, "%s", err.detail);
                for (int n = 1; n <= 16; n *= 2) {
                    struct shape s = {.gpu = catalog_gpu(test_catalog_bound(), cards[n % 2]),
                                      .gpus_per_node = n < 8 ? n : 8,
                                      .nodes = n < 8 ? 1 : n / 8,
                                      .host_memory_gb = 40};
                    const struct estimate *e = build_physics(b, &s, &err);
                    hopeless += guess_hopeless(b, &s);
                    cr_expect(e == NULL || e->fits == FITS_NO || !guess_hopeless(b, &s), "%s, optimizer %d, %d cards",
                              models[m], o, n);
                }
                arena_free(arena);
            }
    cr_expect_gt(hopeless, 20);
}
