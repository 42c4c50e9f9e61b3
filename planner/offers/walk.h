/* walk.h — the search that single machines and clusters share: cards by how much they promise, the cheapest offers of
 * each, and of all candidates the few worth showing.
 *
 * What a kind tries with an offer, and what it has to say of a candidate that is kept, is its own.
 */
#ifndef SUANPAN_PLANNER_OFFERS_WALK_H
#define SUANPAN_PLANNER_OFFERS_WALK_H

#include "planner/offers/candidate.h"
#include "planner/offers/guess.h"
#include "planner/offers/recall.h"

enum { WALK_GPUS_MAX = 8 };

struct walk {
    struct build *b;
    struct err *err;
    enum option_kind kind;
    struct candidate_list list;
    struct draft scratch; /* for candidate_reckon */
    bool any_offer;       /* something of the kind is on offer at all */
};

struct walk_rules {
    unsigned providers;        /* mask of 1 << enum provider_kind */
    int nodes;                 /* machines that one run takes at least */
    int gpus, gpus_lean;       /* cards worth keeping: at most WALK_GPUS_MAX; in a re-plan */
    int physics, physics_lean; /* shapes asked of physics */
    /* Adds what can be made of an offer to w->list. -1 for errors. */
    int (*try_offer)(struct walk *w, const struct offer *o, const struct guess *g);
    /* Adds a candidate that was added before; by what it costs and takes now, or, `holds`, by what it did. */
    void (*again)(struct walk *w, const struct recalled *e, bool holds);
    void (*after_gpu)(struct walk *w); /* NULL = nothing */
    /* Settles a candidate before it is drafted, then says what is to be said of the draft; NULL = nothing. */
    int (*settle)(struct walk *w, struct candidate *c);
    void (*say)(struct walk *w, const struct candidate *c, struct draft *d);
};

/* Fills w->list; -1 with *w->err filled (ERR_NOMEM, or what build_stops says of physics). */
int walk_cards(struct walk *w, const struct walk_rules *r);

/* The candidates worth showing as finished drafts at the end of *out. -1 with *w->err filled. */
int walk_keep(struct walk *w, const struct walk_rules *r, struct option_list *out);

#endif
