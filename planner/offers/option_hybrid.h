/* option_hybrid.h — a local baseline that keeps the data, and runs and peaks that burst to a public cloud over a
 * dedicated line. */
#ifndef SUANPAN_PLANNER_OFFERS_OPTION_HYBRID_H
#define SUANPAN_PLANNER_OFFERS_OPTION_HYBRID_H

#include "planner/offers/hybrid_draft.h"

/* Runs side by side over both ends. Who says which runs may leave, and not how many go at once, lets home and cloud
 * work at the same time. */
int hybrid_lanes(const struct build *b);

/* Whose cards they are: both ends run the same software. */
const char *hybrid_maker(const struct hybrid_side *side);

/* What may be cut between these machines. */
struct hybrid_range hybrid_range_of(const struct build *b, const struct hybrid_pair *p);

/* What the line and the answers over it add to a split service: at most, and at least where runs use the line too, for
 * a month of theirs that has begun serves both. Net and tax, minor units. */
void hybrid_cost_of_line(struct build *b, const struct hybrid_pair *p, double *ret_most, double *ret_least);

/* What a reckoned cut weighs at the request's priority: only ratios of cost and of time count, and late weighs most. */
double hybrid_weight(const struct build *b, const struct reckoning *r);

/* What a plan found best between the ends of each line; a plan made of it begins there. */
enum { HYBRID_LINES_MAX = 3 };
enum { HYBRID_PAIRINGS = 4 }; /* cheap and fit at home by cheap and fit in the cloud */
struct hybrid_found {
    struct hybrid_pair pair;
    struct hybrid_ends home, cloud;
    struct hybrid_cut cuts[HYBRID_PAIRINGS]; /* no lanes: none was found */
    enum hybrid_service services[HYBRID_PAIRINGS];
    int best;      /* of them */
    double weight; /* of that */
};
struct hybrids {
    struct hybrid_found found[HYBRID_LINES_MAX];
    int n;
};

/* The lightest cut of all pairings of the machines worth trying at both ends into *out. before: what a plan much like
 * this one found, NULL = none. */
int hybrid_pair_add(struct build *b, const struct hybrid_pair *p, const struct hybrid_ends *home,
                    const struct hybrid_ends *cloud, const struct hybrid_found *before, struct option_list *out,
                    struct err *err);

/* The same machines again in a plan made of another; moved: another cut of the runs may be lighter now. */
int hybrid_pair_again(struct build *b, const struct hybrid_found *found, bool moved, struct option_list *out,
                      struct err *err);

#endif
