/* synthetic_catalog.c — see synthetic_catalog.h. */
#include "tests/support/synthetic_catalog.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test_catalog.h"

struct growth {
    const struct catalog *base;
    struct catalog *made;
    struct arena *arena;
    size_t max_prices;
};

static void *must(void *p)
{
    if (!p) {
        fprintf(stderr, "synthetic catalog: out of memory\n");
        abort();
    }
    return p;
}

/* Deterministic and well spread: the same row always gets the same factor. */
static int64_t varied(int64_t micros, uint64_t row)
{
    uint64_t x = (row + 1) * UINT64_C(0x9E3779B97F4A7C15);
    int64_t per_mille = 900 + (int64_t)((x >> 40) % 401);
    return micros / 1000 * per_mille;
}

static const struct provider *add_provider(struct growth *g, const struct provider *like, size_t round)
{
    static const char *const cities[] = {"hefei", "shenzhen", "wuhan"};
    struct provider *p = &g->made->providers[g->made->n_providers++];
    *p = *like;
    p->id = must(arena_printf(g->arena, "%s-%zu", like->id, round));
    p->city = cities[round % 3];
    return p;
}

static void add_sku(struct growth *g, const struct sku *like, const struct provider *seller, size_t round)
{
    struct catalog *c = g->made;
    if (c->n_prices == g->max_prices || like->n_prices == 0)
        return;
    struct sku *s = &c->skus[c->n_skus++];
    *s = *like;
    s->id = must(arena_printf(g->arena, "%s-%zu", like->id, round));
    s->provider = seller;
    for (size_t i = 0; i < like->n_prices && c->n_prices < g->max_prices; i++) {
        const struct price *old = &g->base->prices[like->first_price + i];
        struct price *p = &c->prices[c->n_prices++];
        *p = *old;
        p->id = must(arena_printf(g->arena, "%s-%zu", old->id, round));
        p->sku = s;
        p->micros = varied(old->micros, c->n_prices);
        p->micros_high = 0;
    }
}

/* The seller's own prices of fabric, storage, egress and software, unchanged. */
static void add_side_prices(struct growth *g, const struct provider *like, const struct provider *seller, size_t round)
{
    struct catalog *c = g->made;
    for (size_t i = 0; i < g->base->n_prices && c->n_prices < g->max_prices; i++) {
        const struct price *old = &g->base->prices[i];
        if (old->subject == SUBJECT_SKU || old->provider != like)
            continue;
        struct price *p = &c->prices[c->n_prices++];
        *p = *old;
        p->id = must(arena_printf(g->arena, "%s-%zu", old->id, round));
        p->provider = seller;
        if (strcmp(old->subject_id, like->id) == 0)
            p->subject_id = seller->id;
    }
}

/* One more of every seller, with everything that it sells. */
static void add_round(struct growth *g, size_t round)
{
    const struct catalog *b = g->base;
    for (size_t i = 0; i < b->n_providers && g->made->n_prices < g->max_prices; i++) {
        const struct provider *seller = add_provider(g, &b->providers[i], round);
        add_side_prices(g, &b->providers[i], seller, round);
        for (size_t k = 0; k < b->n_skus; k++)
            if (b->skus[k].provider == &b->providers[i])
                add_sku(g, &b->skus[k], seller, round);
    }
}

struct catalog *synthetic_catalog(size_t n_prices)
{
    struct catalog *base = test_catalog();
    struct err err = {0};
    size_t of_skus = 0;
    for (size_t i = 0; i < base->n_skus; i++)
        of_skus += base->skus[i].n_prices;
    size_t max = n_prices > base->n_prices ? n_prices : base->n_prices, rounds = (max - base->n_prices) / of_skus + 2;
    struct arena *arena = must(arena_new((size_t)1 << 32));
    struct catalog *c = must(arena_alloc(arena, sizeof *c));
    *c = *base;
    c->arena = arena;
    c->training = c->serving = c->market = NULL;
    c->providers = must(arena_array(arena, base->n_providers * rounds, sizeof *c->providers));
    c->skus = must(arena_array(arena, base->n_skus * rounds, sizeof *c->skus));
    c->prices = must(arena_array(arena, max, sizeof *c->prices));
    memcpy(c->providers, base->providers, base->n_providers * sizeof *c->providers);
    memcpy(c->skus, base->skus, base->n_skus * sizeof *c->skus);
    memcpy(c->prices, base->prices, base->n_prices * sizeof *c->prices);
    for (size_t i = 0; i < base->n_skus; i++)
        c->skus[i].provider = c->providers + (base->skus[i].provider - base->providers);
    for (size_t i = 0; i < base->n_prices; i++) {
        if (base->prices[i].sku)
            c->prices[i].sku = c->skus + (base->prices[i].sku - base->skus);
        if (base->prices[i].provider)
            c->prices[i].provider = c->providers + (base->prices[i].provider - base->providers);
    }
    c->lines = must(arena_array(arena, base->n_lines, sizeof *c->lines));
    memcpy(c->lines, base->lines, base->n_lines * sizeof *c->lines);
    for (size_t i = 0; i < base->n_lines; i++) {
        c->lines[i].a = c->providers + (base->lines[i].a - base->providers);
        c->lines[i].b = c->providers + (base->lines[i].b - base->providers);
    }
    struct growth g = {base, c, arena, max};
    for (size_t round = 1; c->n_prices < max; round++)
        add_round(&g, round);
    if (catalog_index(c, &err) != 0) {
        fprintf(stderr, "synthetic catalog: %s (%s)\n", err.detail, err.pointer);
        abort();
    }
    return c;
}
