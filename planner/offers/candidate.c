/* candidate.c — see candidate.h. */
#include "planner/offers/candidate.h"

#include <math.h>

#include "planner/costing/calendar.h"
#include "planner/costing/costing.h"
#include "planner/drafting/extras.h"
#include "planner/drafting/phases.h"

int candidate_list_init(struct build *b, struct candidate_list *l)
{
    l->n = 0;
    l->items = arena_room(b->arena, CANDIDATES_MAX, sizeof *l->items);
    return l->items == NULL ? -1 : 0;
}

void candidate_add(struct candidate_list *l, const struct candidate *c)
{
    if (l->n < CANDIDATES_MAX)
        l->items[l->n++] = *c;
}

bool candidate_better(const struct build *b, const struct candidate *x, const struct candidate *y)
{
    double wc, wt, wr, least = fmin((double)x->total, (double)y->total), soonest = fmin(x->finish_days, y->finish_days);
    candidate_weights(b, &wc, &wt, &wr);
    if (x->in_time != y->in_time)
        return x->in_time;
    double of_x = wc * least / fmax(1, (double)x->total) + wt * soonest / x->finish_days;
    double of_y = wc * least / fmax(1, (double)y->total) + wt * soonest / y->finish_days;
    return of_x > of_y;
}

double candidate_staging_hours(const struct build *b)
{
    double gbps = b->workload->constraints.wan_gbps > 0 ? b->workload->constraints.wan_gbps : b->a.wan_gbps;
    return b->training.dataset_gb * 8 / (gbps * b->a.line_efficiency) / 3600;
}

double candidate_team_nodes(const struct assume *a, enum team team)
{
    switch (team) {
    case TEAM_NONE:
        return a->team_max_nodes_none;
    case TEAM_SINGLE_NODE:
        return a->team_max_nodes_single_node;
    case TEAM_SLURM:
        return a->team_max_nodes_slurm;
    case TEAM_KUBERNETES:
        return a->team_max_nodes_kubernetes;
    case TEAM_EXPERT:
    case TEAM_UNSTATED:
        break;
    }
    return a->team_max_nodes_expert;
}

int candidate_max_nodes(const struct build *b, bool *ret_by_team)
{
    const struct constraints *c = &b->workload->constraints;
    double team = candidate_team_nodes(&b->a, c->team), most = b->a.max_nodes_considered;
    if (c->max_nodes > 0)
        most = fmin(most, c->max_nodes);
    *ret_by_team = team < most;
    return (int)fmin(team, most);
}

/* Machines and what they do; returns the group that validates and develops. */
static int place_machines(struct build *b, const struct candidate *c, struct draft *d)
{
    bool spot = b->workload->constraints.allow_spot;
    d->train_group = draft_add_group(d, c->offer, "train", c->by_card, c->cards, c->nodes);
    int home = d->train_group;
    if (c->home_cards > 0)
        home = draft_add_group(d, c->offer, "validate", true, c->home_cards, 1);
    d->groups[d->train_group].spot_allowed = d->groups[home].spot_allowed = spot;
    d->network = c->network;
    d->estimate = c->estimate;
    d->one_node = c->one_node;
    int per_run = c->nodes / c->lanes > 0 ? c->nodes / c->lanes : 1;
    d->shape = build_shape(b, c->offer->sku, c->nodes > 1 || c->lanes == 1 ? c->cards : c->cards / c->lanes, per_run,
                           c->network);
    return home;
}

static int candidate_fill(struct build *b, const struct candidate *c, struct draft *d)
{
    const int home = place_machines(b, c, d);
    double hours = build_train_hours(b, c->estimate, c->lanes) + candidate_staging_hours(b);
    if (phases_standard(b, d, home, d->train_group, c->nodes, hours) != 0 || extras_standard(b, d) != 0)
        return -1;
    return 0;
}

int candidate_draft(struct build *b, enum option_kind kind, const struct candidate *c, struct draft *d)
{
    build_draft_start(b, d, kind);
    return candidate_fill(b, c, d);
}

struct draft *candidate_sketch(struct build *b, enum option_kind kind, const struct candidate *c)
{
    struct draft *d = build_draft_new(b, kind);
    struct reckoning *base = arena_alloc(b->arena, sizeof *base);
    if (d == NULL || base == NULL)
        return NULL;
    place_machines(b, c, d);
    base->total = c->total;
    base->schedule.finish_days = c->finish_days;
    base->schedule.finish_day = (int)lround(c->finish_days) - 1;
    d->base = base;
    d->sketch = c;
    return d;
}

int candidate_complete(struct build *b, struct draft *d)
{
    const struct candidate *c = d->sketch;
    struct reckoning *base = d->base;
    if (c == NULL)
        return 0;
    build_draft_start(b, d, d->kind);
    d->base = base;
    d->sketch = NULL;
    b->n_reckoned++;
    return candidate_fill(b, c, d) != 0 || costing_reckon(&b->day, d, &what_if_expected, base) != 0 ? -1 : 0;
}

bool candidate_reckon(struct build *b, enum option_kind kind, struct candidate *c, struct draft *scratch)
{
    struct reckoning r;
    double hours = build_train_hours(b, c->estimate, c->lanes);
    if (!(hours >= 0) || hours / 24 > b->a.horizon_days)
        return false;
    build_draft_restart(b, scratch, kind);
    b->n_reckoned++;
    if (candidate_fill(b, c, scratch) != 0)
        return false;
    if (costing_reckon(&b->day, scratch, &what_if_expected, &r) != 0) {
        b->uncovered |= calendar_schedule(&b->a, scratch, &what_if_expected, &r.schedule) == 0;
        return false;
    }
    c->total = r.total;
    c->finish_days = r.schedule.finish_days;
    candidate_limit(b, c);
    return true;
}

