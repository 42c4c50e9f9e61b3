/* uncertainty.c — see uncertainty.h. */
#include "planner/advice/uncertainty.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "planner/advice/quantiles.h"
#include "planner/costing/calendar.h"
#include "planner/costing/costing.h"
#include "planner/reserve/reserve.h"

enum { KNOTS = 7 };
enum { DIM_SPEED, DIM_PRICE, DIM_LOAD, DIM_QUEUE, DIM_FAILURE, DIM_OWN }; /* then two of each option's own */

/* What every option is sampled at. */
struct uncertainty_points {
    double normal[SOBOL_POINTS];
    uint8_t common[DIM_OWN][SOBOL_POINTS];
};

static double price_band(const struct build *b, const struct price *p)
{
    double band = p->state == PRICE_DERIVED        ? b->a.price_band_derived
                  : p->state == PRICE_ILLUSTRATIVE ? b->a.price_band_illustrative
                                                   : b->a.price_band_firm;
    if (p->observed_on != DATE_NONE && b->day.as_of > p->observed_on)
        band += b->a.price_band_per_month * (b->day.as_of - p->observed_on) / b->a.month_days;
    if (p->micros_high > p->micros && p->micros > 0)
        band = fmax(band, (double)p->micros_high / (double)p->micros - 1);
    return band;
}

struct bands uncertainty_bands(const struct build *b, const struct draft *d)
{
    struct bands r = {1, 1, 0};
    const struct estimate *e = d->estimate;
    if (d->speed_low > 0 && d->speed_high > 0) {
        r.speed_low = d->speed_low;
        r.speed_high = d->speed_high;
    } else if (e != NULL && e->has_training) {
        const struct training_estimate *t = &e->training;
        bool known = t->tokens_per_s_per_gpu_low > 0 && t->tokens_per_s_per_gpu_high >= t->tokens_per_s_per_gpu_low;
        r.speed_low = known                              ? t->tokens_per_s_per_gpu / t->tokens_per_s_per_gpu_high
                      : e->confidence == CONF_MEASURED   ? b->a.speed_low_measured
                      : e->confidence == CONF_CALIBRATED ? b->a.speed_low_calibrated
                                                         : b->a.speed_low_analytic;
        r.speed_high = known                              ? t->tokens_per_s_per_gpu / t->tokens_per_s_per_gpu_low
                       : e->confidence == CONF_MEASURED   ? b->a.speed_high_measured
                       : e->confidence == CONF_CALIBRATED ? b->a.speed_high_calibrated
                                                          : b->a.speed_high_analytic;
    }
    r.speed_low = fmin(1, fmax(0.05, r.speed_low));
    r.speed_high = fmax(1, fmin(20, r.speed_high));
    const struct cost *c = d->option != NULL ? &d->option->cost : NULL;
    double weight = 0;
    for (size_t i = 0; c != NULL && i < c->n_lines; i++)
        if (c->lines[i].price != NULL && c->lines[i].sku != NULL) {
            r.price += (double)c->lines[i].minor * price_band(b, c->lines[i].price);
            weight += (double)c->lines[i].minor;
        }
    if (c == NULL && d->n_groups > 0)
        r.price = price_band(b, d->groups[d->train_group].offer->rates[0].price);
    else
        r.price = weight > 0 ? r.price / weight : 0;
    return r;
}

/* Cost and finish of an option over the multiplier on time. */
struct curve {
    double time[KNOTS], total[KNOTS], finish[KNOTS];
    int n;
};

/* Even steps of chance on either side of what is expected, which is a knot itself: the middle of the sample is the plan
 * as printed. */
static double knot_time(double least, double most, int k)
{
    const int middle = KNOTS / 2;
    return k < middle ? pow(least, (double)(middle - k) / middle) : pow(most, (double)(k - middle) / middle);
}

/* Whatever days it works on, there is a rate that pays for them. */
static bool always_paid(const struct draft *d)
{
    for (int g = 0; g < d->n_groups; g++) {
        const struct draft_group *group = &d->groups[g];
        bool paid = false;
        for (size_t r = 0; r < group->offer->n_rates && !paid; r++)
            paid = group->offer->rates[r].per_card == group->by_card && group->offer->rates[r].mode != MODE_SPOT;
        if (!paid)
            return false;
    }
    return true;
}

/* Nobody asks for the cost of a re-plan's options at other speeds but their budget. */
static bool wants_money(const struct build *b)
{
    return !b->order_only || b->budget_minor > 0;
}

