/* option_hybrid.h — a local baseline that keeps the data, and runs that burst to a public cloud over a dedicated line.
 */
#ifndef SUANPAN_PLANNER_OFFERS_OPTION_HYBRID_H
#define SUANPAN_PLANNER_OFFERS_OPTION_HYBRID_H

#include "base/err.h"
#include "planner/core/params.h"

struct hybrid_terms {
    double desensitise_days, line_efficiency, run_result_gb_per_billion;
};

int hybrid_terms_bind(const struct param_table *params, struct hybrid_terms *ret, struct err *err);

/* How `runs` equal runs are cut over local and outside lanes (at least one run on each side) so that both sides end
 * as close together as whole runs allow. hours: of one run on a lane of that side. */
struct hybrid_split {
    int runs_local, runs_out;
    double hours_local, hours_out; /* until the last run of that side ends */
};
struct hybrid_split hybrid_split_of(int runs, int lanes_local, int lanes_out, double hours_local, double hours_out);

/* Hours that `gb` take over a line of `gbps` at this efficiency. */
double hybrid_staging_hours(double gb, double gbps, double efficiency);

#endif
