/* serving_size.c — from a load to cards: the layout that needs fewest, replicas by queueing, spare, shared cards.
 *
 * docs/planner-serving.md, "Sizing". For every layout of one replica that fits: the most requests in flight that keep
 * TTFT and TPOT, hence its capacity, hence replicas at the utilisation target, checked with Erlang-C. A load that one
 * replica carries gets the smallest such; a larger one gets a fleet of the layout that needs fewest cards for a large
 * load. The fleet's layout does not depend on the load, so that more requests never mean fewer replicas.
 */
#include "planner/serving/serving.h"

#include <math.h>

#include "planner/serving/serving_layout.h"
#include "planner/serving/serving_point.h"
#include "planner/serving/serving_queue.h"

#define GB 1e9
#define MAX_REPLICAS 1000000.0
#define MAX_CANDIDATES 20
#define MUCH_BETTER 3

struct demand {
    double rate;      /* mean requests/s; 0 where the load is stated as concurrency */
    double in_flight; /* concurrency at peak */
    double peak_factor;
    double input, output;
    double ttft, tpot;         /* s; limits on the requests in flight */
    bool ttft_hard, tpot_hard; /* stated by the customer: a miss is infeasible */
    double rho;
    int spare;
};

struct capacity { /* one replica of one layout */
    struct layout layout;
    int cards;
    struct replica r;
    struct replica_answer full; /* at the most requests in flight it may take */
    double batch, rate;         /* that many; requests/s then */
    double end_to_end;
    double unlimited_rate; /* requests/s with all that memory admits, whatever the targets */
    bool meets;            /* the targets, with one request at least */
};

struct fleet {
    double replicas; /* working */
    double wait_probability, mean_wait;
};

static struct demand demand_of(const struct serving_constants *k, const struct serving_sizing_request *q)
{
    const struct serving *s = q->serving;
    struct demand d = {.input = s->input_tokens, .output = s->output_tokens, .spare = s->spare_replicas};
    d.peak_factor = s->peak_factor >= 1 ? s->peak_factor : k->default_peak_factor;
    if (d.input <= 0 && d.output <= 0) {
        d.input = k->default_input;
        d.output = k->default_output;
    }
    d.output = fmax(1, d.output);
    if (d.spare < 0)
        d.spare = 0;
    double per_hour = s->requests_per_user_hour > 0 ? s->requests_per_user_hour : k->default_requests_per_user_hour;
    d.rate = s->requests_per_s > 0 ? s->requests_per_s : s->users > 0 ? s->users * per_hour / 3600 : 0;
    if (d.rate <= 0)
        d.in_flight = fmax(1, s->concurrency);
    d.ttft_hard = s->ttft_ms > 0;
    d.tpot_hard = s->tpot_ms > 0;
    d.ttft = (d.ttft_hard ? s->ttft_ms : k->default_ttft_ms) / 1e3;
    d.tpot = (d.tpot_hard ? s->tpot_ms : k->default_tpot_ms) / 1e3;
    d.rho = q->utilisation_target > 0 && q->utilisation_target <= 1 ? q->utilisation_target : k->default_utilisation;
    return d;
}

static struct load_speed speed_at(const struct capacity *c, const struct demand *d, double batch)
{
    struct load_point p = {batch, d->input, d->output, false, false};
    return serving_speed(&c->r, &p);
}

static bool within(const struct load_speed *s, const struct demand *d)
{
    return s->ttft <= d->ttft && s->tpot <= d->tpot;
}

