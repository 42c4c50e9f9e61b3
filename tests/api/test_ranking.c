/* Ranges, hard limits, the front and the order, each through the door and over the seed catalog. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/money.h"
#include "tests/api/client.h"

#define N(a) (sizeof(a) / sizeof *(a))

static json_t *plan_of(const char *workload)
{
    return plan_in(workload, "en");
}

static bool feasible(const json_t *o)
{
    return json_is_true(json_object_get(o, "feasible"));
}

static int64_t total_of(const json_t *o)
{
    return minor_of(json_object_get(o, "total_cost_to_finish"));
}

/* Requests of every method, limit and priority. */
static const char *const requests[] = {
    "{\"model\":{\"preset\":\"qwen2.5-7b\"},\"training\":{\"method\":\"lora\",\"tokens\":200000000,\"runs\":4},"
    "\"constraints\":{\"team\":\"none\",\"city\":\"hefei\"}}",
    "{\"model\":{\"preset\":\"qwen2.5-14b\"},\"training\":{\"method\":\"full_finetune\",\"tokens\":2000000000,\"runs\":"
    "3},"
    "\"constraints\":{\"deadline_on\":\"2027-01-20\",\"team\":\"slurm\"},\"priority\":\"fastest\"}",
    "{\"model\":{\"preset\":\"llama-2-70b\"},\"training\":{\"method\":\"qlora\",\"tokens\":300000000},"
    "\"constraints\":{\"budget\":{\"amount\":\"30000.00\",\"currency\":\"CNY\"}},\"priority\":\"cheapest\"}",
    "{\"model\":{\"preset\":\"qwen2.5-7b\"},\"training\":{\"method\":\"full_finetune\",\"tokens\":1000000000},"
    "\"constraints\":{\"data_sensitive\":true,\"deadline_on\":\"2027-02-10\",\"budget\":{\"amount\":\"60000.00\","
    "\"currency\":\"CNY\"}}}",
    "{\"model\":{\"preset\":\"qwen2.5-7b\"},\"serving\":{\"requests_per_s\":6,\"months\":12}}",
    "{\"model\":{\"preset\":\"qwen2.5-14b\"},\"training\":{\"method\":\"full_finetune\",\"tokens\":1000000000,\"runs\":"
    "6,"
    "\"parallel_runs\":3},\"constraints\":{\"kinds\":[\"single_machine\",\"hybrid_cloud\",\"university_time\"]}}",
};

/* low <= expected <= high, and the bill of the plan between low and high; one of the options is the cheapest at every
 * point of the sample. */
Test(ranking, low_expected_high_and_probability_cheapest, .timeout = 60)
{
    for (size_t r = 0; r < N(requests); r++) {
        json_t *p = plan_of(requests[r]), *o;
        size_t i;
        double sure = 0;
        json_array_foreach(json_object_get(p, "options"), i, o)
        {
            const json_t *c = json_object_get(o, "cost"), *f = json_object_get(o, "finish");
            const int64_t low = minor_of(json_object_get(c, "low")), middle = minor_of(json_object_get(c, "expected")),
                          high = minor_of(json_object_get(c, "high")), total = total_of(o);
            cr_expect(low <= middle && middle <= high, "%s: %lld %lld %lld", text_of(o, "title"), (long long)low,
                      (long long)middle, (long long)high);
            cr_expect(low <= total && total <= high);
            cr_expect(low < high, "%s has no band", text_of(o, "title"));
            cr_expect(number_of(f, "low_days") <= number_of(f, "expected_days") &&
                      number_of(f, "expected_days") <= number_of(f, "high_days"));
            const bool tells = note_of(json_object_get(o, "warnings"), "expected_differs") != NULL;
            cr_expect_eq(tells, fabs((double)(middle - total) / (double)total) >= 0.1, "%s: %lld of %lld",
                         text_of(o, "title"), (long long)middle, (long long)total);
            sure += number_of(o, "probability_cheapest");
        }
        cr_expect(fabs(sure - 1) < 1e-9, "%s: %f", requests[r], sure);
        json_decref(p);
    }
}

static bool dominates(const json_t *a, const json_t *b)
{
    const double days_a = number_of(json_object_get(a, "finish"), "expected_days"),
                 days_b = number_of(json_object_get(b, "finish"), "expected_days");
    const double risk_a = number_of(json_object_get(a, "scores"), "risk"),
                 risk_b = number_of(json_object_get(b, "scores"), "risk");
    const bool no_worse = total_of(a) <= total_of(b) && days_a <= days_b && risk_a >= risk_b;
    return no_worse && (total_of(a) < total_of(b) || days_a < days_b || risk_a > risk_b);
}

