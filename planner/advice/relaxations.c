/* relaxations.c — the smallest single changes that make a kind of supply work, or the job much cheaper.
 *
 * Found by planning again, never by phrase (relaxing.h): each attempt (changes.h) changes one thing of the request and
 * is kept with its new cost and date when the plan of it is feasible. One plan of a changed request answers for every
 * kind that it may help; what cannot help is not planned. Nearest changes come first.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "planner/advice/effort.h"
#include "planner/advice/follow.h"
#include "planner/advice/relaxing.h"
#include "planner/market/market_index.h"

enum {
    PER_KIND_MAX = 2,
    PER_KIND_MAX_NOTHING = 4,
    OF_FOUR = 3, /* parts of what a plan may still cost, where something is feasible: turning points take the rest */
    SCRATCH_BYTES = 64 << 20
};

/* A kind that has nothing feasible. */
struct stuck {
    struct infeasible_kind *miss;
    unsigned needs;
    /* the first change that lifts the rule but misses the date or the budget, and what it comes to */
    const struct attempt *near;
    struct relaxed_option near_option;
};

struct search {
    struct relaxing r;
    struct stuck stuck[KIND_COUNT]; /* by kind; miss NULL: something is feasible, or the kind is not wanted */
    size_t per_kind;
};

/* The change made to a copy of the request; false where there is nothing to change. */
static bool make_change(struct search *s, const struct attempt *a, enum option_kind kind, struct workload *w,
                        struct changing *ret)
{
    const struct stuck *k = &s->stuck[kind];
    *w = *s->r.b->workload;
    *ret = (struct changing){.b = s->r.b, .reasons = k->miss ? &k->miss->reasons : NULL, .w = w};
    return a->apply(ret);
}

/* Any card would do: is the one that each kind takes enough? Planned again for the kinds that take the same. */
static int settle_card(struct search *s, struct changing *c, unsigned kinds, const struct gpu *gpu,
                       struct relaxed found[KIND_COUNT])
{
    struct relaxed with[KIND_COUNT];
    changes_add_gpu(c, gpu);
    if (c->failed)
        return err_set(s->r.err, ERR_NOMEM, "no room to plan again");
    if (relaxing_plan(&s->r, c->w, kinds, with) != 0)
        return -1;
    for (int k = 0; k < KIND_COUNT; k++)
        if (kinds & 1u << k)
            found[k] = with[k];
    return 0;
}

static int take_found(struct search *s, const struct attempt *a, const struct changing *c, enum option_kind kind,
                      const struct relaxed *f)
{
    struct stuck *k = &s->stuck[kind];
    if (a->fp8 && (f->first.gpu == NULL || !(f->first.gpu->fp8_tflops > 0)))
        return 0; /* it would run in 16 bits there: no change */
    if (f->feasible)
        return relaxing_keep(&s->r, a, c, &f->first, f->exact, &k->miss->relaxations) ? 0 : -1;
    if (f->first.gpu && !k->near) {
        k->near = a;
        k->near_option = f->first;
    }
    return 0;
}

/* Kinds that take the same card as the first of the mask does. */
static unsigned alike(const struct relaxed found[KIND_COUNT], unsigned kinds, const struct gpu **ret_gpu)
{
    unsigned same = 0;
    *ret_gpu = NULL;
    for (int k = 0; k < KIND_COUNT; k++) {
        if (!(kinds & 1u << k))
            continue;
        if (*ret_gpu == NULL)
            *ret_gpu = found[k].first.gpu;
        same |= found[k].first.gpu == *ret_gpu ? 1u << k : 0;
    }
    return same;
}

static unsigned feasible_of(const struct relaxed found[KIND_COUNT], unsigned kinds)
{
    unsigned feasible = 0;
    for (int k = 0; k < KIND_COUNT; k++)
        feasible |= (kinds & 1u << k) && found[k].feasible ? 1u << k : 0;
    return feasible;
}

/* Where any card may be taken, which one is looked for in a few first: what is told is planned with that one alone. */
static int plan_change(struct search *s, const struct changing *c, unsigned kinds, struct relaxed found[KIND_COUNT])
{
    struct relaxed again[KIND_COUNT];
    unsigned missed = 0;
    if (c->n > 0)
        return relaxing_plan(&s->r, c->w, kinds, found);
    if (relaxing_look(&s->r, c->w, kinds, found) != 0)
        return -1;
    for (int k = 0; k < KIND_COUNT; k++)
        missed |= (kinds & 1u << k) && !found[k].feasible && !found[k].unplanned ? 1u << k : 0;
    if (missed == 0)
        return 0;
    if (relaxing_plan(&s->r, c->w, missed, again) != 0)
        return -1;
    for (int k = 0; k < KIND_COUNT; k++)
        if ((missed & 1u << k) && !again[k].unplanned)
            found[k] = again[k];
    return 0;
}

