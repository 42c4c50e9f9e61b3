/* test_contract.c — openapi.json says what the tables of the decoders do: members, bounds, choices, requirements. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/decode.h"
#include "api/errors.h"
#include "api/message.h"
#include "api/query_workload.h"
#include "tests/api/client.h"

static json_t *document(void)
{
    static json_t *doc;
    if (!doc) {
        doc = json_load_file("api/openapi.json", JSON_REJECT_DUPLICATES, NULL);
        cr_assert_not_null(doc);
    }
    return doc;
}

static json_t *schema_named(const char *name)
{
    return json_object_get(json_object_get(json_object_get(document(), "components"), "schemas"), name);
}

static bool contains(json_t *list, const char *word)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        if (json_is_string(item) && strcmp(json_string_value(item), word) == 0)
            return true;
    }
    return false;
}

static double bound(json_t *property, const char *inclusive, const char *exclusive)
{
    json_t *v = json_object_get(property, inclusive);
    return json_number_value(v ? v : json_object_get(property, exclusive));
}

static void check_field(const char *name, const struct jfield *f, json_t *schema)
{
    json_t *property = json_object_get(json_object_get(schema, "properties"), f->name);
    cr_assert_not_null(property, "%s lacks %s", name, f->name);
    if (f->type == J_INT || f->type == J_NUMBER || f->type == J_AMOUNT) {
        cr_expect_float_eq(bound(property, "minimum", "exclusiveMinimum"), f->min, 0, "%s.%s", name, f->name);
        cr_expect_float_eq(bound(property, "maximum", "-"), f->max, 0, "%s.%s", name, f->name);
        cr_expect_eq(json_object_get(property, "exclusiveMinimum") != NULL, (f->flags & J_EXCLUSIVE_MIN) != 0, "%s.%s",
                     name, f->name);
        cr_expect_eq(contains(json_object_get(property, "type"), "integer"), f->type == J_INT, "%s.%s", name, f->name);
    }
    if (f->type == J_ENUM) {
        char choices[600], *save = NULL;
        size_t n = 0;
        snprintf(choices, sizeof choices, "%s", workload_enum_choices((enum workload_enum)f->detail));
        for (char *word = strtok_r(choices, ", ", &save); word; word = strtok_r(NULL, ", ", &save), n++)
            cr_expect(contains(json_object_get(property, "enum"), word), "%s.%s lacks %s", name, f->name, word);
        size_t listed = json_array_size(json_object_get(property, "enum"));
        bool null_listed = contains(json_object_get(property, "type"), "null");
        cr_expect_eq(listed, n + null_listed, "%s.%s", name, f->name);
    }
    cr_expect_eq(contains(json_object_get(schema, "required"), f->name), (f->flags & J_REQUIRED) != 0, "%s.%s", name,
                 f->name);
}

Test(contract, every_table_is_written_down)
{
    static const struct {
        const char *name;
        const struct jspec *spec;
    } tables[] = {{"Workload", &spec_workload},
                  {"ModelInput", &spec_model},
                  {"TrainingInput", &spec_training},
                  {"LayoutInput", &spec_layout},
                  {"MeasuredInput", &spec_measured},
                  {"ServingInput", &spec_serving},
                  {"ConstraintsInput", &spec_constraints},
                  {"HardwareInput", &spec_hardware},
                  {"InterLinkInput", &spec_inter_link},
                  {"OperatingPointInput", &spec_operating_point},
                  {"EstimateRequest", &spec_estimate},
                  {"PlanRequest", &spec_plan}};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        json_t *schema = schema_named(tables[t].name);
        cr_assert_not_null(schema, "%s", tables[t].name);
        cr_expect_eq(json_object_size(json_object_get(schema, "properties")), tables[t].spec->n, "%s", tables[t].name);
        cr_expect(json_is_false(json_object_get(schema, "additionalProperties")), "%s", tables[t].name);
        for (size_t i = 0; i < tables[t].spec->n; i++)
            check_field(tables[t].name, &tables[t].spec->fields[i], schema);
    }
}

Test(contract, every_alias_and_every_error_is_written_down)
{
    json_t *parameters = json_object_get(json_object_get(document(), "components"), "parameters");
    for (size_t i = 0; i < query_aliases_n; i++) {
        char key[60];
        snprintf(key, sizeof key, "query_%s", query_aliases[i].alias);
        json_t *p = json_object_get(parameters, key);
        const char *text = json_string_value(json_object_get(p, "description"));
        cr_assert_not_null(text, "%s", key);
        cr_expect(strstr(text, query_aliases[i].path), "%s: %s", key, text);
    }
    json_t *problems = json_object_get(document(), "x-problems");
    cr_expect_eq(json_array_size(problems), API_ERROR_COUNT);
    for (int e = 0; e < API_ERROR_COUNT; e++)
        cr_expect_str_eq(json_string_value(json_object_get(json_array_get(problems, (size_t)e), "code")),
                         api_error_info((enum api_error)e)->slug);
}

/* Placeholders of a text, sorted out by presence in the other. */
static bool same_placeholders(const char *a, const char *b)
{
    for (const char *open = strchr(a, '{'); open; open = strchr(open + 1, '{')) {
        const char *close = strchr(open, '}');
        char name[80];
        if (!close || close - open > 70)
            return false;
        snprintf(name, sizeof name, "%.*s", (int)(close - open + 1), open);
        if (!strstr(b, name))
            return false;
    }
    return true;
}

