/* recall.c — see recall.h. */
#include "planner/offers/recall.h"

#include <math.h>
#include <string.h>

#include "planner/market/market_index.h"

/* Which sizes of large clusters are tried depends on what was found before, card by card: with more or less work the
 * same sizes would not be. */
enum { NODES_SETTLED = 8 };

static bool remembers(const struct build *b)
{
    return !b->order_only && !b->lean;
}

static struct recall *open(struct build *b, enum option_kind kind)
{
    if (b->recall[kind] == NULL)
        b->recall[kind] = arena_alloc(b->arena, sizeof *b->recall[kind]); /* the arena remembers a failure */
    return b->recall[kind];
}

void recall_card(struct build *b, enum option_kind kind, const struct guess *g)
{
    struct recall *r = remembers(b) ? open(b, kind) : NULL;
    if (r == NULL)
        return;
    if (r->n_cards == RECALLED_CARDS_MAX)
        r->full = true;
    else
        r->cards[r->n_cards++] = (struct recalled_card){.guess = *g, .first = r->n, .physics = -b->n_physics};
}

void recall_card_done(struct build *b, enum option_kind kind, bool useful)
{
    struct recall *r = remembers(b) ? b->recall[kind] : NULL;
    if (r == NULL || r->full)
        return;
    struct recalled_card *c = &r->cards[r->n_cards - 1];
    c->n = r->n - c->first;
    c->physics += b->n_physics;
    c->useful = useful;
}

const struct recalled_card *recall_card_of(const struct recall *r, const struct gpu *gpu)
{
    for (size_t i = 0; i < r->n_cards; i++)
        if (r->cards[i].guess.gpu == gpu)
            return &r->cards[i];
    return NULL;
}

void recall_store(struct build *b, enum option_kind kind, const struct candidate *tried, const struct candidate *found)
{
    struct recall *r = remembers(b) ? open(b, kind) : NULL;
    if (r == NULL)
        return;
    if (r->n == RECALLED_MAX) {
        r->full = true;
        return;
    }
    struct recalled *e = &r->items[r->n++];
    e->tried = *tried;
    e->hours = build_train_hours(b, tried->estimate, tried->lanes);
    e->had = found != NULL;
    r->most_nodes = tried->nodes > r->most_nodes ? tried->nodes : r->most_nodes;
    if (found != NULL)
        e->found = *found;
}

const struct recall *recall_of(const struct build *b, enum option_kind kind)
{
    const struct recall *r = b->recalls != RECALL_NOTHING ? b->recall[kind] : NULL;
    const bool moved = recall_moves_work(b) || b->slowdown.by > 0;
    if (r == NULL || r->full || (moved && r->most_nodes > NODES_SETTLED))
        return NULL;
    return r;
}

bool recall_holds(const struct build *b, const struct sku *sku)
{
    const struct reprice *r = &b->day.reprice;
    if (b->recalls == RECALL_NEAR)
        return false;
    if (b->faults.factor > 0)
        return sku->provider->tier == NULL || strcmp(sku->provider->tier, b->faults.tier) != 0;
    if (r->factor > 0 && r->subject == SUBJECT_NETWORK)
        return sku->network == NULL || strcmp(r->id, sku->network->id) != 0;
    if (r->factor > 0)
        return strcmp(r->id, sku->id) != 0;
    return !(b->slowdown.by > 0) || b->slowdown.gpu != sku->gpu;
}

bool recall_reprices(const struct build *b, const struct gpu *gpu)
{
    const struct reprice *r = &b->day.reprice;
    const struct sku *sku = r->factor > 0 && r->subject == SUBJECT_SKU ? catalog_sku(b->catalog, r->id) : NULL;
    return sku != NULL && sku->gpu == gpu;
}

/* Which kinds look at the machines of this supplier. */
static unsigned kinds_at(const struct catalog *c, const struct provider *p)
{
    unsigned kinds = p->kind == PROVIDER_UNIVERSITY ? 1u << KIND_UNIVERSITY_TIME : 0;
    for (size_t i = 0; i < c->n_lines; i++)
        if (c->lines[i].a == p || c->lines[i].b == p)
            kinds |= 1u << KIND_HYBRID_CLOUD;
    return kinds;
}

bool recall_is_near(const struct build *b)
{
    return b->recalls == RECALL_EXACT || b->recalls == RECALL_NEAR;
}

