/* hybrid_draft.c — see hybrid_draft.h. */
#include "planner/offers/hybrid_draft.h"

#include <math.h>
#include <string.h>

#include "planner/drafting/extras.h"
#include "planner/drafting/phases.h"
#include "planner/drafting/quality.h"
#include "planner/offers/candidate.h"

int hybrid_terms_bind(const struct param_table *params, struct hybrid_terms *ret, struct err *err)
{
    static const struct param_field fields[] = {
        PARAM_FIELD(struct hybrid_terms, desensitise_days, "desensitise_days"),
        PARAM_FIELD(struct hybrid_terms, line_efficiency, "line_efficiency"),
        PARAM_FIELD(struct hybrid_terms, run_result_gb_per_billion, "run_result_gb_per_billion_params"),
        PARAM_FIELD(struct hybrid_terms, answer_bytes_per_token, "answer_bytes_per_token"),
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
    return offer_line_price(&b->day, line, &ret->line_price);
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

int hybrid_add_line(struct draft *d, const struct hybrid_pair *p, enum phase_code from, enum phase_code to)
{
    struct draft_extra *x = draft_add_extra(d, SECTION_NETWORK, from, to);
    if (x == NULL)
        return -1;
    x->basis = EXTRA_PER_MONTH;
    x->item = p->line->id;
    x->price = p->line_price.price;
    x->unit = p->line_price.unit;
    x->unit_micros = p->line_price.micros;
    x->quantity = p->line_price.unit == UNIT_MBPS_MONTH ? p->line->gbps * 1000 : 1;
    return 0;
}

double hybrid_line_month(const struct build *b, const struct hybrid_pair *p)
{
    const double quantity = p->line_price.unit == UNIT_MBPS_MONTH ? p->line->gbps * 1000 : 1;
    return quantity * (double)p->line_price.micros / 1e4 * (1 + (double)b->day.service_tax_bp / 1e4);
}

/* The fabric of runs of several nodes at the cloud, where it is not in the price of the node. */
static int add_burst_fabric(struct build *b, struct draft *d, const struct hybrid_pair *p, int lanes_out)
{
    const struct network *n = p->burst.offer->sku->network;
    const struct price *price;
    int64_t micros;
    if (p->burst.shape.nodes < 2 || !n ||
        extras_price(b, SUBJECT_NETWORK, n->id, p->cloud, UNIT_NODE_MONTH, &price, &micros) || micros <= 0)
        return 0;
    struct draft_extra *x = draft_add_extra(d, SECTION_NETWORK, PHASE_TRAIN, PHASE_TRAIN);
    if (x == NULL)
        return -1;
    x->basis = EXTRA_PER_MONTH;
    x->item = n->id;
    x->price = price;
    x->unit = UNIT_NODE_MONTH;
    x->unit_micros = micros;
    x->quantity = lanes_out * p->burst.shape.nodes;
    return 0;
}

/* What the runs that went out bring home: their weights, or their adapters. */
static double result_gb(const struct build *b, const struct hybrid_pair *p, int runs_out)
{
    const enum method m = b->training.method;
    if (m == METHOD_LORA || m == METHOD_QLORA || m == METHOD_CUSTOM)
        return p->burst.estimate->training.checkpoint_gb * runs_out;
    return b->workload->model.params / 1e9 * p->terms.run_result_gb_per_billion * runs_out;
}

/* Data that comes home over the line, charged by the cloud as any that leaves it. */
static int add_egress(struct build *b, struct draft *d, const struct hybrid_pair *p, double gb, enum phase_code phase)
{
    const struct price *price;
    int64_t micros;
    if (!(gb > 0))
        return 0;
    if (extras_price(b, SUBJECT_EGRESS, p->cloud->id, p->cloud, UNIT_GB, &price, &micros) != 0) {
        note_num(note_add(&d->warnings, "egress_unpriced"), "egress_gb", gb);
        return 0;
    }
    if (micros == 0)
        return 0;
    struct draft_extra *x = draft_add_extra(d, SECTION_EGRESS, phase, phase);
    if (x == NULL)
        return -1;
    x->item = p->cloud->id;
    x->price = price;
    x->unit = UNIT_GB;
    x->unit_micros = micros;
    x->quantity = ceil(gb - 1e-9);
    return 0;
}

/* What the machines at the far end answer over the months. */
static double answers_gb(const struct hybrid_pair *p, const struct reserve_plan *split)
{
    return split->burst.requests * split->serving.output_tokens * p->terms.answer_bytes_per_token / 1e9;
}

double hybrid_answers_cost(struct build *b, const struct hybrid_pair *p, const struct reserve_plan *split)
{
    const struct price *price;
    int64_t micros;
    const double gb = answers_gb(p, split);
    if (!(gb > 0) || extras_price(b, SUBJECT_EGRESS, p->cloud->id, p->cloud, UNIT_GB, &price, &micros) != 0)
        return 0;
    return ceil(gb - 1e-9) * (double)micros / 1e4 * (1 + (double)b->day.service_tax_bp / 1e4);
}

static void say_peaks(struct build *b, struct draft *d, const struct hybrid_pair *p, const struct reserve_plan *split)
{
    const bool sensitive = b->workload->constraints.data_sensitive;
    const double weights_gb = split->sizing.at_peak.serving.weights_gb;
    const double hours = hybrid_staging_hours(weights_gb, p->line->gbps, p->terms.line_efficiency);
    struct note *n = note_add(&d->reasons, "hybrid_serving_split");
    note_num(note_num(n, "home_replicas", split->sizing.replicas), "burst_replicas", split->burst.replicas);
    note_num(n, "peak_hours", split->peak_hours);
    note_text(note_text(n, "home", p->home->id), "cloud", p->cloud->id);
    n = note_percent(note_add(&d->reasons, sensitive ? "peaks_leave_desensitised" : "peaks_leave"), "share",
                     split->burst.share);
    note_num(note_num(note_text(n, "line", p->line->id), "weights_gb", ceil(weights_gb)), "staging_minutes",
             ceil(hours * 60));
    note_text(note_text(n, "home", p->home->id), "cloud", p->cloud->id);
    if (split->burst.offer->sku->gpu != split->offer->sku->gpu) {
        n = note_text(note_add(&d->reasons, "peaks_on_other_card"), "gpu", split->burst.offer->sku->gpu->name);
        note_text(n, "home_gpu", split->offer->sku->gpu->name);
    }
}

int hybrid_add_peaks(struct build *b, struct draft *d, const struct hybrid_pair *p, const struct reserve_plan *split)
{
    const struct reserve_burst *far = &split->burst;
    const int cards = far->by_card ? 1 : far->offer->sku->gpus_per_node;
    d->reserve = split;
    if (draft_add_group(d, far->offer, "burst", far->by_card, cards, far->units) < 0 ||
        add_egress(b, d, p, answers_gb(p, split), PHASE_SERVE) != 0)
        return -1;
    say_peaks(b, d, p, split);
    return 0;
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

/* The service stays whole beside runs that go out. */
static void say_peaks_stay(struct draft *d, const struct hybrid_pair *p)
{
    const struct reserve_plan *r = d->reserve;
    if (r == NULL || r->offer == NULL)
        return;
    const char *at = r->offer->sku->provider->id;
    if (p->split != NULL)
        note_text(
            note_money(note_add(&d->reasons, "peaks_stay_cheaper"), "more", llround(fmax(0, p->split_costs_more))),
            "home", at);
    else if (p->stays != NULL && strcmp(p->stays, "peaks_dearer_out") == 0)
        note_text(note_add(&d->reasons, "peaks_stay_line"), "home", at);
    else if (p->stays != NULL && strcmp(p->stays, "data_sensitive") == 0)
        note_text(note_add(&d->reasons, "peaks_stay_sensitive"), "home", at);
    else if (p->stays != NULL && strcmp(p->stays, "peak_on_base") == 0)
        note_text(note_add(&d->reasons, "peaks_stay_on_base"), "home", at);
}

static void say_runs(struct build *b, struct draft *d, const struct hybrid_pair *p, const struct hybrid_cut *cut,
                     double staging_h, double gb)
{
    struct note *n;
    if (cut->runs_out == 0) {
        n = note_num(note_add(&d->reasons, "hybrid_runs_stay"), "runs", b->training.runs);
        note_text(note_text(n, "home", p->home->id), "why", p->runs_stay != NULL ? p->runs_stay : "runs_dearer_out");
        return;
    }
    n = note_add(&d->reasons, "hybrid_split");
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

/* Both groups, as many machines as their lanes take. 1: a side does not have that many. */
static int add_sides(const struct build *b, struct draft *d, const struct hybrid_pair *p, int lanes_local,
                     int lanes_out)
{
    const struct hybrid_side *l = &p->local, *r = &p->burst;
    const int local = lanes_local * l->shape.nodes, out = lanes_out > 0 ? lanes_out * r->shape.nodes : 0;
    if (!hybrid_side_has(l, local) || (out > 0 && !hybrid_side_has(r, out)))
        return 1;
    d->train_group = draft_add_group(d, l->offer, "train", l->by_card, l->shape.gpus_per_node, local);
    if (out > 0 && draft_add_group(d, r->offer, "burst", r->by_card, r->shape.gpus_per_node, out) < 0)
        return -1;
    for (int g = 0; g < d->n_groups; g++)
        d->groups[g].spot_allowed = b->workload->constraints.allow_spot;
    return 0;
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

/* The runs that go out, with what they need there and what they bring home. */
static int add_runs_out(struct build *b, struct draft *d, const struct hybrid_pair *p, const struct hybrid_cut *cut,
                        double staging_h, double gb)
{
    const double hours = hybrid_end_hours(cut->runs_out, cut->lanes_out, p->burst.run_hours);
    if (cut->runs_out == 0)
        return 0;
    if (add_burst(b, d, p, cut->lanes_out * p->burst.shape.nodes, hours, staging_h) != 0 ||
        add_burst_fabric(b, d, p, cut->lanes_out) != 0)
        return -1;
    return add_egress(b, d, p, gb, PHASE_TRAIN);
}

/* The service, and the line for as long as runs, peaks or both use it. */
static int add_service(struct build *b, struct draft *d, const struct hybrid_pair *p, bool runs_out)
{
    const bool split = p->split != NULL && (!runs_out || p->service == HYBRID_SPLIT);
    if (p->whole != NULL)
        d->reserve = p->whole;
    if (hybrid_add_line(d, p, runs_out ? PHASE_TRAIN : PHASE_SERVE, split ? PHASE_SERVE : PHASE_TRAIN) != 0)
        return -1;
    if (split)
        return hybrid_add_peaks(b, d, p, p->split);
    say_peaks_stay(d, p);
    return 0;
}

int hybrid_draft(struct build *b, const struct hybrid_pair *p, const struct hybrid_cut *cut, struct draft *d)
{
    const int local = b->training.runs - cut->runs_out, units = cut->lanes_local * p->local.shape.nodes;
    const double hours = hybrid_end_hours(local, cut->lanes_local, p->local.run_hours);
    const double staging_h = hybrid_staging_hours(b->training.dataset_gb, p->line->gbps, p->terms.line_efficiency);
    const double gb = cut->runs_out > 0 ? result_gb(b, p, cut->runs_out) : 0;
    build_draft_restart(b, d, KIND_HYBRID_CLOUD);
    d->shape = p->local.shape;
    d->estimate = p->local.estimate;
    const int rc = add_sides(b, d, p, cut->lanes_local, cut->lanes_out);
    if (rc != 0)
        return rc;
    if (phases_standard(b, d, d->train_group, d->train_group, units, hours + candidate_staging_hours(b)) != 0 ||
        extras_standard(b, d) != 0)
        return -1;
    if (p->local.shape.nodes > 1)
        gate_two_nodes(b, d);
    else
        drop_fabric(d);
    if (add_runs_out(b, d, p, cut, staging_h, gb) != 0)
        return -1;
    say_runs(b, d, p, cut, staging_h, gb);
    return add_service(b, d, p, cut->runs_out > 0);
}
