/* relax_limits.c — how many days, or how much money, a kind of supply misses: the least that is enough, one day or one
 * hundred less is not.
 *
 * What the nearest option asks is read from its sample and planned again, for other limits let other options be chosen:
 * every plan says what its own options ask, until one is enough and the next lower is not.
 */
#include <math.h>
#include <string.h>

#include "planner/advice/relaxing.h"

enum { TRIES_MAX = 9 };

/* Money is asked for in hundreds. */
static const int64_t BUDGET_STEP_MINOR = 10000;

/* More of one thing, in steps: days, or hundreds of the budget. */
struct more {
    struct relaxing *s;
    enum option_kind kind;
    bool money;
    struct workload *w;
    int64_t enough;       /* steps; 0 = none known */
    int64_t too_few;      /* most steps known not to be enough */
    int64_t read;         /* what the last plan's nearest option asks; 0 = it does not say */
    struct relaxed found; /* of `enough` */
    struct changing c;    /* of `enough` */
    bool gave_up;         /* no effort is left */
};

static int64_t more_budget(const struct more *m, int64_t steps)
{
    return m->s->b->budget_minor + steps * BUDGET_STEP_MINOR;
}

static int64_t steps_to_budget(const struct build *b, int64_t minor)
{
    return (minor - b->budget_minor + BUDGET_STEP_MINOR - 1) / BUDGET_STEP_MINOR;
}

static int64_t steps_to_days(const struct build *b, double confident_days)
{
    return (int64_t)fmin(confident_days - (b->deadline_day + 1), b->a.horizon_days + 1);
}

static int try_more(struct more *m, int64_t steps)
{
    const struct build *b = m->s->b;
    struct relaxed found[KIND_COUNT];
    struct changing c = {.b = b, .w = m->w};
    *m->w = *b->workload;
    if (m->money)
        changes_set_budget(&c, more_budget(m, steps));
    else
        changes_set_deadline(&c, b->start + b->deadline_day + (date_t)steps);
    if (relaxing_plan(m->s, m->w, 1u << m->kind, found) != 0)
        return -1;
    const struct relaxed *f = &found[m->kind];
    m->gave_up = f->unplanned;
    if (m->gave_up)
        return 0;
    m->read = m->money ? (f->high > 0 ? steps_to_budget(b, f->high) : 0)
                       : (f->confident_days > 0 ? steps_to_days(b, f->confident_days) : 0);
    if (!f->feasible) {
        m->too_few = steps;
        return 0;
    }
    m->enough = steps;
    m->found = *f;
    m->c = c;
    return 0;
}

/* What the last plan's options ask, where that lies between what is known; else one step less than enough, then
 * half-way, or ever further where nothing is enough yet. */
static int64_t next_try(const struct more *m, int64_t stride)
{
    if (m->read > m->too_few && (m->enough == 0 || m->read < m->enough))
        return m->read;
    if (m->enough == 0)
        return m->too_few + stride;
    return m->read == m->enough || m->enough - m->too_few == 2 ? m->enough - 1 : (m->enough + m->too_few) / 2;
}

/* m->enough stays 0 where the least is not found within the tries. */
static int find_least(struct more *m, int64_t guess, int64_t most)
{
    int64_t next = guess, stride = 1;
    for (int tries = 0; tries < TRIES_MAX && next <= most; tries++, stride *= 2) {
        if (try_more(m, next) != 0)
            return -1;
        if (m->gave_up)
            break;
        if (m->enough > 0 && m->enough - m->too_few <= 1)
            return 0;
        next = next_try(m, stride);
        if (m->enough > 0 && next == (m->enough + m->too_few) / 2 && m->enough - m->too_few > 1 << (TRIES_MAX - tries))
            break; /* half-way between them is too long a way */
    }
    m->enough = 0;
    return 0;
}

/* The option's only missed limit; NULL where it misses none or both. */
static const char *only_limit(const struct option *o)
{
    const bool late = note_find(&o->reasons, "deadline_missed") != NULL;
    const bool dear = note_find(&o->reasons, "budget_exceeded") != NULL;
    return late == dear ? NULL : late ? "deadline_missed" : "budget_exceeded";
}

/* Steps that the nearest of the plan's own options asks; 0 = none misses this limit alone. */
static int64_t first_guess(const struct relaxing *s, enum option_kind kind, bool money)
{
    const char *limit = money ? "budget_exceeded" : "deadline_missed";
    int64_t guess = 0;
    for (size_t i = 0; i < s->plan->n_options; i++) {
        const struct option *o = &s->plan->options[i];
        const char *only = o->kind == kind && !o->feasible ? only_limit(o) : NULL;
        if (only == NULL || strcmp(only, limit) != 0)
            continue;
        const int64_t asks =
            money ? steps_to_budget(s->b, o->cost.high) : steps_to_days(s->b, o->finish.confident_days);
        guess = guess == 0 || asks < guess ? (asks > 1 ? asks : 1) : guess;
    }
    return guess;
}

static int add_more(struct relaxing *s, enum option_kind kind, bool money, struct relaxation_list *to)
{
    struct more m = {.s = s, .kind = kind, .money = money};
    const int64_t guess = first_guess(s, kind, money);
    if (guess == 0)
        return 0;
    m.w = arena_alloc(s->b->arena, sizeof *m.w);
    if (!m.w)
        return err_set(s->err, ERR_NOMEM, "no room to plan again");
    const double most = money ? 1e9 : s->b->a.horizon_days;
    if (find_least(&m, guess, (int64_t)most) != 0)
        return -1;
    if (m.enough == 0)
        return 0;
    struct relaxation *r =
        relaxing_add(s, to, money ? "more_budget" : "later_deadline",
                     money ? "relax_more_budget" : "relax_later_deadline", &m.found.first, m.found.exact);
    if (!r)
        return -1;
    relaxing_take_changes(r, &m.c);
    if (money)
        note_money(note_money(&r->text, "more", m.enough * BUDGET_STEP_MINOR), "budget", more_budget(&m, m.enough));
    else
        note_date(note_num(&r->text, "days", (double)m.enough), "deadline",
                  s->b->start + s->b->deadline_day + (date_t)m.enough);
    return 0;
}

int relax_limits(struct relaxing *s, enum option_kind kind, struct relaxation_list *to)
{
    return add_more(s, kind, false, to) != 0 ? -1 : add_more(s, kind, true, to);
}
