/* candidate.h — one machine shape at one supplier, reckoned to the end of the job but not yet put into words.
 *
 * Builders try many candidates and keep few: the best for the request's priority, the cheapest, the soonest, and one
 * on another card, so that old card against new card can be compared.
 */
#ifndef SUANPAN_PLANNER_OFFERS_CANDIDATE_H
#define SUANPAN_PLANNER_OFFERS_CANDIDATE_H

#include "planner/drafting/build.h"

enum { CANDIDATES_MAX = 192 };

struct candidate {
    const struct offer *offer;
    const struct network *network;
    bool by_card;
    int cards, nodes, lanes; /* cards of one node; nodes in all; runs side by side */
    int home_cards;          /* validate and develop on so many cards paid by the card; 0 = on one unit */
    const struct estimate *estimate, *one_node;
    /* clusters: the step from the next smaller size and the one to the next larger, as the work done against the
     * smaller of the two; 0 nodes = none */
    int from_nodes, to_nodes;
    double from_gain, to_gain;
    int64_t total;
    double finish_days;
    bool in_time, in_budget;
};

struct candidate_list {
    struct candidate *items; /* CANDIDATES_MAX */
    size_t n;
};

int candidate_list_init(struct build *b, struct candidate_list *l);

/* Weights of cost, time and risk for the request's priority. */
void candidate_weights(const struct build *b, double *ret_cost, double *ret_time, double *ret_risk);

/* Builds the candidate's draft in `scratch` (zeroed before its first use) and reckons it; false when it cannot be had
 * (beyond the horizon, no cover). Fills total, finish_days, in_time, in_budget. */
bool candidate_reckon(struct build *b, enum option_kind kind, struct candidate *c, struct draft *scratch);

/* Fills in_time and in_budget of one whose total and finish_days are known. */
void candidate_limit(const struct build *b, struct candidate *c);

/* Is x better than y by the weights of the request's priority, cost and time measured against the better of the two? */
bool candidate_better(const struct build *b, const struct candidate *x, const struct candidate *y);

/* Adds the candidate where there is room. */
void candidate_add(struct candidate_list *l, const struct candidate *c);

/* Numbers of the best few, best first; at most `max`. */
size_t candidate_choose(const struct build *b, const struct candidate_list *l, size_t *ret, size_t max);

/* The draft of one candidate in place; -1 when it has more parts than a draft holds. */
int candidate_draft(struct build *b, enum option_kind kind, const struct candidate *c, struct draft *d);

/* No more of a candidate than a contest takes to see who may lead; completed for whoever does. It keeps `c`. NULL: no
 * memory; -1: it cannot be reckoned again. */
struct draft *candidate_sketch(struct build *b, enum option_kind kind, const struct candidate *c);
int candidate_complete(struct build *b, struct draft *d);

/* What a kept candidate has to say for itself: memory, lanes, card, home. */
void candidate_reasons(struct build *b, const struct candidate *c, struct draft *d);

/* Hours of moving the data set in over the customer's line, before anything can run. */
double candidate_staging_hours(const struct build *b);

/* Most nodes a team of this kind can run by itself. */
double candidate_team_nodes(const struct assume *a, enum team team);

/* Most nodes the request and its team allow; *ret_by_team: the team is what caps it. */
int candidate_max_nodes(const struct build *b, bool *ret_by_team);

#endif
