/* option_hybrid.h — a local baseline that keeps the data, and runs that burst to a public cloud over a dedicated line.
 */
#ifndef SUANPAN_PLANNER_OFFERS_OPTION_HYBRID_H
#define SUANPAN_PLANNER_OFFERS_OPTION_HYBRID_H

#include "base/err.h"
#include "planner/core/params.h"
#include "planner/offers/hybrid_cut.h"
#include "planner/offers/hybrid_side.h"

struct hybrid_terms {
    double desensitise_days, line_efficiency, run_result_gb_per_billion;
};

int hybrid_terms_bind(const struct param_table *params, struct hybrid_terms *ret, struct err *err);

/* A pair of providers, what its line costs, and the machines that do the runs at its ends. */
struct hybrid_pair {
    const struct dedicated_line *line;
    const struct provider *home, *cloud;
    struct line_price line_price;
    struct hybrid_side local, burst;
    const struct reserve_plan *reserve; /* of the options: at home; NULL = the plan's */
    struct hybrid_terms terms;
};

/* False where the ends are not a local IDC and a public cloud, the data may not stay there, or the line has no price.
 * Leaves machines and terms to the caller. */
bool hybrid_pair_of(struct build *b, const struct dedicated_line *line, struct hybrid_pair *ret);

/* Runs side by side over both ends. Who says which runs may leave, and not how many go at once, lets home and cloud
 * work at the same time. */
int hybrid_lanes(const struct build *b);

/* Whose cards they are: both ends run the same software. */
const char *hybrid_maker(const struct hybrid_side *side);

/* What may be cut between these machines. */
struct hybrid_range hybrid_range_of(const struct build *b, const struct hybrid_pair *p);

/* Fills `d`, started once, with one cut of the runs. -1: it cannot be had, or does not go into a draft. */
int hybrid_draft(struct build *b, const struct hybrid_pair *p, const struct hybrid_cut *cut, struct draft *d);

/* What a reckoned cut weighs at the request's priority: only ratios of cost and of time count, and late weighs most. */
double hybrid_weight(const struct build *b, const struct reckoning *r);

/* What a plan found best between the ends of each line; a plan made of it begins there. */
enum { HYBRID_LINES_MAX = 3 };
enum { HYBRID_PAIRINGS = 4 }; /* cheap and fit at home by cheap and fit in the cloud */
struct hybrid_found {
    struct hybrid_pair pair;
    struct hybrid_ends home, cloud;
    struct hybrid_cut cuts[HYBRID_PAIRINGS]; /* no runs out: none was found */
    int best;                                /* of them */
    double weight;                           /* of that */
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

/* Hours that `gb` take over a line of `gbps` at this efficiency. */
double hybrid_staging_hours(double gb, double gbps, double efficiency);

#endif
