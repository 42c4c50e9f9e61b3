/* own_hardware: three years of buying against renting the same power, reckoned by hand beside the code. */
#include <criterion/criterion.h>
#include <math.h>

#include "planner/advice/ownership.h"

static const struct gpu card = {.id = "a100-sxm4-80g", .name = "A100-80G-SXM4", .vendor = "NVIDIA", .tdp_w = 400};
static const struct purchase_price machine = {
    .gpu = &card, .gpus_per_server = 8, .micros = 1150000000000, .currency = "CNY", .source = "test"};
static const struct ownership_terms terms = {.years = 3,
                                             .month_hours = 730,
                                             .hosting_per_kw_month = 450,
                                             .power_per_kwh = 0.75,
                                             .pue = 1.35,
                                             .server_overhead_share = 0.6,
                                             .power_share_idle = 0.3,
                                             .maintenance_share = 0.05,
                                             .staff_share = 0.2,
                                             .engineer_per_year = 300000,
                                             .residual_share = 0.15,
                                             .utilisation = 0.5};

Test(ownership, three_year_cost_is_the_sum_of_its_parts)
{
    int64_t got;
    cr_assert_eq(ownership_owned(&terms, &machine, 1, 1.0, 1000000, &got), 0);
    /* purchase less residual 977,500; maintenance 172,500; hosting 5.12 kW x 36 x 450 = 82,944;
     * power 5.12 x 1.35 x 26,280 h = 181,647.36 kWh x 0.75 = 136,235.52; staff 0.2 x 3 x 300,000 = 180,000 */
    cr_expect_eq(got, 154917952, "%lld", (long long)got);
    cr_assert_eq(ownership_owned(&terms, &machine, 2, 1.0, 1000000, &got), 0);
    cr_expect_eq(got, 2 * 154917952, "%lld", (long long)got);
    cr_assert_eq(ownership_owned(&terms, &machine, 1, 1.0, 140000, &got), 0); /* in another currency at 0.14 */
    cr_expect_eq(got, 21688513, "%lld", (long long)got);
}

Test(ownership, rented_is_hourly_when_idle_and_monthly_when_full)
{
    const struct ownership_rent rent = {.hour = 1000, .month = 500000}; /* minor: 10 yuan, 5,000 yuan a card */
    cr_expect_float_eq(ownership_rented(&terms, &rent, 8, 0.1), 1000.0 * 2628 * 8, 1);
    cr_expect_float_eq(ownership_rented(&terms, &rent, 8, 1.0), 500000.0 * 36 * 8, 1);
    const struct ownership_rent with_year = {.hour = 1000, .month = 500000, .year = 5000000},
                                only_years = {.year = 5000000};
    cr_expect_float_eq(ownership_rented(&terms, &with_year, 8, 1.0), 500000.0 * 36 * 8, 1, "monthly where full");
    cr_expect_float_eq(ownership_prepaid(&terms, &with_year, 8), 5000000.0 * 3 * 8, 1);
    cr_expect_float_eq(ownership_rented(&terms, &only_years, 8, 1.0), 5000000.0 * 3 * 8, 1);
}

/* Renting by the hour: the line through the origin meets owning where the formula says. */
Test(ownership, break_even_utilisation_is_where_both_cost_the_same)
{
    const struct ownership_rent rents[] = {
        {.hour = 1800}, {.hour = 1800, .month = 650000}, {.hour = 2500, .month = 1200000}};
    for (size_t i = 0; i < sizeof rents / sizeof *rents; i++) {
        int64_t idle, full, there;
        cr_assert_eq(ownership_owned(&terms, &machine, 1, 0, 1000000, &idle), 0);
        cr_assert_eq(ownership_owned(&terms, &machine, 1, 1, 1000000, &full), 0);
        double u = ownership_break_even(&terms, &rents[i], 8, (double)idle, (double)full);
        cr_assert(u > 0 && u < 1, "%zu: %g", i, u);
        cr_assert_eq(ownership_owned(&terms, &machine, 1, u, 1000000, &there), 0);
        cr_expect_float_eq((double)there, ownership_rented(&terms, &rents[i], 8, u), 200, "%zu", i);
    }
}

