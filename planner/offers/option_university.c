/* option_university.c — `university_time`: card-hours by user class, off-peak calendar, queue, job cap, agreement
 * first.
 *
 * finish = agreement (+ desensitising) + waits of all jobs + work / off-peak share. Runs are billed, waits are not. No
 * service runs there: the reserve of the plan sits on a commercial machine and is part of the bill as everywhere.
 */
#include "planner/offers/option_university.h"

#include <limits.h>
#include <math.h>

#include "planner/costing/costing.h"
#include "planner/drafting/extras.h"
#include "planner/drafting/phases.h"
#include "planner/offers/candidate.h"
#include "planner/offers/guess.h"
#include "planner/offers/kinds.h"
#include "planner/offers/recall.h"
#include "planner/reserve/batch.h"

enum { UNIVERSITY_SKUS_MAX = 96, ALIKE_MAX = 3, KEPT_MAX = 8, PHYSICS_MAX = 20, PHYSICS_LEAN = 8 };

int university_terms_bind(const struct param_table *params, struct university_terms *ret, struct err *err)
{
    static const struct param_field fields[] = {
        PARAM_FIELD(struct university_terms, agreement_days, "agreement_days"),
        PARAM_FIELD(struct university_terms, desensitise_days, "desensitise_days"),
        PARAM_FIELD(struct university_terms, off_peak_share, "off_peak_share"),
        PARAM_FIELD(struct university_terms, job_cap_h, "university_job_cap_hours"),
        PARAM_FIELD(struct university_terms, queue_median_h, "university_queue_median_hours"),
        PARAM_FIELD(struct university_terms, queue_p90_h, "university_queue_p90_hours"),
        PARAM_FIELD(struct university_terms, restart_hours, "university_restart_hours"),
        PARAM_FIELD(struct university_terms, user_class, "university_user_class"),
    };
    return param_bind(params, fields, sizeof fields / sizeof *fields, ret, err);
}

const char *university_user_class(double value)
{
    return value < 0.5 ? "internal" : value < 1.5 ? "partner" : "external";
}

double university_mean_wait_h(double median_h, double p90_h)
{
    if (!(median_h > 0))
        return 0;
    const double sigma = p90_h > median_h ? log(p90_h / median_h) / NORMAL_P90 : 0;
    return median_h * exp(sigma * sigma / 2);
}

struct university_chain university_chain_of(double hours, double cap_h, double restart_h, double median_h, double p90_h)
{
    struct university_chain c = {.jobs = 1};
    if (cap_h > restart_h && hours > cap_h)
        c.jobs = (int)ceil(fmin(hours / cap_h, 1e6));
    c.hours = hours + c.jobs * restart_h;
    c.wait_h = c.jobs * university_mean_wait_h(median_h, p90_h);
    return c;
}

/* What holds for one centre: its own words, or the assumption where it says nothing. */
struct terms {
    struct university_terms t;
    const char *user_class;
    double lead_days;
};

static double stated_or(double stated, double assumed)
{
    return stated > 0 ? stated : assumed;
}

static int nodes_allowed(const struct build *b, const struct sku *sku)
{
    bool by_team;
    const int most = candidate_max_nodes(b, &by_team);
    return sku->max_nodes < most ? sku->max_nodes : most;
}

/* Off-peak: every step has only the hours of nights and weekends in a day; whole days keep their number. */
static void go_off_peak(struct draft *d, double hours_per_day)
{
    for (int i = 0; i < d->n_steps; i++) {
        struct draft_step *s = &d->steps[i];
        if (s->hours_per_day <= hours_per_day)
            continue;
        if (s->phase != PHASE_TRAIN && s->phase != PHASE_DEVELOP)
            s->hours *= hours_per_day / s->hours_per_day;
        s->hours_per_day = hours_per_day;
    }
}

static struct draft_step *train_step(struct draft *d)
{
    for (int i = 0; i < d->n_steps; i++)
        if (d->steps[i].phase == PHASE_TRAIN)
            return &d->steps[i];
    return NULL;
}

static void say_conditions(struct build *b, struct draft *d, const struct terms *t, const struct university_chain *c,
                           double cap_h)
{
    note_num(note_add(&d->reasons, "university_agreement"), "days", t->t.agreement_days);
    if (b->workload->constraints.data_sensitive)
        note_num(note_add(&d->reasons, "desensitise_first"), "days", t->t.desensitise_days);
    note_percent(note_add(&d->reasons, "university_off_peak"), "share", t->t.off_peak_share);
    struct note *n = note_add(&d->reasons, c->jobs > 1 ? "university_queue" : "university_one_job");
    note_num(note_num(note_num(n, "jobs", c->jobs), "cap_h", cap_h), "wait_days", ceil(c->wait_h / 24));
    note_text(note_add(&d->reasons, "university_class"), "class", t->user_class);
    if (b->reserve.offer)
        note_text(note_add(&d->reasons, "reserve_elsewhere"), "provider", b->reserve.offer->sku->provider->id);
    struct note *w = note_add(&d->warnings, "queue_uncertain");
    note_num(note_num(w, "median_h", d->queue_median_h), "p90_h", d->queue_p90_h);
}

