/* hybrid_cut.h — how the runs of a job are cut over the two ends of a line: how many go out, on how many machines.
 *
 * A cut is weighed by whoever knows exactly what it costs and when it ends; this file only looks for the lightest one.
 * Few cuts are all weighed. Of many, the most promising by a rough reckoning (machines by the hour or the month, no
 * calendar) are, and the best of them is moved a step at a time until no step makes it lighter.
 */
#ifndef SUANPAN_PLANNER_OFFERS_HYBRID_CUT_H
#define SUANPAN_PLANNER_OFFERS_HYBRID_CUT_H

#include <stdbool.h>

struct hybrid_cut {
    int lanes_local, lanes_out; /* runs side by side on each end, at least 1; out: 0 where no run goes */
    int runs_out;               /* the rest stays; at least as many runs as lanes on either end */
};

/* One end: hours of one run on one lane, lanes there are, and what a lane costs (in any money; <= 0: not sold so). */
struct hybrid_end {
    double hours;
    int most_lanes;
    double hour, month;
};

/* What may be cut at all. */
struct hybrid_range {
    int runs, lanes;    /* runs in all; side by side over both ends */
    int most_out;       /* runs that may leave */
    bool none_out;      /* all of them may stay: something else goes out */
    double month_hours; /* of a rented month */
    struct hybrid_end local, out;
    /* for the rough reckoning: what is paid and waited for whatever the cut, what a day of the runs and a lane at home
     * add beside the runs' machines (debugging grows with the days), and the weights of cost and time */
    double fixed_cost, fixed_days, cost_a_day, cost_a_lane, days_a_day, by_cost, by_time;
};

/* Lower is better; INFINITY: cannot be had. */
typedef double hybrid_weigh(void *ctx, const struct hybrid_cut *cut);

bool hybrid_cut_allowed(const struct hybrid_range *r, const struct hybrid_cut *cut);

/* Hours until the last run of an end is done: `runs` on `lanes` lanes, `hours` each. */
double hybrid_end_hours(int runs, int lanes, double hours);

/* The runs out that let both ends finish as close together as whole runs allow; within the range. */
int hybrid_balanced_runs(const struct hybrid_range *r, int lanes_local, int lanes_out);

/* Machines of both ends by the rough reckoning, without what is fixed. */
double hybrid_rough_cost(const struct hybrid_range *r, const struct hybrid_cut *cut);

/* Whole days until the last run of both ends is done. */
double hybrid_cut_days(const struct hybrid_range *r, const struct hybrid_cut *cut);

/* The lightest cut found with at most `tries` weighings, ties to the fewest machines. Returns how many were weighed;
 * 0 and *ret_weight = INFINITY where nothing is allowed. */
int hybrid_cut_best(const struct hybrid_range *r, hybrid_weigh *weigh, void *ctx, int tries, struct hybrid_cut *ret,
                    double *ret_weight);

/* The same, beginning with one that was the lightest of a cut much like this (NULL = none). Most of the tries go to
 * what looks best, the rest to steps from the best of them. */
int hybrid_cut_best_from(const struct hybrid_range *r, hybrid_weigh *weigh, void *ctx, int tries,
                         const struct hybrid_cut *from, struct hybrid_cut *ret, double *ret_weight);

#endif
