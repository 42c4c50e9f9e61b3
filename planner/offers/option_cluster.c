/* option_cluster.c — `small_cluster`: equal nodes with a fabric; grown only while a step pays.
 *
 * The traps of the trade are refusals with their rule's name: two nodes that are not 1.5 times one (two_node_gate), a
 * fabric that the step waits for (fabric_bound), a team that has never run one (team_ceiling).
 */
#include <math.h>
#include <string.h>

#include "planner/offers/kinds.h"
#include "planner/offers/option_serving.h"
#include "planner/offers/walk.h"

enum { TRAPS_NAMED = 2 };

#define CLUSTER_PROVIDERS                                                                                              \
    (1u << PROVIDER_LOCAL_IDC | 1u << PROVIDER_PUBLIC_CLOUD | 1u << PROVIDER_HPC_CENTRE | 1u << PROVIDER_MARKETPLACE)

struct cluster_search {
    struct walk w; /* first: the walk hands itself back */
    int max_nodes;
    int best_nodes; /* of the best candidate so far; 0 = none: other cards are tried around it */
};

static double rate_of(const struct estimate *e)
{
    return e->training.wall_hours > 0 ? 1 / e->training.wall_hours : 0;
}

static const struct estimate *physics(struct cluster_search *s, const struct offer *o, int nodes, bool *ret_failed)
{
    struct shape shape = build_shape(s->w.b, o->sku, o->sku->gpus_per_node, nodes, NULL);
    *ret_failed = false;
    if (nodes == 1 && guess_hopeless(s->w.b, &shape))
        return NULL;
    const struct estimate *e = build_physics(s->w.b, &shape, s->w.err);
    *ret_failed = e == NULL && build_stops(s->w.err);
    return e;
}

static void refuse_memory(struct cluster_search *s, const struct offer *o, int nodes, const struct estimate *e)
{
    const struct shape node = {.host_memory_gb = fmax(o->sku->host_memory_gb, s->w.b->a.host_memory_least_gb)};
    build_refuse_host(s->w.b, KIND_SMALL_CLUSTER, o->sku, &node, e);
    const int cards = nodes * o->sku->gpus_per_node;
    const double gap = (e->memory.total_gb - e->memory.usable_gb) * cards;
    if (gap > 0)
        build_refuse_memory(s->w.b, KIND_SMALL_CLUSTER, o->sku->gpu, cards, e, gap);
}

/* A trap by its name and machine; of one machine's the nearest to passing, of all machines the first few. NULL: this
 * one adds nothing. */
static struct note *trap(struct cluster_search *s, const char *code, const struct offer *o, double short_by)
{
    struct note_list *l = &s->w.b->refusals[KIND_SMALL_CLUSTER];
    int same = 0;
    for (size_t i = 0; i < l->n; i++) {
        struct note *n = &l->items[i];
        if (strcmp(n->code, code) != 0)
            continue;
        if (n->n_args > 0 && n->args[0].text == o->sku->id) {
            if (n->short_by <= short_by)
                return NULL;
            n->short_by = short_by;
            return n;
        }
        same++;
    }
    if (same >= TRAPS_NAMED)
        return NULL;
    struct note *n = note_text(note_add(l, code), "machine", o->sku->id);
    n->short_by = short_by;
    return n;
}

/* The machine alone does not tell two of a supplier's clusters apart: the network does. */
static void say_network(struct note *n, const struct sku *sku)
{
    note_text(n, "network", sku->network != NULL ? sku->network->id : "network_not_stated");
}

/* True where this fabric makes the nodes wait for each other more than they compute. */
static bool fabric_bound(struct cluster_search *s, const struct offer *o, int nodes, const struct estimate *e)
{
    const struct assume *a = &s->w.b->a;
    const struct network *net = o->sku->network;
    if (e->training.communication_share <= a->fabric_bound_share || (net != NULL && net->rdma))
        return false;
    struct note *n = trap(s, "fabric_bound", o, e->training.communication_share - a->fabric_bound_share);
    if (n != NULL)
        say_network(note_num(note_percent(n, "share", e->training.communication_share), "nodes", nodes), o->sku);
    return true;
}

/* True where nothing fits but by cutting layers over nodes that a slow network joins. */
static bool tensor_across(struct cluster_search *s, const struct offer *o, int nodes, const struct estimate *e)
{
    const struct network *net = o->sku->network;
    if (e->layout.tp <= o->sku->gpus_per_node || (net != NULL && net->rdma))
        return false;
    struct note *n = trap(s, "tensor_across_nodes", o, e->layout.tp - o->sku->gpus_per_node);
    if (n != NULL)
        note_num(note_num(n, "tp", e->layout.tp), "nodes", nodes);
    return true;
}

