/* hybrid_serving.c — see hybrid_serving.h.
 *
 * The replicas at home carry a base load around the clock, by the month; the replicas in the cloud carry what lies
 * above it for the peak hours of a day, by the hour. Where the base is cut is tried at a few levels between the mean
 * and the peak, and the cheapest is kept. Sensitive requests never leave, so there is no such option for them.
 */
#include "planner/offers/hybrid_serving.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/money.h"
#include "planner/costing/costing.h"
#include "planner/costing/cover.h"
#include "planner/drafting/phases.h"
#include "planner/reserve/reserve_try.h"

enum { SERVING_PAIRS_MAX = 2, SERVING_OFFERS_MAX = 8, SERVING_CARDS_MAX = 3, SERVING_LEVELS = 2 };

/* One side of the line with its replicas. */
struct part {
    const struct offer *offer;
    struct serving_sizing sizing;
    bool by_card;
    int units;
    int64_t net, tax;
    struct bill bill;
};

struct hybrid_load hybrid_load_of(double peak_factor, double share)
{
    const double home = 1 + (peak_factor - 1) * share;
    return (struct hybrid_load){home, peak_factor - home};
}

/* Requests that nobody waits for lie evenly over the day and are served with the base: only the others have a peak. */
static struct serving with_waiting_spread(const struct serving *load)
{
    struct serving s = *load;
    s.peak_factor = 1 + (load->peak_factor - 1) * (1 - load->batch_share);
    return s;
}

static struct serving scaled(const struct serving *load, double factor, bool spare)
{
    struct serving s = *load;
    s.requests_per_s *= factor;
    s.concurrency *= factor;
    s.users *= factor;
    s.peak_factor = 1;
    if (!spare)
        s.spare_replicas = 0;
    return s;
}

/* A bill is mostly room for lines that it does not have. */
static void keep_part(struct part *best, const struct part *p)
{
    memcpy(best, p, offsetof(struct part, bill));
    memcpy(best->bill.lines, p->bill.lines, p->bill.n * sizeof *p->bill.lines);
    best->bill.n = p->bill.n;
    best->bill.deposit = p->bill.deposit;
}

static int bill_part(const struct build *b, struct part *p, double hours_per_day)
{
    const struct reserve_batch none = {.requests = 0};
    struct reserve_hours h = reserve_hours_of(b, &b->reserve);
    h.base_milli = h.peak_milli = (int32_t)(ceil(hours_per_day - 1e-9) * 1000);
    return reserve_bill(p->offer, p->by_card, h, p->units, p->units, &none, &p->bill, &p->net, &p->tax);
}

/* The provider's machines, one of each card, cheapest card first. */
static size_t offers_at(struct build *b, const struct provider *at, const struct offer **ret, size_t max)
{
    const struct sku *skus[SERVING_OFFERS_MAX * 2];
    const size_t n = market_cheapest_of(&b->market, at, false, skus, 0, SERVING_OFFERS_MAX * 2);
    size_t found = 0;
    for (size_t i = 0; i < n && found < max; i++) {
        const struct offer *o = market_offer(&b->market, skus[i], NULL);
        bool twice = !o;
        for (size_t k = 0; k < found && !twice; k++)
            twice = ret[k]->sku->gpu == skus[i]->gpu;
        if (!twice)
            ret[found++] = o;
    }
    return found;
}

/* More machines than the supplier lists: told, and left out. */
static bool exceeds(struct build *b, const struct part *p)
{
    const int over = reserve_over(p->offer, p->by_card, p->units);
    if (over == 0)
        return false;
    struct note *n = build_refuse(b, KIND_HYBRID_CLOUD, "more_than_listed");
    if (n->n_args > 0 && n->short_by <= over)
        return true;
    const int machines = offer_machines(p->offer, p->by_card, p->units);
    n->short_by = over;
    note_num(note_num(note_text(n, "item", p->offer->sku->id), "machines", machines), "listed", machines - over);
    return true;
}

/* The cheapest of these machines for this load, of this maker's cards (NULL = any: one engine serves both ends);
 * best->offer stays NULL where none can. */
