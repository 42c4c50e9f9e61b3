/* reserve_try.c — see reserve_try.h. */
#include "planner/reserve/reserve_try.h"

#include <math.h>
#include <string.h>

#include "base/money.h"
#include "planner/costing/cover.h"
#include "planner/reserve/batch.h"

double reserve_peak_hours(const struct build *b, const struct serving *load)
{
    const struct param *p = param_find(&b->params, "peak_hours_per_day");
    const double day = load->hours_per_day > 0 ? fmin(load->hours_per_day, 24) : 24;
    return p != NULL ? fmin(p->value, day) : day;
}

static int32_t milli_of(double hours)
{
    return (int32_t)(ceil(hours - 1e-9) * 1000);
}

struct reserve_hours reserve_hours_of(const struct build *b, const struct reserve_plan *r)
{
    const double hours = r->serving.hours_per_day > 0 ? fmin(24, r->serving.hours_per_day) : 24;
    const size_t n = (size_t)ceil(r->months * b->a.month_days - 1e-9);
    return (struct reserve_hours){n, milli_of(hours), milli_of(reserve_peak_hours(b, &r->serving)), b->day.room};
}

int reserve_units(const struct offer *o, bool by_card, int gpus, int per_replica)
{
    int node = o->sku->gpus_per_node;
    if (by_card)
        return gpus;
    int usable = per_replica > 1 && per_replica <= node ? node / per_replica * per_replica : node;
    return (gpus + usable - 1) / usable;
}

/* A service may last longer than one cover reaches: it is covered ten years at a time, which no term of the market
 * outlasts. What the supplier holds back is held back once. */
enum { STRETCH_DAYS = 3650 };

/* So many of one SKU that work full days one after another, and what is left on the last: whole stretches are alike, so
 * that work for centuries costs no more to reckon than work for ten years. */
static int cover_stretch(struct cover *c, double hours, int units)
{
    enum { FULL_DAY_MILLI = 24000 };
    const double whole = units > 0 ? floor(hours / (24.0 * STRETCH_DAYS)) : 0;
    if (whole * units > (double)INT64_MAX / 2)
        return -1;
    if (whole >= 1 && cover_equal_days(c, STRETCH_DAYS, FULL_DAY_MILLI, units) != 0)
        return -1;
    const int64_t deposit = c->bill->deposit;
    if (whole > 1 && cover_equal_days(c, STRETCH_DAYS, FULL_DAY_MILLI, (int64_t)(whole - 1) * units) != 0)
        return -1;
    hours -= whole * 24 * STRETCH_DAYS;
    if (units > 0 && hours > 1e-9) {
        const double last = fmod(hours, 24);
        const struct tariff_run rest[] = {
            {.n = (int32_t)((hours - last) / 24), .hours_milli = FULL_DAY_MILLI},
            {.first = (int32_t)((hours - last) / 24), .n = last > 1e-9, .hours_milli = milli_of(last)}};
        const size_t skip = rest[0].n == 0, n = 2 - skip - (rest[1].n == 0);
        if (cover_level(c, rest + skip, n, units) != 0)
            return -1;
    }
    c->bill->deposit = whole >= 1 ? deposit : c->bill->deposit;
    return 0;
}

/* So many of one SKU that work as long every day; nothing where there are none. */
static int cover_equal(struct cover *c, size_t days, int32_t hours_milli, int units)
{
    for (size_t from = 0; units > 0 && from < days; from += STRETCH_DAYS) {
        const size_t part = days - from < STRETCH_DAYS ? days - from : STRETCH_DAYS;
        const int64_t deposit = c->bill->deposit;
        if (cover_equal_days(c, part, hours_milli, units) != 0)
            return -1;
        c->bill->deposit = from > 0 ? deposit : c->bill->deposit;
    }
    return 0;
}