/* Finish and cost (0 where nobody wants it) of work that takes so many times as long. -1: beyond the horizon. */
static int reckon_at(const struct build *b, const struct draft *d, double time, double *ret_finish, double *ret_total)
{
    struct what_if w = what_if_expected;
    struct reckoning r;
    w.time = time;
    if (!wants_money(b) && always_paid(d)) {
        r.total = 0;
        if (calendar_schedule(&b->a, d, &w, &r.schedule) != 0)
            return -1;
    } else if (costing_reckon(&b->day, d, &w, &r) != 0) {
        return -1;
    }
    *ret_finish = r.schedule.finish_days;
    *ret_total = (double)r.total;
    return 0;
}

static void draw_curve(const struct build *b, const struct draft *d, double least, double most, struct curve *c)
{
    const bool flat = least >= most;
    c->n = 0;
    for (int k = 0; k < (flat ? 1 : KNOTS); k++) {
        const bool as_printed = flat || k == KNOTS / 2;
        c->time[k] = as_printed ? 1 : knot_time(least, most, k);
        c->total[k] = (double)d->option->cost.total;
        c->finish[k] = d->base->schedule.finish_days;
        if (!as_printed && reckon_at(b, d, c->time[k], &c->finish[k], &c->total[k]) != 0)
            break; /* beyond the horizon: the last slope goes on */
        c->n++;
    }
}

/* Between which knots a time lies, and how far from the first of them; past the ends their slopes go on. */
struct place {
    int knot; /* the second; 0 = the curve is one knot */
    double share;
};

static struct place place_on(const struct curve *c, double t)
{
    int k = 1;
    if (c->n < 2)
        return (struct place){0, 0};
    while (k < c->n - 1 && t > c->time[k])
        k++;
    return (struct place){k, (t - c->time[k - 1]) / (c->time[k] - c->time[k - 1])};
}

static double value_at(const double *y, struct place p)
{
    return p.knot == 0 ? y[0] : fmax(0, y[p.knot - 1] + p.share * (y[p.knot] - y[p.knot - 1]));
}

/* The sum of all jobs' lognormal waits, taken as one lognormal; mean 0 = no queue. */
struct queue {
    double mean, sigma;
};

static struct queue queue_of(const struct draft *d)
{
    if (d->queue_jobs <= 0 || !(d->queue_median_h > 0) || d->queue_p90_h <= d->queue_median_h)
        return (struct queue){0, 0};
    double one = log(d->queue_p90_h / d->queue_median_h) / NORMAL_P90;
    double mean = d->queue_median_h * exp(one * one / 2) * d->queue_jobs;
    double variance = (exp(one * one) - 1) / d->queue_jobs; /* of the sum, relative to its mean squared */
    return (struct queue){mean, sqrt(log(1 + variance))};
}

/* Days of waiting more or less than expected. */
static double queue_days(const struct queue *q, double z)
{
    return q->mean > 0 ? (q->mean * exp(q->sigma * z - q->sigma * q->sigma / 2) - q->mean) / 24 : 0;
}

struct option_sample {
    const struct uncertainty_points *s;
    uint8_t own_speed[SOBOL_POINTS], own_price[SOBOL_POINTS];
    struct bands bands;
    struct curve curve;
    struct queue queue;
    /* what does not change from point to point */
    double log_fast, log_slow; /* of the multiplier on time, a standard deviation down and up */
    double speed_common, speed_own, price_common, price_own;
    double failures, machines, tax, reserve;
};

static void prepare(const struct build *b, const struct draft *d, struct option_sample *o)
{
    double overhead = d->estimate != NULL && d->estimate->has_training ? d->estimate->training.run_overhead : 0;
    double net = (double)d->base->net;
    o->queue = queue_of(d);
    o->log_fast = log(o->bands.speed_low) / NORMAL_P90;
    o->log_slow = log(o->bands.speed_high) / NORMAL_P90;
    o->speed_common = sqrt(b->a.speed_common_share);
    o->speed_own = sqrt(1 - b->a.speed_common_share);
    o->price_common = sqrt(b->a.price_common_share) * o->bands.price / NORMAL_P90;
    o->price_own = sqrt(1 - b->a.price_common_share) * o->bands.price / NORMAL_P90;
    o->failures = fmax(0, overhead) * b->a.failure_band / NORMAL_P90;
    o->machines = net > 0 ? (double)d->base->machines_net / net : 0;
    o->tax = net > 0 ? (double)d->base->tax / net : 0;
    o->reserve = d->reserve != NULL ? (double)d->reserve->net * (1 + o->tax) : 0;
}

static double load_at(const struct build *b, double z)
{
    return z < 0 ? 1 - (1 - b->a.load_low) * -z / NORMAL_P90 : 1 + (b->a.load_high - 1) * z / NORMAL_P90;
}

