/* cover.c — see cover.h. */
#include "planner/costing/cover.h"

#include <math.h>
#include <string.h>

#include "base/money.h"

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

static void use_add(struct cover_use *u, enum phase_code phase, int64_t permits, int64_t hours_milli)
{
    u->first = !u->any || phase < u->first ? phase : u->first;
    u->any = true;
    u->permits += permits;
    u->hours_milli += hours_milli;
}

static enum phase_code phase_of(const struct draft_step *steps, const struct tariff_run *run)
{
    return steps != NULL ? steps[run->tag].phase : PHASE_SERVE;
}

enum section cover_permit_section(const struct draft_step *steps, const struct tariff_run *runs, size_t n,
                                  const struct tariff_part *permit)
{
    const enum section only = section_of(phase_of(steps, &runs[permit->run]));
    for (size_t i = permit->run + 1; i < n && runs[i].first < permit->end; i++)
        if (section_of(phase_of(steps, &runs[i])) != only)
            return SECTION_COMPUTE;
    return only;
}

/* A permit belongs to the first phase that uses it; it is used by the steps of its days and paid by its first. */
static void use_permit(struct cover *c, const struct tariff_run *runs, size_t n, const struct tariff_part *p,
                       int64_t times)
{
    int64_t all = 0;
    const enum section only = cover_permit_section(c->steps, runs, n, p);
    struct shares *shares = c->bill->shares != NULL ? &c->shares[p->rate][only] : NULL;
    for (size_t i = p->run; i < n && runs[i].first < p->end; i++) {
        const int64_t hours = (int64_t)tariff_days(&runs[i], p) * runs[i].hours_milli;
        all += hours;
        if (shares != NULL)
            shares->used[runs[i].tag] += hours * times;
    }
    use_add(&c->uses[p->rate][only], phase_of(c->steps, &runs[p->run]), times, all * times);
    c->permits[p->rate] += times;
    if (shares != NULL)
        shares->paid[runs[p->run].tag] += times;
}

/* Hours of a rate are used and paid by the step of their days. */
static void use_hours(struct cover *c, const struct tariff_run *run, const struct tariff_part *p, int64_t times)
{
    const struct rate *rate = &c->rates[p->rate];
    const enum phase_code phase = phase_of(c->steps, run);
    const int64_t days = tariff_days(run, p) * times, used = days * run->hours_milli;
    const int64_t a_day = rate->mode == MODE_SPOT ? tariff_spot_hours(rate, run->hours_milli) : run->hours_milli;
    use_add(&c->uses[p->rate][section_of(phase)], phase, 0, a_day * days);
    if (c->bill->shares == NULL)
        return;
    struct shares *shares = &c->shares[p->rate][section_of(phase)];
    shares->used[run->tag] += used;
    shares->paid[run->tag] += used;
}

static int add_use(struct bill *bill, const struct offer *o, const struct rate *r, const struct cover_use *u,
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
                                      : money_thousandth(u->hours_milli, r->quantity_milli);
    if (quantity > INT64_MAX)
        return -1;
    line.quantity_milli = (int64_t)quantity;
    if (r->days > 0)
        line.unused_share = fmax(0, 1 - (double)u->hours_milli / ((double)u->permits * r->days * 24000.0));
    bill->machine_hours += (double)u->hours_milli / 1000;
    bill->spot_hours += r->mode == MODE_SPOT ? (double)u->hours_milli / 1000 : 0;
    if (bill_add(bill, line, o->tax_bp) != 0)
        return -1;
    bill->machines_net += section == SECTION_INFERENCE_RESERVE ? 0 : bill->lines[bill->n - 1].minor;
    return 0;
}

/* Cash held back by the supplier: a share of one unit price for each unit under contract at once. */
static int64_t deposit_of(const struct rate *r, int64_t times)
{
    if (r->price->deposit_ppm == 0)
        return 0;
    money_wide units = (money_wide)times * r->quantity_milli / (r->price->term_months > 1 ? r->price->term_months : 1);
    money_wide micros = units * r->unit_micros / 1000 * r->price->deposit_ppm / 1000000;
    return micros > INT64_MAX ? INT64_MAX : money_div_round(micros, MONEY_MICROS / MONEY_MINOR);
}

