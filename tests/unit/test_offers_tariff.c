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

static size_t active_days(const int64_t hours[HORIZON], const bool spot[HORIZON], struct tariff_day *days)
{
    size_t n = 0;
    for (int d = 0; d < HORIZON; d++)
        if (hours[d] > 0)
            days[n++] = (struct tariff_day){d, (int32_t)hours[d], 0, spot[d]};
    return n;
}

/* What the cover's own choices cost, walked as a bill walks them. */
static int64_t walk(const struct tariff *t, const struct tariff_cover *c, const struct tariff_day *days, size_t n)
{
    int64_t sum = 0, cost;
    for (size_t i = 0; i < n;) {
        const struct rate *r = &t->rates[tariff_choice(c, i)];
        cr_assert_eq(tariff_cost(r, days[i].hours_milli, &cost), 0);
        sum += cost;
        i = r->days > 0 ? tariff_after(days, n, i, r->days) : i + 1;
    }
    return sum;
}

Test(tariff, cheapest_cover_of_all)
{
    for (int round = 0; round < 300; round++) {
        int64_t hours[HORIZON];
        bool spot[HORIZON];
        struct tariff_day days[HORIZON];
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
        cr_assert_eq(tariff_cover(&t, days, n, 0, &cover), 0);
        cr_assert_eq(cover.cost_nano, cheapest_of_all(&t, hours, spot, 0, 0), "round %d", round);
        cr_assert_eq(walk(&t, &cover, days, n), cover.cost_nano, "round %d", round);
    }
}

/* What a longer row of days was made of serves the shorter one that ends with it, and the other way round. */
Test(tariff, days_with_a_common_end_share_the_search)
{
    for (int round = 0; round < 200; round++) {
        struct tariff_day days[400];
        struct tariff_cover shared, alone;
        struct rate rates[] = {hourly(122000000),
                               permit(MODE_MONTHLY, 30, 30000000000 + 1000000 * (int64_t)draw(60000)),
                               permit(MODE_MONTHLY, 30, 30000000000 + 1000000 * (int64_t)draw(60000)),
                               permit(MODE_ANNUAL, 365, 200000000000 + 1000000 * (int64_t)draw(400000))};
        const struct tariff t = {rates, 4};
        const size_t n = 2 + draw(398), from = 1 + draw((unsigned)n - 1);
        for (size_t i = 0, day = 0; i < n; i++, day += 1 + (draw(20) == 0 ? draw(40) : 0))
            days[i] = (struct tariff_day){(int32_t)day, (int32_t)(1000 * (1 + draw(24))), 0, false};
        cr_assert_eq(tariff_cover(&t, days, n, 0, &shared), 0);
        cr_assert_eq(tariff_cover(&t, days + from, n - from, n - from, &shared), 0);
        cr_assert_eq(tariff_cover(&t, days + from, n - from, 0, &alone), 0);
        cr_assert_eq(shared.cost_nano, alone.cost_nano, "round %d", round);
        cr_assert_eq(walk(&t, &shared, days + from, n - from), alone.cost_nano, "round %d", round);
        cr_assert_eq(tariff_cover(&t, days, n, n - from, &shared), 0);
        cr_assert_eq(tariff_cover(&t, days, n, 0, &alone), 0);
        for (size_t i = 0; i < n; i++)
            cr_assert_eq(tariff_choice(&shared, i), tariff_choice(&alone, i), "round %d day %zu", round, i);
    }
}

static int64_t single_mode(const struct rate *r, const struct tariff_day *days, size_t n)
{
    struct tariff t = {r, 1};
    struct tariff_cover c;
    return tariff_cover(&t, days, n, 0, &c) == 0 ? c.cost_nano : INT64_MAX;
}

Test(tariff, never_dearer_than_the_best_single_mode)
{
    for (int round = 0; round < 200; round++) {
        struct tariff_day days[500];
        struct tariff_cover cover;
        struct rate rates[] = {hourly(122000000),
                               permit(MODE_MONTHLY, 30, 30000000000 + 1000000 * (int64_t)draw(60000)),
                               permit(MODE_ANNUAL, 365, 200000000000 + 1000000 * (int64_t)draw(400000))};
        size_t n = 1 + draw(500);
        for (size_t i = 0, day = 0; i < n; i++, day += 1 + (draw(20) == 0 ? draw(40) : 0))
            days[i] = (struct tariff_day){(int32_t)day, (int32_t)(1000 * (1 + draw(24))), 0, false};
        struct tariff t = {rates, 3};
        cr_assert_eq(tariff_cover(&t, days, n, 0, &cover), 0);
        for (int r = 0; r < 3; r++)
            cr_expect_leq(cover.cost_nano, single_mode(&rates[r], days, n), "round %d mode %d", round, r);
    }
}

