/* levers.c — see levers.h: the inputs of a request, and how each is moved. */
#include "planner/advice/levers.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/money.h"
#include "planner/drafting/quality.h"

const double LEVER_REACH = 0.25;

enum { RUNS_LEAST = 4 }; /* a quarter of fewer is no whole run */

struct lever_list {
    struct build *b;
    struct lever *items;
    size_t n, max;
    struct lever nowhere; /* what is no lever is written to */
};

static struct lever *add(struct lever_list *l, enum lever_kind kind, const char *path, const char *unit, double now)
{
    if (path == NULL || !(now > 0) || l->n == l->max)
        return &l->nowhere;
    l->items[l->n] = (struct lever){.kind = kind, .path = path, .unit = unit, .now = now};
    return &l->items[l->n++];
}

static void add_work(struct lever_list *l)
{
    const struct training *t = &l->b->workload->training;
    if (!l->b->trains)
        return;
    if (t->tokens > 0)
        add(l, LEVER_WORK, "/workload/training/tokens", "tokens", t->tokens);
    else if (t->samples > 0)
        add(l, LEVER_WORK, "/workload/training/samples", "samples", t->samples);
    else
        add(l, LEVER_WORK, "/workload/training/steps", "steps", t->steps);
    if (l->b->training.runs >= RUNS_LEAST)
        add(l, LEVER_RUNS, "/workload/training/runs", "runs", l->b->training.runs)->whole = true;
}

/* A measured speed is the request's; one that is reckoned is of the card that leads. */
static void add_speed(struct lever_list *l, const struct draft *first)
{
    const struct measured *m = &l->b->workload->measured;
    const struct estimate *e = first->estimate;
    if (!l->b->trains || e == NULL || !e->has_training)
        return;
    if (m->stated && m->step_time_s > 0)
        add(l, LEVER_SPEED, "/workload/measured/step_time_s", "s", m->step_time_s)->inverse = true;
    else if (m->stated && m->tokens_per_s > 0)
        add(l, LEVER_SPEED, "/workload/measured/tokens_per_s", "tokens/s", m->tokens_per_s);
    else if (m->stated && m->samples_per_s > 0)
        add(l, LEVER_SPEED, "/workload/measured/samples_per_s", "samples/s", m->samples_per_s);
    else {
        const bool tokens = e->training.tokens_per_s > 0;
        const char *path =
            arena_printf(l->b->arena, "/gpus/%s/%s", first->shape.gpu->id, tokens ? "tokens_per_s" : "samples_per_s");
        add(l, LEVER_SPEED, path, tokens ? "tokens/s" : "samples/s",
            tokens ? e->training.tokens_per_s : e->training.samples_per_s)
            ->gpu = first->shape.gpu;
    }
}

/* The dearest line of an option's machines: its unit price stands for the SKU's. */
static const struct cost_line *main_line(const struct option *o, bool trains)
{
    const struct cost_line *most = NULL;
    for (size_t i = 0; i < o->cost.n_lines; i++) {
        const struct cost_line *c = &o->cost.lines[i];
        if (c->sku && (!trains || c->section != SECTION_INFERENCE_RESERVE) && (!most || c->minor > most->minor))
            most = c;
    }
    return most;
}

static void add_price(struct lever_list *l, enum price_subject subject, const char *id, const struct cost_line *line)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i].kind == LEVER_PRICE && l->items[i].reprice.subject == subject &&
            strcmp(l->items[i].reprice.id, id) == 0)
            return; /* one machine, one price: it moves every option on it */
    const char *path = arena_printf(l->b->arena, "/%s/%s/price", subject == SUBJECT_SKU ? "skus" : "networks", id);
    const char *unit = arena_printf(l->b->arena, "%s/%s", l->b->day.currency, price_unit_name(line->unit));
    struct lever *p = add(l, LEVER_PRICE, path, unit, (double)line->unit_price_micros / MONEY_MICROS);
    p->reprice = (struct reprice){subject, id, 1};
    p->expensive = subject == SUBJECT_SKU && l->b->reserve.offer != NULL && l->b->reserve.offer->sku == line->sku;
}

