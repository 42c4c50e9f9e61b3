/* test_reserve.c — the inference reserve and forward-only work through the door: how a load becomes cards and money. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/api/client.h"

#define N(a) (sizeof(a) / sizeof *(a))

static json_t *at(json_t *v, const char *key)
{
    return json_object_get(v, key);
}

static double number(json_t *v, const char *key)
{
    cr_assert(json_is_number(at(v, key)), "%s is no number", key);
    return json_number_value(at(v, key));
}

static const char *word(json_t *v, const char *key)
{
    return json_string_value(at(v, key));
}

static double money(json_t *v, const char *key)
{
    const char *amount = word(at(v, key), "amount");
    cr_assert_not_null(amount, "%s is no money", key);
    return strtod(amount, NULL);
}

/* The answer to {"workload": {...}} as printed; 200 is asserted. */
__attribute__((format(printf, 2, 3))) static struct reply post(const char *path, const char *format, ...)
{
    char body[2000];
    va_list args;
    va_start(args, format);
    vsnprintf(body, sizeof body, format, args);
    va_end(args);
    struct reply r = ask((struct ask){.path = path, .body = body});
    cr_assert_eq(r.status, 200, "%s\n%s", body, r.text);
    return r;
}

static json_t *first(struct reply *r)
{
    json_t *o = json_array_get(at(r->json, "options"), 0);
    cr_assert_not_null(o, "%s", r->text);
    return o;
}

static json_t *note(json_t *notes, const char *code)
{
    size_t i;
    json_t *n;
    json_array_foreach(notes, i, n)
    {
        if (strcmp(word(n, "code"), code) == 0)
            return n;
    }
    return NULL;
}

#define SERVE(load) "{\"workload\": {\"model\": {\"preset\": \"%s\"}, \"serving\": {" load "}}}"

static double way(json_t *reserve, const char *code)
{
    size_t i;
    json_t *w;
    json_array_foreach(at(reserve, "pricing"), i, w)
    {
        if (strcmp(word(w, "code"), code) == 0)
            return money(w, "total");
    }
    return INFINITY;
}

static json_t *role(json_t *reserve, const char *name)
{
    size_t i;
    json_t *c;
    json_array_foreach(at(reserve, "alternatives"), i, c)
    {
        if (strcmp(word(c, "role"), name) == 0)
            return c;
    }
    return NULL;
}

/* Every way of paying is priced, the reserve is the cheapest mix, and its lines are in the sum. */
static void check_money(json_t *option)
{
    json_t *reserve = at(option, "inference_reserve"), *line, *w;
    double lines = 0, total = money(reserve, "total");
    size_t i;
    json_array_foreach(at(at(option, "cost"), "lines"), i, line)
    {
        if (strcmp(word(line, "section"), "inference_reserve") == 0)
            lines += money(line, "amount");
    }
    cr_expect_float_eq(lines, total, 0.005);
    cr_expect_float_eq(money(at(at(option, "cost"), "by_section"), "inference_reserve"), total, 0.005);
    cr_expect_geq(money(option, "total_cost_to_finish"), total);
    cr_expect_leq(money(reserve, "low"), total);
    cr_expect_geq(money(reserve, "high"), total);
    json_array_foreach(at(reserve, "pricing"), i, w)
    {
        cr_expect_leq(total, money(w, "total") + 0.005, "%s is cheaper", word(w, "code"));
    }
    cr_expect_leq(number(reserve, "base_gpus"), number(reserve, "gpus"));
}

/* A service with a peak: machines by the month for the base and by the hour above it, against all the other ways. */
Test(reserve, a_peak_is_carried_by_the_hour_above_a_monthly_base)
{
    struct reply r = post("/api/v1/plans",
                          SERVE("\"requests_per_s\": 8, \"peak_factor\": 4, \"weight_bits\": 8, "
                                "\"input_tokens\": 1200, \"output_tokens\": 350, \"months\": 6"),
                          "qwen2.5-32b");
    json_t *o = first(&r), *reserve = at(o, "inference_reserve");
    check_money(o);
    cr_expect_lt(number(reserve, "base_gpus"), number(reserve, "gpus"));
    cr_expect_lt(way(reserve, "monthly_base_hourly_burst"), way(reserve, "monthly"));
    cr_expect(isfinite(way(reserve, "hourly_autoscaled")));
    cr_expect_not_null(note(at(reserve, "notes"), "reserve_follows_load"));
    reply_done(&r);
    r = post("/api/v1/plans",
             SERVE("\"requests_per_s\": 8, \"peak_factor\": 1, \"weight_bits\": 8, "
                   "\"input_tokens\": 1200, \"output_tokens\": 350, \"months\": 6"),
             "qwen2.5-32b");
    reserve = at(first(&r), "inference_reserve");
    cr_expect_eq(number(reserve, "base_gpus"), number(reserve, "gpus"), "a flat load has no burst");
    cr_expect_null(note(at(reserve, "notes"), "reserve_follows_load"));
    cr_expect(isinf(way(reserve, "monthly_base_hourly_burst")));
    reply_done(&r);
}

