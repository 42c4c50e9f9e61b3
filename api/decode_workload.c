/* decode_workload.c — the workload around training and serving: readings, constraints, assumptions. */
#include <stdio.h>
#include <string.h>

#include "api/decode.h"
#include "base/money.h"

/* ---- shared value decoders --------------------------------------------------------------------------------- */

bool decode_currency(struct decode *d, json_t *value, const char *pointer, char ret_currency[4])
{
    const char *s = jspec_string(d, value, pointer, 1, 40);
    if (!s)
        return false;
    int64_t rate;
    date_t on;
    bool well_formed = strlen(s) == 3 && strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3;
    bool known = well_formed &&
                 (strcmp(s, "CNY") == 0 || !d->catalog || catalog_fx(d->catalog, s, "CNY", d->today, &rate, &on) == 0);
    if (!known) {
        jspec_unknown_value(d, pointer, "unknown_currency", s, "");
        return false;
    }
    memcpy(ret_currency, s, 4);
    return true;
}

struct money_input {
    const char *amount;
    char currency[4];
};

static void take_money_currency(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    decode_currency(d, value, pointer, dest);
}

static const struct jfield money_fields[] = {
    {"amount", J_STRING, offsetof(struct money_input, amount), 1, 24, J_REQUIRED, 0, NULL, NULL},
    {"currency", J_CUSTOM, offsetof(struct money_input, currency), 0, 0, 0, 0, NULL, take_money_currency},
};
static const struct jspec spec_money = {JFIELDS(money_fields), JSPEC_NO_STATED};

bool decode_money(struct decode *d, json_t *value, const char *pointer, int64_t *ret_minor, char ret_currency[4])
{
    struct money_input in = {.currency = "CNY"};
    size_t before = d->faults->n + d->faults->dropped;
    jspec_decode(d, &spec_money, value, pointer, &in);
    if (d->faults->n + d->faults->dropped != before)
        return false;
    char at[JSPEC_POINTER_MAX];
    jspec_pointer(at, pointer, "amount");
    if (money_parse_minor(in.amount, ret_minor)) {
        jspec_fault(d, at, "not_money", NULL, NULL);
        return false;
    }
    if (*ret_minor <= 0 || *ret_minor > INT64_C(100000000000000)) {
        jspec_out_of_range(d, at, 0, 1e12, true);
        return false;
    }
    memcpy(ret_currency, in.currency, 4);
    return true;
}

const struct gpu *decode_gpu(struct decode *d, json_t *value, const char *pointer)
{
    const char *s = jspec_string(d, value, pointer, 1, 80);
    const struct gpu *g = s && d->catalog ? catalog_gpu(d->catalog, s) : NULL;
    if (s && !g)
        jspec_unknown_value(d, pointer, "unknown_gpu", s, "");
    return g;
}

/* ---- measured ---------------------------------------------------------------------------------------------- */

static void take_measured_gpu(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    const struct gpu *g = decode_gpu(d, value, pointer);
    if (g)
        *(const char **)dest = g->id;
}

#define OF(member) offsetof(struct measured, member)

static const struct jfield measured_fields[] = {
    {"gpu", J_CUSTOM, OF(gpu), 0, 0, 0, 0, NULL, take_measured_gpu},
    JFIELD_INT(gpus, 1, 1000000),
    JFIELD_INT(nodes, 1, 100000),
    JFIELD_NUMBER(tokens_per_s, 0, 1e13, J_EXCLUSIVE_MIN),
    JFIELD_NUMBER(samples_per_s, 0, 1e12, J_EXCLUSIVE_MIN),
    JFIELD_NUMBER(step_time_s, 0, 1e6, J_EXCLUSIVE_MIN),
    JFIELD_INT(seq_len, 1, 10000000),
    JFIELD_INT(global_batch, 1, 10000000),
    {"layout", J_OBJECT, OF(layout), 0, 0, 0, 0, &spec_layout, NULL},
    JFIELD_NUMBER(gpu_util_pct, 0, 100, 0),
    JFIELD_NUMBER(memory_used_pct, 0, 100, 0),
    JFIELD_NUMBER(peak_memory_gb, 0, 100000, 0),
    JFIELD_NUMBER(comm_share_pct, 0, 100, 0),
    JFIELD_NUMBER(iteration_time_cv, 0, 100, 0),
    JFIELD_NUMBER(two_node_speedup, 0, 10, J_EXCLUSIVE_MIN),
    JFIELD_NUMBER(parallel_file_system_gbps, 0, 1e6, J_EXCLUSIVE_MIN),
    {"verdict", J_ENUM, OF(verdict), 0, 0, 0, ENUM_VERDICT, NULL, NULL},
    JFIELD_NUMBER(recoverable_share, 0, 1, 0),
};
const struct jspec spec_measured = {JFIELDS(measured_fields), offsetof(struct measured, stated)};

