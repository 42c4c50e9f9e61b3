/* kinds.c — the four kinds of supply, each built where the request wants it. */
#include "planner/drafting/build.h"

typedef int (*option_builder)(struct build *b, struct option_list *out, struct err *err);

static const option_builder BUILDERS[KIND_COUNT] = {
    [KIND_SINGLE_MACHINE] = option_single_build,
    [KIND_SMALL_CLUSTER] = option_cluster_build,
    [KIND_HYBRID_CLOUD] = option_hybrid_build,
    [KIND_UNIVERSITY_TIME] = option_university_build,
};

int kinds_build(struct build *b, unsigned kinds, struct option_list *l, struct err *err)
{
    for (int k = 0; k < KIND_COUNT; k++)
        if ((kinds & 1u << k) && b->workload->constraints.kinds[k] && BUILDERS[k](b, l, err) != 0)
            return -1;
    return 0;
}