/* True where two nodes of this SKU are not enough more than one. */
static bool gate_stops(struct cluster_search *s, const struct offer *o, const struct estimate *one,
                       const struct estimate *two)
{
    if (one == NULL || one->fits == FITS_NO || two->fits == FITS_NO || rate_of(one) <= 0)
        return false;
    double speedup = rate_of(two) / rate_of(one);
    if (speedup >= s->w.b->a.two_node_gate)
        return false;
    struct note *small = speedup < 1 ? trap(s, "small_model_penalty", o, 1 - speedup) : NULL;
    if (small != NULL)
        note_num(small, "speedup", speedup);
    struct note *n = trap(s, "two_node_gate", o, s->w.b->a.two_node_gate - speedup);
    if (n != NULL)
        note_num(note_num(n, "speedup", speedup), "threshold", s->w.b->a.two_node_gate);
    return true;
}

/* What became of one size. WORSE: more nodes of the same offer cost more and finish no sooner, because pilot and
 * migration eat what they save. BEATEN: so many nodes of another offer cost clearly less and finish sooner. */
enum added { ADDED, WORSE, BEATEN };

static const double CLEARLY = 1.2;

static enum added compare(const struct cluster_search *s, const struct candidate *c)
{
    enum added r = ADDED;
    for (size_t i = 0; i < s->w.list.n; i++) {
        const struct candidate *other = &s->w.list.items[i];
        bool no_later = other->finish_days <= c->finish_days;
        if (other->offer == c->offer && other->nodes < c->nodes && other->total <= c->total && no_later)
            r = WORSE;
        if (other->offer != c->offer && other->nodes == c->nodes && no_later &&
            (double)other->total * CLEARLY <= (double)c->total)
            return BEATEN;
    }
    return r;
}

/* A size of one run: what it does against one node, and against the size before it. */
struct size {
    const struct estimate *one, *before;
    int nodes_before;
};

static enum added add(struct cluster_search *s, struct candidate *c)
{
    const struct candidate tried = *c;
    const bool had = candidate_reckon(s->w.b, KIND_SMALL_CLUSTER, c, &s->w.scratch);
    recall_store(s->w.b, KIND_SMALL_CLUSTER, &tried, had ? c : NULL);
    if (!had)
        return ADDED; /* too slow: more nodes may do it */
    enum added r = compare(s, c);
    if (r == ADDED)
        candidate_add(&s->w.list, c);
    return r;
}

static enum added add_nodes(struct cluster_search *s, const struct offer *o, int nodes, int lanes,
                            const struct estimate *e, const struct size *z)
{
    struct candidate c = {.offer = o, .cards = o->sku->gpus_per_node, .nodes = nodes, .lanes = lanes, .estimate = e};
    if (nodes / lanes > 1)
        c.one_node = z->one;
    if (lanes == 1 && z->before != NULL) {
        c.from_nodes = z->nodes_before;
        c.from_gain = rate_of(e) / rate_of(z->before);
    }
    return add(s, &c);
}

/* Would this size be tried around the best so far? */
static bool is_around_best(const struct cluster_search *s, const struct candidate *c)
{
    const int of_a_run = c->nodes / c->lanes;
    return s->best_nodes == 0 || (c->nodes <= 2 * s->best_nodes && (of_a_run < 2 || of_a_run * 4 >= s->best_nodes));
}

static void again(struct walk *w, const struct recalled *e, bool holds)
{
    struct cluster_search *s = (struct cluster_search *)w;
    struct candidate c = holds ? e->found : e->tried;
    if (!is_around_best(s, &c))
        return;
    if (!holds) {
        const struct gpu *gpu = c.offer->sku->gpu;
        c.estimate = build_physics_again(w->b, c.estimate, gpu, c.nodes / c.lanes * c.cards);
        c.one_node = c.one_node != NULL ? build_physics_again(w->b, c.one_node, gpu, c.cards) : NULL;
        if (c.estimate != NULL)
            add(s, &c);
        return;
    }
    candidate_limit(w->b, &c);
    if (compare(s, &c) == ADDED)
        candidate_add(&w->list, &c);
}

