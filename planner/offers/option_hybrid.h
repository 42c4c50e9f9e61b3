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
    const struct price *line_price;
    int64_t line_micros;
    enum price_unit line_unit;
    struct hybrid_side local, burst;
    const struct reserve_plan *reserve; /* of the options: at home; NULL = the plan's */
    struct hybrid_terms terms;
};

/* False where the ends are not a local IDC and a public cloud, the data may not stay there, or the line has no price.
 * Leaves machines and terms to the caller. */
bool hybrid_pair_of(struct build *b, const struct dedicated_line *line, struct hybrid_pair *ret);

/* What may be cut between these machines. */
struct hybrid_range hybrid_range_of(const struct build *b, const struct hybrid_pair *p);

/* Fills `d`, started once, with one cut of the runs. -1: it cannot be had, or does not go into a draft. */
int hybrid_draft(struct build *b, const struct hybrid_pair *p, const struct hybrid_cut *cut, struct draft *d);

/* What a reckoned cut weighs at the request's priority: only ratios of cost and of time count, and late weighs most. */
double hybrid_weight(const struct build *b, const struct reckoning *r);

/* Hours that `gb` take over a line of `gbps` at this efficiency. */
double hybrid_staging_hours(double gb, double gbps, double efficiency);

#endif