/* Machines of one SKU as lines of a bill; batch NULL: nothing there can wait. */
static int bill_covered(const struct offer *o, bool by_card, struct reserve_hours h, int base, int units,
                        const struct reserve_batch *batch, struct cover *cover, struct bill *bill)
{
    if (h.peak_milli >= h.base_milli)
        base = units;
    cover_start(cover, o, by_card, NULL, bill);
    if (cover_equal(cover, h.days, h.base_milli, base) != 0 ||
        cover_equal(cover, h.days, h.peak_milli, units - base) != 0 ||
        (batch != NULL && cover_stretch(cover, batch->hours, batch->units * (by_card ? batch->cards : 1)) != 0) ||
        cover_end(cover) != 0 || bill->failed)
        return -1;
    return 0;
}

/* A cover is large: where a plan has lent no room, the stack is taken for this bill alone. */
__attribute__((noinline)) static int bill_on_stack(const struct offer *o, bool by_card, struct reserve_hours h,
                                                   int base, int units, const struct reserve_batch *batch,
                                                   struct bill *bill)
{
    struct cover own;
    return bill_covered(o, by_card, h, base, units, batch, &own, bill);
}

static int bill_machines(const struct offer *o, bool by_card, struct reserve_hours h, int base, int units,
                         const struct reserve_batch *batch, struct bill *bill)
{
    struct cover *lent = costing_room_cover(h.room);
    return lent != NULL ? bill_covered(o, by_card, h, base, units, batch, lent, bill)
                        : bill_on_stack(o, by_card, h, base, units, batch, bill);
}

int reserve_bill(const struct offer *o, bool by_card, struct reserve_hours h, int base, int units,
                 const struct reserve_batch *batch, struct bill *bill, int64_t *ret_net, int64_t *ret_tax)
{
    bill_start(bill);
    if (bill_machines(o, by_card, h, base, units, batch, bill) != 0)
        return -1;
    return bill_sum(bill, ret_net, ret_tax);
}

int reserve_plan_bill(const struct reserve_plan *r, struct reserve_hours h, struct reserve_count n,
                      const struct reserve_batch *batch, struct bill *bill, int64_t *ret_net, int64_t *ret_tax)
{
    const struct reserve_burst *far = &r->burst;
    bill_start(bill);
    if (bill_machines(r->offer, r->by_card, h, n.base, n.units, batch, bill) != 0 ||
        (far->offer != NULL && bill_machines(far->offer, far->by_card, h, 0, n.burst, NULL, bill) != 0))
        return -1;
    return bill_sum(bill, ret_net, ret_tax);
}

int reserve_over(const struct offer *o, bool by_card, int units)
{
    const int listed = o->sku->max_nodes > 1 ? o->sku->max_nodes : 1;
    const int machines = offer_machines(o, by_card, units);
    return machines > listed ? machines - listed : 0;
}

bool reserve_better(const struct reserve_best *a, const struct reserve_best *b)
{
    return a->over != b->over ? a->over < b->over : a->net < b->net;
}

/* A load on one machine: what somebody waits for, and what nobody does. */
struct sized {
    struct serving_sizing size;
    struct reserve_batch batch;
};

static void consider(const struct build *b, const struct reserve_plan *r, const struct offer *o, bool by_card,
                     const struct serving *load, const struct sized *z, struct reserve_hours h,
                     struct reserve_best *best)
{
    struct bill bill;
    struct reserve_best found = {.offer = o, .serving = *load, .sizing = z->size, .by_card = by_card};
    int64_t tax;
    found.batch = z->batch;
    if (load->batch_share < 1) {
        found.units = reserve_units(o, by_card, z->size.gpus, z->size.gpus_per_replica);
        found.base = reserve_units(o, by_card, z->size.gpus_mean, z->size.gpus_per_replica);
    }
    if (load->batch_share > 0) {
        const int base_cards = found.base * (by_card ? 1 : o->sku->gpus_per_node);
        found.batch.in_service =
            fmin(r->batch.requests, batch_in_service(b, r, &z->size, z->size.mean_requests_per_s, base_cards));
        batch_spread(o, by_card, r->batch.requests - found.batch.in_service, h.days, &found.batch);
    }
    if (reserve_bill(o, by_card, h, found.base, found.units, &found.batch, &bill, &found.net, &tax) != 0)
        return;
    found.over = reserve_over(o, by_card, found.units + found.batch.units * (by_card ? found.batch.cards : 1));
    if (best->offer == NULL || reserve_better(&found, best))
        *best = found;
}

