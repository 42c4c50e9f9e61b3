/* changes.h — the single changes of a request that may make a kind of supply work: which rule each answers, how it is
 * made, and as which members of the request a customer would make it. */
#ifndef SUANPAN_PLANNER_ADVICE_CHANGES_H
#define SUANPAN_PLANNER_ADVICE_CHANGES_H

#include "planner/drafting/build.h"

/* What a refusal or a missed limit asks for. */
enum {
    NEED_MEMORY = 1 << 0,
    NEED_DATA = 1 << 1,
    NEED_SUPPLY = 1 << 2,
    NEED_TEAM = 1 << 3,
    NEED_RUNS = 1 << 4,
    NEED_TIME = 1 << 5,
    NEED_MONEY = 1 << 6,
    NEED_LOAD = 1 << 7, /* the service finds no machines */
    NEED_BURST = 1 << 8,
    NEED_HOST = 1 << 9,    /* an offload is larger than the host */
    NEED_NODES = 1 << 11,  /* more machines than the request allows */
    NEED_SMALLER = 1 << 10 /* the service is larger than one machine */
};

/* Of all the reasons that have a rule here. What stops other machines is left out where options of the kind are there
 * and miss nothing but a limit. */
unsigned changes_needs(const struct note_list *reasons);

/* One change being made: the workload (a copy of the request's) and its record. */
struct changing {
    const struct build *b;
    const struct note_list *reasons; /* of the kind that it is for; NULL = none */
    struct workload *w;
    struct change changes[CHANGES_MAX];
    size_t n;
    double figure; /* what the words name: sequence length, GB of host memory, ... */
    bool failed;   /* no memory */
};

struct attempt {
    const char *code, *text; /* of the relaxation, and of its words */
    unsigned helps;
    unsigned kinds;                    /* that it can touch, as a mask of 1 << enum option_kind */
    bool of_kind;                      /* the change depends on what stops the kind that it is for */
    bool fp8;                          /* it changes something on cards with 8-bit products only */
    bool (*apply)(struct changing *c); /* false where there is nothing to change */
};

/* Nearest first: what changes the least of the request. */
extern const struct attempt changes_attempts[];
extern const size_t changes_n_attempts;

/* Allows one card more than those that the request lists. */
void changes_add_gpu(struct changing *c, const struct gpu *gpu);

void changes_set_deadline(struct changing *c, date_t deadline);
void changes_set_budget(struct changing *c, int64_t minor); /* plan currency */

#endif
