/* test_market_abroad.c — sellers outside mainland China are used only where a request names them. */
#include <criterion/criterion.h>
#include <string.h>

#include "planner/market/market.h"
#include "tests/support/small_market.h"
#include "tests/support/test_catalog.h"

Test(market, abroad_only_by_name)
{
    struct catalog *c = small_market();
    struct workload w = small_workload(c);
    struct arena *arena = arena_new(1 << 24);
    struct build *b = small_build(c, &w, arena);
    struct provider *far = (struct provider *)catalog_provider(c, "cloud");
    const struct provider *near = catalog_provider(c, "idc");
    const char *named[] = {"cloud"};
    struct constraints *k = (struct constraints *)&b->workload->constraints;
    far->abroad = true;
    k->city = NULL;
    k->n_providers = 0;
    cr_assert_eq(market_open(&b->market), 0);
    cr_assert(market_provider_allowed(&b->market, near, false));
    cr_assert(!market_provider_allowed(&b->market, far, false));
    cr_assert(!market_provider_allowed(&b->market, far, true));
    k->providers = named;
    k->n_providers = 1;
    cr_assert_eq(market_open(&b->market), 0);
    cr_assert(market_provider_allowed(&b->market, far, false));
    cr_assert(!market_provider_allowed(&b->market, near, false));
    k->city = "shenzhen";
    cr_assert_eq(market_open(&b->market), 0);
    cr_assert(!market_provider_allowed(&b->market, far, false), "the city binds");
    cr_assert(market_provider_allowed(&b->market, far, true), "but not the far half of a pair");
    arena_free(arena);
    test_catalog_free(c);
}
