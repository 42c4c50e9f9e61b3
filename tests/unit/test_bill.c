/* The bill: amounts that leave int64 are refused, never wrapped. */
#include <criterion/criterion.h>

#include "base/money.h"
#include "planner/costing/costing.h"
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
