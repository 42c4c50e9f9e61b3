/* reserve_cards.h — the same service on the smallest card that holds it and on the fastest, beside the cheapest. */
#ifndef SUANPAN_PLANNER_RESERVE_RESERVE_CARDS_H
#define SUANPAN_PLANNER_RESERVE_RESERVE_CARDS_H

#include "planner/reserve/reserve_try.h"

/* Fills r->cards; r has its machine already. */
int reserve_cards(struct build *b, struct reserve_plan *r, struct reserve_hours h, struct err *err);

#endif
