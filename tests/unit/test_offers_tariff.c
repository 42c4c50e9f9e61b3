/* Tariffs: the cover is the cheapest there is (against every other one), whatever the days, permits and spot. */
#include <criterion/criterion.h>
#include <limits.h>

#include "planner/market/tariff.h"

enum { HORIZON = 14 };

static uint32_t seed = 20261130;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static struct rate hourly(int64_t price)
{
    return (struct rate){.mode = MODE_HOURLY, .unit_micros = price, .quantity_milli = 1000};
}

static struct rate permit(enum pricing_mode mode, int days, int64_t price)
{
    return (struct rate){.mode = mode, .days = days, .unit_micros = price, .quantity_milli = 1000};
}

/* Every way of paying for the days from `day` on, of which those before `paid_until` are paid; permits may begin on
 * any day, worked or not. */
static int64_t cheapest_of_all(const struct tariff *t, const int64_t hours[HORIZON], const bool spot[HORIZON], int day,
                               int paid_until)
{
    if (day == HORIZON)
        return 0;
    int64_t best = INT64_MAX / 4;
    if (hours[day] == 0 || day < paid_until)
        best = cheapest_of_all(t, hours, spot, day + 1, paid_until);
    for (size_t r = 0; r < t->n_rates; r++) {
        const struct rate *rate = &t->rates[r];
        int64_t cost, rest;
        if (day < paid_until || (rate->mode == MODE_SPOT && !spot[day]))
            continue;
        if (tariff_cost(rate, hours[day], &cost) != 0) /* an assertion a node would take minutes */
            cr_assert_fail("no cost of %lld hours", (long long)hours[day]);
        rest = cheapest_of_all(t, hours, spot, rate->days > 0 ? day : day + 1, rate->days > 0 ? day + rate->days : 0);
        if (rate->days == 0 && hours[day] == 0)
            continue;
        best = cost + rest < best ? cost + rest : best;
    }
    return best;
}

static size_t active_days(const int64_t hours[HORIZON], const bool spot[HORIZON], struct tariff_run *days)
{
    size_t n = 0;
    for (int d = 0; d < HORIZON; d++)
        if (hours[d] > 0)
            days[n++] = (struct tariff_run){d, 1, (int32_t)hours[d], 0, spot[d]};
    return n;
}

/* What the cover's own choices cost, walked as a bill walks them. */
static int64_t walk(const struct tariff *t, const struct tariff_cover *c, const struct tariff_run *runs, size_t n)
{
    int64_t sum = 0, cost;
    struct tariff_part part = {0};
    while (tariff_next(t, runs, n, c, &part)) {
        const struct rate *r = &t->rates[part.rate];
        cr_assert_eq(tariff_cost(r, runs[part.run].hours_milli, &cost), 0);
        sum += r->days > 0 ? cost : cost * tariff_days(&runs[part.run], &part);
    }
    return sum;
}

/* Which rate pays for a day: the hour's, or that of the permit it lies in. Unused days: -1. */
static void rate_of_days(const struct tariff *t, const struct tariff_cover *c, const struct tariff_run *runs, size_t n,
                         int *ret, int max)
{
    struct tariff_part part = {0};
    for (int d = 0; d < max; d++)
        ret[d] = -1;
    while (tariff_next(t, runs, n, c, &part))
        for (size_t i = part.run; i < n && runs[i].first < part.end; i++)
            for (int d = runs[i].first; d < runs[i].first + runs[i].n; d++)
                if (d >= part.first && d < part.end)
                    ret[d] = part.rate;
}

Test(tariff, cheapest_cover_of_all)
{
    for (int round = 0; round < 300; round++) {
        int64_t hours[HORIZON];
        bool spot[HORIZON];
        struct tariff_run days[HORIZON];
        struct tariff_cover cover;
        struct rate rates[4] = {hourly(1000 + draw(9000)),
                                permit(MODE_MONTHLY, 2 + (int)draw(3), 20000 + draw(300000)),
                                permit(MODE_ANNUAL, 5 + (int)draw(4), 50000 + draw(600000)),
                                {.mode = MODE_SPOT, .unit_micros = 500 + draw(6000), .quantity_milli = 1000}};
        rates[3].spot_overhead = draw(30) / 100.0;
        struct tariff t = {rates, 2 + draw(3)};
        for (int d = 0; d < HORIZON; d++) {
            hours[d] = draw(4) == 0 ? 0 : 1000 * (int64_t)(1 + draw(24));
            spot[d] = draw(2);
        }
        size_t n = active_days(hours, spot, days);
        cr_assert_eq(tariff_cover(&t, days, n, &cover), 0);
        cr_assert_eq(cover.cost_nano, cheapest_of_all(&t, hours, spot, 0, 0), "round %d", round);
        cr_assert_eq(walk(&t, &cover, days, n), cover.cost_nano, "round %d", round);
    }
}