Test(contract, both_languages_say_the_same)
{
    client_catalog();
    size_t n = 0;
    for (; message_key_at(LANG_EN, n); n++) {
        const char *key = message_key_at(LANG_EN, n);
        const char *en = message_find(LANG_EN, key, ""), *zh = message_find(LANG_ZH_CN, key, "");
        cr_assert_not_null(zh, "%s has no Chinese", key);
        cr_expect(same_placeholders(en, zh) && same_placeholders(zh, en), "%s: %s / %s", key, en, zh);
        cr_expect(*en && *zh, "%s is empty", key);
    }
    for (size_t i = 0; message_key_at(LANG_ZH_CN, i); i++)
        cr_expect_not_null(message_find(LANG_EN, message_key_at(LANG_ZH_CN, i), ""), "%s has no English",
                           message_key_at(LANG_ZH_CN, i));
    cr_expect_gt(n, 200);
}

/* The n-th argument (from 0) of the call whose '(' is at `open`. */
static const char *argument(const char *open, int n, size_t *ret_len)
{
    int depth = 0;
    bool quoted = false;
    const char *start = open + 1;
    for (const char *p = open; *p; p++) {
        if (*p == '"' && p[-1] != '\\')
            quoted = !quoted;
        if (quoted)
            continue;
        depth += (*p == '(') - (*p == ')');
        bool ends = depth == 0 || (depth == 1 && *p == ',');
        if (ends && n-- == 0) {
            *ret_len = (size_t)(p - start);
            return start;
        }
        if (ends)
            start = p + 1;
        if (depth == 0)
            return NULL;
    }
    return NULL;
}

/* Every code that the planner's sources write in a call that makes a note. */
static void check_source(const char *path, size_t *codes)
{
    static const struct {
        const char *call;
        int argument;
    } calls[] = {{"note_add(", 1}, {"note_add_once(", 1}, {"build_refuse(", 2}, {"assume(", 1}};
    char *text = read_file(path, NULL);
    cr_assert_not_null(text, "%s", path);
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
        for (const char *at = strstr(text, calls[k].call); at; at = strstr(at + 1, calls[k].call)) {
            size_t len = 0;
            const char *arg = argument(at + strlen(calls[k].call) - 1, calls[k].argument, &len);
            for (const char *q = arg; q && (q = memchr(q, '"', (size_t)(arg + len - q))); q++) {
                char code[80];
                if (sscanf(q, "\"%79[a-z0-9_]\"", code) != 1)
                    break;
                cr_expect_not_null(message_find(LANG_EN, "note.", code), "%s: note %s has no text", path, code);
                ++*codes;
                q += strlen(code) + 1;
            }
        }
    free(text);
}

Test(contract, every_note_of_the_planner_has_a_text)
{
    size_t codes = 0;
    client_catalog();
    FILE *list = popen("ls planner/*/*.c", "r");
    char path[300];
    cr_assert_not_null(list);
    while (fgets(path, sizeof path, list)) {
        path[strcspn(path, "\n")] = '\0';
        check_source(path, &codes);
    }
    pclose(list);
    cr_expect_gt(codes, 50);
}

Test(contract, every_assumption_has_words)
{
    const struct catalog *c = client_catalog();
    size_t n = 0;
    for (size_t i = 0; i < c->params.n; i++) {
        const struct param *p = &c->params.rows[i];
        if (strcmp(p->kind, "assumption") != 0)
            continue;
        for (int language = 0; language < 2; language++) {
            struct buf words;
            buf_init(&words, 4096);
            message_assumption_json(&words, (enum language)language, p->key);
            cr_expect_str_neq(words.data, p->key, "%s has no words", p->key);
            buf_done(&words);
        }
        n++;
    }
    cr_expect_gt(n, 100);
}
