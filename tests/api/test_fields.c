/* test_fields.c — every member of every table, with a sound value and with each way of being wrong. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/decode.h"
#include "api/enum_alias.h"
#include "tests/api/client.h"

static const struct {
    const struct jspec *spec;
    const char *pointer; /* where an object of the table stands */
} tables[] = {{&spec_workload, "/workload"},
              {&spec_model, "/workload/model"},
              {&spec_training, "/workload/training"},
              {&spec_measured, "/workload/measured"},
              {&spec_layout, "/workload/measured/layout"},
              {&spec_serving, "/workload/serving"},
              {&spec_model, "/workload/serving/model"},
              {&spec_constraints, "/workload/constraints"},
              {&spec_hardware, "/hardware"},
              {&spec_inter_link, "/hardware/inter_link"},
              {&spec_layout, "/layout"},
              {&spec_operating_point, "/at"},
              {&spec_estimate, ""}};

/* A request in which only the given member is set beside what must be there. */
static char *request_with(const char *pointer, const char *name, json_t *value)
{
    json_t *root =
        json_loads("{\"workload\": {\"model\": {\"params_b\": 7}, \"training\": {}, \"measured\": {\"layout\": {}}, "
                   "\"serving\": {\"model\": {\"params_b\": 7}}, \"constraints\": {}}, \"hardware\": {\"gpu\": "
                   "\"a100-sxm4-80g\", \"inter_link\": {\"kind\": \"roce\"}}, \"layout\": {}, \"at\": {}}",
                   0, NULL);
    json_t *at = root;
    char path[200], *save = NULL;
    snprintf(path, sizeof path, "%s", pointer);
    for (char *part = strtok_r(path, "/", &save); part; part = strtok_r(NULL, "/", &save))
        at = json_object_get(at, part);
    cr_assert(json_is_object(at), "%s", pointer);
    json_object_set_new(at, name, value);
    char *text = json_dumps(root, 0);
    json_decref(root);
    return text;
}

/* Code of the first fault at or below the member; "" when it has none. */
static void fault_at(const char *pointer, const char *name, json_t *value, char ret_code[40])
{
    static struct decoded_estimate e;
    struct decode d;
    struct fault_list faults;
    struct err err = {0};
    struct arena *arena = arena_new(4u << 20);
    char *text = request_with(pointer, name, value), at[JSPEC_POINTER_MAX];
    decode_init(&d, client_catalog(), arena, LANG_EN, date_from_civil(2026, 11, 30), &faults);
    (void)decode_estimate_request(&d, text, strlen(text), &e, &err);
    jspec_pointer(at, pointer, name);
    ret_code[0] = '\0';
    for (size_t i = 0; i < faults.n && !ret_code[0]; i++)
        if (strncmp(faults.items[i].pointer, at, strlen(at)) == 0)
            snprintf(ret_code, 40, "%s", faults.items[i].code);
    free(text);
    arena_free(arena);
}

static bool is_number(const struct jfield *f)
{
    return f->type == J_INT || f->type == J_NUMBER || f->type == J_AMOUNT;
}

static json_t *number(const struct jfield *f, double v)
{
    return f->type == J_INT ? json_integer((json_int_t)v) : json_real(v);
}

Test(fields, a_value_of_another_type_is_refused)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t i = 0; i < tables[t].spec->n; i++) {
            const struct jfield *f = &tables[t].spec->fields[i];
            bool boolean = f->type == J_BOOL || f->type == J_TRI;
            char code[40];
            fault_at(tables[t].pointer, f->name, boolean ? json_string("x") : json_true(), code);
            cr_expect_str_eq(code, "wrong_type", "%s/%s: %s", tables[t].pointer, f->name, code);
            fault_at(tables[t].pointer, f->name, json_null(), code);
            cr_expect(code[0] == '\0' || strcmp(code, "required") == 0, "%s/%s null: %s", tables[t].pointer, f->name,
                      code);
        }
}

Test(fields, a_number_beyond_its_bounds_is_refused_and_at_them_is_not)
{
    size_t n = 0;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t i = 0; i < tables[t].spec->n; i++) {
            const struct jfield *f = &tables[t].spec->fields[i];
            char low[40], high[40], least[40], most[40];
            if (!is_number(f))
                continue;
            bool open = f->flags & J_EXCLUSIVE_MIN;
            fault_at(tables[t].pointer, f->name, number(f, open ? f->min : f->min - 1), low);
            fault_at(tables[t].pointer, f->name, number(f, f->type == J_INT ? f->max + 1 : f->max * 1.01), high);
            fault_at(tables[t].pointer, f->name, number(f, open ? f->min + 1e-6 : f->min), least);
            fault_at(tables[t].pointer, f->name, number(f, f->max), most);
            cr_expect_str_eq(low, "out_of_range", "%s/%s: %s", tables[t].pointer, f->name, low);
            cr_expect_str_eq(high, "out_of_range", "%s/%s: %s", tables[t].pointer, f->name, high);
            cr_expect_str_neq(least, "out_of_range", "%s/%s", tables[t].pointer, f->name);
            cr_expect_str_neq(most, "out_of_range", "%s/%s", tables[t].pointer, f->name);
            n++;
        }
    cr_expect_gt(n, 100);
}