enum { LONG = 900 };

/* The search from day to day: of equals the hour, then the permit listed first. Fills in the rate of each day. */
static int64_t day_by_day(const struct tariff *t, const int64_t hours[LONG], int *ret_rate)
{
    static int64_t best[LONG + 1];
    static int choice[LONG];
    best[LONG] = 0;
    for (int d = LONG; d-- > 0;) {
        best[d] = hours[d] == 0 ? best[d + 1] : INT64_MAX;
        choice[d] = -1;
        for (size_t r = 0; r < t->n_rates && hours[d] > 0; r++) {
            const int after = t->rates[r].days > 0 ? d + t->rates[r].days : d + 1;
            int64_t cost;
            cr_assert_eq(tariff_cost(&t->rates[r], hours[d], &cost), 0);
            cost += best[after < LONG ? after : LONG];
            if (cost < best[d]) {
                best[d] = cost;
                choice[d] = (int)r;
            }
        }
    }
    for (int d = 0, end; d < LONG; d = end) {
        end = choice[d] >= 0 && t->rates[choice[d]].days > 0 ? d + t->rates[choice[d]].days : d + 1;
        for (int i = d; i < end && i < LONG; i++)
            ret_rate[i] = hours[i] > 0 ? choice[d] : -1;
    }
    return best[0];
}

/* A few steps of some weeks each, of as many hours a day, with days without use between some of them; steps are cut
 * into runs at random, for it is all the same where a run ends. */
static size_t draw_steps(int64_t hours[LONG], struct tariff_run *runs)
{
    size_t n = 0;
    for (int d = 0; d < LONG;) {
        const int days = 1 + (int)draw(120), end = d + days < LONG ? d + days : LONG;
        const int64_t of_step = draw(5) == 0 ? 0 : draw(2) ? 24000 : 1000 * (int64_t)(1 + draw(24));
        for (int from = d; d < end; d++) {
            hours[d] = of_step;
            if (of_step == 0 || (d > from && draw(30) != 0))
                continue;
            runs[n++] = (struct tariff_run){.first = d, .hours_milli = (int32_t)of_step};
        }
        for (size_t i = n; of_step > 0 && i-- > 0 && runs[i].n == 0;)
            runs[i].n = (i + 1 < n ? runs[i + 1].first : end) - runs[i].first;
    }
    return n;
}

/* Months, longer terms and hours at prices near each other, and often equal: every turn there is. */
Test(tariff, steps_are_covered_as_day_by_day)
{
    static int64_t hours[LONG];
    static struct tariff_run runs[LONG];
    static struct tariff_cover cover;
    static int rates_by_day[LONG], rates_by_run[LONG];
    for (int round = 0; round < 3000; round++) {
        const int64_t hour = 1000 * (int64_t)(1 + draw(9));
        struct rate rates[] = {hourly(hour),
                               permit(MODE_MONTHLY, 30, hour * 24 * (int64_t)(10 + draw(21)) + draw(2) * draw(9000)),
                               permit(MODE_MONTHLY, 90, hour * 24 * (int64_t)(20 + draw(71)) + draw(2) * draw(9000)),
                               permit(MODE_ANNUAL, 365, hour * 24 * (int64_t)(90 + draw(276)) + draw(2) * draw(9000)),
                               permit(MODE_MONTHLY, 7, hour * 24 * (int64_t)(1 + draw(7)))};
        const size_t skipped = draw(3) == 0;
        const struct tariff t = {rates + skipped, 2 + draw(4 - (unsigned)skipped)};
        const size_t n = draw_steps(hours, runs);
        cr_assert_eq(tariff_cover(&t, runs, n, &cover), 0);
        cr_assert_eq(cover.cost_nano, day_by_day(&t, hours, rates_by_day), "round %d", round);
        cr_assert_eq(walk(&t, &cover, runs, n), cover.cost_nano, "round %d", round);
        rate_of_days(&t, &cover, runs, n, rates_by_run, LONG);
        for (int d = 0; d < LONG; d++)
            cr_assert_eq(rates_by_run[d], rates_by_day[d], "round %d day %d", round, d);
    }
}

