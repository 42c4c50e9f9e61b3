/* contest.c — see contest.h. */
#include "planner/advice/contest.h"

#include "planner/advice/rank.h"
#include "planner/offers/answer.h"
#include "planner/offers/kinds.h"

/* Drafts of the plan that is planned again, of the kinds that its change does not touch. */
static int take_alike(struct build *b, unsigned kinds, struct option_list *l, struct err *err)
{
    for (size_t i = 0; i < b->drafted.n; i++) {
        if (!(kinds & 1u << b->drafted.items[i]->kind))
            continue;
        struct draft *own = arena_alloc(b->arena, sizeof *own);
        if (own == NULL || !arena_grow(b->arena, (void **)&l->items, &l->cap, l->n, sizeof *l->items))
            return err_set(err, ERR_NOMEM, "no room for drafts taken over");
        *own = *b->drafted.items[i];
        own->deadline_day = b->deadline_day;
        l->items[l->n++] = own;
    }
    return 0;
}

/* What the kinds drafted stays at hand for plans made of this one. */
static int keep_drafted(struct build *b, const struct option_list *l, struct err *err)
{
    struct draft **items = arena_array(b->arena, l->n + 1, sizeof *items);
    if (items == NULL)
        return err_set(err, ERR_NOMEM, "no room for drafts");
    for (size_t i = 0; i < l->n; i++)
        items[i] = l->items[i];
    b->drafted = (struct option_list){items, l->n, l->n + 1};
    return 0;
}

int contest_hold(struct build *b, unsigned kinds, struct contest *ret, struct err *err)
{
    *ret = (struct contest){0};
    if (kinds_build(b, kinds & ~b->kinds_alike, &ret->list, err) != 0 ||
        take_alike(b, kinds & b->kinds_alike, &ret->list, err) != 0 ||
        (!b->order_only && keep_drafted(b, &ret->list, err) != 0))
        return -1;
    rank_prune(b, &ret->list);
    for (size_t i = 0; i < ret->list.n; i++)
        if (answer_option(b, ret->list.items[i], err) != 0)
            return -1;
    b->n_answered = (int)ret->list.n;
    b->n_searched = build_searched(b);
    if (uncertainty_run(b, &ret->list, &ret->spreads, err) != 0)
        return -1;
    rank_limits(b, &ret->list);
    rank_order(b, &ret->list, ret->spreads);
    if (!b->order_only)
        uncertainty_cheapest(&ret->list, ret->spreads);
    return 0;
}
