/* hybrid_draft.h — one way of using both ends of a line as a draft: so many runs out on so many machines, the service
 * at home or split. */
#ifndef SUANPAN_PLANNER_OFFERS_HYBRID_DRAFT_H
#define SUANPAN_PLANNER_OFFERS_HYBRID_DRAFT_H

#include "base/err.h"
#include "planner/core/params.h"
#include "planner/offers/hybrid_cut.h"
#include "planner/offers/hybrid_side.h"

struct hybrid_terms {
    double desensitise_days, line_efficiency, run_result_gb_per_billion, answer_bytes_per_token;
};

int hybrid_terms_bind(const struct param_table *params, struct hybrid_terms *ret, struct err *err);

/* What the service of an option does. */
enum hybrid_service { HYBRID_WHOLE, HYBRID_SPLIT };

/* A pair of providers, what its line costs, and the machines that do the runs at its ends. */
struct hybrid_pair {
    const struct dedicated_line *line;
    const struct provider *home, *cloud;
    struct line_price line_price;
    struct hybrid_side local, burst;  /* burst.offer NULL: no run goes out */
    const struct reserve_plan *whole; /* the service in one place; NULL = the plan's reserve */
    const struct reserve_plan *split; /* base at home, peaks in the cloud; NULL = they cannot */
    const char *runs_stay, *stays;    /* why the runs, why the peaks stay: static words; NULL: they may go */
    double split_costs_more;          /* than the whole with its line, minor units; negative: less */
    enum hybrid_service service;      /* of drafts of which runs go out; the others split it */
    struct hybrid_terms terms;
};

/* False where the ends are not a local IDC and a public cloud, the data may not stay there, or the line has no price.
 * Leaves machines, service and terms to the caller. */
bool hybrid_pair_of(struct build *b, const struct dedicated_line *line, struct hybrid_pair *ret);

/* What a month of the line costs, minor units with tax. */
double hybrid_line_month(const struct build *b, const struct hybrid_pair *p);

/* Fills `d`, started once, with one cut of the runs. 1: an end does not have so many machines; -1: more parts than a
 * draft holds. */
int hybrid_draft(struct build *b, const struct hybrid_pair *p, const struct hybrid_cut *cut, struct draft *d);

/* The line, by the month from the first day of one phase to the last of another. -1: no room. */
int hybrid_add_line(struct draft *d, const struct hybrid_pair *p, enum phase_code from, enum phase_code to);

/* The far machines of a split service, what their answers bring home over the line, and what is to be said of it; the
 * line is the caller's. -1: no room. */
int hybrid_add_peaks(struct build *b, struct draft *d, const struct hybrid_pair *p, const struct reserve_plan *split);

/* Minor units with tax that the answers of a split service cost to bring home; 0 where nobody charges. */
double hybrid_answers_cost(struct build *b, const struct hybrid_pair *p, const struct reserve_plan *split);

/* Hours that `gb` take over a line of `gbps` at this efficiency. */
double hybrid_staging_hours(double gb, double gbps, double efficiency);

#endif
