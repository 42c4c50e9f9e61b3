/* phases.c — see phases.h. */
#include "planner/drafting/phases.h"

#include <math.h>

#include "base/money.h"
#include "planner/costing/cover.h"
#include "planner/drafting/quality.h"

enum { DAYS_ASKED_MAX = 64 };

/* Net cost of `days` whole days of one unit by the cheapest cover; -1 when it cannot be rented. */
static int64_t days_cost(const struct draft_group *g, int days)
{
    const struct tariff_run use = {.n = days < DAYS_ASKED_MAX ? days : DAYS_ASKED_MAX, .hours_milli = 24000};
    struct bill bill;
    int64_t net, tax;
    bill_start(&bill);
    if (cover_runs(g->offer, g->by_card, &use, days > 0, g->by_card ? g->cards : 1, NULL, &bill) != 0 ||
        bill_sum(&bill, &net, &tax) != 0)
        return -1;
    return net;
}

/* Every candidate on an offer asks again for the days of one unit of it. */
static int64_t unit_cost(struct build *b, const struct draft_group *g, int days)
{
    const int cards = g->by_card ? g->cards : 0;
    const size_t number = (size_t)(g->offer->sku - b->catalog->skus);
    struct day_cost *known = &b->day_costs[(number * 31 + (size_t)(cards * 7 + days)) % DAY_COSTS];
    if (known->offer != g->offer || known->cards != cards || known->days != days)
        *known = (struct day_cost){g->offer, cards, days, days_cost(g, days)};
    return known->net;
}

/* Some single rate keeps the limit, so the cheapest cover does. */
static bool surely_within(const struct draft_group *g, int days, int64_t limit)
{
    for (size_t i = 0; i < g->offer->n_rates; i++) {
        const struct rate *r = &g->offer->rates[i];
        if (r->per_card != g->by_card || r->mode == MODE_SPOT)
            continue;
        const double permits = r->days > 0 ? ceil((double)days / r->days) : 24.0 * days;
        const double micros = permits * (double)r->quantity_milli / 1000 * (double)r->unit_micros;
        if (micros / 1e4 * (g->by_card ? g->cards : 1) < (double)limit - 1)
            return true;
    }
    return false;
}

static bool within(struct build *b, const struct draft_group *g, int days, int64_t limit)
{
    return surely_within(g, days, limit) || unit_cost(b, g, days) <= limit;
}

/* The most days from `least` up, below `too_many`, that keep the limit (more days never cost less); `least` where none
 * does. */
static int most_within(struct build *b, const struct draft_group *g, int least, int too_many, int64_t limit)
{
    while (too_many - least > 1) {
        const int middle = (least + too_many) / 2;
        *(within(b, g, middle, limit) ? &least : &too_many) = middle;
    }
    return least;
}

int64_t phases_validate_limit(const struct build *b, const struct draft *d, int train_group, int train_units)
{
    double limit = (double)b->budget_minor * b->a.validate_budget_share;
    if (train_units > 1) {
        const struct draft_group *g = &d->groups[train_group];
        double month = (g->by_card ? g->offer->card_month_micros * g->cards : g->offer->node_month_micros) / 1e4;
        limit = fmax(limit, month * train_units * b->a.validate_month_share);
    }
    return (int64_t)llround(limit);
}

static double validate_days(struct build *b, struct draft *d, int home, int train_group, int train_units,
                            struct note_list *reasons)
{
    const struct gpu *gpu = d->groups[home].offer->sku->gpu;
    if (build_measured_on(b, gpu)) {
        note_text(note_add(reasons, "already_measured"), "gpu", gpu->name);
        return 0;
    }
    double days = round(b->a.validate_days), least = fmin(days, b->a.validate_days_min);
    int64_t limit = phases_validate_limit(b, d, train_group, train_units);
    if (limit <= 0 || within(b, &d->groups[home], (int)days, limit))
        return days;
    b->n_validate_cut++;
    days = most_within(b, &d->groups[home], (int)least, (int)days, limit);
    const bool kept = days > least || within(b, &d->groups[home], (int)least, limit);
    struct note *n = note_num(note_add(reasons, kept ? "validate_limit" : "validate_over_limit"), "days", days);
    note_money(note_num(n, "planned_days", b->a.validate_days), "limit", limit);
    return days;
}

static void set_gate(struct draft_step *s, const char *code, const char *metric, double threshold)
{
    if (s->reasons.unread)
        return; /* nor is its gate read */
    s->has_gate = true;
    s->gate = (struct gate){.metric = metric, .threshold = threshold};
    s->gate.text = (struct note){.code = code, .short_by = NAN};
    note_num(&s->gate.text, "threshold", threshold);
}