/* Few hours a day are paid by the hour, all day for months by the month. */
Test(reserve, hours_per_day_decide_between_hours_and_months)
{
    const struct {
        double hours, months;
        bool by_hour;
    } cases[] = {{2, 3, true}, {6, 3, true}, {24, 3, false}, {24, 12, false}};
    double last = 0;
    for (size_t i = 0; i < N(cases); i++) {
        struct reply r = post(
            "/api/v1/plans",
            "{\"workload\": {\"model\": {\"preset\": \"qwen2.5-14b\"}, \"serving\": {\"requests_per_s\": "
            "0.5, \"peak_factor\": 1, \"weight_bits\": 4, \"hours_per_day\": %g, \"months\": %g}, \"constraints\": "
            "{\"gpus\": [\"a100-sxm4-80g\"], \"providers\": [\"hefei-hightech-idc\"]}}}",
            cases[i].hours, cases[i].months);
        json_t *o = first(&r), *reserve = at(o, "inference_reserve");
        double hourly = way(reserve, "hourly_autoscaled"), total = money(reserve, "total");
        check_money(o);
        cr_expect_eq(fabs(hourly - total) < 0.01, cases[i].by_hour, "%g h: %.2f, by the hour %.2f", cases[i].hours,
                     total, hourly);
        cr_expect_geq(total, last);
        last = total;
        reply_done(&r);
    }
}

Test(reserve, smallest_card_against_the_fastest_side_by_side)
{
    const char *models[] = {"qwen2.5-7b", "qwen2.5-32b", "llama-3.1-70b"};
    for (size_t i = 0; i < N(models); i++) {
        struct reply r =
            post("/api/v1/plans", SERVE("\"requests_per_s\": 1, \"tpot_ms\": 80, \"months\": 3"), models[i]);
        json_t *reserve = at(first(&r), "inference_reserve");
        json_t *cheap = role(reserve, "cheapest"), *small = role(reserve, "smallest"), *fast = role(reserve, "fastest");
        cr_assert(cheap != NULL && small != NULL && fast != NULL, "%s", models[i]);
        cr_expect_leq(money(cheap, "total"), money(reserve, "total"), "%s", models[i]);
        cr_expect_leq(money(cheap, "total"), money(small, "total"));
        cr_expect_leq(money(cheap, "total"), money(fast, "total"));
        cr_expect_leq(number(fast, "tpot_ms"), number(small, "tpot_ms"));
        const struct gpu *s = catalog_gpu(client_catalog(), word(small, "gpu"));
        const struct gpu *f = catalog_gpu(client_catalog(), word(fast, "gpu"));
        cr_expect_leq(s->memory_gb, f->memory_gb, "%s: %s, %s", models[i], s->id, f->id);
        cr_expect_leq(number(small, "tpot_ms"), 80 * 1.001);
        reply_done(&r);
    }
}

/* plan.md: 16 bits, 8 where the card has them; 1 request/s, 1,000 in, 300 out, peak 3, three months. */
Test(reserve, the_default_names_its_rule_and_only_an_explicit_zero_removes_it)
{
    const char *train = "\"training\": {\"method\": \"lora\", \"tokens\": 1e8}";
    struct reply r = post("/api/v1/plans", "{\"workload\": {\"model\": {\"preset\": \"qwen2.5-7b\"}, %s}}", train);
    json_t *o = first(&r), *reserve = at(o, "inference_reserve"), *rule = note(at(reserve, "notes"), "reserve_default");
    check_money(o);
    cr_expect_str_eq(word(reserve, "basis"), "default");
    cr_expect_gt(money(reserve, "total"), 0);
    cr_assert_not_null(rule);
    const struct gpu *g = catalog_gpu(client_catalog(), word(reserve, "gpu"));
    json_t *args = at(rule, "values");
    const struct {
        const char *name;
        double value;
    } stated[] = {{"requests_per_s", 1},  {"months", 3},          {"peak_factor", 3},
                  {"input_tokens", 1000}, {"output_tokens", 300}, {"bits", g->fp8_tflops > 0 ? 8 : 16}};
    for (size_t i = 0; i < N(stated); i++)
        cr_expect_eq(number(args, stated[i].name), stated[i].value, "%s", stated[i].name);
    reply_done(&r);
    r = post("/api/v1/plans",
             "{\"workload\": {\"model\": {\"preset\": \"qwen2.5-7b\"}, %s, \"serving\": {\"months\": 0}}}", train);
    reserve = at(first(&r), "inference_reserve");
    cr_expect_str_eq(word(reserve, "basis"), "none");
    cr_expect_eq(money(reserve, "total"), 0);
    cr_expect_eq(json_array_size(at(reserve, "alternatives")), 0);
    reply_done(&r);
}