/* The front is what no other option beats on cost, finish and risk at once; the order is that of the scores with the
 * weights that are printed; what is not feasible comes after everything that is. */
Test(ranking, pareto_front_weights_and_order, .timeout = 60)
{
    static const struct {
        const char *priority;
        double cost, time, risk;
    } weights[] = {{"cheapest", 0.70, 0.15, 0.15}, {"balanced", 0.45, 0.35, 0.20}, {"fastest", 0.15, 0.70, 0.15}};
    for (size_t r = 0; r < N(requests); r++) {
        json_t *p = plan_of(requests[r]), *o, *other;
        const json_t *w = json_object_get(p, "weights");
        size_t i, k, match = N(weights);
        double before = 2;
        bool seen_infeasible = false;
        for (k = 0; k < N(weights); k++)
            if (strstr(requests[r], weights[k].priority))
                match = k;
        match = match == N(weights) ? 1 : match;
        cr_expect_float_eq(number_of(w, "cost"), weights[match].cost, 1e-9);
        cr_expect_float_eq(number_of(w, "time"), weights[match].time, 1e-9);
        cr_expect_float_eq(number_of(w, "risk"), weights[match].risk, 1e-9);
        json_array_foreach(json_object_get(p, "options"), i, o)
        {
            const json_t *s = json_object_get(o, "scores");
            const double overall = number_of(w, "cost") * number_of(s, "cost") +
                                   number_of(w, "time") * number_of(s, "time") +
                                   number_of(w, "risk") * number_of(s, "risk");
            bool beaten = false;
            cr_expect_float_eq(number_of(s, "overall"), overall, 1e-6);
            cr_expect(!(feasible(o) && seen_infeasible), "%s outranks a feasible option", text_of(o, "title"));
            seen_infeasible |= !feasible(o);
            if (feasible(o))
                cr_expect_leq(number_of(s, "overall"), before + 1e-9, "%s stands too low", text_of(o, "title"));
            before = number_of(s, "overall");
            json_array_foreach(json_object_get(p, "options"), k, other)
            {
                if (k != i && (feasible(other) || !feasible(o)))
                    beaten |= dominates(other, o);
            }
            cr_expect_eq(json_is_true(json_object_get(o, "on_pareto_front")), !beaten, "%s", text_of(o, "title"));
        }
        json_decref(p);
    }
}

/* Each hard limit refuses with its rule and by how much. */
static void check_limit(const char *workload, const char *kind, const char *code, double least_short)
{
    json_t *p = plan_of(workload);
    const json_t *reasons = refusals_of(p, kind);
    cr_assert_not_null(reasons, "%s is not refused: %s", kind, workload);
    const json_t *n = note_of(reasons, code);
    cr_assert_not_null(n, "%s has no %s: %s", kind, code, workload);
    cr_expect_str_not_empty(text_of(n, "text"));
    if (least_short > 0)
        cr_expect_geq(number_of(n, "short_by"), least_short, "%s: short by %g", code, number_of(n, "short_by"));
    else
        cr_expect(json_is_null(json_object_get(n, "short_by")));
    json_decref(p);
}

Test(ranking, memory_wall)
{
    check_limit("{\"model\":{\"preset\":\"llama-2-70b\"},\"training\":{\"method\":\"pretrain\",\"tokens\":100000000},"
                "\"constraints\":{\"gpus\":[\"rtx-4090-24g\"],\"kinds\":[\"single_machine\"]}}",
                "single_machine", "host_memory", 1);
    check_limit("{\"model\":{\"params_b\":900},\"training\":{\"method\":\"qlora\",\"tokens\":100000000},"
                "\"constraints\":{\"gpus\":[\"v100-sxm2-32g\"],\"kinds\":[\"university_time\"]}}",
                "university_time", "memory_wall", 1);
}

Test(ranking, data_sensitive)
{
    check_limit("{\"model\":{\"preset\":\"qwen2.5-7b\"},\"training\":{\"method\":\"lora\",\"tokens\":100000000},"
                "\"constraints\":{\"data_sensitive\":true,\"can_desensitise\":false}}",
                "university_time", "data_sensitive", 0);
}