static int place(struct build *b, const struct offer *const *offers, size_t n, const struct serving *load,
                 const char *vendor, double hours_per_day, struct part *best, struct err *err)
{
    int tried = 0;
    struct part p;
    best->offer = NULL;
    for (size_t i = 0; i < n && tried < SERVING_CARDS_MAX; i++) {
        p.offer = offers[i];
        p.by_card = p.offer->by_card;
        if (vendor && strcmp(p.offer->sku->gpu->vendor, vendor) != 0)
            continue;
        if (build_sizing(b, p.offer->sku, load, &p.sizing, err) || !p.sizing.feasible)
            continue;
        tried++;
        p.units = reserve_units(p.offer, p.by_card, p.sizing.gpus, p.sizing.gpus_per_replica);
        if (!exceeds(b, &p) && bill_part(b, &p, hours_per_day) == 0 && (!best->offer || p.net < best->net))
            keep_part(best, &p);
    }
    return arena_failed(b->arena) ? err_set(err, ERR_NOMEM, "hybrid service does not fit") : 0;
}

/* The two parts as the reserve of one option. -1: too many lines, or an amount out of range. */
static int join(const struct build *b, const struct part *home, const struct part *cloud, struct reserve_plan *ret)
{
    *ret = b->reserve;
    ret->offer = home->offer;
    ret->sizing = home->sizing;
    ret->sizing.replicas += cloud->sizing.replicas;
    ret->by_card = home->by_card;
    ret->units = ret->units_low = ret->units_high = home->units;
    ret->base = ret->base_low = ret->base_high = home->units;
    ret->over = 0;
    ret->batch = (struct reserve_batch){.requests = 0}; /* with_waiting_spread */
    ret->n_ways = 0;                                    /* of another machine */
    note_list_init(&ret->notes, b->arena);
    for (size_t i = 0; i < b->reserve.notes.n; i++) /* how that machine follows the load is no word of this one */
        if (strcmp(b->reserve.notes.items[i].code, "reserve_follows_load") != 0)
            *note_add(&ret->notes, b->reserve.notes.items[i].code) = b->reserve.notes.items[i];
    ret->n_lines = home->bill.n + cloud->bill.n;
    if (ret->n_lines > RESERVE_LINES_MAX || money_add(home->net, cloud->net, &ret->net) ||
        money_add(home->tax, cloud->tax, &ret->tax) || b->reserve.net <= 0)
        return -1;
    memcpy(ret->lines, home->bill.lines, home->bill.n * sizeof *ret->lines);
    memcpy(ret->lines + home->bill.n, cloud->bill.lines, cloud->bill.n * sizeof *ret->lines);
    ret->deposit = home->bill.deposit + cloud->bill.deposit;
    /* The band of the load moves this service as it moves the plain one. */
    ret->net_low = (int64_t)llround((double)ret->net * (double)b->reserve.net_low / (double)b->reserve.net);
    ret->net_high = (int64_t)llround((double)ret->net * (double)b->reserve.net_high / (double)b->reserve.net);
    return 0;
}

static int add_draft(struct build *b, const struct dedicated_line *line, const struct part *home,
                     const struct part *cloud, struct option_list *out)
{
    struct draft *d = build_draft_new(b, KIND_HYBRID_CLOUD);
    struct reserve_plan *reserve = arena_room(b->arena, 1, sizeof *reserve);
    struct line_price price;
    if (!d || !reserve)
        return -1;
    if (!offer_line_price(&b->day, line, &price) || join(b, home, cloud, reserve))
        return 0;
    const int cards = home->by_card ? home->sizing.gpus_per_replica : home->offer->sku->gpus_per_node;
    d->reserve = reserve;
    d->train_group = draft_add_group(d, home->offer, "serve", home->by_card, cards > 0 ? cards : 1, 1);
    draft_add_group(d, cloud->offer, "burst", cloud->by_card, cloud->by_card ? 1 : cloud->offer->sku->gpus_per_node,
                    cloud->units);
    d->estimate = &reserve->sizing.at_peak;
    d->shape = build_shape(b, home->offer->sku, cards > 0 ? cards : 1, 1, NULL);
    struct draft_extra *x = draft_add_extra(d, SECTION_NETWORK, PHASE_SERVE, PHASE_SERVE);
    if (!x)
        return -1;
    x->item = line->id;
    x->price = price.price;
    x->unit = price.unit;
    x->unit_micros = price.micros;
    x->quantity = ceil(b->reserve.months) * (price.unit == UNIT_MBPS_MONTH ? line->gbps * 1000 : 1);
    struct note *n = note_add(&d->reasons, "hybrid_serving_split");
    note_num(note_num(n, "home_replicas", home->sizing.replicas), "burst_replicas", cloud->sizing.replicas);
    note_num(n, "peak_hours", reserve_peak_hours(b, &b->reserve.serving));
    note_text(note_text(n, "home", home->offer->sku->provider->id), "cloud", cloud->offer->sku->provider->id);
    if (phases_standard(b, d, d->train_group, d->train_group, 1, 0))
        return 0;
    return build_keep(b, out, d);
}