static int64_t single_mode(const struct rate *r, const struct tariff_run *days, size_t n)
{
    struct tariff t = {r, 1};
    struct tariff_cover c;
    return tariff_cover(&t, days, n, &c) == 0 ? c.cost_nano : INT64_MAX;
}

Test(tariff, never_dearer_than_the_best_single_mode)
{
    for (int round = 0; round < 200; round++) {
        struct tariff_run days[500];
        struct tariff_cover cover;
        struct rate rates[] = {hourly(122000000),
                               permit(MODE_MONTHLY, 30, 30000000000 + 1000000 * (int64_t)draw(60000)),
                               permit(MODE_ANNUAL, 365, 200000000000 + 1000000 * (int64_t)draw(400000))};
        size_t n = 1 + draw(500);
        for (size_t i = 0, day = 0; i < n; i++, day += 1 + (draw(20) == 0 ? draw(40) : 0))
            days[i] = (struct tariff_run){(int32_t)day, 1, (int32_t)(1000 * (1 + draw(24))), 0, false};
        struct tariff t = {rates, 3};
        cr_assert_eq(tariff_cover(&t, days, n, &cover), 0);
        for (int r = 0; r < 3; r++)
            cr_expect_leq(cover.cost_nano, single_mode(&rates[r], days, n), "round %d mode %d", round, r);
    }
}

/* docs/plans.md: four days by the hour, a month, the last day by the hour. */
Test(tariff, worked_example)
{
    struct rate rates[] = {hourly(122000000), permit(MODE_MONTHLY, 30, 46000000000)};
    struct tariff t = {rates, 2};
    const struct tariff_run runs[] = {{0, 12, 10000, 0, false}, {12, 22, 24000, 0, false}, {34, 1, 2000, 0, false}};
    struct tariff_cover cover;
    int rate[35];
    cr_assert_eq(tariff_cover(&t, runs, 3, &cover), 0);
    cr_expect_eq(cover.cost_nano, (int64_t)(46000 + 42 * 122) * 1000000000);
    rate_of_days(&t, &cover, runs, 3, rate, 35);
    cr_expect_eq(rate[4], 1, "the month begins on the fifth day");
    cr_expect_eq(rate[3], 0);
    cr_expect_eq(rate[34], 0);
}

/* An annual baseline with hourly bursts is what falls out when a machine works all year with peaks above. */
Test(tariff, annual_baseline_and_elastic_burst)
{
    struct rate rates[] = {hourly(100000000), permit(MODE_MONTHLY, 30, 40000000000),
                           permit(MODE_ANNUAL, 365, 350000000000)};
    struct tariff t = {rates, 3};
    const struct tariff_run all_year = {0, 365, 24000, 0, false};
    struct tariff_run burst[5];
    struct tariff_cover cover;
    int rate[365];
    for (int d = 0; d < 5; d++)
        burst[d] = (struct tariff_run){70 * d, 1, 20000, 0, false};
    cr_assert_eq(tariff_cover(&t, &all_year, 1, &cover), 0);
    rate_of_days(&t, &cover, &all_year, 1, rate, 1);
    cr_expect_eq(rate[0], 2);
    cr_expect_eq(cover.cost_nano, (int64_t)350000000000 * 1000);
    cr_assert_eq(tariff_cover(&t, burst, 5, &cover), 0);
    rate_of_days(&t, &cover, burst, 5, rate, 365);
    for (int i = 0; i < 5; i++)
        cr_expect_eq(rate[70 * i], 0, "day %d is paid by the hour", i);
}

Test(tariff, spot_only_where_it_may_be)
{
    struct rate rates[] = {hourly(100000000),
                           {.mode = MODE_SPOT, .unit_micros = 40000000, .quantity_milli = 1000, .spot_overhead = 0.1}};
    struct tariff t = {rates, 2};
    struct tariff_run days[] = {{0, 1, 24000, 0, true}, {1, 1, 24000, 0, false}};
    struct tariff_cover cover;
    int rate[2];
    cr_assert_eq(tariff_cover(&t, days, 2, &cover), 0);
    rate_of_days(&t, &cover, days, 2, rate, 2);
    cr_expect_eq(rate[0], 1);
    cr_expect_eq(rate[1], 0);
    cr_expect_eq(cover.cost_nano, (int64_t)(26400) * 40000000 + (int64_t)24000 * 100000000);
}

