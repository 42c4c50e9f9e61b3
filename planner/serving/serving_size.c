/* serving_size.c — from a load to cards: the layout that needs fewest, replicas by queueing, spare, shared cards.
 *
 * docs/planner-serving.md, "Sizing". Every layout of one replica that fits is measured: requests in flight against
 * time per token and requests/s. serving_fleet.h chooses among them.
 */
#include "planner/serving/serving.h"

#include <math.h>
#include <string.h>

#include "planner/serving/serving_fleet.h"
#include "planner/serving/serving_layout.h"

#define GB 1e9
#define MAX_CANDIDATES 20

static struct demand demand_of(const struct serving_constants *k, const struct serving_sizing_request *q)
{
    const struct serving *s = q->serving;
    struct demand d = {.input = s->input_tokens, .output = s->output_tokens, .spare = s->spare_replicas};
    d.peak_factor = s->peak_factor >= 1 ? s->peak_factor : k->default_peak_factor;
    if (d.input <= 0 && d.output <= 0) {
        d.input = k->default_input;
        d.output = k->default_output;
        if (q->model->flops_per_sample > 0) {
            d.input = 0;
            d.output = k->image_passes;
        } else if (q->model->encoder_positions > 0) {
            d.input = q->model->encoder_positions;
            d.output = k->speech_output;
        }
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

struct miss { /* why the best layout so far does not do */
    const char *code;
    double short_by, best, wanted;
};

/* Fills what one replica of this layout can carry; *ret_fits false with the reason why it does not do. */
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
    p.memory.in_flight = d->hold;
    c->full = replica_room_at(&c->r, &p);
    p.memory.in_flight = k->default_min_concurrency;
    c->starved = serving_memory_of(&c->r, &p.memory).fits == FITS_NO;
    c->r.shape = NULL; /* was a local */
    if (c->full.memory.fits == FITS_NO) {
        double needed = c->full.memory.needed / GB, budget = c->full.memory.budget / GB;
        *miss = (struct miss){"serving_no_memory", needed - budget, needed, budget};
        return 0;
    }
    capacity_measure(c, d);
    struct load_speed one = capacity_speed(c, d, 1);
    if (d->ttft_hard && one.ttft > d->ttft) {
        *miss = (struct miss){"serving_ttft_missed", (one.ttft - d->ttft) * 1e3, one.ttft * 1e3, d->ttft * 1e3};
        return 0;
    }
    *ret_fits = true;
    bool nearest = strcmp(miss->code, "serving_tpot_missed") != 0 || one.tpot * 1e3 < miss->best;
    if (d->tpot_hard && one.tpot > d->tpot && nearest)
        *miss = (struct miss){"serving_tpot_missed", (one.tpot - d->tpot) * 1e3, one.tpot * 1e3, d->tpot * 1e3};
    return 0;
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

/* Cards that the chosen replicas take at another rate. */
static int cards_at(const struct serving_constants *k, const struct demand *d, const struct choice *z, double rate,
                    int *ret_replicas)
{
    const struct fleet f = fleet_for(k, d, &z->at, rate);
    *ret_replicas = (int)f.replicas + d->spare;
    return fleet_cards(z->c, *ret_replicas, fleet_copies(k, d, z->c, &z->at, &f, rate));
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

static void fill(const struct serving_constants *k, const struct serving_sizing_request *q, const struct demand *d,
                 const struct choice *z, struct serving_sizing *ret)
{
    const double rate = fleet_rate(d, &z->at, 1), mean = rate / d->peak_factor;
    const double low = q->load_low > 0 ? fmin(1, q->load_low) : 1, high = fmax(1, q->load_high);
    int n;
    ret->feasible = true;
    ret->layout = z->c->layout;
    ret->gpus_per_replica = z->c->cards;
    ret->replicas_per_gpu = z->copies;
    ret->replicas = z->replicas;
    ret->gpus = z->cards;
    ret->gpus_low = least(z->cards, cards_at(k, d, z, rate * low, &n));
    ret->replicas_low = least(z->replicas, n);
    ret->gpus_high = most(z->cards, cards_at(k, d, z, rate * high, &n));
    ret->replicas_high = most(z->replicas, n);
    ret->gpus_mean = least(z->cards, cards_at(k, d, z, mean, &n));
    ret->gpus_mean_low = least(ret->gpus_low, cards_at(k, d, z, mean * low, &n));
    ret->gpus_mean_high = least(ret->gpus_high, cards_at(k, d, z, mean * high, &n));
    ret->peak_requests_per_s = rate;
    ret->mean_requests_per_s = d->rate > 0 ? d->rate : mean;
    ret->utilisation = ret->mean_requests_per_s / (z->at.rate * (z->copies > 1 ? ret->gpus : ret->replicas));
    ret->servers = z->fleet.replicas * z->at.batch;
    ret->offered = rate * z->at.end_to_end;
    ret->service_s = z->at.end_to_end;
}

/* A stated concurrency below what a replica should hold. */
static bool few(const struct serving_constants *k, const struct demand *d)
{
    return d->rate <= 0 && d->in_flight < k->default_min_concurrency;
}

struct serving_kept {
    int n;
    struct miss miss;
    double hold;
    struct fleet_ladder ladder;
    struct capacity c[];
};

/* The layouts that carry anything, measured. */
struct measured_layouts {
    struct capacity c[MAX_CANDIDATES];
    int n, measured;
    struct miss miss;
};

/* Where no layout holds as many sequences as a replica should, a load of fewer takes one that holds those: else a
 * smaller load would stand on other replicas than a larger one. */
static int measure_all(const struct serving_constants *k, const struct serving_sizing_request *q, struct demand *d,
                       struct measured_layouts *ret, struct err *err)
{
    struct layout layouts[MAX_CANDIDATES];
    const int n_layouts = candidates(q, layouts);
    ret->n = ret->measured = 0;
    ret->miss = (struct miss){"serving_no_memory", NAN, NAN, NAN};
    for (int round = 0; round < (few(k, d) ? 2 : 1) && ret->n == 0; round++) {
        d->hold = round == 0 ? k->default_min_concurrency : d->in_flight;
        for (int i = 0; i < n_layouts; i++) {
            struct capacity *c = &ret->c[ret->n];
            bool fits;
            *c = (struct capacity){.layout = layouts[i], .cards = layouts[i].tp * layouts[i].pp};
            if (measure(k, q, d, c, &fits, &ret->miss, err) != 0)
                return -1;
            ret->measured += c->full.memory.fits != FITS_NO;
            ret->n += fits;
        }
    }
    return 0;
}

/* NULL where what was measured is of this load alone, or there is no memory. */
static struct serving_kept *keep(const struct serving_constants *k, const struct demand *d,
                                 const struct measured_layouts *m, const struct fleet_ladder *ladder,
                                 struct arena *arena)
{
    if (d->hold < k->default_min_concurrency || (m->n == 0 && d->rate <= 0))
        return NULL;
    struct serving_kept *kept = arena_alloc(arena, sizeof *kept + (size_t)m->n * sizeof *m->c);
    if (kept == NULL)
        return NULL;
    kept->n = m->n;
    kept->miss = m->miss;
    kept->hold = d->hold;
    kept->ladder = *ladder;
    memcpy(kept->c, m->c, (size_t)m->n * sizeof *m->c);
    return kept;
}

int serving_size(const struct serving_constants *k, const struct serving_sizing_request *q, struct arena *arena,
                 struct serving_sizing *ret, struct err *err)
{
    return serving_size_keeping(k, q, arena, NULL, ret, err);
}

int serving_size_keeping(const struct serving_constants *k, const struct serving_sizing_request *q, struct arena *arena,
                         struct serving_kept **kept, struct serving_sizing *ret, struct err *err)
{
    *ret = (struct serving_sizing){0};
    struct demand d = demand_of(k, q);
    struct measured_layouts own;
    struct fleet_ladder ladder;
    struct choice z;
    struct miss miss;
    if (kept != NULL && *kept != NULL) {
        d.hold = (*kept)->hold;
        ret->replicas_measured = 0;
        miss = (*kept)->miss;
        const bool alike = (*kept)->ladder.by_rate == (d.rate > 0);
        if (!alike)
            fleet_ladder_of(&d, (*kept)->c, (*kept)->n, &ladder);
        z = fleet_choose(k, &d, (*kept)->c, alike ? &(*kept)->ladder : &ladder);
    } else {
        if (measure_all(k, q, &d, &own, err) != 0)
            return -1;
        fleet_ladder_of(&d, own.c, own.n, &ladder);
        if (kept != NULL)
            *kept = keep(k, &d, &own, &ladder, arena);
        ret->replicas_measured = own.measured;
        miss = own.miss;
        z = fleet_choose(k, &d, own.c, &ladder);
    }
    if (z.c == NULL) {
        tell_miss(&miss, ret);
        return 0;
    }
    fill(k, q, &d, &z, ret);
    if (q->machines_alone)
        return 0;
    double each = ret->peak_requests_per_s * z.at.end_to_end / fmax(1, ret->replicas - d.spare);
    if (estimate_at_peak(k, q, &d, z.c, fmax(1, fmin(z.at.batch, ceil(each))), arena, ret, err) != 0)
        return -1;
    if (ret->replicas > ret->gpus)
        note_num(note_num(note_add(&ret->at_peak.warnings, "serving_replicas_share_card"), "replicas", ret->replicas),
                 "gpus", ret->gpus);
    return 0;
}
