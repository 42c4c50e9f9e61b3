/* kinds.c — see kinds.h. */
#include "planner/offers/kinds.h"

typedef int (*option_builder)(struct build *b, struct option_list *out, struct err *err);

static const option_builder BUILDERS[KIND_COUNT] = {
    [KIND_SINGLE_MACHINE] = option_single_build,
    [KIND_SMALL_CLUSTER] = option_cluster_build,
    [KIND_HYBRID_CLOUD] = option_hybrid_build,
    [KIND_UNIVERSITY_TIME] = option_university_build,
};

/* What follows the job has to be paid for as well: where nobody can carry it, its price is not known, and no sum
 * without it is an answer. The kinds are refused with what stops the load. */
static void refuse_unserved(struct build *b, struct option_list *l)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->n; i++) {
        const struct draft *d = l->items[i];
        if (d->reserve == NULL || !d->reserve->missing) {
            l->items[kept++] = l->items[i];
            continue;
        }
        if (d->reserve->why_not.code != NULL && note_find(&b->refusals[d->kind], d->reserve->why_not.code) == NULL)
            *build_refuse(b, d->kind, d->reserve->why_not.code) = d->reserve->why_not;
        build_refuse(b, d->kind, "reserve_missing");
    }
    l->n = kept;
}

int kinds_build(struct build *b, unsigned kinds, struct option_list *out, struct err *err)
{
    for (int k = 0; k < KIND_COUNT; k++)
        if ((kinds & 1u << k) && b->workload->constraints.kinds[k] && BUILDERS[k](b, out, err) != 0)
            return -1;
    refuse_unserved(b, out);
    return 0;
}
