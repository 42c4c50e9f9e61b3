/* sensitivity.c — which input, changed by no more than 25 %, would change the recommendation, and where it turns.
 *
 * Every input is walked outwards in steps of a hundredth (or whole units). A cheap model (levers.h) says where to look;
 * told is only what planning again confirms: the step before the turn recommends what is recommended now, the step
 * beyond it something else. The nearest turns come first; then, where the model sees none but a narrow lead, the far
 * end is planned. What re-plans may cost is bounded, and counted rather than timed: what is foreseen but not settled
 * within it is told as such.
 */
#include <math.h>
#include <string.h>

#include "planner/advice/effort.h"
#include "planner/advice/follow.h"
#include "planner/advice/levers.h"

enum { WALKS_MAX = 2 * LEVERS_MAX, STEPS = 25, SCRATCH_BYTES = 64 << 20 };

/* What is recommended beyond a turn. */
struct then {
    bool feasible;
    char label[4]; /* "": none of the options there are */
    struct note title;
};

/* One side of one input: steps 1 .. n from what it is now. */
struct walk {
    const struct lever *lever;
    int side, n;
    double unit;  /* of a step, as a share of `now` */
    int foreseen; /* step at which the model turns; 0 = none, then `margin` is what is left of the lead */
    int lead;     /* the option that leads there by the model; -1 = nobody is feasible */
    double margin;
    bool idle; /* the model sees next to no change of the lead */
    int same, other; /* the furthest step known to keep, the nearest known to change; other = 0: none */
    struct then then;
};

/* What plans with more, or with less work came to. Runs, and a speed that all cards share, are work as well: what one
 * of these inputs was planned for need not be planned for another. */
struct work_known {
    double same, other; /* the furthest that keeps and the nearest that changes, in times the work; 0 = none */
    struct then then;
};

struct sweep {
    struct build *b;
    struct arena *scratch; /* of one re-plan at a time */
    struct err *err;
    struct lever_model model;
    struct walk walks[WALKS_MAX];
    size_t n;
    struct work_known less, more;
    int each; /* what a re-plan takes, by the last one */
};

static double factor_at(const struct walk *w, int step)
{
    return 1 + w->side * w->unit * step;
}

/* The title outlives the re-plan that it comes from. */
static int keep_title(struct sweep *s, const struct note *title, struct note *ret)
{
    *ret = *title;
    for (unsigned i = 0; i < ret->n_args; i++)
        if (ret->args[i].kind == NOTE_TEXT &&
            !(ret->args[i].text = arena_strdup(s->b->arena, ret->args[i].text != NULL ? ret->args[i].text : "")))
            return err_set(s->err, ERR_NOMEM, "sensitivities do not fit");
    return 0;
}

static int then_of(struct sweep *s, const struct replan *r, struct then *ret)
{
    *ret = (struct then){.feasible = r->feasible};
    if (!r->feasible)
        return 0;
    for (size_t i = 0; i < s->model.n && ret->label[0] == '\0'; i++)
        if (replan_same_offer(s->model.curves[i].draft, r->draft))
            memcpy(ret->label, s->model.curves[i].draft->option->label, sizeof ret->label);
    return keep_title(s, &r->draft->option->title, &ret->title);
}

/* How many times the work a step is; 0: this input is not work alone. A hybrid cuts whole runs. */
static double work_at(const struct sweep *s, const struct walk *w, int step)
{
    const struct lever *l = w->lever;
    const double factor = factor_at(w, step);
    if (l->kind == LEVER_WORK)
        return factor;
    if (l->kind == LEVER_SPEED && l->gpu == NULL)
        return l->inverse ? factor : 1 / factor;
    const bool whole = s->b->hybrids == NULL && lround(l->now * factor) >= s->b->training.parallel_runs;
    return l->kind == LEVER_RUNS && whole ? factor : 0;
}

static void learn(struct sweep *s, const struct walk *w, int step, const struct then *then)
{
    const double work = work_at(s, w, step), away = fabs(work - 1);
    struct work_known *k = work < 1 ? &s->less : &s->more;
    if (!(work > 0))
        return;
    if (then == NULL && !(k->same > 0 && away <= fabs(k->same - 1)))
        k->same = work;
    if (then == NULL || (k->other > 0 && away >= fabs(k->other - 1)))
        return;
    k->other = work;
    k->then = *then;
}

