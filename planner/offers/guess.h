/* guess.h — which cards are worth asking physics about: a rough cost and time of the job on each, from peak rates and
 * the market's lower bounds. Only the order of the search comes from here, never a figure of an answer. */
#ifndef SUANPAN_PLANNER_OFFERS_GUESS_H
#define SUANPAN_PLANNER_OFFERS_GUESS_H

#include "planner/drafting/build.h"

struct guess {
    const struct gpu *gpu;
    double cost, hours; /* rough: of the whole job on the best number of cards of one node / of all cards of it */
    double weight;      /* cost and days to the end of the job as the priority weighs them */
    int min_cards;      /* fewest cards whose memory might hold the job's state, sharded, without offload */
};

/* The cards most worth trying, best first by the weights of the priority, and by cost and time alone in turn; at most
 * `max`. `nodes`: machines used. */
size_t guess_gpus(struct build *b, int nodes, struct guess *ret, size_t max);

/* Rough hours of all runs on so many cards of one model; INFINITY where it computes nothing. */
double guess_hours(const struct build *b, const struct gpu *gpu, int cards);

/* True where a card already found useful is so much cheaper and sooner by these guesses that this one can be skipped.
 */
bool guess_dominated(const struct guess *g, const struct guess *useful, size_t n);

/* True where cards and host memory together are less than the state: no layout can help, physics need not be asked. */
bool guess_hopeless(const struct build *b, const struct shape *shape);

#endif
