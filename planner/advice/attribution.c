/* attribution.c — see attribution.h.
 *
 * What the runs cost is price x card-hours. Between two options the difference is cut without a remainder by the
 * midpoint rule: price change at the mean hours, hour change at the mean price; hours lost to faults and checkpoints
 * are told apart from hours of work.
 */
#include "planner/advice/attribution.h"

#include <math.h>
#include <stdlib.h>

#include "planner/advice/follow.h"
#include "planner/drafting/build.h"

enum { ATTRIBUTION_OPTIONS_MAX = 16, SHARE_UNITS = 10000 };

/* Card-hours of a step as billed. */
static double card_hours(const struct draft *d, int step)
{
    const struct draft_step *s = &d->steps[step];
    return (double)d->base->schedule.billed_milli[step] / 1000 * s->units * d->groups[s->group].cards;
}

/* What the machines of a phase are counted as; NULL: they are the reserve's. */
static int64_t *part_of(struct attribution_view *v, enum phase_code p)
{
    return p == PHASE_SERVE ? NULL : p == PHASE_TRAIN ? &v->train : p == PHASE_DEVELOP ? &v->debugging : &v->setup;
}

/* Hours of set-up before the first run are no work: their share of what the runs cost goes to the set-up. */
static void take_setup(const struct draft *d, struct attribution_view *v)
{
    double hours = 0;
    for (int i = 0; i < d->n_steps; i++)
        if (d->steps[i].phase == PHASE_TRAIN && d->steps[i].group == d->train_group)
            hours += d->steps[i].hours;
    const double share = hours > 0 ? fmin(1, d->setup_hours / hours) : 0;
    const int64_t minor = (int64_t)llround((double)v->train * share);
    v->train -= minor;
    v->setup += minor;
    v->card_hours *= 1 - share;
}

struct attribution_view attribution_view_of(const struct draft *d, const struct cost *c)
{
    struct attribution_view v = {.tax = c->tax};
    const struct option *o = d->option;
    /* A line that several phases share belongs to each by the hours it works there, as in phases[].cost. */
    for (int i = 0; i < d->n_steps; i++) {
        if (d->steps[i].phase == PHASE_TRAIN)
            v.card_hours += card_hours(d, i);
        int64_t *part = part_of(&v, d->steps[i].phase);
        if (part != NULL)
            *part += o->phases[i].machines_minor;
    }
    v.network = c->by_section[SECTION_NETWORK];
    v.storage = c->by_section[SECTION_STORAGE];
    v.support = c->by_section[SECTION_SOFTWARE] + c->by_section[SECTION_OPERATIONS];
    v.egress = c->by_section[SECTION_EGRESS];
    v.reserve = c->by_section[SECTION_INFERENCE_RESERVE];
    const double overhead = d->estimate && d->estimate->has_training ? d->estimate->training.run_overhead : 0;
    v.lost_share = fmax(0, 1 - 1 / ((1 + fmax(0, overhead)) * (1 + d->lost_share)));
    take_setup(d, &v);
    return v;
}

static void add_part(struct attribution *a, const char *category, int64_t minor)
{
    if (minor == 0 || a->n_parts == sizeof a->parts / sizeof *a->parts)
        return;
    a->parts[a->n_parts++] = (struct attribution_part){category, minor, 0};
}

/* Shares in whole hundredths of a percent that sum to one as printed: what rounding leaves goes to the largest part. */
static void set_shares(struct attribution *a)
{
    int64_t left = SHARE_UNITS;
    size_t largest = 0;
    for (size_t i = 0; i < a->n_parts; i++) {
        const int64_t units = llround((double)a->parts[i].minor / (double)a->minor * SHARE_UNITS);
        a->parts[i].share = (double)units / SHARE_UNITS;
        left -= units;
        largest = llabs(a->parts[i].minor) > llabs(a->parts[largest].minor) ? i : largest;
    }
    if (a->n_parts > 0)
        a->parts[largest].share = (double)(llround(a->parts[largest].share * SHARE_UNITS) + left) / SHARE_UNITS;
}

/* Price, hours of work and hours lost: whole minor units that sum to the difference of `train`. */
static void add_train(struct attribution *a, const struct attribution_view *from, const struct attribution_view *to)
{
    const int64_t all = to->train - from->train;
    if (!(from->card_hours > 0) || !(to->card_hours > 0)) {
        add_part(a, "hours", all);
        return;
    }
    const double price_from = (double)from->train / from->card_hours, price_to = (double)to->train / to->card_hours;
    const double mean_price = (price_from + price_to) / 2;
    const double lost = to->card_hours * to->lost_share - from->card_hours * from->lost_share;
    const double work = to->card_hours - from->card_hours - lost;
    const int64_t hours = (int64_t)llround(mean_price * work), goodput = (int64_t)llround(mean_price * lost);
    add_part(a, "unit_price", all - hours - goodput);
    add_part(a, "hours", hours);
    add_part(a, "goodput", goodput);
}

static int64_t total_of(const struct attribution_view *v)
{
    return v->train + v->debugging + v->setup + v->network + v->storage + v->support + v->egress + v->reserve + v->tax;
}

bool attribution_between(const struct attribution_view *from, const struct attribution_view *to,
                         struct attribution *ret)
{
    *ret = (struct attribution){.minor = total_of(to) - total_of(from)};
    if (ret->minor == 0)
        return false;
    add_train(ret, from, to);
    add_part(ret, "network", to->network - from->network);
    add_part(ret, "storage", to->storage - from->storage);
    add_part(ret, "setup", to->setup - from->setup);
    add_part(ret, "debugging", to->debugging - from->debugging);
    add_part(ret, "support", to->support - from->support);
    add_part(ret, "egress", to->egress - from->egress);
    add_part(ret, "reserve", to->reserve - from->reserve);
    add_part(ret, "tax", to->tax - from->tax);
    set_shares(ret);
    return true;
}

int attribution_build(struct build *b, const struct option_list *ranked, struct plan *plan, struct err *err)
{
    struct attribution_view views[ATTRIBUTION_OPTIONS_MAX];
    const size_t n = ranked->n < ATTRIBUTION_OPTIONS_MAX ? ranked->n : ATTRIBUTION_OPTIONS_MAX;
    struct attribution *out = arena_array(b->arena, n * n / 2 + 1, sizeof *out);
    size_t kept = 0;
    if (!out)
        return err_set(err, ERR_NOMEM, "attribution does not fit");
    for (size_t i = 0; i < n; i++)
        if (!ranked->items[i]->option || !ranked->items[i]->base)
            return 0;
    for (size_t i = 0; i < n; i++)
        views[i] = attribution_view_of(ranked->items[i], &ranked->items[i]->option->cost);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            struct attribution *a = &out[kept];
            if (!attribution_between(&views[i], &views[k], a))
                continue;
            a->from = ranked->items[i]->option->label;
            a->to = ranked->items[k]->option->label;
            kept++;
        }
    plan->attributions = out;
    plan->n_attributions = kept;
    return 0;
}
