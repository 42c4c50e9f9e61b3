/* fabric.c — bandwidths of inner links and networks as training code reaches them, and ring arithmetic. */
#include "planner/training/fabric.h"

#include <math.h>

#define GIGA 1e9
#define REFERENCE_GBPS 200.0 /* a card: 8 x 200G, what node_leave is stated for */
#define LEAVE_MOST 1.75
#define MESH_PEERS 7.0 /* cards each is joined to on a board of eight */

/* Raw one-way rates of a x16 slot. */
static double pcie_raw(enum intra_link link)
{
    return link == INTRA_PCIE3 ? 15.75 * GIGA : link == INTRA_PCIE5 ? 63 * GIGA : 31.5 * GIGA;
}

static double board_rate(const struct job *j, enum intra_link link)
{
    const struct training_constants *k = j->k;
    return GIGA * (link == INTRA_PCIE3 ? k->pcie3_board : link == INTRA_PCIE5 ? k->pcie5_board : k->pcie4_board);
}

static enum intra_link own_pcie(const struct gpu *g)
{
    return g->pcie_gen >= 5 ? INTRA_PCIE5 : g->pcie_gen == 3 ? INTRA_PCIE3 : INTRA_PCIE4;
}

static double pcie_rate(const struct job *j, enum intra_link link)
{
    if (j->gpu->through_host)
        return board_rate(j, link);
    return j->k->pcie_server * pcie_raw(link);
}

static void resolve_inner(const struct job *j, struct fabric *f)
{
    const struct gpu *g = j->gpu;
    enum intra_link link = j->shape.intra;
    double one_way = g->link_gb_s_bidir / 2 * GIGA;
    bool pcie = link == INTRA_PCIE3 || link == INTRA_PCIE4 || link == INTRA_PCIE5;
    f->inner_latency = j->k->collective_latency;
    f->host = j->k->host_link_share * pcie_raw(pcie ? link : own_pcie(g));
    f->pairs = link == INTRA_NVLINK_BRIDGE;
    f->beyond_pair = pcie_rate(j, own_pcie(g));
    if (pcie || one_way <= 0) {
        f->inner = f->inner_tp = pcie_rate(j, pcie ? link : own_pcie(g));
        /* Consumer boards feed their cards from fewer lanes than the slot shows. */
        f->host = smaller(f->host, g->through_host ? 2 * board_rate(j, pcie ? link : own_pcie(g)) : f->host);
        return;
    }
    f->mesh = g->link_mesh && (link == INTRA_XGMI || link == INTRA_HCCS);
    double share = f->mesh ? j->k->mesh_share : j->k->nvlink_share;
    f->inner = one_way * share;
    f->inner_tp = one_way * smaller(share, j->k->nvlink_tp_share);
}

/* A good fabric of the card's time, where the caller named none. */
static double assumed_gbps(const struct job *j)
{
    return j->k->fabric_gbps_per_card[j->gpu->gpu_class] * smaller(8, j->shape.gpus_per_node);
}

static void resolve_outer(const struct job *j, struct fabric *f)
{
    const struct training_constants *k = j->k;
    f->outer_latency = k->node_latency;
    /* Sockets are bound by one stream's copy in every node, however many there are. */
    f->spread_loss = j->shape.inter == INTER_ETHERNET ? 0 : k->spread_loss;
    if (j->shape.nodes < 2)
        return;
    double gbps = j->shape.inter_gbps_per_node;
    f->assumed = j->shape.inter == INTER_NONE || gbps <= 0;
    f->tcp = j->shape.inter == INTER_ETHERNET;
    if (gbps <= 0)
        gbps = f->tcp ? j->k->ethernet_default_gbps : assumed_gbps(j);
    double share = f->tcp ? k->tcp_share : j->shape.inter == INTER_ROCE ? k->rdma_share * k->roce_share : k->rdma_share;
    /* Thinner networks keep the cards' copy engines and memory busy for longer. A network nobody named is a good one.
     */
    double per_card = gbps / smaller(8, j->shape.gpus_per_node);
    f->leave_share =
        k->node_leave * smaller(LEAVE_MOST, REFERENCE_GBPS / per_card) * (f->assumed ? k->leave_assumed : 1);
    f->node = gbps / 8 * GIGA * share * j->network_scale;
    f->domain_out = f->node * f->domain / f->per_node;
    if (f->tcp)
        f->outer_latency *= k->tcp_latency; /* the kernel's network stack against RDMA */
}

