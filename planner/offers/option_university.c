/* option_university.c — `university_time`: card-hours by user class, off-peak calendar, queue, job cap, agreement
 * first.
 *
 * finish = agreement (+ desensitising) + waits of all jobs + work / off-peak share. Runs are billed, waits are not. No
 * service runs there: the reserve of the plan sits on a commercial machine and is part of the bill as everywhere.
 */
#include "planner/offers/option_university.h"

#include <limits.h>
#include <math.h>

#include "planner/drafting/extras.h"
#include "planner/drafting/phases.h"
#include "planner/offers/candidate.h"
#include "planner/offers/guess.h"
#include "planner/offers/kinds.h"
#include "planner/reserve/batch.h"

enum { UNIVERSITY_SKUS_MAX = 4 };

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

/* One way of using one centre's machine: runs on `shape`, validation and debugging on `home_cards` cards of it. */
struct use {
    const struct offer *offer;
    struct shape shape;
    const struct estimate *estimate;
    int home_cards; /* 0 = on a whole machine */
};

static int add_groups(struct draft *d, const struct use *u, int units)
{
    const struct offer *o = u->offer;
    d->train_group = draft_add_group(d, o, "train", o->by_card && !o->by_node, u->shape.gpus_per_node, units);
    if (u->home_cards > 0 && u->home_cards < o->sku->gpus_per_node)
        return draft_add_group(d, o, "validate", true, u->home_cards, 1);
    return d->train_group;
}

/* 0 also when the draft falls through (longer than the horizon). */
static int add_draft(struct build *b, struct option_list *out, const struct use *u, const struct terms *t,
                     struct err *err)
{
    const struct provider *p = u->offer->sku->provider;
    const int lanes = b->training.parallel_runs, units = u->shape.nodes * lanes;
    const double cap_h = stated_or(p->job_cap_h, t->t.job_cap_h);
    struct draft *d = build_draft_new(b, KIND_UNIVERSITY_TIME);
    if (!d)
        return err_set(err, ERR_NOMEM, "university draft does not fit");
    d->shape = u->shape;
    d->estimate = u->estimate;
    d->queue_median_h = stated_or(p->queue_median_h, t->t.queue_median_h);
    d->queue_p90_h = stated_or(p->queue_p90_h, t->t.queue_p90_h);
    const struct university_chain chain = university_chain_of(build_train_hours(b, u->estimate, lanes), cap_h,
                                                              t->t.restart_hours, d->queue_median_h, d->queue_p90_h);
    const int home = add_groups(d, u, units);
    if (home < 0 || phases_standard(b, d, home, d->train_group, units, chain.hours + candidate_staging_hours(b)))
        return 0;
    go_off_peak(d, 24 * t->t.off_peak_share);
    struct draft_step *train = train_step(d);
    if (train)
        train->wait_days += chain.wait_h / 24;
    d->steps[0].wait_days += t->lead_days;
    d->lead_days = t->lead_days;
    d->queue_jobs = chain.jobs;
    say_conditions(b, d, t, &chain, cap_h);
    if (extras_standard(b, d))
        return 0;
    return batch_keep(b, out, d, err);
}

/* How far the best shape of a centre misses its cards' memory, GB. */
struct miss {
    double short_gb;
    const struct gpu *gpu;
    const struct estimate *estimate;
    int cards;
};

/* The estimate where the work fits this shape and has an end; NULL otherwise. */
static const struct estimate *fitting(struct build *b, const struct sku *sku, const struct shape *shape,
                                      struct miss *miss, struct err *err)
{
    if (b->refusals[KIND_UNIVERSITY_TIME].n + (miss->gpu != NULL) > 0 && guess_hopeless(b, shape))
        return NULL; /* as hopeless as what is told already */
    const struct estimate *e = build_physics(b, shape, err);
    if (!e)
        return NULL;
    const double gb = e->memory.total_gb - e->memory.usable_gb;
    if (e->fits == FITS_NO)
        build_refuse_host(b, KIND_UNIVERSITY_TIME, sku, shape, e);
    if (e->fits == FITS_NO && gb > 0 && (!miss->gpu || gb < miss->short_gb))
        *miss = (struct miss){gb, shape->gpu, e, shape->gpus_per_node};
    return e->fits != FITS_NO && isfinite(build_train_hours(b, e, b->training.parallel_runs)) ? e : NULL;
}

