/* replan.c — see replan.h. */
#include <math.h>
#include <string.h>

#include "planner/advice/contest.h"
#include "planner/advice/effort.h"
#include "planner/advice/replan.h"
#include "planner/offers/recall.h"
#include "planner/reserve/reserve.h"

static double amount_of(const struct training *t)
{
    const double epochs = t->epochs > 0 ? t->epochs : 1;
    return t->tokens > 0 ? t->tokens * epochs : t->samples > 0 ? t->samples * epochs : t->steps;
}

/* Physics depends on the model, the training and the readings, never on constraints or prices; its speed not on the
 * amount of work either, unless data is read at a measured rate. *ret_work: how many times the work of `a` that of `b`
 * is. */
static bool same_physics(const struct workload *a, const struct workload *b, double *ret_work)
{
    struct training one = a->training; /* an estimate is of one run, however many there are */
    one.runs = b->training.runs;
    one.parallel_runs = b->training.parallel_runs;
    one.shareable_runs = b->training.shareable_runs;
    *ret_work = 1;
    if (amount_of(&a->training) > 0 && a->measured.parallel_file_system_gbps <= 0) {
        *ret_work = amount_of(&b->training) / amount_of(&a->training);
        one.tokens = b->training.tokens;
        one.samples = b->training.samples;
        one.steps = b->training.steps;
    }
    return *ret_work > 0 && memcmp(&a->model, &b->model, sizeof a->model) == 0 &&
           memcmp(&one, &b->training, sizeof one) == 0 && memcmp(&a->measured, &b->measured, sizeof a->measured) == 0 &&
           a->overrides == b->overrides && a->n_overrides == b->n_overrides;
}

static bool same_load(const struct workload *a, const struct workload *b)
{
    const struct constraints *x = &a->constraints, *y = &b->constraints;
    return memcmp(&a->serving, &b->serving, sizeof a->serving) == 0 && x->city == y->city && x->gpus == y->gpus &&
           x->n_gpus == y->n_gpus && x->providers == y->providers && x->n_providers == y->n_providers &&
           x->data_sensitive == y->data_sensitive && x->can_desensitise == y->can_desensitise &&
           (a->serving.stated || memcmp(&a->model, &b->model, sizeof a->model) == 0);
}

/* What a price of the day comes to depends on the currency, on spot and on the request's own assumptions. */
static bool same_prices(const struct workload *a, const struct replan_ask *ask)
{
    const struct workload *b = ask->workload;
    return memcmp(a->currency, b->currency, sizeof a->currency) == 0 &&
           a->constraints.allow_spot == b->constraints.allow_spot && a->overrides == b->overrides &&
           a->n_overrides == b->n_overrides;
}

/* Another price of the reserve's machines may move it off them, and changes what it costs. */
static bool reserve_moves(const struct build *b, const struct reprice *r)
{
    const struct offer *o = b->reserve.offer;
    if (!(r->factor > 0) || r->subject != SUBJECT_SKU)
        return false;
    return b->n_alternatives > 0 || (o != NULL && strcmp(o->sku->id, r->id) == 0);
}

bool replan_same_physics(const struct build *b, const struct workload *changed)
{
    double work;
    return same_physics(b->workload, changed, &work);
}

static double times_the_runs(const struct build *from, const struct build *to)
{
    return (double)to->training.runs / from->training.runs;
}

/* Kinds that are not planned again still set what cost and time are measured by. */
static void leave_out(const struct build *from, unsigned kinds, struct build *to)
{
    double least = INFINITY, soonest = INFINITY;
    for (int k = 0; k < KIND_COUNT; k++)
        if (!(kinds & 1u << k)) {
            least = fmin(least, from->kind_least[k]);
            soonest = fmin(soonest, from->kind_soonest[k]);
        }
    if (from->scored_feasible && isfinite(least) && isfinite(soonest)) {
        to->else_least = least;
        to->else_soonest = soonest;
    }
}

/* Whatever is not of the price or the card that is changed comes to what it came to. */
static bool rest_is_same(const struct build *from, const struct replan_ask *ask)
{
    struct workload w = *ask->workload;
    if (!w.constraints.allow_spot) /* what is taken away must not be late */
        w.constraints.deadline_on = from->workload->constraints.deadline_on;
    return !(ask->slowdown.by > 0 && ask->slowdown.gpu == NULL) && !(ask->faults.factor > 0 && ask->faults.tier == NULL) &&
           memcmp(from->workload, &w, sizeof w) == 0 &&
           !reserve_moves(from, &ask->reprice);
}

/* A later deadline or a larger budget, and nothing else. What was reckoned comes to the same again: validation was not
 * cut to the budget, spot does not depend on the deadline. */
static bool looser_limits(const struct build *from, const struct replan_ask *ask, const struct build *to)
{
    const struct constraints *was = &from->workload->constraints, *is = &ask->workload->constraints;
    struct workload w = *ask->workload;
    w.constraints.deadline_on = was->deadline_on;
    w.constraints.budget_minor = was->budget_minor;
    memcpy(w.constraints.budget_currency, was->budget_currency, sizeof w.constraints.budget_currency);
    const bool later = is->deadline_on > was->deadline_on, more = to->budget_minor > from->budget_minor;
    const bool same_date = is->deadline_on == was->deadline_on, same_sum = to->budget_minor == from->budget_minor;
    return memcmp(&w, from->workload, sizeof w) == 0 && !(ask->reprice.factor > 0) && !(ask->slowdown.by > 0) &&
           !(ask->faults.factor > 0) &&
           (same_date || (later && was->deadline_on != DATE_NONE && !was->allow_spot)) &&
           (same_sum || (more && from->budget_minor > 0 && from->n_validate_cut == 0));
}

