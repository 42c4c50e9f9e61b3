/* option_hybrid.c — `hybrid_cloud`: what splits is phases and runs, never one data-parallel job across the line.
 *
 * Validation, development, the sensitive part and the first lanes of runs stay at the local IDC; the other parallel
 * runs go to the public cloud at the far end of a dedicated line. How many lanes go out is tried over the range and the
 * split of least score at the request's priority is kept. The line is paid by the month while it is used, what is
 * staged over it takes its time, what comes back is egress.
 */
#include "planner/offers/option_hybrid.h"

#include <math.h>
#include <string.h>

#include "planner/costing/costing.h"
#include "planner/drafting/extras.h"
#include "planner/drafting/phases.h"
#include "planner/drafting/quality.h"
#include "planner/offers/candidate.h"
#include "planner/offers/hybrid_serving.h"
#include "planner/offers/hybrid_side.h"
#include "planner/offers/kinds.h"

enum { HYBRID_LINES_MAX = 3, HYBRID_SPLITS_MAX = 4 };

int hybrid_terms_bind(const struct param_table *params, struct hybrid_terms *ret, struct err *err)
{
    static const struct param_field fields[] = {
        PARAM_FIELD(struct hybrid_terms, desensitise_days, "desensitise_days"),
        PARAM_FIELD(struct hybrid_terms, line_efficiency, "line_efficiency"),
        PARAM_FIELD(struct hybrid_terms, run_result_gb_per_billion, "run_result_gb_per_billion_params"),
    };
    return param_bind(params, fields, sizeof fields / sizeof *fields, ret, err);
}

struct hybrid_split hybrid_split_of(int runs, int lanes_local, int lanes_out, double hours_local, double hours_out)
{
    const double rate_local = lanes_local / hours_local, rate_out = lanes_out / hours_out;
    int local = (int)lround(runs * rate_local / (rate_local + rate_out));
    local = local < 1 ? 1 : local > runs - 1 ? runs - 1 : local;
    return (struct hybrid_split){
        .runs_local = local,
        .runs_out = runs - local,
        .hours_local = local * hours_local / fmin(lanes_local, local),
        .hours_out = (runs - local) * hours_out / fmin(lanes_out, runs - local),
    };
}

double hybrid_staging_hours(double gb, double gbps, double efficiency)
{
    return gb > 0 && gbps > 0 && efficiency > 0 ? gb * 8 / (gbps * efficiency) / 3600 : 0;
}

/* A pair of providers and what its line costs. */
struct pair {
    const struct dedicated_line *line;
    const struct provider *home, *cloud;
    const struct price *line_price;
    int64_t line_micros;
    enum price_unit line_unit;
    struct hybrid_side local, burst;
    struct hybrid_terms terms;
};

/* False where the ends are not an IDC and a public cloud, or the line has no price. */
static bool pair_of(struct build *b, const struct dedicated_line *line, struct pair *ret)
{
    const enum provider_kind a = line->a->kind, z = line->b->kind;
    *ret = (struct pair){.line = line, .home = line->a, .cloud = line->b};
    if (a == PROVIDER_PUBLIC_CLOUD && z == PROVIDER_LOCAL_IDC)
        *ret = (struct pair){.line = line, .home = line->b, .cloud = line->a};
    else if (a != PROVIDER_LOCAL_IDC || z != PROVIDER_PUBLIC_CLOUD)
        return false;
    if (b->workload->constraints.data_sensitive && !ret->home->data_stays)
        return false;
    static const enum price_unit units[] = {UNIT_MBPS_MONTH, UNIT_MONTH};
    for (size_t i = 0; i < 2; i++) {
        ret->line_unit = units[i];
        if (!offer_unit_price(&b->day, SUBJECT_LINE, line->id, NULL, units[i], &ret->line_price, &ret->line_micros))
            return true;
    }
    return false;
}

static int train_index(const struct draft *d)
{
    for (int i = 0; i < d->n_steps; i++)
        if (d->steps[i].phase == PHASE_TRAIN)
            return i;
    return -1;
}

/* Every run stays inside one machine: machines side by side need no fabric between them. */
static void drop_fabric(struct draft *d)
{
    int kept = 0;
    for (int i = 0; i < d->n_extras; i++)
        if (d->extras[i].section != SECTION_NETWORK)
            d->extras[kept++] = d->extras[i];
    d->n_extras = kept;
}

