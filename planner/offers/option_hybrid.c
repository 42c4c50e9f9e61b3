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

#include "planner/offers/candidate.h"
#include "planner/offers/guess.h"
#include "planner/offers/hybrid_serving.h"
#include "planner/offers/quality.h"

enum { HYBRID_LINES_MAX = 3, HYBRID_GPUS_MAX = 8, HYBRID_FITTING_MAX = 2, HYBRID_SPLITS_MAX = 5 };

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

/* One side of the line: the machine that finishes a run for the least money there. */
struct side {
    const struct offer *offer;
    const struct estimate *estimate;
    struct shape shape;
    bool by_card;
    double run_hours, run_cost;
};

/* The nearest miss of memory, for the refusal. */
struct miss {
    double short_gb;
    const struct gpu *gpu;
    const struct estimate *estimate;
    int cards;
};

/* A pair of providers and what its line costs. */
struct pair {
    const struct dedicated_line *line;
    const struct provider *home, *cloud;
    const struct price *line_price;
    int64_t line_micros;
    enum price_unit line_unit;
    struct side local, burst;
    struct hybrid_terms terms;
};

static double card_month(const struct offer *o)
{
    const double node = o->node_month_micros / o->sku->gpus_per_node;
    return !o->by_card ? node : !o->by_node ? o->card_month_micros : fmin(node, o->card_month_micros);
}

/* Takes the machine with this many cards when a run costs less on it than on the best so far. */
static int try_cards(struct build *b, const struct offer *o, int cards, struct side *best, struct miss *miss,
                     bool *ret_fits, struct err *err)
{
    const int whole = o->sku->gpus_per_node;
    const struct shape shape = build_shape(b, o->sku, cards, 1, NULL);
    const struct estimate *e = build_physics(b, &shape, err);
    *ret_fits = e && e->fits != FITS_NO;
    if (!e)
        return err->code == ERR_NOMEM ? -1 : 0;
    if (!*ret_fits) {
        if (!miss->estimate || e->memory.total_gb - e->memory.usable_gb < miss->short_gb)
            *miss = (struct miss){e->memory.total_gb - e->memory.usable_gb, o->sku->gpu, e, cards};
        return 0;
    }
    const bool by_card = o->by_card && (cards < whole || !o->by_node);
    const double hours = e->training.wall_hours, cost = hours * card_month(o) * (by_card ? cards : whole);
    if (isfinite(hours) && hours > 0 && (!best->offer || cost < best->run_cost))
        *best = (struct side){o, e, shape, by_card, hours, cost};
    return 0;
}

/* The fewest cards that hold the model where cards are sold singly, and the whole node. */
static int consider(struct build *b, const struct offer *o, struct side *best, struct miss *miss, bool *ret_fits,
                    struct err *err)
{
    const int whole = o->sku->gpus_per_node;
    const struct shape one = {.gpu = o->sku->gpu, .gpus_per_node = 1, .nodes = 1};
    const double least = guess_state_bytes(b) / shape_usable_bytes(&one);
    bool fits = false;
    int cards = 1;
    while (cards < least && cards < whole)
        cards *= 2;
    for (int tries = 0; o->by_card && cards < whole && !fits && tries < 2; tries++, cards *= 2)
        if (try_cards(b, o, cards, best, miss, &fits, err))
            return -1;
    *ret_fits = fits;
    if (try_cards(b, o, whole, best, miss, &fits, err))
        return -1;
    *ret_fits |= fits;
    return 0;
}

/* The side's best machine among the few cheapest GPUs of its provider. */
static int choose(struct build *b, const struct provider *p, bool far, struct side *best, struct miss *miss,
                  struct err *err)
{
    const struct sku *cheapest[HYBRID_GPUS_MAX];
    if (!market_provider_allowed(b, p, far))
        return 0;
    const size_t n = market_cheapest_of(b, p, false, cheapest, 0, HYBRID_GPUS_MAX);
    int fitting = 0;
    for (size_t i = 0; i < n && fitting < HYBRID_FITTING_MAX; i++) {
        const struct offer *o = market_offer(b, cheapest[i], NULL);
        bool fits;
        if (!o)
            continue;
        if (consider(b, o, best, miss, &fits, err))
            return -1;
        fitting += fits;
    }
    return 0;
}

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
        if (!market_unit_price(b, SUBJECT_LINE, line->id, NULL, units[i], &ret->line_price, &ret->line_micros))
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
    if (!(gb > 0) || market_unit_price(b, SUBJECT_EGRESS, p->cloud->id, p->cloud, UNIT_GB, &price, &micros))
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
    note_num(note_num(note_num(n, "runs_local", s->runs_local), "runs_out", s->runs_out), "lanes_out", lanes_out);
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