/* domain.md section 6: usually 40 % and more above renting at start-up utilisation; under 1 for machines that run full.
 */
Test(ownership, own_hardware_pays_only_for_machines_that_run_full_for_years)
{
    const struct ownership_rent rent = {.hour = 1100, .month = 560000}; /* 11 yuan an hour, 5,600 yuan a month */
    int64_t start_up, full, idle;
    cr_assert_eq(ownership_owned(&terms, &machine, 1, 0.35, 1000000, &start_up), 0);
    cr_assert_eq(ownership_owned(&terms, &machine, 1, 1, 1000000, &full), 0);
    cr_assert_eq(ownership_owned(&terms, &machine, 1, 0, 1000000, &idle), 0);
    cr_expect_gt((double)start_up / ownership_rented(&terms, &rent, 8, 0.35), 1.4);
    cr_expect_lt((double)full / ownership_rented(&terms, &rent, 8, 1), 1.0);
    double turn = ownership_break_even(&terms, &rent, 8, (double)idle, (double)full);
    cr_expect(turn > 0.35 && turn < 1, "%g", turn);
}

Test(ownership, cheap_months_mean_owning_never_pays)
{
    const struct ownership_rent rent = {.hour = 1100, .month = 390000};
    int64_t full, idle;
    cr_assert_eq(ownership_owned(&terms, &machine, 1, 1, 1000000, &full), 0);
    cr_assert_eq(ownership_owned(&terms, &machine, 1, 0, 1000000, &idle), 0);
    cr_expect(isnan(ownership_break_even(&terms, &rent, 8, (double)idle, (double)full)));
}

/* Where months are sold, renting stops rising and owning's electricity does not: owning may pay in between only. */
Test(ownership, dearer_again_is_where_full_months_meet_the_electricity)
{
    int64_t idle, full, there;
    cr_assert_eq(ownership_owned(&terms, &machine, 1, 0, 1000000, &idle), 0);
    cr_assert_eq(ownership_owned(&terms, &machine, 1, 1, 1000000, &full), 0);
    const double between = ((double)idle + 3 * (double)full) / 4; /* rent of the three years: under owning when full */
    const struct ownership_rent rents[] = {{.hour = 1400, .month = between / 36 / 8}, {.month = between / 36 / 8}};
    for (size_t i = 0; i < sizeof rents / sizeof *rents; i++) {
        const double from = ownership_break_even(&terms, &rents[i], 8, (double)idle, (double)full),
                     to = ownership_dearer_again(&terms, &rents[i], 8, (double)idle, (double)full);
        cr_assert(from >= 0 && from < to && to < 1, "%zu: %g to %g", i, from, to);
        cr_assert_eq(ownership_owned(&terms, &machine, 1, to, 1000000, &there), 0);
        cr_expect_float_eq((double)there, ownership_rented(&terms, &rents[i], 8, to), 200, "%zu", i);
        cr_assert_eq(ownership_owned(&terms, &machine, 1, (from + to) / 2, 1000000, &there), 0);
        cr_expect_lt((double)there, ownership_rented(&terms, &rents[i], 8, (from + to) / 2), "%zu", i);
    }
    const struct ownership_rent dear = {.hour = 1400, .month = (double)full / 36 / 8 + 1};
    cr_expect(isinf(ownership_dearer_again(&terms, &dear, 8, (double)idle, (double)full)));
    const struct ownership_rent cheap_hours = {.hour = 1, .month = 900000}; /* an hour below its electricity */
    cr_expect(isnan(ownership_break_even(&terms, &cheap_hours, 8, (double)idle, (double)full)));
}
