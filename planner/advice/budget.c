/* budget.c — how a customer who has only a sum divides it: validation capped, the reserve kept, the rest worked with.
 */
#include <math.h>

#include "planner/advice/advice.h"
#include "planner/advice/follow.h"

enum { BUDGET_SHARES = 5 };

static int64_t part(int64_t whole, double share)
{
    return (int64_t)llround((double)whole * share);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Months of the recommended machine, and of two of them, that are left for the work. */
static void say_what_it_buys(const struct option_list *ranked, struct plan *plan, int64_t work)
{
    const struct draft *d = ranked->n > 0 ? ranked->items[0] : NULL;
    if (!d || d->n_groups == 0)
        return;
    const struct draft_group *g = &d->groups[d->train_group];
    const double unit = g->by_card ? g->offer->card_month_micros * g->cards : g->offer->node_month_micros;
    if (!(unit > 0))
        return;
    const double month = unit / 1e4 * (1 + (double)g->offer->tax_bp / 1e4);
    struct note *n = note_money(note_add(&plan->staged_advice, "budget_buys"), "work", work);
    note_num(note_num(n, "months_one", (double)work / month), "months_two", (double)work / month / 2);
    note_text(note_num(n, "cards", g->cards), "gpu", g->offer->sku->gpu->name);
}

int budget_build(struct build *b, const struct option_list *ranked, struct plan *plan, struct err *err)
{
    const int64_t budget = b->budget_minor;
    struct advice_terms t;
    if (budget <= 0)
        return 0;
    if (advice_terms_bind(&b->params, &t, err))
        return -1;
    struct budget_share *s = arena_array(b->arena, BUDGET_SHARES, sizeof *s);
    if (!s)
        return err_set(err, ERR_NOMEM, "budget shares do not fit");
    const int64_t validation = b->trains ? least(part(budget, b->a.validate_budget_share), budget) : 0;
    const int64_t reserve_most = least(part(budget, b->trains ? t.budget_reserve_most : 1), budget - validation);
    const int64_t reserve = least(b->reserve.net + b->reserve.tax, reserve_most);
    const int64_t contingency = least(part(budget, t.budget_contingency), budget - validation - reserve);
    const int64_t work = budget - validation - reserve - contingency;
    const int64_t develop = b->trains ? part(work, b->a.debug_share) : 0;
    s[0] = (struct budget_share){"validation", validation};
    s[1] = (struct budget_share){"development", develop};
    s[2] = (struct budget_share){"training", b->trains ? work - develop : 0};
    s[3] = (struct budget_share){"inference_reserve", b->trains ? reserve : reserve + work};
    s[4] = (struct budget_share){"contingency", contingency};
    plan->budget_shares = s;
    plan->n_budget_shares = BUDGET_SHARES;
    if (b->trains)
        say_what_it_buys(ranked, plan, work);
    return 0;
}