/* Kinds whose drafts no limit chose: the hybrid's cut is weighed against the deadline, the budget is nothing to it. */
static unsigned alike_under(const struct build *from, const struct build *to)
{
    return to->deadline_day == from->deadline_day ? 1u << KIND_HYBRID_CLOUD : 0;
}

static int take_over(const struct build *from, const struct replan_ask *ask, struct build *to, struct err *err)
{
    double work;
    to->lean = ask->lean;
    to->order_only = true;
    to->points = from->points;
    to->day.reprice = ask->reprice;
    to->slowdown = ask->slowdown;
    to->faults = ask->faults;
    leave_out(from, ask->kinds, to);
    const bool same = same_physics(from->workload, ask->workload, &work), looser = looser_limits(from, ask, to);
    if (same)
        build_inherit_physics(from, work, to);
    to->drafted = from->drafted;
    if (looser)
        to->kinds_alike = alike_under(from, to);
    if (same_prices(from->workload, ask))
        build_inherit(from, to);
    if (!same_load(from->workload, ask->workload) || reserve_moves(from, &ask->reprice)) {
        if (reserve_build(to, err) != 0)
            return -1;
    } else {
        to->reserve = from->reserve;
        memcpy(to->alternatives, from->alternatives, from->n_alternatives * sizeof *to->alternatives);
        to->n_alternatives = from->n_alternatives;
    }
    if (looser) {
        recall_inherit(from, RECALL_ALL, 1, to);
    } else if (ask->near && same) {
        recall_inherit(from, rest_is_same(from, ask) ? RECALL_EXACT : RECALL_NEAR, work * times_the_runs(from, to), to);
        to->kinds_alike = ~recall_touched(to);
    }
    return 0;
}

/* The budget's drafts are at hand, and a later deadline's nearly so. */
static bool limits_alone(const struct build *b, const struct workload *w)
{
    struct workload same = *w;
    same.constraints.deadline_on = b->workload->constraints.deadline_on;
    same.constraints.budget_minor = b->workload->constraints.budget_minor;
    memcpy(same.constraints.budget_currency, b->workload->constraints.budget_currency,
           sizeof same.constraints.budget_currency);
    return memcmp(&same, b->workload, sizeof same) == 0;
}

int replan_foreseen(const struct build *b, const struct replan_ask *ask)
{
    enum { OPTIONS = 3, AT_HAND = 4 }; /* of a kind; what is left to reckon where most of it is at hand */
    const bool same = replan_same_physics(b, ask->workload), limits = limits_alone(b, ask->workload);
    const struct serving *load = &ask->workload->serving;
    const bool none = load->months_stated && load->months <= 0;
    int effort = none || same_load(b->workload, ask->workload) ? 0 : effort_of_reserve(b);
    for (int k = 0; k < KIND_COUNT; k++)
        if (ask->kinds & 1u << k)
            effort += (limits ? b->kind_work[k] / AT_HAND : b->kind_work[k]) + effort_of_options(OPTIONS) +
                      (same ? 0 : effort_of_search(b->kind_searched[k]) / (ask->lean ? 3 : 1));
    return effort;
}

int replan_make(const struct build *b, const struct replan_ask *ask, struct arena *arena, struct replan *ret,
                struct err *err)
{
    struct plan_request q = {b->catalog, ask->workload, b->day.as_of};
    struct contest c;
    struct build *child = arena_room(arena, 1, sizeof *child);
    if (child == NULL)
        return err_set(err, ERR_NOMEM, "no room to plan again");
    *ret = (struct replan){.feasible = false, .kind = KIND_COUNT};
    if (build_init_like(b, child, &q, arena, err) != 0 || take_over(b, ask, child, err) != 0)
        return -1;
    const int searched = build_searched(child);
    if (ask->search_most > 0)
        child->searched_most = searched + effort_buys_search(ask->search_most);
    if (child->trains && child->reserve.missing) /* whoever trains pays for the service too: nothing can be priced */
        return ret->effort = effort_of_contest(child, 0), 0;
    struct draft *d = NULL;
    if (ask->near ? contest_leader(child, ask->kinds, &d, err) != 0 : contest_hold(child, ask->kinds, &c, err) != 0)
        return -1;
    const int more = build_searched(child) - searched;
    ret->effort = ask->near ? effort_of_near(child, more) : effort_of_contest(child, more);
    ret->cut_short = child->cut_short;
    if (!ask->near && c.list.n > 0) {
        d = c.list.items[0];
        ret->all = c.list.items;
        ret->n_all = c.list.n;
    }
    if (d == NULL || d->option == NULL)
        return 0;
    ret->feasible = d->option->feasible;
    ret->kind = d->kind;
    ret->total = d->option->cost.total;
    ret->finish_on = d->option->finish.finish_on;
    ret->draft = d;
    return 0;
}

static bool counts(const struct draft_group *g)
{
    return strcmp(g->role, "validate") != 0;
}

bool replan_same_offer(const struct draft *x, const struct draft *y)
{
    int i = 0, j = 0;
    if (x->kind != y->kind)
        return false;
    for (;;) {
        while (i < x->n_groups && !counts(&x->groups[i]))
            i++;
        while (j < y->n_groups && !counts(&y->groups[j]))
            j++;
        if (i == x->n_groups || j == y->n_groups)
            return i == x->n_groups && j == y->n_groups;
        const struct draft_group *a = &x->groups[i++], *b = &y->groups[j++];
        const bool serves = strcmp(a->role, "serve") == 0;
        if (a->offer->sku != b->offer->sku || strcmp(a->role, b->role) != 0 ||
            (!serves && a->cards * a->units != b->cards * b->units))
            return false;
    }
}
