/* extras.c — see extras.h. */
#include "planner/drafting/extras.h"

#include <math.h>
#include <string.h>

static struct draft_extra *add_priced(struct draft *d, enum section section, enum phase_code from, enum phase_code to,
                                      const char *item, const struct price *price, int64_t micros, double quantity)
{
    struct draft_extra *e = draft_add_extra(d, section, from, to);
    if (e == NULL)
        return NULL;
    e->item = item;
    e->price = price;
    e->unit = price->unit;
    e->unit_micros = micros;
    e->quantity = quantity;
    e->basis = price->unit == UNIT_GB || price->unit == UNIT_ONCE ? EXTRA_ONCE : EXTRA_PER_MONTH;
    return e;
}

/* By numbers, not by addresses of text: the same request takes the same way. */
static size_t place_of(const struct build *b, enum price_subject subject, const char *id, const struct provider *at,
                       enum price_unit unit)
{
    size_t h = (size_t)(at - b->catalog->providers) * 31 + (size_t)subject;
    h = h * 31 + (size_t)unit;
    return (h * 31 + (id != NULL ? (size_t)(unsigned char)id[0] : 0)) % UNIT_PRICES;
}

int extras_price(struct build *b, enum price_subject subject, const char *id, const struct provider *at,
                 enum price_unit unit, const struct price **ret_price, int64_t *ret_micros)
{
    if (b->unit_prices == NULL && !(b->unit_prices = arena_array(b->arena, UNIT_PRICES, sizeof *b->unit_prices)))
        return offer_unit_price(&b->day, subject, id, at, unit, ret_price, ret_micros);
    struct unit_price *u = &b->unit_prices[place_of(b, subject, id, at, unit)];
    if (u->at != at || u->id != id || u->subject != subject || u->unit != unit) {
        *u = (struct unit_price){.at = at, .id = id, .subject = subject, .unit = unit};
        u->sold = offer_unit_price(&b->day, subject, id, at, unit, &u->price, &u->micros) == 0;
    }
    if (!u->sold)
        return -1;
    *ret_price = u->price;
    *ret_micros = u->micros;
    return 0;
}

/* A monthly price of a subject by the node or flat; quantity is what one month takes of it. */
static bool month_price(struct build *b, enum price_subject subject, const char *id, const struct provider *at,
                        int nodes, const struct price **price, int64_t *micros, double *quantity)
{
    *quantity = nodes;
    if (extras_price(b, subject, id, at, UNIT_NODE_MONTH, price, micros) == 0)
        return true;
    *quantity = 1;
    return extras_price(b, subject, id, at, UNIT_MONTH, price, micros) == 0;
}

static int add_fabric(struct build *b, struct draft *d, const struct draft_group *g)
{
    const struct network *n = d->network != NULL ? d->network : g->offer->sku->network;
    const struct price *price;
    int64_t micros;
    double quantity;
    if (g->by_card || g->units < 2 || n == NULL)
        return 0;
    if (!month_price(b, SUBJECT_NETWORK, n->id, g->offer->sku->provider, g->units, &price, &micros, &quantity)) {
        note_text(note_add(&d->warnings, "fabric_unpriced"), "network", n->id);
        return 0;
    }
    if (micros == 0) {
        note_text(note_add(&d->reasons, "fabric_included"), "network", n->id);
        return 0;
    }
    return add_priced(d, SECTION_NETWORK, PHASE_PILOT, PHASE_TRAIN, n->id, price, micros, quantity) == NULL ? -1 : 0;
}

/* What has to be kept while the job lasts, and what it is made of. */
static double storage_need_gb(const struct build *b, struct draft *d)
{
    double kept = b->training.checkpoints_kept > 0 ? b->training.checkpoints_kept : b->a.checkpoints_kept;
    double checkpoint = d->estimate != NULL && d->estimate->has_training ? d->estimate->training.checkpoint_gb : 0;
    if (!(checkpoint > 0))
        checkpoint = 0;
    const double need = b->training.dataset_gb + kept * checkpoint;
    if (need > 0) {
        struct note *n = note_num(note_add(&d->reasons, "storage_need"), "dataset_gb", b->training.dataset_gb);
        note_num(note_num(n, "kept", kept), "checkpoint_gb", checkpoint);
    }
    return need;
}

