/* option_hybrid.c — `hybrid_cloud`: what splits is phases and runs, never one data-parallel job across the line.
 *
 * Validation, development, the sensitive part and the first lanes of runs stay at the local IDC; parallel runs that may
 * leave go to the public cloud at the far end of a dedicated line. How many runs go out, and on how many machines, is
 * the lightest cut at the request's priority (hybrid_cut.h). The line is paid by the month while it is used, what is
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
#include "planner/reserve/batch.h"
#include "planner/reserve/reserve.h"

enum { HYBRID_LINES_MAX = 3, CUTS_WEIGHED = 128, CUTS_WEIGHED_OTHER = 32, CUTS_WEIGHED_LEAN = 4 };

/* A late cut weighs more than any in time. */
static const double LATE = 1e6;

int hybrid_terms_bind(const struct param_table *params, struct hybrid_terms *ret, struct err *err)
{
    static const struct param_field fields[] = {
        PARAM_FIELD(struct hybrid_terms, desensitise_days, "desensitise_days"),
        PARAM_FIELD(struct hybrid_terms, line_efficiency, "line_efficiency"),
        PARAM_FIELD(struct hybrid_terms, run_result_gb_per_billion, "run_result_gb_per_billion_params"),
    };
    return param_bind(params, fields, sizeof fields / sizeof *fields, ret, err);
}

double hybrid_staging_hours(double gb, double gbps, double efficiency)
{
    return gb > 0 && gbps > 0 && efficiency > 0 ? gb * 8 / (gbps * efficiency) / 3600 : 0;
}

