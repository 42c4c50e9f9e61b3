/* test_diagnoses.c — from pasted readings to a plan that starts with what they show, through the door. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/api/client.h"

static json_t *diagnosis_of(const char *member, const char *text, size_t size)
{
    json_t *body = json_object();
    json_object_set_new(body, member, json_stringn_nocheck(text, size));
    char *said = json_dumps(body, 0);
    struct reply r = ask((struct ask){.path = "/api/v1/diagnoses", .body = said});
    cr_assert_eq(r.status, 200, "%s", r.text);
    json_t *answer = json_incref(r.json);
    reply_done(&r);
    free(said);
    json_decref(body);
    return answer;
}

static json_t *plan_with(const json_t *measured, const char *file)
{
    char *block = json_dumps(measured, 0), body[4096];
    snprintf(body, sizeof body,
             "{\"workload\": {\"model\": {\"preset\": \"qwen2.5-7b\"}, \"training\": {\"method\": \"full_finetune\", "
             "\"tokens\": 1e9}, \"measured\": %s}}",
             block);
    struct reply r = ask((struct ask){.path = "/api/v1/plans", .body = body});
    cr_expect_eq(r.status, 200, "%s: %s\n%s", file, block, r.text);
    json_t *answer = r.status == 200 ? json_incref(r.json) : NULL;
    reply_done(&r);
    free(block);
    return answer;
}

static const char *member_of(const char *kind)
{
    static const char *const members[][2] = {{"smi", "nvidia_smi"},
                                             {"query_csv", "nvidia_smi_csv"},
                                             {"dmon", "dmon"},
                                             {"topo", "topo"},
                                             {"train_log", "training_log"}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(members[i][0], kind) == 0)
            return members[i][1];
    return NULL;
}

static bool not_cards(const char *verdict)
{
    static const char *const all[] = {"data_pipeline", "bandwidth_bound", "unstable_iterations", "waiting"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i], verdict) == 0)
            return true;
    return false;
}

/* The plan starts with the diagnosis; where it says "not cards", with the money that would be saved. */
static void check_plan(const json_t *plan, const char *verdict, const char *file)
{
    const json_t *said = json_object_get(json_object_get(plan, "summary"), "diagnosis");
    const char *code = json_string_value(json_object_get(said, "code"));
    cr_expect_str_eq(code != NULL ? code : "insufficient", verdict, "%s", file);
    const char *text = json_string_value(json_object_get(said, "text"));
    cr_expect(text == NULL || strstr(text, ": -") == NULL, "%s: a figure is missing: %s", file, text);
    const json_t *first = json_array_get(json_object_get(plan, "warnings"), 0);
    if (not_cards(verdict) && json_array_size(json_object_get(plan, "options")) > 0)
        cr_expect_eq(strncmp(json_string_value(json_object_get(first, "code")), "not_cards", 9), 0, "%s", file);
}

struct counts {
    size_t read, planned, apart;
};

/* Every reading of a folder into a diagnosis, its measured block into a workload, and that into a plan. */
static void from_reading_to_plan(const char *folder, struct counts *c)
{
    char path[1024], *save = NULL;
    snprintf(path, sizeof path, "%s/index.jsonl", folder);
    char *index = read_file(path, NULL);
    cr_assert_not_null(index, "%s", path);
    for (char *line = strtok_r(index, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        json_t *row = json_loads(line, 0, NULL);
        const char *file = json_string_value(json_object_get(row, "file"));
        const char *member = member_of(json_string_value(json_object_get(row, "kind")));
        size_t size;
        snprintf(path, sizeof path, "%s/%s", folder, file);
        char *text = member ? read_file(path, &size) : NULL;
        if (text) {
            json_t *d = diagnosis_of(member, text, size), *measured = json_object_get(d, "measured");
            const char *verdict = json_string_value(json_object_get(d, "verdict"));
            json_t *plan = json_is_object(measured) ? plan_with(measured, file) : NULL;
            if (plan)
                check_plan(plan, verdict, file);
            cr_expect(plan != NULL || strcmp(verdict, "insufficient") == 0, "%s: a verdict without its block", file);
            c->read++;
            c->planned += plan != NULL;
            c->apart += plan != NULL && not_cards(verdict);
            json_decref(plan);
            json_decref(d);
        }
        free(text);
        json_decref(row);
    }
    free(index);
}

Test(diagnoses, measured_goes_into_a_workload_and_the_plan_starts_with_it, .timeout = 120)
{
    struct counts c = {0};
    from_reading_to_plan("tests/data", &c);
    cr_expect_gt(c.planned, 200);
    cr_expect_gt(c.apart, 30);
    const char *outside = shared_path("data/inputs");
    if (outside)
        from_reading_to_plan(outside, &c);
    fprintf(stderr, "diagnoses: %zu readings%s, %zu measured blocks planned with, %zu of them not cards\n", c.read,
            outside ? "" : " (SKIPPED those outside the repository)", c.planned, c.apart);
}
