/* costing.c — see costing.h. */
#include "planner/costing/costing.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/money.h"
#include "planner/costing/calendar.h"
#include "planner/costing/cover.h"
#include "planner/costing/demand.h"

/* Large: a stack that is guarded page by page is slow to take so much for every bill. */
struct costing_room {
    struct cover cover;
};

size_t costing_room_size(void)
{
    return sizeof(struct costing_room);
}

struct cover *costing_room_cover(struct costing_room *room)
{
    return room != NULL ? &room->cover : NULL;
}

static int bill_covered(const struct trade_day *day, const struct draft *d, const struct schedule *s, int group,
                        struct cover *cover, struct bill *bill)
{
    const struct draft_group *g = &d->groups[group];
    struct demand q;
    int levels[DRAFT_STEPS_MAX], below = 0, n_levels = demand_levels(d, group, levels);
    cover_start(cover, g->offer, demand_by_card(d, group), d->steps, bill);
    if (demand_start(day->a, d, s, group, &q) != 0)
        return -1;
    for (int l = 0; l < n_levels; l++) {
        demand_rise(&q, levels[l]);
        if (cover_level(cover, q.runs, q.n, levels[l] - below) != 0)
            return -1;
        below = levels[l];
    }
    return cover_end(cover);
}

__attribute__((noinline)) static int bill_on_stack(const struct trade_day *day, const struct draft *d,
                                                   const struct schedule *s, int group, struct bill *bill)
{
    struct cover own;
    return bill_covered(day, d, s, group, &own, bill);
}

static int bill_group(const struct trade_day *day, const struct draft *d, const struct schedule *s, int group,
                      struct bill *bill)
{
    return day->room != NULL ? bill_covered(day, d, s, group, &day->room->cover, bill)
                             : bill_on_stack(day, d, s, group, bill);
}

/* The days an extra is for: from the first day of `from` to the last of `to`, of the steps that take place. */
struct span {
    int first, last;       /* last < 0: no such step */
    enum phase_code phase; /* of the first of them */
};

static bool within(const struct draft *d, const struct schedule *s, const struct draft_extra *e, int step)
{
    enum phase_code p = d->steps[step].phase;
    return p >= e->from && p <= e->to && s->last_day[step] >= s->first_day[step];
}

/* Days of the service, which begins the day after the finish, where this extra is paid by the month for it too. */
static int serve_days(const struct assume *a, const struct draft *d, const struct draft_extra *e)
{
    const bool lasts = e->to == PHASE_SERVE && e->basis == EXTRA_PER_MONTH && d->reserve != NULL;
    return lasts ? (int)ceil(d->reserve->months * a->month_days - 1e-9) : 0;
}

static struct span span_of(const struct assume *a, const struct draft *d, const struct schedule *s,
                           const struct draft_extra *e)
{
    const int days = serve_days(a, d, e);
    struct span r = {INT_MAX, -1, d->n_steps > 0 ? d->steps[d->n_steps - 1].phase : PHASE_SERVE};
    if (e->from == PHASE_SERVE && d->reserve != NULL)
        r.phase = PHASE_SERVE;
    for (int i = 0; i < d->n_steps; i++) {
        if (!within(d, s, e, i))
            continue;
        if (s->first_day[i] < r.first) {
            r.first = s->first_day[i];
            r.phase = d->steps[i].phase;
        }
        r.last = s->last_day[i] > r.last ? s->last_day[i] : r.last;
    }
    if (days > 0) {
        r.first = r.first < s->finish_day + 1 ? r.first : s->finish_day + 1;
        r.last = s->finish_day + days;
    }
    return r;
}

static int months_of(const struct assume *a, const struct span *p)
{
    return p->last < 0 ? 0 : (int)ceil((p->last - p->first + 1) / a->month_days - 1e-9);
}

/* The step that is under way on a day, or the next to begin. */
static int step_on(const struct draft *d, const struct schedule *s, const struct draft_extra *e, int day)
{
    int best = SHARE_SERVE;
    for (int i = 0; i < d->n_steps; i++)
        if (within(d, s, e, i) && s->last_day[i] >= day &&
            (best == SHARE_SERVE || s->first_day[i] < s->first_day[best]))
            best = i;
    return best;
}

/* Months are used by the days of every step they reach over and paid as each begins; what is paid once is the first
 * step's. */
static void share_extra(const struct assume *a, const struct draft *d, const struct schedule *s,
                        const struct draft_extra *e, const struct span *p, struct bill *bill)
{
    struct shares weights = {{0}, {0}};
    int64_t minor = bill->lines[bill->n - 1].minor;
    if (p->last < 0 || e->basis == EXTRA_ONCE) {
        int to = p->last >= 0 ? step_on(d, s, e, p->first) : p->phase == PHASE_SERVE ? SHARE_SERVE : d->n_steps - 1;
        shares_give(minor, to, bill->shares);
        return;
    }
    for (int i = 0; i < d->n_steps; i++)
        if (within(d, s, e, i))
            weights.used[i] = s->last_day[i] - s->first_day[i] + 1;
    weights.used[SHARE_SERVE] = serve_days(a, d, e);
    for (int m = 0; m < months_of(a, p); m++)
        weights.paid[step_on(d, s, e, p->first + (int)(m * a->month_days))]++;
    shares_divide(minor, &weights, bill->shares);
}

