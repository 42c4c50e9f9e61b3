/* The bill: amounts that leave int64 are refused, never wrapped. */
#include <criterion/criterion.h>

#include "base/money.h"
#include "planner/costing/costing.h"
#include "planner/reserve/reserve_try.h"
#include "tests/support/small_market.h"
#include "tests/support/test_catalog.h"

Test(bill, a_deposit_past_int64_is_refused)
{
    struct bill bill;
    bill_start(&bill);
    bill_hold(&bill, INT64_MAX - 1);
    cr_expect(!bill.failed);
    bill_hold(&bill, 2);
    cr_expect(bill.failed);
}

/* The contingency is a line like any other: of a net whose unit price does not fit there is no bill. */
Test(bill, a_contingency_past_int64_is_refused)
{
    struct catalog *c = small_market();
    struct arena *arena = arena_new(16 << 20);
    struct workload w = small_workload(c);
    struct build *b = small_build(c, &w, arena);
    const struct {
        double quantity;
        int answer;
    } cases[] = {{9.0, 0}, {9.3, -1}, {9000, -1}};
    b->a.contingency_share = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = build_draft_new(b, KIND_SINGLE_MACHINE);
        struct schedule s = {.finish_day = 0};
        struct bill bill;
        d->reserve = NULL;
        struct draft_extra *e = draft_add_extra(d, SECTION_OPERATIONS, PHASE_TRAIN, PHASE_TRAIN);
        e->item = "operations";
        e->unit = UNIT_ONCE;
        e->unit_micros = (int64_t)1000000000000 * MONEY_MICROS;
        e->quantity = cases[i].quantity;
        cr_expect_eq(costing_bill(&b->day, d, &s, NULL, &bill), cases[i].answer, "%g", cases[i].quantity);
    }
    arena_free(arena);
    test_catalog_free(c);
}

/* Work that nobody waits for is billed a stretch after another: as many stretches cost as many times one, and centuries
 * of it are reckoned at once. */
Test(bill, work_of_centuries_is_so_many_times_that_of_a_stretch, .timeout = 10)
{
    enum { STRETCH_HOURS = 3650 * 24, UNITS = 3 };
    struct catalog *c = small_market();
    struct arena *arena = arena_new(16 << 20);
    struct workload w = small_workload(c);
    struct build *b = small_build(c, &w, arena);
    const struct offer *o = market_offer(&b->market, catalog_sku(c, "idc-a100"), NULL);
    const struct reserve_hours h = {30, 24000, 24000, NULL};
    const double hours[] = {STRETCH_HOURS, 100.5, 4.0 * STRETCH_HOURS + 100.5};
    int64_t net[3], tax;
    struct bill bill;
    for (int i = 0; i < 3; i++) {
        const struct reserve_batch batch = {.units = UNITS, .cards = 8, .hours = hours[i]};
        cr_assert_eq(reserve_bill(o, false, h, 0, 0, &batch, &bill, &net[i], &tax), 0);
    }
    cr_expect_eq(net[2], 4 * net[0] + net[1]);
    const struct reserve_batch many = {.units = 1000, .cards = 8, .hours = 1e9};
    const struct reserve_batch too_many = {.units = 1000000, .cards = 8, .hours = 1e15};
    cr_expect_eq(reserve_bill(o, false, h, 0, 0, &many, &bill, &net[0], &tax), 0);
    cr_expect_eq(reserve_bill(o, false, h, 0, 0, &too_many, &bill, &net[0], &tax), -1);
    arena_free(arena);
    test_catalog_free(c);
}