/* How far the best shape of a centre misses its cards' memory, GB. */
struct miss {
    double short_gb;
    const struct gpu *gpu;
    const struct estimate *estimate;
    int cards;
};

struct search {
    struct build *b;
    struct err *err;
    struct terms t;
    struct candidate_list list;
    struct draft scratch;
    struct miss miss;
};

/* Runs on the candidate's nodes, validation and debugging on few of its cards where it has such. */
static int add_groups(struct draft *d, const struct candidate *c)
{
    d->train_group = draft_add_group(d, c->offer, "train", c->by_card, c->cards, c->nodes);
    if (c->home_cards > 0 && c->home_cards < c->offer->sku->gpus_per_node)
        return draft_add_group(d, c->offer, "validate", true, c->home_cards, 1);
    return d->train_group;
}

/* The candidate as a draft that was started; its words only where `say`. -1: more parts than a draft holds. */
static int fill(const struct search *s, const struct candidate *c, bool say, struct draft *d)
{
    struct build *b = s->b;
    const struct terms *t = &s->t;
    const struct provider *p = c->offer->sku->provider;
    const double cap_h = stated_or(p->job_cap_h, t->t.job_cap_h);
    d->shape = build_shape(b, c->offer->sku, c->cards, c->nodes / c->lanes, NULL);
    d->estimate = c->estimate;
    d->queue_median_h = stated_or(p->queue_median_h, t->t.queue_median_h);
    d->queue_p90_h = stated_or(p->queue_p90_h, t->t.queue_p90_h);
    const struct university_chain chain = university_chain_of(build_train_hours(b, c->estimate, c->lanes), cap_h,
                                                              t->t.restart_hours, d->queue_median_h, d->queue_p90_h);
    const int home = add_groups(d, c);
    if (home < 0 ||
        phases_standard(b, d, home, d->train_group, c->nodes, chain.hours + candidate_staging_hours(b)) != 0)
        return -1;
    go_off_peak(d, 24 * t->t.off_peak_share);
    struct draft_step *train = train_step(d);
    if (train != NULL)
        train->wait_days += chain.wait_h / 24;
    d->steps[0].wait_days += t->lead_days;
    d->lead_days = t->lead_days;
    d->queue_jobs = chain.jobs;
    if (say)
        say_conditions(b, d, t, &chain, cap_h);
    return extras_standard(b, d);
}

static int parts_failed(const struct search *s)
{
    return err_set(s->err, ERR_INTERNAL, "a university's option has more parts than a draft holds");
}

/* Reckons a candidate and adds it; one beyond the horizon is told instead. */
static int add(struct search *s, const struct candidate *tried)
{
    struct build *b = s->b;
    struct candidate c = *tried;
    struct reckoning r;
    draft_hush(&s->scratch);
    build_draft_restart(b, &s->scratch, KIND_UNIVERSITY_TIME);
    if (fill(s, &c, false, &s->scratch) != 0)
        return parts_failed(s);
    b->n_reckoned++;
    const bool had = costing_reckon(&b->day, &s->scratch, &what_if_expected, &r) == 0;
    if (had) {
        c.total = r.total;
        c.finish_days = r.schedule.finish_days;
        candidate_limit(b, &c);
        candidate_add(&s->list, &c);
    } else {
        note_num(build_refuse(b, KIND_UNIVERSITY_TIME, "beyond_horizon"), "days", b->a.horizon_days);
    }
    recall_store(b, KIND_UNIVERSITY_TIME, tried, had ? &c : NULL);
    return 0;
}

/* *ret: the estimate where the work fits this shape and has an end; NULL otherwise. */
static int fitting(struct search *s, const struct sku *sku, const struct shape *shape, const struct estimate **ret)
{
    struct build *b = s->b;
    *ret = NULL;
    if (b->refusals[KIND_UNIVERSITY_TIME].n + (s->miss.gpu != NULL) > 0 && guess_hopeless(b, shape))
        return 0; /* as hopeless as what is told already */
    const struct estimate *e = build_physics(b, shape, s->err);
    if (e == NULL)
        return build_stops(s->err) ? -1 : 0;
    const double gb = e->memory.total_gb - e->memory.usable_gb;
    if (e->fits == FITS_NO)
        build_refuse_host(b, KIND_UNIVERSITY_TIME, sku, shape, e);
    if (e->fits == FITS_NO && gb > 0 && (s->miss.gpu == NULL || gb < s->miss.short_gb))
        s->miss = (struct miss){gb, shape->gpu, e, shape->gpus_per_node};
    if (e->fits != FITS_NO && isfinite(build_train_hours(b, e, b->training.parallel_runs)))
        *ret = e;
    return 0;
}

