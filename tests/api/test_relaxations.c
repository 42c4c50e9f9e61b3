/* Every relaxation that is told is made to the request as a customer would make it, member by member, and the changed
 * request is asked again through the door: the plan has the cost and the date that were foretold. What says how many
 * days or how much money are missing is also the least: one day, or one hundred, less is not enough. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/money.h"
#include "tests/api/client.h"

static json_t *plan_of(const json_t *request)
{
    char *body = json_dumps(request, JSON_COMPACT);
    struct reply r = ask((struct ask){.path = "/api/v1/plans", .body = body, .language = "en"});
    json_t *plan = r.status == 200 ? json_incref(r.json) : NULL;
    cr_expect(r.status == 200 || r.status == 422, "%d for %s: %s", r.status, body, r.text);
    reply_done(&r);
    free(body);
    return plan;
}

/* The member that the pointer names becomes `value`; null takes it away. */
static void set_member(json_t *request, const char *pointer, json_t *value)
{
    char path[200];
    snprintf(path, sizeof path, "%s", pointer + 1);
    json_t *at = request;
    char *part = path, *slash;
    while ((slash = strchr(part, '/')) != NULL) {
        *slash = '\0';
        json_t *next = json_object_get(at, part);
        if (next == NULL)
            json_object_set_new(at, part, next = json_object());
        at = next;
        part = slash + 1;
    }
    if (json_is_null(value))
        json_object_del(at, part);
    else
        json_object_set(at, part, value);
}

static json_t *changed(const json_t *request, const json_t *relaxation)
{
    json_t *copy = json_deep_copy(request), *change;
    size_t i;
    json_array_foreach(json_object_get(relaxation, "changes"), i, change)
        set_member(copy, text_of(change, "input"), json_object_get(change, "value"));
    return copy;
}

struct tally {
    int told, exact, exact_held, wider, wider_held, least, least_held, empty;
    char codes[2000]; /* of every relaxation that held, for what a suite must meet */
};

/* Has the plan a feasible option of the kind (NULL: any total) with this total and date, or at most this total? */
static bool has_option(const json_t *plan, const char *kind, int64_t total, const char *finish_on, bool at_most)
{
    json_t *o;
    size_t i;
    json_array_foreach(json_object_get(plan, "options"), i, o)
    {
        if (strcmp(text_of(o, "kind"), kind) != 0 || !json_is_true(json_object_get(o, "feasible")))
            continue;
        if (finish_on == NULL)
            return true;
        const int64_t is = minor_of(json_object_get(o, "total_cost_to_finish"));
        if (at_most ? is <= total
                    : is == total && strcmp(text_of(json_object_get(o, "finish"), "finish_on"), finish_on) == 0)
            return true;
    }
    return false;
}

/* One day earlier, or one hundred less. */
static json_t *one_less(const json_t *request, const json_t *relaxation)
{
    json_t *copy = changed(request, relaxation), *change = json_array_get(json_object_get(relaxation, "changes"), 0),
           *value = json_object_get(change, "value");
    char less[40] = "";
    if (json_is_string(value)) {
        date_t day;
        cr_assert_eq(date_parse(json_string_value(value), &day), 0);
        date_text(day - 1, less);
        json_t *text = json_string(less);
        set_member(copy, text_of(change, "input"), text);
        json_decref(text);
    } else {
        const int64_t minor = minor_of(value) - 10000;
        snprintf(less, sizeof less, "%lld.%02lld", (long long)(minor / 100), (long long)(minor % 100));
        json_t *money = json_pack("{s:s, s:s}", "amount", less, "currency", text_of(value, "currency"));
        set_member(copy, text_of(change, "input"), money);
        json_decref(money);
    }
    return copy;
}

static void check_least(const json_t *request, const json_t *relaxation, const char *kind, const char *name,
                        struct tally *t)
{
    const char *code = text_of(relaxation, "code");
    if (strcmp(code, "later_deadline") != 0 && strcmp(code, "more_budget") != 0)
        return;
    json_t *less = one_less(request, relaxation), *plan = plan_of(less);
    const bool enough = plan && has_option(plan, kind, 0, NULL, false);
    t->least++;
    t->least_held += !enough;
    cr_expect_not(enough, "%s: %s: one less is enough for %s too", name, kind, code);
    json_decref(plan);
    json_decref(less);
}