/* Narrows the walk by what is known already; false: nothing is. */
static bool is_known(const struct sweep *s, struct walk *w, int step)
{
    enum { EXACT = 1000000000 }; /* factors of two inputs are the same to as many digits */
    const double work = work_at(s, w, step), away = fabs(work - 1) - 1.0 / EXACT;
    const struct work_known *k = work < 1 ? &s->less : &s->more;
    /* Who leads again at the far end may not have led all the way. */
    const bool on_the_way = step < w->n || away + 2.0 / EXACT >= fabs(k->same - 1);
    if (work > 0 && k->same > 0 && away <= fabs(k->same - 1) && on_the_way) {
        w->same = step;
        return true;
    }
    if (!(work > 0 && k->other > 0 && away + 2.0 / EXACT >= fabs(k->other - 1)))
        return false;
    w->other = step;
    w->then = k->then;
    return true;
}

/* Plans again at a step and narrows the walk. -1: no memory. */
static int try_step(struct sweep *s, struct walk *w, int step)
{
    struct workload changed;
    struct replan_ask ask;
    struct replan r;
    arena_reset(s->scratch);
    lever_apply(s->b, w->lever, factor_at(w, step), &changed, &ask);
    ask.kinds = lever_model_kinds(&s->model, w->lever, factor_at(w, step));
    if (replan_make(s->b, &ask, s->scratch, &r, s->err) != 0) {
        if (s->err->code == ERR_NOMEM)
            return -1;
        r.feasible = false; /* what cannot be planned is not recommended */
    }
    s->b->n_replanned += r.effort;
    s->each = r.effort > 0 ? r.effort : s->each;
    if (r.feasible && replan_same_offer(r.draft, s->model.curves[0].draft)) {
        w->same = step;
        learn(s, w, step, NULL);
        return 0;
    }
    w->other = step;
    if (then_of(s, &r, &w->then) != 0)
        return -1;
    learn(s, w, step, &w->then);
    return 0;
}

static bool settled(const struct walk *w)
{
    return w->other > 0 ? w->other - w->same <= 1 : w->same >= w->n;
}

/* Where to plan next: at the step foreseen, on its near side, at the far end, then half-way between what is known. */
static int next_step(const struct walk *w)
{
    if (w->other == 0)
        return w->foreseen > w->same ? w->foreseen : w->n;
    return w->other == w->foreseen && w->same < w->foreseen - 1 ? w->foreseen - 1 : (w->same + w->other) / 2;
}

/* A turn is told as confirmed only with a plan on either side of it: what cannot be finished is not begun. */
static bool can_finish(const struct sweep *s, const struct walk *w)
{
    const int more = w->foreseen > 1 && w->other == 0 && w->same < w->foreseen - 1 ? 2 : 1;
    return effort_of_plan(s->b, s->b->n_searched) + more * s->each <= effort_most_turning(s->b);
}

static int pursue(struct sweep *s, struct walk *w)
{
    while (!settled(w)) {
        const int step = next_step(w);
        if (is_known(s, w, step))
            continue;
        if (!can_finish(s, w))
            return 0;
        if (try_step(s, w, step) != 0)
            return -1;
    }
    return 0;
}

/* Who sizes the reserve again waits for those whose lead is so much less, and who hardly moves a lead for all others. */
static const double EXPENSIVE_LAST = 0.05, IDLE_LAST = 1, IDLE = 0.002;

/* Where the model turns: at its far end, or nowhere. */
static void look_ahead(const struct sweep *s, struct walk *w)
{
    int same = 0, other = w->n;
    w->lead = lever_model_leader(&s->model, w->lever, factor_at(w, other), &w->margin);
    while (w->lead != 0 && other - same > 1) {
        const int middle = (same + other) / 2;
        double margin;
        const int lead = lever_model_leader(&s->model, w->lever, factor_at(w, middle), &margin);
        if (lead == 0) {
            same = middle;
            continue;
        }
        other = middle;
        w->lead = lead;
        w->margin = margin;
    }
    w->foreseen = w->lead != 0 ? other : 0;
    double now;
    w->idle = lever_model_leader(&s->model, w->lever, 1, &now) == 0 && w->foreseen == 0 && fabs(w->margin - now) < IDLE;
}

