/* costing.c — covers of machines and everything else as lines of a bill. */
#include "planner/costing/costing.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/money.h"
#include "planner/costing/demand.h"
#include "planner/market/tariff.h"
#include "planner/reserve/reserve.h"

void costing_start(struct bill *bill)
{
    bill->n = 0;
    bill->machines_net = bill->deposit = 0;
    bill->spot_hours = bill->machine_hours = 0;
    bill->failed = false;
    bill->shares = NULL;
}

int costing_add(struct bill *bill, struct cost_line line, int64_t tax_bp)
{
    if (bill->n == BILL_LINES_MAX || money_line(line.quantity_milli, line.unit_price_micros, &line.minor) != 0 ||
        money_tax(line.minor, tax_bp, &line.tax_minor) != 0) {
        bill->failed = true;
        return -1;
    }
    bill->lines[bill->n++] = line;
    return 0;
}

static enum section section_of(enum phase_code phase)
{
    switch (phase) {
    case PHASE_VALIDATE:
    case PHASE_PILOT:
        return SECTION_VALIDATION;
    case PHASE_MIGRATE:
        return SECTION_MIGRATION;
    case PHASE_SERVE:
        return SECTION_INFERENCE_RESERVE;
    case PHASE_DEVELOP:
    case PHASE_TRAIN:
    case PHASE_COUNT:
        break;
    }
    return SECTION_COMPUTE;
}

/* What one rate is used for in one section. */
struct use {
    bool any;
    enum phase_code first;
    int64_t permits, hours_milli; /* hours: of the permits' days, or paid by the hour */
};

/* shares: NULL where nobody asks which step a line is for. */
struct uses {
    struct use of[OFFER_RATES_MAX][SECTION_COUNT];
    struct shares (*shares)[SECTION_COUNT];
};

static void use_add(struct use *u, enum phase_code phase, int64_t permits, int64_t hours_milli)
{
    u->first = !u->any || phase < u->first ? phase : u->first;
    u->any = true;
    u->permits += permits;
    u->hours_milli += hours_milli;
}

/* Hours of a rate are used and paid by the steps of their days; a permit is used by them and paid by its first. */
static void use_share(struct shares *steps, const struct tariff_day *days, size_t from, size_t to, int64_t times,
                      bool permit)
{
    for (size_t i = from; i < to; i++)
        steps->used[days[i].tag] += days[i].hours_milli * times;
    steps->paid[days[from].tag] += permit ? times : days[from].hours_milli * times;
}

static enum phase_code phase_of(const struct draft_step *steps, const struct tariff_day *d)
{
    return steps != NULL ? steps[d->tag].phase : PHASE_SERVE;
}

/* A permit belongs to the section that alone uses it, to compute where several do, and to the first phase that uses
 * it. */
static void use_permit(struct uses *uses, int r, const struct draft_step *steps, const struct tariff_day *days,
                       size_t from, size_t to, int64_t times)
{
    int64_t all = 0;
    enum section only = section_of(phase_of(steps, &days[from]));
    for (size_t i = from; i < to; i++) {
        only = section_of(phase_of(steps, &days[i])) == only ? only : SECTION_COMPUTE;
        all += days[i].hours_milli;
    }
    use_add(&uses->of[r][only], phase_of(steps, &days[from]), times, all * times);
    if (uses->shares != NULL)
        use_share(&uses->shares[r][only], days, from, to, times, true);
}

static void collect_uses(const struct tariff *t, const struct tariff_cover *cover, const struct draft_step *steps,
                         const struct tariff_day *days, size_t n, int64_t times, struct uses *uses)
{
    for (size_t i = 0; i < n;) {
        int r = cover->choice[i];
        const struct rate *rate = &t->rates[r];
        if (rate->days > 0) {
            size_t to = tariff_after(days, n, i, rate->days);
            use_permit(uses, r, steps, days, i, to, times);
            i = to;
            continue;
        }
        enum phase_code phase = phase_of(steps, &days[i]);
        int64_t hours = rate->mode == MODE_SPOT ? tariff_spot_hours(rate, days[i].hours_milli) : days[i].hours_milli;
        use_add(&uses->of[r][section_of(phase)], phase, 0, hours * times);
        if (uses->shares != NULL)
            use_share(&uses->shares[r][section_of(phase)], days, i, i + 1, times, false);
        i++;
    }
}

