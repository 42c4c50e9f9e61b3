/* recall.h — what a plan's walk over the cards came to, so that planning again with one input changed by a quarter at
 * most need not walk again.
 *
 * Every candidate that was tried is kept with its figures. In a plan made of this one the promising ones are tried
 * again, by the same code that tried them first; a figure that the change does not touch is taken over. Promising are
 * those that lead by score, by cost, by time or among the cards of their class once the figures are moved by what the
 * change costs or saves, about: a walk shows no more than a few.
 */
#ifndef SUANPAN_PLANNER_OFFERS_RECALL_H
#define SUANPAN_PLANNER_OFFERS_RECALL_H

#include "planner/offers/candidate.h"
#include "planner/offers/guess.h"

enum { RECALLED_MAX = 256, RECALLED_CARDS_MAX = 64 };

struct recalled {
    struct candidate tried, found; /* as it was asked for, and what became of it */
    double hours;                  /* of its runs */
    bool had;                      /* it could be had at all */
};

/* The candidates of one card stand together, in the order in which they were tried. */
struct recalled_card {
    struct guess guess;
    size_t first, n;
    int physics; /* estimates that were asked for */
    bool useful; /* something of it could be had */
};

struct recall {
    struct recalled items[RECALLED_MAX];
    struct recalled_card cards[RECALLED_CARDS_MAX];
    size_t n, n_cards;
    int most_nodes; /* of a candidate */
    bool full;      /* not everything found a place: whoever plans again has to walk */
};

/* Remembers that the walk of this kind has come to a card, and what came of it; nothing in a plan made of another. */
void recall_card(struct build *b, enum option_kind kind, const struct guess *g);
void recall_card_done(struct build *b, enum option_kind kind, bool useful);

/* NULL: the walk did not come to this card. */
const struct recalled_card *recall_card_of(const struct recall *r, const struct gpu *gpu);

/* Remembers a candidate that was tried; found NULL: it could not be had. */
void recall_store(struct build *b, enum option_kind kind, const struct candidate *tried, const struct candidate *found);

/* What the plan that this one is made of came to in this kind; NULL: it has to be walked. */
const struct recall *recall_of(const struct build *b, enum option_kind kind);

/* In a plan made of another: true where that one's figures hold for a candidate on this machine. */
bool recall_holds(const struct build *b, const struct sku *sku);

/* In a plan made of another: the kinds whose drafts may differ, as a mask. */
unsigned recall_touched(const struct build *b);

/* A plan made of another by one input that moves a quarter at most. */
bool recall_is_near(const struct build *b);

/* Is what changes a price or a speed of machines at this supplier? */
bool recall_moves_at(const struct build *b, const struct provider *p);

/* Is there more or less to do? */
bool recall_moves_work(const struct build *b);

/* Does the change move what runs take against one another, or the date that they are held to? */
bool recall_moves_runs(const struct build *b);

/* Does the change move what the machines of this card cost against one another? */
bool recall_reprices(const struct build *b, const struct gpu *gpu);

/* Which candidates are to be tried again, by their numbers. */
void recall_promising(const struct build *b, const struct recall *r, bool ret[RECALLED_MAX]);

/* What a plan made of another takes over. ALL: every figure, of every candidate. EXACT: nothing but a price, a card's
 * speed or the deadline is changed, and the reserve is the same. NEAR: one input by a quarter at most. */
enum recall_how { RECALL_NOTHING, RECALL_ALL, RECALL_EXACT, RECALL_NEAR };

/* The plan `to` is made of `from`, whose work is `work` times as much. The reserve of both is in place. */
void recall_inherit(const struct build *from, enum recall_how how, double work, struct build *to);

#endif
