/* build_refuse.c — why a kind of supply has no (further) option, each reason once and by how much it is missed. */
#include "planner/drafting/build.h"

#include <limits.h>

enum { REFUSALS_MAX = 8 };

struct note *build_refuse(struct build *b, enum option_kind kind, const char *code)
{
    return note_add_once(&b->refusals[kind], code);
}

void build_refuse_host(struct build *b, enum option_kind kind, const struct sku *sku, const struct shape *shape,
                       const struct estimate *e)
{
    double gap = e->training.host_memory_gb - shape->host_memory_gb;
    if (shape->host_memory_gb <= 0 || !(gap > 0))
        return;
    struct note *n = build_refuse(b, kind, "host_memory");
    if (n->n_args > 0 && n->short_by <= gap)
        return;
    n->short_by = gap;
    note_num(note_num(note_text(n, "machine", sku->id), "need_gb", e->training.host_memory_gb), "host_gb",
             shape->host_memory_gb);
}

void build_refuse_memory(struct build *b, enum option_kind kind, const struct gpu *gpu, int cards,
                         const struct estimate *e, double short_gb)
{
    const struct memory_estimate *m = &e->memory;
    struct note *n = build_refuse(b, kind, "memory_wall");
    if (n->n_args > 0 && n->short_by <= short_gb)
        return;
    n->short_by = short_gb;
    note_num(note_num(note_text(n, "gpu", gpu->name), "cards", cards), "need_gb", m->total_gb);
    note_num(note_text(note_num(n, "usable_gb", m->usable_gb), "tightest", m->tightest_term), "short_by", short_gb);
}

void build_refuse_time(struct build *b, enum option_kind kind)
{
    if (b->uncovered && b->day.allow_spot && b->deadline_day != INT_MAX)
        note_num(build_refuse(b, kind, "spot_last_mile"), "days", b->a.spot_last_mile_days);
    else
        note_num(build_refuse(b, kind, "beyond_horizon"), "days", b->a.horizon_days);
}

void build_refuse_supply(struct build *b, enum option_kind kind, bool any_offer)
{
    const struct constraints *c = &b->workload->constraints;
    for (size_t i = 0; i < b->market.unpriced.n && b->refusals[kind].n < REFUSALS_MAX; i++)
        *build_refuse(b, kind, "price_missing") = b->market.unpriced.items[i];
    if (any_offer)
        return;
    if (b->market.data_at_home)
        build_refuse(b, kind, "data_sensitive");
    if (c->city != NULL)
        note_text(build_refuse(b, kind, "city_without_supply"), "city", c->city);
    if (b->refusals[kind].n == 0)
        build_refuse(b, kind, "no_offer");
}