/* Fewest cards, sold singly, that hold the model: validation and debugging need no more. 0 = a whole machine. */
static int fewest_cards(struct build *b, const struct sku *sku, struct miss *miss, struct err *err)
{
    struct shape one = {.gpu = sku->gpu, .gpus_per_node = 1, .nodes = 1};
    const double least = build_state_bytes(b) / shape_usable_bytes(&one);
    int cards = 1;
    while (cards < least && cards < sku->gpus_per_node)
        cards *= 2;
    for (int tries = 0; sku->sold_by_card && cards < sku->gpus_per_node && tries < 2; tries++, cards *= 2) {
        const struct shape shape = build_shape(b, sku, cards, 1, NULL);
        if (fitting(b, sku, &shape, miss, err))
            return cards;
    }
    return 0;
}

/* A whole machine, and more of them side by side where one does not hold the model or the date presses. */
static int try_sku(struct build *b, struct option_list *out, const struct offer *offer, const struct terms *t,
                   struct miss *miss, struct err *err)
{
    const struct sku *sku = offer->sku;
    const int lanes = b->training.parallel_runs, most = nodes_allowed(b, sku);
    const bool hurry = b->workload->priority == PRIORITY_FASTEST || b->deadline_day != INT_MAX;
    struct use u = {.offer = offer};
    int kept = 0;
    if (lanes > sku->max_nodes)
        return 0;
    u.home_cards = fewest_cards(b, sku, miss, err);
    for (int nodes = 1; nodes <= most && nodes * lanes <= sku->max_nodes && kept < 2; nodes *= 2) {
        if (kept == 1 && (!hurry || b->lean))
            break;
        u.shape = build_shape(b, sku, sku->gpus_per_node, nodes, NULL);
        u.estimate = fitting(b, offer->sku, &u.shape, miss, err);
        if (arena_failed(b->arena))
            return err_set(err, ERR_NOMEM, "university options do not fit");
        if (u.estimate && add_draft(b, out, &u, t, err))
            return -1;
        kept += u.estimate != NULL;
    }
    return 0;
}

/* The cheapest few machines of all centres by the card-hour. */
static size_t find_offers(struct build *b, const char *user_class, const struct offer **ret, size_t max)
{
    const struct sku *skus[UNIVERSITY_SKUS_MAX * 2];
    size_t n = 0, found = 0;
    for (size_t i = 0; i < b->catalog->n_providers; i++) {
        const struct provider *p = &b->catalog->providers[i];
        if (p->kind == PROVIDER_UNIVERSITY && market_provider_allowed(&b->market, p, false))
            n = market_cheapest_of(&b->market, p, true, skus, n, UNIVERSITY_SKUS_MAX * 2);
    }
    for (size_t i = 0; i < n && found < max; i++) {
        const struct offer *o = market_offer_at(&b->market, skus[i], user_class, true);
        if (o)
            ret[found++] = o;
    }
    return found;
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
    struct terms t;
    if (refused(b))
        return 0;
    if (university_terms_bind(&b->params, &t.t, err))
        return -1;
    t.user_class = university_user_class(t.t.user_class);
    t.lead_days = t.t.agreement_days + (b->workload->constraints.data_sensitive ? t.t.desensitise_days : 0);
    const struct offer *offers[UNIVERSITY_SKUS_MAX];
    const size_t n = find_offers(b, t.user_class, offers, b->lean ? 2 : UNIVERSITY_SKUS_MAX);
    if (n == 0) {
        build_refuse(b, KIND_UNIVERSITY_TIME, "no_university_offer");
        return 0;
    }
    const size_t before = out->n;
    struct miss miss = {0};
    for (size_t i = 0; i < n; i++)
        if (try_sku(b, out, offers[i], &t, &miss, err))
            return -1;
    if (out->n == before && miss.gpu)
        build_refuse_memory(b, KIND_UNIVERSITY_TIME, miss.gpu, miss.cards, miss.estimate, miss.short_gb);
    else if (out->n == before && b->refusals[KIND_UNIVERSITY_TIME].n == 0)
        build_refuse(b, KIND_UNIVERSITY_TIME, "university_too_few_machines");
    return 0;
}