static int bill_extra(const struct trade_day *day, const struct draft *d, const struct schedule *s,
                      const struct draft_extra *e, struct bill *bill)
{
    struct span span = span_of(day->a, d, s, e);
    double quantity = e->quantity * (e->basis == EXTRA_PER_MONTH ? months_of(day->a, &span) : 1);
    int64_t tax_bp = 0;
    struct cost_line line = {
        .phase = span.phase,
        .section = e->section,
        .item = e->item,
        .unit = e->unit,
        .unit_price_micros = e->unit_micros,
        .tax_code = e->tax_code != NULL ? e->tax_code : TAX_CODE_DEFAULT,
        .mode = e->basis == EXTRA_PER_MONTH ? MODE_MONTHLY : MODE_HOURLY,
        .price = e->price,
        .assumption = e->assumption,
    };
    if (!(quantity > 0))
        return 0;
    if (quantity > 9e12)
        return -1;
    line.quantity_milli = (int64_t)ceil(quantity * 1000 - 1e-6);
    if (e->tax_code != NULL && catalog_tax(day->catalog, e->tax_code, day->as_of, &tax_bp) != 0)
        tax_bp = 0;
    if (bill_add(bill, line, e->tax_code != NULL ? tax_bp : day->service_tax_bp) != 0)
        return -1;
    if (bill->shares != NULL)
        share_extra(day->a, d, s, e, &span, bill);
    return 0;
}

static void bill_reserve(const struct reserve_plan *r, struct bill *bill)
{
    for (size_t i = 0; i < r->n_lines; i++) {
        if (bill->n == BILL_LINES_MAX) {
            bill->failed = true;
            return;
        }
        bill->lines[bill->n++] = r->lines[i];
        if (bill->shares != NULL)
            shares_give(r->lines[i].minor, SHARE_SERVE, bill->shares);
    }
    bill_hold(bill, r->deposit);
}

/* A share of everything above, where the caller asked for one. */
static int bill_contingency(const struct trade_day *day, struct bill *bill)
{
    money_wide net = 0;
    const int64_t ppm = llround(day->a->contingency_share * 1e6);
    if (ppm <= 0)
        return 0;
    for (size_t i = 0; i < bill->n; i++)
        net += bill->lines[i].minor;
    struct cost_line line = {.phase = PHASE_TRAIN,
                             .section = SECTION_OPERATIONS,
                             .item = "contingency",
                             .quantity_milli = 1000,
                             .unit = UNIT_ONCE,
                             .tax_code = TAX_CODE_DEFAULT,
                             .assumption = "contingency_share"};
    if (net * ppm / 1000000 >= INT64_MAX / (MONEY_MICROS / MONEY_MINOR))
        return -1;
    line.unit_price_micros = money_div_round(net * ppm, 1000000) * (MONEY_MICROS / MONEY_MINOR);
    if (bill_add(bill, line, day->service_tax_bp) != 0)
        return -1;
    if (bill->shares != NULL) { /* as everything above is divided */
        struct shares so_far = *bill->shares;
        shares_divide(bill->lines[bill->n - 1].minor, &so_far, bill->shares);
    }
    return 0;
}

int costing_bill(const struct trade_day *day, const struct draft *d, const struct schedule *s,
                 struct shares *ret_shares, struct bill *ret)
{
    bill_start(ret);
    ret->shares = ret_shares;
    if (ret_shares != NULL)
        *ret_shares = (struct shares){{0}, {0}};
    for (int g = 0; g < d->n_groups; g++)
        if (demand_pool(d, g) == g && bill_group(day, d, s, g, ret) != 0)
            return -1;
    if (ret_shares != NULL)
        memcpy(ret->machines_used, ret_shares->used, sizeof ret->machines_used);
    for (int i = 0; i < d->n_extras; i++)
        if (bill_extra(day, d, s, &d->extras[i], ret) != 0)
            return -1;
    if (d->reserve != NULL)
        bill_reserve(d->reserve, ret);
    if (bill_contingency(day, ret) != 0)
        return -1;
    return ret->failed ? -1 : 0;
}

int costing_reckon(const struct trade_day *day, const struct draft *d, const struct what_if *w, struct reckoning *ret)
{
    struct bill bill;
    if (calendar_schedule(day->a, d, w, &ret->schedule) != 0 ||
        costing_bill(day, d, &ret->schedule, NULL, &bill) != 0 || bill_sum(&bill, &ret->net, &ret->tax) != 0)
        return -1;
    ret->machines_net = bill.machines_net;
    ret->deposit = bill.deposit;
    ret->spot_share = bill.machine_hours > 0 ? bill.spot_hours / bill.machine_hours : 0;
    /* Prices and load act alike on every tariff, so they need no second search. */
    double tax_share = ret->net > 0 ? (double)ret->tax / (double)ret->net : 0;
    double more = (double)bill.machines_net * (w->price - 1) +
                  (d->reserve != NULL ? reserve_plan_change(day->a, d->reserve, w->load) : 0);
    ret->net += (int64_t)llround(more);
    ret->tax += (int64_t)llround(more * tax_share);
    return money_add(ret->net, ret->tax, &ret->total);
}