static void sample_point(const struct build *b, const struct draft *d, const struct option_sample *o, int i,
                         struct spread *ret)
{
    const struct uncertainty_points *s = o->s;
    double z[DIM_OWN];
    for (int dim = 0; dim < DIM_OWN; dim++)
        z[dim] = s->normal[s->common[dim][i]];
    double speed = o->speed_common * z[DIM_SPEED] + o->speed_own * s->normal[o->own_speed[i]];
    double time = exp(speed < 0 ? -speed * o->log_fast : speed * o->log_slow) * (1 + o->failures * z[DIM_FAILURE]);
    double price = o->price_common * z[DIM_PRICE] + o->price_own * s->normal[o->own_price[i]];
    const struct place at = place_on(&o->curve, time);
    double total = value_at(o->curve.total, at);
    double load = d->reserve != NULL ? reserve_plan_change(&b->a, d->reserve, load_at(b, z[DIM_LOAD])) : 0;
    total += total * o->machines * price + o->reserve * price + load * (1 + o->tax);
    ret->total[i] = (float)fmax(0, total);
    ret->finish[i] = (float)fmax(1, value_at(o->curve.finish, at) + queue_days(&o->queue, z[DIM_QUEUE]));
}

static int clamped(int k)
{
    return k < 0 ? 0 : k < SOBOL_POINTS ? k : SOBOL_POINTS - 1;
}

/* Values at a tenth, in the middle and at nine tenths of a sample, and the least that at least a share of the points
 * keeps within. */
struct shares_of_sample {
    double tenth, middle, nine_tenths, within;
};

static struct shares_of_sample shares_of(const float *values, double share)
{
    enum { LAST = SOBOL_POINTS - 1, LOW = (LAST + 5) / 10, MIDDLE = (LAST + 1) / 2, HIGH = (9 * LAST + 5) / 10 };
    const int ranks[] = {LOW, MIDDLE, HIGH, clamped((int)ceil(share * SOBOL_POINTS) - 1)};
    float at[4];
    quantiles(values, SOBOL_POINTS, ranks, 4, at);
    return (struct shares_of_sample){(double)at[0], (double)at[1], (double)at[2], (double)at[3]};
}

/* The bill is of the plan as it stands. Where half of the cases cost clearly more or less (a slower run takes another
 * tariff), the answer says so. */
static void say_expected(const struct build *b, struct option *o)
{
    const double off = (double)(o->cost.expected - o->cost.total) / fmax(1, (double)o->cost.total);
    if (b->order_only || fabs(off) < b->a.expected_differs_share)
        return;
    struct note *n = note_money(note_add(&o->warnings, "expected_differs"), "expected", o->cost.expected);
    note_money(n, "total", o->cost.total);
}

static void answer_totals(const struct build *b, struct option *o, const struct spread *s)
{
    const struct shares_of_sample total = shares_of(s->total, b->a.deadline_confidence);
    const int64_t low = llround(total.tenth), high = llround(total.nine_tenths);
    o->cost.low = low < o->cost.total ? low : o->cost.total;
    o->cost.high = high > o->cost.total ? high : o->cost.total;
    o->cost.expected = llround(total.middle);
    say_expected(b, o);
}

static void answer_spread(const struct build *b, struct option *o, const struct spread *s)
{
    if (!b->order_only || b->budget_minor > 0)
        answer_totals(b, o, s);
    const struct shares_of_sample finish = shares_of(s->finish, b->a.deadline_confidence);
    o->finish.low_days = fmin(ceil(finish.tenth - 0.01), o->finish.expected_days);
    o->finish.high_days = fmax(ceil(finish.nine_tenths - 0.01), o->finish.expected_days);
    o->finish.confident_days = ceil(finish.within - 0.01);
    o->finish.deadline_probability = NAN;
    if (b->deadline_day == INT_MAX)
        return;
    int in_time = 0;
    for (int i = 0; i < SOBOL_POINTS; i++)
        in_time += ceil((double)s->finish[i] - 0.01) <= b->deadline_day + 1;
    o->finish.deadline_probability = (double)in_time / SOBOL_POINTS;
}

/* One end of everything that is sampled: z standard deviations of the worst (z > 0) or the best. */
static bool reckon_end(const struct build *b, const struct draft *d, const struct option_sample *o, double z,
                       double *ret_finish, double *ret_total)
{
    const double time =
        exp(z * (z < 0 ? -o->log_fast : o->log_slow) * (o->speed_common + o->speed_own)) * (1 + o->failures * z);
    if (reckon_at(b, d, time, ret_finish, ret_total) != 0)
        return false;
    const double price = (o->price_common + o->price_own) * z;
    const double load = d->reserve != NULL ? reserve_plan_change(&b->a, d->reserve, load_at(b, z)) : 0;
    *ret_total = *ret_total * (1 + fmax(-1, price)) + load * (1 + o->tax);
    return true;
}

