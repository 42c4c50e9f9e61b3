/* reserve_plan.h — the inference reserve as part of an option: which machines, and its lines of the bill.
 *
 * Found by planner/reserve/; here is what reckoning an option takes of it, so that a bill needs to know nothing of how
 * a load is sized.
 */
#ifndef SUANPAN_PLANNER_COSTING_RESERVE_PLAN_H
#define SUANPAN_PLANNER_COSTING_RESERVE_PLAN_H

#include "planner/core/assume.h"
#include "planner/core/plan.h"
#include "planner/market/offer.h"
#include "planner/serving/serving.h"

enum { RESERVE_LINES_MAX = 36, BATCH_WINDOWS_MAX = RESERVE_WINDOWS_MAX };

/* Requests that nobody waits for, in hours that a machine of the job is paid for and idle. */
struct batch_window {
    const struct offer *offer;
    const struct rate *rate;
    enum section section;
    bool by_card;
    int first_day, last_day;
    double hours; /* a day */
    int units;    /* nodes, or cards where by_card */
    double machine_hours, requests;
};

/* The part of the load that can wait: how much of it there is, where it runs. */
struct reserve_batch {
    double requests;   /* over the months; 0 = none */
    int cards;         /* that one replica takes of the reserve's machine */
    double per_hour;   /* requests of one such replica */
    double in_service; /* requests that the machines of the service take outside its peak */
    int replicas, units;
    double hours; /* of each, one after another from the first day of serving */
    struct batch_window windows[BATCH_WINDOWS_MAX];
    size_t n_windows;
    double requests_idle, hours_idle; /* in the windows: requests, machine hours */
    int64_t saved;                    /* net, against the same load without them */
};

/* Machines at the far end of a hybrid's line: they carry what lies above the base, in the hours of the peak. */
struct reserve_burst {
    const struct offer *offer; /* NULL: everything works in one place */
    bool by_card;
    int units, units_low, units_high; /* nodes, or cards where by_card; *_low/_high: band of the load */
    int replicas;
    double share;    /* of the load at its peak, that goes there */
    double requests; /* over the months, at most; 0 where the load is stated as concurrency */
};

/* The reserve of the plan: the load sized on the cheapest suitable machine, the same for every option. */
struct reserve_plan {
    const char *basis;         /* "sized", "default", "none" */
    const struct offer *offer; /* NULL: none, or nothing suitable (then `missing` says why) */
    struct serving serving;    /* load with its defaults in place */
    struct serving_sizing sizing;
    bool by_card;
    int units; /* nodes, or cards where by_card; *_low/_high: band of the load */
    int units_low, units_high;
    int base, base_low, base_high; /* of them all day; the rest for the peak's hours */
    double months, peak_hours;
    int64_t net, tax, net_low, net_high, deposit;
    struct cost_line lines[RESERVE_LINES_MAX];
    size_t n_lines;
    struct note_list notes;
    struct reserve_way ways[RESERVE_WAYS_MAX]; /* not in re-plans */
    struct reserve_card cards[RESERVE_CARDS_MAX];
    size_t n_ways, n_cards;
    int over; /* machines beyond what the supplier lists: only he knows whether they are free */
    bool any_offer, missing;
    struct note why_not; /* of the card that came nearest to carrying it */
    struct reserve_batch batch;
    struct reserve_burst burst;
};

/* Units for the requests that somebody waits for and for those that can wait. */
int reserve_plan_units(const struct reserve_plan *r);
/* Whole machines that they take. */
int reserve_plan_machines(const struct reserve_plan *r);

/* Cards of all of them, wherever they work. */
int reserve_plan_gpus(const struct reserve_plan *r);

/* Net amount, minor units, that a load of `load` times the expected one adds or saves; linear between the sized ends.
 */
double reserve_plan_change(const struct assume *a, const struct reserve_plan *r, double load);

#endif
