/* serving.h — the one door of this room: inference memory, speed at an operating point, and sizing of a load. */
#ifndef SUANPAN_PLANNER_SERVING_SERVING_H
#define SUANPAN_PLANNER_SERVING_SERVING_H

#include "base/err.h"
#include "planner/core/estimate.h"
#include "planner/core/params.h"

struct serving_constants;

int serving_constants_bind(const struct param_table *params, struct serving_constants *ret, struct err *err);
size_t serving_constants_size(void);

struct serving_request {
    const struct model *model; /* completed; serving.model where the load has its own */
    const struct serving *serving;
    const struct shape *shape;
    const struct layout *layout;      /* tp, pp, ep, dp; unstated: best found on the shape */
    const struct operating_point *at; /* NULL or !stated: a saturated replica at the load's lengths */
    bool want_trace;
};

/* One replica on the shape. As training_estimate for errors and ownership. */
int serving_estimate(const struct serving_constants *k, const struct serving_request *q, struct arena *arena,
                     struct estimate *ret, struct err *err);

/* A load sized on machines of one GPU. */
/* So much more a card has a larger replica to carry to be chosen over a smaller one, for fleets of it come in coarser
 * steps. */
#define SERVING_CLEARLY_BETTER 1.02

struct serving_sizing_request {
    const struct model *model;
    const struct serving *serving; /* load, lengths, targets, peak factor, spare */
    const struct gpu *gpu;
    enum intra_link intra;
    int gpus_per_node;          /* a replica never leaves its node */
    double load_low, load_high; /* band of the load around expected, e.g. 0.7 and 1.4 */
    double utilisation_target;  /* rho, e.g. 0.65 */
    bool machines_alone;        /* how many are asked, not how one works at peak: no ttft, tpot, at_peak */
};

struct serving_sizing {
    bool feasible;
    struct note why_not;   /* when !feasible: memory, ttft, tpot... */
    int replicas_measured; /* layouts of one that fit the machine: what the sizing cost */
    struct layout layout;  /* of one replica */
    int gpus_per_replica;
    int replicas_per_gpu;                         /* > 1: several small replicas share one card */
    int replicas, replicas_low, replicas_high;    /* spare included */
    int gpus, gpus_low, gpus_high;                /* whole cards */
    int gpus_mean, gpus_mean_low, gpus_mean_high; /* the same outside the peak, at the mean load */
    double utilisation;                           /* expected share of capacity used at the mean load */
    double peak_requests_per_s, mean_requests_per_s;
    double servers, offered, service_s; /* of the queue at peak: what erlang_wait takes */
    double ttft_ms, tpot_ms;
    struct estimate at_peak; /* one replica at its operating point */
};

int serving_size(const struct serving_constants *k, const struct serving_sizing_request *q, struct arena *arena,
                 struct serving_sizing *ret, struct err *err);

/* What one replica of each layout carries on a machine. It does not depend on how much there is to carry: who asks for
 * the same machine, model, lengths and targets under another load hands it back. In the arena of whoever asked first.
 */
struct serving_kept;

/* The same. kept NULL: nothing is kept; *kept NULL: it is made where it can be. */
int serving_size_keeping(const struct serving_constants *k, const struct serving_sizing_request *q, struct arena *arena,
                         struct serving_kept **kept, struct serving_sizing *ret, struct err *err);

/* Bits that a parameter takes at least in the width or format that the load states: what a bound of its weights may be
 * made of. `open` where it states neither: what is served then depends on the card. */
double serving_least_bits(const struct serving_constants *k, const struct serving *s, const struct model *m,
                          double open);

/* Forward-only work over a corpus (method embedding): tokens/s of one GPU of the shape; memory as serving. */
int embedding_estimate(const struct serving_constants *k, const struct model *model, const struct training *work,
                       const struct shape *shape, struct arena *arena, struct estimate *ret, struct err *err);

#endif
