/* serving_fleet.c — see serving_fleet.h.
 *
 * The time per token is walked from loose to strict on a fixed ladder. On each rung the layout with most requests a
 * card is the fleet's, whatever the load; where the layout changes, what the looser one took last is the least that
 * the stricter one takes. A load that one smaller replica carries gets that, unless it undercuts this least.
 */
#include "planner/serving/serving_fleet.h"

#include <math.h>

#include "planner/serving/serving.h"
#include "planner/serving/serving_queue.h"

#define MAX_REPLICAS 1000000.0
#define LADDER_STEP 1.1
#define LEAST_TPOT_S 1e-4
#define BENT 1.015 /* between two points the time per token of experts bends above the line, by up to this */

struct load_speed capacity_speed(const struct capacity *c, const struct demand *d, double batch)
{
    struct load_point p = {.batch = batch, .input = d->input, .output = d->output, .alone = &c->alone};
    return serving_speed(&c->r, &p);
}

/* 1, 2, 3, 4, 6, 8, 12, 16, ... */
static double next_batch(double batch)
{
    if (batch < 4)
        return batch + 1;
    int e;
    return frexp(batch, &e) > 0.5 ? batch / 3 * 4 : batch * 1.5;
}

void capacity_measure(struct capacity *c, const struct demand *d)
{
    double batch = 1, tpot = 0, rate = 0;
    c->n = 0;
    c->alone = serving_prefill(&c->r, d->input, 1);
    while (c->n < CURVE_MAX) {
        struct load_speed s = capacity_speed(c, d, batch);
        if (c->n > 0 && s.ttft > d->ttft)
            return;
        tpot = fmax(tpot, s.tpot);
        rate = fmax(rate, s.requests_per_s);
        c->curve[c->n++] = (struct stand){batch, tpot, rate, batch / rate};
        if (batch >= c->full.admitted)
            return;
        batch = c->n == CURVE_MAX - 1 ? c->full.admitted : fmin(next_batch(batch), c->full.admitted);
    }
}

/* The most that keeps this time per token; one request where even that is slower. */
static struct stand stand_at(const struct capacity *c, double tpot)
{
    int i = 0;
    for (int above = c->n; above - i > 1;) { /* rising */
        const int middle = (i + above) / 2;
        *(c->curve[middle].tpot > tpot ? &above : &i) = middle;
    }
    const struct stand *a = &c->curve[i];
    if (i == c->n - 1 || a->tpot > tpot)
        return *a;
    const struct stand *b = &c->curve[i + 1];
    double share = fmax(0, (tpot / BENT - a->tpot) / (b->tpot - a->tpot));
    struct stand s = {floor(a->batch + share * (b->batch - a->batch)), tpot, 0, 0};
    s.rate = a->rate + (s.batch - a->batch) / (b->batch - a->batch) * (b->rate - a->rate);
    s.end_to_end = s.batch / s.rate;
    return s;
}

static bool keeps(const struct capacity *c, const struct demand *d, double tpot)
{
    return !d->tpot_hard || c->curve[0].tpot <= tpot;
}

double fleet_rate(const struct demand *d, const struct stand *at, double load)
{
    return load * (d->rate > 0 ? d->rate * d->peak_factor : d->in_flight / at->end_to_end);
}

struct fleet fleet_for(const struct serving_constants *k, const struct demand *d, const struct stand *at, double rate)
{
    struct fleet f = {.replicas = fmax(1, ceil(rate / (at->rate * d->rho) - 1e-9))};
    f.replicas = fmin(f.replicas, MAX_REPLICAS);
    double slack = k->max_wait_share * d->ttft;
    for (int i = 0; i < 16; i++) {
        double servers = f.replicas * at->batch, offered = rate * at->end_to_end;
        /* Nobody waits longer on average than if everybody had to wait: no need to count servers one by one. */
        if (at->end_to_end <= slack * (servers - offered) ||
            erlang_wait_within(servers, offered, at->end_to_end, slack))
            break;
        f.replicas += 1;
    }
    return f;
}

int fleet_copies(const struct serving_constants *k, const struct demand *d, const struct capacity *c,
                 const struct stand *at, const struct fleet *f, double rate)
{
    if (c->cards > 1 || f->replicas > 1) /* a load that keeps more than one busy leaves no card idle enough */
        return 1;
    const struct serving_memory *m = &c->full.memory;
    double sequences = fmax(1, k->default_min_concurrency);
    double copy = m->weights + k->shared_card_overhead_gib * BYTES_PER_GIB + m->kv_sequence * sequences;
    double by_memory = floor((m->budget - m->activation - m->overhead) / copy);
    double share = rate / (at->rate * d->rho); /* of a card, by the working replica */
    double by_speed = share > 0 ? floor(1 / share + 1e-9) : by_memory;
    return (int)fmax(1, fmin(fmin(by_memory, by_speed), 64));
}

int fleet_cards(const struct capacity *c, double replicas, int copies)
{
    return (int)fmin(1e9, copies > 1 ? ceil(replicas / copies) : replicas * c->cards);
}