Test(ranking, budget_exceeded)
{
    check_limit("{\"model\":{\"preset\":\"qwen2.5-7b\"},\"training\":{\"method\":\"lora\",\"tokens\":1000000000},"
                "\"constraints\":{\"budget\":{\"amount\":\"3000.00\",\"currency\":\"CNY\"}}}",
                "single_machine", "budget_exceeded", 100);
}

Test(ranking, deadline_missed)
{
    check_limit("{\"model\":{\"preset\":\"qwen2.5-7b\"},\"training\":{\"method\":\"lora\",\"tokens\":1000000000},"
                "\"constraints\":{\"start_on\":\"2026-12-07\",\"deadline_on\":\"2026-12-12\"}}",
                "single_machine", "deadline_missed", 5);
}

Test(ranking, team_ceiling)
{
    check_limit("{\"model\":{\"preset\":\"llama-2-70b\"},\"training\":{\"method\":\"pretrain\",\"tokens\":10000000000},"
                "\"constraints\":{\"team\":\"none\"}}",
                "small_cluster", "team_ceiling", 1);
}

/* Within 1.2 times the limit an option that misses it is told as a near miss, beyond it is not. */
Test(ranking, near_miss, .timeout = 120)
{
    int near = 0, far = 0;
    for (int day = 8; day <= 31; day += 1) {
        char workload[500];
        snprintf(workload, sizeof workload,
                 "{\"model\":{\"preset\":\"qwen2.5-7b\"},\"training\":{\"method\":\"lora\",\"tokens\":1000000000},"
                 "\"constraints\":{\"start_on\":\"2026-12-01\",\"deadline_on\":\"2026-12-%02d\"}}",
                 day);
        json_t *p = plan_of(workload), *o;
        size_t i;
        json_array_foreach(json_object_get(p, "options"), i, o)
        {
            const json_t *miss = note_of(json_object_get(o, "warnings"), "near_miss");
            const double days = number_of(json_object_get(o, "finish"), "expected_days");
            if (feasible(o)) {
                cr_expect_null(miss);
                continue;
            }
            cr_expect_eq(miss != NULL, days <= 1.2 * day + 1e-9, "%g days of %d", days, day);
            near += miss != NULL;
            far += miss == NULL;
        }
        json_decref(p);
    }
    cr_expect(near > 0 && far > 0, "%d near, %d far", near, far);
}

/* Without a deadline, more than a year counts against an option, is told, and never makes it infeasible; the rule is an
 * assumption of the answer. */
Test(ranking, open_horizon_is_told_and_refuses_nothing)
{
    static const char workload[] =
        "{\"model\":{\"preset\":\"qwen2.5-7b\"},\"training\":{\"method\":\"full_finetune\",\"tokens\":60000000000},"
        "\"constraints\":{\"kinds\":[\"single_machine\"],\"gpus\":[\"a100-sxm4-40g\",\"v100-sxm2-32g\",\"l20-48g\"]},"
        "\"priority\":\"cheapest\",\"assumptions\":{\"open_horizon_days\":%d}}";
    int told[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        char text[600];
        snprintf(text, sizeof text, workload, k == 0 ? 60 : 1500);
        json_t *p = plan_of(text), *o, *a;
        size_t i;
        bool listed = false;
        json_array_foreach(json_object_get(p, "options"), i, o)
        {
            const bool tells = note_of(json_object_get(o, "warnings"), "outlasts_prices") != NULL;
            cr_expect(feasible(o), "%s", text_of(o, "title"));
            cr_expect_eq(tells, number_of(json_object_get(o, "finish"), "expected_days") > (k == 0 ? 60 : 1500));
            told[k] += tells;
        }
        json_array_foreach(json_object_get(p, "assumptions"), i, a) listed |=
            strcmp(text_of(a, "name"), "open_horizon_days") == 0;
        cr_expect(listed);
        json_decref(p);
    }
    cr_expect(told[0] > 0 && told[1] == 0, "%d and %d", told[0], told[1]);
}

/* A close order says what would settle it: the input that is known least. */
static void check_settled_by(const char *workload, const char *code)
{
    json_t *p = plan_of(workload), *n;
    size_t i;
    const char *said = "nothing";
    json_array_foreach(json_object_get(p, "warnings"), i, n)
    {
        if (strncmp(text_of(n, "code"), "order_close_", 12) == 0)
            said = text_of(n, "code");
    }
    cr_expect_str_eq(said, code, "%s", workload);
    json_decref(p);
}