static void add_line_cost(struct draft *d, const struct pair *p)
{
    struct draft_extra *x = draft_add_extra(d, SECTION_NETWORK, PHASE_TRAIN, PHASE_TRAIN);
    if (!x)
        return;
    x->basis = EXTRA_PER_MONTH;
    x->item = p->line->id;
    x->price = p->line_price;
    x->unit = p->line_unit;
    x->unit_micros = p->line_micros;
    x->quantity = p->line_unit == UNIT_MBPS_MONTH ? p->line->gbps * 1000 : 1;
}

/* The fabric of runs of several nodes at the cloud, where it is not in the price of the node. */
static void add_burst_fabric(struct build *b, struct draft *d, const struct pair *p, int lanes_out)
{
    const struct network *n = p->burst.offer->sku->network;
    const struct price *price;
    int64_t micros;
    if (p->burst.shape.nodes < 2 || !n ||
        offer_unit_price(&b->day, SUBJECT_NETWORK, n->id, p->cloud, UNIT_NODE_MONTH, &price, &micros) || micros <= 0)
        return;
    struct draft_extra *x = draft_add_extra(d, SECTION_NETWORK, PHASE_TRAIN, PHASE_TRAIN);
    if (!x)
        return;
    x->basis = EXTRA_PER_MONTH;
    x->item = n->id;
    x->price = price;
    x->unit = UNIT_NODE_MONTH;
    x->unit_micros = micros;
    x->quantity = lanes_out * p->burst.shape.nodes;
}

/* What the runs that went out bring home: their weights, or their adapters. */
static double result_gb(const struct build *b, const struct pair *p, int runs_out)
{
    const enum method m = b->training.method;
    if (m == METHOD_LORA || m == METHOD_QLORA || m == METHOD_CUSTOM)
        return p->burst.estimate->training.checkpoint_gb * runs_out;
    return b->workload->model.params / 1e9 * p->terms.run_result_gb_per_billion * runs_out;
}

static void add_egress(struct build *b, struct draft *d, const struct pair *p, double gb)
{
    const struct price *price;
    int64_t micros;
    if (!(gb > 0) || offer_unit_price(&b->day, SUBJECT_EGRESS, p->cloud->id, p->cloud, UNIT_GB, &price, &micros))
        return;
    struct draft_extra *x = draft_add_extra(d, SECTION_EGRESS, PHASE_TRAIN, PHASE_TRAIN);
    if (!x)
        return;
    x->item = p->cloud->id;
    x->price = price;
    x->unit = UNIT_GB;
    x->unit_micros = micros;
    x->quantity = gb;
}

static void say_split(struct build *b, struct draft *d, const struct pair *p, const struct hybrid_split *s,
                      int lanes_out, double staging_h, double gb)
{
    struct note *n = note_add(&d->reasons, "hybrid_split");
    note_num(note_num(note_num(n, "runs_local", s->runs_local), "runs_out", s->runs_out), "machines_out",
             lanes_out * p->burst.shape.nodes);
    note_text(note_text(n, "home", p->home->id), "cloud", p->cloud->id);
    n = note_add(&d->reasons, "hybrid_line");
    note_num(note_num(note_num(n, "gbps", p->line->gbps), "staging_minutes", ceil(staging_h * 60)), "result_gb",
             ceil(gb));
    note_text(n, "line", p->line->id);
    if (b->workload->constraints.data_sensitive) {
        note_text(note_add(&d->reasons, "data_stays_home"), "provider", p->home->id);
        note_num(note_add(&d->reasons, "desensitise_first"), "days", p->terms.desensitise_days);
    }
}

/* Runs of several nodes begin with two of them: the move to the cluster is also its pilot. */
static void gate_two_nodes(const struct build *b, struct draft *d)
{
    for (int i = 0; i < d->n_steps; i++) {
        struct draft_step *s = &d->steps[i];
        if (s->phase != PHASE_MIGRATE)
            continue;
        s->has_gate = true;
        s->gate = (struct gate){.metric = "two_node_speedup", .threshold = b->a.two_node_gate};
        s->gate.text = (struct note){.code = "gate_two_nodes", .short_by = NAN};
        note_num(&s->gate.text, "threshold", b->a.two_node_gate);
    }
}

/* Both groups, as many machines as their lanes take; -1 where a side does not have that many. */
static int add_sides(struct draft *d, const struct pair *p, int lanes_local, int lanes_out)
{
    const struct hybrid_side *l = &p->local, *r = &p->burst;
    const int local = lanes_local * l->shape.nodes, out = lanes_out * r->shape.nodes;
    if (!hybrid_side_has(l, local) || !hybrid_side_has(r, out))
        return -1;
    d->train_group = draft_add_group(d, l->offer, "train", l->by_card, l->shape.gpus_per_node, local);
    return draft_add_group(d, r->offer, "burst", r->by_card, r->shape.gpus_per_node, out) < 0 ? -1 : 0;
}

