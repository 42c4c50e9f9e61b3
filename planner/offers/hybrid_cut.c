/* hybrid_cut.c — see hybrid_cut.h. */
#include "planner/offers/hybrid_cut.h"

#include <math.h>
#include <string.h>

enum {
    SEEN_MAX = 128,
    PROMISING_MAX = 96,
    LANES_LISTED = 16,
    RUNS_LISTED = 12,
    MONTHS_LISTED = 3,
    BETWEEN_LISTED = 6,
    SAME_LANES = 3
};

struct search {
    const struct hybrid_range *r;
    hybrid_weigh *weigh;
    void *ctx;
    int tries_left, n_seen;
    struct hybrid_cut seen[SEEN_MAX];
    struct hybrid_cut best;
    double weight; /* of the best */
};

static int least(int a, int b)
{
    return a < b ? a : b;
}

bool hybrid_cut_allowed(const struct hybrid_range *r, const struct hybrid_cut *c)
{
    if (c->lanes_out == 0)
        return r->none_out && c->runs_out == 0 && c->lanes_local >= 1 && c->lanes_local <= r->lanes &&
               c->lanes_local <= r->local.most_lanes && c->lanes_local <= r->runs;
    return c->lanes_local >= 1 && c->lanes_out >= 1 && c->lanes_local + c->lanes_out <= r->lanes &&
           c->lanes_local <= r->local.most_lanes && c->lanes_out <= r->out.most_lanes && c->runs_out >= c->lanes_out &&
           c->runs_out <= r->most_out && r->runs - c->runs_out >= c->lanes_local;
}

double hybrid_end_hours(int runs, int lanes, double hours)
{
    return runs > 0 ? runs * hours / least(lanes, runs) : 0;
}

/* Most runs out that leave every lane at home one. */
static int most_out(const struct hybrid_range *r, int lanes_local)
{
    return least(r->runs - lanes_local, r->most_out);
}

int hybrid_balanced_runs(const struct hybrid_range *r, int lanes_local, int lanes_out)
{
    const double local = lanes_local / r->local.hours, out = lanes_out / r->out.hours;
    const int runs = least(r->runs - (int)lround(r->runs * local / (local + out)), most_out(r, lanes_local));
    return runs < lanes_out ? lanes_out : runs;
}

static double end_cost(const struct hybrid_range *r, const struct hybrid_end *e, int runs, int lanes)
{
    const double hours = hybrid_end_hours(runs, lanes, e->hours);
    const double by_hour = e->hour > 0 ? hours * e->hour : INFINITY;
    if (!(e->month > 0))
        return lanes * by_hour;
    const double months = floor(hours / r->month_hours), rest = hours - months * r->month_hours;
    const double last = e->hour > 0 ? fmin(e->month, rest * e->hour) : rest > 0 ? e->month : 0;
    return lanes * fmin(by_hour, months * e->month + last);
}

double hybrid_rough_cost(const struct hybrid_range *r, const struct hybrid_cut *c)
{
    return end_cost(r, &r->local, r->runs - c->runs_out, c->lanes_local) +
           end_cost(r, &r->out, c->runs_out, c->lanes_out);
}

double hybrid_cut_days(const struct hybrid_range *r, const struct hybrid_cut *c)
{
    const double hours = fmax(hybrid_end_hours(r->runs - c->runs_out, c->lanes_local, r->local.hours),
                              hybrid_end_hours(c->runs_out, c->lanes_out, r->out.hours));
    return ceil(hours / 24);
}

static double rough_weight(const struct hybrid_range *r, const struct hybrid_cut *c)
{
    const double days = hybrid_cut_days(r, c), beside = r->cost_a_day * days + r->cost_a_lane * c->lanes_local;
    return r->by_cost * log(r->fixed_cost + beside + hybrid_rough_cost(r, c)) +
           r->by_time * log(r->fixed_days + r->days_a_day * days);
}

static bool seen(const struct search *s, const struct hybrid_cut *c)
{
    for (int i = 0; i < s->n_seen; i++)
        if (memcmp(&s->seen[i], c, sizeof *c) == 0)
            return true;
    return false;
}

static int machines(const struct hybrid_cut *c)
{
    return c->lanes_local + c->lanes_out;
}

/* Weighs one cut where it is allowed and new. */
static void look_at(struct search *s, struct hybrid_cut c)
{
    if (s->tries_left <= 0 || s->n_seen == SEEN_MAX || !hybrid_cut_allowed(s->r, &c) || seen(s, &c))
        return;
    s->seen[s->n_seen++] = c;
    s->tries_left--;
    const double w = s->weigh(s->ctx, &c);
    if (w < s->weight || (w <= s->weight && isfinite(w) && machines(&c) < machines(&s->best))) {
        s->best = c;
        s->weight = w;
    }
}

/* Numbers 1..most, all of them where few, else growing by about a quarter. */
static int lanes_listed(int most, int ret[LANES_LISTED])
{
    int n = 0;
    for (int lanes = 1; lanes <= most && n < LANES_LISTED - 1; lanes += most <= LANES_LISTED ? 1 : 1 + lanes / 4)
        ret[n++] = lanes;
    if (n > 0 && ret[n - 1] != most)
        ret[n++] = most;
    return n;
}

