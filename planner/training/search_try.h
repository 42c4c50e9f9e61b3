/* search_try.h — the inside of the layout search, between what walks (search.c) and what tries (search_try.c). */
#ifndef SUANPAN_PLANNER_TRAINING_SEARCH_TRY_H
#define SUANPAN_PLANNER_TRAINING_SEARCH_TRY_H

#include "planner/training/search.h"

/* What the interleavings of one cut share: states by sharding, and the kernels of each micro-batch (by its power of
 * two), which are others only where weights are sharded. */
enum { MICRO_BATCHES = 9, SHARDINGS = SHARD_ZERO3 + 1 };
struct kernels {
    struct compute compute[MICRO_BATCHES];
    double recomputed[MICRO_BATCHES]; /* share that `compute` is of; negative: none */
};
struct shared {
    struct memory_held held[SHARDINGS];
    bool is_held[SHARDINGS];
    bool overflows[SHARDINGS]; /* one chunk a stage and the smallest micro-batch are more than the card holds */
    struct kernels whole, sharded;
};

/* Degrees of expert parallelism whose ideal steps are kept side by side, by their powers of two. */
enum { IDEALS = 7 };

/* Where a search stands. */
struct walk {
    const struct job *j;
    const struct fabric *f;
    const struct layout *w;
    struct found *found;
    double usable, whole; /* bytes a layout may take, and those of the whole card */
    bool best_only;       /* nobody asks for the second */
    enum offload offload;
    bool free_members; /* members the caller left open are searched, not left at one */
    bool replicas;     /* nothing is cut but states: tensor, context and pipeline degrees stay at one */
    bool cross_nodes;  /* tensor groups that leave the domain: those within were tried */
    bool pipelines;    /* also for models smaller than those that usually have them */
    bool piped_only;   /* what has no pipeline was tried */
    bool walked;       /* these members on the whole card, in vain */
    struct shared shared;
    struct step_ideal ideal[STACK_PARALLEL + 1][IDEALS];
    double least; /* bytes of what was smallest of all with the whole forward pass done again; 0 = nobody asks */
};

/* A cut whose layout so far was not walked before: nothing is shared with what was. */
void search_share_anew(struct walk *w);
/* The states of the cut's sharding are known to be too much, or its first chunk: more chunks keep more. */
bool search_hopeless(const struct walk *w, const struct cut *c);
/* Memory and, where it fits, time. `micro`: the micro-batch as a power of two, -1 = any other number. False: neither
 * this nor a larger micro-batch would be kept. */
bool search_try(struct walk *w, const struct cut *c, int micro, struct candidate *ret);
/* Kept if it is the best so far or the best that cuts the job differently. */
void search_keep(struct walk *w, const struct candidate *c);

#endif
