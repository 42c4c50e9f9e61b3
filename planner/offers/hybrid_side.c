/* hybrid_side.c — see hybrid_side.h. */
#include "planner/offers/hybrid_side.h"

#include <math.h>
#include <string.h>

#include "planner/offers/candidate.h"
#include "planner/offers/guess.h"

enum { SIDE_SKUS_MAX = 8, SIDE_FITTING_MAX = 2, SIDE_NODES_MAX = 16 };

/* What a run weighs at the request's priority: money and time as powers, so that only ratios between machines count. */
static double burden_of(const struct build *b, double cost, double hours)
{
    double by_cost, by_time, by_risk;
    candidate_weights(b, &by_cost, &by_time, &by_risk);
    return by_cost * log(cost) + by_time * log(hours);
}

/* What forbids a cluster forbids a run over several nodes at an end: nodes that wait for each other more than they
 * compute, layers cut over a slow network, two nodes that are not worth one and a half. -1: physics stops. */
static int joins_well(struct build *b, const struct offer *o, int nodes, const struct estimate *e, bool *ret,
                      struct err *err)
{
    const struct network *n = o->sku->network;
    const bool rdma = n != NULL && n->rdma;
    const double measured = b->workload->measured.two_node_speedup;
    *ret =
        rdma || (e->training.communication_share <= b->a.fabric_bound_share && e->layout.tp <= o->sku->gpus_per_node);
    *ret &= !(measured > 0 && measured < b->a.two_node_gate);
    if (!*ret || nodes != 2)
        return 0;
    const struct shape shape = build_shape(b, o->sku, o->sku->gpus_per_node, 1, NULL);
    const struct estimate *one = build_physics(b, &shape, err);
    if (one == NULL)
        return build_stops(err) ? -1 : 0;
    if (one->fits != FITS_NO)
        *ret = one->training.wall_hours / e->training.wall_hours >= b->a.two_node_gate;
    return 0;
}

/* Takes the shape when a run costs or weighs less on it than on the best so far. */
static int try_shape(struct build *b, const struct offer *o, int cards, int nodes, struct hybrid_ends *best,
                     struct hybrid_miss *miss, bool *ret_fits, struct err *err)
{
    const int whole = o->sku->gpus_per_node;
    const struct shape shape = build_shape(b, o->sku, cards, nodes, NULL);
    const struct estimate *e = build_physics(b, &shape, err);
    *ret_fits = e && e->fits != FITS_NO;
    if (!e)
        return build_stops(err) ? -1 : 0;
    const double short_gb = e->memory.total_gb - e->memory.usable_gb;
    if (!*ret_fits && (!miss->estimate || short_gb < miss->short_gb))
        *miss = (struct hybrid_miss){short_gb, o->sku->gpu, e, cards};
    if (*ret_fits && nodes > 1 && joins_well(b, o, nodes, e, ret_fits, err) != 0)
        return -1;
    if (!*ret_fits)
        return 0;
    const bool by_card = o->by_card && (cards < whole || !o->by_node);
    const double hours = e->training.wall_hours;
    if (!isfinite(hours) || !(hours > 0))
        return 0;
    const double cost = hours * offer_card_month(o) * (by_card ? cards : whole) * nodes,
                 burden = burden_of(b, cost, hours);
    if (!best->cheap.offer || cost < best->cheap.burden)
        best->cheap = (struct hybrid_side){o, e, shape, by_card, hours, cost};
    if (!best->fit.offer || burden < best->fit.burden)
        best->fit = (struct hybrid_side){o, e, shape, by_card, hours, burden};
    return 0;
}