void candidate_limit(const struct build *b, struct candidate *c)
{
    c->in_time = c->finish_days <= (double)b->deadline_day + 1;
    c->in_budget = b->budget_minor == 0 || c->total <= b->budget_minor;
}

/* Two candidates that a customer would call the same offer: same card, number of cards and fabric. */
static bool alike(const struct candidate *a, const struct candidate *b)
{
    return a->offer->sku->gpu == b->offer->sku->gpu && a->cards * a->nodes == b->cards * b->nodes &&
           (a->nodes < 2 || a->offer->sku->network == b->offer->sku->network);
}

/* ROOMY: where the best moves state to host memory, the best that does not (a machine of larger cards). */
enum { CHOOSE_SCORE, CHOOSE_ROOMY, CHOOSE_OTHER_CARD, CHOOSE_COST, CHOOSE_TIME, CHOOSE_ORDERS };

struct chooser {
    const struct candidate_list *l;
    double least, soonest, w_cost, w_time;
};

/* Greater is better. What misses a limit comes after everything that keeps it. */
static double value_of(const struct chooser *k, const struct candidate *c, int order)
{
    double limits = (c->in_time ? 4 : 0) + (c->in_budget ? 2 : 0);
    double cost = c->total > 0 ? k->least / (double)c->total : 1, time = k->soonest / c->finish_days;
    if (!c->in_time)
        return limits + time; /* the nearest miss */
    double score = order == CHOOSE_COST ? cost : order == CHOOSE_TIME ? time : k->w_cost * cost + k->w_time * time;
    return limits + score;
}

static bool offloads(const struct candidate *c)
{
    return c->estimate->layout.offload > OFFLOAD_NONE;
}

static bool may_take(const struct chooser *k, size_t i, const size_t *chosen, size_t n, int order)
{
    const struct candidate *c = &k->l->items[i];
    if (order == CHOOSE_ROOMY && (n == 0 || !offloads(&k->l->items[chosen[0]]) || offloads(c)))
        return false;
    for (size_t j = 0; j < n; j++) {
        const struct candidate *taken = &k->l->items[chosen[j]];
        if (chosen[j] == i || alike(taken, c) ||
            (order == CHOOSE_OTHER_CARD && taken->offer->sku->gpu->gpu_class == c->offer->sku->gpu->gpu_class))
            return false;
    }
    return true;
}

size_t candidate_choose(const struct build *b, const struct candidate_list *l, size_t *ret, size_t max)
{
    struct chooser k = {.l = l, .least = INFINITY, .soonest = INFINITY};
    double w_risk;
    size_t n = 0;
    candidate_weights(b, &k.w_cost, &k.w_time, &w_risk);
    for (size_t i = 0; i < l->n; i++) {
        k.least = fmin(k.least, (double)l->items[i].total);
        k.soonest = fmin(k.soonest, l->items[i].finish_days);
    }
    for (int round = 0; n < max && round < CHOOSE_ORDERS; round++) {
        size_t best = l->n;
        for (size_t i = 0; i < l->n; i++)
            if (may_take(&k, i, ret, n, round) &&
                (best == l->n || value_of(&k, &l->items[i], round) > value_of(&k, &l->items[best], round)))
                best = i;
        if (best < l->n)
            ret[n++] = best;
    }
    return n;
}

void candidate_reasons(struct build *b, const struct candidate *c, struct draft *d)
{
    const struct memory_estimate *m = &c->estimate->memory;
    bool peft = b->training.method == METHOD_LORA || b->training.method == METHOD_QLORA;
    struct note *n = note_add(&d->reasons, "memory_fits");
    note_num(note_num(note_num(n, "need_gb", m->total_gb), "usable_gb", m->usable_gb), "cards", c->cards);
    note_text(n, "gpu", c->offer->sku->gpu->name);
    if (peft && c->nodes == 1)
        note_text(note_text(note_add(&d->reasons, "peft_fits"), "method",
                            b->training.method == METHOD_LORA ? "LoRA" : "QLoRA"),
                  "gpu", c->offer->sku->gpu->name);
    if (c->estimate->layout.offload > OFFLOAD_NONE)
        note_num(note_add(&d->warnings, "offload_needed"), "host_gb", c->estimate->training.host_memory_gb);
    if (c->lanes > 1)
        note_num(note_add(&d->reasons, "runs_side_by_side"), "lanes", c->lanes);
    else if (b->training.parallel_runs > 1)
        note_num(note_add(&d->reasons, "runs_in_sequence"), "runs", b->training.runs);
    if (c->home_cards > 0)
        note_num(note_add(&d->reasons, "home_on_few_cards"), "cards", c->home_cards);
    if (b->workload->constraints.data_sensitive && !c->offer->sku->provider->data_stays)
        note_text(note_add(&d->warnings, "desensitise_before"), "provider", c->offer->sku->provider->id);
    else if (b->workload->constraints.data_sensitive)
        note_text(note_add(&d->reasons, "data_stays"), "provider", c->offer->sku->provider->id);
    if (!gpu_runs_cuda(c->offer->sku->gpu))
        note_text(note_text(note_add(&d->warnings, "other_software"), "gpu", c->offer->sku->gpu->name), "vendor",
                  c->offer->sku->gpu->vendor);
    if (c->estimate->confidence == CONF_MEASURED)
        note_add(&d->reasons, "speed_measured");
    double staging = candidate_staging_hours(b);
    if (staging >= 1)
        note_num(note_num(note_add(&d->reasons, "staging"), "hours", staging), "dataset_gb", b->training.dataset_gb);
}
