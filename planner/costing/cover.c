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

enum section cover_permit_section(const struct draft_step *steps, const struct tariff_day *days, size_t from, size_t to)
{
    const enum section only = section_of(phase_of(steps, &days[from]));
    for (size_t i = from + 1; i < to; i++)
        if (days[i].tag != days[i - 1].tag && section_of(phase_of(steps, &days[i])) != only)
            return SECTION_COMPUTE;
    return only;
}

/* A permit belongs to the first phase that uses it. */
static void use_permit(struct cover *c, int r, const struct tariff_day *days, size_t from, size_t to, int64_t times)
{
    int64_t all = 0;
    enum section only = cover_permit_section(c->steps, days, from, to);
    for (size_t i = from; i < to; i++)
        all += days[i].hours_milli;
    use_add(&c->uses[r][only], phase_of(c->steps, &days[from]), times, all * times);
    c->permits[r] += times;
    if (c->bill->shares != NULL)
        use_share(&c->shares[r][only], days, from, to, times, true);
}

static void collect_uses(struct cover *c, const struct tariff_day *days, size_t n, int64_t times)
{
    for (size_t i = 0; i < n;) {
        int r = tariff_choice(&c->cheapest, i);
        const struct rate *rate = &c->rates[r];
        if (rate->days > 0) {
            size_t to = tariff_after(days, n, i, rate->days);
            use_permit(c, r, days, i, to, times);
            i = to;
            continue;
        }
        enum phase_code phase = phase_of(c->steps, &days[i]);
        int64_t hours = rate->mode == MODE_SPOT ? tariff_spot_hours(rate, days[i].hours_milli) : days[i].hours_milli;
        use_add(&c->uses[r][section_of(phase)], phase, 0, hours * times);
        if (c->bill->shares != NULL)
            use_share(&c->shares[r][section_of(phase)], days, i, i + 1, times, false);
        i++;
    }
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
                                      : (money_wide)u->hours_milli * r->quantity_milli / 1000;
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

int cover_level(struct cover *c, const struct tariff_day *days, size_t n, size_t known, int64_t times)
{
    int64_t before[OFFER_RATES_MAX];
    if (n == 0)
        return 0;
    if (tariff_cover(&c->tariff, days, n, known, &c->cheapest) != 0)
        return -1;
    memcpy(before, c->permits, sizeof before);
    collect_uses(c, days, n, times);
    for (size_t r = 0; r < c->tariff.n_rates; r++)
        if (c->permits[r] > before[r])
            bill_hold(c->bill, deposit_of(&c->rates[r], times));
    return 0;
}

/* Covers the days and counts what each rate is used for. */
static int fill_memo(struct cover *c, struct cover_memo *m)
{
    struct tariff_day days[TARIFF_DAYS_MAX];
    for (size_t i = 0; i < m->n; i++)
        days[i] = (struct tariff_day){(int32_t)i, m->hours_milli, 0, false};
    memset(m->permits, 0, sizeof m->permits);
    memset(m->hours, 0, sizeof m->hours);
    if (tariff_cover(&c->tariff, days, m->n, 0, &c->cheapest) != 0)
        return -1;
    for (size_t i = 0, to; i < m->n; i = to) {
        const int r = tariff_choice(&c->cheapest, i), length = c->rates[r].days;
        to = length > 0 ? tariff_after(days, m->n, i, length) : i + 1;
        m->permits[r] += length > 0;
        m->hours[r] += (int64_t)(to - i) * m->hours_milli;
    }
    return 0;
}

int cover_equal_days(struct cover *c, size_t n, int32_t hours_milli, int64_t times, struct cover_memo *memos)
{
    struct cover_memo own = {0}, *m = &own;
    const bool by_card = c->tariff.n_rates > 0 && c->rates[0].per_card;
    if (n == 0 || times <= 0)
        return 0;
    if (memos != NULL)
        m = &memos[(c->offer->sku->first_price * 31 + n * 7 + (size_t)hours_milli / 500 + by_card) % COVER_MEMOS];
    if (m->offer != c->offer || m->by_card != by_card || m->n != n || m->hours_milli != hours_milli) {
        *m = (struct cover_memo){.by_card = by_card, .n = n, .hours_milli = hours_milli};
        if (n > TARIFF_DAYS_MAX || fill_memo(c, m) != 0)
            return -1;
        m->offer = c->offer;
    }
    for (size_t r = 0; r < c->tariff.n_rates; r++) {
        if (m->permits[r] == 0 && m->hours[r] == 0)
            continue;
        int64_t permits, hours;
        if (__builtin_mul_overflow(m->permits[r], times, &permits) ||
            __builtin_mul_overflow(m->hours[r], times, &hours) || permits > INT64_MAX / 4 || hours > INT64_MAX / 4)
            return -1;
        use_add(&c->uses[r][SECTION_INFERENCE_RESERVE], PHASE_SERVE, permits, hours);
        c->permits[r] += permits;
        if (m->permits[r] > 0)
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

int cover_days(const struct offer *o, bool by_card, const struct tariff_day *days, size_t n, int64_t times,
               const struct draft_step *steps, struct bill *bill)
{
    struct cover c;
    cover_start(&c, o, by_card, steps, bill);
    return cover_level(&c, days, n, 0, times) != 0 ? -1 : cover_end(&c);
}
