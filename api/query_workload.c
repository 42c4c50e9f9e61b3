/* query_workload.c — query parameters as the request body they abbreviate. */
#include "api/query_workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/decode.h"

const struct query_alias query_aliases[] = {
    {"model", "model.preset"},
    {"p", "model.params_b"},
    {"ap", "model.active_params_b"},
    {"m", "training.method"},
    {"tok", "training.tokens"},
    {"smp", "training.samples"},
    {"steps", "training.steps"},
    {"ep", "training.epochs"},
    {"seq", "training.seq_len"},
    {"gb", "training.global_batch"},
    {"r", "training.lora_rank"},
    {"qb", "training.quant_bits"},
    {"prec", "training.precision"},
    {"opt", "training.optimizer"},
    {"runs", "training.runs"},
    {"par", "training.parallel_runs"},
    {"share", "training.shareable_runs"},
    {"data", "training.dataset_gb"},
    {"fps", "training.flops_per_sample"},
    {"mgpu", "measured.gpu"},
    {"mgpus", "measured.gpus"},
    {"mnodes", "measured.nodes"},
    {"mtps", "measured.tokens_per_s"},
    {"msps", "measured.samples_per_s"},
    {"mstep", "measured.step_time_s"},
    {"mutil", "measured.gpu_util_pct"},
    {"rps", "serving.requests_per_s"},
    {"conc", "serving.concurrency"},
    {"users", "serving.users"},
    {"rph", "serving.requests_per_user_hour"},
    {"peak", "serving.peak_factor"},
    {"in", "serving.input_tokens"},
    {"out", "serving.output_tokens"},
    {"ttft", "serving.ttft_ms"},
    {"tpot", "serving.tpot_ms"},
    {"wb", "serving.weight_bits"},
    {"kvb", "serving.kv_bits"},
    {"wf", "serving.weight_format"},
    {"eng", "serving.engine"},
    {"hpd", "serving.hours_per_day"},
    {"batch", "serving.batch_share"},
    {"mon", "serving.months"},
    {"spare", "serving.spare_replicas"},
    {"st", "constraints.start_on"},
    {"dl", "constraints.deadline_on"},
    {"bud", "constraints.budget"},
    {"city", "constraints.city"},
    {"sens", "constraints.data_sensitive"},
    {"desens", "constraints.can_desensitise"},
    {"eg", "constraints.egress_gb"},
    {"team", "constraints.team"},
    {"nodes", "constraints.max_nodes"},
    {"spot", "constraints.allow_spot"},
    {"kinds", "constraints.kinds"},
    {"gpus", "constraints.gpus"},
    {"prov", "constraints.providers"},
    {"mix", "constraints.mix_gpus"},
    {"pri", "priority"},
    {"cur", "currency"},
    {"lang", "language"},
    {"name", "name"},
    {"asof", "as_of"},
};
const size_t query_aliases_n = sizeof query_aliases / sizeof *query_aliases;

bool query_is_presentation(const char *name)
{
    return strcmp(name, "format") == 0 || strcmp(name, "bom") == 0 || strcmp(name, "headers") == 0 ||
           strcmp(name, "cols") == 0 || strcmp(name, "t") == 0;
}

static const char *path_of(const char *name)
{
    for (size_t i = 0; i < query_aliases_n; i++)
        if (strcmp(query_aliases[i].alias, name) == 0)
            return query_aliases[i].path;
    return name;
}

static const struct jfield *field_named(const struct jspec *spec, const char *name, size_t len)
{
    for (size_t i = 0; i < spec->n; i++)
        if (strlen(spec->fields[i].name) == len && memcmp(spec->fields[i].name, name, len) == 0)
            return &spec->fields[i];
    return NULL;
}

/* The table behind an object member that a table alone does not show. */
static const struct jspec *spec_below(const struct jfield *f)
{
    return f->sub ? f->sub : strcmp(f->name, "model") == 0 ? &spec_model : NULL;
}

static json_t *number_value(struct decode *d, const char *pointer, const char *text)
{
    char *end;
    const char *digits = text + (*text == '-');
    if (strspn(digits, "0123456789") == strlen(digits) && *digits && strlen(digits) < 18)
        return json_integer(strtoll(text, NULL, 10));
    double v = strtod(text, &end);
    /* plain decimal or exponent only: no hex, no "inf", no blanks */
    if (*text == '\0' || *end != '\0' || strspn(text, "0123456789+-.eE") != strlen(text)) {
        jspec_unknown_value(d, pointer, "not_a_number", text, "");
        return json_null();
    }
    json_t *real = json_real(v);
    return real ? real : json_real(1e308 * (v > 0 ? 1 : -1)); /* overflow: let the bounds refuse it */
}

static json_t *boolean_value(struct decode *d, const char *pointer, const char *text)
{
    if (strcmp(text, "true") == 0 || strcmp(text, "1") == 0 || strcmp(text, "yes") == 0)
        return json_true();
    if (strcmp(text, "false") == 0 || strcmp(text, "0") == 0 || strcmp(text, "no") == 0)
        return json_false();
    jspec_unknown_value(d, pointer, "not_a_boolean", text, "");
    return json_null();
}