/* best / limit of what was missed: 1 would have done. */
static double miss_ratio(const struct note *n)
{
    double best = 1, limit = 1;
    for (unsigned i = 0; i < n->n_args; i++) {
        best = strcmp(n->args[i].name, "best") == 0 ? n->args[i].number : best;
        limit = strcmp(n->args[i].name, "limit") == 0 ? n->args[i].number : limit;
    }
    return limit > 0 ? best / limit : INFINITY;
}

static bool is_memory(const struct note *miss)
{
    return strcmp(miss->code, "serving_no_memory") == 0;
}

/* A card that holds the model and is too slow comes nearer than one that does not hold it. */
static void nearest_miss(struct reserve_plan *r, const struct note *miss)
{
    const bool first = r->why_not.code == NULL, alike = !first && is_memory(miss) == is_memory(&r->why_not);
    if (first || (alike ? miss_ratio(miss) < miss_ratio(&r->why_not) : is_memory(&r->why_not)))
        r->why_not = *miss;
}

/* As build_sizing, counted. */
static int size_on(struct build *b, const struct sku *sku, const struct serving *load, struct serving_sizing *ret,
                   struct err *err)
{
    const int rc = build_sizing(b, sku, load, ret, err);
    b->n_sizings += rc == 0;
    return rc;
}

/* A replica that only works off what can wait, as a sizing; the machines' number comes with the bill. */
static void batch_as_sizing(const struct build *b, const struct reserve_batch *batch, const struct estimate *e,
                            struct serving_sizing *ret)
{
    *ret = (struct serving_sizing){.feasible = true,
                                   .layout = e->layout,
                                   .gpus_per_replica = batch->cards,
                                   .replicas_per_gpu = 1,
                                   .utilisation = b->a.batch_utilisation,
                                   .ttft_ms = e->serving.ttft_ms,
                                   .tpot_ms = e->serving.tpot_ms,
                                   .at_peak = *e};
}

/* As size_on, of both parts of the load. */
static int size_parts(struct build *b, const struct reserve_plan *r, const struct sku *sku, const struct serving *load,
                      struct sized *ret, struct err *err)
{
    struct estimate e;
    ret->batch = r->batch;
    if (load->batch_share <= 0)
        return size_on(b, sku, load, &ret->size, err);
    int rc = batch_rate(b, load, sku, sku->gpus_per_node, &ret->batch, &e, err);
    if (rc < 0 || (rc > 0 && !e.has_serving))
        return rc;
    if (rc > 0) {
        ret->size = (struct serving_sizing){.feasible = false};
        ret->size.why_not = (struct note){.code = "serving_no_memory"};
        ret->size.why_not.short_by = e.memory.total_gb - e.memory.usable_gb;
        note_num(note_num(&ret->size.why_not, "best", e.memory.total_gb), "limit", e.memory.usable_gb);
        return 0;
    }
    if (load->batch_share < 1) {
        const struct serving online = batch_online(load);
        return size_on(b, sku, &online, &ret->size, err);
    }
    b->n_sizings++;
    batch_as_sizing(b, &ret->batch, &e, &ret->size);
    return 0;
}

/* The load on each of these machines. */
static int try_offers(struct build *b, struct reserve_plan *r, const struct offer *const *offers, size_t n,
                      const struct serving *load, struct reserve_hours h, struct reserve_best *best, struct err *err)
{
    struct sized z;
    int sized = 1;
    for (size_t i = 0; i < n; i++) {
        const struct sku *sku = offers[i]->sku, *last = i > 0 ? offers[i - 1]->sku : NULL;
        bool alike = last != NULL && last->intra == sku->intra && last->gpus_per_node == sku->gpus_per_node;
        if (!alike) /* the same machine at another seller carries as much */
            sized = size_parts(b, r, sku, load, &z, err);
        if (sized < 0)
            return -1;
        if (sized > 0)
            continue;
        if (!z.size.feasible) {
            nearest_miss(r, &z.size.why_not);
            continue;
        }
        if (offers[i]->by_card)
            consider(b, r, offers[i], true, load, &z, h, best);
        if (offers[i]->by_node)
            consider(b, r, offers[i], false, load, &z, h, best);
    }
    return 0;
}

