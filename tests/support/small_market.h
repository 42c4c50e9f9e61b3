/* small_market.h — a market small enough to reckon by hand: a local IDC, a public cloud at the end of its line, a
 * university, all with 8 x A100-80G. Prices in CNY without tax:
 *   idc      120 an hour, 45,000 a month; cards 16 an hour, 6,000 a month; tier "local"
 *   cloud    200 an hour, 80,000 a month; egress 0.80 a GB
 *   campus   cards 4 / 6 / 8 an hour (internal, partner, external), off-peak; job cap 48 h, queue 6 h / 48 h
 *   line     10 Gbit/s, 15,000 a month
 */
#ifndef SUANPAN_TESTS_SUPPORT_SMALL_MARKET_H
#define SUANPAN_TESTS_SUPPORT_SMALL_MARKET_H

#include "planner/core/plan.h"
#include "planner/drafting/build.h"

/* Constants are bound. Free with test_catalog_free. */
struct catalog *small_market(void);

/* 7B LoRA, 2e8 tokens a run, from 2027-01-04, no serving; change what the test is about. */
struct workload small_workload(const struct catalog *c);

/* A build over them, as plan_make starts one (reserve included). Ends the test when it cannot be had. */
struct build *small_build(const struct catalog *c, const struct workload *w, struct arena *arena);

/* The whole plan as of 2026-11-30. Ends the test when it cannot be had. */
struct plan *small_plan(const struct catalog *c, const struct workload *w, struct arena *arena);

#endif
