/* market.c — see market.h. */
#include "planner/market/market.h"

#include <math.h>
#include <string.h>

#include "base/money.h"
#include "planner/market/market_index.h"

enum { OFFER_CACHE_SIZE = 1024 };

static bool listed(const char *const *items, size_t n, const char *id)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(items[i], id) == 0)
            return true;
    return n == 0;
}

static void allow_providers(struct market *m)
{
    const struct catalog *c = m->day->catalog;
    const struct constraints *w = m->wants;
    for (size_t i = 0; i < c->n_providers; i++) {
        const struct provider *p = &c->providers[i];
        bool here = w->city == NULL || (p->city != NULL && strcmp(p->city, w->city) == 0);
        if (listed((const char *const *)w->providers, w->n_providers, p->id) && !(p->abroad && w->n_providers == 0))
            m->provider_ok[i] = here ? 1 : 2;
    }
}

static bool wants_same(const struct constraints *a, const struct constraints *b)
{
    return a->city == b->city && a->providers == b->providers && a->n_providers == b->n_providers;
}

/* The index was made with months of 30 days and years of 365; the request may have others. A month's price is worth
 * less where it lasts longer, one by the hour less where it counts fewer, and of a year more of them are needed where
 * months are short. */
static double month_scale(const struct assume *a)
{
    const double days = fmax(1, round(a->month_days)), by_hours = a->month_hours / (24 * days);
    return fmin(fmin(1, fmin(30 / days, days / 30)), fmin(by_hours, 365 / fmax(1, a->year_days)));
}

int market_open(struct market *m)
{
    return market_open_like(NULL, m);
}

int market_open_like(const struct market *from, struct market *m)
{
    const bool same = from != NULL && wants_same(from->wants, m->wants);
    const struct trade_day *day = m->day;
    int64_t rate;
    date_t on;
    m->offers = arena_array(m->arena, OFFER_CACHE_SIZE, sizeof *m->offers);
    m->provider_ok = same ? from->provider_ok : arena_alloc(m->arena, day->catalog->n_providers + 1);
    if (m->offers == NULL || m->provider_ok == NULL)
        return -1;
    note_list_init(&m->unpriced, m->arena);
    m->rough_cny = 1;
    if (catalog_fx(day->catalog, "CNY", day->currency, day->as_of, &rate, &on) == 0)
        m->rough_cny = (double)rate / MONEY_MICROS;
    m->month_scale = month_scale(day->a);
    if (!same)
        allow_providers(m);
    return 0;
}

/* The SKU's slot, or the free one where it belongs; NULL: the cache is too full to look on. */
static struct offer **slot_of(struct market *m, const struct sku *sku)
{
    uint32_t number = (uint32_t)(sku - m->day->catalog->skus);
    size_t at = (number * 2654435761u) % OFFER_CACHE_SIZE;
    for (size_t step = 0; step < OFFER_CACHE_SIZE / 2; step++) {
        struct offer **slot = &m->offers[(at + step) % OFFER_CACHE_SIZE];
        if (*slot == NULL || (*slot)->sku == sku)
            return slot;
    }
    return NULL;
}

void market_inherit(const struct market *from, struct market *to)
{
    const struct reprice *r = &to->day->reprice;
    if (!(r->factor > 0) || r->subject != SUBJECT_SKU) {
        memcpy(to->offers, from->offers, OFFER_CACHE_SIZE * sizeof *to->offers);
        return;
    }
    /* Put in one by one: a hole in the middle of a chain would hide the SKUs behind it. */
    for (size_t i = 0; i < OFFER_CACHE_SIZE; i++) {
        struct offer *o = from->offers[i];
        if (o == NULL || strcmp(r->id, o->sku->id) == 0)
            continue;
        struct offer **slot = slot_of(to, o->sku);
        if (slot != NULL)
            *slot = o;
    }
}

static struct offer *make(struct market *m, const struct sku *sku, const char *user_class, bool off_peak)
{
    struct offer *o = arena_alloc(m->arena, sizeof *o);
    if (o != NULL)
        offer_make(m->day, sku, user_class, off_peak, o);
    return o;
}

const struct offer *market_offer_at(struct market *m, const struct sku *sku, const char *user_class, bool off_peak)
{
    struct offer **slot = slot_of(m, sku), *o = slot != NULL ? *slot : NULL;
    if (o == NULL)
        o = make(m, sku, user_class, off_peak);
    if (slot != NULL)
        *slot = o;
    return o != NULL && o->n_rates > 0 ? o : NULL;
}

const struct offer *market_offer(struct market *m, const struct sku *sku, const char *user_class)
{
    return market_offer_at(m, sku, user_class, user_class != NULL);
}

