/* plan.h — the nouns of the main job's answer: ranked options, each carried to total cost to finish.
 *
 * Shapes follow docs/api.md (POST /api/v1/plans); words follow docs/plans.md. All amounts are minor units of
 * plan.currency. Everything lives in the request's arena or the catalog snapshot.
 */
#ifndef SUANPAN_PLANNER_CORE_PLAN_H
#define SUANPAN_PLANNER_CORE_PLAN_H

#include "base/err.h"
#include "planner/core/catalog.h"
#include "planner/core/estimate.h"
#include "planner/core/workload.h"

enum section {
    SECTION_COMPUTE = 0,
    SECTION_NETWORK,
    SECTION_STORAGE,
    SECTION_SOFTWARE,
    SECTION_OPERATIONS,
    SECTION_EGRESS,
    SECTION_VALIDATION,
    SECTION_MIGRATION,
    SECTION_INFERENCE_RESERVE,
    SECTION_COUNT
};
enum phase_code {
    PHASE_VALIDATE = 0,
    PHASE_DEVELOP,
    PHASE_PILOT,
    PHASE_MIGRATE,
    PHASE_TRAIN,
    PHASE_SERVE,
    PHASE_COUNT
};
const char *section_name(enum section s);
const char *phase_name(enum phase_code p);

struct supply {
    const char *role; /* "train", "validate", "burst", "serve" */
    const struct sku *sku;
    int gpus_per_node, nodes;
    enum pricing_mode mode;    /* of the larger part */
    int term_units;            /* months or years bought; 0 for hourly and spot */
    const struct price *price; /* date and source of the price */
};

struct cost_line {
    enum phase_code phase; /* the first phase that uses it; phases[].minor says how much of it */
    enum section section;
    const struct sku *sku; /* NULL for network, storage, ... */
    const char *item;      /* id of the network, storage, ... where sku is NULL */
    int64_t quantity_milli;
    enum price_unit unit;
    int64_t unit_price_micros; /* in plan currency, net of tax */
    int64_t minor;             /* net amount */
    int64_t tax_minor;
    const char *tax_code;
    enum pricing_mode mode;
    bool by_card;              /* buys single cards, not whole nodes */
    double unused_share;       /* of a commitment; 0 otherwise */
    const struct price *price; /* NULL where the figure is an assumption (then `assumption` names it) */
    const char *assumption;
};

struct gate {
    struct note text; /* what is measured, threshold, what happens if it fails */
    const char *metric;
    double threshold;
    int64_t saved_minor; /* what stopping here saves: everything that is paid only later */
};

struct phase {
    enum phase_code code;
    date_t start_on, end_on;
    double hours;
    int gpus;
    int64_t minor;          /* net, its share of every line it uses, by billed hours; phases sum to cost.net */
    int64_t machines_minor; /* of it the machines */
    bool has_gate;
    struct gate gate;
    struct note_list reasons;
};

struct finish {
    double low_days, expected_days, high_days;
    double confident_days; /* by when it is done with `deadline_confidence` */
    date_t finish_on;
    bool has_deadline, meets_deadline;
    double deadline_probability; /* NAN without a deadline */
};

/* One tax of the bill: what it is on, what it comes to; the line's own roundings summed. */
enum { COST_TAXES_MAX = 8 };
struct cost_tax {
    const char *code;
    int64_t net, tax;
};

struct cost {
    struct cost_line *lines;
    size_t n_lines, cap_lines;
    int64_t by_section[SECTION_COUNT];
    struct cost_tax taxes[COST_TAXES_MAX]; /* by code */
    size_t n_taxes;
    /* total: the bill of the plan. low, expected and high: 10th, 50th and 90th percentile of the plan reckoned anew
     * over what is uncertain, low and high no nearer than the bill. */
    int64_t net, tax, total, low, expected, high;
    int64_t deposit; /* cash needed besides */
};

/* The same machines paid another way, net. */
enum { RESERVE_WAYS_MAX = 4, RESERVE_CARDS_MAX = 3 };
struct reserve_way {
    const char *code;
    int64_t total;
};

/* The same load on another card: "cheapest" (what the plan takes), "smallest" that holds it, "fastest". */
struct reserve_card {
    const char *role;
    const struct sku *sku;
    int gpus, gpus_per_replica, replicas, replicas_per_gpu;
    double utilisation, ttft_ms, tpot_ms;
    int64_t total; /* net, months and calendar of the reserve */
};

/* Requests that nobody waits for: how many, and the idle hours of the job's machines that take them. */
enum { RESERVE_WINDOWS_MAX = 8 };
struct reserve_window {
    const struct sku *sku;
    date_t start_on, end_on;
    double hours_per_day, hours, requests; /* hours: of single machines (nodes, or cards where `cards`) */
    bool cards;
    int machines, gpus;
};
struct reserve_waiting {
    double requests;                                    /* 0 = none */
    double requests_idle, hours_idle, requests_service; /* in idle hours of the job, in those of the service */
    int replicas;
    double hours; /* of each replica that is rented for the rest */
    int64_t saved;
    struct reserve_window windows[RESERVE_WINDOWS_MAX];
    size_t n_windows;
};

/* The part of the peak that a hybrid serves at the far end of its line. */
struct reserve_away {
    const struct sku *sku; /* NULL = none */
    int gpus, replicas;
    double hours_per_day, share_of_peak;
};