void fabric_resolve(const struct job *j, struct fabric *ret)
{
    struct fabric f = {.per_node = j->shape.gpus_per_node, .domain = j->shape.gpus_per_node};
    if (f.domain < j->gpu->rack_cards) /* an NVL72 rack is one NVLink domain of 18 nodes */
        f.domain = j->gpu->rack_cards / f.per_node * f.per_node;
    resolve_inner(j, &f);
    resolve_outer(j, &f);
    f.rank_skew = j->k->rank_skew * doublings(smaller(j->gpus, j->shape.gpus_per_node));
    *ret = f;
}

static int ranks_in_domain(const struct fabric *f, struct group g)
{
    int inside = f->domain / (g.stride > 0 ? g.stride : 1);
    return inside < 1 ? 1 : inside > g.n ? g.n : inside;
}

static bool leaves_domain(const struct fabric *f, struct group g)
{
    return (double)g.n * g.stride > f->domain;
}

static double inner_rate(const struct fabric *f, struct group g, bool tensor)
{
    if (f->pairs && (double)g.n * g.stride > 2)
        return f->beyond_pair;
    double links = f->mesh ? smaller(1, larger(1, ranks_in_domain(f, g) - 1) / MESH_PEERS) : 1;
    return links * (tensor ? f->inner_tp : f->inner);
}

double fabric_ring(const struct fabric *f, struct group g, bool tensor)
{
    double inner = inner_rate(f, g, tensor);
    if (!leaves_domain(f, g) || f->domain_out <= 0)
        return inner;
    /* The ring leaves the domain once; as many rings as there are groups in it share the way out. */
    int inside = ranks_in_domain(f, g);
    double domains = (double)g.n / inside;
    double out = f->domain_out * inside / f->domain / (1 + f->spread_loss * doublings(domains));
    return inside > 1 ? smaller(inner, out) : out;
}

/* Distinct places out of n that k independent choices hit. */
static double distinct(double n, double k)
{
    return n * (1 - pow(1 - 1 / n, k));
}

double fabric_exchange_seconds(const struct fabric *f, struct group g, double copies)
{
    double inner = inner_rate(f, g, false);
    if (!leaves_domain(f, g) || f->domain_out <= 0)
        return smaller(copies, distinct(g.n, copies)) * (g.n - 1) / g.n / inner;
    /* A token travels once to every domain that has one of its experts, and is spread inside. */
    double domains = (double)g.n / ranks_in_domain(f, g);
    double outside = distinct(domains, copies) * (1 - 1 / domains);
    double inside = larger(0, distinct(g.n, copies) - outside);
    return outside / (f->domain_out / f->domain) + inside / inner;
}

double fabric_latency(const struct fabric *f, struct group g)
{
    if (g.n < 2)
        return 0;
    int inside = ranks_in_domain(f, g);
    double latency = f->inner_latency * (inside > 1 ? 1 + 0.25 * doublings(inside) : 0);
    if (leaves_domain(f, g))
        latency += f->outer_latency * doublings((double)g.n / inside + 1);
    return latency;
}

double fabric_gather(const struct fabric *f, struct group g, double bytes, bool tensor)
{
    if (g.n < 2)
        return 0;
    return bytes * (g.n - 1) / g.n / fabric_ring(f, g, tensor) + fabric_latency(f, g);
}

double fabric_point(const struct fabric *f, int stride)
{
    if (stride < f->domain || f->domain_out <= 0)
        return f->pairs && stride > 1 ? f->beyond_pair : f->mesh ? f->inner / MESH_PEERS : f->inner;
    return f->domain_out / f->domain;
}