static void check_relaxation(const json_t *request, const json_t *relaxation, const char *kind, const char *name,
                             struct tally *t)
{
    const char *code = text_of(relaxation, "code"), *finish_on = text_of(relaxation, "finish_on");
    const int64_t total = minor_of(json_object_get(relaxation, "total_cost_to_finish"));
    if (json_array_size(json_object_get(relaxation, "changes")) == 0) {
        t->empty++; /* no single change is enough: it says so */
        cr_expect_not_null(strstr(text_of(relaxation, "text"), "Not enough"), "%s: %s", name, code);
        return;
    }
    json_t *request_then = changed(request, relaxation), *plan = plan_of(request_then);
    const bool exact = json_is_true(json_object_get(relaxation, "exact"));
    const bool held = plan && has_option(plan, kind, total, finish_on, false);
    const bool as_good = held || (plan && has_option(plan, kind, total, finish_on, true));
    t->told++;
    *(exact ? &t->exact : &t->wider) += 1;
    *(exact ? &t->exact_held : &t->wider_held) += exact ? held : as_good;
    cr_expect(exact ? held : as_good, "%s: %s: %s foretells %lld on %s, which the plan of it has not%s", name, kind,
              code, (long long)total, finish_on, plan ? "" : " (refused)");
    if (held && !strstr(t->codes, code)) {
        const size_t used = strlen(t->codes);
        snprintf(t->codes + used, sizeof t->codes - used, " %s", code);
    }
    check_least(request, relaxation, kind, name, t);
    json_decref(plan);
    json_decref(request_then);
}

static void check_request(const json_t *request, const char *name, struct tally *t)
{
    json_t *plan = plan_of(request), *miss, *relaxation;
    const json_t *first = json_array_get(json_object_get(plan, "options"), 0);
    size_t i, k;
    json_array_foreach(json_object_get(plan, "infeasible"), i, miss)
        json_array_foreach(json_object_get(miss, "relaxations"), k, relaxation)
            check_relaxation(request, relaxation, text_of(miss, "kind"), name, t);
    if (json_is_true(json_object_get(first, "feasible")))
        json_array_foreach(json_object_get(first, "relaxations"), k, relaxation)
        {
            const char *code = text_of(relaxation, "code");
            const bool method = strcmp(code, "lora") == 0 || strcmp(code, "qlora") == 0;
            check_relaxation(request, relaxation, method ? "single_machine" : text_of(first, "kind"), name, t);
        }
    json_decref(plan);
}

static void tell(const struct tally *t)
{
    if (getenv("TALLY"))
        printf("%d told: %d of %d exact, %d of %d at least as good, %d of %d least, %d not enough;%s\n", t->told,
               t->exact_held, t->exact, t->wider_held, t->wider, t->least_held, t->least, t->empty, t->codes);
}

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

#define PICK(...)                                                                                                      \
    ((const char *const[]){__VA_ARGS__})[next(&seed) % (sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))]

/* Requests that mostly cannot be met: deadlines of days, budgets of a few thousand, data at home, small cards. */
static json_t *random_request(unsigned seed)
{
    char json[1200];
    const char *model = PICK("qwen2.5-7b", "qwen2.5-14b", "qwen2.5-32b", "llama-2-70b", "qwen2.5-72b", "deepseek-v3");
    const char *method = PICK("full_finetune", "full_finetune", "lora", "qlora", "pretrain");
    const char *precision = PICK("", "", "", ",\"precision\":\"fp32\"", ",\"seq_len\":32768");
    const char *city = PICK("", "\"city\":\"hefei\",", "\"city\":\"shenzhen\",", "\"city\":\"wuhan\",");
    const char *limit = PICK("", "\"deadline_on\":\"2026-12-16\",", "\"deadline_on\":\"2027-01-08\",",
                             "\"budget\":{\"amount\":\"3300.00\",\"currency\":\"CNY\"},",
                             "\"budget\":{\"amount\":\"41750.50\",\"currency\":\"CNY\"},");
    const char *data = PICK("", "", "\"data_sensitive\":true,");
    const char *cards = PICK("", "", "", "\"gpus\":[\"a100-sxm4-40g\"],", "\"gpus\":[\"rtx-4090-24g\"],");
    const char *team = PICK("none", "single_node", "slurm", "expert");
    const int millions = 100 + (int)(next(&seed) % 4000), runs = 1 + (int)(next(&seed) % 4);
    snprintf(json, sizeof json,
             "{\"workload\":{\"model\":{\"preset\":\"%s\"},\"training\":{\"method\":\"%s\",\"tokens\":%d000000,"
             "\"runs\":%d%s},\"constraints\":{%s%s%s%s\"team\":\"%s\"},\"priority\":\"%s\"}}",
             model, method, millions, runs, precision, city, limit, data, cards, team,
             PICK("cheapest", "balanced", "fastest"));
    json_t *request = json_loads(json, 0, NULL);
    cr_assert_not_null(request, "%s", json);
    return request;
}