/* Fewest cards, sold singly, that hold the model: validation and debugging need no more. 0 = a whole machine. */
static int fewest_cards(struct search *s, const struct sku *sku, int *ret)
{
    const struct shape one = {.gpu = sku->gpu, .gpus_per_node = 1, .nodes = 1};
    const double least = build_state_bytes(s->b) / shape_usable_bytes(&one);
    int cards = 1;
    *ret = 0;
    while (cards < least && cards < sku->gpus_per_node)
        cards *= 2;
    for (int tries = 0; sku->sold_by_card && cards < sku->gpus_per_node && tries < 2; tries++, cards *= 2) {
        const struct shape shape = build_shape(s->b, sku, cards, 1, NULL);
        const struct estimate *e;
        if (fitting(s, sku, &shape, &e) != 0)
            return -1;
        if (e != NULL) {
            *ret = cards;
            return 0;
        }
    }
    return 0;
}

/* A whole machine, and more of them side by side where one does not hold the model or the date presses. */
static int try_offer(struct search *s, const struct offer *offer)
{
    struct build *b = s->b;
    const struct sku *sku = offer->sku;
    const int lanes = b->training.parallel_runs, most = nodes_allowed(b, sku);
    const bool hurry = b->workload->priority == PRIORITY_FASTEST || b->deadline_day != INT_MAX;
    struct candidate c = {.offer = offer, .cards = sku->gpus_per_node, .lanes = lanes};
    int kept = 0;
    if (lanes > sku->max_nodes)
        return 0;
    c.by_card = offer->by_card && !offer->by_node;
    if (fewest_cards(s, sku, &c.home_cards) != 0)
        return -1;
    for (int nodes = 1; nodes <= most && nodes * lanes <= sku->max_nodes && kept < 2; nodes *= 2) {
        if (kept == 1 && (!hurry || b->lean))
            break;
        const struct shape shape = build_shape(b, sku, sku->gpus_per_node, nodes, NULL);
        if (fitting(s, sku, &shape, &c.estimate) != 0)
            return -1;
        c.nodes = nodes * lanes;
        if (c.estimate != NULL && add(s, &c) != 0)
            return -1;
        kept += c.estimate != NULL;
    }
    return 0;
}

/* The machines of all centres; of those that differ in nothing but seller and price, the cheapest by the card-hour. */
static size_t find_offers(struct build *b, const char *user_class, const struct offer **ret)
{
    const struct sku *skus[UNIVERSITY_SKUS_MAX];
    size_t n = 0, found = 0;
    for (size_t i = 0; i < b->catalog->n_providers; i++) {
        const struct provider *p = &b->catalog->providers[i];
        if (p->kind == PROVIDER_UNIVERSITY && market_provider_allowed(&b->market, p, false))
            n = market_cheapest_alike(&b->market, p, true, ALIKE_MAX, skus, n, UNIVERSITY_SKUS_MAX);
    }
    for (size_t i = 0; i < n; i++) {
        const struct offer *o = market_offer_at(&b->market, skus[i], user_class, true);
        size_t at = 0;
        while (o != NULL && at < found && !market_alike(ret[at]->sku, o->sku))
            at++;
        if (o != NULL && (at == found || offer_card_hour(o) < offer_card_hour(ret[at])))
            ret[at] = o;
        found += o != NULL && at == found;
    }
    return found;
}

/* What a machine promises by rough hours, as the priority weighs cost and days; the lower the better. */
static double promise_of(const struct search *s, const struct offer *o)
{
    const struct university_terms *t = &s->t.t;
    const double hours = guess_hours(s->b, o->sku->gpu, o->sku->gpus_per_node);
    double cost, time, risk;
    candidate_weights(s->b, &cost, &time, &risk);
    return cost * log(fmax(1, hours * o->sku->gpus_per_node * offer_card_hour(o))) +
           time * log(1 + s->t.lead_days + hours / 24 / t->off_peak_share);
}

/* The most promising first; ties stay in the catalog's order. */
static void order(const struct search *s, const struct offer **offers, size_t n)
{
    double promises[UNIVERSITY_SKUS_MAX];
    for (size_t i = 0; i < n; i++) {
        const struct offer *o = offers[i];
        const double mine = promise_of(s, o);
        size_t at = i;
        for (; at > 0 && promises[at - 1] > mine; at--) {
            offers[at] = offers[at - 1];
            promises[at] = promises[at - 1];
        }
        offers[at] = o;
        promises[at] = mine;
    }
}