/* The cheapest shared storage this provider prices by the GB and month. read_by: nodes that read their data from it; a
 * parallel file system comes first for several, and nobody trains from an object store. */
static const struct storage *cheapest_storage(struct build *b, const struct provider *at, int read_by,
                                              const struct price **ret_price, int64_t *ret_micros)
{
    const bool want_parallel = read_by > 1;
    const struct storage *best = NULL;
    for (size_t i = 0; i < b->catalog->n_storages; i++) {
        const struct storage *s = &b->catalog->storages[i];
        const struct price *price;
        int64_t micros;
        if (s->local || (read_by > 0 && strcmp(s->system, "object") == 0) ||
            extras_price(b, SUBJECT_STORAGE, s->id, at, UNIT_GB_MONTH, &price, &micros) != 0)
            continue;
        bool better = best == NULL || (want_parallel && s->parallel && !best->parallel) ||
                      ((!want_parallel || s->parallel == best->parallel) && micros < *ret_micros);
        if (!better)
            continue;
        best = s;
        *ret_price = price;
        *ret_micros = micros;
    }
    return best;
}

static int add_storage(struct build *b, struct draft *d, const struct draft_group *g)
{
    const struct sku *sku = g->offer->sku;
    const struct price *price = NULL;
    int64_t micros = 0;
    double need = storage_need_gb(b, d);
    if (!(need > 0))
        return 0;
    if (g->units < 2 && sku->nvme_gb >= need) {
        note_num(note_num(note_add(&d->reasons, "nvme_holds"), "need_gb", need), "nvme_gb", sku->nvme_gb);
        return 0;
    }
    const bool data = b->training.dataset_gb > 0, cached = data && sku->nvme_gb >= b->training.dataset_gb;
    const int read_by = cached ? 0 : g->units > 1 ? g->units : data ? 1 : 0;
    const struct storage *s = cheapest_storage(b, sku->provider, read_by, &price, &micros);
    if (s == NULL) {
        note_num(note_add(&d->warnings, "storage_unpriced"), "need_gb", need);
        return 0;
    }
    if (g->units > 1 && cached)
        note_num(note_add(&d->reasons, "node_cache"), "dataset_gb", b->training.dataset_gb);
    else if (g->units > 1 && !s->parallel)
        note_text(note_add(&d->warnings, "storage_bound"), "storage", s->id);
    return add_priced(d, SECTION_STORAGE, PHASE_VALIDATE, PHASE_TRAIN, s->id, price, micros, ceil(need)) == NULL ? -1
                                                                                                                 : 0;
}

/* What the training makes: the weights in 16 bits, or the adapter. Work that makes no model states what leaves. */
static double result_gb(const struct build *b, const struct draft *d)
{
    const bool model = b->training.method != METHOD_EMBEDDING && b->training.method != METHOD_CUSTOM;
    if (!b->trains || !model || d->estimate == NULL || !d->estimate->has_training)
        return 0;
    return ceil(fmin(d->estimate->training.checkpoint_gb, b->workload->model.params * 2 / 1e9) - 1e-9);
}