Test(fields, every_choice_is_taken_and_no_other)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t i = 0; i < tables[t].spec->n; i++) {
            const struct jfield *f = &tables[t].spec->fields[i];
            char code[40], choices[600], *save = NULL;
            if (f->type != J_ENUM)
                continue;
            fault_at(tables[t].pointer, f->name, json_string("no such thing"), code);
            cr_expect_str_eq(code, "unknown_value", "%s/%s", tables[t].pointer, f->name);
            snprintf(choices, sizeof choices, "%s", workload_enum_choices((enum workload_enum)f->detail));
            for (char *word = strtok_r(choices, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
                fault_at(tables[t].pointer, f->name, json_string(word), code);
                cr_expect_str_neq(code, "unknown_value", "%s/%s %s", tables[t].pointer, f->name, word);
                cr_expect_str_neq(code, "wrong_type", "%s/%s %s", tables[t].pointer, f->name, word);
            }
        }
}

Test(fields, wire_values_by_their_second_names)
{
    static const struct {
        enum workload_enum of;
        const char *alias, *name; /* NULL = refused */
    } names[] = {{ENUM_ENGINE, "TensorRT-LLM", "tensorrt_llm"},
                 {ENUM_ENGINE, "trtllm", "tensorrt_llm"},
                 {ENUM_ENGINE, "steam", NULL},
                 {ENUM_PRECISION, "BF16", "bf16"},
                 {ENUM_PRECISION, "bfloat16", "bf16"},
                 {ENUM_PRECISION, "fp9", NULL},
                 {ENUM_WEIGHT_FORMAT, "gguf_q4_0", "gguf_q4_k_m"},
                 {ENUM_WEIGHT_FORMAT, "Q8_0", "gguf_q8_0"},
                 {ENUM_WEIGHT_FORMAT, "gguf_iq4_nl", "gguf_iq4_xs"},
                 {ENUM_WEIGHT_FORMAT, "W4A16", "int4"},
                 {ENUM_WEIGHT_FORMAT, "q9", NULL},
                 {ENUM_SHARDING, "FSDP", "zero3"},
                 {ENUM_KIND, "single-machine", "single_machine"},
                 {ENUM_METHOD, "magic", NULL},
                 {ENUM_ENGINE, "an engine with a name that is far too long to be one", NULL}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int value = -1;
        int rc = enum_alias_parse(names[i].of, names[i].alias, &value);
        cr_expect_eq(rc == 0, names[i].name != NULL, "%s", names[i].alias);
        if (rc == 0 && names[i].name)
            cr_expect_str_eq(workload_enum_name(names[i].of, value), names[i].name, "%s", names[i].alias);
    }
}

static const struct {
    const char *pointer, *name, *value, *code; /* code "" = sound */
} rows[] = {
    {"/workload/training", "fp8_recipe", "\"mxfp8\"", ""},
    {"/workload/training", "fp8_recipe", "\"tensorwise\"", ""},
    {"/workload/training", "fp8_recipe", "\"x\"", "unknown_value"},
    {"/workload/serving", "speculative", "\"mtp\"", ""},
    {"/workload/serving", "speculative", "\"none\"", ""},
    {"/workload/serving", "speculative", "\"eagle\"", "unknown_value"},
    {"/workload/serving", "engine_version", "\"0.19.0\"", ""},
    {"/workload/serving", "engine_version", "\"0.4.6.post1\"", ""},
    {"/workload/serving", "engine_version", "\"a b\"", "not_a_version"},
    {"/workload/serving", "engine_version", "\"\"", "length"},
    {"/workload/serving", "months", "0", ""},
    {"/workload/serving", "months", "601", "out_of_range"},
    {"/workload/constraints", "city", "\"合肥市\"", ""},
    {"/workload/constraints", "kinds", "[]", ""},
    {"/workload/constraints", "kinds", "[1]", "wrong_type"},
    {"/workload/constraints", "gpus", "[\"H100-80G\"]", ""},
    {"/workload/constraints", "gpus", "[7]", "wrong_type"},
    {"/workload/constraints", "gpus", "\"a100\"", "wrong_type"},
    {"/workload/constraints", "providers", "[\"nobody\"]", "unknown_provider"},
    {"/workload/constraints", "budget", "{\"amount\": \"5\"}", ""},
    {"/workload/constraints", "budget", "{\"amount\": \"5\", \"currency\": \"cny\"}", "unknown_currency"},
    {"/workload/constraints", "budget", "{\"currency\": \"CNY\"}", "required"},
    {"/workload/constraints", "budget", "{\"amount\": \"9999999999999.00\"}", "out_of_range"},
    {"/workload/constraints", "start_on", "\"2027-1-4\"", "not_a_date"},
    {"/workload/constraints", "start_on", "\"2027-01-04T00:00:00Z\"", "not_a_date"},
    {"/workload", "currency", "\"USD\"", ""},
    {"/workload", "assumptions", "{\"month_hours\": 700}", ""},
    {"/workload", "assumptions", "{\"month_hours\": null}", ""},
    {"/workload", "assumptions", "{\"month_hours\": 1e9}", "out_of_range"},
    {"/workload", "assumptions", "{\"month_hours\": \"700\"}", "wrong_type"},
    {"/hardware", "gpu", "\"NVIDIA A100-SXM4-80GB\"", ""},
    {"/hardware", "intra_link", "\"nvswitch\"", ""},
    {"/hardware", "intra_link", "\"rope\"", "unknown_value"},
    {"/hardware/inter_link", "kind", "\"infiniband\"", ""},
    {"/hardware/inter_link", "kind", "\"pigeon\"", "unknown_value"},
    {"/workload/model", "config", "\"no config here\"", "config_not_understood"},
    {"/workload/model", "name", "\"\"", "length"},
};

Test(fields, what_tables_alone_do_not_show)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char code[40];
        fault_at(rows[i].pointer, rows[i].name, json_loads(rows[i].value, JSON_DECODE_ANY, NULL), code);
        cr_expect_str_eq(code, rows[i].code, "%s/%s %s: %s", rows[i].pointer, rows[i].name, rows[i].value, code);
    }
}