struct reserve {
    const char *basis; /* "sized", "default", "none" */
    const struct sku *sku;
    const struct gpu *gpu;
    int gpus, replicas;              /* wherever they work */
    int base_gpus, replicas_per_gpu; /* base_gpus run all day, the rest in the hours of the peak */
    struct reserve_away burst;
    double peak_hours; /* a day */
    struct reserve_way ways[RESERVE_WAYS_MAX];
    struct reserve_card cards[RESERVE_CARDS_MAX];
    size_t n_ways, n_cards;
    double months, utilisation;
    struct reserve_waiting waiting;
    int64_t monthly, total, low, high;
    struct estimate estimate; /* one replica */
    bool has_estimate;
    struct note_list notes;
};

/* One member of the request and what it becomes: JSON Pointer below the request, and a value of one kind. */
enum change_kind { CHANGE_NULL, CHANGE_NUMBER, CHANGE_TEXT, CHANGE_BOOL, CHANGE_DATE, CHANGE_MONEY, CHANGE_LIST };
struct change {
    const char *input;
    enum change_kind kind;
    double number; /* CHANGE_BOOL: 0 or 1 */
    const char *text;
    date_t date;
    int64_t minor;     /* in plan currency */
    const char **list; /* CHANGE_LIST: of texts */
    size_t n_list;
};
enum { CHANGES_MAX = 5 };

struct relaxation {
    const char *code; /* "qlora", "later_deadline", "desensitise", ... */
    struct note text;
    struct change changes[CHANGES_MAX]; /* made to the request, a plan finds this total and date for the kind */
    size_t n_changes;
    bool exact; /* the plan of it was searched as widely as this one; otherwise it may find better */
    bool priced;
    int64_t total; /* new total cost to finish */
    date_t finish_on;
};

struct relaxation_list {
    struct relaxation *items;
    size_t n, cap;
};

struct scores {
    double cost, time, risk, overall;
};

/* Text; NULL = not given. deepspeed_config is JSON, kubernetes YAML, the rest shell. */
struct launch {
    const char *torchrun, *deepspeed_config, *slurm, *kubernetes, *serve;
};

/* What to check before signing, or to ask (command NULL). text: a note of its own ("check_..." or "ask_..."). */
struct checklist_item {
    const char *code, *command;
    struct note text;
};

struct option {
    char label[4]; /* "A", ... "Z", "AA" */
    int rank;
    enum option_kind kind;
    bool feasible;
    struct note title;
    struct supply supply[8];
    size_t n_supply;
    struct estimate estimate; /* training machine (or serving machine where there is no training) */
    struct phase phases[8];
    size_t n_phases;
    struct finish finish;
    struct cost cost;
    struct reserve reserve;
    struct scores scores;
    bool on_pareto_front;
    double probability_cheapest;
    struct note_list reasons, warnings;
    struct relaxation_list relaxations;
    struct launch launch;
    const struct checklist_item *checklist;
    size_t n_checklist;
    double monthly_beats_hourly_after_hours; /* NAN where a price is missing */
    double annual_beats_monthly_after_months;
};

struct infeasible_kind {
    enum option_kind kind;
    struct note_list reasons;
    struct relaxation_list relaxations;
};

struct own_hardware {
    bool known; /* a purchase price exists for the recommended machine */
    const struct purchase_price *purchase;
    int servers;
    int64_t three_year_cost, equivalent_rental;
    double ratio, break_even_utilisation, utilisation;
    struct note_list notes;
};

struct attribution_part {
    const char *category;
    int64_t minor;
    double share;
};
struct attribution {
    const char *from, *to; /* labels */
    int64_t minor;
    struct attribution_part parts[12];
    size_t n_parts;
};

/* input: JSON Pointer of the workload member (an assumption is one); "/skus/ID/price" and "/networks/ID/price" (all
 * tariffs alike); or "/gpus/ID/tokens_per_s", a speed that is reckoned and not measured. Within 25 % of what it is now.
 * confirmed: planning again just before and just beyond it recommends differently; otherwise it is read from lines, or
 * lies somewhere between two plans. */
struct sensitivity {
    const char *input;
    double turning_point;
    bool confirmed;
    char recommended_then[4]; /* "": none of these options, or nothing feasible */
    struct note title_then;   /* code NULL: nothing is feasible then */
    const char *unit;
    double now;
};

struct budget_share {
    const char *code;
    int64_t minor;
};

struct plan {
    int64_t catalog_revision;
    date_t as_of;
    char currency[4];
    const char *recommended; /* label; NULL when nothing is feasible */
    struct note recommendation;
    struct note_list cluster_triggers, counter_signs, staged_advice, warnings;
    bool has_diagnosis;
    struct note diagnosis; /* verdict from the measured block, and what it would save */
    struct option *options;
    size_t n_options;
    struct infeasible_kind infeasible[KIND_COUNT];
    size_t n_infeasible;
    struct own_hardware own;
    double monthly_beats_hourly_after_hours, annual_beats_monthly_after_months, cluster_beats_single_at_tokens;
    struct attribution *attributions;
    size_t n_attributions;
    struct sensitivity *sensitivities;
    size_t n_sensitivities;
    const char **unsettled; /* inputs that were not planned up to 25 % on one side or both */
    size_t n_unsettled;
    struct budget_share *budget_shares;
    size_t n_budget_shares;
    struct {
        double cost, time, risk;
    } weights; /* of this priority */
    struct plan_assumption {
        const char *name;
        double value;
        const char *source;
        const char *unit;
    } * assumptions;
    size_t n_assumptions, cap_assumptions;
    struct note_list assumed; /* defaults taken that are no plain number (model shape, default reserve, ...) */
};

struct plan_request {
    const struct catalog *catalog;
    const struct workload *workload; /* decoded, checked, model completed */
    date_t as_of;
};

#endif