static void add_prices(struct lever_list *l, const struct option_list *ranked)
{
    for (size_t i = 0; i < ranked->n && i < 2; i++) {
        const struct option *o = ranked->items[i]->option;
        const struct cost_line *line = main_line(o, l->b->trains);
        if (line)
            add_price(l, SUBJECT_SKU, line->sku->id, line);
    }
}

static void add_fabric(struct lever_list *l, const struct option_list *ranked)
{
    for (size_t i = 0; i < ranked->n && i < 2; i++) {
        const struct cost *c = &ranked->items[i]->option->cost;
        for (size_t k = 0; k < c->n_lines; k++)
            if (c->lines[k].section == SECTION_NETWORK && c->lines[k].price &&
                c->lines[k].price->subject == SUBJECT_NETWORK && c->lines[k].price->subject_id)
                add_price(l, SUBJECT_NETWORK, c->lines[k].price->subject_id, &c->lines[k]);
    }
}

static void add_service(struct lever_list *l)
{
    const struct serving *s = &l->b->workload->serving;
    if (!l->b->serves)
        return;
    struct lever *load =
        s->requests_per_s > 0 ? add(l, LEVER_LOAD, "/workload/serving/requests_per_s", "requests/s", s->requests_per_s)
        : s->concurrency > 0  ? add(l, LEVER_LOAD, "/workload/serving/concurrency", "requests", s->concurrency)
                              : add(l, LEVER_LOAD, "/workload/serving/users", "users", s->users);
    load->expensive = true;
    if (s->months_stated)
        add(l, LEVER_MONTHS, "/workload/serving/months", "months", s->months)->expensive = true;
}

/* What one request asks of the service, as far as it is stated: each sizes the reserve again. */
static void add_requests(struct lever_list *l)
{
    static const struct {
        enum lever_kind kind;
        const char *path, *unit;
        size_t member;
    } members[] = {
        {LEVER_TOKENS, "/workload/serving/output_tokens", "tokens", offsetof(struct serving, output_tokens)},
        {LEVER_TOKENS, "/workload/serving/input_tokens", "tokens", offsetof(struct serving, input_tokens)},
        {LEVER_SERVICE, "/workload/serving/tpot_ms", "ms", offsetof(struct serving, tpot_ms)},
        {LEVER_SERVICE, "/workload/serving/ttft_ms", "ms", offsetof(struct serving, ttft_ms)},
        {LEVER_SERVICE, "/workload/serving/peak_factor", "ratio", offsetof(struct serving, peak_factor)},
    };
    const char *service = (const char *)&l->b->workload->serving;
    for (size_t i = 0; l->b->serves && i < sizeof members / sizeof *members; i++) {
        const void *at = service + members[i].member;
        const double now = members[i].kind == LEVER_TOKENS ? *(const int *)at : *(const double *)at;
        struct lever *r = add(l, members[i].kind, members[i].path, members[i].unit, now);
        r->member = members[i].member;
        r->expensive = true;
    }
}

/* Faults that take so little of a run's hours decide nothing. */
static const double FAULTS_LEAST = 0.002;

static int cards_of(const struct draft *d)
{
    return shape_gpus(&d->shape);
}

static void add_tier(struct lever_list *l, const struct draft *d)
{
    const struct provider *p = d->groups[d->train_group].offer->sku->provider;
    const struct quality *q = quality_of(l->b, p);
    const double lost = q->failure_card_hours > 0 ? q->failure_factor * (q->restart_hours + q->repair_hours) *
                                                        cards_of(d) / q->failure_card_hours
                                                  : 0;
    if (p->tier == NULL || lost < FAULTS_LEAST)
        return;
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i].kind == LEVER_FAULTS && l->items[i].tier != NULL && strcmp(l->items[i].tier, p->tier) == 0)
            return;
    const char *path = arena_printf(l->b->arena, "/workload/assumptions/tier_%s_failure_factor", p->tier);
    add(l, LEVER_FAULTS, path, "ratio", q->failure_factor)->tier = p->tier;
}