bool recall_moves_work(const struct build *b)
{
    return b->recall_work < 1 || b->recall_work > 1;
}

bool recall_moves_runs(const struct build *b)
{
    return recall_moves_work(b) || b->slowdown.by > 0 || b->recalls == RECALL_EXACT;
}

bool recall_moves_at(const struct build *b, const struct provider *p)
{
    const struct reprice *r = &b->day.reprice;
    const struct market_index *x = b->catalog->market;
    const struct sku *sku = r->factor > 0 && r->subject == SUBJECT_SKU ? catalog_sku(b->catalog, r->id) : NULL;
    if (sku != NULL)
        return sku->provider == p;
    if (!(b->slowdown.by > 0) || b->slowdown.gpu == NULL)
        return false;
    const uint32_t *first = &x->first_of_provider[p - b->catalog->providers];
    for (uint32_t i = first[0]; i < first[1]; i++)
        if (b->catalog->skus[x->by_provider[i]].gpu == b->slowdown.gpu)
            return true;
    return false;
}

static bool walked_to(const struct recall *r, const struct gpu *gpu)
{
    return r != NULL && (r->full || recall_card_of(r, gpu) != NULL);
}

static unsigned kinds_on(const struct build *b, const struct gpu *gpu)
{
    unsigned kinds = 0;
    for (int k = 0; k < KIND_COUNT; k++)
        kinds |= walked_to(b->recall[k], gpu) ? 1u << k : 0;
    return kinds;
}

unsigned recall_touched(const struct build *b)
{
    const struct reprice *r = &b->day.reprice;
    const struct market_index *x = b->catalog->market;
    const struct sku *sku = r->factor > 0 && r->subject == SUBJECT_SKU ? catalog_sku(b->catalog, r->id) : NULL;
    unsigned kinds = 0;
    if (b->recalls != RECALL_EXACT || (r->factor > 0 && sku == NULL) || b->faults.factor > 0)
        return ~0u;
    if (sku != NULL)
        return kinds_at(b->catalog, sku->provider) | kinds_on(b, sku->gpu);
    if (!(b->slowdown.by > 0))
        return ~0u; /* the date: what keeps it is chosen first */
    const size_t gpu = (size_t)(b->slowdown.gpu - b->catalog->gpus);
    for (uint32_t i = x->first_of_gpu[gpu]; i < x->first_of_gpu[gpu + 1]; i++)
        kinds |= kinds_at(b->catalog, b->catalog->skus[x->by_month[i]].provider);
    return kinds | kinds_on(b, b->slowdown.gpu);
}

/* Where the change takes a candidate, about. */
struct outlook {
    double total, finish;
    bool in_time, in_budget;
};

static double card_hour(const struct offer *o)
{
    const double month = offer_card_month(o), hour = offer_card_hour(o);
    return month > 0 ? fmin(month / OFFER_MONTH_HOURS, hour) : hour;
}

/* Runs end on whole days; debugging grows and shrinks with them. */
static double more_days(const struct build *b, double hours, double more)
{
    const double share = b->a.debug_share / (1 - b->a.debug_share);
    return ceil((hours + more) / 24 - 1e-9) - ceil(hours / 24 - 1e-9) + share * more / 24;
}

static struct outlook outlook_of(const struct build *b, const struct recalled *e)
{
    struct outlook o = {(double)e->found.total, e->found.finish_days, false, false};
    if (!recall_holds(b, e->tried.offer->sku)) {
        const double slower =
            b->slowdown.by > 0 && (b->slowdown.gpu == NULL || b->slowdown.gpu == e->tried.offer->sku->gpu)
                ? b->slowdown.by
                : 1;
        const double more = e->hours * (b->recall_work * slower - 1), rate = card_hour(e->tried.offer);
        o.total += isfinite(rate) ? more * rate / 1e4 * e->tried.cards * e->tried.nodes : 0;
        o.total += b->recall_reserve;
        o.finish = fmax(1, o.finish + more_days(b, e->hours, more));
    }
    if (b->day.reprice.factor > 0 && b->day.reprice.subject == SUBJECT_SKU &&
        strcmp(b->day.reprice.id, e->tried.offer->sku->id) == 0)
        o.total *= b->day.reprice.factor;
    o.total = fmax(1, o.total);
    o.in_time = o.finish <= (double)b->deadline_day + 1;
    o.in_budget = b->budget_minor == 0 || o.total <= (double)b->budget_minor;
    return o;
}