int reserve_try(struct build *b, struct reserve_plan *r, const struct gpu *gpu, struct reserve_hours h, size_t at_most,
                struct reserve_best *ret, struct err *err)
{
    const struct offer *offers[RESERVE_OFFERS_MAX];
    struct serving load = r->serving;
    struct market_query q = {.gpu = gpu,
                             .provider_kinds = MARKET_ANY_PROVIDER & ~(1u << PROVIDER_UNIVERSITY),
                             .data_stays = b->market.data_at_home,
                             .serves = true};
    const size_t most = at_most < RESERVE_OFFERS_MAX ? at_most : RESERVE_OFFERS_MAX;
    size_t found = market_find(&b->market, &q, offers, most);
    *ret = (struct reserve_best){0};
    r->any_offer |= found > 0;
    if (!b->workload->serving.stated && load.weight_bits <= 0)
        load.weight_bits = gpu->fp8_tflops > 0 ? 8 : 16;
    if (try_offers(b, r, offers, found, &load, h, ret, err) != 0)
        return -1;
    if (ret->over == 0)
        return 0;
    q.nodes = ret->over +
              (ret->offer->sku->max_nodes > 1 ? ret->offer->sku->max_nodes : 1); /* a dearer supplier who has so many */
    return try_offers(b, r, offers, market_find(&b->market, &q, offers, most), &load, h, ret, err);
}

static struct offer only(const struct offer *o, bool by_card, enum pricing_mode mode)
{
    struct offer some = *o;
    some.n_rates = 0;
    for (size_t i = 0; i < o->n_rates; i++)
        if (o->rates[i].mode == mode && o->rates[i].per_card == by_card)
            some.rates[some.n_rates++] = o->rates[i];
    return some;
}

/* Each level in one mode. */
static void add_way(struct reserve_plan *r, struct reserve_hours h, const char *code, enum pricing_mode base,
                    enum pricing_mode peak)
{
    const struct offer below = only(r->offer, r->by_card, base), above = only(r->offer, r->by_card, peak);
    const struct reserve_batch none = {.requests = 0};
    struct bill bill;
    int64_t net, tax, more = 0;
    const int burst = base == peak ? 0 : r->units - r->base;
    if (below.n_rates == 0 || (burst > 0 && above.n_rates == 0) || r->n_ways == RESERVE_WAYS_MAX ||
        reserve_bill(&below, r->by_card, h, r->base, r->units - burst, &r->batch, &bill, &net, &tax) != 0 ||
        (burst > 0 && reserve_bill(&above, r->by_card, h, 0, burst, &none, &bill, &more, &tax) != 0) ||
        money_add(net, more, &net) != 0)
        return;
    r->ways[r->n_ways++] = (struct reserve_way){code, net};
}

void reserve_ways(struct reserve_plan *r, struct reserve_hours h)
{
    r->n_ways = 0;
    add_way(r, h, "hourly_autoscaled", MODE_HOURLY, MODE_HOURLY);
    add_way(r, h, "monthly", MODE_MONTHLY, MODE_MONTHLY);
    add_way(r, h, "annual", MODE_ANNUAL, MODE_ANNUAL);
    if (r->units > r->base)
        add_way(r, h, "monthly_base_hourly_burst", MODE_MONTHLY, MODE_HOURLY);
}

void reserve_tell_day(struct reserve_plan *r)
{
    if (r->units <= r->base)
        return;
    const int each = r->by_card ? 1 : r->offer->sku->gpus_per_node;
    struct note *note = note_num(note_add(&r->notes, "reserve_follows_load"), "base", r->base * each);
    note_num(note_num(note, "peak", r->units * each), "hours", r->peak_hours);
}