/* How often machines fail: everywhere, and at the suppliers that lead. */
static void add_faults(struct lever_list *l, const struct option_list *ranked)
{
    const struct param *between = param_find(&l->b->params, "train.failure_gpu_hours");
    bool counts = false;
    for (size_t i = 0; i < ranked->n && i < 2; i++) {
        const struct estimate *e = ranked->items[i]->estimate;
        if (!l->b->trains || e == NULL || !e->has_training)
            continue;
        counts |= build_faults_ratio(l->b, e, cards_of(ranked->items[i]), 1 - LEVER_REACH) > 1 + FAULTS_LEAST;
        add_tier(l, ranked->items[i]);
    }
    if (counts && between != NULL)
        add(l, LEVER_FAULTS, "/workload/assumptions/train.failure_gpu_hours", between->unit, between->value);
}

size_t levers_of(struct build *b, const struct option_list *ranked, struct lever *ret, size_t max)
{
    struct lever_list l = {.b = b, .items = ret, .max = max};
    if (ranked->n == 0)
        return 0;
    add_work(&l);
    add_speed(&l, ranked->items[0]);
    if (b->deadline_day != INT_MAX)
        add(&l, LEVER_DEADLINE, "/workload/constraints/deadline_on", "days", b->deadline_day + 1)->whole = true;
    if (b->budget_minor > 0)
        add(&l, LEVER_BUDGET, "/workload/constraints/budget", b->day.currency, (double)b->budget_minor / MONEY_MINOR);
    add_prices(&l, ranked);
    add_service(&l);
    add_requests(&l);
    add_faults(&l, ranked);
    add_fabric(&l, ranked);
    add(&l, LEVER_EGRESS, "/workload/constraints/egress_gb", "GB", b->workload->constraints.egress_gb);
    return l.n;
}

/* A peak is no lower than the mean. */
static void apply_member(const struct lever *l, double factor, struct serving *s)
{
    void *at = (char *)s + l->member;
    if (l->kind == LEVER_TOKENS)
        *(int *)at = (int)lround(l->now * factor);
    else
        *(double *)at = l->member == offsetof(struct serving, peak_factor) ? fmax(1, l->now * factor) : l->now * factor;
}

void lever_apply(const struct build *b, const struct lever *l, double factor, struct workload *w,
                 struct replan_ask *ask)
{
    struct training *t = &w->training;
    struct serving *s = &w->serving;
    *w = *b->workload;
    *ask = (struct replan_ask){.workload = w, .kinds = ~0u, .near = true};
    switch (l->kind) {
    case LEVER_WORK:
        t->tokens *= factor;
        t->samples *= factor;
        t->steps *= factor;
        break;
    case LEVER_RUNS:
        t->runs = (int)lround(l->now * factor);
        break;
    case LEVER_SPEED:
        ask->slowdown = (struct slowdown){l->gpu, l->inverse ? factor : 1 / factor};
        break;
    case LEVER_PRICE:
        ask->reprice = l->reprice;
        ask->reprice.factor = factor;
        break;
    case LEVER_LOAD:
        s->requests_per_s *= factor;
        s->concurrency *= factor;
        s->users *= factor;
        break;
    case LEVER_MONTHS:
        s->months *= factor;
        break;
    case LEVER_TOKENS:
    case LEVER_SERVICE:
        apply_member(l, factor, s);
        break;
    case LEVER_EGRESS:
        w->constraints.egress_gb *= factor;
        break;
    case LEVER_DEADLINE:
        w->constraints.deadline_on = b->start + (date_t)lround(l->now * factor) - 1;
        break;
    case LEVER_FAULTS:
        ask->faults = (struct faults){l->tier, factor};
        break;
    case LEVER_BUDGET:
        w->constraints.budget_minor = llround((double)w->constraints.budget_minor * factor);
        break;
    }
}
