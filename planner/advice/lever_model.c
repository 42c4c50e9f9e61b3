/* lever_model.c — see levers.h: who leads when one input moves, read from lines. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "planner/advice/levers.h"
#include "planner/costing/costing.h"
#include "planner/offers/candidate.h"

/* A kind whose best is this much of the score behind is not planned again: a step of a bill does not make up for it. */
static const double KIND_LEAD = 0.08;

/* A kind counts for the scale while its cheapest is no more than this dearer than the cheapest of all, or its soonest
 * later. */
static const double SCALE_MARGIN = 1.25;

static double between(const double y[3], double x)
{
    const double t = fmax(-1, fmin(1, (x - 1) / LEVER_REACH));
    return t < 0 ? y[1] + (y[0] - y[1]) * -t : y[1] + (y[2] - y[1]) * t;
}

/* What of an option's bill follows this price, tax included. */
static double priced(const struct option *o, const struct reprice *r)
{
    double sum = 0;
    for (size_t i = 0; i < o->cost.n_lines; i++) {
        const struct cost_line *l = &o->cost.lines[i];
        const struct price *p = l->price;
        const char *id = l->sku                                                ? l->sku->id
                         : p && p->subject == SUBJECT_NETWORK && p->subject_id ? p->subject_id
                                                                               : NULL;
        const bool same = id && (l->sku != NULL) == (r->subject == SUBJECT_SKU) && strcmp(id, r->id) == 0;
        sum += same ? (double)(l->minor + l->tax_minor) : 0;
    }
    return sum;
}

static double section(const struct option *o, enum section s)
{
    return o->cost.net > 0 ? (double)o->cost.by_section[s] * (double)o->cost.total / (double)o->cost.net : 0;
}

/* Hours of a run with other faults, times what they are. */
static double faults_of(const struct build *b, const struct lever *l, const struct draft *d, double factor)
{
    const char *tier = d->groups[d->train_group].offer->sku->provider->tier;
    const int cards = shape_gpus(&d->shape);
    if (d->estimate == NULL || !d->estimate->has_training)
        return 1;
    if (l->tier == NULL)
        return build_faults_ratio(b, d->estimate, cards, factor);
    return tier != NULL && strcmp(tier, l->tier) == 0 ? 1 + d->lost_share * (factor - 1) : 1;
}

static double work_of(const struct build *b, const struct lever *l, const struct draft *d, double factor)
{
    if (l->kind == LEVER_FAULTS)
        return faults_of(b, l, d, factor);
    if (l->kind == LEVER_WORK || l->kind == LEVER_RUNS)
        return factor;
    if (l->kind == LEVER_SPEED && (l->gpu == NULL || d->shape.gpu == l->gpu))
        return l->inverse ? factor : 1 / factor;
    return 1;
}

static double more_cost(const struct build *b, const struct lever *l, const struct draft *d, double factor)
{
    const struct option *o = d->option;
    switch (l->kind) {
    case LEVER_PRICE:
        return priced(o, &l->reprice) * (factor - 1);
    case LEVER_EGRESS:
        return section(o, SECTION_EGRESS) * (factor - 1);
    case LEVER_MONTHS:
        return section(o, SECTION_INFERENCE_RESERVE) * (factor - 1);
    case LEVER_LOAD:
        return d->reserve ? reserve_plan_change(&b->a, d->reserve, factor) * (double)o->cost.total / (double)o->cost.net
                          : 0;
    case LEVER_WORK:
    case LEVER_RUNS:
    case LEVER_SPEED:
    case LEVER_DEADLINE:
    case LEVER_BUDGET:
    case LEVER_FAULTS:
    case LEVER_TOKENS:
    case LEVER_SERVICE: /* what they cost is only known from sizing again */
        break;
    }
    return 0;
}

static bool allowed(const struct lever_model *m, const struct lever *l, const struct lever_curve *c, double factor,
                    double total, double finish)
{
    const struct build *b = m->b;
    if (isnan(total) || isnan(finish))
        return false;
    if (!m->has_limits)
        return c->feasible;
    const double days = b->deadline_day == INT_MAX
                            ? (double)INFINITY
                            : ((double)b->deadline_day + 1) * (l->kind == LEVER_DEADLINE ? factor : 1);
    const double budget =
        b->budget_minor <= 0 ? INFINITY : (double)b->budget_minor * (l->kind == LEVER_BUDGET ? factor : 1);
    return finish + c->late_days <= days + 1e-9 && total * c->high_share <= budget * (1 + 1e-12);
}

/* Every option at one value of the lever. */
struct reading {
    double total[LEVER_OPTIONS], finish[LEVER_OPTIONS], score[LEVER_OPTIONS];
    bool in[LEVER_OPTIONS]; /* keeps the limits */
};

