/* decode_request.c — the bodies of POST /plans and POST /estimates, and the checks that span fields. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/decode.h"
#include "api/message.h"

const char *const decode_pasted[] = {"config", NULL};

void decode_init(struct decode *d, const struct catalog *catalog, struct arena *arena, enum language language,
                 date_t today, struct fault_list *faults)
{
    memset(d, 0, sizeof *d);
    d->catalog = catalog;
    d->arena = arena;
    d->language = language;
    d->today = today;
    d->faults = faults;
    faults->n = faults->dropped = 0;
}

/* "fault.<code>.<member>" says it for this very place; "fault.<code>" in general, with the English figures behind. */
void decode_localise(struct decode *d, size_t from)
{
    for (size_t i = from; i < d->faults->n && d->language != LANG_EN; i++) {
        struct fault *f = &d->faults->items[i];
        const char *member = strrchr(f->pointer, '/');
        char key[100], english[sizeof f->detail];
        (void)snprintf(key, sizeof key, "%s.%.50s", f->code, member ? member + 1 : "");
        const char *exact = message_find(d->language, "fault.", key);
        const char *general = message_find(d->language, "fault.", f->code);
        memcpy(english, f->detail, sizeof english);
        if (exact)
            (void)snprintf(f->detail, sizeof f->detail, "%s", exact);
        else if (general && !strchr(general, '{'))
            (void)snprintf(f->detail, sizeof f->detail, "%.100s（%.90s）", general, english);
    }
}

/* ---- hardware ---------------------------------------------------------------------------------------------- */

static void take_gpu(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    *(const struct gpu **)dest = decode_gpu(d, value, pointer);
}

static void take_intra(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    const char *s = jspec_string(d, value, pointer, 1, 40);
    if (s && intra_link_parse(s, dest))
        jspec_unknown_value(d, pointer, "unknown_value", s,
                            "nvswitch, nvlink, nvlink_bridge, xgmi, hccs, pcie3, pcie4, pcie5");
}

static void take_inter(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    const char *s = jspec_string(d, value, pointer, 1, 40);
    if (s && inter_link_parse(s, dest))
        jspec_unknown_value(d, pointer, "unknown_value", s, "infiniband, roce, ethernet");
}

#define OF(member) offsetof(struct shape, member)

static const struct jfield inter_link_fields[] = {
    {"kind", J_CUSTOM, OF(inter), 0, 0, J_REQUIRED, 0, NULL, take_inter},
    {"gbps_per_node", J_NUMBER, OF(inter_gbps_per_node), 0, 100000, J_EXCLUSIVE_MIN, 0, NULL, NULL},
};
const struct jspec spec_inter_link = {JFIELDS(inter_link_fields), JSPEC_NO_STATED};

static const struct jfield hardware_fields[] = {
    {"gpu", J_CUSTOM, OF(gpu), 0, 0, J_REQUIRED, 0, NULL, take_gpu},
    {"gpus_per_node", J_INT, OF(gpus_per_node), 1, 1024, 0, 0, NULL, NULL},
    {"nodes", J_INT, OF(nodes), 1, 100000, 0, 0, NULL, NULL},
    {"intra_link", J_CUSTOM, OF(intra), 0, 0, 0, 0, NULL, take_intra},
    {"inter_link", J_OBJECT, 0, 0, 0, 0, 0, &spec_inter_link, NULL},
    {"gpu_memory_gb", J_NUMBER, OF(gpu_memory_gb), 1, 10000, 0, 0, NULL, NULL},
    {"host_memory_gb", J_NUMBER, OF(host_memory_gb), 1, 1000000, 0, 0, NULL, NULL},
    {"storage_gb_s", J_NUMBER, OF(storage_gb_s), 0, 1000000, J_EXCLUSIVE_MIN, 0, NULL, NULL},
};
const struct jspec spec_hardware = {JFIELDS(hardware_fields), JSPEC_NO_STATED};

/* ---- roots ------------------------------------------------------------------------------------------------- */

#undef OF
#define OF(member) offsetof(struct decoded_estimate, member)

static void take_layout(struct decode *d, json_t *value, const char *pointer, void *dest)
{
    struct decoded_estimate *e = dest;
    e->has_layout = true;
    jspec_decode(d, &spec_layout, value, pointer, &e->layout);
}