/* One changed request, planned again for the kinds of the mask that are stuck. */
static int try_change(struct search *s, const struct attempt *a, struct changing *c, unsigned kinds)
{
    struct relaxed found[KIND_COUNT];
    const bool any_card = c->n == 0;
    if (plan_change(s, c, kinds, found) != 0)
        return -1;
    unsigned left = any_card ? kinds & ~feasible_of(found, kinds) : kinds;
    for (int k = 0; k < KIND_COUNT; k++)
        if ((left & 1u << k) && take_found(s, a, c, (enum option_kind)k, &found[k]) != 0)
            return -1;
    for (left = kinds & ~left; left != 0;) {
        const struct gpu *gpu;
        const unsigned same = alike(found, left, &gpu);
        if (settle_card(s, c, same, gpu, found) != 0)
            return -1;
        for (int k = 0; k < KIND_COUNT; k++)
            if ((same & 1u << k) && take_found(s, a, c, (enum option_kind)k, &found[k]) != 0)
                return -1;
        left &= ~same;
    }
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

/* What the options of a kind come nearest to the limits with. */
struct nearest {
    bool any;
    int64_t high, total; /* the least of each */
    double confident_days;
};

static struct nearest nearest_of(const struct search *s, enum option_kind kind)
{
    const struct plan *plan = s->r.plan;
    struct nearest n = {.high = INT64_MAX, .total = INT64_MAX, .confident_days = INFINITY};
    for (size_t i = 0; i < plan->n_options; i++) {
        const struct option *o = &plan->options[i];
        if (o->kind != kind)
            continue;
        n.any = true;
        n.high = o->cost.high < n.high ? o->cost.high : n.high;
        n.total = o->cost.total < n.total ? o->cost.total : n.total;
        n.confident_days = fmin(n.confident_days, o->finish.confident_days);
    }
    return n;
}

/* How many times as fast 8 bits are as 16 at most, on any card. */
static double fp8_most(const struct build *b)
{
    double most = 1;
    for (size_t g = 0; g < b->catalog->n_gpus; g++) {
        const struct gpu *gpu = &b->catalog->gpus[g];
        if (gpu->bf16_tflops > 0)
            most = fmax(most, gpu->fp8_tflops / gpu->bf16_tflops);
    }
    return most;
}

/* Where only money lacks, a change saves no more than what it touches. */
static bool saves_too_little(const struct search *s, const struct attempt *a, const struct nearest *n)
{
    const struct build *b = s->r.b;
    const struct market_index *market = b->catalog->market;
    const double reserve = (double)b->reserve.net, budget = (double)b->budget_minor;
    const double tax = (double)b->reserve.tax / fmax(1, reserve);
    if (strcmp(a->code, "weight_bits") == 0)
        return (double)n->high - budget > (double)b->reserve.net_high * (1 + tax);
    if (strcmp(a->code, "spot") == 0)
        return market && (double)n->total * (double)market->spot_least_share > budget;
    if (a->fp8)
        return fmax(0, (double)n->total - reserve) / fp8_most(b) + reserve > budget;
    return false;
}

/* What cannot help whatever a plan of it would say. A job without its service has no price: what leaves the load as it
 * is changes nothing, and other cities, cards, suppliers and fewer bits were tried for it already. */
static bool is_hopeless(const struct search *s, const struct attempt *a, enum option_kind kind)
{
    const struct build *b = s->r.b;
    const struct serving *load = &b->workload->serving;
    const bool bits = strcmp(a->code, "weight_bits") == 0;
    if (b->trains && b->reserve.missing)
        return !(a->helps & NEED_LOAD) || (bits && load->weight_bits <= 0 && load->weight_format == WF_UNSTATED);
    const struct market_index *market = b->catalog->market;
    if (strcmp(a->code, "spot") == 0 && !(s->stuck[kind].needs & NEED_MONEY))
        return market == NULL || market->spot_least_share > 0; /* nothing is sold by spot alone */
    const struct nearest n = nearest_of(s, kind);
    if (!n.any)
        return false;
    if (a->fp8 && b->deadline_day != INT_MAX && n.confident_days / fp8_most(b) > b->deadline_day + 1)
        return true;
    return s->stuck[kind].needs == NEED_MONEY && saves_too_little(s, a, &n);
}

static unsigned wanting(const struct search *s, const struct attempt *a)
{
    unsigned kinds = 0;
    for (int k = 0; k < KIND_COUNT; k++) {
        const struct stuck *t = &s->stuck[k];
        if (t->miss != NULL && (a->kinds & 1u << k) && (a->helps & t->needs) && t->miss->relaxations.n < s->per_kind &&
            !is_more_of_the_same(&t->miss->relaxations, a->code) && !is_hopeless(s, a, (enum option_kind)k))
            kinds |= 1u << k;
    }
    return kinds;
}

/* Of these kinds, those for which the change comes to what it came to for the first. */
static unsigned same_change(struct search *s, const struct attempt *a, unsigned kinds, const struct changing *first)
{
    unsigned same = 0;
    for (int k = 0; a->of_kind && k < KIND_COUNT; k++) {
        struct workload w;
        struct changing c;
        if (!(kinds & 1u << k))
            continue;
        make_change(s, a, (enum option_kind)k, &w, &c);
        same |= c.figure < first->figure || c.figure > first->figure ? 0 : 1u << k;
    }
    return a->of_kind ? same : kinds;
}

static enum option_kind lowest(unsigned kinds)
{
    int k = 0;
    while (k < KIND_COUNT - 1 && !(kinds & 1u << k))
        k++;
    return (enum option_kind)k;
}

/* One attempt for every kind that it may help, in as few plans as there are different changes. */
static int attempt_all(struct search *s, const struct attempt *a)
{
    for (unsigned left = wanting(s, a), same; left != 0; left &= ~same) {
        struct workload *w = arena_alloc(s->r.b->arena, sizeof *w);
        struct changing c = {.failed = w == NULL};
        const bool made = w != NULL && make_change(s, a, lowest(left), w, &c);
        if (c.failed)
            return err_set(s->r.err, ERR_NOMEM, "no room to plan again");
        same = same_change(s, a, left, &c);
        if (made && try_change(s, a, &c, same) != 0)
            return -1;
    }
    return 0;
}

/* No single change is enough: what comes nearest, and what it comes to. */
static int add_near(struct search *s, struct stuck *k)
{
    struct relaxation *r =
        relaxing_add(&s->r, &k->miss->relaxations, k->near->code, "relax_not_enough", &k->near_option, false);
    if (!r)
        return -1;
    note_text(&r->text, "change", k->near->code);
    return 0;
}

static void tell(struct search *s, const struct stuck *k)
{
    struct plan *plan = s->r.plan;
    for (size_t i = 0; i < plan->n_options; i++)
        if (plan->options[i].kind == k->miss->kind)
            plan->options[i].relaxations = k->miss->relaxations;
}

/* What would make the kinds work that nothing on offer does. */
static int relax_kinds(struct search *s)
{
    struct plan *plan = s->r.plan;
    for (size_t i = 0; i < plan->n_infeasible; i++) {
        struct infeasible_kind *miss = &plan->infeasible[i];
        s->stuck[miss->kind] = (struct stuck){.miss = miss, .needs = changes_needs(&miss->reasons)};
        if (relax_limits(&s->r, miss->kind, &miss->relaxations) != 0)
            return -1;
    }
    for (size_t i = 0; i < changes_n_attempts; i++)
        if (attempt_all(s, &changes_attempts[i]) != 0)
            return -1;
    for (int k = 0; k < KIND_COUNT; k++) {
        struct stuck *t = &s->stuck[k];
        if (t->miss && t->miss->relaxations.n == 0 && t->near && add_near(s, t) != 0)
            return -1;
        if (t->miss)
            tell(s, t);
    }
    return 0;
}

int relaxations_build(struct build *b, const struct option_list *ranked, struct plan *plan, struct err *err)
{
    const struct param *saving = param_find(&b->params, "relaxation_saving_share");
    struct search s = {.r = {.b = b, .plan = plan, .err = err, .lean = plan->recommended != NULL}};
    if (!saving)
        return err_set(err, ERR_NOT_FOUND, "assumption relaxation_saving_share is missing");
    if (b->lean)
        return 0;
    s.r.saving_least = saving->value;
    s.per_kind = s.r.lean ? PER_KIND_MAX : PER_KIND_MAX_NOTHING;
    const int spent = effort_of_plan(b, b->n_searched);
    const int most = effort_most(b);
    s.r.effort_most = s.r.lean ? spent + (most - spent) * OF_FOUR / 4 : most;
    s.r.scratch = arena_new(SCRATCH_BYTES);
    if (!s.r.scratch)
        return err_set(err, ERR_NOMEM, "no room to plan again");
    const struct draft *first = ranked->n > 0 && ranked->items[0]->option->feasible ? ranked->items[0] : NULL;
    int rc = first != NULL ? relax_cost(&s.r, first) : 0;
    rc = rc == 0 ? relax_kinds(&s) : rc;
    rc = rc == 0 && first != NULL ? relax_cost_precision(&s.r, first) : rc;
    arena_free(s.r.scratch);
    return rc;
}
