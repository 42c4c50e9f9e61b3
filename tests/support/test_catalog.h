/* test_catalog.h — catalogs for tests, made by the real loader from the real (or a test's own) rows. */
#ifndef SUANPAN_TESTS_SUPPORT_TEST_CATALOG_H
#define SUANPAN_TESTS_SUPPORT_TEST_CATALOG_H

#include <stddef.h>

#include "base/embed.h"
#include "planner/core/catalog.h"

/* What the binary carries (base/embed.sh). */
extern const struct embed_table embed_migrations;
extern const struct embed_table embed_seed;

/* The shipped catalog: migrated, seeded, loaded, indexed. Built at the first call, once a process; never freed by the
 * caller. Ends the test when it cannot be built. */
struct catalog *test_catalog(void);

/* The same with the constants of physics and trade bound. */
struct catalog *test_catalog_bound(void);

/* A small catalog from CSV texts: {"skus.csv", text}, ... Columns as in db/seed/; a column that is left out is empty.
 * GPUs, models, assumptions and calibration that the texts do not name come from the shipped files, so that physics can
 * be bound. Ends the test on a fault in the texts and says where. Free with test_catalog_free. */
struct test_csv {
    const char *name; /* "prices.csv" */
    const char *text;
};
struct catalog *test_catalog_of(const struct test_csv *files, size_t n);
void test_catalog_free(struct catalog *c);

#endif