Test(relaxations, examples_cost_what_was_foretold, .timeout = 300)
{
    static const char *const names[] = {"01-lora-7b",      "02-full-7b",         "03-full-14b-deadline",
                                        "04-qlora-70b",    "05-full-70b",        "06-pretrain-130b",
                                        "09-embed-corpus", "10-vision-measured", "11-sensitive-data",
                                        "12-budget-200k",  "14-measured-14b",    "15-hybrid-shareable-runs",
                                        "16-nightly-batch"};
    struct tally t = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[100];
        snprintf(path, sizeof path, "examples/%s.json", names[i]);
        json_t *request = json_load_file(path, 0, NULL);
        cr_assert_not_null(request, "%s", path);
        check_request(request, names[i], &t);
        json_decref(request);
    }
    cr_expect_gt(t.told, 8);
}

Test(relaxations, random_requests_cost_what_was_foretold, .timeout = 300)
{
    static const char *const met[] = {"later_deadline", "more_budget", "offload",        "lora",         "desensitise",
                                      "card_up",        "precision",   "with_operators", "parallel_runs"};
    struct tally t = {0};
    const char *many = getenv("RELAXATIONS"); /* more of them for a long night */
    const unsigned n = many ? (unsigned)strtoul(many, NULL, 10) : 120;
    for (unsigned seed = 1; seed <= n; seed++) {
        char name[40];
        json_t *request = random_request(seed * 7919u);
        snprintf(name, sizeof name, "random request %u", seed);
        check_request(request, name, &t);
        json_decref(request);
    }
    cr_expect_gt(t.least, (int)n / 4);
    for (size_t i = 0; i < sizeof met / sizeof *met; i++)
        cr_expect_not_null(strstr(t.codes, met[i]), "no %s among%s", met[i], t.codes);
    tell(&t);
}

/* The requests of the bench, which nobody chose: every second, or all of them. */
Test(relaxations, requests_nobody_chose_cost_what_was_foretold, .timeout = 300)
{
    static const char *const met[] = {"later_deadline", "more_budget",     "card_up",   "provider",  "city",
                                      "desensitise",    "without_serving", "precision", "max_nodes", "weight_bits"};
    static char line[65536];
    struct tally t = {0};
    int n = 0, asked = 0;
    const int step = getenv("RELAXATIONS") ? 1 : 2;
    FILE *f = fopen("tests/bench/requests.jsonl", "rb");
    cr_assert_not_null(f);
    for (; fgets(line, sizeof line, f) != NULL; n++) {
        char name[60];
        if (n % step != 0)
            continue;
        asked++;
        json_t *request = json_loads(line, 0, NULL);
        cr_assert_not_null(request, "line %d", n + 1);
        snprintf(name, sizeof name, "tests/bench/requests.jsonl:%d", n + 1);
        check_request(request, name, &t);
        json_decref(request);
    }
    fclose(f);
    cr_expect_geq(asked, 60);
    cr_expect_gt(t.exact, asked / 2);
    cr_expect_gt(t.least, asked / 10);
    for (size_t i = 0; i < sizeof met / sizeof *met; i++)
        cr_expect_not_null(strstr(t.codes, met[i]), "no %s among%s", met[i], t.codes);
    tell(&t);
}

/* The biggest models with data that stays at home and a team that runs no cluster: a way out is named. */
Test(relaxations, the_biggest_models_at_home_have_a_way_out, .timeout = 120)
{
    static const char *const models[] = {"deepseek-v3", "qwen3-235b-a22b"}, *const cities[] = {"hefei", "shenzhen",
                                                                                               "wuhan"};
    for (size_t m = 0; m < 2; m++)
        for (size_t c = 0; c < 3; c++) {
            struct tally t = {0};
            json_t *request =
                json_pack("{s:{s:{s:s},s:{s:s,s:i},s:{s:s,s:s,s:b,s:b}}}", "workload", "model", "preset", models[m],
                          "training", "method", "full_finetune", "tokens", 200000000, "constraints", "city", cities[c],
                          "team", "none", "data_sensitive", 1, "can_desensitise", 0);
            cr_assert_not_null(request);
            check_request(request, models[m], &t);
            cr_expect_gt(t.told, 0, "%s in %s", models[m], cities[c]);
            json_decref(request);
        }
}
