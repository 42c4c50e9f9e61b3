/* sensitivity.c — which input, changed by no more than 25 %, would change the recommendation, and where it turns.
 *
 * The best few options are reckoned anew with a quarter less and a quarter more work; between these points their totals
 * and dates are read along straight lines. A machine's price scales all of its tariffs alike, so its cost is a line by
 * itself. Every input is then walked outwards from what it is now until another option leads.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/money.h"
#include "planner/advice/follow.h"
#include "planner/costing/costing.h"
#include "planner/offers/candidate.h"
#include "planner/reserve/reserve.h"

enum { SENSITIVITY_OPTIONS = 5, SENSITIVITY_MAX = 16, STEPS = 20, HALVINGS = 20 };

static const double REACH = 0.25, BEYOND = 0.01;
/* The 80th percentile lies this far from the median towards the 90th in a normal distribution: 0.8416 / 1.2816. */
static const double P80_OF_P90 = 0.6567;

/* One option as a function of the inputs. */
struct curve {
    double total[3], finish[3];  /* at 0.75, 1 and 1.25 times the work; NAN beyond the horizon */
    double machines, high_share; /* of the total: what follows the price; cost.high against total */
    double late_days;            /* expected finish to its 80th percentile */
    double deadline, budget;     /* the limits that the ranking held it to */
    double risk;
    bool feasible;
    const struct draft *draft;
};

/* A point of the inputs: 1 is what they are now. `of`: whom price and speed concern. */
struct point {
    double work, price, speed, load, deadline, budget;
    size_t of;
};

static const struct point now = {1, 1, 1, 1, 1, 1, 0};

struct sweep {
    struct build *b;
    struct curve curves[SENSITIVITY_OPTIONS];
    size_t n;
    double weight_cost, weight_time, weight_risk;
    struct plan *plan;
    struct sensitivity *out;
};

static double between(const double y[3], double x)
{
    const double t = fmax(-1, fmin(1, (x - 1) / REACH));
    return t < 0 ? y[1] + (y[0] - y[1]) * -t : y[1] + (y[2] - y[1]) * t;
}

static void read_option(const struct sweep *s, size_t i, const struct point *p, double *total, double *finish)
{
    const struct curve *c = &s->curves[i];
    const bool mine = i == p->of;
    const double work = p->work * (mine ? p->speed : 1);
    *total = between(c->total, work);
    *finish = between(c->finish, work);
    if (mine)
        *total += *total * c->machines * (p->price - 1);
    if (c->draft->reserve && (p->load < 1 || p->load > 1))
        *total += reserve_plan_change(&s->b->a, c->draft->reserve, p->load) * c->total[1] /
                  (double)c->draft->base->net; /* + tax */
}

static bool allowed(const struct curve *c, const struct point *p, double total, double finish)
{
    if (isnan(total) || isnan(finish))
        return false;
    return finish + c->late_days <= c->deadline * p->deadline && total * c->high_share <= c->budget * p->budget;
}

/* Who leads at this point; -1 = nobody is feasible. */
static int leader(const struct sweep *s, const struct point *p)
{
    double total[SENSITIVITY_OPTIONS], finish[SENSITIVITY_OPTIONS], least = INFINITY, soonest = INFINITY, best = 0;
    bool in[SENSITIVITY_OPTIONS];
    int lead = -1;
    for (size_t i = 0; i < s->n; i++) {
        read_option(s, i, p, &total[i], &finish[i]);
        in[i] = allowed(&s->curves[i], p, total[i], finish[i]);
        if (in[i]) {
            least = fmin(least, total[i]);
            soonest = fmin(soonest, finish[i]);
        }
    }
    for (size_t i = 0; i < s->n; i++) {
        if (!in[i])
            continue;
        const double score = s->weight_cost * least / total[i] + s->weight_time * soonest / finish[i] +
                             s->weight_risk * s->curves[i].risk;
        if (lead < 0 || score > best + 1e-12) {
            lead = (int)i;
            best = score;
        }
    }
    return lead;
}

static struct point moved(size_t member, size_t of, double factor)
{
    struct point p = now;
    double *const at = (double *)((char *)&p + member);
    p.of = of;
    *at = factor;
    return p;
}

