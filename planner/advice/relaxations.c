/* relaxations.c — the smallest single changes that make a kind of supply work, or the job much cheaper.
 *
 * Found by planning again, never by phrase: each attempt (changes.h) changes one thing of the request and is kept with
 * its new cost and date when the plan of it is feasible. How many days or how much money are missing is found the same
 * way: the least that is enough, one day or one hundred less is not. The number of new plans is bounded, nearest
 * changes first; where nothing at all is feasible they are searched as widely as the plan itself.
 */
#include <math.h>
#include <string.h>

#include "planner/advice/changes.h"
#include "planner/advice/follow.h"
#include "planner/advice/replan.h"
#include "planner/market/market_index.h"

enum {
    REPLANS_MAX = 6, /* of attempts, all kinds together */
    REPLANS_MAX_NOTHING = 12,
    PER_KIND_MAX = 2,
    PER_KIND_MAX_NOTHING = 4,
    MORE_TRIES_MAX = 24, /* of one number of days or sum of money */
    SPOT_SKUS_MAX = 32,
    SCRATCH_BYTES = 64 << 20
};

/* Money is asked for in hundreds. */
static const int64_t BUDGET_STEP_MINOR = 10000;

struct search {
    struct build *b;
    struct plan *plan;
    struct arena *scratch; /* of one re-plan at a time */
    struct err *err;
    double saving_least; /* share that a change must save to be worth naming beside a feasible option */
    bool lean;           /* something is feasible: what is not matters less, where physics has to be asked again */
    int replans;
    /* the first change that lifts the rule of this kind but misses the date or the budget, and what it comes to */
    const struct attempt *near;
    int64_t near_total;
    date_t near_finish_on;
};

/* What one changed request comes to: the option it is told by. */
struct found {
    bool feasible, exact;
    int64_t total;
    date_t finish_on;
    const struct gpu *gpu; /* NULL: nothing on offer */
};

static struct relaxation *add(struct search *s, struct relaxation_list *l, const char *code, const char *text,
                              int64_t total, date_t finish_on, bool exact)
{
    struct relaxation *r = arena_push(s->b->arena, l);
    if (!r) {
        err_set(s->err, ERR_NOMEM, "relaxations do not fit");
        return NULL;
    }
    *r = (struct relaxation){.code = code, .priced = true, .total = total, .finish_on = finish_on, .exact = exact};
    r->text = (struct note){.code = text, .short_by = NAN};
    note_date(note_money(&r->text, "total", total), "finish", finish_on);
    return r;
}

static void take_changes(struct relaxation *r, const struct changing *c)
{
    memcpy(r->changes, c->changes, sizeof r->changes);
    r->n_changes = c->n;
}

/* The changed request planned again for the kinds of the mask. cheapest: told by its cheapest option, not its first.
 * -1: no memory; a change that physics refuses is no way out. */
static int plan_again(struct search *s, const struct workload *w, unsigned kinds, bool cheapest, struct found *ret)
{
    const bool lean = s->lean && !replan_same_physics(s->b, w);
    const struct replan_ask ask = {.workload = w, .kinds = kinds, .lean = lean};
    struct replan r;
    *ret = (struct found){.exact = !lean};
    arena_reset(s->scratch);
    s->replans++;
    if (replan_make(s->b, &ask, s->scratch, &r, s->err) != 0)
        return s->err->code == ERR_NOMEM ? -1 : 0;
    s->b->n_replanned += r.effort;
    const struct draft *best = r.draft;
    for (size_t i = 0; cheapest && i < r.n_all; i++)
        if (r.all[i]->option->feasible && r.all[i]->option->cost.total < best->option->cost.total)
            best = r.all[i];
    if (best == NULL)
        return 0;
    const struct option *o = best->option;
    *ret = (struct found){o->feasible, !lean, o->cost.total, o->finish.finish_on, best->shape.gpu};
    return 0;
}

/* What was changed, as the words of the relaxation name it. */
static void say_change(const struct search *s, struct note *n, const struct changing *c)
{
    const struct workload *was = s->b->workload;
    if (c->w->training.seq_len != was->training.seq_len)
        note_num(n, "seq_len", c->figure);
    else if (c->w->training.shareable_runs != was->training.shareable_runs)
        note_num(note_num(n, "runs", c->w->training.runs), "shareable", c->w->training.shareable_runs);
    else if (c->figure > 0)
        note_num(note_num(n, "bits", c->figure), "host_gb", c->figure);
    else
        note_num(note_num(n, "ttft_ms", c->w->serving.ttft_ms), "tpot_ms", c->w->serving.tpot_ms);
}