/* ---- constraints ------------------------------------------------------------------------------------------- */

static void take_budget(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    struct constraints *c = dest;
    decode_money(d, value, pointer, &c->budget_minor, c->budget_currency);
}

static void take_city(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    static const char *const chinese[][2] = {{"合肥", "hefei"}, {"深圳", "shenzhen"}, {"武汉", "wuhan"}};
    const char *s = jspec_string(d, value, pointer, 1, 60);
    for (size_t i = 0; s && i < sizeof chinese / sizeof *chinese; i++)
        if (strncmp(s, chinese[i][0], strlen(chinese[i][0])) == 0)
            s = chinese[i][1];
    if (s)
        *(const char **)dest = s;
}

static void take_kinds(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    bool *kinds = dest;
    if (!json_is_array(value)) {
        jspec_wrong_type(d, pointer, "array", value);
        return;
    }
    if (json_array_size(value) == 0)
        return; /* none named: all */
    memset(kinds, 0, KIND_COUNT * sizeof *kinds);
    size_t i;
    json_t *item;
    json_array_foreach(value, i, item)
    {
        char name[24], at[JSPEC_POINTER_MAX];
        (void)snprintf(name, sizeof name, "%zu", i);
        jspec_pointer(at, pointer, name);
        int kind;
        if (!json_is_string(item))
            jspec_wrong_type(d, at, "string", item);
        else if (workload_enum_parse(ENUM_KIND, json_string_value(item), &kind))
            jspec_unknown_value(d, at, "unknown_value", json_string_value(item), workload_enum_choices(ENUM_KIND));
        else
            kinds[kind] = true;
    }
}

static const char *resolve_gpu(struct decode *d, json_t *item, const char *at)
{
    const struct gpu *g = decode_gpu(d, item, at);
    return g ? g->id : NULL;
}

static const char *resolve_provider(struct decode *d, json_t *item, const char *at)
{
    const char *s = jspec_string(d, item, at, 1, 80);
    const struct provider *p = s && d->catalog ? catalog_provider(d->catalog, s) : NULL;
    if (s && !p)
        jspec_unknown_value(d, at, "unknown_provider", s, "");
    return p ? p->id : NULL;
}

#define LIST_MAX 64

static void take_list(struct decode *d, json_t *value, const char *pointer, const char ***ret, size_t *ret_n,
                      const char *(*resolve)(struct decode *, json_t *, const char *))
{
    size_t n = json_array_size(value);
    if (!json_is_array(value)) {
        jspec_wrong_type(d, pointer, "array", value);
        return;
    }
    if (n > LIST_MAX) {
        jspec_out_of_range(d, pointer, 0, LIST_MAX, false);
        return;
    }
    const char **items = arena_array(d->arena, n ? n : 1, sizeof *items);
    for (size_t i = 0; items && i < n; i++) {
        char name[24], at[JSPEC_POINTER_MAX];
        (void)snprintf(name, sizeof name, "%zu", i);
        jspec_pointer(at, pointer, name);
        items[i] = resolve(d, json_array_get(value, i), at);
    }
    *ret = items;
    *ret_n = items ? n : 0;
}

static void take_gpus(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    struct constraints *c = dest;
    take_list(d, value, pointer, &c->gpus, &c->n_gpus, resolve_gpu);
}

static void take_providers(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    struct constraints *c = dest;
    take_list(d, value, pointer, &c->providers, &c->n_providers, resolve_provider);
}

#undef OF
#define OF(member) offsetof(struct constraints, member)

