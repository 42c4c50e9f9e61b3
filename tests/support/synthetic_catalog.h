/* synthetic_catalog.h — the shipped catalog grown to any number of prices, for benches and for tests of scale. */
#ifndef SUANPAN_TESTS_SUPPORT_SYNTHETIC_CATALOG_H
#define SUANPAN_TESTS_SUPPORT_SYNTHETIC_CATALOG_H

#include "planner/core/catalog.h"

/* The shipped rows, and further sellers in Hefei, Shenzhen and Wuhan with the same machines at prices of 0.9 to 1.3
 * times the originals, until there are exactly `n_prices` price rows (at least as many as are shipped). The same number
 * gives the same catalog. Indexed; constants not bound (engine_bind). Free with test_catalog_free. The rows of GPUs,
 * models and the like are shared with test_catalog(). Ends the test when memory runs out. */
struct catalog *synthetic_catalog(size_t n_prices);

#endif