#define KNOWN_PRICES                                                                                                   \
    "\"price_band_illustrative\":0,\"price_band_derived\":0,\"price_band_firm\":0,\"price_band_per_month\":0"
#define CLOSE "\"assumptions\":{\"order_close_probability\":0.95,"
#define LORA "{\"model\":{\"preset\":\"qwen2.5-7b\"},\"training\":{\"method\":\"lora\",\"tokens\":"

Test(ranking, order_close_speed)
{
    check_settled_by(LORA "200000000},\"constraints\":{\"team\":\"none\",\"city\":\"hefei\"}," CLOSE KNOWN_PRICES "}}",
                     "order_close_speed");
}

Test(ranking, order_close_price)
{
    check_settled_by(LORA "200000000,\"runs\":4},\"constraints\":{\"team\":\"none\",\"city\":\"hefei\"}," CLOSE
                          "\"price_band_illustrative\":0.9,\"price_band_derived\":0.9,\"price_band_firm\":0.9}}",
                     "order_close_price");
}

Test(ranking, order_close_load)
{
    check_settled_by("{\"model\":{\"preset\":\"qwen2.5-7b\"},\"serving\":{\"requests_per_s\":4,\"months\":12}," CLOSE
                     "\"load_low\":0.2,\"load_high\":5," KNOWN_PRICES "}}",
                     "order_close_load");
}

Test(ranking, order_close_queue)
{
    check_settled_by(LORA "1000000000},\"serving\":{\"months\":0},\"measured\":{\"gpu\":\"v100-sxm2-32g\",\"gpus\":8,"
                          "\"tokens_per_s\":5000},\"constraints\":{\"kinds\":[\"single_machine\",\"university_time\"],"
                          "\"gpus\":[\"v100-sxm2-32g\"],\"city\":\"hefei\"},\"priority\":\"cheapest\"," CLOSE
                          "\"agreement_days\":0," KNOWN_PRICES "}}",
                     "order_close_queue");
}

