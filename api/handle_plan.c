/* handle_plan.c — the main job: POST and GET /api/v1/plans as JSON or as a table, and the text for a terminal. */
#include <string.h>
#include <strings.h>

#include "api/decode.h"
#include "api/encode_plan.h"
#include "api/handlers.h"
#include "api/message.h"
#include "api/query_workload.h"
#include "api/respond.h"
#include "planner/advice/plan_make.h"

/* A request decoded and its plan made; what the encoders need. */
struct planned {
    struct decode d;
    struct fault_list faults;
    struct decoded_plan in;
    struct plan plan;
};

/* false: the refusal is in c->res already. */
static bool make_plan(struct call *c, struct planned *p)
{
    struct err err = {0};
    if (p->in.language_stated)
        c->language = p->d.language = p->in.workload.language;
    p->in.workload.language = c->language;
    struct plan_request q = {.catalog = c->req->catalog, .workload = &p->in.workload, .as_of = p->in.as_of};
    if (plan_make(&q, c->req->arena, &p->plan, &err)) {
        refuse_computation(c, &p->d, &err);
        return false;
    }
    return true;
}

static bool accepts_csv(const struct call *c)
{
    const char *accept = c->req->accept;
    return accept && strcasestr(accept, "text/csv") && !strcasestr(accept, "application/json");
}

/* false: `cols` names what is no column, and the refusal is in c->res. */
static bool read_form(struct call *c, struct planned *p, struct csv_form *ret)
{
    const char *bom = query_get(&c->query, "bom"), *headers = query_get(&c->query, "headers");
    const char *cols = query_get(&c->query, "cols");
    ret->bom = !bom || strcmp(bom, "0") != 0;
    ret->chinese = headers && strcmp(headers, "zh") == 0;
    char *names = arena_strdup(c->req->arena, cols ? cols : "");
    const char *unknown = names ? plan_columns_select(ret, names, p->plan.currency) : NULL;
    if (!unknown)
        return true;
    jspec_fault(&p->d, "?cols", "unknown_column", unknown, NULL);
    respond_faults(c, &p->d);
    return false;
}

static void answer(struct call *c, struct planned *p, bool csv)
{
    struct buf body;
    struct csv_form form = {.bom = true};
    if (csv && !read_form(c, p, &form))
        return;
    buf_init(&body, RESPONSE_MAX);
    struct encode e = {
        .w = {.out = &body}, .catalog = c->req->catalog, .language = c->language, .currency = p->plan.currency};
    if (csv)
        encode_plan_csv(&e, &p->in, &p->plan, &form);
    else
        encode_plan(&e, &p->in, &p->plan);
    encode_done(&e);
    respond_body(c, csv ? CONTENT_CSV : CONTENT_JSON, &body);
}

/* format, bom, headers, cols and t may stand in any plan's query; POST knows no others. */
static bool refuse_presentation(struct call *c, struct planned *p, bool only)
{
    for (size_t i = 0; i < c->query.n; i++) {
        const struct query_pair *pair = &c->query.pairs[i];
        char at[JSPEC_POINTER_MAX] = "?";
        const char *choices = strcmp(pair->name, "format") == 0    ? "json, csv"
                              : strcmp(pair->name, "bom") == 0     ? "0, 1"
                              : strcmp(pair->name, "headers") == 0 ? "zh, en"
                                                                   : NULL;
        strncat(at, pair->name, sizeof at - 2);
        if (choices && (!strstr(choices, pair->value) || strchr(pair->value, ',') || !pair->value[0]))
            jspec_unknown_value(&p->d, at, "unknown_value", pair->value, choices);
        if (only && !query_is_presentation(pair->name))
            jspec_fault(&p->d, at, "unknown_parameter", NULL, NULL);
    }
    if (p->faults.n == 0)
        return false;
    respond_faults(c, &p->d);
    return true;
}

static bool wants_csv(const struct call *c)
{
    const char *format = query_get(&c->query, "format");
    return format ? strcmp(format, "csv") == 0 : accepts_csv(c);
}

