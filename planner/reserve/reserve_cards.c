/* reserve_cards.c — see reserve_cards.h.
 *
 * Smallest: the least memory, then the least bandwidth, that carries the load inside its targets. Fastest: of the cards
 * with the most bandwidth (a token is a pass over the weights), the one with the least time per token.
 */
#include "planner/reserve/reserve_cards.h"

#include <math.h>
#include <stdlib.h>

enum { SMALL_TRIES_MAX = 5, FAST_TRIES_MAX = 2 };

static int by_size(const void *a, const void *b)
{
    const struct gpu *x = *(const struct gpu *const *)a, *y = *(const struct gpu *const *)b;
    if (x->memory_gb < y->memory_gb || x->memory_gb > y->memory_gb)
        return x->memory_gb < y->memory_gb ? -1 : 1;
    if (x->mem_bw_gb_s < y->mem_bw_gb_s || x->mem_bw_gb_s > y->mem_bw_gb_s)
        return x->mem_bw_gb_s < y->mem_bw_gb_s ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int by_speed(const void *a, const void *b)
{
    const struct gpu *x = *(const struct gpu *const *)a, *y = *(const struct gpu *const *)b;
    if (x->mem_bw_gb_s < y->mem_bw_gb_s || x->mem_bw_gb_s > y->mem_bw_gb_s)
        return x->mem_bw_gb_s > y->mem_bw_gb_s ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Cards that somebody sells, the request allows, and of which sixteen could hold the weights at four bits or as asked.
 */
static size_t on_sale(const struct build *b, const struct reserve_plan *r, const struct gpu **ret)
{
    const struct model *m = build_served_model(b);
    const double bytes = m->params * serving_least_bits(b->serving_k, &r->serving, m, 4) / 8;
    size_t n = 0;
    for (size_t g = 0; g < b->catalog->n_gpus; g++) {
        double month, hour;
        if (!market_gpu_allowed(&b->market, &b->catalog->gpus[g]) ||
            bytes > 16 * b->catalog->gpus[g].usable_gib * BYTES_PER_GIB)
            continue;
        market_least(&b->market, g, &month, &hour);
        if (isfinite(month) || isfinite(hour))
            ret[n++] = &b->catalog->gpus[g];
    }
    return n;
}

static void add(struct reserve_plan *r, const char *role, const struct reserve_best *best)
{
    const struct serving_sizing *z = &best->sizing;
    const int units = best->units + best->batch.units * (best->by_card ? best->batch.cards : 1);
    const int gpus = best->by_card ? units : units * best->offer->sku->gpus_per_node;
    r->cards[r->n_cards++] = (struct reserve_card){.role = role,
                                                   .sku = best->offer->sku,
                                                   .gpus = gpus,
                                                   .gpus_per_replica = z->gpus_per_replica,
                                                   .replicas = z->replicas,
                                                   .replicas_per_gpu = z->replicas_per_gpu,
                                                   .utilisation = z->utilisation,
                                                   .ttft_ms = z->ttft_ms,
                                                   .tpot_ms = z->tpot_ms,
                                                   .total = best->net};
}

/* The first `enough` of these cards that can carry the load; of several the one with the least time per token. The
 * machine that the plan takes is not asked again. */
static int pick(struct build *b, struct reserve_plan *r, const struct reserve_best *taken,
                const struct gpu *const *order, size_t n, int tries, int enough, struct reserve_hours h,
                struct reserve_best *ret, struct err *err)
{
    const struct note why_not = r->why_not;
    *ret = (struct reserve_best){0};
    for (size_t i = 0; i < n && tries > 0 && enough > 0; i++) {
        struct reserve_best found = *taken;
        const int before = b->n_sizings;
        if (order[i] != taken->offer->sku->gpu && reserve_try(b, r, order[i], h, 1, &found, err) != 0)
            return -1;
        tries -= b->n_sizings > before || found.offer != NULL;
        if (found.offer == NULL)
            continue;
        enough--;
        if (ret->offer == NULL || found.sizing.tpot_ms < ret->sizing.tpot_ms)
            *ret = found;
    }
    r->why_not = why_not;
    return 0;
}

int reserve_cards(struct build *b, struct reserve_plan *r, struct reserve_hours h, struct err *err)
{
    const struct gpu **order = arena_array(b->arena, b->catalog->n_gpus + 1, sizeof *order);
    const struct reserve_best taken = {r->offer, r->serving, r->sizing, r->by_card, r->units,
                                       r->base,  r->over,    r->net,    r->batch};
    struct reserve_best found;
    if (order == NULL)
        return err_set(err, ERR_NOMEM, "no room to order the cards");
    const size_t n = on_sale(b, r, order);
    r->n_cards = 0;
    add(r, "cheapest", &taken);
    qsort(order, n, sizeof *order, by_size);
    if (pick(b, r, &taken, order, n, SMALL_TRIES_MAX, 1, h, &found, err) != 0)
        return -1;
    if (found.offer != NULL)
        add(r, "smallest", &found);
    qsort(order, n, sizeof *order, by_speed);
    if (pick(b, r, &taken, order, n, 2 * FAST_TRIES_MAX, FAST_TRIES_MAX, h, &found, err) != 0)
        return -1;
    if (found.offer != NULL)
        add(r, "fastest", &found);
    return 0;
}