static void report(struct sweep *s, const char *input, const char *unit, double value, double turning, int lead)
{
    if (s->plan->n_sensitivities == SENSITIVITY_MAX)
        return;
    struct sensitivity *r = &s->out[s->plan->n_sensitivities++];
    *r = (struct sensitivity){.input = input, .unit = unit, .now = value, .turning_point = turning};
    if (lead >= 0)
        memcpy(r->recommended_then, s->curves[lead].draft->option->label, sizeof r->recommended_then);
}

/* A turn of the work is reckoned before it is told: between two points a bill has steps (a month more or less). */
static bool holds(struct sweep *s, double factor, size_t of, bool all, int lead)
{
    struct sweep exact = *s;
    for (size_t i = 0; i < s->n; i++) {
        struct what_if w = what_if_expected;
        struct reckoning r;
        w.time = all || i == of ? factor : 1;
        if (w.time < 1 || w.time > 1) {
            const bool known = costing_reckon(&s->b->day, s->curves[i].draft, &w, &r) == 0;
            exact.curves[i].total[1] = known ? (double)r.total : NAN;
            exact.curves[i].finish[1] = known ? r.schedule.finish_days : NAN;
        }
    }
    return leader(&exact, &now) == lead;
}

/* Walks one input both ways and reports the first turn of each. `inverse`: the factor divides the reported value. */
static void walk(struct sweep *s, size_t member, size_t of, const char *input, const char *unit, double value,
                 bool inverse)
{
    const int base = leader(s, &now);
    if (!input || !(value > 0))
        return;
    for (int side = -1; side <= 1; side += 2) {
        double inside = 1, outside = 1;
        int lead = base;
        for (int k = 1; k <= STEPS && lead == base; k++) {
            inside = outside;
            outside = 1 + side * REACH * k / STEPS;
            const struct point p = moved(member, of, outside);
            lead = leader(s, &p);
        }
        if (lead == base)
            continue;
        for (int k = 0; k < HALVINGS; k++) {
            const double middle = (inside + outside) / 2;
            const struct point p = moved(member, of, middle);
            const int there = leader(s, &p);
            *(there == base ? &inside : &outside) = middle;
            lead = there == base ? lead : there;
        }
        if ((member == offsetof(struct point, work) || member == offsetof(struct point, speed)) &&
            !holds(s, outside + side * BEYOND, of, member == offsetof(struct point, work), lead))
            continue;
        report(s, input, unit, value, inverse ? value / outside : value * outside, lead);
    }
}

static bool reckon_curve(struct build *b, const struct draft *d, struct curve *c)
{
    const struct option *o = d->option;
    *c = (struct curve){.draft = d, .feasible = o->feasible, .risk = o->scores.risk};
    for (int k = 0; k < 3; k++) {
        struct what_if w = what_if_expected;
        struct reckoning r;
        w.time = 1 + (k - 1) * REACH;
        const bool known = k == 1 || costing_reckon(&b->day, d, &w, &r) == 0;
        c->total[k] = k == 1 ? (double)d->base->total : known ? (double)r.total : NAN;
        c->finish[k] = k == 1 ? d->base->schedule.finish_days : known ? r.schedule.finish_days : NAN;
    }
    if (!(c->total[1] > 0) || d->base->net <= 0)
        return false;
    c->machines = (double)d->base->machines_net / (double)d->base->net;
    c->high_share = fmax(1, (double)o->cost.high / (double)o->cost.total);
    c->late_days = fmax(0, (o->finish.high_days - o->finish.expected_days) * P80_OF_P90);
    c->deadline = b->deadline_day == INT_MAX ? (double)INFINITY : (double)b->deadline_day + 1;
    c->budget = b->budget_minor > 0 ? (double)b->budget_minor : INFINITY;
    /* The ranking sampled what is read from a line here: where it found an option feasible, so do we. */
    if (o->feasible) {
        c->deadline = fmax(c->deadline, c->finish[1] + c->late_days);
        c->budget = fmax(c->budget, c->total[1] * c->high_share);
    }
    return true;
}

/* The member that states the amount of work of one run. */
static const char *amount(const struct workload *w, double *ret_value, const char **ret_unit)
{
    const struct training *t = &w->training;
    *ret_value = t->tokens > 0 ? t->tokens : t->samples > 0 ? t->samples : t->steps;
    *ret_unit = t->tokens > 0 ? "tokens" : t->samples > 0 ? "samples" : "steps";
    return t->tokens > 0    ? "/workload/training/tokens"
           : t->samples > 0 ? "/workload/training/samples"
           : t->steps > 0   ? "/workload/training/steps"
                            : NULL;
}