static int try_all(struct search *s, const struct offer *const *offers, size_t n)
{
    const int physics = s->b->n_physics + (s->b->lean ? PHYSICS_LEAN : PHYSICS_MAX);
    for (size_t i = 0; i < n && s->b->n_physics < physics; i++)
        if (try_offer(s, offers[i]) != 0)
            return -1;
    return 0;
}

/* What the plan that this one is made of came to, where no other price may bring another seller forward. */
static const struct recall *came_to(const struct build *b)
{
    const struct recall *r = recall_of(b, KIND_UNIVERSITY_TIME);
    for (size_t i = 0; r != NULL && i < r->n; i++)
        if (recall_reprices(b, r->items[i].tried.offer->sku->gpu))
            return NULL;
    return r;
}

static int try_again(struct search *s, const struct recall *before)
{
    struct build *b = s->b;
    bool again[RECALLED_MAX];
    recall_promising(b, before, again);
    for (size_t i = 0; i < before->n; i++) {
        const struct recalled *e = &before->items[i];
        const bool holds = again[i] && recall_holds(b, e->tried.offer->sku);
        struct candidate c = holds ? e->found : e->tried;
        if (holds) {
            candidate_limit(b, &c);
            candidate_add(&s->list, &c);
            continue;
        }
        const int cards = c.nodes / c.lanes * c.cards;
        c.estimate = again[i] ? build_physics_again(b, c.estimate, c.offer->sku->gpu, cards) : NULL;
        if (c.estimate != NULL && add(s, &c) != 0)
            return -1;
    }
    return 0;
}

/* The candidates worth showing as finished drafts. */
static int keep(struct search *s, struct option_list *out)
{
    struct build *b = s->b;
    const double shown = b->lean ? 1 : fmax(1, b->a.options_per_kind - 1); /* few and alike */
    size_t best[KEPT_MAX];
    const size_t n = candidate_choose(b, &s->list, best, shown < KEPT_MAX ? (size_t)shown : KEPT_MAX);
    for (size_t i = 0; i < n; i++) {
        struct draft *d = build_draft_new(b, KIND_UNIVERSITY_TIME);
        if (d == NULL)
            return err_set(s->err, ERR_NOMEM, "university draft does not fit");
        if (fill(s, &s->list.items[best[i]], true, d) != 0)
            return parts_failed(s);
        if (batch_keep(b, out, d, s->err) != 0)
            return -1;
    }
    return 0;
}

/* The rule that stops the whole kind, before any machine is looked at. */
static bool refused(struct build *b)
{
    const struct constraints *c = &b->workload->constraints;
    if (!b->trains)
        build_refuse(b, KIND_UNIVERSITY_TIME, "university_no_serving");
    else if (c->data_sensitive && c->can_desensitise != TRI_YES)
        build_refuse(b, KIND_UNIVERSITY_TIME, "data_sensitive");
    else
        return false;
    return true;
}

int option_university_build(struct build *b, struct option_list *out, struct err *err)
{
    struct search s = {.b = b, .err = err};
    struct terms *t = &s.t;
    if (refused(b))
        return 0;
    if (university_terms_bind(&b->params, &t->t, err) != 0)
        return -1;
    if (candidate_list_init(b, &s.list) != 0)
        return err_set(err, ERR_NOMEM, "no room for candidates");
    t->user_class = university_user_class(t->t.user_class);
    t->lead_days = t->t.agreement_days + (b->workload->constraints.data_sensitive ? t->t.desensitise_days : 0);
    const struct recall *before = came_to(b);
    const struct offer *offers[UNIVERSITY_SKUS_MAX];
    const size_t n = before == NULL ? find_offers(b, t->user_class, offers) : before->n;
    if (n == 0) {
        build_refuse(b, KIND_UNIVERSITY_TIME, "no_university_offer");
        return 0;
    }
    if (before == NULL)
        order(&s, offers, n);
    if (before != NULL ? try_again(&s, before) != 0 : try_all(&s, offers, n) != 0)
        return -1;
    if (s.list.n == 0 && s.miss.gpu != NULL)
        build_refuse_memory(b, KIND_UNIVERSITY_TIME, s.miss.gpu, s.miss.cards, s.miss.estimate, s.miss.short_gb);
    else if (s.list.n == 0 && b->refusals[KIND_UNIVERSITY_TIME].n == 0)
        build_refuse(b, KIND_UNIVERSITY_TIME, "university_too_few_machines");
    return keep(&s, out);
}