/* The step beyond a size that is kept, where it does not pay. */
static void step_ends(struct cluster_search *s, const struct offer *o, int nodes, const struct estimate *e,
                      const struct size *z)
{
    for (size_t i = s->w.list.n; i > 0; i--) {
        struct candidate *c = &s->w.list.items[i - 1];
        if (c->offer != o || c->nodes != z->nodes_before || c->lanes != 1 || c->to_nodes > 0)
            continue;
        c->to_nodes = nodes;
        c->to_gain = rate_of(e) / rate_of(z->before);
        return;
    }
}

/* Does the step add at least step_pays_share of what it costs? */
static bool step_pays(const struct cluster_search *s, int nodes, const struct estimate *e, const struct size *z)
{
    const double least = 1 + s->w.b->a.step_pays_share * (1.0 * nodes / z->nodes_before - 1);
    return rate_of(e) >= rate_of(z->before) * least;
}

/* Fewest nodes (a power of two) whose memory might hold the state. */
static int first_nodes(const struct cluster_search *s, const struct offer *o)
{
    double node = o->sku->gpu->usable_gib * BYTES_PER_GIB * o->sku->gpus_per_node;
    int nodes = 2;
    while (nodes < s->max_nodes && (node * nodes * 4 < build_state_bytes(s->w.b) || nodes * 4 < s->best_nodes))
        nodes *= 2;
    for (; nodes < s->max_nodes; nodes *= 2) {
        struct shape shape = build_shape(s->w.b, o->sku, o->sku->gpus_per_node, nodes, NULL);
        if (!guess_hopeless(s->w.b, &shape))
            break;
    }
    return nodes;
}

/* Nodes of this offer, doubled while that adds at least step_pays_share of what it costs. One step that does not pay
 * is jumped over: the next size may allow a better layout. */
static int try_offer(struct walk *w, const struct offer *o, const struct guess *g)
{
    struct cluster_search *s = (struct cluster_search *)w;
    (void)g;
    bool failed = false;
    int jumped = 0;
    int lanes = s->w.b->training.parallel_runs,
        most = o->sku->max_nodes < s->max_nodes ? o->sku->max_nodes : s->max_nodes;
    struct size z = {.one = physics(s, o, 1, &failed)};
    if (s->best_nodes > 0 && most > 2 * s->best_nodes)
        most = 2 * s->best_nodes;
    if (failed)
        return -1;
    if (lanes > 1 && lanes <= most && z.one != NULL && z.one->fits != FITS_NO)
        add_nodes(s, o, lanes, lanes, z.one, &z); /* every run on a node of its own */
    for (int nodes = first_nodes(s, o); nodes <= most && jumped < 2; nodes *= 2) {
        const struct estimate *e = physics(s, o, nodes, &failed);
        if (e == NULL)
            return failed ? -1 : 0;
        if (e->fits == FITS_NO) {
            refuse_memory(s, o, nodes, e);
            continue;
        }
        bool stops = nodes == 2 && gate_stops(s, o, z.one, e);
        if (fabric_bound(s, o, nodes, e) || tensor_across(s, o, nodes, e) || stops) {
            if (z.before != NULL)
                step_ends(s, o, nodes, e, &z);
            return 0;
        }
        jumped++;
        if (z.before != NULL && !step_pays(s, nodes, e, &z)) {
            step_ends(s, o, nodes, e, &z);
            continue;
        }
        enum added r = add_nodes(s, o, nodes, 1, e, &z);
        if (r == BEATEN)
            return 0;
        if (r == WORSE)
            continue;
        jumped = 0;
        if (lanes > 1 && nodes * lanes <= most)
            add_nodes(s, o, nodes * lanes, lanes, e, &z);
        /* Twice the nodes save at most half of the run; the step beyond two costs a pilot first. */
        if (build_train_hours(s->w.b, e, 1) / 2 < 24 * (nodes == 2 ? s->w.b->a.pilot_days : 1))
            return 0;
        z.before = e;
        z.nodes_before = nodes;
    }
    return 0;
}

/* Other cards are tried around the best so far. */
static void remember_best(struct walk *w)
{
    size_t best;
    if (candidate_choose(w->b, &w->list, &best, 1) == 1)
        ((struct cluster_search *)w)->best_nodes = w->list.items[best].nodes;
}

/* Validation and debugging on the fewest cards that hold the model, where the SKU is sold by the card and that is
 * better than a whole node: it costs less, but a validation that the node would have cut short takes its full time. */
