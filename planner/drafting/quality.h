/* quality.h — what a supplier's quality costs: faults, repairs, set-up and support as hours of the machine.
 *
 * Tiers and their figures are assumptions ("tier_<tier>_..."); a tier without rows costs nothing extra. Training's own
 * estimate already counts faults at the reference rate with a quick restart; here is only what a tier adds to it.
 */
#ifndef SUANPAN_PLANNER_DRAFTING_QUALITY_H
#define SUANPAN_PLANNER_DRAFTING_QUALITY_H

#include "planner/drafting/build.h"

/* Figures of the provider's tier, looked up once a plan. Never NULL. */
const struct quality *quality_of(struct build *b, const struct provider *p);

/* Share added to the hours of a run on so many cards: more faults than the reference, and each until it is repaired. */
double quality_lost_share(const struct quality *q, int cards);

/* Lengthens the draft's train and develop steps on the machines of `group` and says why. */
void quality_apply(struct build *b, struct draft *d, int group);

#endif
