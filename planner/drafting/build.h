/* build.h — the shared context of one plan while its options are built.
 *
 * The seam of this folder: physics is asked through build_physics (once per distinct shape), prices through
 * market_*, and everything a builder finds is a `struct draft` in the list or a refusal of its kind.
 */
#ifndef SUANPAN_PLANNER_DRAFTING_BUILD_H
#define SUANPAN_PLANNER_DRAFTING_BUILD_H

#include "planner/core/assume.h"
#include "planner/core/plan.h"
#include "planner/costing/draft.h"
#include "planner/market/market.h"
#include "planner/serving/serving.h"
#include "planner/training/training.h"

enum {
    RESERVE_LINES_MAX = 8,
    RESERVE_SIZINGS_MAX = 16,
    RESERVE_SIZINGS_LEAN = 4,
    RESERVE_STRONGEST = 3,
    RESERVE_ALTERNATIVES_MAX = 3,
    PHYSICS_BUCKETS = 64,
    REFUSALS_MAX = 8
};

struct physics_entry {
    struct shape shape;
    const struct estimate *estimate;
    struct physics_entry *next;
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
};

/* What a supplier's tier adds to the work (quality.h). */
enum { QUALITIES_MAX = 12 };
struct quality {
    const char *tier;
    double failure_factor, repair_hours, setup_hours, debug_factor;
    double failure_card_hours, restart_hours; /* the reference that training reckons with */
};

struct build {
    const struct plan_request *q;
    const struct catalog *catalog;
    const struct workload *workload;
    struct arena *arena;
    struct param_table params; /* the catalog's, with the request's overrides in place */
    struct assume a;
    const struct training_constants *training_k;
    const struct serving_constants *serving_k;
    date_t as_of, start;  /* first day of the plan */
    int deadline_day;     /* last allowed day counted from start; INT_MAX = none */
    int64_t budget_minor; /* plan currency; 0 = none */
    char currency[4];
    bool data_at_home;              /* sensitive, and may not be desensitised: only where data_stays */
    bool trains, serves;            /* the workload has a training job / a serving load of its own */
    struct training training;       /* the workload's; runs and parallel_runs >= 1 */
    const struct gpu *measured_gpu; /* the catalog's row of measured.gpu; NULL = none */
    struct physics_entry *physics[PHYSICS_BUCKETS];
    int n_physics, n_sizings;       /* estimates and sizings computed so far */
    struct offer **offers;          /* cache of market_offer, open addressing by SKU number */
    uint8_t *provider_ok;           /* by provider number: 1 = in the request's city, 2 = anywhere; 0 = not allowed */
    double rough_cny;               /* plan currency units in one CNY, about: for the market's order */
    struct note_list price_missing; /* one note a SKU */
    struct reserve_plan reserve;
    struct reserve_plan
        alternatives[RESERVE_ALTERNATIVES_MAX]; /* serving only: on cards of other classes, next cheapest first;
                                                 * the one with the fewest machines is always among them */
    size_t n_alternatives;
    struct note_list refusals[KIND_COUNT];
    struct note_list warnings;
    struct quality qualities[QUALITIES_MAX]; /* by tier, as they are met */
    int n_qualities;
    bool lean; /* a re-plan inside a plan: fewer candidates, no take-away */
};

/* Resolves defaults, overrides, dates and the reserve. */
int build_init(struct build *b, const struct plan_request *q, struct arena *arena, struct err *err);

/* The whole job (training, embedding or custom) on one shape; NULL with *err filled when physics refuses (ERR_RANGE,
 * ERR_UNSUPPORTED, ERR_NOMEM). Check ->fits. */
const struct estimate *build_physics(struct build *b, const struct shape *shape, struct err *err);

/* True where an error of build_physics is about the request (a reading above physics) or about us, not about one shape.
 */
bool build_stops(const struct err *err);

/* Shape of `nodes` nodes of `cards` cards of this SKU, on `network` (NULL = the SKU's own). */
struct shape build_shape(const struct build *b, const struct sku *sku, int cards, int nodes,
                         const struct network *network);

/* Hours of all runs one after another in `lanes` parallel lanes, from the estimate of one run; NAN when unknown. */
double build_train_hours(const struct build *b, const struct estimate *e, int lanes);

/* Says why a kind has no (further) option; one note a code. */
struct note *build_refuse(struct build *b, enum option_kind kind, const char *code);
/* The offload that would make it fit is more than this machine's host memory; the smallest miss is told. */
void build_refuse_host(struct build *b, enum option_kind kind, const struct sku *sku, const struct shape *shape,
                       const struct estimate *e);
/* Why nothing on offer could be tried for a kind (no price, city, data rule, lists), or which offers lack a price. */
void build_refuse_supply(struct build *b, enum option_kind kind, bool any_offer);

/* --- drafts ------------------------------------------------------------------------------------------------- */
void draft_start(struct build *b, struct draft *d, enum option_kind kind); /* in place */
struct draft *draft_new(struct build *b, enum option_kind kind);
int draft_add_group(struct draft *d, const struct offer *offer, const char *role, bool by_card, int cards, int units);
struct draft_step *draft_add_step(struct draft *d, enum phase_code phase, int group, int units, double hours);
struct draft_extra *draft_add_extra(struct draft *d, enum section section, enum phase_code from, enum phase_code to);
/* Appends validate, develop, pilot, migrate and train as docs/plans.md has them, with gates and reasons:
 * validate and develop on one unit of `home_group`, pilot/migrate/train on `train_group` with `train_units` units.
 * Kinds that cut the train phase otherwise (hybrid, university) change or append steps afterwards. */
int phases_standard(struct build *b, struct draft *d, int home_group, int train_group, int train_units,
                    double train_hours);
/* Fabric, storage, checkpoints, staging, egress, software, operations of the train group at its provider. */
int costing_standard_extras(struct build *b, struct draft *d);
/* The draft's calendar and its whole cost. -1: longer than the horizon, or money overflow. */
int draft_schedule(const struct build *b, const struct draft *d, const struct what_if *w, struct schedule *ret);
int draft_reckon(struct build *b, const struct draft *d, const struct what_if *w, struct reckoning *ret);
int option_list_add(struct build *b, struct option_list *l, struct draft *d);

/* --- the four kinds: append drafts to *out or refuse. 0 even when nothing works; -1 only for errors. --------- */
int option_single_build(struct build *b, struct option_list *out, struct err *err);
int option_cluster_build(struct build *b, struct option_list *out, struct err *err);
int option_hybrid_build(struct build *b, struct option_list *out, struct err *err);     /* option_hybrid.c */
int option_university_build(struct build *b, struct option_list *out, struct err *err); /* option_university.c */

/* Appends options of the kinds in the mask (1 << enum option_kind) that the request wants. */
int kinds_build(struct build *b, unsigned kinds, struct option_list *l, struct err *err);

#endif