/* Most requests in flight within the targets: they only get slower with each one more. */
static double most_in_flight(const struct capacity *c, const struct demand *d, double admitted)
{
    struct load_speed s = speed_at(c, d, admitted);
    if (within(&s, d))
        return admitted;
    double low = 1, high = admitted;
    while (high - low > fmax(0.5, 0.01 * low)) {
        double middle = floor((low + high) / 2);
        if (middle <= low)
            break;
        s = speed_at(c, d, middle);
        if (within(&s, d))
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct miss { /* why the best layout so far does not do */
    const char *code;
    double short_by, best, wanted;
};

/* Fills what one replica of this layout can carry; *ret_fits false, or c->meets false, with the reason why not. */
static int measure(const struct serving_constants *k, const struct serving_sizing_request *q, const struct demand *d,
                   struct capacity *c, bool *ret_fits, struct miss *miss, struct err *err)
{
    *ret_fits = false;
    struct shape shape = {.gpu = q->gpu, .gpus_per_node = q->gpus_per_node, .nodes = 1, .intra = q->intra};
    if (replica_resolve(k, q->model, q->serving, &shape, &c->layout, &c->r, err) != 0)
        return -1;
    if (c->layout.ep > 1 && c->r.mla)
        c->r = replica_attention_dp(&c->r); /* what experts cut by rank are for */
    struct point p = {.input = d->input, .output = d->output, .saturated = true};
    p.memory.max_len = d->input + d->output;
    p.memory.in_flight = k->default_min_concurrency;
    if (d->rate <= 0)
        p.memory.in_flight = fmin(p.memory.in_flight, d->in_flight);
    c->full = replica_answer_at(&c->r, &p);
    c->r.shape = NULL; /* was a local */
    if (c->full.memory.fits == FITS_NO) {
        double needed = c->full.memory.needed / GB, budget = c->full.memory.budget / GB;
        *miss = (struct miss){"serving_no_memory", needed - budget, needed, budget};
        return 0;
    }
    *ret_fits = true;
    c->unlimited_rate = c->full.speed.requests_per_s;
    struct load_speed one = speed_at(c, d, 1);
    if (d->ttft_hard && one.ttft > d->ttft) {
        *miss = (struct miss){"serving_ttft_missed", (one.ttft - d->ttft) * 1e3, one.ttft * 1e3, d->ttft * 1e3};
        return 0;
    }
    if (d->tpot_hard && one.tpot > d->tpot) {
        *miss = (struct miss){"serving_tpot_missed", (one.tpot - d->tpot) * 1e3, one.tpot * 1e3, d->tpot * 1e3};
        return 0;
    }
    c->meets = true;
    c->batch = most_in_flight(c, d, c->full.admitted);
    c->full.speed = speed_at(c, d, c->batch);
    c->full.in_flight = c->batch;
    c->rate = c->full.speed.requests_per_s;
    c->end_to_end = c->full.speed.end_to_end;
    return 0;
}

static double peak_rate(const struct demand *d, const struct capacity *c, double load)
{
    return load * (d->rate > 0 ? d->rate * d->peak_factor : d->in_flight / c->end_to_end);
}

/* Replicas for a peak rate: utilisation first, then the queue must leave the first token in time. */
static struct fleet fleet_for(const struct serving_constants *k, const struct demand *d, const struct capacity *c,
                              double rate)
{
    struct fleet f = {.replicas = fmax(1, ceil(rate / (c->rate * d->rho) - 1e-9))};
    f.replicas = fmin(f.replicas, MAX_REPLICAS);
    double slack = k->max_wait_share * d->ttft;
    for (int i = 0; i < 16; i++) {
        double servers = f.replicas * c->batch, offered = rate * c->end_to_end;
        f.wait_probability = erlang_c(servers, offered);
        f.mean_wait = erlang_wait(servers, offered, c->end_to_end);
        if (f.mean_wait <= slack)
            break;
        f.replicas += 1;
    }
    return f;
}

/* Copies of the replica that one card can carry: memory for each, and speed enough that all of them together still
 * keep the card within its utilisation. */
static int copies_on_card(const struct serving_constants *k, const struct demand *d, const struct capacity *c,
                          const struct fleet *f, double rate)
{
    if (c->cards > 1)
        return 1;
    const struct serving_memory *m = &c->full.memory;
    double sequences = fmax(1, k->default_min_concurrency);
    double copy = m->weights + k->shared_card_overhead_gib * SERVING_GIB + m->kv_sequence * sequences;
    double by_memory = floor((m->budget - m->activation - m->overhead) / copy);
    double share = rate / (f->replicas * c->rate * d->rho); /* of a card, by one working replica */
    double by_speed = share > 0 ? floor(1 / share + 1e-9) : by_memory;
    return (int)fmax(1, fmin(fmin(by_memory, by_speed), 64));
}

static int cards_for(const struct capacity *c, double replicas, int copies)
{
    return (int)fmin(1e9, copies > 1 ? ceil(replicas / copies) : replicas * c->cards);
}

/* Layouts of one replica inside a node, smallest first; pipelines only where tensor parallel must cross PCIe. */
static int candidates(const struct serving_sizing_request *q, struct layout ret[MAX_CANDIDATES])
{
    int n = 0;
    enum intra_link link = q->intra != INTRA_UNSTATED ? q->intra : hardware_default_intra(q->gpu, q->gpus_per_node);
    bool slow = link == INTRA_PCIE3 || link == INTRA_PCIE4 || link == INTRA_PCIE5;
    bool latent_experts = q->model->kv_lora_rank > 0 && q->model->experts > 0;
    for (int cards = 1; cards <= q->gpus_per_node && n + 3 < MAX_CANDIDATES; cards *= 2) {
        if (serving_tp_divides(q->model, cards))
            ret[n++] = (struct layout){.tp = cards, .pp = 1, .dp = 1, .ep = 1};
        if (cards > 1 && latent_experts && serving_tp_divides(q->model, cards))
            ret[n++] = (struct layout){.tp = cards, .pp = 1, .dp = 1, .ep = cards};
        if (slow && cards > 1 && cards <= q->model->layers)
            ret[n++] = (struct layout){.tp = 1, .pp = cards, .dp = 1, .ep = 1};
        if (slow && cards > 2 && serving_tp_divides(q->model, 2))
            ret[n++] = (struct layout){.tp = 2, .pp = cards / 2, .dp = 1, .ep = 1};
    }
    return n;
}

static void tell_miss(const struct miss *m, struct serving_sizing *ret)
{
    ret->why_not = (struct note){.code = m->code, .short_by = m->short_by};
    note_num(note_num(&ret->why_not, "best", m->best), "limit", m->wanted);
}

/* The chosen replica as an estimate, at the requests it really has in flight at peak. */
static int estimate_at_peak(const struct serving_constants *k, const struct serving_sizing_request *q,
                            const struct demand *d, const struct capacity *c, double in_flight, struct arena *arena,
                            struct serving_sizing *ret, struct err *err)
{
    struct shape shape = {.gpu = q->gpu, .gpus_per_node = q->gpus_per_node, .nodes = 1, .intra = q->intra};
    struct operating_point at = {.stated = true,
                                 .batch = (int)in_flight,
                                 .input_tokens = (int)d->input,
                                 .output_tokens = (int)d->output,
                                 .scenario = SCEN_SERVER};
    struct serving_request one = {
        .model = q->model, .serving = q->serving, .shape = &shape, .layout = &c->layout, .at = &at};
    if (serving_estimate(k, &one, arena, &ret->at_peak, err) != 0)
        return -1;
    ret->ttft_ms = ret->at_peak.serving.ttft_ms;
    ret->tpot_ms = ret->at_peak.serving.tpot_ms;
    return 0;
}

/* Cards that the same replicas take while the load is at its mean. */
static int mean_cards(const struct serving_constants *k, const struct demand *d, const struct capacity *c, double peak,
                      int cards_at_peak)
{
    const double rate = peak / d->peak_factor;
    const struct fleet f = fleet_for(k, d, c, rate);
    const int cards = cards_for(c, f.replicas + d->spare, copies_on_card(k, d, c, &f, rate));
    return cards < cards_at_peak ? cards : cards_at_peak;
}

static void fill(const struct serving_constants *k, const struct serving_sizing_request *q, const struct demand *d,
                 const struct capacity *c, struct serving_sizing *ret)
{
    double rate = peak_rate(d, c, 1);
    double low = q->load_low > 0 ? fmin(1, q->load_low) : 1, high = fmax(1, q->load_high);
    struct fleet f = fleet_for(k, d, c, rate);
    struct fleet fl = fleet_for(k, d, c, rate * low), fh = fleet_for(k, d, c, rate * high);
    int copies = copies_on_card(k, d, c, &f, rate);
    ret->feasible = true;
    ret->layout = c->layout;
    ret->gpus_per_replica = c->cards;
    ret->replicas_per_gpu = copies;
    ret->replicas = (int)f.replicas + d->spare;
    ret->replicas_low = (int)fl.replicas + d->spare;
    ret->replicas_high = (int)fh.replicas + d->spare;
    ret->gpus = cards_for(c, ret->replicas, copies);
    ret->gpus_low = cards_for(c, ret->replicas_low, copies_on_card(k, d, c, &fl, rate * low));
    ret->gpus_high = cards_for(c, ret->replicas_high, copies_on_card(k, d, c, &fh, rate * high));
    ret->gpus_mean = mean_cards(k, d, c, rate, ret->gpus);
    ret->gpus_mean_low = mean_cards(k, d, c, rate * low, ret->gpus_low);
    ret->gpus_mean_high = mean_cards(k, d, c, rate * high, ret->gpus_high);
    ret->peak_requests_per_s = rate;
    ret->mean_requests_per_s = d->rate > 0 ? d->rate : rate / d->peak_factor;
    ret->utilisation = ret->mean_requests_per_s / (c->rate * (copies > 1 ? ret->gpus : ret->replicas));
    ret->wait_probability = f.wait_probability;
    ret->mean_wait_ms = f.mean_wait * 1e3;
}

/* Requests/s of one card of this layout: within the targets, or with all that memory admits. */
static double per_card(const struct capacity *c, bool unlimited)
{
    return (unlimited ? c->unlimited_rate : c->rate) / c->cards;
}

/* The layout that a fleet is made of: fewest cards for a large load. Never smaller than the one that is best without
 * targets, which has cache enough; so that a stricter target never leads to a smaller replica. */
static const struct capacity *fleet_layout(const struct capacity *c, int n)
{
    const struct capacity *roomy = NULL, *best = NULL;
    for (int i = 0; i < n; i++)
        if (roomy == NULL || per_card(&c[i], true) > per_card(roomy, true))
            roomy = &c[i];
    for (int i = 0; i < n; i++)
        if (c[i].cards >= roomy->cards && c[i].meets &&
            (best == NULL || per_card(&c[i], false) > per_card(best, false)))
            best = &c[i];
    for (int i = 0; i < n; i++) /* unless that wastes the cards */
        if (c[i].meets && (best == NULL || per_card(&c[i], false) > MUCH_BETTER * per_card(best, false)))
            best = &c[i];
    return best;
}

/* One replica that carries the whole load, of fewer cards than the fleet's; else the fleet's. */
static const struct capacity *choose(const struct serving_constants *k, const struct demand *d,
                                     const struct capacity *c, int n)
{
    const struct capacity *fleet = fleet_layout(c, n);
    for (int i = 0; i < n && fleet != NULL && c[i].cards < fleet->cards; i++)
        if (c[i].meets && fleet_for(k, d, &c[i], peak_rate(d, &c[i], 1)).replicas <= 1)
            return &c[i];
    return fleet;
}

int serving_size(const struct serving_constants *k, const struct serving_sizing_request *q, struct arena *arena,
                 struct serving_sizing *ret, struct err *err)
{
    *ret = (struct serving_sizing){0};
    struct demand d = demand_of(k, q);
    struct layout layouts[MAX_CANDIDATES];
    struct capacity c[MAX_CANDIDATES];
    struct miss miss = {"serving_no_memory", NAN, NAN, NAN};
    int n_layouts = candidates(q, layouts), n = 0;
    for (int i = 0; i < n_layouts; i++) {
        bool fits;
        c[n] = (struct capacity){.layout = layouts[i], .cards = layouts[i].tp * layouts[i].pp};
        if (measure(k, q, &d, &c[n], &fits, &miss, err) != 0)
            return -1;
        n += fits;
    }
    const struct capacity *best = choose(k, &d, c, n);
    if (best == NULL) {
        tell_miss(&miss, ret);
        return 0;
    }
    fill(k, q, &d, best, ret);
    double each = ret->peak_requests_per_s * best->end_to_end / fmax(1, ret->replicas - d.spare);
    if (estimate_at_peak(k, q, &d, best, fmax(1, fmin(best->batch, ceil(each))), arena, ret, err) != 0)
        return -1;
    if (ret->replicas > ret->gpus)
        note_num(note_num(note_add(&ret->at_peak.warnings, "serving_replicas_share_card"), "replicas", ret->replicas),
                 "gpus", ret->gpus);
    return 0;
}
