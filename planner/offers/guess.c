/* guess.c — see guess.h. */
#include "planner/offers/guess.h"

#include <math.h>
#include <stdlib.h>

#include "planner/offers/candidate.h"

enum { GUESS_CARDS_MAX = 8 };

static double peak_tflops(const struct build *b, const struct gpu *g)
{
    enum precision p = b->training.precision;
    double half = fmax(g->bf16_tflops, g->fp16_tflops);
    if (p == PREC_FP8 && g->fp8_tflops > 0)
        return g->fp8_tflops;
    if (p == PREC_FP32)
        return g->fp32_tflops;
    return half > 0 ? half : g->fp32_tflops;
}

/* Floating-point work of all runs, about: 6 N a token, 2 N forward only. */
static double total_flops(const struct build *b)
{
    const struct training *t = &b->training;
    const struct model *m = &b->workload->model;
    double params = m->active_params > 0 ? m->active_params : m->params;
    double epochs = t->epochs > 0 ? t->epochs : 1;
    double samples = t->samples > 0 ? t->samples : t->steps * (t->global_batch > 0 ? t->global_batch : 1);
    double tokens = t->tokens > 0 ? t->tokens : samples * (t->seq_len > 0 ? t->seq_len : 4096);
    double per_token = (t->method == METHOD_EMBEDDING ? 2 : 6) * params;
    double flops = tokens * per_token;
    if (t->method == METHOD_CUSTOM)
        flops = samples * (t->flops_per_sample > 0 ? t->flops_per_sample : 3 * m->flops_per_sample);
    return flops > 0 ? flops * epochs * t->runs : 1e18;
}

/* Validation and debugging on the fewest cards: what a small job mostly costs. */
static double home_cost(const struct build *b, const struct gpu *gpu, int cards, double month, double hour)
{
    double days = build_measured_on(b, gpu) ? 0 : b->a.validate_days;
    double share = b->a.debug_share / (1 - b->a.debug_share);
    double hours = days * 24 + share * days * b->a.develop_hours_per_day;
    return cards * fmin(hour * hours, month * ceil(days * (1 + share) / b->a.month_days));
}

/* Cost and days to the end as the priority weighs them. Several nodes cut validation short, for it may cost little of
 * their month, and are moved to first. */
static void weigh(const struct build *b, int nodes, struct guess *g)
{
    double cost, time, risk;
    const double debug = 1 / (1 - b->a.debug_share), validate = nodes > 1 ? b->a.validate_days_min : b->a.validate_days;
    const double move = nodes > 1 && b->workload->constraints.team != TEAM_EXPERT ? b->a.migrate_days : 0;
    const double setup = (build_measured_on(b, g->gpu) ? 0 : validate) + move;
    candidate_weights(b, &cost, &time, &risk);
    g->weight = cost * log(g->cost) + time * log(1 + debug * (setup + g->hours / 24));
}

/* At the share of the card's peak that a run reaches, about. */
static double hours_of(const struct build *b, const struct gpu *gpu, double flops, int cards)
{
    const double share = gpu_runs_cuda(gpu) ? b->a.search_share_cuda : b->a.search_share_other, peak = peak_tflops(b, gpu);
    return peak > 0 ? flops / (peak * share * 1e12 * cards) / 3600 : INFINITY;
}

double guess_hours(const struct build *b, const struct gpu *gpu, int cards)
{
    return hours_of(b, gpu, total_flops(b), cards);
}

static bool guess_one(const struct build *b, size_t g, double flops, double state, int nodes, struct guess *ret)
{
    const struct gpu *gpu = &b->catalog->gpus[g];
    double peak = peak_tflops(b, gpu), usable = gpu->usable_gib * BYTES_PER_GIB, month, hour;
    if (!market_gpu_allowed(&b->market, gpu) || peak <= 0 || usable <= 0)
        return false;
    market_least(&b->market, g, &month, &hour);
    if (isinf(month))
        return false;
    *ret = (struct guess){.gpu = gpu, .cost = INFINITY};
    ret->min_cards = (int)fmin(1e6, fmax(1, ceil(state / usable / nodes)));
    double cramped = ret->min_cards > GUESS_CARDS_MAX ? (double)ret->min_cards / GUESS_CARDS_MAX : 1;
    for (int cards = 1; cards <= GUESS_CARDS_MAX; cards *= 2) {
        double hours = hours_of(b, gpu, flops, cards * nodes) * cramped * cramped;
        double cost = cards * nodes * fmin(hour * hours, month * ceil(hours / OFFER_MONTH_HOURS));
        ret->hours = hours;
        if (cards >= ret->min_cards || cards == GUESS_CARDS_MAX)
            ret->cost = fmin(ret->cost, cost);
    }
    ret->cost += home_cost(b, gpu, ret->min_cards < GUESS_CARDS_MAX ? ret->min_cards : GUESS_CARDS_MAX, month, hour);
    weigh(b, nodes, ret);
    return true;
}

enum { BY_WEIGHT, BY_COST, BY_HOURS };

/* Which order has its turn: the priority's own every other time. */
static const int turns[] = {BY_WEIGHT, BY_COST, BY_WEIGHT, BY_HOURS};

static double key_of(const struct guess *g, int order)
{
    return order == BY_COST ? g->cost : order == BY_HOURS ? g->hours : g->weight;
}

/* The best not yet taken in this order; ties go to the catalog's order. */
static size_t next_best(const struct guess *all, size_t n, const bool *taken, int order)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++)
        if (!taken[i] && (best == n || key_of(&all[i], order) < key_of(&all[best], order)))
            best = i;
    return best;
}

size_t guess_gpus(struct build *b, int nodes, struct guess *ret, size_t max)
{
    size_t n = 0, found = 0, gpus = b->catalog->n_gpus;
    struct guess *all = arena_array(b->arena, gpus + 1, sizeof *all);
    bool *taken = arena_array(b->arena, gpus + 1, sizeof *taken);
    double flops = total_flops(b), state = build_state_bytes(b);
    if (all == NULL || taken == NULL || b->catalog->market == NULL)
        return 0;
    for (size_t g = 0; g < gpus; g++)
        if (guess_one(b, g, flops, state, nodes, &all[n]))
            n++;
    while (found < max && found < n) {
        size_t i = next_best(all, n, taken, turns[found % (sizeof turns / sizeof *turns)]);
        taken[i] = true;
        ret[found++] = all[i];
    }
    return found;
}

/* By how much a rough guess must be beaten on both counts before it is believed. */
static const double MARGIN = 2.0;

bool guess_dominated(const struct guess *g, const struct guess *useful, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (useful[i].cost * MARGIN <= g->cost && useful[i].hours * MARGIN <= g->hours)
            return true;
    return false;
}

bool guess_hopeless(const struct build *b, const struct shape *shape)
{
    if (shape->host_memory_gb <= 0)
        return false; /* nobody says how much the host has */
    double cards = shape_usable_bytes(shape) * shape_gpus(shape);
    return build_state_bytes(b) > cards + shape->host_memory_gb * 1e9 * shape->nodes;
}
