/* plan_make.c — the main job: options of every kind built, reckoned, ranked, and what follows from them. */
#include "planner/advice/plan_make.h"

#include <math.h>
#include <string.h>

#include "planner/advice/contest.h"
#include "planner/advice/follow.h"
#include "planner/advice/summary.h"
#include "planner/offers/candidate.h"
#include "planner/reserve/reserve.h"
#include "planner/takeaway/takeaway.h"

/* The ranked options in one row; the drafts point into it. */
static int collect_options(struct build *b, const struct option_list *l, struct plan *plan, struct err *err)
{
    plan->options = arena_array(b->arena, l->n + 1, sizeof *plan->options);
    if (plan->options == NULL)
        return err_set(err, ERR_NOMEM, "no room for the options");
    for (size_t i = 0; i < l->n; i++) {
        plan->options[i] = *l->items[i]->option;
        l->items[i]->option = &plan->options[i];
    }
    plan->n_options = l->n;
    return 0;
}

static bool has_feasible(const struct plan *plan, enum option_kind kind)
{
    for (size_t i = 0; i < plan->n_options; i++)
        if (plan->options[i].kind == kind && plan->options[i].feasible)
            return true;
    return false;
}

static bool is_limit(const struct note *n)
{
    return strcmp(n->code, "deadline_missed") == 0 || strcmp(n->code, "budget_exceeded") == 0 ||
           strcmp(n->code, "more_than_listed") == 0;
}

/* A wanted kind without a feasible option, with what stops it and by how much. */
static void collect_infeasible(struct build *b, struct plan *plan)
{
    for (int k = 0; k < KIND_COUNT; k++) {
        enum option_kind kind = (enum option_kind)k;
        if (!b->workload->constraints.kinds[k] || has_feasible(plan, kind))
            continue;
        struct infeasible_kind *miss = &plan->infeasible[plan->n_infeasible++];
        miss->kind = kind;
        note_list_init(&miss->reasons, b->arena);
        for (size_t i = 0; i < plan->n_options; i++)
            for (size_t r = 0; plan->options[i].kind == kind && r < plan->options[i].reasons.n; r++)
                if (is_limit(&plan->options[i].reasons.items[r]))
                    *note_add(&miss->reasons, "") = plan->options[i].reasons.items[r];
        for (size_t r = 0; r < b->refusals[k].n; r++)
            *note_add(&miss->reasons, "") = b->refusals[k].items[r];
        if (miss->reasons.n == 0)
            note_add(&miss->reasons, "no_offer");
    }
}

static int take_away(struct build *b, const struct option_list *l, struct err *err)
{
    for (size_t i = 0; i < l->n; i++)
        if (launch_build(b, l->items[i], l->items[i]->option, err) != 0 ||
            checklist_build(b, l->items[i], l->items[i]->option, err) != 0)
            return -1;
    return 0;
}

static void plan_start(const struct build *b, struct plan *plan)
{
    *plan = (struct plan){.catalog_revision = b->catalog->revision, .as_of = b->day.as_of};
    memcpy(plan->currency, b->day.currency, sizeof plan->currency);
    note_list_init(&plan->cluster_triggers, b->arena);
    note_list_init(&plan->counter_signs, b->arena);
    note_list_init(&plan->staged_advice, b->arena);
    note_list_init(&plan->warnings, b->arena);
    note_list_init(&plan->assumed, b->arena);
    candidate_weights(b, &plan->weights.cost, &plan->weights.time, &plan->weights.risk);
}

static int follow_ups(struct build *b, const struct option_list *l, struct plan *plan, struct err *err)
{
    cards_side_by_side(b, l);
    if (take_away(b, l, err) != 0 || ownership_build(b, l, plan, err) != 0 || advice_build(b, l, plan, err) != 0 ||
        relaxations_build(b, l, plan, err) != 0 || attribution_build(b, l, plan, err) != 0 ||
        sensitivity_build(b, l, plan, err) != 0 || budget_build(b, l, plan, err) != 0)
        return -1;
    return 0;
}

int plan_make(const struct plan_request *q, struct arena *arena, struct plan *ret, struct err *err)
{
    struct contest c;
    struct build *b = arena_room(arena, 1, sizeof *b);
    if (b == NULL)
        return err_set(err, ERR_NOMEM, "no room for a plan");
    if (build_init(b, q, arena, err) != 0 || reserve_build(b, err) != 0)
        return -1;
    struct market_query anybody = {.provider_kinds = MARKET_ANY_PROVIDER, .data_stays = b->market.data_at_home};
    market_note_unpriced(&b->market, &anybody);
    if (contest_hold(b, ~0u, &c, err) != 0)
        return -1;
    plan_start(b, ret);
    if (collect_options(b, &c.list, ret, err) != 0)
        return -1;
    collect_infeasible(b, ret);
    if (summary_build(b, &c.list, c.spreads, ret, err) != 0 || follow_ups(b, &c.list, ret, err) != 0)
        return -1;
    return arena_failed(arena) ? err_set(err, ERR_NOMEM, "the plan is larger than a request's memory") : 0;
}
