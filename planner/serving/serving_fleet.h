/* serving_fleet.h — which layout of a replica carries a load, and with how many cards. Internal to planner/serving.
 *
 * Two promises hold exactly: more requests never mean fewer replicas or cards, a stricter time per token never means
 * fewer cards. docs/planner-serving.md, "Sizing", says how.
 */
#ifndef SUANPAN_PLANNER_SERVING_SERVING_FLEET_H
#define SUANPAN_PLANNER_SERVING_SERVING_FLEET_H

#include "planner/serving/serving_point.h"

enum { CURVE_MAX = 32 };

struct demand {
    double rate;      /* mean requests/s; 0 where the load is stated as concurrency */
    double in_flight; /* concurrency at peak */
    double peak_factor;
    double input, output;
    double ttft, tpot;         /* s; limits on the requests in flight */
    bool ttft_hard, tpot_hard; /* stated by the customer: a miss is infeasible */
    double rho;
    double hold; /* sequences that one replica must hold */
    int spare;
};

/* One replica with `batch` requests in flight. */
struct stand {
    double batch, tpot, rate, end_to_end;
};

struct capacity { /* one replica of one layout */
    struct layout layout;
    int cards;
    bool starved; /* holds the stated requests, but fewer than a replica should */
    struct replica r;
    struct replica_room full;      /* the most requests in flight that memory admits */
    struct step_time alone;        /* of one prompt by itself */
    struct stand curve[CURVE_MAX]; /* from one request up to the last that keeps the first-token target; rising */
    int n;
};

struct fleet {
    double replicas; /* working */
};

struct choice {
    const struct capacity *c; /* NULL: no layout keeps the targets */
    struct stand at;          /* of one replica, the most within the targets */
    struct fleet fleet;       /* at peak */
    int copies;               /* of the replica on one card */
    int replicas, cards;      /* spare included */
};

struct load_speed capacity_speed(const struct capacity *c, const struct demand *d, double batch);
/* Measures c->alone and c->curve; c->full is there. */
void capacity_measure(struct capacity *c, const struct demand *d);

/* Requests/s at peak on this replica, where the load is `load` times what is expected. */
double fleet_rate(const struct demand *d, const struct stand *at, double load);
/* Replicas for a peak rate: utilisation first, then the queue must leave the first token in time. */
struct fleet fleet_for(const struct serving_constants *k, const struct demand *d, const struct stand *at, double rate);
/* Copies that one card carries: memory for each, and all of them together within the card's utilisation. */
int fleet_copies(const struct serving_constants *k, const struct demand *d, const struct capacity *c,
                 const struct stand *at, const struct fleet *f, double rate);
int fleet_cards(const struct capacity *c, double replicas, int copies);

/* Which layout is the fleet's, from the loosest time per token to the target: it does not hang on how much there is to
 * carry. by_rate: of a load that is stated in requests/s. */
enum { FLEET_TURNS_MAX = 64 };
struct fleet_ladder {
    bool by_rate, none; /* none: no layout keeps the targets */
    int n;
    struct fleet_turn {
        int layout;
        double tpot;     /* the strictest rung that it has before another does; the last one's: the target itself */
        struct stand at; /* of it there */
    } turns[FLEET_TURNS_MAX + 1];
};

/* c: layouts that fit, by rising cards. */
void fleet_ladder_of(const struct demand *d, const struct capacity *c, int n, struct fleet_ladder *ret);
struct choice fleet_choose(const struct serving_constants *k, const struct demand *d, const struct capacity *c,
                           const struct fleet_ladder *l);

#endif
