/* option_university.h — hours on a university's or research centre's machines: cheap, off-peak, queued, capped. */
#ifndef SUANPAN_PLANNER_OFFERS_OPTION_UNIVERSITY_H
#define SUANPAN_PLANNER_OFFERS_OPTION_UNIVERSITY_H

#include "base/err.h"
#include "planner/core/params.h"

struct university_terms {
    double agreement_days, desensitise_days, off_peak_share, job_cap_h, queue_median_h, queue_p90_h, restart_hours,
        user_class;
};

int university_terms_bind(const struct param_table *params, struct university_terms *ret, struct err *err);

/* Name of the user class an assumption's number stands for: 0 internal, 1 partner, 2 external. */
const char *university_user_class(double value);

/* What becomes of `hours` of work under a job cap: jobs, machine hours with a restart each, expected total wait. */
struct university_chain {
    int jobs;
    double hours, wait_h;
};
struct university_chain university_chain_of(double hours, double cap_h, double restart_h, double median_h,
                                            double p90_h);

/* Mean of a lognormal wait given by its median and its 90th percentile. */
double university_mean_wait_h(double median_h, double p90_h);

#endif