static const struct jfield estimate_fields[] = {
    {"workload", J_OBJECT, OF(workload), 0, 0, J_REQUIRED, 0, &spec_workload, NULL},
    {"hardware", J_OBJECT, OF(shape), 0, 0, J_REQUIRED, 0, &spec_hardware, NULL},
    {"layout", J_CUSTOM, 0, 0, 0, 0, 0, NULL, take_layout},
    {"at", J_OBJECT, OF(at), 0, 0, 0, 0, &spec_operating_point, NULL},
    {"trace", J_BOOL, OF(trace), 0, 0, 0, 0, NULL, NULL},
};
const struct jspec spec_estimate = {JFIELDS(estimate_fields), JSPEC_NO_STATED};

#undef OF
#define OF(member) offsetof(struct decoded_plan, member)

static const struct jfield plan_fields[] = {
    {"workload", J_OBJECT, OF(workload), 0, 0, J_REQUIRED, 0, &spec_workload, NULL},
    {"as_of", J_DATE, OF(as_of), 0, 0, 0, 0, NULL, NULL},
};
const struct jspec spec_plan = {JFIELDS(plan_fields), JSPEC_NO_STATED};

/* ---- checks ------------------------------------------------------------------------------------------------ */

static bool faulty(const struct decode *d)
{
    return d->faults->n + d->faults->dropped > 0;
}

static bool any_model(const struct model *m)
{
    return m->params > 0 || m->layers > 0 || m->hidden > 0;
}

static bool above_or_equal(const char *a, const char *b)
{
    size_t n = strlen(a);
    return strncmp(a, b, n) == 0 && (b[n] == '\0' || b[n] == '/');
}

/* Whether one of the first n faults lies at the place or around it. A member that nobody knows says nothing about
 * its neighbours. */
static bool already_faulty(const struct decode *d, size_t n, const char *pointer)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(d->faults->items[i].code, "unknown_field") != 0 &&
            above_or_equal(d->faults->items[i].pointer, pointer))
            return true;
    return false;
}

/* Whether a check across fields only saw the gap that a faulty value left. */
static bool is_consequence(const struct decode *d, size_t n, const struct fault *f)
{
    static const char *const gaps[][2] = {
        {"/workload/training", "/workload/training/tokens"},
        {"/workload/training", "/workload/training/samples"},
        {"/workload/training", "/workload/training/steps"},
        {"/workload/serving", "/workload/serving/requests_per_s"},
        {"/workload/serving", "/workload/serving/concurrency"},
        {"/workload/serving", "/workload/serving/users"},
        {"/workload", "/workload/training"},
        {"/workload", "/workload/serving"},
        {"/workload/training/flops_per_sample", "/workload/measured"},
        {"/workload/model", "/workload/model/config"},
        {"/workload/serving/model", "/workload/serving/model/config"},
    };
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
        if (strcmp(f->code, "required") == 0 && strcmp(f->pointer, gaps[i][0]) == 0 && already_faulty(d, n, gaps[i][1]))
            return true;
    return already_faulty(d, n, f->pointer);
}

static void drop_consequences(struct decode *d, size_t from)
{
    size_t kept = from;
    for (size_t i = from; i < d->faults->n; i++)
        if (!is_consequence(d, from, &d->faults->items[i]))
            d->faults->items[kept++] = d->faults->items[i];
    d->faults->n = kept;
}

/* A model is needed unless the work is no transformer; whichever are there get completed. */
static void complete_models(struct decode *d, struct workload *w, struct note_list *assumed)
{
    bool custom = w->training.stated && w->training.method == METHOD_CUSTOM;
    bool serves = w->serving.stated && !w->serving.own_model && !(w->serving.months_stated && w->serving.months <= 0);
    bool needed = serves || (w->training.stated ? !custom : !w->serving.stated);
    size_t from = d->faults->n;
    if (any_model(&w->model))
        model_complete(&w->model, "/workload/model", assumed, d->faults);
    else if (!already_faulty(d, from, "/workload/model") && needed)
        jspec_fault(d, "/workload/model", "required", NULL, NULL);
    if (w->serving.own_model && any_model(&w->serving.model))
        model_complete(&w->serving.model, "/workload/serving/model", assumed, d->faults);
    else if (w->serving.own_model && !already_faulty(d, from, "/workload/serving/model"))
        jspec_fault(d, "/workload/serving/model", "required", NULL, NULL);
}