static int keep(struct search *s, const struct attempt *a, const struct changing *c, const struct found *f,
                int64_t saves_from, struct relaxation_list *to)
{
    struct relaxation *r = add(s, to, a->code, a->text, f->total, f->finish_on, f->exact);
    if (!r)
        return -1;
    take_changes(r, c);
    if (saves_from > 0)
        note_money(&r->text, "saving", saves_from - f->total);
    say_change(s, &r->text, c);
    note_text(&r->text, "gpu", f->gpu->name);
    return 0;
}

/* One attempt planned again for the kinds of the mask; *ret_found when it is feasible (and cheap enough: most). */
static int attempt_one(struct search *s, const struct attempt *a, const struct note_list *reasons, unsigned kinds,
                       int64_t most, struct relaxation_list *to, bool *ret_found)
{
    struct workload *w = arena_alloc(s->b->arena, sizeof *w);
    struct changing c = {.b = s->b, .reasons = reasons, .w = w};
    struct found f;
    *ret_found = false;
    if (!w)
        return err_set(s->err, ERR_NOMEM, "no room to plan again");
    *w = *s->b->workload;
    if (!a->apply(&c))
        return c.failed ? err_set(s->err, ERR_NOMEM, "no room to plan again") : 0;
    if (plan_again(s, w, kinds, most > 0, &f) != 0)
        return -1;
    if (f.feasible && c.n == 0) { /* any card would do: is the one that it takes enough? */
        changes_add_gpu(&c, f.gpu);
        if (c.failed || plan_again(s, w, kinds, most > 0, &f) != 0)
            return err_set(s->err, ERR_NOMEM, "no room to plan again");
    }
    if (!f.feasible && f.gpu && !s->near) {
        s->near = a;
        s->near_total = f.total;
        s->near_finish_on = f.finish_on;
    }
    if (!f.feasible || (most > 0 && f.total > most))
        return 0;
    *ret_found = true;
    return keep(s, a, &c, &f, most > 0 ? s->plan->options[0].cost.total : 0, to);
}

/* The option's only missed limit; NULL where it misses none or both. */
static const char *only_limit(const struct option *o)
{
    const bool late = note_find(&o->reasons, "deadline_missed") != NULL;
    const bool dear = note_find(&o->reasons, "budget_exceeded") != NULL;
    return late == dear ? NULL : late ? "deadline_missed" : "budget_exceeded";
}

/* More of one thing, in steps: days, or hundreds of the budget. */
struct more {
    struct search *s;
    enum option_kind kind;
    bool money;
    struct workload *w;
    int64_t enough;     /* steps; 0 = none known */
    int64_t too_few;    /* most steps known not to be enough */
    struct found found; /* of `enough` */
    struct changing c;
};

static int64_t more_budget(const struct more *m, int64_t steps)
{
    return m->s->b->budget_minor + steps * BUDGET_STEP_MINOR;
}

static int try_more(struct more *m, int64_t steps)
{
    struct found f;
    const struct build *b = m->s->b;
    *m->w = *b->workload;
    m->c = (struct changing){.b = b, .w = m->w};
    if (m->money)
        changes_set_budget(&m->c, more_budget(m, steps));
    else
        changes_set_deadline(&m->c, b->start + b->deadline_day + (date_t)steps);
    if (plan_again(m->s, m->w, 1u << m->kind, false, &f) != 0)
        return -1;
    if (f.feasible) {
        m->enough = steps;
        m->found = f;
    } else {
        m->too_few = steps;
    }
    return 0;
}

/* The least that is enough: at the guess, then in ever larger steps away from it until both ends are known, then
 * half-way between them. */
static int find_least(struct more *m, int64_t guess, int64_t most)
{
    int64_t next = guess, stride = 1;
    for (int tries = 0; tries < MORE_TRIES_MAX && next <= most; tries++) {
        if (try_more(m, next) != 0)
            return -1;
        if (m->enough > 0 && m->enough - m->too_few <= 1)
            return 0;
        if (m->enough == 0)
            next = m->too_few + stride;
        else if (m->too_few == 0 && m->enough - stride > 0)
            next = m->enough - stride;
        else
            next = (m->enough + m->too_few) / 2;
        stride *= 2;
    }
    return 0;
}