/* The runs that go out, beside those at home; starts when the data has come over the line. */
static int add_burst(struct build *b, struct draft *d, const struct pair *p, int units, double hours, double staging_h)
{
    const int train = train_index(d), burst = d->n_groups - 1;
    const struct quality *quality = quality_of(b, p->cloud);
    const double lost = quality_lost_share(quality, p->burst.shape.gpus_per_node * p->burst.shape.nodes);
    struct draft_step *step = draft_add_step(d, PHASE_TRAIN, burst, units, hours * (1 + lost) + quality->setup_hours);
    if (train < 0 || !step)
        return -1;
    step->beside = train + 1;
    step->scales = true;
    step->wait_days = staging_h / 24;
    if (b->workload->constraints.data_sensitive)
        step->wait_days += p->terms.desensitise_days;
    return 0;
}

/* Fills `d` with one split of the lanes. -1: it cannot be had, or does not go into a draft. */
static int split_draft(struct build *b, const struct pair *p, int lanes_out, struct draft *d)
{
    const int lanes_local = b->training.parallel_runs - lanes_out;
    const struct hybrid_split s =
        hybrid_split_of(b->training.runs, lanes_local, lanes_out, p->local.run_hours, p->burst.run_hours);
    const double staging_h = hybrid_staging_hours(b->training.dataset_gb, p->line->gbps, p->terms.line_efficiency);
    const double gb = result_gb(b, p, s.runs_out);
    const int units = lanes_local * p->local.shape.nodes;
    build_draft_start(b, d, KIND_HYBRID_CLOUD);
    d->shape = p->local.shape;
    d->estimate = p->local.estimate;
    if (add_sides(d, p, lanes_local, lanes_out) ||
        phases_standard(b, d, d->train_group, d->train_group, units, s.hours_local + candidate_staging_hours(b)) ||
        add_burst(b, d, p, lanes_out * p->burst.shape.nodes, s.hours_out, staging_h) || extras_standard(b, d))
        return -1;
    if (p->local.shape.nodes > 1)
        gate_two_nodes(b, d);
    else
        drop_fabric(d);
    add_burst_fabric(b, d, p, lanes_out);
    add_line_cost(d, p);
    add_egress(b, d, p, gb);
    say_split(b, d, p, &s, lanes_out, staging_h, gb);
    return 0;
}

/* Numbers of lanes that go out, spread over the range; all of them where there are few. */
static int lane_choices(const struct build *b, int ret[HYBRID_SPLITS_MAX])
{
    const int most = b->training.parallel_runs - 1, want = b->lean ? 1 : HYBRID_SPLITS_MAX;
    int n = 0;
    for (int i = 0; i < want; i++) {
        const int lanes = want == 1 ? (most + 1) / 2 : 1 + (int)lround((double)(most - 1) * i / (want - 1));
        if (n == 0 || lanes > ret[n - 1])
            ret[n++] = lanes;
    }
    return n;
}

/* Whole part of a day that a split takes longer than allowed counts like the worst finish. */
static double score_of(const struct build *b, const struct reckoning *r, double least, double soonest)
{
    double cost, time, risk;
    candidate_weights(b, &cost, &time, &risk);
    const double late = r->schedule.finish_day > b->deadline_day ? 1 : 0;
    return cost * least / (double)r->total + time * soonest / fmax(r->schedule.finish_days, 1) - late;
}

/* Drafts of one pair and their sums: every number of lanes with every machine at home worth trying. */
struct tries {
    struct draft *drafts;
    struct reckoning *sums;
    int n;
};

static void try_splits(struct build *b, const struct pair *p, struct tries *t)
{
    int lanes[HYBRID_SPLITS_MAX];
    const int most = lane_choices(b, lanes);
    for (int i = 0; i < most; i++)
        if (!split_draft(b, p, lanes[i], &t->drafts[t->n]) &&
            !costing_reckon(&b->day, &t->drafts[t->n], &what_if_expected, &t->sums[t->n]))
            t->n++;
}