static json_t *list_value(const char *text)
{
    json_t *list = json_array();
    while (list && *text) {
        size_t n = strcspn(text, ",");
        json_array_append_new(list, json_stringn(text, n));
        text += n + (text[n] == ',');
    }
    return list;
}

/* "200000", "200000.00 USD" or "USD 200000" */
static json_t *money_value(const char *text)
{
    char amount[32] = "", currency[8] = "CNY";
    size_t digits = strspn(text, "0123456789.");
    if (digits && digits < sizeof amount) {
        memcpy(amount, text, digits);
        amount[digits] = '\0';
        text += digits + strspn(text + digits, " ");
        if (*text)
            (void)snprintf(currency, sizeof currency, "%.7s", text);
    } else {
        (void)snprintf(amount, sizeof amount, "%.24s", text);
    }
    return json_pack("{s:s, s:s}", "amount", amount, "currency", currency);
}

static json_t *custom_value(struct decode *d, const struct jfield *f, const char *pointer, const char *text)
{
    static const char *const lists[] = {"kinds", "gpus", "providers"};
    if (strcmp(f->name, "months") == 0)
        return number_value(d, pointer, text);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(f->name, lists[i]) == 0)
            return list_value(text);
    if (strcmp(f->name, "budget") == 0)
        return money_value(text);
    return json_string(text);
}

static json_t *value_of(struct decode *d, const struct jfield *f, const char *pointer, const char *text)
{
    switch (f->type) {
    case J_INT:
    case J_NUMBER:
    case J_AMOUNT:
        return number_value(d, pointer, text);
    case J_BOOL:
    case J_TRI:
        return boolean_value(d, pointer, text);
    case J_STRING:
    case J_ENUM:
    case J_DATE:
        return json_string(text);
    case J_CUSTOM:
        return custom_value(d, f, pointer, text);
    case J_OBJECT:
        break;
    }
    return NULL;
}

/* The object at `name` of parent, made when missing; borrowed. */
static json_t *child(json_t *parent, const char *name, size_t len)
{
    char key[64];
    (void)snprintf(key, sizeof key, "%.*s", (int)len, name);
    json_t *at = json_object_get(parent, key);
    if (!at) {
        at = json_object();
        json_object_set_new(parent, key, at);
    }
    return at;
}

static void set_pair(struct decode *d, json_t *root, const struct query_pair *pair)
{
    char pointer[JSPEC_POINTER_MAX];
    (void)snprintf(pointer, sizeof pointer, "?%.100s", pair->name);
    const char *path = path_of(pair->name);
    const struct jspec *spec = strcmp(path, "as_of") == 0 ? &spec_plan : &spec_workload;
    json_t *at = spec == &spec_plan ? root : child(root, "workload", 8);
    for (;;) {
        size_t len = strcspn(path, ".");
        const struct jfield *f = field_named(spec, path, len);
        bool assumption = f && path[len] == '.' && strcmp(f->name, "assumptions") == 0;
        spec = f && path[len] == '.' ? spec_below(f) : NULL;
        if (assumption) {
            json_object_set_new(child(at, path, len), path + len + 1, number_value(d, pointer, pair->value));
            return;
        }
        if (f && spec) {
            at = child(at, path, len);
            path += len + 1;
            continue;
        }
        json_t *v = f && path[len] == '\0' ? value_of(d, f, pointer, pair->value) : NULL;
        if (v)
            json_object_set_new(at, f->name, v);
        else
            jspec_fault(d, pointer, "unknown_parameter", NULL, NULL);
        return;
    }
}

json_t *query_workload(struct decode *d, const struct query *q)
{
    json_t *root = json_object();
    if (root)
        child(root, "workload", 8);
    for (size_t i = 0; root && i < q->n; i++)
        if (!query_is_presentation(q->pairs[i].name) && q->pairs[i].value[0])
            set_pair(d, root, &q->pairs[i]);
    return root;
}

void query_name_parameters(struct decode *d, const struct query *q, size_t from)
{
    for (size_t i = from; i < d->faults->n; i++) {
        struct fault *f = &d->faults->items[i];
        size_t best = 0;
        const char *name = NULL;
        for (size_t k = 0; k < q->n; k++) {
            const char *path = path_of(q->pairs[k].name);
            char pointer[JSPEC_POINTER_MAX];
            (void)snprintf(pointer, sizeof pointer, "%s/%.100s", strcmp(path, "as_of") == 0 ? "" : "/workload", path);
            for (char *p = pointer; *p; p++)
                *p = *p == '.' ? '/' : *p;
            size_t n = strlen(pointer);
            if (n > best && strncmp(f->pointer, pointer, n) == 0 && (f->pointer[n] == '\0' || f->pointer[n] == '/')) {
                best = n;
                name = q->pairs[k].name;
            }
        }
        if (name)
            (void)snprintf(f->pointer, sizeof f->pointer, "?%.100s", name);
    }
}