static const struct jfield constraints_fields[] = {
    {"start_on", J_DATE, OF(start_on), 0, 0, 0, 0, NULL, NULL},
    {"deadline_on", J_DATE, OF(deadline_on), 0, 0, 0, 0, NULL, NULL},
    {"budget", J_CUSTOM, 0, 0, 0, 0, 0, NULL, take_budget},
    {"city", J_CUSTOM, OF(city), 0, 0, 0, 0, NULL, take_city},
    {"data_sensitive", J_BOOL, OF(data_sensitive), 0, 0, 0, 0, NULL, NULL},
    {"can_desensitise", J_TRI, OF(can_desensitise), 0, 0, 0, 0, NULL, NULL},
    JFIELD_NUMBER(egress_gb, 0, 1e8, 0),
    {"team", J_ENUM, OF(team), 0, 0, 0, ENUM_TEAM, NULL, NULL},
    JFIELD_INT(max_nodes, 1, 100000),
    {"allow_spot", J_BOOL, OF(allow_spot), 0, 0, 0, 0, NULL, NULL},
    {"kinds", J_CUSTOM, OF(kinds), 0, 0, 0, 0, NULL, take_kinds},
    {"gpus", J_CUSTOM, 0, 0, 0, 0, 0, NULL, take_gpus},
    {"providers", J_CUSTOM, 0, 0, 0, 0, 0, NULL, take_providers},
    {"mix_gpus", J_BOOL, OF(mix_gpus), 0, 0, 0, 0, NULL, NULL},
    JFIELD_NUMBER(wan_gbps, 0, 1e5, J_EXCLUSIVE_MIN),
};
const struct jspec spec_constraints = {JFIELDS(constraints_fields), JSPEC_NO_STATED};

/* ---- the workload ------------------------------------------------------------------------------------------ */

static void take_model(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    struct workload *w = dest;
    decode_model(d, value, pointer, &w->model, &w->preset);
}

static void take_workload_currency(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    decode_currency(d, value, pointer, dest);
}

static void take_override(struct decode *d, const char *name, json_t *value, const char *at, struct workload *w)
{
    const struct param *p = d->catalog ? param_find(&d->catalog->params, name) : NULL;
    double v;
    if (!p)
        jspec_fault(d, at, "unknown_assumption", name, NULL);
    else if (!p->overridable)
        jspec_fault(d, at, "assumption_fixed", name, NULL);
    else if (jspec_number(d, value, at, p->min, p->max, 0, &v))
        w->overrides[w->n_overrides++] = (struct assumption_override){.name = p->key, .value = v};
}

static void take_assumptions(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    struct workload *w = dest;
    if (!json_is_object(value)) {
        jspec_wrong_type(d, pointer, "object", value);
        return;
    }
    if (json_object_size(value) > LIST_MAX) {
        jspec_out_of_range(d, pointer, 0, LIST_MAX, false);
        return;
    }
    w->overrides = arena_array(d->arena, json_object_size(value) + 1, sizeof *w->overrides);
    const char *name;
    json_t *item;
    json_object_foreach(value, name, item)
    {
        char at[JSPEC_POINTER_MAX];
        jspec_pointer(at, pointer, name);
        if (w->overrides && !json_is_null(item))
            take_override(d, name, item, at, w);
    }
}

#undef OF
#define OF(member) offsetof(struct workload, member)

static const struct jfield workload_fields[] = {
    {"name", J_STRING, OF(name), 0, 200, 0, 0, NULL, NULL},
    {"model", J_CUSTOM, 0, 0, 0, 0, 0, NULL, take_model},
    {"training", J_OBJECT, OF(training), 0, 0, 0, 0, &spec_training, NULL},
    {"measured", J_OBJECT, OF(measured), 0, 0, 0, 0, &spec_measured, NULL},
    {"serving", J_OBJECT, OF(serving), 0, 0, 0, 0, &spec_serving, NULL},
    {"constraints", J_OBJECT, OF(constraints), 0, 0, 0, 0, &spec_constraints, NULL},
    {"priority", J_ENUM, OF(priority), 0, 0, 0, ENUM_PRIORITY, NULL, NULL},
    {"currency", J_CUSTOM, OF(currency), 0, 0, 0, 0, NULL, take_workload_currency},
    {"language", J_ENUM, OF(language), 0, 0, 0, ENUM_LANGUAGE, NULL, NULL},
    {"assumptions", J_CUSTOM, 0, 0, 0, 0, 0, NULL, take_assumptions},
};
const struct jspec spec_workload = {JFIELDS(workload_fields), JSPEC_NO_STATED};
