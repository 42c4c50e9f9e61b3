/* fabric.h — how fast groups of ranks of one shape exchange data, and what a collective costs. */
#ifndef SUANPAN_PLANNER_TRAINING_FABRIC_H
#define SUANPAN_PLANNER_TRAINING_FABRIC_H

#include "planner/training/job.h"

struct fabric {
    int domain; /* cards joined by the fast inner link: a node, or a whole NVL72 rack */
    int per_node;
    double inner;         /* B/s one card sends to its neighbours inside the domain */
    double inner_tp;      /* the same as small, synchronous tensor-parallel collectives see it */
    double node;          /* B/s one node sends to others; 0 with one node */
    double domain_out;    /* B/s a whole domain sends out: node, or the nodes of a rack together */
    double host;          /* B/s one card reads from host memory */
    double inner_latency; /* s per hop */
    double outer_latency;
    double leave_share; /* of a step lost to traffic between nodes that hides behind compute; 0 with one node */
    double rank_skew;   /* of a step, waiting for the slowest of a node's cards */
    double spread_loss; /* of the ring rate, a doubling of domains: rails that collide, links of unequal speed */
    bool pairs;         /* the inner link joins two cards only; larger groups go over PCIe */
    double beyond_pair; /* B/s then */
    bool mesh;          /* a link to each of the neighbours and no switch: few ranks use few of them */
    bool assumed;       /* the network between nodes was not stated */
    bool tcp;
};

void fabric_resolve(const struct job *j, struct fabric *ret);

/* A group of n ranks that lie `stride` apart. */
struct group {
    int n;
    int stride;
};

/* B/s one rank of the group sends in a ring, with every other group of the same kind at work at once. */
double fabric_ring(const struct fabric *f, struct group g, bool tensor);
/* Seconds for each byte of one rank's tokens when every token goes to `copies` random ranks of the group. */
double fabric_exchange_seconds(const struct fabric *f, struct group g, double copies);
/* Start-up time of one collective over the group. */
double fabric_latency(const struct fabric *f, struct group g);
/* Seconds to gather (or reduce and scatter) `bytes` in total over the group. */
double fabric_gather(const struct fabric *f, struct group g, double bytes, bool tensor);
/* Neighbouring pipeline stages: B/s of one rank. */
double fabric_point(const struct fabric *f, int stride);

#endif