/* Attribution stands between any two options, and its shares sum to one as they are printed. */
Test(ranking, attribution_between_any_two, .timeout = 60)
{
    size_t cut = 0;
    for (size_t r = 0; r < N(requests); r++) {
        json_t *p = plan_of(requests[r]), *a, *part;
        const json_t *options = json_object_get(p, "options");
        size_t i, k, pairs = 0, differ = 0;
        for (i = 0; i < json_array_size(options); i++)
            for (k = i + 1; k < json_array_size(options); k++)
                differ += total_of(json_array_get(options, i)) != total_of(json_array_get(options, k));
        json_array_foreach(json_object_get(p, "attribution"), i, a)
        {
            int64_t sum = 0, units = 0;
            pairs++;
            json_array_foreach(json_object_get(a, "by"), k, part)
            {
                char *printed = json_dumps(json_object_get(part, "share"), JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
                char *end;
                const double share = strtod(printed, &end);
                cr_expect_float_eq(share * 10000, round(share * 10000), 1e-6, "%s is no whole hundredth of a percent",
                                   printed);
                units += llround(share * 10000);
                sum += minor_of(json_object_get(part, "amount"));
                cut++;
                free(printed);
            }
            cr_expect_eq(sum, minor_of(json_object_get(a, "amount")));
            cr_expect_eq(units, 10000, "%s to %s", text_of(a, "from"), text_of(a, "to"));
        }
        cr_expect_eq(pairs, differ, "%s", requests[r]);
        json_decref(p);
    }
    cr_expect_gt(cut, 100);
}

static const json_t *labelled(const json_t *plan, const char *label)
{
    size_t i;
    json_t *o;
    json_array_foreach(json_object_get(plan, "options"), i, o) if (strcmp(text_of(o, "label"), label) == 0) return o;
    return NULL;
}

static int64_t phase_minor(const json_t *option, const char *code)
{
    size_t i;
    json_t *phase;
    int64_t sum = 0;
    json_array_foreach(json_object_get(option, "phases"), i, phase) if (strcmp(text_of(phase, "code"), code) == 0)
        sum += minor_of(json_object_get(phase, "cost"));
    return sum;
}

static int64_t part_minor(const json_t *attribution, const char *category)
{
    size_t i;
    json_t *part;
    json_array_foreach(json_object_get(attribution, "by"), i,
                       part) if (strcmp(text_of(part, "category"), category) ==
                                 0) return minor_of(json_object_get(part, "amount"));
    return 0;
}

/* Besides the reserve. */
static bool only_machines(const json_t *option)
{
    const json_t *sections = json_object_get(json_object_get(option, "cost"), "by_section");
    static const char *const others[] = {"network", "storage", "software", "operations", "egress"};
    for (size_t k = 0; k < N(others); k++)
        if (minor_of(json_object_get(sections, others[k])) != 0)
            return false;
    return phase_minor(option, "develop") > 0;
}

/* A month that validation and other work share is nobody's alone. */
static bool shares_a_month(const json_t *option)
{
    return phase_minor(option, "validate") > 0 &&
           minor_of(json_object_get(json_object_get(json_object_get(option, "cost"), "by_section"), "validation")) == 0;
}

/* What a phase costs is what it accounts for: where nothing but machines is paid for, the difference in debugging is
 * that of the phase, whether its hours were bought by the hour or are part of a month that other phases share. */
Test(ranking, attribution_by_phase, .timeout = 60)
{
    size_t compared = 0, shared = 0;
    for (size_t r = 0; r < N(requests); r++) {
        json_t *p = plan_of(requests[r]), *a;
        size_t i;
        json_array_foreach(json_object_get(p, "attribution"), i, a)
        {
            const json_t *from = labelled(p, text_of(a, "from")), *to = labelled(p, text_of(a, "to"));
            if (!only_machines(from) || !only_machines(to))
                continue;
            cr_expect_eq(part_minor(a, "debugging"), phase_minor(to, "develop") - phase_minor(from, "develop"),
                         "%s: %s to %s", requests[r], text_of(a, "from"), text_of(a, "to"));
            compared++;
            shared += shares_a_month(from) || shares_a_month(to);
        }
        json_decref(p);
    }
    cr_expect_gt(compared, 10);
    cr_expect_gt(shared, 5, "%zu", shared);
}

/* A data set that fits every node's own NVMe is cached there; one that does not, is not. */
Test(ranking, node_cache)
{
    for (int k = 0; k < 2; k++) {
        char workload[500];
        snprintf(workload, sizeof workload,
                 "{\"model\":{\"preset\":\"qwen2.5-14b\"},\"training\":{\"method\":\"full_finetune\",\"tokens\":"
                 "5000000000,\"dataset_gb\":%d},\"constraints\":{\"kinds\":[\"small_cluster\"],\"team\":\"expert\"}}",
                 k == 0 ? 100 : 500000);
        json_t *p = plan_of(workload), *o;
        size_t i;
        cr_expect_gt(json_array_size(json_object_get(p, "options")), 0);
        json_array_foreach(json_object_get(p, "options"), i, o) cr_expect_eq(
            note_of(json_object_get(o, "reasons"), "node_cache") != NULL, k == 0, "%s", text_of(o, "title"));
        json_decref(p);
    }
}

/* Every test that docs/domain.md says holds a rule is there, under that name. */
Test(ranking, the_table_of_rules_names_tests_that_exist)
{
    static const char *const suites[] = {"unit", "api", "db", "diagnosis", "server", "http"};
    size_t len, named = 0;
    char *doc = read_file("docs/domain.md", &len);
    cr_assert_not_null(doc);
    for (char *at = strchr(doc, '`'), *end; at != NULL && (end = strchr(at + 1, '`')) != NULL;
         at = strchr(end + 1, '`')) {
        char suite[60], test[120], command[400];
        *end = '\0';
        if (sscanf(at + 1, "%59[a-z_]/%119[a-z_0-9*]", suite, test) != 2 ||
            strlen(suite) + strlen(test) + 1 != strlen(at + 1))
            continue;
        bool found = false;
        for (size_t k = 0; k < N(suites) && !found; k++) {
            snprintf(command, sizeof command, "grep -qsE '^Test\\(%s, %s[,)]' tests/%s/*.c", suite,
                     strcmp(test, "*") == 0 ? "[a-z_0-9]+" : test, suites[k]);
            found = system(command) == 0;
        }
        cr_expect(found, "docs/domain.md: there is no test %s/%s", suite, test);
        named++;
    }
    free(doc);
    cr_expect_gt(named, 60);
}