static int settle_home(struct walk *w, struct candidate *c)
{
    const struct sku *sku = c->offer->sku;
    struct candidate on_cards = *c;
    for (int cards = 1; c->offer->by_card && cards < sku->gpus_per_node; cards *= 2) {
        struct shape shape = build_shape(w->b, sku, cards, 1, NULL);
        const struct estimate *e = build_physics(w->b, &shape, w->err);
        if (e == NULL && build_stops(w->err))
            return -1;
        if (e == NULL || e->fits == FITS_NO)
            continue;
        on_cards.home_cards = cards;
        if (candidate_reckon(w->b, KIND_SMALL_CLUSTER, &on_cards, &w->scratch) && candidate_better(w->b, &on_cards, c))
            *c = on_cards;
        return 0;
    }
    return 0;
}

/* More than the nodes alone explain: one of them alone has to squeeze the model in. */
static const char *scaling_code(const struct candidate *c)
{
    bool more = rate_of(c->estimate) > c->nodes * rate_of(c->one_node);
    return more ? "scaling_by_memory" : "scaling_cluster";
}

static void say_fabric(struct walk *w, const struct candidate *c, struct draft *d)
{
    const struct sku *sku = c->offer->sku;
    double share = c->estimate->training.communication_share;
    if (c->one_node != NULL && c->one_node->fits != FITS_NO)
        note_num(note_add(&d->reasons, scaling_code(c)), "speedup", rate_of(c->estimate) / rate_of(c->one_node));
    if (c->from_nodes > 0)
        note_num(note_num(note_num(note_add(&d->reasons, "step_pays"), "from", c->from_nodes), "nodes", c->nodes),
                 "gain", c->from_gain);
    if (c->to_nodes > 0)
        note_num(note_num(note_num(note_add(&d->reasons, "step_stops"), "from", c->nodes), "nodes", c->to_nodes),
                 "gain", c->to_gain);
    if (share > w->b->a.fabric_bound_share)
        say_network(note_num(note_text(note_percent(note_add(&d->warnings, "fabric_bound"), "share", share), "machine",
                                       sku->id),
                             "nodes", c->nodes),
                    sku);
    if (w->b->training.seq_len >= w->b->a.long_context_tokens)
        note_num(note_add(&d->reasons, "long_context"), "seq_len", w->b->training.seq_len);
    if (sku->network == NULL)
        note_num(note_add(&d->warnings, "fabric_assumed"), "gbps", w->b->a.cluster_default_gbps);
    else if (!sku->bandwidth_dedicated)
        note_text(note_add(&d->warnings, "fabric_shared"), "network", sku->network->id);
}

/* What forbids every cluster, whoever sells it. */
static bool ruled_out(struct build *b, int max_nodes, bool by_team)
{
    double measured = b->workload->measured.two_node_speedup;
    if (max_nodes < 2) {
        struct note *n = build_refuse(b, KIND_SMALL_CLUSTER, by_team ? "team_ceiling" : "max_nodes");
        n->short_by = 2 - max_nodes;
        note_num(n, "nodes", max_nodes);
    }
    if (measured > 0 && measured < b->a.two_node_gate) {
        struct note *n = build_refuse(b, KIND_SMALL_CLUSTER, "two_node_gate");
        n->short_by = b->a.two_node_gate - measured;
        note_text(n, "machine", b->measured_gpu != NULL ? b->measured_gpu->name : "measured_machine");
        note_num(note_num(n, "speedup", measured), "threshold", b->a.two_node_gate);
    }
    return b->refusals[KIND_SMALL_CLUSTER].n > 0;
}

static const struct walk_rules RULES = {
    .providers = CLUSTER_PROVIDERS,
    .nodes = 2,
    .gpus = 7,
    .gpus_lean = 3,
    .physics = 40,
    .physics_lean = 14,
    .try_offer = try_offer,
    .again = again,
    .after_gpu = remember_best,
    .settle = settle_home,
    .say = say_fabric,
};

int option_cluster_build(struct build *b, struct option_list *out, struct err *err)
{
    struct cluster_search s = {.w = {.b = b, .err = err, .kind = KIND_SMALL_CLUSTER}};
    bool by_team;
    s.max_nodes = candidate_max_nodes(b, &by_team);
    if (ruled_out(b, s.max_nodes, by_team))
        return 0;
    if (!b->trains)
        return option_serving_build(b, KIND_SMALL_CLUSTER, out, err);
    if (walk_cards(&s.w, &RULES) != 0)
        return -1;
    if (s.w.list.n == 0)
        build_refuse_supply(b, KIND_SMALL_CLUSTER, s.w.any_offer);
    if (s.w.list.n == 0 && b->refusals[KIND_SMALL_CLUSTER].n == 0)
        build_refuse_time(b, KIND_SMALL_CLUSTER);
    return walk_keep(&s.w, &RULES, out);
}