static int list_runs(int runs, int from, int to, int n, int ret[RUNS_LISTED])
{
    if (runs < from || runs > to)
        return n;
    for (int i = 0; i < n; i++)
        if (ret[i] == runs)
            return n;
    ret[n] = runs;
    return n + 1;
}

/* Numbers of runs out worth a look for these lanes: both ends of the range, the balanced one, those that fill whole
 * months at home, and a few between. */
static int runs_listed(const struct hybrid_range *r, int local, int out, int ret[RUNS_LISTED])
{
    const int most = most_out(r, local);
    int n = list_runs(hybrid_balanced_runs(r, local, out), out, most, 0, ret);
    n = list_runs(out, out, most, n, ret);
    n = list_runs(most, out, most, n, ret);
    for (int months = 1; months <= MONTHS_LISTED; months++) {
        const double at_home = floor(months * r->month_hours * local / r->local.hours);
        n = list_runs(at_home < r->runs ? r->runs - (int)at_home : 0, out, most, n, ret);
    }
    for (int i = 1; i < BETWEEN_LISTED; i++)
        n = list_runs(out + (int)((double)(most - out) * i / BETWEEN_LISTED), out, most, n, ret);
    return n;
}

/* The cuts that a rough reckoning likes best, in order; few of the same lanes, because its errors are alike there. */
struct promising {
    struct hybrid_cut cuts[PROMISING_MAX];
    double weights[PROMISING_MAX];
    int n, most;
};

static void remember(struct promising *p, struct hybrid_cut c, double weight)
{
    if (p->n == p->most && weight >= p->weights[p->n - 1])
        return;
    int i = p->n < p->most ? p->n++ : p->n - 1;
    for (; i > 0 && p->weights[i - 1] > weight; i--) {
        p->weights[i] = p->weights[i - 1];
        p->cuts[i] = p->cuts[i - 1];
    }
    p->weights[i] = weight;
    p->cuts[i] = c;
}

/* All runs at home. */
static void list_none_out(const struct hybrid_range *r, struct promising *p)
{
    int locals[LANES_LISTED];
    const int n = r->none_out ? lanes_listed(least(r->lanes, r->local.most_lanes), locals) : 0;
    for (int i = 0; i < n; i++) {
        const struct hybrid_cut c = {locals[i], 0, 0};
        if (hybrid_cut_allowed(r, &c))
            remember(p, c, rough_weight(r, &c));
    }
}

static void list(const struct hybrid_range *r, struct promising *p)
{
    int locals[LANES_LISTED], outs[LANES_LISTED], runs[RUNS_LISTED];
    const int n_local = lanes_listed(least(r->lanes - 1, r->local.most_lanes), locals);
    const int n_out = lanes_listed(least(r->lanes - 1, r->out.most_lanes), outs);
    list_none_out(r, p);
    for (int i = 0; i < n_local; i++)
        for (int k = 0; k < n_out; k++) {
            const int n = runs_listed(r, locals[i], outs[k], runs);
            struct promising best = {.most = SAME_LANES};
            for (int j = 0; j < n; j++) {
                const struct hybrid_cut c = {locals[i], outs[k], runs[j]};
                if (hybrid_cut_allowed(r, &c))
                    remember(&best, c, rough_weight(r, &c));
            }
            for (int j = 0; j < best.n; j++)
                remember(p, best.cuts[j], best.weights[j]);
        }
}

/* One step from the best: a run or more to the other end; a lane more, less or to the other end. */
static bool step(struct search *s)
{
    static const struct hybrid_cut moves[] = {{0, 0, 1},  {0, 0, -1}, {0, 0, 3},  {0, 0, -3},  {-1, 0, 0},
                                              {1, 0, 0},  {0, -1, 0}, {0, 1, 0},  {-1, 1, 0},  {1, -1, 0},
                                              {-1, 0, 1}, {1, 0, -1}, {0, 1, 1},  {0, -1, -1}, {0, 0, 2},
                                              {0, 0, -2}, {0, 0, 7},  {0, 0, -7}, {2, 0, 0},   {-2, 0, 0}};
    const struct hybrid_cut at = s->best;
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        look_at(s, (struct hybrid_cut){at.lanes_local + moves[i].lanes_local, at.lanes_out + moves[i].lanes_out,
                                       at.runs_out + moves[i].runs_out});
    return memcmp(&at, &s->best, sizeof at) != 0;
}

int hybrid_cut_best(const struct hybrid_range *r, hybrid_weigh *weigh, void *ctx, int tries, struct hybrid_cut *ret,
                    double *ret_weight)
{
    return hybrid_cut_best_from(r, weigh, ctx, tries, NULL, ret, ret_weight);
}

int hybrid_cut_best_from(const struct hybrid_range *r, hybrid_weigh *weigh, void *ctx, int tries,
                         const struct hybrid_cut *from, struct hybrid_cut *ret, double *ret_weight)
{
    struct search s = {.r = r, .weigh = weigh, .ctx = ctx, .tries_left = tries, .weight = INFINITY};
    struct promising p = {.most = least(PROMISING_MAX, tries > 1 ? tries * 3 / 4 : 1)};
    if (from != NULL)
        look_at(&s, *from);
    list(r, &p);
    for (int i = 0; i < p.n; i++)
        look_at(&s, p.cuts[i]);
    while (s.tries_left > 0 && isfinite(s.weight) && step(&s))
        ;
    *ret = s.best;
    *ret_weight = s.weight;
    return s.n_seen;
}
