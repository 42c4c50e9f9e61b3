/* recall.c — see recall.h. */
#include "planner/offers/recall.h"

#include <math.h>
#include <string.h>

enum { RECALLED_MAX = 384, SLOTS = 1024 };

/* Behind by so much of the score, and dearer and later by so much than the least and the soonest of all. */
static const double SCORE_BEHIND = 0.15, SCALE_BEYOND = 1.6;

struct recalled {
    const struct sku *sku;
    const struct network *network;
    enum option_kind kind;
    bool by_card;
    int cards, nodes, lanes, home_cards;
    double total, finish_days;
};

struct recall {
    struct recalled items[RECALLED_MAX];
    uint16_t slots[SLOTS]; /* 1 + number of the item; 0 = free */
    uint16_t n;
    double least, soonest;
};

static struct recalled key_of(enum option_kind kind, const struct candidate *c)
{
    return (struct recalled){.sku = c->offer->sku,
                             .network = c->network,
                             .kind = kind,
                             .by_card = c->by_card,
                             .cards = c->cards,
                             .nodes = c->nodes,
                             .lanes = c->lanes,
                             .home_cards = c->home_cards};
}

static bool same_key(const struct recalled *a, const struct recalled *b)
{
    return a->sku == b->sku && a->network == b->network && a->kind == b->kind && a->by_card == b->by_card &&
           a->cards == b->cards && a->nodes == b->nodes && a->lanes == b->lanes && a->home_cards == b->home_cards;
}

/* The slot that holds the key, or the free one where it belongs. By number, not by address: the same request gives the
 * same bytes. */
static size_t slot_of(const struct recall *r, const struct catalog *c, const struct recalled *key)
{
    size_t at = (size_t)(key->sku - c->skus) * 31 + (size_t)key->cards;
    at = (at * 31 + (size_t)key->nodes) * 31 + (size_t)key->lanes;
    at = (at * 31 + (size_t)key->home_cards) * 31 + (size_t)key->kind * 2 + key->by_card;
    for (at %= SLOTS; r->slots[at] != 0 && !same_key(&r->items[r->slots[at] - 1], key);)
        at = (at + 1) % SLOTS;
    return at;
}

void recall_store(struct build *b, enum option_kind kind, const struct candidate *c)
{
    if (b->order_only || b->lean)
        return;
    if (b->recall == NULL) {
        b->recall = arena_alloc(b->arena, sizeof *b->recall);
        if (b->recall == NULL)
            return; /* the arena remembers */
        b->recall->least = b->recall->soonest = INFINITY;
    }
    struct recall *r = b->recall;
    struct recalled key = key_of(kind, c);
    const size_t at = slot_of(r, b->catalog, &key);
    if (r->n == RECALLED_MAX || r->slots[at] != 0)
        return;
    key.total = (double)c->total;
    key.finish_days = c->finish_days;
    r->items[r->n++] = key;
    r->slots[at] = r->n;
    r->least = fmin(r->least, key.total);
    r->soonest = fmin(r->soonest, key.finish_days);
}

static double score_of(const struct build *b, const struct recall *r, const struct recalled *item)
{
    double wc, wt, wr;
    candidate_weights(b, &wc, &wt, &wr);
    return wc * r->least / fmax(1, item->total) + wt * r->soonest / item->finish_days;
}

void recall_inherit(const struct build *from, double work, bool exact, struct build *to)
{
    to->recall = from->recall;
    to->recall_work = work;
    to->recall_exact = exact;
    to->recall_best = 0;
    for (int i = 0; from->recall != NULL && i < from->recall->n; i++)
        to->recall_best = fmax(to->recall_best, score_of(from, from->recall, &from->recall->items[i]));
}

/* Is this what the re-plan changes: the price of these machines, or the speed of this card? */
static bool is_changed(const struct build *b, const struct sku *sku)
{
    const struct reprice *r = &b->day.reprice;
    if (r->factor > 0)
        return r->subject != SUBJECT_SKU || strcmp(r->id, sku->id) == 0;
    return b->slowdown.by > 0 && b->slowdown.gpu == sku->gpu;
}

bool recall_find(const struct build *b, enum option_kind kind, struct candidate *c)
{
    const struct recall *r = b->order_only ? b->recall : NULL;
    if (r == NULL || is_changed(b, c->offer->sku))
        return false;
    const struct recalled key = key_of(kind, c);
    const size_t at = slot_of(r, b->catalog, &key);
    if (r->slots[at] == 0)
        return false;
    const struct recalled *item = &r->items[r->slots[at] - 1];
    if (b->recall_exact) {
        c->total = (int64_t)item->total;
        c->finish_days = item->finish_days;
        return true;
    }
    if (item->total < r->least * SCALE_BEYOND || item->finish_days < r->soonest * SCALE_BEYOND ||
        score_of(b, r, item) > b->recall_best - SCORE_BEHIND)
        return false;
    const double at_most = fmax(1, b->recall_work); /* what is not reckoned must not look better than what is */
    c->total = (int64_t)llround(item->total * at_most);
    c->finish_days = item->finish_days * at_most;
    return true;
}