/* Fills `d` with one split of the lanes. -1: it does not go into a draft. */
static int split_draft(struct build *b, const struct pair *p, int lanes_out, struct draft *d)
{
    const int lanes_local = b->training.parallel_runs - lanes_out;
    const struct hybrid_split s =
        hybrid_split_of(b->training.runs, lanes_local, lanes_out, p->local.run_hours, p->burst.run_hours);
    const double staging_h = hybrid_staging_hours(b->training.dataset_gb, p->line->gbps, p->terms.line_efficiency);
    const double gb = result_gb(b, p, s.runs_out);
    draft_start(b, d, KIND_HYBRID_CLOUD);
    d->shape = p->local.shape;
    d->estimate = p->local.estimate;
    const int home =
        draft_add_group(d, p->local.offer, "train", p->local.by_card, p->local.shape.gpus_per_node, lanes_local);
    const int out =
        draft_add_group(d, p->burst.offer, "burst", p->burst.by_card, p->burst.shape.gpus_per_node, lanes_out);
    d->train_group = home;
    if (home < 0 || out < 0 ||
        phases_standard(b, d, home, home, lanes_local, s.hours_local + candidate_staging_hours(b)))
        return -1;
    const int train = train_index(d);
    const struct quality *quality = quality_of(b, p->cloud);
    const double lost = quality_lost_share(quality, p->burst.shape.gpus_per_node);
    struct draft_step *step =
        draft_add_step(d, PHASE_TRAIN, out, lanes_out, s.hours_out * (1 + lost) + quality->setup_hours);
    if (train < 0 || !step)
        return -1;
    step->beside = train + 1;
    step->scales = true;
    step->wait_days = staging_h / 24;
    if (b->workload->constraints.data_sensitive)
        step->wait_days += p->terms.desensitise_days;
    if (costing_standard_extras(b, d))
        return -1;
    drop_fabric(d);
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

/* The best split of one pair into *out. */
static int add_pair(struct build *b, const struct pair *p, struct option_list *out, struct err *err)
{
    struct draft *drafts = arena_array(b->arena, HYBRID_SPLITS_MAX, sizeof *drafts);
    struct reckoning *sums = arena_array(b->arena, HYBRID_SPLITS_MAX, sizeof *sums);
    int lanes[HYBRID_SPLITS_MAX];
    if (!drafts || !sums)
        return err_set(err, ERR_NOMEM, "hybrid drafts do not fit");
    const int tries = lane_choices(b, lanes);
    double least = INFINITY, soonest = INFINITY;
    int n = 0;
    for (int i = 0; i < tries; i++) {
        if (split_draft(b, p, lanes[i], &drafts[n]) || draft_reckon(b, &drafts[n], &what_if_expected, &sums[n]))
            continue;
        least = fmin(least, (double)sums[n].total);
        soonest = fmin(soonest, fmax(sums[n].schedule.finish_days, 1));
        n++;
    }
    int best = -1;
    for (int i = 0; i < n; i++)
        if (best < 0 || score_of(b, &sums[i], least, soonest) > score_of(b, &sums[best], least, soonest))
            best = i;
    if (best < 0)
        return 0;
    if (n > 1)
        note_num(note_add(&drafts[best].reasons, "hybrid_splits_tried"), "splits", n);
    return option_list_add(b, out, &drafts[best]) ? err_set(err, ERR_NOMEM, "options do not fit") : 0;
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
    else if (out->n == before)
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
    struct miss miss = {0};
    int pairs = 0;
    for (size_t i = 0; i < b->catalog->n_lines && pairs < (b->lean ? 1 : HYBRID_LINES_MAX); i++) {
        struct pair p;
        if (!pair_of(b, &b->catalog->lines[i], &p))
            continue;
        p.terms = terms;
        if (choose(b, p.home, false, &p.local, &miss, err) || choose(b, p.cloud, true, &p.burst, &miss, err))
            return -1;
        if (!p.local.offer || !p.burst.offer)
            continue;
        pairs++;
        if (add_pair(b, &p, out, err))
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