static int add_validate(struct build *b, struct draft *d, int home, int train_group, int train_units)
{
    struct draft_step *s = draft_add_step(d, PHASE_VALIDATE, home, 1, 0);
    if (s == NULL)
        return -1;
    s->hours = 24 * validate_days(b, d, home, train_group, train_units, &s->reasons);
    if (s->hours > 0 && d->estimate != NULL) {
        /* One machine is measured: what a card does there, not among many machines. */
        const struct estimate *e = d->one_node != NULL && d->one_node->fits != FITS_NO ? d->one_node : d->estimate;
        bool trains = e->has_training && e->training.tokens_per_s_per_gpu_low > 0;
        set_gate(s, trains ? "gate_validate" : "gate_validate_memory", trains ? "tokens_per_s_per_gpu" : "memory_gb",
                 trains ? e->training.tokens_per_s_per_gpu_low : e->memory.usable_gb);
        if (s->has_gate)
            note_num(&s->gate.text, "memory_gb", e->memory.usable_gb);
    }
    return 0;
}

static int add_develop(struct build *b, struct draft *d, int home)
{
    struct draft_step *s = draft_add_step(d, PHASE_DEVELOP, home, 1, 1);
    if (s == NULL)
        return -1;
    s->hours_per_day = b->a.develop_hours_per_day;
    set_gate(s, "gate_develop", "loss_trend", 0);
    return 0;
}

/* The pilot of a cluster, unless somebody has measured two nodes already. */
static int add_pilot(struct build *b, struct draft *d, int train_group)
{
    struct draft_step *s = draft_add_step(d, PHASE_PILOT, train_group, 2, 24 * b->a.pilot_days);
    if (s == NULL)
        return -1;
    if (b->workload->measured.two_node_speedup > 0) {
        s->hours = 0;
        note_num(note_add(&s->reasons, "two_node_measured"), "speedup", b->workload->measured.two_node_speedup);
    } else {
        set_gate(s, "gate_two_nodes", "two_node_speedup", b->a.two_node_gate);
    }
    return 0;
}

static int add_migrate(struct build *b, struct draft *d, int train_group, int train_units)
{
    bool expert = b->workload->constraints.team == TEAM_EXPERT;
    struct draft_step *s = draft_add_step(d, PHASE_MIGRATE, train_group, train_units < 2 ? train_units : 2,
                                          expert ? 0 : 24 * b->a.migrate_days);
    if (s == NULL)
        return -1;
    if (expert)
        note_add(&s->reasons, "team_expert");
    else if (d->estimate != NULL && d->estimate->has_training)
        set_gate(s, "gate_migrate", "tokens_per_s_per_gpu", d->estimate->training.tokens_per_s_per_gpu_low);
    return 0;
}

/* Work written for CUDA has to be moved to cards that run other software, unless it was measured there. */
static void add_port_effort(struct build *b, struct draft *d)
{
    const struct gpu *gpu = d->groups[d->train_group].offer->sku->gpu;
    if (gpu_runs_cuda(gpu) || b->measured_gpu == gpu || !(b->a.port_debug_factor > 1))
        return;
    for (int i = 0; i < d->n_steps; i++)
        if (d->steps[i].phase == PHASE_DEVELOP)
            d->steps[i].stretch = fmax(1, d->steps[i].stretch) * b->a.port_debug_factor;
    struct note *n = note_percent(note_add(&d->reasons, "port_effort"), "share", b->a.port_debug_factor - 1);
    note_text(note_text(n, "gpu", gpu->name), "vendor", gpu->vendor);
}

int phases_standard(struct build *b, struct draft *d, int home_group, int train_group, int train_units,
                    double train_hours)
{
    bool cluster = d->kind == KIND_SMALL_CLUSTER, moves = cluster || d->kind == KIND_HYBRID_CLOUD;
    if (add_validate(b, d, home_group, train_group, train_units) != 0)
        return -1;
    if (!b->trains)
        return 0;
    if (add_develop(b, d, home_group) != 0 || (cluster && train_units > 2 && add_pilot(b, d, train_group) != 0) ||
        (moves && add_migrate(b, d, train_group, train_units) != 0))
        return -1;
    struct draft_step *s = draft_add_step(d, PHASE_TRAIN, train_group, train_units, train_hours);
    if (s == NULL)
        return -1;
    s->scales = true;
    quality_apply(b, d, train_group);
    add_port_effort(b, d);
    if (cluster && train_units == 2 && b->workload->measured.two_node_speedup <= 0)
        set_gate(s, "gate_two_nodes", "two_node_speedup", b->a.two_node_gate);
    return 0;
}
