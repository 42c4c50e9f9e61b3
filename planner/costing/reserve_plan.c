/* reserve_plan.c — see reserve_plan.h. */
#include "planner/costing/reserve_plan.h"

#include <math.h>

int reserve_plan_units(const struct reserve_plan *r)
{
    return r->units + r->batch.units * (r->by_card ? r->batch.cards : 1);
}

int reserve_plan_machines(const struct reserve_plan *r)
{
    return offer_machines(r->offer, r->by_card, reserve_plan_units(r));
}

static int gpus_of(const struct offer *o, bool by_card, int units)
{
    return o == NULL ? 0 : units * (by_card ? 1 : o->sku->gpus_per_node);
}

int reserve_plan_gpus(const struct reserve_plan *r)
{
    return gpus_of(r->offer, r->by_card, reserve_plan_units(r)) +
           gpus_of(r->burst.offer, r->burst.by_card, r->burst.units);
}

double reserve_plan_change(const struct assume *a, const struct reserve_plan *r, double load)
{
    if (load < 1 && a->load_low < 1)
        return (double)(r->net_low - r->net) * fmin(1, (1 - load) / (1 - a->load_low));
    if (load > 1 && a->load_high > 1)
        return (double)(r->net_high - r->net) * fmin(a->load_beyond_band, (load - 1) / (a->load_high - 1));
    return 0;
}