static const char *load(const struct workload *w, double *ret_value, const char **ret_unit)
{
    const struct serving *s = &w->serving;
    *ret_value = s->requests_per_s > 0 ? s->requests_per_s : s->concurrency > 0 ? s->concurrency : s->users;
    *ret_unit = s->requests_per_s > 0 ? "requests/s" : s->concurrency > 0 ? "requests" : "users";
    return s->requests_per_s > 0 ? "/workload/serving/requests_per_s"
           : s->concurrency > 0  ? "/workload/serving/concurrency"
           : s->users > 0        ? "/workload/serving/users"
                                 : NULL;
}

/* The dearest machine line of an option: whose price is walked. */
static const struct cost_line *main_line(const struct option *o)
{
    const struct cost_line *most = NULL;
    for (size_t i = 0; i < o->cost.n_lines; i++) {
        const struct cost_line *l = &o->cost.lines[i];
        if (l->sku && l->section != SECTION_INFERENCE_RESERVE && (!most || l->minor > most->minor))
            most = l;
    }
    return most;
}

static void walk_price(struct sweep *s, size_t i)
{
    const struct cost_line *l = main_line(s->curves[i].draft->option);
    if (!l)
        return;
    for (size_t k = 0; k < i; k++) {
        const struct cost_line *other = main_line(s->curves[k].draft->option);
        if (other && other->sku == l->sku)
            return; /* one machine, one price: it moves both */
    }
    const char *input = arena_printf(s->b->arena, "/skus/%s/price", l->sku->id);
    const char *unit = arena_printf(s->b->arena, "%s/%s", s->b->day.currency, price_unit_name(l->unit));
    walk(s, offsetof(struct point, price), i, input, unit, (double)l->unit_price_micros / MONEY_MICROS, false);
}

static void walk_all(struct sweep *s)
{
    const struct workload *w = s->b->workload;
    const struct estimate *e = s->curves[0].draft->estimate;
    const char *unit;
    double value;
    const char *input = s->b->trains ? amount(w, &value, &unit) : NULL;
    if (input)
        walk(s, offsetof(struct point, work), 0, input, unit, value, false);
    for (size_t i = 0; i < s->n && i < 2; i++)
        walk_price(s, i);
    if (s->b->trains && e && e->has_training) {
        const bool tokens = e->training.tokens_per_s > 0;
        walk(s, offsetof(struct point, speed), 0,
             tokens ? "/workload/measured/tokens_per_s" : "/workload/measured/samples_per_s",
             tokens ? "tokens/s" : "samples/s", tokens ? e->training.tokens_per_s : e->training.samples_per_s, true);
    }
    input = s->b->serves ? load(w, &value, &unit) : NULL;
    if (input)
        walk(s, offsetof(struct point, load), 0, input, unit, value, false);
    if (s->b->deadline_day != INT_MAX)
        walk(s, offsetof(struct point, deadline), 0, "/workload/constraints/deadline_on", "days",
             s->b->deadline_day + 1, false);
    if (s->b->budget_minor > 0)
        walk(s, offsetof(struct point, budget), 0, "/workload/constraints/budget", s->b->day.currency,
             (double)s->b->budget_minor / MONEY_MINOR, false);
}

int sensitivity_build(struct build *b, const struct option_list *ranked, struct plan *plan, struct err *err)
{
    struct sweep s = {.b = b, .plan = plan};
    if (ranked->n == 0 || !ranked->items[0]->option || !ranked->items[0]->option->feasible)
        return 0;
    s.out = arena_array(b->arena, SENSITIVITY_MAX, sizeof *s.out);
    if (!s.out)
        return err_set(err, ERR_NOMEM, "sensitivities do not fit");
    plan->sensitivities = s.out;
    for (size_t i = 0; i < ranked->n && s.n < SENSITIVITY_OPTIONS; i++)
        if (reckon_curve(b, ranked->items[i], &s.curves[s.n]))
            s.n++;
    if (s.n < 2 || s.curves[0].draft != ranked->items[0])
        return 0;
    candidate_weights(b, &s.weight_cost, &s.weight_time, &s.weight_risk);
    if (leader(&s, &now) == 0)
        walk_all(&s);
    return 0;
}
