/* costing.h — an option reckoned to its whole cost: machines, extras, the reserve, contingency. */
#ifndef SUANPAN_PLANNER_COSTING_COSTING_H
#define SUANPAN_PLANNER_COSTING_COSTING_H

#include "planner/costing/bill.h"
#include "planner/costing/draft.h"

struct cover;

/* Of the room that whoever reckons many drafts lends to his day. */
size_t costing_room_size(void);
struct cover *costing_room_cover(struct costing_room *room); /* NULL: no room */

/* Every line of the draft on this calendar, the reserve's included. -1 when a machine cannot be paid for at all (no
 * rate covers its days) or an amount overflows. ret_shares: the same lines divided over the steps, or NULL. */
int costing_bill(const struct trade_day *day, const struct draft *d, const struct schedule *s,
                 struct shares *ret_shares, struct bill *ret);

/* The draft's calendar and its whole cost. -1: longer than the horizon, or as costing_bill. */
int costing_reckon(const struct trade_day *day, const struct draft *d, const struct what_if *w, struct reckoning *ret);

#endif