static int add_use(struct bill *bill, const struct offer *o, const struct rate *r, const struct use *u,
                   enum section section)
{
    struct cost_line line = {
        .phase = u->first,
        .section = section,
        .sku = o->sku,
        .unit = r->unit,
        .unit_price_micros = r->unit_micros,
        .tax_code = o->sku->tax_code,
        .mode = r->mode,
        .by_card = r->per_card,
        .price = r->price,
    };
    money_wide quantity = r->days > 0 ? (money_wide)u->permits * r->quantity_milli
                                      : (money_wide)u->hours_milli * r->quantity_milli / 1000;
    if (quantity > INT64_MAX)
        return -1;
    line.quantity_milli = (int64_t)quantity;
    if (r->days > 0)
        line.unused_share = fmax(0, 1 - (double)u->hours_milli / ((double)u->permits * r->days * 24000.0));
    bill->machine_hours += (double)u->hours_milli / 1000;
    bill->spot_hours += r->mode == MODE_SPOT ? (double)u->hours_milli / 1000 : 0;
    if (costing_add(bill, line, o->tax_bp) != 0)
        return -1;
    bill->machines_net += section == SECTION_INFERENCE_RESERVE ? 0 : bill->lines[bill->n - 1].minor;
    return 0;
}

/* Rates of one kind, nodes or cards, in a row. */
static struct tariff tariff_of(const struct offer *o, bool by_card, struct rate *space)
{
    struct tariff t = {.rates = space};
    for (size_t i = 0; i < o->n_rates; i++)
        if (o->rates[i].per_card == by_card)
            space[t.n_rates++] = o->rates[i];
    return t;
}

/* Cash held back by the supplier: a share of one unit price for each unit under contract at once. */
static int64_t deposit_of(const struct rate *r, int64_t times)
{
    money_wide units = (money_wide)times * r->quantity_milli / (r->price->term_months > 1 ? r->price->term_months : 1);
    money_wide micros = units * r->unit_micros / 1000 * r->price->deposit_ppm / 1000000;
    return micros > INT64_MAX ? INT64_MAX : money_div_round(micros, MONEY_MICROS / MONEY_MINOR);
}

struct cover_job {
    struct rate rates[OFFER_RATES_MAX];
    struct tariff tariff;
    struct uses uses;
    struct tariff_cover cover;
};

static int flush_uses(const struct offer *o, const struct cover_job *job, struct bill *bill)
{
    for (size_t r = 0; r < job->tariff.n_rates; r++)
        for (int s = 0; s < SECTION_COUNT; s++)
            if (job->uses.of[r][s].any) {
                if (add_use(bill, o, &job->tariff.rates[r], &job->uses.of[r][s], (enum section)s) != 0)
                    return -1;
                if (job->uses.shares != NULL)
                    shares_divide(bill->lines[bill->n - 1].minor, &job->uses.shares[r][s], bill->shares);
            }
    return 0;
}

/* Covers one level and counts it `times` over. */
static int cover_level(struct cover_job *job, const struct tariff_day *days, size_t n, int64_t times,
                       const struct draft_step *steps, struct bill *bill)
{
    int64_t before[OFFER_RATES_MAX] = {0}, after[OFFER_RATES_MAX] = {0};
    if (n == 0)
        return 0;
    if (tariff_cover(&job->tariff, days, n, &job->cover) != 0)
        return -1;
    for (size_t r = 0; r < job->tariff.n_rates; r++)
        for (int s = 0; s < SECTION_COUNT; s++)
            before[r] += job->uses.of[r][s].permits;
    collect_uses(&job->tariff, &job->cover, steps, days, n, times, &job->uses);
    for (size_t r = 0; r < job->tariff.n_rates; r++) {
        for (int s = 0; s < SECTION_COUNT; s++)
            after[r] += job->uses.of[r][s].permits;
        if (after[r] > before[r])
            bill->deposit += deposit_of(&job->tariff.rates[r], times);
    }
    return 0;
}