/* By the GB, or by bandwidth for one month where that is cheaper. */
static int add_egress(struct build *b, struct draft *d, const struct draft_group *g)
{
    const struct provider *at = g->offer->sku->provider;
    const bool stated = b->workload->constraints.egress_gb >= 0;
    const double gb = stated ? b->workload->constraints.egress_gb : result_gb(b, d);
    const struct price *by_gb = NULL, *by_mbps = NULL;
    int64_t gb_micros = 0, mbps_micros = 0;
    if (!(gb > 0))
        return 0;
    bool has_gb = extras_price(b, SUBJECT_EGRESS, NULL, at, UNIT_GB, &by_gb, &gb_micros) == 0;
    bool has_mbps = extras_price(b, SUBJECT_EGRESS, NULL, at, UNIT_MBPS_MONTH, &by_mbps, &mbps_micros) == 0;
    double mbps = ceil(gb * 8000 / (b->a.month_days * 86400 * b->a.line_efficiency));
    if (!has_gb && !has_mbps) {
        note_num(note_add(&d->warnings, "egress_unpriced"), "egress_gb", gb);
        return 0;
    }
    if ((has_gb && gb_micros == 0) || (has_mbps && mbps_micros == 0)) {
        note_num(note_add(&d->reasons, "traffic_free"), "egress_gb", gb);
        return 0;
    }
    if (!stated)
        note_num(note_add(&d->reasons, "egress_assumed"), "egress_gb", gb);
    bool bandwidth = !has_gb || (has_mbps && mbps * (double)mbps_micros < gb * (double)gb_micros);
    struct draft_extra *e =
        bandwidth ? add_priced(d, SECTION_EGRESS, PHASE_TRAIN, PHASE_TRAIN, at->id, by_mbps, mbps_micros, mbps)
                  : add_priced(d, SECTION_EGRESS, PHASE_TRAIN, PHASE_TRAIN, at->id, by_gb, gb_micros, gb);
    if (e == NULL)
        return -1;
    e->basis = EXTRA_ONCE; /* one month of bandwidth carries it */
    return 0;
}

/* What a team of this level needs of the supplier is priced by the level; a team that nobody described is taken for one
 * that has run single machines. */
static const char *team_level(enum team team)
{
    const char *name = workload_enum_name(ENUM_TEAM, (int)(team == TEAM_UNSTATED ? TEAM_SINGLE_NODE : team));
    return name != NULL ? name : "none";
}

static int add_monthly(struct build *b, struct draft *d, enum price_subject subject, enum section section,
                       const char *id, const struct draft_group *g)
{
    const struct price *price;
    int64_t micros;
    double quantity;
    if (!month_price(b, subject, id, g->offer->sku->provider, g->units, &price, &micros, &quantity)) {
        note_text(note_add(&d->warnings, section == SECTION_SOFTWARE ? "software_unpriced" : "operations_unpriced"),
                  "item", id);
        return 0;
    }
    if (micros == 0) {
        note_text(note_add(&d->reasons, section == SECTION_SOFTWARE ? "software_included" : "team_operates"), "item",
                  id);
        return 0;
    }
    return add_priced(d, section, PHASE_PILOT, PHASE_TRAIN, id, price, micros, quantity) == NULL ? -1 : 0;
}

/* Scheduler and management software, and the supplier's operators as far as the team needs them. */
static int add_management(struct build *b, struct draft *d, const struct draft_group *g)
{
    enum team team = b->workload->constraints.team;
    if (g->by_card || g->units < 2)
        return 0;
    if (add_monthly(b, d, SUBJECT_SOFTWARE, SECTION_SOFTWARE, team == TEAM_KUBERNETES ? "kubernetes" : "slurm", g) != 0)
        return -1;
    /* A centre runs its own machines: runs on one machine each need nobody to join them. */
    if (d->kind == KIND_UNIVERSITY_TIME && d->shape.nodes < 2)
        return 0;
    return add_monthly(b, d, SUBJECT_OPERATIONS, SECTION_OPERATIONS, team_level(team), g);
}

int extras_standard(struct build *b, struct draft *d)
{
    if (d->n_groups == 0)
        return 0;
    const struct draft_group *g = &d->groups[d->train_group];
    if (add_fabric(b, d, g) != 0 || add_storage(b, d, g) != 0 || add_egress(b, d, g) != 0 ||
        add_management(b, d, g) != 0)
        return -1;
    return 0;
}