/* Where only the order is asked, the sample decides queues and what may or may not keep a limit. What keeps them at
 * its worst, and what misses the deadline at its best, is settled without. */
static bool settled(const struct build *b, struct draft *d, const struct option_sample *o, double far)
{
    double finish, total;
    const bool has_deadline = b->deadline_day != INT_MAX, has_budget = b->budget_minor > 0;
    if (!b->order_only || d->queue_jobs > 0)
        return false;
    if (!has_deadline && !has_budget)
        return true;
    if (reckon_end(b, d, o, far, &finish, &total) && (!has_deadline || finish <= b->deadline_day + 1) &&
        (!has_budget || total <= (double)b->budget_minor)) {
        d->option->finish.deadline_probability = has_deadline ? 1 : NAN;
        return true;
    }
    if (!has_deadline || !reckon_end(b, d, o, -far, &finish, &total) || finish <= b->deadline_day + 2)
        return false;
    d->option->finish.deadline_probability = 0;
    return true;
}

void uncertainty_cheapest(const struct option_list *l, const struct spread *spreads)
{
    for (int i = 0; l->n > 0 && i < SOBOL_POINTS; i++) {
        size_t best = 0;
        for (size_t j = 1; j < l->n; j++)
            if (spreads[j].total[i] < spreads[best].total[i])
                best = j;
        l->items[best]->option->probability_cheapest += 1.0 / SOBOL_POINTS;
    }
}

int uncertainty_place(const struct option_list *l, size_t j)
{
    enum { OF_A_KIND = 3, MORE_OF_A_KIND = 5 }; /* options_per_kind is 3, and 8 at most */
    const int kind = (int)l->items[j]->kind;
    int of_kind = 0;
    for (size_t i = 0; i < j; i++)
        of_kind += l->items[i]->kind == l->items[j]->kind;
    of_kind = of_kind < OF_A_KIND + MORE_OF_A_KIND ? of_kind : OF_A_KIND + MORE_OF_A_KIND - 1;
    return of_kind < OF_A_KIND ? OF_A_KIND * kind + of_kind
                               : OF_A_KIND * KIND_COUNT + MORE_OF_A_KIND * kind + of_kind - OF_A_KIND;
}

/* Made when first asked for; plans made of this one take them over. */
static const struct uncertainty_points *points_of(struct build *b)
{
    if (b->points == NULL && (b->points = arena_alloc(b->arena, sizeof *b->points)) != NULL) {
        sobol_normal(b->points->normal);
        for (int dim = 0; dim < DIM_OWN; dim++)
            sobol_dimension(dim, b->points->common[dim]);
    }
    return b->points;
}

int uncertainty_of(struct build *b, struct draft *d, int place, struct spread *ret, struct err *err)
{
    const double most = sobol_normal_most(), far = most / NORMAL_P90;
    struct option_sample o = {.bands = uncertainty_bands(b, d)};
    prepare(b, d, &o);
    if (settled(b, d, &o, most))
        return 0;
    o.s = points_of(b);
    if (o.s == NULL)
        return err_set(err, ERR_NOMEM, "no room for a sample");
    b->n_sampled++;
    sobol_dimension(DIM_OWN + 2 * place, o.own_speed);
    sobol_dimension(DIM_OWN + 1 + 2 * place, o.own_price);
    draw_curve(b, d, pow(o.bands.speed_low, far), pow(o.bands.speed_high, far), &o.curve);
    if (o.curve.n == 0)
        return err_set(err, ERR_INTERNAL, "an option that was reckoned cannot be reckoned again");
    for (int i = 0; i < SOBOL_POINTS; i++)
        sample_point(b, d, &o, i, ret);
    answer_spread(b, d->option, ret);
    return 0;
}

int uncertainty_run(struct build *b, const struct option_list *l, struct spread **ret_spreads, struct err *err)
{
    struct spread *spreads = arena_room(b->arena, l->n + 1, sizeof *spreads);
    if (spreads == NULL)
        return err_set(err, ERR_NOMEM, "no room for a sample");
    for (size_t j = 0; j < l->n; j++)
        if (uncertainty_of(b, l->items[j], uncertainty_place(l, j), &spreads[j], err) != 0)
            return -1;
    *ret_spreads = spreads;
    return 0;
}

double uncertainty_cheaper(const struct spread *a, const struct spread *b)
{
    int n = 0;
    for (int i = 0; i < SOBOL_POINTS; i++)
        n += a->total[i] < b->total[i];
    return (double)n / SOBOL_POINTS;
}
