/* phases.c — validate, develop, pilot, migrate and train as steps of a draft, each with its gate. */
#include "planner/drafting/phases.h"

#include <math.h>
#include <string.h>

#include "base/money.h"
#include "planner/costing/costing.h"
#include "planner/drafting/quality.h"

bool phases_already_measured(const struct build *b, const struct gpu *gpu)
{
    const struct measured *m = &b->workload->measured;
    bool read = m->stated && (m->tokens_per_s > 0 || m->samples_per_s > 0 || m->step_time_s > 0);
    return read && b->measured_gpu == gpu && m->nodes <= 1;
}

/* Net cost of `days` whole days of one unit by the cheapest cover; -1 when it cannot be rented. */
static int64_t unit_cost(const struct draft_group *g, int days)
{
    struct tariff_day use[64];
    struct bill bill;
    int64_t net, tax;
    costing_start(&bill);
    for (int i = 0; i < days && i < 64; i++)
        use[i] = (struct tariff_day){i, 24000, 0, false};
    if (costing_cover(g->offer, g->by_card, use, (size_t)(days < 64 ? days : 64), g->by_card ? g->cards : 1, NULL,
                      &bill) != 0 ||
        costing_sum(&bill, &net, &tax) != 0)
        return -1;
    return net;
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
    if (phases_already_measured(b, gpu)) {
        note_text(note_add(reasons, "already_measured"), "gpu", gpu->name);
        return 0;
    }
    double days = round(b->a.validate_days), least = fmin(days, b->a.validate_days_min);
    int64_t limit = phases_validate_limit(b, d, train_group, train_units);
    if (limit <= 0 || unit_cost(&d->groups[home], (int)days) <= limit)
        return days;
    while (days > least && unit_cost(&d->groups[home], (int)days) > limit)
        days--;
    struct note *n = note_num(note_add(reasons, "validate_limit"), "days", days);
    note_money(note_num(n, "planned_days", b->a.validate_days), "limit", limit);
    return days;
}

static void set_gate(struct draft_step *s, const char *code, const char *metric, double threshold)
{
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
        const struct estimate *e = d->estimate;
        bool trains = e->has_training && e->training.tokens_per_s_per_gpu_low > 0;
        set_gate(s, trains ? "gate_validate" : "gate_validate_memory", trains ? "tokens_per_s_per_gpu" : "memory_gb",
                 trains ? e->training.tokens_per_s_per_gpu_low : e->memory.usable_gb);
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
    if (cluster && train_units == 2 && b->workload->measured.two_node_speedup <= 0)
        set_gate(s, "gate_two_nodes", "two_node_speedup", b->a.two_node_gate);
    return 0;
}

/* What stopping at a phase saves: everything that a later phase pays. A two-node gate inside the training itself saves
 * the training too. */
static int64_t saved_after(const struct draft *d, const struct shares *shares, enum phase_code phase)
{
    int64_t saved = shares->paid[SHARE_SERVE];
    for (int i = 0; i < d->n_steps; i++)
        if (d->steps[i].phase > phase || (phase == PHASE_TRAIN && d->steps[i].phase == PHASE_TRAIN))
            saved += shares->paid[i];
    return saved;
}

static struct phase *add_phase(struct option *o, enum phase_code code)
{
    if (o->n_phases == sizeof o->phases / sizeof *o->phases)
        return NULL;
    struct phase *p = &o->phases[o->n_phases];
    *p = (struct phase){.code = code};
    o->n_phases++;
    return p;
}

static void answer_step(const struct build *b, const struct draft *d, const struct reckoning *r,
                        const struct shares *shares, int i, struct phase *p)
{
    const struct draft_step *s = &d->steps[i];
    const struct draft_group *g = &d->groups[s->group];
    bool lasts = r->schedule.last_day[i] >= r->schedule.first_day[i];
    p->minor = shares->used[i];
    p->start_on = b->start + r->schedule.first_day[i];
    p->end_on = lasts ? b->start + r->schedule.last_day[i] : p->start_on;
    p->hours = s->phase == PHASE_DEVELOP ? (double)r->schedule.billed_milli[i] / 1000 : s->hours;
    p->gpus = lasts ? g->cards * s->units : 0;
    p->reasons = s->reasons;
    p->has_gate = s->has_gate && lasts;
    if (p->has_gate) {
        p->gate = s->gate;
        p->gate.saved_minor = saved_after(d, shares, s->phase);
        note_money(&p->gate.text, "saved", p->gate.saved_minor);
    }
}

int phases_answer(struct build *b, const struct draft *d, const struct reckoning *r, const struct shares *shares,
                  struct option *o)
{
    for (int i = 0; i < d->n_steps; i++) {
        struct phase *p = add_phase(o, d->steps[i].phase);
        if (p == NULL)
            return -1;
        answer_step(b, d, r, shares, i, p);
    }
    const struct reserve_plan *load = d->reserve;
    if (load == NULL || load->months <= 0)
        return 0;
    struct phase *serve = add_phase(o, PHASE_SERVE);
    if (serve == NULL)
        return -1;
    serve->minor = shares->used[SHARE_SERVE];
    int days = (int)ceil(load->months * b->a.month_days - 1e-9);
    double per_day = load->serving.hours_per_day > 0 ? load->serving.hours_per_day : 24;
    serve->start_on = b->start + r->schedule.finish_day + 1;
    serve->end_on = serve->start_on + days - 1;
    serve->hours = days * per_day;
    serve->gpus = load->offer == NULL ? 0 : load->by_card ? load->units : load->units * load->offer->sku->gpus_per_node;
    return 0;
}