bool hybrid_pair_of(struct build *b, const struct dedicated_line *line, struct hybrid_pair *ret)
{
    const enum provider_kind a = line->a->kind, z = line->b->kind;
    *ret = (struct hybrid_pair){.line = line, .home = line->a, .cloud = line->b};
    if (a == PROVIDER_PUBLIC_CLOUD && z == PROVIDER_LOCAL_IDC)
        *ret = (struct hybrid_pair){.line = line, .home = line->b, .cloud = line->a};
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

static void add_line_cost(struct draft *d, const struct hybrid_pair *p)
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
static void add_burst_fabric(struct build *b, struct draft *d, const struct hybrid_pair *p, int lanes_out)
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
static double result_gb(const struct build *b, const struct hybrid_pair *p, int runs_out)
{
    const enum method m = b->training.method;
    if (m == METHOD_LORA || m == METHOD_QLORA || m == METHOD_CUSTOM)
        return p->burst.estimate->training.checkpoint_gb * runs_out;
    return b->workload->model.params / 1e9 * p->terms.run_result_gb_per_billion * runs_out;
}

static void add_egress(struct build *b, struct draft *d, const struct hybrid_pair *p, double gb)
{
    const struct price *price;
    int64_t micros;
    if (!(gb > 0))
        return;
    if (offer_unit_price(&b->day, SUBJECT_EGRESS, p->cloud->id, p->cloud, UNIT_GB, &price, &micros)) {
        note_num(note_add(&d->warnings, "egress_unpriced"), "egress_gb", gb);
        return;
    }
    if (micros == 0)
        return;
    struct draft_extra *x = draft_add_extra(d, SECTION_EGRESS, PHASE_TRAIN, PHASE_TRAIN);
    if (!x)
        return;
    x->item = p->cloud->id;
    x->price = price;
    x->unit = UNIT_GB;
    x->unit_micros = micros;
    x->quantity = ceil(gb - 1e-9);
}

/* Which part leaves, and why it may. */
static void say_what_leaves(struct build *b, struct draft *d, const struct hybrid_pair *p, int runs_out)
{
    if (b->workload->training.shareable_runs >= 0) {
        const char *code = b->workload->constraints.data_sensitive ? "shareable_leaves" : "shareable_leaves_as_stated";
        struct note *n = note_num(note_add(&d->reasons, code), "runs_out", runs_out);
        note_num(note_num(n, "shareable", b->shareable_runs), "runs", b->training.runs);
        note_text(note_num(n, "runs_local", b->training.runs - runs_out), "provider", p->home->id);
        note_text(n, "cloud", p->cloud->id);
    } else if (b->workload->constraints.data_sensitive) {
        note_text(note_add(&d->reasons, "data_stays_home"), "provider", p->home->id);
        note_num(note_add(&d->reasons, "desensitise_first"), "days", p->terms.desensitise_days);
    }
}

static void say_split(struct build *b, struct draft *d, const struct hybrid_pair *p, const struct hybrid_cut *cut,
                      double staging_h, double gb)
{
    struct note *n = note_add(&d->reasons, "hybrid_split");
    note_num(note_num(n, "runs_local", b->training.runs - cut->runs_out), "runs_out", cut->runs_out);
    note_num(n, "machines_out", cut->lanes_out * p->burst.shape.nodes);
    note_text(note_text(n, "home", p->home->id), "cloud", p->cloud->id);
    n = note_add(&d->reasons, "hybrid_line");
    note_num(note_num(note_num(n, "gbps", p->line->gbps), "staging_minutes", ceil(staging_h * 60)), "result_gb",
             ceil(gb));
    note_text(n, "line", p->line->id);
    say_what_leaves(b, d, p, cut->runs_out);
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
static int add_sides(struct draft *d, const struct hybrid_pair *p, int lanes_local, int lanes_out)
{
    const struct hybrid_side *l = &p->local, *r = &p->burst;
    const int local = lanes_local * l->shape.nodes, out = lanes_out * r->shape.nodes;
    if (!hybrid_side_has(l, local) || !hybrid_side_has(r, out))
        return -1;
    d->train_group = draft_add_group(d, l->offer, "train", l->by_card, l->shape.gpus_per_node, local);
    return draft_add_group(d, r->offer, "burst", r->by_card, r->shape.gpus_per_node, out) < 0 ? -1 : 0;
}

/* The runs that go out, beside those at home; starts when the data has come over the line. */
static int add_burst(struct build *b, struct draft *d, const struct hybrid_pair *p, int units, double hours,
                     double staging_h)
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
    if (b->workload->constraints.data_sensitive && b->workload->training.shareable_runs < 0)
        step->wait_days += p->terms.desensitise_days;
    return 0;
}

int hybrid_draft(struct build *b, const struct hybrid_pair *p, const struct hybrid_cut *cut, struct draft *d)
{
    const int local = b->training.runs - cut->runs_out, units = cut->lanes_local * p->local.shape.nodes;
    const double hours = hybrid_end_hours(local, cut->lanes_local, p->local.run_hours);
    const double hours_out = hybrid_end_hours(cut->runs_out, cut->lanes_out, p->burst.run_hours);
    const double staging_h = hybrid_staging_hours(b->training.dataset_gb, p->line->gbps, p->terms.line_efficiency);
    const double gb = result_gb(b, p, cut->runs_out);
    build_draft_restart(b, d, KIND_HYBRID_CLOUD);
    d->shape = p->local.shape;
    d->estimate = p->local.estimate;
    if (p->reserve)
        d->reserve = p->reserve;
    if (add_sides(d, p, cut->lanes_local, cut->lanes_out) ||
        phases_standard(b, d, d->train_group, d->train_group, units, hours + candidate_staging_hours(b)) ||
        add_burst(b, d, p, cut->lanes_out * p->burst.shape.nodes, hours_out, staging_h) || extras_standard(b, d))
        return -1;
    if (p->local.shape.nodes > 1)
        gate_two_nodes(b, d);
    else
        drop_fabric(d);
    add_burst_fabric(b, d, p, cut->lanes_out);
    add_line_cost(d, p);
    add_egress(b, d, p, gb);
    say_split(b, d, p, cut, staging_h, gb);
    return 0;
}

/* Runs side by side over both ends. Who says which runs may leave, and not how many go at once, lets home and cloud
 * work at the same time. */
static int lanes_of(const struct build *b)
{
    const struct training *t = &b->workload->training;
    const bool two_kinds = t->parallel_runs == 0 && t->shareable_runs > 0 && b->training.runs > 1;
    return two_kinds ? 2 : b->training.parallel_runs;
}

static struct hybrid_end end_of(const struct hybrid_side *side)
{
    double hour, month;
    hybrid_side_rates(side, &hour, &month);
    return (struct hybrid_end){side->run_hours, hybrid_side_lanes(side), hour, month};
}

struct hybrid_range hybrid_range_of(const struct build *b, const struct hybrid_pair *p)
{
    struct hybrid_range r = {.runs = b->training.runs, .lanes = lanes_of(b), .most_out = b->shareable_runs};
    double risk;
    r.local = end_of(&p->local);
    r.out = end_of(&p->burst);
    candidate_weights(b, &r.by_cost, &r.by_time, &risk);
    return r;
}

/* A cut reckoned exactly: what its machines do not explain of the cost, and its days. */
struct probe {
    double days, rest, finish;
};

static bool probe(struct build *b, const struct hybrid_pair *p, const struct hybrid_range *r,
                  const struct hybrid_cut *cut, struct draft *scratch, struct probe *ret)
{
    struct reckoning sum;
    b->n_reckoned++;
    if (!hybrid_cut_allowed(r, cut) || hybrid_draft(b, p, cut, scratch) ||
        costing_reckon(&b->day, scratch, &what_if_expected, &sum))
        return false;
    ret->days = hybrid_cut_days(r, cut);
    ret->rest = (double)sum.total - hybrid_rough_cost(r, cut);
    ret->finish = sum.schedule.finish_days;
    return true;
}

/* The straight line through two cuts, a slow and a quick one: what is paid and waited for beside the runs' machines. */
static void fix_range(struct build *b, const struct hybrid_pair *p, struct hybrid_range *r, struct draft *scratch)
{
    const int half = r->lanes / 2 < r->local.most_lanes ? r->lanes / 2 : r->local.most_lanes;
    const int out = r->lanes - half < r->out.most_lanes ? r->lanes - half : r->out.most_lanes;
    const int few = r->lanes > 2 && r->local.most_lanes > 1 ? 2 : 1; /* more than one: validation is bounded by both */
    const struct hybrid_cut one = {few, 1, hybrid_balanced_runs(r, few, 1)};
    const struct hybrid_cut many = {half, out, hybrid_balanced_runs(r, half, out)};
    struct probe slow = {0}, quick = {0};
    r->days_a_day = 1;
    if (!probe(b, p, r, &one, scratch, &slow))
        return;
    if (probe(b, p, r, &many, scratch, &quick) && quick.days < slow.days) {
        r->cost_a_day = fmax(0, (slow.rest - quick.rest) / (slow.days - quick.days));
        r->cost_a_lane = many.lanes_local > few ? fmax(0, (quick.rest - slow.rest) / (many.lanes_local - few)) : 0;
        r->days_a_day = fmax(1, (slow.finish - quick.finish) / (slow.days - quick.days));
    }
    r->fixed_cost = fmax(0, slow.rest - r->cost_a_day * slow.days - r->cost_a_lane * few);
    r->fixed_days = fmax(0, slow.finish - r->days_a_day * slow.days);
}

double hybrid_weight(const struct build *b, const struct reckoning *r)
{
    double cost, time, risk;
    candidate_weights(b, &cost, &time, &risk);
    const double days = fmax(r->schedule.finish_days, 1);
    if (r->schedule.finish_day > b->deadline_day)
        return LATE + days; /* the nearest miss */
    return cost * log(fmax(1, (double)r->total)) + time * log(days);
}

static const char *maker_of(const struct hybrid_side *side)
{
    return side->offer->sku->gpu->vendor;
}

struct weighing {
    struct build *b;
    const struct hybrid_pair *pair;
    struct draft *scratch;
};

static double weigh(void *ctx, const struct hybrid_cut *cut)
{
    const struct weighing *w = ctx;
    struct reckoning r;
    w->b->n_reckoned++;
    if (hybrid_draft(w->b, w->pair, cut, w->scratch) || costing_reckon(&w->b->day, w->scratch, &what_if_expected, &r))
        return INFINITY;
    return hybrid_weight(w->b, &r);
}

/* The lightest cut of all pairings of the machines worth trying at both ends into *out. */
static int add_pair(struct build *b, struct hybrid_pair *p, const struct hybrid_ends *home,
                    const struct hybrid_ends *cloud, struct option_list *out, struct err *err)
{
    const struct hybrid_side *sides[2][2] = {{&home->fit, &home->cheap}, {&cloud->fit, &cloud->cheap}};
    struct draft *scratch = build_draft_new(b, KIND_HYBRID_CLOUD), *d = build_draft_new(b, KIND_HYBRID_CLOUD);
    struct weighing w = {b, p, scratch};
    struct hybrid_pair best_pair = *p;
    struct hybrid_cut cut, best_cut = {0};
    double weight, best = INFINITY;
    int tried = 0;
    if (!scratch || !d)
        return err_set(err, ERR_NOMEM, "hybrid drafts do not fit");
    for (int i = 0; i < (b->lean ? 1 : 4); i++) {
        if ((i & 1 && hybrid_side_same(sides[0][0], sides[0][1])) ||
            (i & 2 && hybrid_side_same(sides[1][0], sides[1][1])))
            continue;
        p->local = *sides[0][i & 1];
        p->burst = *sides[1][i >> 1];
        if (strcmp(maker_of(&p->local), maker_of(&p->burst)) != 0)
            continue;
        struct hybrid_range range = hybrid_range_of(b, p);
        fix_range(b, p, &range, scratch);
        const int tries = b->lean ? CUTS_WEIGHED_LEAN : i == 0 ? CUTS_WEIGHED : CUTS_WEIGHED_OTHER;
        tried += hybrid_cut_best(&range, weigh, &w, tries, &cut, &weight);
        if (weight < best) {
            best = weight;
            best_cut = cut;
            best_pair = *p;
        }
    }
    if (isinf(best) || hybrid_draft(b, &best_pair, &best_cut, d))
        return 0;
    if (tried > 1)
        note_num(note_add(&d->reasons, "hybrid_splits_tried"), "splits", tried);
    return batch_keep(b, out, d, err);
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
    const char *why = NULL;
    if (b->shareable_runs < 1)
        why = b->workload->constraints.data_sensitive ? "data_sensitive" : "nothing_shareable";
    else if (lanes_of(b) < 2)
        why = "one_run_at_a_time";
    if (why)
        refuse_burst(b, why);
    return why != NULL;
}

/* Machines at both ends that run the same software: the home's best with what the cloud has of its maker, or else the
 * cloud's best with what the home has of that one. *ret_other: there are machines, but not of one maker. */
static int choose_ends(struct build *b, const struct hybrid_pair *p, struct hybrid_ends *home,
                       struct hybrid_ends *cloud, struct hybrid_miss *miss, bool *ret_other, struct err *err)
{
    if (hybrid_side_choose(b, p->home, false, NULL, home, miss, err))
        return -1;
    if (!home->fit.offer)
        return 0;
    if (hybrid_side_choose(b, p->cloud, true, maker_of(&home->fit), cloud, miss, err))
        return -1;
    if (cloud->fit.offer)
        return 0;
    if (hybrid_side_choose(b, p->cloud, true, NULL, cloud, miss, err))
        return -1;
    if (!cloud->fit.offer)
        return 0;
    *home = (struct hybrid_ends){0};
    if (hybrid_side_choose(b, p->home, false, maker_of(&cloud->fit), home, miss, err))
        return -1;
    *ret_other |= home->fit.offer == NULL;
    return 0;
}

/* The service stays local too: where the plan's reserve is no local IDC's, the home's own machines carry it if they
 * can. */
static int reserve_at_home(struct build *b, struct hybrid_pair *p, struct err *err)
{
    const struct offer *now = b->reserve.offer;
    if (!now || now->sku->provider->kind == PROVIDER_LOCAL_IDC || !p->home->serves)
        return 0;
    struct reserve_plan *own = arena_alloc(b->arena, sizeof *own);
    if (!own)
        return err_set(err, ERR_NOMEM, "another reserve does not fit");
    if (reserve_at(b, p->home, own, err))
        return -1;
    p->reserve = own->offer && !own->missing ? own : NULL;
    return 0;
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
    bool other = false;
    for (size_t i = 0; i < b->catalog->n_lines && pairs < (b->lean ? 1 : HYBRID_LINES_MAX); i++) {
        struct hybrid_pair p;
        if (!hybrid_pair_of(b, &b->catalog->lines[i], &p))
            continue;
        struct hybrid_ends home = {0}, cloud = {0};
        p.terms = terms;
        if (choose_ends(b, &p, &home, &cloud, &miss, &other, err))
            return -1;
        if (!home.fit.offer || !cloud.fit.offer)
            continue;
        pairs++;
        if (reserve_at_home(b, &p, err))
            return -1;
        if (add_pair(b, &p, &home, &cloud, out, err))
            return -1;
    }
    if (out->n > before)
        return 0;
    if (other)
        build_refuse(b, KIND_HYBRID_CLOUD, "line_other_software");
    if (miss.estimate && pairs == 0)
        build_refuse_memory(b, KIND_HYBRID_CLOUD, miss.gpu, miss.cards, miss.estimate, miss.short_gb);
    else if (b->refusals[KIND_HYBRID_CLOUD].n == 0)
        build_refuse(b, KIND_HYBRID_CLOUD, "no_line");
    return 0;
}