bool market_gpu_allowed(const struct market *m, const struct gpu *gpu)
{
    return listed((const char *const *)m->wants->gpus, m->wants->n_gpus, gpu->id);
}

bool market_provider_allowed(const struct market *m, const struct provider *p, bool any_city)
{
    int ok = m->provider_ok[p - m->day->catalog->providers];
    return ok == 1 || (ok == 2 && any_city);
}

static bool answers(const struct market *m, const struct market_query *q, const struct sku *s)
{
    const struct provider *p = s->provider;
    if (!(q->provider_kinds & 1u << p->kind) || (q->provider != NULL && q->provider != p) ||
        (q->data_stays && !p->data_stays) || (q->serves && !p->serves))
        return false;
    if ((q->cards > 0 && s->gpus_per_node != q->cards && !(s->sold_by_card && s->gpus_per_node > q->cards)) ||
        (q->nodes > 0 && s->max_nodes < q->nodes))
        return false;
    return market_provider_allowed(m, p, q->any_city);
}

/* Remembers an offer that would answer but says no price; a few are named, the rest would be noise. */
static void miss_price(struct market *m, const struct sku *s)
{
    double machines = s->max_nodes > 1 ? s->max_nodes : 1;
    if (offer_priced(m->day, s))
        return; /* priced, but not for this request: spot, another class */
    if (m->state_bytes > 4 * s->gpu->usable_gib * BYTES_PER_GIB * s->gpus_per_node * machines)
        return; /* the job could not run there at any price */
    for (size_t i = 0; i < m->unpriced.n; i++)
        if (m->unpriced.items[i].args[2].text == s->gpu->name)
            return; /* one offer a card is named: more would be noise */
    if (m->unpriced.n >= MARKET_MISSING_MAX)
        return;
    struct note *n = note_text(note_add(&m->unpriced, "price_missing"), "sku", s->id);
    note_text(note_text(n, "provider", s->provider->id), "gpu", s->gpu->name);
}

static double least_of(const struct market *m, const uint32_t *order, const float *bound, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (market_provider_allowed(m, m->day->catalog->skus[order[i]].provider, false) &&
            (!m->data_at_home || m->day->catalog->skus[order[i]].provider->data_stays))
            return (double)bound[order[i]];
    return INFINITY;
}

void market_least(const struct market *m, size_t gpu, double *ret_month, double *ret_hour)
{
    const struct market_index *x = m->day->catalog->market;
    uint32_t from = x->first_of_gpu[gpu], to = x->first_of_gpu[gpu + 1];
    *ret_month = least_of(m, x->by_month, x->month_bound, from, to) * m->month_scale;
    *ret_hour = least_of(m, x->by_hour, x->hour_bound, from, to);
}

void market_note_unpriced(struct market *m, const struct market_query *q)
{
    const struct market_index *x = m->day->catalog->market;
    for (size_t g = 0; x != NULL && g < m->day->catalog->n_gpus; g++) {
        uint32_t first = x->first_of_gpu[g];
        if (first == x->first_of_gpu[g + 1] || !isinf(x->month_bound[x->by_month[first]]) ||
            !market_gpu_allowed(m, &m->day->catalog->gpus[g]))
            continue;
        for (uint32_t i = first; i < x->first_of_gpu[g + 1]; i++)
            if (answers(m, q, &m->day->catalog->skus[x->by_month[i]]))
                miss_price(m, &m->day->catalog->skus[x->by_month[i]]);
    }
}

/* The best `max` (<= 8) of one order: walks SKUs by their bound until none of the rest can be better. */
static size_t best_of(struct market *m, const struct market_query *q, bool by_hour, const struct offer **best,
                      size_t max)
{
    const struct market_index *x = m->day->catalog->market;
    const uint32_t *order = by_hour ? x->by_hour : x->by_month;
    const float *bound = by_hour ? x->hour_bound : x->month_bound;
    size_t gpu = (size_t)(q->gpu - m->day->catalog->gpus), n = 0;
    double cost[MARKET_BEST_MAX], fx = m->rough_cny, scale = by_hour ? 1 : m->month_scale;
    max = max < MARKET_BEST_MAX ? max : MARKET_BEST_MAX;
    for (uint32_t i = x->first_of_gpu[gpu]; i < x->first_of_gpu[gpu + 1]; i++) {
        const struct sku *s = &m->day->catalog->skus[order[i]];
        /* A little less than the bound: rates are rounded on the way. Who has no such price stands at the end. */
        if (n == max && (double)bound[order[i]] * scale * fx * 1e6 * 0.999 > cost[n - 1])
            break;
        if (by_hour && isinf(bound[order[i]]))
            break;
        if (!answers(m, q, s))
            continue;
        const struct offer *o = market_offer_at(m, s, q->user_class, q->off_peak);
        if (o == NULL) {
            miss_price(m, s);
            if (isinf(bound[order[i]]))
                break; /* the rest has no price either, and one of them is named */
            continue;
        }
        double c = by_hour ? offer_card_hour(o) : offer_card_month(o);
        size_t at = n;
        while (at > 0 && cost[at - 1] > c)
            at--;
        if (at == max || isinf(c))
            continue;
        n = n < max ? n + 1 : max;
        for (size_t j = n - 1; j > at; j--) {
            best[j] = best[j - 1];
            cost[j] = cost[j - 1];
        }
        best[at] = o;
        cost[at] = c;
    }
    return n;
}

