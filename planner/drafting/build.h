/* build.h — the shared context of one plan while its options are drafted.
 *
 * The seam of this folder: physics is asked through build_physics (once per distinct shape), prices through
 * build.market, and everything a builder finds is a `struct draft` in the list or a refusal of its kind. The arena owns
 * all of it.
 */
#ifndef SUANPAN_PLANNER_DRAFTING_BUILD_H
#define SUANPAN_PLANNER_DRAFTING_BUILD_H

#include "planner/core/assume.h"
#include "planner/core/plan.h"
#include "planner/costing/draft.h"
#include "planner/market/market.h"
#include "planner/serving/serving.h"
#include "planner/training/training.h"

enum { RESERVE_ALTERNATIVES_MAX = 3, PHYSICS_BUCKETS = 64 };

struct physics_entry {
    struct shape shape;
    const struct estimate *estimate;
    struct physics_entry *next;
};

/* Cards that a re-plan takes to be slower or faster than reckoned. by: multiplier on time; 0 = none. */
struct slowdown {
    const struct gpu *gpu; /* NULL = all */
    double by;
};

/* Faults of machines that a re-plan takes to be rarer or more frequent than assumed. factor 0 = none. */
struct faults {
    const char
        *tier; /* times the faults at suppliers of this tier; NULL = times the card-hours between two, everywhere */
    double factor;
};

/* One machine of a card sized for one load. */
struct sizing_entry {
    const struct gpu *gpu;
    enum intra_link intra;
    int gpus_per_node;
    struct serving load;
    bool refused;        /* this card cannot serve it at all (no such precision) */
    bool machines_alone; /* how a replica works at peak was not asked yet */
    struct serving_kept *kept;
    struct serving_sizing sizing;
    struct sizing_entry *next_of_load, *next_of_machine; /* newest first */
};

/* What a supplier's tier adds to the work (quality.h). */
enum { QUALITIES_MAX = 12 };
struct quality {
    const char *tier;
    double failure_factor, repair_hours, setup_hours, debug_factor;
    double failure_card_hours, restart_hours; /* the reference that training reckons with */
};

struct recall;
struct hybrids;
struct uncertainty_points;

/* What so many whole days of one unit cost (phases.c), where it was asked last. */
enum { DAY_COSTS = 256 };
struct day_cost {
    const struct offer *offer;
    int cards, days; /* cards: 0 = a node */
    int64_t net;
};

/* What an extra costs at a provider (extras.c), where it was asked last. */
enum { UNIT_PRICES = 512 };
struct unit_price {
    const struct provider *at; /* NULL = free */
    const char *id;
    enum price_subject subject;
    enum price_unit unit;
    bool sold;
    const struct price *price;
    int64_t micros;
};

struct physics_store;
struct sizing_store;
struct batch_memory;