/* Later by so many days, or so much more money: the least that makes the kind feasible. */
static int add_more(struct search *s, enum option_kind kind, bool money, struct relaxation_list *to)
{
    const char *limit = money ? "budget_exceeded" : "deadline_missed";
    double guess = INFINITY;
    struct more m = {.s = s, .kind = kind, .money = money};
    for (size_t i = 0; i < s->plan->n_options; i++) {
        const struct option *o = &s->plan->options[i];
        const char *only = o->kind == kind && !o->feasible ? only_limit(o) : NULL;
        if (only && strcmp(only, limit) == 0)
            guess = fmin(guess, money ? ceil((double)(o->cost.high - s->b->budget_minor) / (double)BUDGET_STEP_MINOR)
                                      : o->finish.confident_days - (s->b->deadline_day + 1));
    }
    if (isinf(guess))
        return 0;
    m.w = arena_alloc(s->b->arena, sizeof *m.w);
    if (!m.w)
        return err_set(s->err, ERR_NOMEM, "no room to plan again");
    const double most = money ? 1e9 : s->b->a.horizon_days;
    if (find_least(&m, (int64_t)fmax(1, guess), (int64_t)most) != 0)
        return -1;
    if (m.enough == 0)
        return 0;
    if (try_more(&m, m.enough) != 0) /* its record is the last one made */
        return -1;
    struct relaxation *r =
        add(s, to, money ? "more_budget" : "later_deadline", money ? "relax_more_budget" : "relax_later_deadline",
            m.found.total, m.found.finish_on, m.found.exact);
    if (!r)
        return -1;
    take_changes(r, &m.c);
    if (money)
        note_money(note_money(&r->text, "more", m.enough * BUDGET_STEP_MINOR), "budget", more_budget(&m, m.enough));
    else
        note_date(note_num(&r->text, "days", (double)m.enough), "deadline",
                  s->b->start + s->b->deadline_day + (date_t)m.enough);
    return 0;
}

/* No single change is enough: what comes nearest, and what it comes to. */
static int add_near(struct search *s, struct relaxation_list *to)
{
    struct relaxation *r = add(s, to, s->near->code, "relax_not_enough", s->near_total, s->near_finish_on, false);
    if (!r)
        return -1;
    note_text(&r->text, "change", s->near->code);
    return 0;
}

static bool has_code(const struct relaxation_list *l, const char *code)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->items[i].code, code) == 0)
            return true;
    return false;
}

/* A smaller change of the same kind is there already. */
static bool is_more_of_the_same(const struct relaxation_list *l, const char *code)
{
    return has_code(l, code) || (strcmp(code, "qlora") == 0 && has_code(l, "lora"));
}

static int relax_kind(struct search *s, struct infeasible_kind *miss, int replans_most)
{
    const unsigned needs = changes_needs(&miss->reasons);
    const size_t most = s->lean ? PER_KIND_MAX : PER_KIND_MAX_NOTHING;
    const int before = s->replans;
    s->near = NULL;
    if (add_more(s, miss->kind, false, &miss->relaxations) || add_more(s, miss->kind, true, &miss->relaxations))
        return -1;
    s->replans = before; /* they cost little: nothing of the physics is asked again */
    for (size_t i = 0; i < changes_n_attempts; i++) {
        const struct attempt *a = &changes_attempts[i];
        bool found;
        if (!(a->helps & needs) || miss->relaxations.n >= most || s->replans >= replans_most ||
            is_more_of_the_same(&miss->relaxations, a->code))
            continue;
        if (attempt_one(s, a, &miss->reasons, 1u << miss->kind, 0, &miss->relaxations, &found))
            return -1;
    }
    if (miss->relaxations.n == 0 && s->near && add_near(s, &miss->relaxations))
        return -1;
    for (size_t i = 0; i < s->plan->n_options; i++)
        if (s->plan->options[i].kind == miss->kind)
            s->plan->options[i].relaxations = miss->relaxations;
    return 0;
}

/* Is there a spot price of this card at all? Looked for among its cheapest SKUs. */
static bool spot_is_sold(const struct build *b, const struct gpu *gpu)
{
    const struct market_index *m = b->catalog->market;
    const size_t g = (size_t)(gpu - b->catalog->gpus);
    uint32_t last = m ? m->first_of_gpu[g + 1] : 0;
    if (m && last - m->first_of_gpu[g] > SPOT_SKUS_MAX)
        last = m->first_of_gpu[g] + SPOT_SKUS_MAX;
    for (uint32_t i = m ? m->first_of_gpu[g] : 0; i < last; i++) {
        const struct sku *s = &b->catalog->skus[m->by_hour[i]];
        for (size_t p = s->first_price; p < s->first_price + s->n_prices; p++)
            if (b->catalog->prices[p].mode == MODE_SPOT)
                return true;
    }
    return false;
}

