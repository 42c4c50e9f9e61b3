/* test_market_abroad.c — sellers outside mainland China are used only where a request names them. */
#include <criterion/criterion.h>

#include "planner/offers/market.h"
#include "tests/support/small_market.h"
#include "tests/support/test_catalog.h"

Test(market, abroad_only_by_name)
{
    struct catalog *c = small_market();
    struct workload w = small_workload(c);
    struct arena *arena = arena_new(1 << 24);
    struct build *b = small_build(c, &w, arena);
    struct provider far = {.id = "far", .city = "overseas", .abroad = true}, near = {.id = "near", .city = "cn"};
    const char *named[] = {"far"};
    struct constraints *k = (struct constraints *)&b->workload->constraints;
    k->city = NULL;
    k->n_providers = 0;
    cr_assert(market_provider_allowed(b, &near, false));
    cr_assert(!market_provider_allowed(b, &far, false));
    cr_assert(!market_provider_allowed(b, &far, true));
    k->providers = named;
    k->n_providers = 1;
    cr_assert(market_provider_allowed(b, &far, false));
    cr_assert(!market_provider_allowed(b, &near, false));
    arena_free(arena);
    test_catalog_free(c);
}