static void read_all(const struct lever_model *m, const struct lever *l, double factor, struct reading *r)
{
    double least = INFINITY, soonest = INFINITY;
    for (size_t i = 0; i < m->n; i++) {
        const struct lever_curve *c = &m->curves[i];
        const double work = work_of(m->b, l, c->draft, factor);
        r->total[i] = between(c->total, work) + more_cost(m->b, l, c->draft, factor);
        r->finish[i] = between(c->finish, work);
        r->in[i] = allowed(m, l, c, factor, r->total[i], r->finish[i]);
        least = r->in[i] ? fmin(least, r->total[i]) : least;
        soonest = r->in[i] ? fmin(soonest, r->finish[i]) : soonest;
    }
    for (size_t i = 0; i < m->n; i++)
        r->score[i] = !r->in[i] ? -1
                                : m->weight_cost * least / fmax(1, r->total[i]) +
                                      m->weight_time * soonest / r->finish[i] + m->weight_risk * m->curves[i].risk;
}

int lever_model_leader(const struct lever_model *m, const struct lever *l, double factor, double *ret_margin)
{
    struct reading r;
    double second = 0;
    int lead = -1;
    read_all(m, l, factor, &r);
    for (size_t i = 0; i < m->n; i++) {
        if (r.in[i] && (lead < 0 || r.score[i] > r.score[lead] + 1e-12))
            lead = (int)i;
        second = i > 0 ? fmax(second, r.score[i]) : second;
    }
    *ret_margin = r.score[0] - second;
    return lead;
}

/* Is anything of this kind near what cost or time is measured by? Without it the scores of the others would move. */
static bool sets_the_scale(const struct build *b, int kind, unsigned others)
{
    double least = INFINITY, soonest = INFINITY;
    for (int k = 0; k < KIND_COUNT; k++)
        if (others & 1u << k) {
            least = fmin(least, b->kind_least[k]);
            soonest = fmin(soonest, b->kind_soonest[k]);
        }
    return b->kind_least[kind] < least * SCALE_MARGIN || b->kind_soonest[kind] < soonest * SCALE_MARGIN;
}

unsigned lever_model_kinds(const struct lever_model *m, const struct lever *l, double factor)
{
    struct reading r, now; /* now: a kind may have the like of its best on machines that keep their price */
    double most = 0;
    unsigned kinds = 0;
    if (l->kind == LEVER_DEADLINE || l->kind == LEVER_BUDGET || l->kind == LEVER_TOKENS || l->kind == LEVER_SERVICE)
        return ~0u;
    read_all(m, l, factor, &r);
    read_all(m, l, 1, &now);
    for (size_t i = 0; i < m->n; i++)
        most = fmax(most, r.score[i]);
    for (size_t i = 0; i < m->n; i++)
        if (r.score[i] < 0 || fmax(r.score[i], now.score[i]) > most - KIND_LEAD)
            kinds |= 1u << m->curves[i].draft->kind;
    unsigned all = kinds;
    for (int k = 0; k < KIND_COUNT; k++)
        if (sets_the_scale(m->b, k, kinds))
            all |= 1u << k;
    return all;
}

static bool curve_make(struct build *b, const struct draft *d, bool needs_work, struct lever_curve *c)
{
    const struct option *o = d->option;
    *c = (struct lever_curve){.draft = d, .feasible = o->feasible, .risk = o->scores.risk};
    for (int k = 0; k < 3; k++) {
        struct what_if w = what_if_expected;
        struct reckoning r;
        w.time = 1 + (k - 1) * LEVER_REACH;
        const bool known = k == 1 || !needs_work || costing_reckon(&b->day, d, &w, &r) == 0;
        const bool as_is = k == 1 || !needs_work;
        c->total[k] = as_is ? (double)d->base->total : known ? (double)r.total : NAN;
        c->finish[k] = as_is ? d->base->schedule.finish_days : known ? r.schedule.finish_days : NAN;
    }
    if (!(c->total[1] > 0) || d->base->net <= 0)
        return false;
    c->high_share = fmax(1, (double)o->cost.high / (double)o->cost.total);
    c->late_days = o->finish.confident_days - c->finish[1];
    return true;
}

bool lever_model_make(struct build *b, const struct option_list *ranked, struct lever_model *ret)
{
    *ret = (struct lever_model){.b = b, .has_limits = b->deadline_day != INT_MAX || b->budget_minor > 0};
    for (size_t i = 0; i < ranked->n && ret->n < LEVER_OPTIONS; i++)
        if (curve_make(b, ranked->items[i], b->trains, &ret->curves[ret->n]))
            ret->n++;
    candidate_weights(b, &ret->weight_cost, &ret->weight_time, &ret->weight_risk);
    return ret->n > 0 && ret->curves[0].draft == ranked->items[0];
}