static void check_workload(struct decode *d, struct workload *w, bool need_amount, struct note_list *assumed)
{
    size_t from = d->faults->n;
    /* What completing assumes must not contradict what was stated: the checks come first. */
    workload_check(w, "/workload", need_amount, d->faults);
    complete_models(d, w, assumed);
    drop_consequences(d, from);
    decode_localise(d, from);
}

static bool language_of(json_t *root)
{
    return json_is_string(json_object_get(json_object_get(root, "workload"), "language"));
}

/* Runs the table; false when there is nothing to check further. */
static bool decode_root(struct decode *d, const struct jspec *spec, json_t *root, void *ret)
{
    jspec_decode(d, spec, root, "", ret);
    return json_is_object(root) && json_is_object(json_object_get(root, "workload"));
}

static int finish(const struct decode *d, struct err *err)
{
    if (faulty(d)) {
        err_set(err, ERR_NONE, "faults");
        return -1;
    }
    return arena_failed(d->arena) ? err_set(err, ERR_NOMEM, "decoding a request") : 0;
}

int decode_estimate_request(struct decode *d, const void *bytes, size_t len, struct decoded_estimate *ret,
                            struct err *err)
{
    memset(ret, 0, sizeof *ret);
    workload_init(&ret->workload);
    note_list_init(&ret->assumed, d->arena);
    d->notes = &ret->assumed;
    ret->shape.gpus_per_node = ret->shape.nodes = 1;
    json_t *root = jspec_parse(d, bytes, len, decode_pasted, err);
    if (!root)
        return -1;
    ret->language_stated = language_of(root);
    if (decode_root(d, &spec_estimate, root, ret)) {
        struct model stated = ret->workload.model;
        check_workload(d, &ret->workload, false, &ret->assumed);
        size_t from = d->faults->n;
        if (ret->has_layout && !already_faulty(d, from, "/hardware") && !already_faulty(d, from, "/workload/model"))
            layout_check(&ret->layout, &stated, shape_gpus(&ret->shape), "/layout", d->faults);
        drop_consequences(d, from);
        decode_localise(d, from);
    }
    json_decref(root);
    return finish(d, err);
}

static void check_dates(struct decode *d, const struct decoded_plan *p)
{
    char as_of[DATE_TEXT_MAX];
    date_text(p->as_of, as_of);
    const struct constraints *c = &p->workload.constraints;
    if (c->start_on != DATE_NONE && c->start_on < p->as_of)
        jspec_fault(d, "/workload/constraints/start_on", "in_the_past", as_of, NULL);
    if (c->deadline_on != DATE_NONE && c->deadline_on < p->as_of)
        jspec_fault(d, "/workload/constraints/deadline_on", "in_the_past", as_of, NULL);
}

static void keep_canonical(struct decode *d, json_t *root, struct decoded_plan *ret)
{
    char *text = json_dumps(json_object_get(root, "workload"), JSON_SORT_KEYS | JSON_COMPACT | JSON_REAL_PRECISION(15));
    ret->canonical = arena_strdup(d->arena, text ? text : "");
    free(text);
}

int decode_plan_object(struct decode *d, json_t *root, struct decoded_plan *ret, struct err *err)
{
    memset(ret, 0, sizeof *ret);
    workload_init(&ret->workload);
    note_list_init(&ret->assumed, d->arena);
    d->notes = &ret->assumed;
    ret->as_of = d->today;
    ret->language_stated = language_of(root);
    if (decode_root(d, &spec_plan, root, ret)) {
        check_dates(d, ret);
        check_workload(d, &ret->workload, true, &ret->assumed);
        keep_canonical(d, root, ret);
    }
    return finish(d, err);
}

int decode_plan_request(struct decode *d, const void *bytes, size_t len, struct decoded_plan *ret, struct err *err)
{
    json_t *root = jspec_parse(d, bytes, len, decode_pasted, err);
    if (!root)
        return -1;
    int rc = decode_plan_object(d, root, ret, err);
    json_decref(root);
    return rc;
}