static void add_walks(struct sweep *s, const struct lever *l)
{
    for (int side = -1; side <= 1; side += 2) {
        struct walk *w = &s->walks[s->n];
        *w = (struct walk){.lever = l, .side = side, .unit = l->whole ? 1 / l->now : LEVER_REACH / STEPS};
        w->n = (int)floor(LEVER_REACH / w->unit + 1e-9);
        if (w->n < 1)
            continue;
        look_ahead(s, w);
        s->n++;
    }
}

/* How soon a walk is worth a re-plan: what turns nearest, then what leads least. */
static double order_of(const struct walk *w)
{
    const double last = w->idle ? IDLE_LAST : w->lever->expensive ? EXPENSIVE_LAST : 0;
    return w->foreseen > 0 ? w->foreseen * w->unit : LEVER_REACH + fmax(0, w->margin) + last;
}

static int pursue_all(struct sweep *s)
{
    bool done[WALKS_MAX] = {false};
    for (size_t round = 0; round < s->n; round++) {
        size_t best = s->n;
        for (size_t i = 0; i < s->n; i++)
            if (!done[i] && (best == s->n || order_of(&s->walks[i]) < order_of(&s->walks[best])))
                best = i;
        done[best] = true;
        if (pursue(s, &s->walks[best]) != 0)
            return -1;
    }
    return 0;
}

static void tell(const struct sweep *s, const struct walk *w, struct plan *plan)
{
    const struct lever *l = w->lever;
    struct sensitivity *r = &plan->sensitivities[plan->n_sensitivities++];
    const bool confirmed = settled(w);
    const int turn = confirmed ? w->other : w->other > 0 ? (w->same + w->other + 1) / 2 : w->foreseen;
    const double beyond = factor_at(w, turn), before = factor_at(w, turn - 1);
    *r = (struct sensitivity){.input = l->path, .unit = l->unit, .now = l->now, .confirmed = confirmed};
    r->turning_point = l->whole ? round(l->now * beyond) : l->now * (beyond + before) / 2;
    if (l->kind == LEVER_WORK || l->kind == LEVER_TOKENS)
        r->turning_point = round(r->turning_point);
    if (w->other > 0) {
        memcpy(r->recommended_then, w->then.label, sizeof r->recommended_then);
        r->title_then = w->then.title;
    } else if (w->lead > 0) {
        const struct option *o = s->model.curves[w->lead].draft->option;
        memcpy(r->recommended_then, o->label, sizeof r->recommended_then);
        r->title_then = o->title;
    }
}

/* A turn that planning again found, or one that the model foresees where no re-plan has spoken against it. */
static bool is_told(const struct walk *w)
{
    return w->other > 0 || (!settled(w) && w->foreseen > w->same);
}

static bool is_listed(const struct plan *plan, const char *input)
{
    for (size_t i = 0; i < plan->n_unsettled; i++)
        if (strcmp(plan->unsettled[i], input) == 0)
            return true;
    return false;
}

/* Turning points, and the inputs of which nothing is known for want of effort. */
static void tell_all(const struct sweep *s, struct plan *plan)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct walk *w = &s->walks[i];
        if (is_told(w))
            tell(s, w, plan);
        else if (!settled(w) && !is_listed(plan, w->lever->path))
            plan->unsettled[plan->n_unsettled++] = w->lever->path;
    }
}

int sensitivity_build(struct build *b, const struct option_list *ranked, struct plan *plan, struct err *err)
{
    struct lever levers[LEVERS_MAX];
    struct sweep s = {.b = b, .err = err};
    if (ranked->n == 0 || !ranked->items[0]->option->feasible || !lever_model_make(b, ranked, &s.model))
        return 0;
    plan->sensitivities = arena_array(b->arena, WALKS_MAX, sizeof *plan->sensitivities);
    plan->unsettled = arena_array(b->arena, LEVERS_MAX, sizeof *plan->unsettled);
    s.scratch = arena_new(SCRATCH_BYTES);
    if (!plan->sensitivities || !plan->unsettled || !s.scratch) {
        arena_free(s.scratch);
        return err_set(err, ERR_NOMEM, "sensitivities do not fit");
    }
    s.each = effort_of_contest(b, 0) / 2;
    const size_t n = levers_of(b, ranked, levers, LEVERS_MAX);
    for (size_t i = 0; i < n; i++)
        add_walks(&s, &levers[i]);
    const int rc = pursue_all(&s);
    if (rc == 0)
        tell_all(&s, plan);
    arena_free(s.scratch);
    return rc;
}