Test(tariff, refuses_what_cannot_be_paid)
{
    struct tariff_cover cover;
    struct tariff_run day = {0, 1, 24000, 0, false}, too_long = {0, TARIFF_DAYS_MAX + 1, 24000, 0, false};
    struct rate spot = {.mode = MODE_SPOT, .unit_micros = 1, .quantity_milli = 1000};
    struct rate dear = hourly(INT64_MAX / 1000), near = hourly(INT64_MAX / 24000 / 8);
    cr_expect_neq(tariff_cover(&(struct tariff){NULL, 0}, &day, 1, &cover), 0, "no rates");
    cr_expect_neq(tariff_cover(&(struct tariff){&spot, 1}, &day, 1, &cover), 0, "spot that may not be used");
    cr_expect_neq(tariff_cover(&(struct tariff){&dear, 1}, &day, 1, &cover), 0, "past int64");
    cr_expect_neq(tariff_cover(&(struct tariff){&near, 1}, &too_long, 1, &cover), 0,
                  "more days than there are prices for");
    struct tariff_run some = {0, 100, 24000, 0, false};
    cr_expect_neq(tariff_cover(&(struct tariff){&near, 1}, &some, 1, &cover), 0, "all days together past int64");
    cr_expect_eq(tariff_cover(&(struct tariff){&near, 1}, &day, 1, &cover), 0);
    cr_expect_eq(tariff_cover(&(struct tariff){&dear, 1}, &day, 0, &cover), 0);
    cr_expect_eq(cover.cost_nano, 0, "no days, no cost");
}

enum { JOINT_DAYS = 8, JOINT_UNITS = 3 };

/* Every way of paying for several equal units at once, whoever of them a permit is for: permits are bought on any day,
 * units without one are paid by the hour. left: days that each running permit has still to go. */
static int64_t cheapest_together(const struct tariff *t, const int *units, const int64_t *hours, int day,
                                 const int left[JOINT_UNITS], int n_left)
{
    if (day == JOINT_DAYS)
        return 0;
    int64_t best = INT64_MAX, hour, month, year;
    const int open = units[day] > n_left ? units[day] - n_left : 0;
    cr_assert(tariff_cost(&t->rates[0], hours[day], &hour) == 0 && tariff_cost(&t->rates[1], 0, &month) == 0 &&
              tariff_cost(&t->rates[2], 0, &year) == 0);
    for (int months = 0; months <= open; months++)
        for (int years = 0; years <= open - months; years++) {
            int next[JOINT_UNITS], n = 0;
            for (int i = 0; i < n_left + months + years; i++) {
                const int days = i < n_left ? left[i] : i < n_left + months ? t->rates[1].days : t->rates[2].days;
                if (days > 1)
                    next[n++] = days - 1;
            }
            const int64_t cost = months * month + years * year + (open - months - years) * hour +
                                 cheapest_together(t, units, hours, day + 1, next, n);
            best = cost < best ? cost : best;
        }
    return best;
}

/* A plan's machines grow with its phases: what the k-th of them does is covered on its own, and no way of paying for
 * all of them together is cheaper. */
Test(tariff, covers_of_the_levels_are_the_cheapest_together, .timeout = 60)
{
    for (int round = 0; round < 60; round++) {
        int units[JOINT_DAYS];
        int64_t hours[JOINT_DAYS], levels = 0;
        const struct rate rates[3] = {hourly(1000 + draw(9000)),
                                      permit(MODE_MONTHLY, 2 + (int)draw(2), 20000 + draw(200000)),
                                      permit(MODE_ANNUAL, 4 + (int)draw(3), 50000 + draw(400000))};
        const struct tariff t = {rates, 3};
        for (int d = 0, now = 1; d < JOINT_DAYS; d++) {
            now = now < JOINT_UNITS && draw(3) == 0 ? now + 1 : now;
            units[d] = now;
            hours[d] = 1000 * (int64_t)(1 + draw(24));
        }
        for (int k = 1; k <= JOINT_UNITS; k++) {
            struct tariff_run days[JOINT_DAYS];
            struct tariff_cover cover;
            size_t n = 0;
            for (int d = 0; d < JOINT_DAYS; d++)
                if (units[d] >= k)
                    days[n++] = (struct tariff_run){d, 1, (int32_t)hours[d], 0, false};
            cr_assert_eq(tariff_cover(&t, days, n, &cover), 0);
            levels += cover.cost_nano;
        }
        const int none[JOINT_UNITS] = {0};
        cr_expect_eq(levels, cheapest_together(&t, units, hours, 0, none, 0), "round %d", round);
    }
}
