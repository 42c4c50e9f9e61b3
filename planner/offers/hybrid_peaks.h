/* hybrid_peaks.h — a service over both ends of a line: machines at home carry the mean around the clock and as much of
 * the peak as is worth it, machines in the public cloud what is left of the peak, in its hours.
 *
 * Where the peak is cut is the cheapest of all numbers of machines at home, from those that the mean load takes up to
 * one less than the whole peak would. What can wait (serving.batch_share) has no peak and stays at home.
 */
#ifndef SUANPAN_PLANNER_OFFERS_HYBRID_PEAKS_H
#define SUANPAN_PLANNER_OFFERS_HYBRID_PEAKS_H

#include "planner/drafting/build.h"

/* Why no peak of this service may or can go out, whoever stands at the ends: a static word. NULL: it may. */
const char *hybrid_peaks_stay(const struct build *b);

/* May both of a line's ends run this service? */
bool hybrid_peaks_ends(const struct build *b, const struct provider *home, const struct provider *cloud);

/* Fewest machines beyond what their supplier lists, of splits that were left out for it. */
struct hybrid_excess {
    const struct offer *offer;
    int machines, over;
};

/* The machines of every provider are measured once, whichever lines end there. In the build's arena; NULL: no memory.
 */
struct hybrid_peaks *hybrid_peaks_open(struct build *b, struct err *err);

/* The cheapest split between machines of two providers, without the line between them, as a reserve of its own; of a
 * service alone its validation on the home's machines counts too. at_most: net and tax, minor units, what costs as
 * much is not looked for; INFINITY: whatever it costs.
 * ret->offer NULL: there is none; *ret_why is set to a static word where more is known of it than that the ends have no
 * machines. -1 with the error filled that was given when it was opened. */
int hybrid_peaks_split(struct hybrid_peaks *all, const struct provider *home, const struct provider *cloud,
                       double at_most, struct reserve_plan *ret, const char **ret_why);

/* What was left out so far; NULL: nothing. */
const struct hybrid_excess *hybrid_peaks_excess(const struct hybrid_peaks *s);

/* The load of one end: `share` of the mean, all day (peak factor 1). */
struct serving hybrid_peaks_load(const struct serving *online, double share, bool spare);

#endif
