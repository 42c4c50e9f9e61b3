/* reserve.h — the inference reserve: the load sized on the cheapest suitable machine and paid for months. */
#ifndef SUANPAN_PLANNER_RESERVE_RESERVE_H
#define SUANPAN_PLANNER_RESERVE_RESERVE_H

#include "planner/drafting/build.h"

/* Fills b->reserve, and b->alternatives where the service is all there is to plan. A load that no machine on offer can
 * carry is an answer (b->reserve.missing, with notes). */
int reserve_build(struct build *b, struct err *err);

/* The same load at one provider, whatever city and suppliers the request names. ret->offer NULL: it carries none. */
int reserve_at(struct build *b, const struct provider *at, struct reserve_plan *ret, struct err *err);

/* The reserve as an option shows it. */
void reserve_answer(const struct build *b, const struct reserve_plan *r, struct reserve *ret);

#endif
