/* draft.c — putting drafts together. */
#include "planner/costing/draft.h"

#include "planner/drafting/build.h"

void draft_start(struct build *b, struct draft *d, enum option_kind kind)
{
    *d = (struct draft){.kind = kind};
    d->reserve = &b->reserve;
    note_list_init(&d->reasons, b->arena);
    note_list_init(&d->warnings, b->arena);
}

struct draft *draft_new(struct build *b, enum option_kind kind)
{
    struct draft *d = arena_alloc(b->arena, sizeof *d);
    if (d != NULL)
        draft_start(b, d, kind);
    return d;
}

int draft_add_group(struct draft *d, const struct offer *offer, const char *role, bool by_card, int cards, int units)
{
    if (d->n_groups == DRAFT_GROUPS_MAX)
        return -1;
    d->groups[d->n_groups] = (struct draft_group){offer, role, by_card, cards, units, false};
    return d->n_groups++;
}

struct draft_step *draft_add_step(struct draft *d, enum phase_code phase, int group, int units, double hours)
{
    if (d->n_steps == DRAFT_STEPS_MAX)
        return NULL;
    struct draft_step *s = &d->steps[d->n_steps++];
    *s = (struct draft_step){.phase = phase, .group = group, .units = units, .hours = hours, .hours_per_day = 24};
    s->reasons.arena = d->reasons.arena;
    return s;
}

struct draft_extra *draft_add_extra(struct draft *d, enum section section, enum phase_code from, enum phase_code to)
{
    if (d->n_extras == DRAFT_EXTRAS_MAX)
        return NULL;
    struct draft_extra *e = &d->extras[d->n_extras++];
    *e = (struct draft_extra){.section = section, .from = from, .to = to};
    return e;
}

int option_list_add(struct build *b, struct option_list *l, struct draft *d)
{
    struct reckoning *base = arena_alloc(b->arena, sizeof *base);
    if (base == NULL)
        return -1;
    if (draft_reckon(b, d, &what_if_expected, base) != 0) {
        note_num(build_refuse(b, d->kind, "beyond_horizon"), "days", b->a.horizon_days);
        return 0;
    }
    d->base = base;
    if (!arena_grow(b->arena, (void **)&l->items, &l->cap, l->n, sizeof *l->items))
        return -1;
    l->items[l->n++] = d;
    return 0;
}
