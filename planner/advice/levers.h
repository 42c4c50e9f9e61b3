/* levers.h — the inputs that a turning point is looked for in, and a cheap model of who leads when one of them moves.
 *
 * The model says where to look, nothing more: what is told is held to a re-plan (sensitivity.c). It reckons the ranked
 * options anew with a quarter less and a quarter more work and reads totals and dates between along straight lines;
 * prices, traffic, load and months act on their own lines of the bill.
 */
#ifndef SUANPAN_PLANNER_ADVICE_LEVERS_H
#define SUANPAN_PLANNER_ADVICE_LEVERS_H

#include "planner/advice/replan.h"

enum {
    LEVERS_MAX = 20,
    LEVER_OPTIONS = 8 /* of the ranked ones */
};

enum lever_kind {
    LEVER_WORK,
    LEVER_RUNS,
    LEVER_SPEED,
    LEVER_PRICE,
    LEVER_LOAD,
    LEVER_MONTHS,
    LEVER_EGRESS,
    LEVER_DEADLINE,
    LEVER_BUDGET,
    LEVER_FAULTS,
    LEVER_TOKENS, /* of a request to the service */
    LEVER_SERVICE /* its targets and its peak */
};

struct lever {
    enum lever_kind kind;
    const char *path, *unit; /* as in struct sensitivity */
    double now;
    bool whole;             /* takes whole numbers only */
    bool inverse;           /* LEVER_SPEED: the figure is a time, not a rate */
    const struct gpu *gpu;  /* LEVER_SPEED: of this card alone; NULL = all */
    const char *tier;       /* LEVER_FAULTS: of suppliers; NULL = the card-hours between two, wherever they are */
    struct reprice reprice; /* LEVER_PRICE; its factor is set by the walk */
    size_t member;          /* LEVER_TOKENS: of an int of struct serving; LEVER_SERVICE: of a double */
    bool expensive;         /* a re-plan of it sizes the reserve again */
};

/* How far a lever is walked to each side, as a share of what it is now. */
extern const double LEVER_REACH;

/* The request's own levers, most telling first. Returns how many. */
size_t levers_of(struct build *b, const struct option_list *ranked, struct lever *ret, size_t max);

/* The workload (a copy of the request's) and the question with the lever at `factor` times what it is now. */
void lever_apply(const struct build *b, const struct lever *l, double factor, struct workload *w,
                 struct replan_ask *ask);

struct lever_curve {
    double total[3], finish[3]; /* at 0.75, 1 and 1.25 times the work; NAN beyond the horizon */
    double high_share, late_days, risk;
    bool feasible;
    const struct draft *draft;
};

struct lever_model {
    struct build *b;
    struct lever_curve curves[LEVER_OPTIONS];
    size_t n;
    double weight_cost, weight_time, weight_risk;
    bool has_limits;
};

/* False where there is nothing to compare. */
bool lever_model_make(struct build *b, const struct option_list *ranked, struct lever_model *ret);

/* Who leads: the number of the option, -1 = nobody is feasible. *ret_margin: by how much of the score the first of all
 * (number 0) leads, below 0 where it does not. */
int lever_model_leader(const struct lever_model *m, const struct lever *l, double factor, double *ret_margin);

/* The kinds that can lead there, or that cost and time are measured by; mask of 1 << enum option_kind. */
unsigned lever_model_kinds(const struct lever_model *m, const struct lever *l, double factor);

#endif