/* This layout at this stand, on its own. */
static struct choice alone(const struct serving_constants *k, const struct demand *d, const struct capacity *c,
                           const struct stand *at)
{
    struct choice z = {.c = c, .at = *at};
    double rate = fleet_rate(d, &z.at, 1);
    z.fleet = fleet_for(k, d, &z.at, rate);
    z.copies = fleet_copies(k, d, c, &z.at, &z.fleet, rate);
    z.replicas = (int)z.fleet.replicas + d->spare;
    z.cards = fleet_cards(c, z.replicas, z.copies);
    return z;
}

/* What one card carries: requests/s, or requests in flight where the load is stated so. */
static double per_card(const struct capacity *c, const struct demand *d, double tpot)
{
    struct stand s = stand_at(c, tpot);
    return (d->rate > 0 ? s.rate : s.batch) / c->cards;
}

/* The first that is no starved one; the first of all where all are. */
static int first_fed(const struct capacity *c, int n)
{
    for (int i = 0; i < n; i++)
        if (!c[i].starved)
            return i;
    return 0;
}

/* The fleet's layout at a rung: most requests a card; where none keeps it, the fastest. Those that hold a small load
 * but less than a replica should are no fleet's, unless there are no others: the choice must not hang on the load. */
static int layout_at(const struct demand *d, const struct capacity *c, int n, double tpot)
{
    const int first = first_fed(c, n);
    int best = -1, fastest = first;
    double most = 0;
    for (int i = first; i < n; i++) {
        if (c[i].starved != c[first].starved)
            continue;
        if (c[i].curve[0].tpot < c[fastest].curve[0].tpot)
            fastest = i;
        if (!keeps(&c[i], d, tpot))
            continue;
        double each = per_card(&c[i], d, tpot);
        if (best < 0 || each > most * SERVING_CLEARLY_BETTER) {
            best = i;
            most = each;
        }
    }
    return best >= 0 ? best : fastest;
}

static struct choice at_least(struct choice z, int least, int spare)
{
    if (z.cards >= least)
        return z;
    z.cards = least;
    z.copies = (z.replicas * z.c->cards + least - 1) / least;
    z.replicas = least / z.c->cards > z.replicas ? least / z.c->cards : z.replicas;
    z.fleet.replicas = z.replicas - spare;
    return z;
}

/* Not with the most requests that it ever carries would one replica be enough. */
static bool too_small(const struct demand *d, const struct capacity *c)
{
    const double clearly = 1 + 1e-6;
    return d->rate > 0 && d->rate * d->peak_factor > clearly * c->curve[c->n - 1].rate * d->rho;
}

/* The fleet's layout, or one smaller replica (and its spare) that carries the whole load; at least `least` cards. */
static struct choice take(const struct serving_constants *k, const struct demand *d, const struct capacity *c,
                          const struct fleet_turn *t, int least)
{
    const int each = c[t->layout].cards;
    for (int i = 0; c[i].cards < each; i++) {
        if (!keeps(&c[i], d, t->tpot) || least > c[i].cards * (1 + d->spare) || too_small(d, &c[i]))
            continue;
        const struct stand at = stand_at(&c[i], t->tpot);
        struct choice one = alone(k, d, &c[i], &at);
        if (one.fleet.replicas <= 1)
            return at_least(one, least, d->spare);
    }
    return at_least(alone(k, d, &c[t->layout], &t->at), (least + each - 1) / each * each, d->spare);
}

static double rung(int i)
{
    return LEAST_TPOT_S * pow(LADDER_STEP, i);
}

void fleet_ladder_of(const struct demand *d, const struct capacity *c, int n, struct fleet_ladder *ret)
{
    double loosest = d->tpot;
    ret->none = true;
    ret->by_rate = d->rate > 0;
    ret->n = 0;
    for (int i = 0; i < n; i++) {
        loosest = fmax(loosest, c[i].curve[c[i].n - 1].tpot);
        ret->none &= c[i].starved != c[first_fed(c, n)].starved || !keeps(&c[i], d, d->tpot);
    }
    if (ret->none)
        return;
    int here = (int)floor(log(d->tpot / LEAST_TPOT_S) / log(LADDER_STEP));
    int i = (int)ceil(log(loosest / LEAST_TPOT_S) / log(LADDER_STEP));
    int fleet = layout_at(d, c, n, rung(i));
    for (; i > here; i--) { /* the last rung of each layout is the strictest: it takes most */
        int next = layout_at(d, c, n, rung(i - 1));
        if (next != fleet && ret->n < FLEET_TURNS_MAX)
            ret->turns[ret->n++] = (struct fleet_turn){fleet, rung(i), stand_at(&c[fleet], rung(i))};
        fleet = next;
    }
    ret->turns[ret->n++] = (struct fleet_turn){fleet, d->tpot, stand_at(&c[fleet], d->tpot)};
}

struct choice fleet_choose(const struct serving_constants *k, const struct demand *d, const struct capacity *c,
                           const struct fleet_ladder *l)
{
    struct choice z = {.c = NULL};
    for (int i = 0; !l->none && i < l->n; i++)
        z = take(k, d, c, &l->turns[i], z.c != NULL ? z.cards : 0);
    return z;
}
