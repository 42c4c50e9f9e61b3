/* cases.h — measured cases, decoded once and estimated as often as a fit asks. */
#ifndef SUANPAN_TESTS_FIT_CASES_H
#define SUANPAN_TESTS_FIT_CASES_H

#include "api/decode.h"
#include "planner/core/catalog.h"

enum { SUITES = 7, SOURCES_MAX = 128 };

/* What is fitted: rates, times and bytes. Verdicts and the bytes of a server's cache follow rules, not constants. */
extern const char *const suite_names[SUITES];

struct observation {
    int suite, source;
    double truth;
    const struct decoded_estimate *request;
};

struct cases {
    struct observation *items;
    size_t n;
    char *sources[SOURCES_MAX];
    size_t n_sources;
    size_t per_source[SUITES][SOURCES_MAX];
    struct arena *arena;
};

/* Adds the cases of DIR/SUITE.jsonl for the suites of the mask; a suite without a file adds none. Ends the program on a
 * case that the api refuses, and says which. */
void cases_load(struct cases *c, const struct catalog *catalog, const char *dir, unsigned suites);

/* ln(predicted / truth); *ret_inside (may be NULL): 1 where the truth lies in the answer's interval, 0 outside, -1
 * without an interval. What is not answered is a factor of twenty off. */
double case_residual(const struct observation *o, const struct catalog *catalog, int *ret_inside);

#endif