enum { BY_LIMITS, BY_SCORE, BY_COST, BY_TIME, ORDERS };

/* How many lead by each; more of them where a share of another budget makes validations longer or shorter by days. */
enum { LEADING_MAX = 16 };
static const int leading[ORDERS] = {6, 4, 3, 3}, leading_by_budget[ORDERS] = {LEADING_MAX, 12, 8, 8};

struct promise {
    double by[ORDERS];
    const struct gpu *gpu;
    bool roomy;
};

/* The first few in this order, in one pass. */
static void take_best(const struct promise *p, size_t n, int order, int most, bool *again)
{
    size_t best[LEADING_MAX];
    int found = 0;
    for (size_t i = 0; i < n; i++) {
        if (p[i].gpu == NULL || (found == most && !(p[i].by[order] > p[best[found - 1]].by[order])))
            continue;
        int at = found < most ? found++ : found - 1;
        for (; at > 0 && p[i].by[order] > p[best[at - 1]].by[order]; at--)
            best[at] = best[at - 1];
        best[at] = i;
    }
    for (int k = 0; k < found; k++)
        again[best[k]] = true;
}

/* The best of every class of cards, and the best that moves nothing to the host. */
static void take_others(const struct promise *p, size_t n, bool *again)
{
    size_t of_class[GPU_CLASS_COUNT], roomy = n;
    for (int k = 0; k < GPU_CLASS_COUNT; k++)
        of_class[k] = n;
    for (size_t i = 0; i < n; i++) {
        if (p[i].gpu == NULL)
            continue;
        size_t *best = &of_class[p[i].gpu->gpu_class];
        *best = *best == n || p[i].by[BY_LIMITS] > p[*best].by[BY_LIMITS] ? i : *best;
        if (p[i].roomy && (roomy == n || p[i].by[BY_LIMITS] > p[roomy].by[BY_LIMITS]))
            roomy = i;
    }
    for (int k = 0; k < GPU_CLASS_COUNT; k++)
        if (of_class[k] < n)
            again[of_class[k]] = true;
    if (roomy < n)
        again[roomy] = true;
}

void recall_promising(const struct build *b, const struct recall *r, bool ret[RECALLED_MAX])
{
    struct outlook o[RECALLED_MAX];
    struct promise p[RECALLED_MAX];
    double least = INFINITY, soonest = INFINITY, wc, wt, wr;
    candidate_weights(b, &wc, &wt, &wr);
    for (size_t i = 0; b->recalls == RECALL_ALL && i < r->n; i++)
        ret[i] = r->items[i].had;
    if (b->recalls == RECALL_ALL)
        return;
    for (size_t i = 0; i < r->n; i++) {
        p[i].gpu = NULL;
        if (!r->items[i].had)
            continue;
        o[i] = outlook_of(b, &r->items[i]);
        least = fmin(least, o[i].total);
        soonest = fmin(soonest, o[i].finish);
    }
    for (size_t i = 0; i < r->n; i++) {
        const struct recalled *e = &r->items[i];
        ret[i] = false;
        if (!e->had)
            continue;
        const double cost = least / o[i].total, time = soonest / o[i].finish, score = wc * cost + wt * time;
        p[i] = (struct promise){.gpu = e->tried.offer->sku->gpu};
        p[i].by[BY_LIMITS] = (o[i].in_time ? 4 : 0) + (o[i].in_budget ? 2 : 0) + (o[i].in_time ? score : time);
        p[i].by[BY_SCORE] = score;
        p[i].by[BY_COST] = cost;
        p[i].by[BY_TIME] = time;
        p[i].roomy = e->tried.estimate->layout.offload <= OFFLOAD_NONE;
    }
    for (int order = 0; order < ORDERS; order++)
        take_best(p, r->n, order, (b->recall_budget ? leading_by_budget : leading)[order], ret);
    take_others(p, r->n, ret);
}

void recall_inherit(const struct build *from, enum recall_how how, double work, struct build *to)
{
    memcpy(to->recall, from->recall, sizeof to->recall);
    to->hybrids = from->hybrids;
    to->recalls = how;
    to->recall_work = work;
    to->recall_budget = to->budget_minor != from->budget_minor;
    to->recall_reserve = (double)(to->reserve.net + to->reserve.tax - from->reserve.net - from->reserve.tax);
}
