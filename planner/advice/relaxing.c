/* relaxing.c — see relaxing.h. */
#include "planner/advice/relaxing.h"

#include <math.h>
#include <string.h>

#include "planner/advice/effort.h"

struct relaxation *relaxing_add(struct relaxing *s, struct relaxation_list *l, const char *code, const char *text,
                                const struct relaxed_option *o, bool exact)
{
    struct relaxation *r = arena_push(s->b->arena, l);
    if (!r) {
        err_set(s->err, ERR_NOMEM, "relaxations do not fit");
        return NULL;
    }
    *r =
        (struct relaxation){.code = code, .priced = true, .total = o->total, .finish_on = o->finish_on, .exact = exact};
    r->text = (struct note){.code = text, .short_by = NAN};
    note_date(note_money(&r->text, "total", o->total), "finish", o->finish_on);
    return r;
}

void relaxing_take_changes(struct relaxation *r, const struct changing *c)
{
    memcpy(r->changes, c->changes, sizeof r->changes);
    r->n_changes = c->n;
}

/* What was changed, as the words of the relaxation name it. */
static void say_change(const struct build *b, struct note *n, const struct changing *c)
{
    const struct workload *was = b->workload;
    if (c->w->training.seq_len != was->training.seq_len)
        note_num(n, "seq_len", c->figure);
    else if (c->w->training.shareable_runs != was->training.shareable_runs)
        note_num(note_num(n, "runs", c->w->training.runs), "shareable", c->w->training.shareable_runs);
    else if (c->figure > 0)
        note_num(note_num(n, "bits", c->figure), "host_gb", c->figure);
    else
        note_num(note_num(n, "ttft_ms", c->w->serving.ttft_ms), "tpot_ms", c->w->serving.tpot_ms);
}

struct relaxation *relaxing_keep(struct relaxing *s, const struct attempt *a, const struct changing *c,
                                 const struct relaxed_option *o, bool exact, struct relaxation_list *to)
{
    struct relaxation *r = relaxing_add(s, to, a->code, a->text, o, exact);
    if (!r)
        return NULL;
    relaxing_take_changes(r, c);
    say_change(s->b, &r->text, c);
    note_text(&r->text, "gpu", o->gpu->name);
    return r;
}

static struct relaxed_option option_of(const struct draft *d)
{
    return (struct relaxed_option){d->option->cost.total, d->option->finish.finish_on, d->shape.gpu};
}

/* The options of a kind come best first; what no limit needed was not sampled and says nothing of it. */
static void take(struct relaxed *r, const struct draft *d)
{
    const struct option *o = d->option;
    const struct relaxed_option this = option_of(d);
    if (r->first.gpu == NULL) {
        r->feasible = o->feasible;
        r->first = this;
    }
    if (o->feasible && (r->cheapest.gpu == NULL || this.total < r->cheapest.total))
        r->cheapest = this;
    if (o->cost.high > 0 && note_find(&o->reasons, "deadline_missed") == NULL &&
        (r->high == 0 || o->cost.high < r->high))
        r->high = o->cost.high;
    if (o->finish.confident_days > 0 && note_find(&o->reasons, "budget_exceeded") == NULL &&
        (!(r->confident_days > 0) || o->finish.confident_days < r->confident_days))
        r->confident_days = o->finish.confident_days;
}

static int effort_left(const struct relaxing *s)
{
    return s->effort_most - effort_of_plan(s->b, s->b->n_searched);
}

/* Beside a feasible plan what asks all of the physics again is planned as widely where that takes no more than half of
 * what is left. */
static bool as_widely(const struct relaxing *s, const struct workload *w, unsigned kinds)
{
    const struct replan_ask ask = {.workload = w, .kinds = kinds};
    return !s->lean || replan_same_physics(s->b, w) || replan_foreseen(s->b, &ask) <= effort_left(s) / 2;
}

static int plan_again(struct relaxing *s, const struct workload *w, unsigned kinds, bool lean,
                      struct relaxed ret[KIND_COUNT])
{
    struct replan_ask ask = {.workload = w, .kinds = kinds, .lean = lean};
    struct replan r;
    const int left = effort_left(s), foreseen = replan_foreseen(s->b, &ask);
    for (int k = 0; k < KIND_COUNT; k++)
        ret[k] = (struct relaxed){.unplanned = foreseen > left};
    if (foreseen > left)
        return 0;
    ask.search_most = left;
    arena_reset(s->scratch);
    if (replan_make(s->b, &ask, s->scratch, &r, s->err) != 0)
        return s->err->code == ERR_NOMEM ? -1 : 0;
    s->b->n_replanned += r.effort;
    for (size_t i = 0; i < r.n_all; i++)
        take(&ret[r.all[i]->kind], r.all[i]);
    for (int k = 0; k < KIND_COUNT; k++)
        ret[k].exact = !ask.lean && !r.cut_short;
    return 0;
}

int relaxing_plan(struct relaxing *s, const struct workload *w, unsigned kinds, struct relaxed ret[KIND_COUNT])
{
    return plan_again(s, w, kinds, !as_widely(s, w, kinds), ret);
}

int relaxing_look(struct relaxing *s, const struct workload *w, unsigned kinds, struct relaxed ret[KIND_COUNT])
{
    return plan_again(s, w, kinds, true, ret);
}
