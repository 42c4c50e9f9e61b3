/* draft.h — an option before it is words and lines: which machines, which steps, what else is paid for.
 *
 * Every kind of supply is reduced to this one form, so that one calendar, one tariff and one bill serve all of them,
 * and so that an option can be reckoned again under another speed, price or load (uncertainty, sensitivity,
 * relaxations) without its builder.
 */
#ifndef SUANPAN_PLANNER_COSTING_DRAFT_H
#define SUANPAN_PLANNER_COSTING_DRAFT_H

#include "planner/core/plan.h"
#include "planner/costing/reserve_plan.h"
#include "planner/market/offer.h"

#define NORMAL_P90                                                                                                     \
    1.2815515655446004 /* of a standard normal: queues, speed and price are told by their 10th and 90th */

enum { DRAFT_GROUPS_MAX = 4, DRAFT_STEPS_MAX = 10, DRAFT_EXTRAS_MAX = 24 };

/* Machines of one SKU. A unit is a node, or `cards` cards of a SKU that is sold by the card. */
struct draft_group {
    const struct offer *offer;
    const char *role; /* supply.role: "train", "validate", "burst", "serve" */
    bool by_card;     /* a unit is `cards` cards, paid by the card */
    int cards;        /* of one unit */
    int units;        /* the most used at once */
    bool spot_allowed;
};

struct draft_step {
    enum phase_code phase;
    int group; /* index into groups */
    int units;
    double hours;         /* exact machine hours of one unit; for PHASE_DEVELOP derived by the calendar */
    double hours_per_day; /* 24; develop: develop_hours_per_day; off-peak machines: fewer */
    double wait_days;     /* unbilled days before it starts: agreement, desensitising, queues (expected) */
    int beside;           /* 1 + index of the step it starts together with; 0 = the day after the previous ends */
    bool scales;          /* hours follow the speed of the work (train) */
    double stretch;       /* develop: longer where the supplier helps less; 0 = 1 */
    bool whole_days;      /* hours are rounded up to whole days of hours_per_day (validate, pilot, migrate) */
    bool has_gate;
    struct gate gate;
    struct note_list reasons;
};

enum extra_basis { EXTRA_ONCE = 0, EXTRA_PER_MONTH };

/* Anything that is no machine: fabric, storage, software, operations, egress, line, staging. */
struct draft_extra {
    enum section section;
    enum phase_code from, to; /* EXTRA_PER_MONTH: months begun between the first day of `from` and the last of `to`; to
                               * PHASE_SERVE: the last of the service */
    enum extra_basis basis;
    const char *item;
    const struct price *price; /* or `assumption` */
    const char *assumption;
    enum price_unit unit;
    int64_t unit_micros;  /* net, plan currency */
    double quantity;      /* once, or of one month */
    const char *tax_code; /* NULL = service_6 */
};

struct candidate;

struct draft {
    enum option_kind kind;
    int n_groups, n_steps, n_extras;
    int deadline_day; /* last allowed day, from the start; INT_MAX = none. Spot may not serve the last mile before it */
    int train_group;  /* whose machine `estimate` describes */
    struct shape shape;            /* of one run on it */
    const struct network *network; /* between the train group's nodes; NULL = the SKU's own or none */
    const struct estimate *estimate;
    const struct estimate *one_node;    /* the same work on one node of the SKU; NULL when it does not fit or n = 1 */
    const struct reserve_plan *reserve; /* part of the bill: the plan's, or one of its alternatives */
    int queue_jobs;                     /* university: waits of one job each, lognormal */
    double queue_median_h, queue_p90_h;
    double lead_days;               /* agreement and desensitising, part of wait_days of the first step */
    double speed_low, speed_high;   /* multipliers on time of the 10th and 90th percentile; 0 = from the estimate */
    double lost_share, setup_hours; /* what the supplier\'s quality added to the runs (quality.h) */
    struct note title;
    struct note_list reasons, warnings;
    const struct candidate
        *sketch; /* it is no more than its machines, its total and its days so far (offers/candidate.h) */
    /* filled as the plan goes on */
    bool surplus; /* worse than the few of its kind that are shown */
    struct reckoning *base;
    struct option *option; /* finished answer; NULL until then */
    /* last: what lies behind their numbers is never read, and not cleared for a new draft either */
    struct draft_group groups[DRAFT_GROUPS_MAX];
    struct draft_step steps[DRAFT_STEPS_MAX];
    struct draft_extra extras[DRAFT_EXTRAS_MAX];
};

struct option_list {
    struct draft **items;
    size_t n, cap;
};

/* What one reckoning varies. {1, 1, 1, 0} is the plan itself. */
struct what_if {
    double time;      /* on hours of steps that scale */
    double price;     /* on every unit price of machines */
    double load;      /* on the reserve */
    double wait_days; /* added to the finish (queue longer or shorter than expected) */
};
extern const struct what_if what_if_expected;

/* Calendar of a draft under a what-if: days count from build.start. */
struct schedule {
    int first_day[DRAFT_STEPS_MAX], last_day[DRAFT_STEPS_MAX]; /* inclusive; last < first: the step has no length */
    int64_t billed_milli[DRAFT_STEPS_MAX];                     /* hours of one unit, rounded up to the granularity */
    int finish_day;                                            /* last day of the last train step (or set-up) */
    double finish_days;                                        /* finish_day + 1, exact where a what-if adds waits */
};

struct reckoning {
    struct schedule schedule;
    int64_t net, tax, total; /* minor units, reserve included */
    int64_t machines_net;    /* machines only, without reserve */
    int64_t deposit;
    double spot_share; /* of the machines' billed hours */
};

/* Empty, of this kind; lists grow in the arena. */
void draft_start(struct draft *d, enum option_kind kind, struct arena *arena);

/* Nobody will read what is said of this draft: it is only reckoned. */
void draft_hush(struct draft *d);

/* Each appends one part and answers where it is. draft_add_group: its number, or -1; the others NULL: no room. */
int draft_add_group(struct draft *d, const struct offer *offer, const char *role, bool by_card, int cards, int units);
struct draft_step *draft_add_step(struct draft *d, enum phase_code phase, int group, int units, double hours);
struct draft_extra *draft_add_extra(struct draft *d, enum section section, enum phase_code from, enum phase_code to);

#endif