struct build {
    const struct catalog *catalog;
    const struct workload *workload;
    struct arena *arena;
    struct param_table params; /* the catalog's, with the request's overrides in place */
    struct assume a;
    const struct training_constants *training_k;
    const struct serving_constants *serving_k;
    struct training_readings *readings; /* what the request's own readings came to */
    struct trade_day day;
    struct market market;
    date_t start;                   /* first day of the plan */
    int deadline_day;               /* last allowed day counted from start; INT_MAX = none */
    int64_t budget_minor;           /* plan currency; 0 = none */
    bool trains, serves;            /* the workload has a training job / a serving load of its own */
    struct training training;       /* the workload's; runs and parallel_runs >= 1 */
    int shareable_runs;             /* runs that may leave the house for the far end of a line; 0..runs */
    const struct gpu *measured_gpu; /* the catalog's row of measured.gpu; NULL = none */
    struct physics_entry *physics[PHYSICS_BUCKETS]; /* what this plan asked for */
    struct physics_store *store;                    /* of all estimates of this work, shared with plans made of it */
    double work;                                    /* times the work of the store's plan; 0 = its own plan */
    int n_physics, n_sizings;                       /* estimates and sizings computed so far */
    struct uncertainty_points *points;  /* of every sample (advice/uncertainty.h), once it is asked for; a re-plan's: of
                                         * its plan */
    struct recall *recall[KIND_COUNT];  /* what its walks came to (offers/recall.h); a re-plan's: of its plan */
    struct hybrids *hybrids;            /* and where it cut the runs best (offers/option_hybrid.h) */
    int recalls;                        /* enum recall_how */
    bool recall_budget;                 /* another budget than its plan's */
    double recall_work, recall_reserve; /* times the work of its plan; minor units that its reserve costs more */
    int n_looked_up;                    /* sizings asked for by the hundred, at hand or not */
    int n_sized, n_measured;   /* sizings that were not at hand, and the replicas that were measured for them */
    int n_searched;            /* build_searched, when its options were there */
    int n_answered, n_sampled; /* drafts that became options, and those whose spread was sampled */
    int n_replanned;           /* what plans made of it spent (advice/effort.h) */
    int n_validate_cut;        /* validations that the budget's share made shorter */
    int n_weighed;             /* of the drafts reckoned, cuts of a hybrid: they are larger */
    bool uncovered;            /* some draft's calendar was well, and no rate served one of its days */
    int n_reckoned;            /* drafts whose calendar and bill were reckoned: what a plan spends besides physics */
    struct reserve_plan reserve;
    size_t n_alternatives;      /* of `alternatives` */
    struct option_list drafted; /* what its kinds drafted, before any was left out; a re-plan's: of its plan */
    unsigned kinds_alike;       /* a re-plan's: kinds whose drafts are those of its plan, as a mask */
    struct note_list refusals[KIND_COUNT];
    struct note_list warnings;
    struct quality qualities[QUALITIES_MAX]; /* by tier, as they are met */
    int n_qualities;
    struct day_cost day_costs[DAY_COSTS];
    struct unit_price *unit_prices; /* UNIT_PRICES of them, shared with plans made of it; NULL = none asked yet */
    struct batch_memory *batches;   /* how fast machines work off what can wait (reserve/batch.h), shared likewise */
    struct sizing_store *sizings;   /* of all loads of this model, shared with plans made of it */
    int searched_most;              /* a re-plan's: build_searched at which it takes no further card; 0 = no bound */
    bool cut_short;                 /* by that bound: what it finds can be had, a full plan may find better */
    int kind_work[KIND_COUNT], kind_searched[KIND_COUNT]; /* what each kind took to draft (advice/effort.h), but for its
                                                           * physics, and what that searched */
    bool lean;                                            /* a re-plan inside a plan: fewer candidates, no take-away */
    bool order_only; /* a re-plan of which only the order is asked: what no limit needs is not sampled */
    struct slowdown slowdown;
    struct faults faults;
    double kind_least[KIND_COUNT], kind_soonest[KIND_COUNT]; /* that costs and times were scored by; INFINITY = none */
    bool scored_feasible;                                    /* they are of feasible options */
    double else_least, else_soonest;                         /* of kinds that a re-plan leaves out; 0 = none */
    /* last: what lies behind n_alternatives is never read, and not cleared for a new plan. Serving only: on cards of
     * other classes, next cheapest first; the one with the fewest machines is always among them. */
    struct reserve_plan alternatives[RESERVE_ALTERNATIVES_MAX];
};

/* Resolves defaults, overrides, dates, the market and the budget; *b must stay where it is, parts of it point into it.
 * ERR_INVALID, ERR_RANGE, ERR_UNSUPPORTED with the place in the request; ERR_NOT_FOUND: a row of the assumptions is
 * missing; ERR_NOMEM. */
int build_init(struct build *b, const struct plan_request *q, struct arena *arena, struct err *err);

/* The same for a request of the same catalog, which takes the assumptions over where it overrides none other. `from`
 * outlives it. */
