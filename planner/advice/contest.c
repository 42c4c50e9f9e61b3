/* contest.c — see contest.h. */
#include "planner/advice/contest.h"

#include "planner/advice/rank.h"
#include "planner/offers/answer.h"
#include "planner/offers/kinds.h"

int contest_hold(struct build *b, unsigned kinds, struct contest *ret, struct err *err)
{
    *ret = (struct contest){0};
    if (kinds_build(b, kinds, &ret->list, err) != 0)
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
    return 0;
}