/* shares: room for who uses what, or NULL. */
static void job_start(struct cover_job *job, const struct offer *o, bool by_card,
                      struct shares (*shares)[SECTION_COUNT])
{
    memset(&job->uses.of, 0, sizeof job->uses.of);
    job->uses.shares = shares;
    job->tariff = tariff_of(o, by_card, job->rates);
}

int costing_cover(const struct offer *o, bool by_card, const struct tariff_day *days, size_t n, int64_t times,
                  const struct draft_step *steps, struct bill *bill)
{
    struct cover_job job;
    job_start(&job, o, by_card, NULL);
    return cover_level(&job, days, n, times, steps, bill) != 0 ? -1 : flush_uses(o, &job, bill);
}

int costing_cover_levels(const struct offer *o, bool by_card, const struct cover_days *levels, size_t n,
                         struct bill *bill)
{
    struct cover_job job;
    job_start(&job, o, by_card, NULL);
    for (size_t i = 0; i < n; i++)
        if (cover_level(&job, levels[i].days, levels[i].n, levels[i].times, NULL, bill) != 0)
            return -1;
    return flush_uses(o, &job, bill);
}

static int bill_group(const struct build *b, const struct draft *d, const struct schedule *s, int group,
                      struct bill *bill)
{
    const struct draft_group *g = &d->groups[group];
    struct tariff_day days[TARIFF_DAYS_MAX];
    struct shares shares[OFFER_RATES_MAX][SECTION_COUNT]; /* touched only where they are asked for */
    struct cover_job job;
    int levels[DRAFT_STEPS_MAX], below = 0, n_levels = demand_levels(d, group, levels);
    if (bill->shares != NULL)
        memset(shares, 0, sizeof shares);
    job_start(&job, g->offer, g->by_card, bill->shares != NULL ? shares : NULL);
    for (int l = 0; l < n_levels; l++) {
        size_t n;
        int64_t times = levels[l] - below;
        if (demand_days(b, d, s, group, levels[l], days, TARIFF_DAYS_MAX, &n) != 0 ||
            cover_level(&job, days, n, times, d->steps, bill) != 0)
            return -1;
        below = levels[l];
    }
    return flush_uses(g->offer, &job, bill);
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

static struct span span_of(const struct draft *d, const struct schedule *s, const struct draft_extra *e)
{
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
    return r;
}

static int months_of(const struct build *b, const struct span *p)
{
    return p->last < 0 ? 0 : (int)ceil((p->last - p->first + 1) / b->a.month_days - 1e-9);
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
static void share_extra(const struct build *b, const struct draft *d, const struct schedule *s,
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
    for (int m = 0; m < months_of(b, p); m++)
        weights.paid[step_on(d, s, e, p->first + (int)(m * b->a.month_days))]++;
    shares_divide(minor, &weights, bill->shares);
}

static int bill_extra(const struct build *b, const struct draft *d, const struct schedule *s,
                      const struct draft_extra *e, struct bill *bill)
{
    struct span span = span_of(d, s, e);
    double quantity = e->quantity * (e->basis == EXTRA_PER_MONTH ? months_of(b, &span) : 1);
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
    if (catalog_tax(b->catalog, line.tax_code, b->as_of, &tax_bp) != 0)
        tax_bp = 0;
    if (costing_add(bill, line, tax_bp) != 0)
        return -1;
    if (bill->shares != NULL)
        share_extra(b, d, s, e, &span, bill);
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
    bill->deposit += r->deposit;
}

/* A share of everything above, where the caller asked for one. */
static int bill_contingency(const struct build *b, struct bill *bill)
{
    money_wide net = 0;
    int64_t tax_bp = 0, ppm = llround(b->a.contingency_share * 1e6);
    if (ppm <= 0)
        return 0;
    for (size_t i = 0; i < bill->n; i++)
        net += bill->lines[i].minor;
    if (catalog_tax(b->catalog, TAX_CODE_DEFAULT, b->as_of, &tax_bp) != 0)
        tax_bp = 0;
    struct cost_line line = {.phase = PHASE_TRAIN,
                             .section = SECTION_OPERATIONS,
                             .item = "contingency",
                             .quantity_milli = 1000,
                             .unit = UNIT_ONCE,
                             .tax_code = TAX_CODE_DEFAULT,
                             .assumption = "contingency_share"};
    line.unit_price_micros = money_div_round(net * ppm, 1000000) * (MONEY_MICROS / MONEY_MINOR);
    if (costing_add(bill, line, tax_bp) != 0)
        return -1;
    if (bill->shares != NULL) { /* as everything above is divided */
        struct shares so_far = *bill->shares;
        shares_divide(bill->lines[bill->n - 1].minor, &so_far, bill->shares);
    }
    return 0;
}

int costing_bill(const struct build *b, const struct draft *d, const struct schedule *s, struct shares *ret_shares,
                 struct bill *ret)
{
    costing_start(ret);
    ret->shares = ret_shares;
    if (ret_shares != NULL)
        *ret_shares = (struct shares){{0}, {0}};
    for (int g = 0; g < d->n_groups; g++)
        if (demand_pool(d, g) == g && bill_group(b, d, s, g, ret) != 0)
            return -1;
    for (int i = 0; i < d->n_extras; i++)
        if (bill_extra(b, d, s, &d->extras[i], ret) != 0)
            return -1;
    if (d->reserve != NULL)
        bill_reserve(d->reserve, ret);
    if (bill_contingency(b, ret) != 0)
        return -1;
    return ret->failed ? -1 : 0;
}

int costing_sum(const struct bill *bill, int64_t *ret_net, int64_t *ret_tax)
{
    int64_t net = 0, tax = 0;
    for (size_t i = 0; i < bill->n; i++)
        if (money_add(net, bill->lines[i].minor, &net) != 0 || money_add(tax, bill->lines[i].tax_minor, &tax) != 0)
            return -1;
    *ret_net = net;
    *ret_tax = tax;
    return 0;
}

int draft_reckon(struct build *b, const struct draft *d, const struct what_if *w, struct reckoning *ret)
{
    struct bill bill;
    if (draft_schedule(b, d, w, &ret->schedule) != 0 || costing_bill(b, d, &ret->schedule, NULL, &bill) != 0 ||
        costing_sum(&bill, &ret->net, &ret->tax) != 0)
        return -1;
    ret->machines_net = bill.machines_net;
    ret->deposit = bill.deposit;
    ret->spot_share = bill.machine_hours > 0 ? bill.spot_hours / bill.machine_hours : 0;
    /* Prices and load act alike on every tariff, so they need no second search. */
    double tax_share = ret->net > 0 ? (double)ret->tax / (double)ret->net : 0;
    double more =
        (double)bill.machines_net * (w->price - 1) + (d->reserve != NULL ? reserve_change(b, d->reserve, w->load) : 0);
    ret->net += (int64_t)llround(more);
    ret->tax += (int64_t)llround(more * tax_share);
    return money_add(ret->net, ret->tax, &ret->total);
}

int costing_finish(struct build *b, const struct bill *bill, struct cost *ret)
{
    *ret = (struct cost){.n_lines = bill->n, .cap_lines = bill->n, .deposit = bill->deposit};
    ret->lines = arena_array(b->arena, bill->n > 0 ? bill->n : 1, sizeof *ret->lines);
    if (ret->lines == NULL || costing_sum(bill, &ret->net, &ret->tax) != 0 ||
        money_add(ret->net, ret->tax, &ret->total) != 0)
        return -1;
    for (size_t i = 0; i < bill->n; i++) { /* in the order of phases, then as billed */
        size_t at = i;
        for (; at > 0 && ret->lines[at - 1].phase > bill->lines[i].phase; at--)
            ret->lines[at] = ret->lines[at - 1];
        ret->lines[at] = bill->lines[i];
    }
    for (size_t i = 0; i < bill->n; i++)
        ret->by_section[bill->lines[i].section] += bill->lines[i].minor;
    ret->low = ret->high = ret->total;
    return 0;
}