struct tariff cover_tariff(const struct offer *o, bool by_card, struct rate *space)
{
    struct tariff t = {.rates = space};
    for (size_t i = 0; i < o->n_rates; i++)
        if (o->rates[i].per_card == by_card)
            space[t.n_rates++] = o->rates[i];
    return t;
}

void cover_start(struct cover *c, const struct offer *o, bool by_card, const struct draft_step *steps,
                 struct bill *bill)
{
    c->offer = o;
    c->steps = steps;
    c->bill = bill;
    c->tariff = cover_tariff(o, by_card, c->rates);
    memset(c->permits, 0, sizeof c->permits);
    memset(c->uses, 0, c->tariff.n_rates * sizeof *c->uses);
    if (bill->shares != NULL)
        memset(c->shares, 0, c->tariff.n_rates * sizeof *c->shares);
}

int cover_level(struct cover *c, const struct tariff_run *runs, size_t n, int64_t times)
{
    int64_t before[OFFER_RATES_MAX];
    struct tariff_part part = {.run = 0};
    if (tariff_cover(&c->tariff, runs, n, &c->cheapest) != 0)
        return -1;
    memcpy(before, c->permits, sizeof before);
    while (tariff_next(&c->tariff, runs, n, &c->cheapest, &part)) {
        if (c->rates[part.rate].days > 0)
            use_permit(c, runs, n, &part, times);
        else
            use_hours(c, &runs[part.run], &part, times);
    }
    for (size_t r = 0; r < c->tariff.n_rates; r++)
        if (c->permits[r] > before[r])
            bill_hold(c->bill, deposit_of(&c->rates[r], times));
    return 0;
}

/* What one unit takes of each rate. */
struct taken {
    int64_t permits[OFFER_RATES_MAX], hours_milli[OFFER_RATES_MAX];
};

static int take_of_one(struct cover *c, const struct tariff_run *run, struct taken *ret)
{
    struct tariff_part part = {.run = 0};
    memset(ret, 0, sizeof *ret);
    if (tariff_cover(&c->tariff, run, 1, &c->cheapest) != 0)
        return -1;
    while (tariff_next(&c->tariff, run, 1, &c->cheapest, &part)) {
        ret->permits[part.rate] += c->rates[part.rate].days > 0;
        ret->hours_milli[part.rate] += (int64_t)tariff_days(run, &part) * run->hours_milli;
    }
    return 0;
}

int cover_equal_days(struct cover *c, size_t n, int32_t hours_milli, int64_t times)
{
    struct taken one;
    if (n == 0 || times <= 0)
        return 0;
    const struct tariff_run all = {.n = n > TARIFF_DAYS_MAX ? INT32_MAX : (int32_t)n, .hours_milli = hours_milli};
    if (take_of_one(c, &all, &one) != 0)
        return -1;
    for (size_t r = 0; r < c->tariff.n_rates; r++) {
        int64_t permits, hours;
        if (one.permits[r] == 0 && one.hours_milli[r] == 0)
            continue;
        if (__builtin_mul_overflow(one.permits[r], times, &permits) ||
            __builtin_mul_overflow(one.hours_milli[r], times, &hours) || permits > INT64_MAX / 4 ||
            hours > INT64_MAX / 4)
            return -1;
        use_add(&c->uses[r][SECTION_INFERENCE_RESERVE], PHASE_SERVE, permits, hours);
        c->permits[r] += permits;
        if (permits > 0)
            bill_hold(c->bill, deposit_of(&c->rates[r], times));
    }
    return 0;
}

int cover_end(struct cover *c)
{
    for (size_t r = 0; r < c->tariff.n_rates; r++)
        for (int s = 0; s < SECTION_COUNT; s++) {
            if (!c->uses[r][s].any)
                continue;
            if (add_use(c->bill, c->offer, &c->rates[r], &c->uses[r][s], (enum section)s) != 0)
                return -1;
            if (c->bill->shares != NULL)
                shares_divide(c->bill->lines[c->bill->n - 1].minor, &c->shares[r][s], c->bill->shares);
        }
    return 0;
}

int cover_runs(const struct offer *o, bool by_card, const struct tariff_run *runs, size_t n, int64_t times,
               const struct draft_step *steps, struct bill *bill)
{
    struct cover c;
    cover_start(&c, o, by_card, steps, bill);
    return cover_level(&c, runs, n, times) != 0 ? -1 : cover_end(&c);
}