/* The best split of one pair into *out. */
static int add_pair(struct build *b, struct pair *p, const struct hybrid_ends *home, struct option_list *out,
                    struct err *err)
{
    struct tries t = {.drafts = arena_array(b->arena, HYBRID_SPLITS_MAX * 2, sizeof *t.drafts),
                      .sums = arena_array(b->arena, HYBRID_SPLITS_MAX * 2, sizeof *t.sums)};
    double least = INFINITY, soonest = INFINITY;
    int best = 0;
    if (!t.drafts || !t.sums)
        return err_set(err, ERR_NOMEM, "hybrid drafts do not fit");
    p->local = home->cheap;
    try_splits(b, p, &t);
    p->local = home->fit;
    if (!b->lean && (home->cheap.offer != home->fit.offer || home->cheap.estimate != home->fit.estimate))
        try_splits(b, p, &t);
    for (int i = 0; i < t.n; i++) {
        least = fmin(least, (double)t.sums[i].total);
        soonest = fmin(soonest, fmax(t.sums[i].schedule.finish_days, 1));
    }
    for (int i = 1; i < t.n; i++)
        if (score_of(b, &t.sums[i], least, soonest) > score_of(b, &t.sums[best], least, soonest))
            best = i;
    if (t.n == 0)
        return 0;
    if (t.n > 1)
        note_num(note_add(&t.drafts[best].reasons, "hybrid_splits_tried"), "splits", t.n);
    return build_keep(b, out, &t.drafts[best]) ? err_set(err, ERR_NOMEM, "options do not fit") : 0;
}

static void refuse_burst(struct build *b, const char *why)
{
    note_text(build_refuse(b, KIND_HYBRID_CLOUD, "nothing_to_burst"), "why", why);
    if (strcmp(why, "data_sensitive") == 0)
        build_refuse(b, KIND_HYBRID_CLOUD, "data_sensitive");
}

/* A workload that is nothing but a service: its peaks may burst. */
static int service_only(struct build *b, struct option_list *out, struct err *err)
{
    const char *why;
    const size_t before = out->n;
    if (hybrid_serving_build(b, out, &why, err))
        return -1;
    if (why)
        refuse_burst(b, why);
    else if (out->n == before && b->refusals[KIND_HYBRID_CLOUD].n == 0)
        build_refuse(b, KIND_HYBRID_CLOUD, "no_line");
    return 0;
}

/* The rule that leaves nothing to send out; true when refused. */
static bool refused(struct build *b)
{
    const struct constraints *c = &b->workload->constraints;
    const char *why = NULL;
    if (c->data_sensitive && c->can_desensitise != TRI_YES)
        why = "data_sensitive";
    else if (b->training.parallel_runs < 2)
        why = "one_run_at_a_time";
    if (why)
        refuse_burst(b, why);
    return why != NULL;
}

int option_hybrid_build(struct build *b, struct option_list *out, struct err *err)
{
    struct hybrid_terms terms;
    if (!b->trains)
        return service_only(b, out, err);
    if (refused(b))
        return 0;
    if (hybrid_terms_bind(&b->params, &terms, err))
        return -1;
    const size_t before = out->n;
    struct hybrid_miss miss = {0};
    int pairs = 0;
    for (size_t i = 0; i < b->catalog->n_lines && pairs < (b->lean ? 1 : HYBRID_LINES_MAX); i++) {
        struct pair p;
        if (!pair_of(b, &b->catalog->lines[i], &p))
            continue;
        struct hybrid_ends home = {0}, cloud = {0};
        p.terms = terms;
        if (hybrid_side_choose(b, p.home, false, &home, &miss, err) ||
            hybrid_side_choose(b, p.cloud, true, &cloud, &miss, err))
            return -1;
        if (!home.fit.offer || !cloud.fit.offer)
            continue;
        p.burst = cloud.fit;
        pairs++;
        if (add_pair(b, &p, &home, out, err))
            return -1;
    }
    if (out->n > before)
        return 0;
    if (miss.estimate && pairs == 0) {
        struct note *why = build_refuse(b, KIND_HYBRID_CLOUD, "memory_wall");
        const struct memory_estimate *m = &miss.estimate->memory;
        note_num(note_num(note_text(why, "gpu", miss.gpu->name), "cards", miss.cards), "need_gb", m->total_gb);
        note_num(note_text(note_num(why, "usable_gb", m->usable_gb), "tightest", m->tightest_term), "short_by",
                 miss.short_gb);
        why->short_by = miss.short_gb;
    } else if (b->refusals[KIND_HYBRID_CLOUD].n == 0) {
        build_refuse(b, KIND_HYBRID_CLOUD, "no_line");
    }
    return 0;
}