/* The cheapest level of the base load for one pair of ends. */
static int try_pair(struct build *b, const struct dedicated_line *line, struct option_list *out, struct err *err)
{
    const bool turned = line->a->kind == PROVIDER_PUBLIC_CLOUD;
    const struct provider *home_at = turned ? line->b : line->a, *cloud_at = turned ? line->a : line->b;
    const struct serving spread = with_waiting_spread(&b->reserve.serving), *load = &spread;
    const double day = load->hours_per_day > 0 ? fmin(load->hours_per_day, 24) : 24;
    struct part home, cloud, *best = arena_room(b->arena, 2, sizeof *best);
    const struct offer *at_home[SERVING_OFFERS_MAX], *at_cloud[SERVING_OFFERS_MAX];
    if (!best)
        return err_set(err, ERR_NOMEM, "hybrid service does not fit");
    best->offer = cloud.offer = NULL;
    const size_t n_home = offers_at(b, home_at, at_home, SERVING_OFFERS_MAX);
    const size_t n_cloud = offers_at(b, cloud_at, at_cloud, SERVING_OFFERS_MAX);
    for (int i = 0; i < (b->lean ? 1 : SERVING_LEVELS); i++) {
        const struct hybrid_load cut = hybrid_load_of(load->peak_factor, (double)i / SERVING_LEVELS);
        const struct serving base = scaled(load, cut.home, true), above = scaled(load, cut.burst, false);
        if (place(b, at_home, n_home, &base, NULL, day, &home, err) ||
            (home.offer && place(b, at_cloud, n_cloud, &above, home.offer->sku->gpu->vendor,
                                 reserve_peak_hours(b, load), &cloud, err)))
            return -1;
        if (!home.offer || !cloud.offer || (best[0].offer && home.net + cloud.net >= best[0].net + best[1].net))
            continue;
        keep_part(&best[0], &home);
        keep_part(&best[1], &cloud);
    }
    if (!best[0].offer)
        return 0;
    return add_draft(b, line, &best[0], &best[1], out) ? err_set(err, ERR_NOMEM, "options do not fit") : 0;
}

static bool is_pair(const struct build *b, const struct dedicated_line *l)
{
    const bool turned = l->a->kind == PROVIDER_PUBLIC_CLOUD;
    const struct provider *home = turned ? l->b : l->a, *cloud = turned ? l->a : l->b;
    return home->kind == PROVIDER_LOCAL_IDC && cloud->kind == PROVIDER_PUBLIC_CLOUD && home->serves && cloud->serves &&
           market_provider_allowed(&b->market, home, false) && market_provider_allowed(&b->market, cloud, true);
}

int hybrid_serving_build(struct build *b, struct option_list *out, const char **ret_why, struct err *err)
{
    int pairs = 0;
    const double peak_factor = with_waiting_spread(&b->reserve.serving).peak_factor;
    *ret_why = b->market.data_at_home ? "data_sensitive"
               : !b->reserve.offer    ? "nothing_serves"
               : peak_factor <= 1     ? "flat_load"
                                      : NULL;
    for (size_t i = 0; !*ret_why && i < b->catalog->n_lines && pairs < (b->lean ? 1 : SERVING_PAIRS_MAX); i++) {
        if (!is_pair(b, &b->catalog->lines[i]))
            continue;
        pairs++;
        if (try_pair(b, &b->catalog->lines[i], out, err))
            return -1;
    }
    return 0;
}