/* Is the card enough cheaper in another city that a plan there could save what it must? */
static bool cheaper_elsewhere(const struct search *s, const struct offer *here)
{
    const struct market_query q = {.gpu = here->sku->gpu,
                                   .provider_kinds = 1u << PROVIDER_LOCAL_IDC | 1u << PROVIDER_PUBLIC_CLOUD,
                                   .data_stays = s->b->market.data_at_home,
                                   .any_city = true};
    const struct offer *there;
    if (!s->b->workload->constraints.city || market_find(&s->b->market, &q, &there, 1) == 0)
        return false;
    const double now = here->node_month_micros, then = there->node_month_micros;
    return now > 0 && then > 0 &&
           then / there->sku->gpus_per_node < now / here->sku->gpus_per_node * (1 - s->saving_least);
}

/* What a plan of these kinds may cost so that the change alone saves enough: against the cheapest already offered of
 * them, and against what is recommended. The reserve stays whatever is changed, so the saving is of the rest. */
static int64_t most_for(const struct search *s, unsigned kinds, double share)
{
    int64_t most = INT64_MAX;
    for (size_t i = 0; i < s->plan->n_options; i++) {
        const struct option *o = &s->plan->options[i];
        if (!o->feasible || (i > 0 && !(kinds & 1u << o->kind)))
            continue;
        const double job = (double)o->cost.total - (double)o->reserve.total;
        const int64_t enough = (int64_t)llround((double)o->cost.total - job * share);
        most = enough < most ? enough : most;
    }
    return share > 0 ? most : most - 1;
}

static int attempt_named(struct search *s, const char *code, unsigned kinds, int64_t most, struct relaxation_list *to)
{
    bool found;
    for (size_t i = 0; i < changes_n_attempts; i++)
        if (strcmp(changes_attempts[i].code, code) == 0)
            return attempt_one(s, &changes_attempts[i], NULL, kinds, most, to, &found);
    return 0;
}

/* A feasible plan: what single change would make it much cheaper. A gentler method is looked for on one machine, which
 * is where it belongs; spot and another city only where a look at the market says that they might. */
static int relax_cost(struct search *s, const struct draft *d)
{
    struct option *best = s->plan->n_options > 0 ? &s->plan->options[0] : NULL;
    if (!best || !best->feasible || !d || !s->b->trains)
        return 0;
    const unsigned one_machine = 1u << KIND_SINGLE_MACHINE, kind = 1u << best->kind;
    const struct offer *offer = d->groups[d->train_group].offer;
    const bool full = s->b->training.method == METHOD_FULL_FINETUNE;
    /* A gentler method is worth saying whatever it saves; the others only where they save much. */
    if (attempt_named(s, full ? "lora" : "qlora", one_machine, most_for(s, one_machine, 0), &best->relaxations))
        return -1;
    if (spot_is_sold(s->b, offer->sku->gpu) &&
        attempt_named(s, "spot", kind, most_for(s, kind, s->saving_least), &best->relaxations))
        return -1;
    if (cheaper_elsewhere(s, offer) &&
        attempt_named(s, "city", kind, most_for(s, kind, s->saving_least), &best->relaxations))
        return -1;
    return 0;
}

static int relax_all(struct search *s, const struct option_list *ranked)
{
    const int all = s->lean ? REPLANS_MAX : REPLANS_MAX_NOTHING;
    if (relax_cost(s, ranked->n > 0 ? ranked->items[0] : NULL))
        return -1;
    for (size_t i = 0; i < s->plan->n_infeasible; i++) {
        /* What is left is shared out, so that no kind goes without a try. */
        const int left = (int)(s->plan->n_infeasible - i);
        if (relax_kind(s, &s->plan->infeasible[i], s->replans + (all - s->replans + left - 1) / left))
            return -1;
    }
    return 0;
}

int relaxations_build(struct build *b, const struct option_list *ranked, struct plan *plan, struct err *err)
{
    const struct param *saving = param_find(&b->params, "relaxation_saving_share");
    struct search s = {.b = b, .plan = plan, .err = err, .lean = plan->recommended != NULL};
    if (!saving)
        return err_set(err, ERR_NOT_FOUND, "assumption relaxation_saving_share is missing");
    if (b->lean)
        return 0;
    s.saving_least = saving->value;
    s.scratch = arena_new(SCRATCH_BYTES);
    if (!s.scratch)
        return err_set(err, ERR_NOMEM, "no room to plan again");
    const int rc = relax_all(&s, ranked);
    arena_free(s.scratch);
    return rc;
}
