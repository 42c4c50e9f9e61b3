/* draft.c — see draft.h. */
#include "planner/costing/draft.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

void draft_start(struct draft *d, enum option_kind kind, struct arena *arena)
{
    memset(d, 0, offsetof(struct draft, groups));
    d->kind = kind;
    d->deadline_day = INT_MAX;
    note_list_init(&d->reasons, arena);
    note_list_init(&d->warnings, arena);
}

void draft_hush(struct draft *d)
{
    d->reasons.unread = d->warnings.unread = true;
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
    s->reasons.unread = d->reasons.unread;
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