/* Several nodes where one holds the job's state only by moving it to the host, or not at all. */
static int try_nodes(struct build *b, const struct offer *o, double least_cards, struct hybrid_ends *best,
                     struct hybrid_miss *miss, bool *ret_fits, struct err *err)
{
    const int whole = o->sku->gpus_per_node;
    bool by_team, fits = false;
    int most = candidate_max_nodes(b, &by_team), nodes = 2;
    most = o->sku->max_nodes < most ? o->sku->max_nodes : most;
    most = most < SIDE_NODES_MAX ? most : SIDE_NODES_MAX;
    while (nodes * whole < least_cards && nodes < most)
        nodes *= 2;
    for (int tries = 0; o->by_node && least_cards > whole && nodes <= most && !fits && tries < 2; tries++, nodes *= 2)
        if (try_shape(b, o, whole, nodes, best, miss, &fits, err))
            return -1;
    *ret_fits |= fits;
    return 0;
}

/* The fewest cards that hold the model where cards are sold singly, the whole node, and more nodes where need be. */
static int consider(struct build *b, const struct offer *o, struct hybrid_ends *best, struct hybrid_miss *miss,
                    bool *ret_fits, struct err *err)
{
    const int whole = o->sku->gpus_per_node;
    const struct shape one = {.gpu = o->sku->gpu, .gpus_per_node = 1, .nodes = 1};
    const double least = build_state_bytes(b) / shape_usable_bytes(&one);
    bool fits = false;
    int cards = 1;
    while (cards < least && cards < whole)
        cards *= 2;
    for (int tries = 0; o->by_card && cards < whole && !fits && tries < 2; tries++, cards *= 2)
        if (try_shape(b, o, cards, 1, best, miss, &fits, err))
            return -1;
    *ret_fits = fits;
    if (try_shape(b, o, whole, 1, best, miss, &fits, err))
        return -1;
    *ret_fits |= fits;
    return try_nodes(b, o, least, best, miss, ret_fits, err);
}

int hybrid_side_choose(struct build *b, const struct provider *p, bool far, const char *vendor,
                       struct hybrid_ends *best, struct hybrid_miss *miss, struct err *err)
{
    const struct sku *cheapest[SIDE_SKUS_MAX];
    int fitting = 0;
    if (!market_provider_allowed(&b->market, p, far))
        return 0;
    const size_t n = market_cheapest_of(&b->market, p, false, cheapest, 0, SIDE_SKUS_MAX);
    for (size_t i = 0; i < n && fitting < SIDE_FITTING_MAX; i++) {
        if (vendor && strcmp(cheapest[i]->gpu->vendor, vendor) != 0)
            continue;
        const struct offer *o = market_offer(&b->market, cheapest[i], NULL);
        bool fits;
        if (!o)
            continue;
        if (consider(b, o, best, miss, &fits, err))
            return -1;
        fitting += fits;
    }
    return 0;
}

static int cards_at_most(const struct hybrid_side *side)
{
    const struct sku *s = side->offer->sku;
    return (s->max_nodes > 1 ? s->max_nodes : 1) * s->gpus_per_node;
}

bool hybrid_side_has(const struct hybrid_side *side, int machines)
{
    return machines * side->shape.gpus_per_node <= cards_at_most(side);
}

int hybrid_side_lanes(const struct hybrid_side *side)
{
    return cards_at_most(side) / (side->shape.gpus_per_node * side->shape.nodes);
}

void hybrid_side_rates(const struct hybrid_side *side, double *ret_hour, double *ret_month)
{
    const struct offer *o = side->offer;
    *ret_hour = *ret_month = 0;
    for (size_t i = 0; i < o->n_rates; i++) {
        const struct rate *r = &o->rates[i];
        const int units = (r->per_card ? side->shape.gpus_per_node : 1) * side->shape.nodes;
        const double minor = (double)r->unit_micros / 1e4 * (double)r->quantity_milli / 1e3 * units;
        double *slot = r->mode == MODE_HOURLY                                  ? ret_hour
                       : r->mode == MODE_MONTHLY && r->price->term_months <= 1 ? ret_month
                                                                               : NULL;
        if (slot && r->per_card == side->by_card && (*slot <= 0 || minor < *slot))
            *slot = minor;
    }
}

bool hybrid_side_same(const struct hybrid_side *a, const struct hybrid_side *b)
{
    return a->offer == b->offer && a->estimate == b->estimate;
}
