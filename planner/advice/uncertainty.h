/* uncertainty.h — low, expected and high of cost and finish, and how likely each option is the cheapest or in time.
 *
 * Speed, price, load, failures and queues are sampled together on 256 fixed points. Every option is reckoned anew at
 * several speeds (a slower run may flip a tariff) and read between them; prices and load act alike on every tariff.
 */
#ifndef SUANPAN_PLANNER_ADVICE_UNCERTAINTY_H
#define SUANPAN_PLANNER_ADVICE_UNCERTAINTY_H

#include "planner/advice/sobol.h"
#include "planner/drafting/build.h"

struct spread {
    float total[SOBOL_POINTS];  /* minor units */
    float finish[SOBOL_POINTS]; /* days from the start */
};

/* Half widths of the 80 % bands that went in, for the risk index and for what would settle a close call. */
struct bands {
    double speed_low, speed_high; /* multipliers on time */
    double price;                 /* share */
};

struct bands uncertainty_bands(const struct build *b, const struct draft *d);

/* Fills low/high of cost and finish and deadline_probability of every draft's option; returns one spread a draft in
 * *ret_spreads (NULL where there is no draft). */
int uncertainty_run(struct build *b, const struct option_list *l, struct spread **ret_spreads, struct err *err);

/* Fills probability_cheapest of the options that are shown: one of them is at every point. */
void uncertainty_cheapest(const struct option_list *l, const struct spread *spreads);

/* The same for one draft. place: which dimensions are its own; *ret is filled where it was sampled. */
int uncertainty_of(struct build *b, struct draft *d, int place, struct spread *ret, struct err *err);

/* By its kind and its place in it, so that an option is sampled alike whichever other kinds stand beside it. */
int uncertainty_place(const struct option_list *l, size_t j);

/* Share of points at which a costs less than b. */
double uncertainty_cheaper(const struct spread *a, const struct spread *b);

#endif