static struct planned *planned_new(struct call *c)
{
    struct planned *p = arena_alloc(c->req->arena, sizeof *p);
    if (p)
        decode_init(&p->d, c->req->catalog, c->req->arena, c->language, c->req->today, &p->faults);
    else
        respond_problem(c, API_ERROR_out_of_memory, NULL, NULL, NULL);
    return p;
}

void handle_plan_post(struct call *c)
{
    struct err err = {0};
    struct planned *p = planned_new(c);
    if (!p || refuse_presentation(c, p, true))
        return;
    if (decode_plan_request(&p->d, c->req->body, c->req->body_len, &p->in, &err))
        respond_err(c, &err, &p->d);
    else if (make_plan(c, p))
        answer(c, p, wants_csv(c));
}

void handle_plan_get(struct call *c)
{
    struct err err = {0};
    struct planned *p = planned_new(c);
    if (!p || refuse_presentation(c, p, false))
        return;
    json_t *root = query_workload(&p->d, &c->query);
    if (!root) {
        respond_problem(c, API_ERROR_out_of_memory, NULL, NULL, NULL);
        return;
    }
    size_t from = p->faults.n;
    int rc = decode_plan_object(&p->d, root, &p->in, &err);
    json_decref(root);
    query_name_parameters(&p->d, &c->query, from);
    const char *suffix = c->route->data;
    if (rc)
        respond_err(c, &err, &p->d);
    else if (make_plan(c, p))
        answer(c, p, suffix ? strcmp(suffix, "csv") == 0 : wants_csv(c));
}

/* ---- the table of `suanpan plan FILE` ---------------------------------------------------------------------- */

/* A refusal as a person reads it: the sentence, then one line a fault. */
static void refusal_text(struct call *c, const struct planned *p)
{
    json_t *problem = json_loadb(c->res->body ? c->res->body : "{}", c->res->body_len, 0, NULL);
    struct buf out;
    buf_init(&out, RESPONSE_MAX);
    const char *title = json_string_value(json_object_get(problem, "title"));
    const char *detail = json_string_value(json_object_get(problem, "detail"));
    buf_addf(&out, "%s%s%s\n", title ? title : "", detail ? ": " : "", detail ? detail : "");
    for (size_t i = 0; i < p->faults.n; i++)
        buf_addf(&out, "  %s  %s\n", p->faults.items[i].pointer[0] ? p->faults.items[i].pointer : "/",
                 p->faults.items[i].detail);
    json_decref(problem);
    api_response_done(c->res);
    c->res->content_type = CONTENT_TEXT;
    c->res->body = buf_take(&out, &c->res->body_len);
}

void api_plan_text(const struct api_request *req, const char *language, struct api_response *res)
{
    static const struct route text_route = {"POST", "/api/v1/plans", "plan", 0, 0, NULL, NULL};
    struct err err = {0};
    struct call c = {.req = req, .res = res, .route = &text_route, .language = message_language(req->accept_language)};
    int stated;
    memset(res, 0, sizeof *res);
    if (language && workload_enum_parse(ENUM_LANGUAGE, language, &stated) == 0)
        c.language = (enum language)stated;
    struct planned *p = planned_new(&c);
    if (!p)
        return;
    if (!req->catalog)
        respond_problem(&c, API_ERROR_catalog_unavailable, NULL, NULL, NULL);
    else if (decode_plan_request(&p->d, req->body, req->body_len, &p->in, &err))
        respond_err(&c, &err, &p->d);
    if (res->status == 0 && language)
        p->in.language_stated = false;
    if (res->status == 0 && make_plan(&c, p)) {
        struct buf body;
        buf_init(&body, RESPONSE_MAX);
        struct encode e = {
            .w = {.out = &body}, .catalog = req->catalog, .language = c.language, .currency = p->plan.currency};
        encode_plan_text(&e, &p->in, &p->plan);
        encode_done(&e);
        respond_body(&c, CONTENT_TEXT, &body);
        return;
    }
    refusal_text(&c, p);
}