int build_init_like(const struct build *from, struct build *b, const struct plan_request *q, struct arena *arena,
                    struct err *err);

/* The whole job (training, embedding or custom) on one shape; NULL with *err filled when physics refuses (ERR_RANGE,
 * ERR_UNSUPPORTED, ERR_NOMEM). Check ->fits. */
const struct estimate *build_physics(struct build *b, const struct shape *shape, struct err *err);

/* How much physics was searched for the plan and for those made of it for the same work: layouts that were tried, and
 * a few for each estimate. */
int build_searched(const struct build *b);

/* Has a re-plan searched as much as it may? Then it takes no further card, and is cut short. */
bool build_spent(struct build *b);

/* What `from` has reckoned is at hand in `to`, slowed as to->slowdown says; for the same job on any amount of work:
 * hours are multiplied by `work`. It counts as asked for only where `to` asks for it. */
void build_inherit_physics(const struct build *from, double work, struct build *to);

/* An estimate of the plan that this one is made of, of runs on so many cards, as this one has it. NULL: no memory. */
const struct estimate *build_physics_again(struct build *b, const struct estimate *e, const struct gpu *gpu, int cards);

/* How many times the hours a run of this estimate takes where card-hours between two faults are `factor` times what
 * they are. */
double build_faults_ratio(const struct build *b, const struct estimate *e, int cards, double factor);

/* The model that is served: the load's own, or the workload's. */
const struct model *build_served_model(const struct build *b);

/* The load on machines like this SKU, sized once. 1 when this card cannot serve it at all, -1 when memory is short
 * (*err filled). */
int build_sizing(struct build *b, const struct sku *sku, const struct serving *load, struct serving_sizing *ret,
                 struct err *err);

/* The same for whoever asks for the machines alone: without ttft, tpot and at_peak where they are not at hand. */
int build_sizing_machines(struct build *b, const struct sku *sku, const struct serving *load,
                          struct serving_sizing *ret, struct err *err);

/* What another look at the market has sized counts as the plan's own. */
void build_count_sizings(const struct build *look, struct build *b);

/* What `from` has asked of the market is at hand in `to`, but for machines of another price; sizings too
 * where the same model is served. For plans of one day, currency and assumptions. */
void build_inherit(const struct build *from, struct build *to);

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
/* So many cards of this GPU together lack short_gb GB for the job; the smallest miss is told. */
void build_refuse_memory(struct build *b, enum option_kind kind, const struct gpu *gpu, int cards,
                         const struct estimate *e, double short_gb);
/* Why nothing on offer could be tried for a kind (no price, city, data rule, lists), or which offers lack a price. */
/* Machines hold the work and none of them carries it to the end: for the time it takes, or because only spot is sold.
 */
void build_refuse_time(struct build *b, enum option_kind kind);

void build_refuse_supply(struct build *b, enum option_kind kind, bool any_offer);

/* True where the workload was already measured on this card, on one card or one machine. */
bool build_measured_on(const struct build *b, const struct gpu *gpu);

/* Bytes of weights, gradients and optimizer state that training must hold at least, over all cards and hosts. */
double build_state_bytes(const struct build *b);

/* An empty draft that pays for the plan's reserve: in place, or in the arena (NULL: no memory). */
void build_draft_start(struct build *b, struct draft *d, enum option_kind kind);
/* The same on a draft that may have been started before: where nobody reads what is said of it, nobody does now. */
void build_draft_restart(struct build *b, struct draft *d, enum option_kind kind);
struct draft *build_draft_new(struct build *b, enum option_kind kind);

/* Reckons a finished draft (d->base) and appends it; one longer than the horizon is refused instead. -1: no memory. */
int build_keep(struct build *b, struct option_list *l, struct draft *d);
/* Appends one that was reckoned; NULL or no memory: -1. */
int build_append(struct build *b, struct option_list *l, struct draft *d);

#endif