size_t market_find(struct market *m, const struct market_query *q, const struct offer **ret, size_t max)
{
    const struct offer *orders[2][MARKET_BEST_MAX];
    size_t n[2], found = 0;
    if (m->day->catalog->market == NULL || q->gpu == NULL || !market_gpu_allowed(m, q->gpu))
        return 0;
    n[0] = best_of(m, q, false, orders[0], max);
    n[1] = best_of(m, q, true, orders[1], max);
    for (size_t i = 0; i < MARKET_BEST_MAX; i++)
        for (size_t k = 0; k < 2 && found < max; k++) {
            bool twice = i >= n[k];
            for (size_t j = 0; j < found && !twice; j++)
                twice = ret[j] == orders[k][i];
            if (!twice)
                ret[found++] = orders[k][i];
        }
    return found;
}

size_t market_cheapest_of(const struct market *m, const struct provider *p, bool by_hour, const struct sku **ret,
                          size_t n, size_t max)
{
    const struct market_index *x = m->day->catalog->market;
    const float *bound = x == NULL ? NULL : by_hour ? x->hour_bound : x->month_bound;
    if (x == NULL)
        return n;
    const uint32_t *first = &x->first_of_provider[p - m->day->catalog->providers];
    for (uint32_t i = first[0]; i < first[1]; i++) {
        const struct sku *s = &m->day->catalog->skus[x->by_provider[i]];
        const float least = bound[x->by_provider[i]];
        if (isinf(least) || !market_gpu_allowed(m, s->gpu) ||
            (n == max && least >= bound[ret[n - 1] - m->day->catalog->skus]))
            continue;
        size_t at = n < max ? n++ : max - 1;
        for (; at > 0 && bound[ret[at - 1] - m->day->catalog->skus] > least; at--)
            ret[at] = ret[at - 1];
        ret[at] = s;
    }
    return n;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_number(double a, double b)
{
    return !(a < b) && !(a > b);
}

bool market_alike(const struct sku *a, const struct sku *b)
{
    const struct provider *p = a->provider, *q = b->provider;
    return a->gpu == b->gpu && a->gpus_per_node == b->gpus_per_node && a->sold_by_card == b->sold_by_card &&
           a->max_nodes == b->max_nodes && a->intra == b->intra && a->network == b->network &&
           same_number(a->host_memory_gb, b->host_memory_gb) && same_number(a->nvme_gb, b->nvme_gb) &&
           same_text(a->tax_code, b->tax_code) && same_text(p->tier, q->tier) &&
           same_number(p->queue_median_h, q->queue_median_h) && same_number(p->queue_p90_h, q->queue_p90_h) &&
           same_number(p->job_cap_h, q->job_cap_h);
}

size_t market_cheapest_alike(const struct market *m, const struct provider *p, bool by_hour, size_t each,
                             const struct sku **ret, size_t n, size_t max)
{
    const struct market_index *x = m->day->catalog->market;
    const struct sku *skus = m->day->catalog->skus;
    if (x == NULL)
        return n;
    const float *bound = by_hour ? x->hour_bound : x->month_bound;
    const uint32_t *first = &x->first_of_provider[p - m->day->catalog->providers];
    for (uint32_t i = first[0]; i < first[1]; i++) {
        const struct sku *s = &skus[x->by_provider[i]];
        size_t alike = 0, dearest = n;
        if (isinf(bound[s - skus]) || !market_gpu_allowed(m, s->gpu))
            continue;
        for (size_t k = 0; k < n; k++) {
            if (!market_alike(ret[k], s))
                continue;
            alike++;
            if (dearest == n || bound[ret[k] - skus] > bound[ret[dearest] - skus])
                dearest = k;
        }
        if (alike < each && n < max)
            ret[n++] = s;
        else if (alike > 0 && bound[s - skus] < bound[ret[dearest] - skus])
            ret[dearest] = s;
    }
    return n;
}
