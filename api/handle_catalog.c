/* handle_catalog.c — lists with filters and pages, and single items, of the catalog snapshot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/catalog_read.h"
#include "api/handlers.h"
#include "api/respond.h"
#include "base/embed.h"

#define LIMIT_DEFAULT 50
#define LIMIT_MAX 500

extern const struct embed_table embed_openapi;

static bool is_filter(const struct collection *col, const char *name)
{
    for (size_t i = 0; col->filters[i]; i++)
        if (strcmp(col->filters[i], name) == 0)
            return true;
    return false;
}

/* "lang" for clients that cannot set a header, "t" for those that cache; false for any other name. */
static bool is_presentation(struct call *c, const struct query_pair *pair, const char *at, struct decode *d)
{
    int language;
    if (strcmp(pair->name, "t") == 0)
        return true;
    if (strcmp(pair->name, "lang") != 0)
        return false;
    if (workload_enum_parse(ENUM_LANGUAGE, pair->value, &language))
        jspec_unknown_value(d, at, "unknown_value", pair->value, workload_enum_choices(ENUM_LANGUAGE));
    else
        c->language = (enum language)language;
    return true;
}

/* limit, cursor and the collection's filters (col NULL: none of them); anything else is refused. */
static size_t read_parameters(struct call *c, const struct collection *col, struct decode *d)
{
    size_t limit = LIMIT_DEFAULT;
    for (size_t i = 0; i < c->query.n; i++) {
        const struct query_pair *pair = &c->query.pairs[i];
        char at[JSPEC_POINTER_MAX];
        (void)snprintf(at, sizeof at, "?%.100s", pair->name);
        if (is_presentation(c, pair, at, d))
            continue;
        if (col && strcmp(pair->name, "limit") == 0) {
            bool digits =
                pair->value[0] && strlen(pair->value) < 6 && strspn(pair->value, "0123456789") == strlen(pair->value);
            limit = digits ? (size_t)strtoul(pair->value, NULL, 10) : 0;
            if (limit < 1 || limit > LIMIT_MAX)
                jspec_out_of_range(d, at, 1, LIMIT_MAX, false);
        } else if (!col || (strcmp(pair->name, "cursor") != 0 && !is_filter(col, pair->name))) {
            jspec_fault(d, at, "unknown_parameter", NULL, NULL);
        }
    }
    return limit;
}

static bool item_matches(const struct call *c, const struct collection *col, size_t i)
{
    for (size_t k = 0; k < c->query.n; k++) {
        const struct query_pair *pair = &c->query.pairs[k];
        if (!is_filter(col, pair->name))
            continue;
        const char *wanted = pair->value;
        if (strcmp(pair->name, "gpu") == 0) {
            const struct gpu *g = catalog_gpu(c->req->catalog, wanted);
            wanted = g ? g->id : wanted;
        }
        const char *has = col->attribute(c->req->catalog, i, pair->name);
        if (!has || strcasecmp(has, wanted) != 0)
            return false;
    }
    return true;
}

/* Index behind the item the cursor names; count + 1 when there is none. */
static size_t start_of(const struct call *c, const struct collection *col, const char *cursor)
{
    size_t n = col->count(c->req->catalog);
    char id[COLLECTION_ID_MAX];
    for (size_t i = 0; i < n; i++) {
        col->id(c->req->catalog, i, id);
        if (strcmp(id, cursor) == 0)
            return i + 1;
    }
    return n + 1;
}

static struct encode encode_for(const struct call *c, struct buf *body)
{
    buf_init(body, RESPONSE_MAX);
    return (struct encode){.w = {.out = body}, .catalog = c->req->catalog, .language = c->language, .currency = "CNY"};
}

void handle_list(struct call *c)
{
    const struct collection *col = c->route->data;
    struct decode d;
    struct fault_list faults;
    decode_init(&d, c->req->catalog, c->req->arena, c->language, c->req->today, &faults);
    size_t limit = read_parameters(c, col, &d), n = col->count(c->req->catalog), at = 0;
    const char *cursor = query_get(&c->query, "cursor");
    if (cursor && *cursor)
        at = start_of(c, col, cursor);
    if (at > n)
        jspec_fault(&d, "?cursor", "bad_cursor", NULL, NULL);
    if (faults.n) {
        respond_faults(c, &d);
        return;
    }
    struct buf body;
    char last[COLLECTION_ID_MAX] = "";
    struct encode e = encode_for(c, &body);
    size_t shown = 0;
    bool more = false;
    jw_object(&e.w, NULL);
    jw_array(&e.w, "items");
    for (; at < n && !more; at++) {
        if (!item_matches(c, col, at))
            continue;
        if (shown == limit) {
            more = true;
            break;
        }
        col->encode(&e, at);
        col->id(c->req->catalog, at, last);
        shown++;
    }
    jw_end_array(&e.w);
    jw_string(&e.w, "next_cursor", more ? last : NULL);
    jw_int(&e.w, "catalog_revision", c->req->catalog->revision);
    jw_end_object(&e.w);
    encode_done(&e);
    respond_body(c, CONTENT_JSON, &body);
}

void handle_item(struct call *c)
{
    const struct collection *col = c->route->data;
    size_t n = col->count(c->req->catalog), at = start_of(c, col, c->id);
    if (at > n && strcmp(col->name, "gpus") == 0) {
        const struct gpu *g = catalog_gpu(c->req->catalog, c->id);
        at = g ? (size_t)(g - c->req->catalog->gpus) + 1 : at;
    }
    struct decode d;
    struct fault_list faults;
    decode_init(&d, c->req->catalog, c->req->arena, c->language, c->req->today, &faults);
    (void)read_parameters(c, NULL, &d);
    if (faults.n) {
        respond_faults(c, &d);
        return;
    }
    if (at > n) {
        respond_problem(c, API_ERROR_not_found, NULL, NULL, NULL);
        return;
    }
    struct buf body;
    struct encode e = encode_for(c, &body);
    col->encode(&e, at - 1);
    encode_done(&e);
    respond_body(c, CONTENT_JSON, &body);
}

void handle_openapi(struct call *c)
{
    const struct embed_file *f = embed_find(&embed_openapi, "openapi.json");
    struct buf body;
    buf_init(&body, RESPONSE_MAX);
    if (f)
        buf_add(&body, f->data, f->size);
    c->language = LANG_EN; /* one document, in English */
    respond_body(c, CONTENT_JSON, &body);
}
