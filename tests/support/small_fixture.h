/* small_fixture.h — the small market and an arena for every test of a suite:
 * TestSuite(name, .init = small_setup, .fini = small_teardown). */
#ifndef SUANPAN_TESTS_SUPPORT_SMALL_FIXTURE_H
#define SUANPAN_TESTS_SUPPORT_SMALL_FIXTURE_H

#include "tests/support/small_market.h"
#include "tests/support/test_catalog.h"

static struct catalog *market;
static struct arena *arena;

static void small_setup(void)
{
    market = small_market();
    arena = arena_new(64 << 20);
}

static void small_teardown(void)
{
    arena_free(arena);
    test_catalog_free(market);
}

#endif
