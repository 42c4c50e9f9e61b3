/* relaxing.h — what relaxations are made of: one changed request planned again, kept by what it comes to for each kind
 * of supply, and told.
 */
#ifndef SUANPAN_PLANNER_ADVICE_RELAXING_H
#define SUANPAN_PLANNER_ADVICE_RELAXING_H

#include "planner/advice/changes.h"
#include "planner/advice/replan.h"

struct relaxing {
    struct build *b;
    struct plan *plan;
    struct arena *scratch; /* of one re-plan at a time */
    struct err *err;
    int effort_most;     /* of the whole plan (effort.h): what would go beyond it is not planned */
    double saving_least; /* share that a change must save to be worth naming beside a feasible option */
    bool lean;           /* something is feasible: what is not matters less, where physics has to be asked again */
};

/* One option that a changed request has. */
struct relaxed_option {
    int64_t total;
    date_t finish_on;
    const struct gpu *gpu; /* NULL: nothing on offer */
};

/* What a changed request comes to for one kind. */
struct relaxed {
    bool feasible, exact;
    bool unplanned;                        /* for want of effort */
    struct relaxed_option first, cheapest; /* cheapest: of the feasible ones */
    /* What the nearest of its options asks of one limit where it keeps the other; 0 = not known. */
    int64_t high;          /* minor units */
    double confident_days; /* from the start */
};

/* The changed request planned again for the kinds of the mask (1 << enum option_kind); ret: by kind. -1: no memory; a
 * change that physics refuses is no way out. */
int relaxing_plan(struct relaxing *s, const struct workload *w, unsigned kinds, struct relaxed ret[KIND_COUNT]);

/* The same, less widely: what it finds can be had. */
int relaxing_look(struct relaxing *s, const struct workload *w, unsigned kinds, struct relaxed ret[KIND_COUNT]);

/* A record at the end of the list, its words begun with cost and date; NULL: no memory. */
struct relaxation *relaxing_add(struct relaxing *s, struct relaxation_list *l, const char *code, const char *text,
                                const struct relaxed_option *o, bool exact);
void relaxing_take_changes(struct relaxation *r, const struct changing *c);

/* The record of an attempt that came to this option, with its changes and its words; NULL: no memory. */
struct relaxation *relaxing_keep(struct relaxing *s, const struct attempt *a, const struct changing *c,
                                 const struct relaxed_option *o, bool exact, struct relaxation_list *to);

/* The least later deadline and the least larger budget that make the kind feasible, where nothing else is missing
 * (relax_limits.c). -1: no memory. */
int relax_limits(struct relaxing *s, enum option_kind kind, struct relaxation_list *to);

/* What would make the recommended plan much cheaper (relax_cost.c): d is its draft. The second asks all of the physics
 * again: it comes last. -1: no memory. */
int relax_cost(struct relaxing *s, const struct draft *d);
int relax_cost_precision(struct relaxing *s, const struct draft *d);

#endif