/* docs/plans.md: four days by the hour, a month, the last day by the hour. */
Test(tariff, worked_example)
{
    struct rate rates[] = {hourly(122000000), permit(MODE_MONTHLY, 30, 46000000000)};
    struct tariff t = {rates, 2};
    struct tariff_day days[35];
    struct tariff_cover cover;
    for (int d = 0; d < 35; d++)
        days[d] = (struct tariff_day){d, d < 12 ? 10000 : d < 34 ? 24000 : 2000, 0, false};
    cr_assert_eq(tariff_cover(&t, days, 35, 0, &cover), 0);
    cr_expect_eq(cover.cost_nano, (int64_t)(46000 + 42 * 122) * 1000000000);
    cr_expect_eq(tariff_choice(&cover, 4), 1, "the month begins on the fifth day");
    cr_expect_eq(tariff_choice(&cover, 3), 0);
    cr_expect_eq(tariff_choice(&cover, 34), 0);
}

/* An annual baseline with hourly bursts is what falls out when a machine works all year with peaks above. */
Test(tariff, annual_baseline_and_elastic_burst)
{
    struct rate rates[] = {hourly(100000000), permit(MODE_MONTHLY, 30, 40000000000),
                           permit(MODE_ANNUAL, 365, 350000000000)};
    struct tariff t = {rates, 3};
    struct tariff_day all_year[365], burst[5];
    struct tariff_cover cover;
    for (int d = 0; d < 365; d++)
        all_year[d] = (struct tariff_day){d, 24000, 0, false};
    for (int d = 0; d < 5; d++)
        burst[d] = (struct tariff_day){70 * d, 20000, 0, false};
    cr_assert_eq(tariff_cover(&t, all_year, 365, 0, &cover), 0);
    cr_expect_eq(tariff_choice(&cover, 0), 2);
    cr_expect_eq(cover.cost_nano, (int64_t)350000000000 * 1000);
    cr_assert_eq(tariff_cover(&t, burst, 5, 0, &cover), 0);
    for (int i = 0; i < 5; i++)
        cr_expect_eq(tariff_choice(&cover, i), 0, "day %d is paid by the hour", i);
}

Test(tariff, spot_only_where_it_may_be)
{
    struct rate rates[] = {hourly(100000000),
                           {.mode = MODE_SPOT, .unit_micros = 40000000, .quantity_milli = 1000, .spot_overhead = 0.1}};
    struct tariff t = {rates, 2};
    struct tariff_day days[] = {{0, 24000, 0, true}, {1, 24000, 0, false}};
    struct tariff_cover cover;
    cr_assert_eq(tariff_cover(&t, days, 2, 0, &cover), 0);
    cr_expect_eq(tariff_choice(&cover, 0), 1);
    cr_expect_eq(tariff_choice(&cover, 1), 0);
    cr_expect_eq(cover.cost_nano, (int64_t)(26400) * 40000000 + (int64_t)24000 * 100000000);
}

Test(tariff, refuses_what_cannot_be_paid)
{
    struct tariff_cover cover;
    struct tariff_day day = {0, 24000, 0, false};
    struct rate spot = {.mode = MODE_SPOT, .unit_micros = 1, .quantity_milli = 1000};
    struct rate dear = hourly(INT64_MAX / 1000);
    cr_expect_neq(tariff_cover(&(struct tariff){NULL, 0}, &day, 1, 0, &cover), 0, "no rates");
    cr_expect_neq(tariff_cover(&(struct tariff){&spot, 1}, &day, 1, 0, &cover), 0, "spot that may not be used");
    cr_expect_neq(tariff_cover(&(struct tariff){&dear, 1}, &day, 1, 0, &cover), 0, "past int64");
    cr_expect_eq(tariff_cover(&(struct tariff){&dear, 1}, &day, 0, 0, &cover), 0);
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
            struct tariff_day days[JOINT_DAYS];
            struct tariff_cover cover;
            size_t n = 0;
            for (int d = 0; d < JOINT_DAYS; d++)
                if (units[d] >= k)
                    days[n++] = (struct tariff_day){d, (int32_t)hours[d], 0, false};
            cr_assert_eq(tariff_cover(&t, days, n, 0, &cover), 0);
            levels += cover.cost_nano;
        }
        const int none[JOINT_UNITS] = {0};
        cr_expect_eq(levels, cheapest_together(&t, units, hours, 0, none, 0), "round %d", round);
    }
}
