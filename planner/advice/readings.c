/* readings.c — a plan asked for because cards seemed short starts with what the readings say: whether they are, and
 * where they are not, what mending that would save of the first option.
 *
 * A plan with a measured rate waits as the readings do: mended, the same option is reckoned with that much less work
 * time. A plan without one is reckoned with cards that are kept busy: as read, it would take that much more.
 */
#include <math.h>

#include "planner/advice/follow.h"
#include "planner/costing/costing.h"
#include "planner/diagnosis/diagnosis.h"

static bool with_rate(const struct measured *m)
{
    return m->tokens_per_s > 0 || m->samples_per_s > 0 || m->step_time_s > 0;
}

/* The option's money and days as the readings have it, and mended. -1: one of them cannot be reckoned. */
static int reckon_both(struct build *b, const struct draft *d, double share, struct reckoning *ret_read,
                       struct reckoning *ret_mended)
{
    struct what_if read = what_if_expected, mended = what_if_expected;
    if (with_rate(&b->workload->measured))
        mended.time = 1 - share;
    else
        read.time = 1 / (1 - share);
    return costing_reckon(&b->day, d, &read, ret_read) == 0 && costing_reckon(&b->day, d, &mended, ret_mended) == 0
               ? 0
               : -1;
}

/* In money and days of the first option. Where mending frees nobody knows how much, that is said instead of nothing. */
static void tell_saving(struct build *b, const struct option_list *ranked, const struct diagnosis *g, struct plan *plan)
{
    struct reckoning read, mended;
    const struct draft *d = ranked->items[0];
    if (!(g->recoverable_share > 0) || reckon_both(b, d, g->recoverable_share, &read, &mended) != 0) {
        note_add(&plan->warnings, "not_cards_unsized");
        return;
    }
    struct note *n = note_percent(note_add(&plan->warnings, "not_cards"), "share", g->recoverable_share);
    note_money(note_text(n, "label", plan->options[0].label), "saved", read.total - mended.total);
    note_num(n, "days", read.schedule.finish_days - mended.schedule.finish_days);
    note_text(n, "basis", g->recoverable_read ? "share_of_readings" : "share_of_guides");
    const bool rate = with_rate(&b->workload->measured);
    const struct reckoning *other = rate ? &mended : &read; /* what the option's own figures do not show */
    n = note_text(note_add(&plan->warnings, rate ? "not_cards_mended" : "not_cards_as_read"), "label",
                  plan->options[0].label);
    note_num(note_money(n, "total", other->total), "days", other->schedule.finish_days);
}

int readings_build(struct build *b, const struct option_list *ranked, struct plan *plan, struct err *err)
{
    const struct workload *w = b->workload;
    struct diagnosis g;
    if (!w->measured.stated)
        return 0;
    if (diagnosis_of_measured(&w->measured, b->catalog, &b->params, b->arena, &g, err) != 0)
        return -1;
    if (g.verdict == VERDICT_INSUFFICIENT || g.findings.n == 0)
        return 0;
    plan->has_diagnosis = true;
    plan->diagnosis = g.findings.items[0].note;
    if (verdict_not_cards(g.verdict) && plan->n_options > 0)
        tell_saving(b, ranked, &g, plan);
    return 0;
}
