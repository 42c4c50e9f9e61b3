/* batch.h — requests that nobody waits for (serving.batch_share): how many, how fast a machine works them off, and the
 * hours of the job's own machines that are paid for and idle.
 *
 * They are a stock that is known from the start: documents to summarise, a corpus to label. So they need no machines
 * for a peak, run on full machines one hour after another, and may run before the service opens wherever a machine of
 * the job stands idle inside a term - at night while the job is debugged, and after its end. A trained model is served
 * only once it is there; a model of its own (serving.model) at once.
 */
#ifndef SUANPAN_PLANNER_RESERVE_BATCH_H
#define SUANPAN_PLANNER_RESERVE_BATCH_H

#include "planner/drafting/build.h"

/* Requests/s of the whole load on average; 0 where it is stated as concurrency. */
double batch_mean_rate(const struct build *b, const struct serving *load);

/* What can wait, over the reserve's months. */
double batch_requests(const struct build *b, const struct reserve_plan *r);

/* The rest of the load: what somebody waits for. */
struct serving batch_online(const struct serving *load);

/* One replica on cards of this machine, the layout that works off most a card: ret->cards, ret->per_hour (at
 * batch_utilisation) and its estimate. 1: the model fits no layout of at most `cards` cards (then *ret_estimate says
 * what lacks), or the card cannot serve it. */
int batch_rate(struct build *b, const struct serving *load, const struct sku *sku, int cards, struct reserve_batch *ret,
               struct estimate *ret_estimate, struct err *err);

/* Requests over the months that `cards` cards of the service, sized for what somebody waits for, take besides; mean:
 * what they carry outside the peak, requests/s. */
double batch_in_service(const struct build *b, const struct reserve_plan *r, const struct serving_sizing *z,
                        double mean, int cards);

/* Machines and hours for so many requests in at most `days` days; ret has its rate already. */
void batch_spread(const struct offer *o, bool by_card, double requests, size_t days, struct reserve_batch *ret);

/* The bill of a reserve whose machines are chosen, and its sums at both ends of the band of its load: for what the idle
 * hours of other machines leave. -1: an amount out of range, or too many lines. */
int batch_bill(const struct build *b, struct reserve_plan *r);

/* As build_keep, of a draft with a reserve of its own in which what can wait runs in the idle hours of its machines. -1
 * with *err filled: ERR_NOMEM, or ERR_RANGE where the rest of the bill leaves the range of amounts. */
int batch_keep(struct build *b, struct option_list *l, struct draft *d, struct err *err);

/* As an option shows it. */
void batch_answer(const struct build *b, const struct reserve_batch *t, struct reserve_waiting *ret);

#endif
