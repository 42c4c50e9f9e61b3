/* api.h — the one door of api/: a request as plain bytes in, a response as plain bytes out.
 *
 * No socket, no loop, no SQL: this is what makes the whole contract unit-testable and fuzzable. Thread-safe: a
 * call touches only its arguments and the immutable catalog snapshot.
 */
#ifndef SUANPAN_API_API_H
#define SUANPAN_API_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/date.h"
#include "planner/core/catalog.h"

/* Call once before threads start (seeds jansson's hashing). */
void api_init(void);

struct api_request {
    const char *method;                                                  /* exact: "GET", ... */
    const char *path;                                                    /* raw, undecoded, without the query */
    const char *query;                                                   /* raw, without '?'; NULL or "" = none */
    const char *content_type, *accept, *accept_language, *if_none_match; /* NULL = header absent */
    const char *request_id;
    const void *body;
    size_t body_len;
    /* context */
    const struct catalog *catalog; /* NULL: not loaded yet -> 503 for what needs it */
    date_t today;                  /* Asia/Shanghai */
    struct arena *arena;           /* scratch, dies with the request */
};

#define API_HEADERS_MAX 12

struct api_response {
    int status;
    const char *content_type;
    char *body; /* malloc'd; the caller frees (or hands it to MHD); NULL when body_len is 0 */
    size_t body_len;
    struct {
        const char *name;
        char value[512];
    } headers[API_HEADERS_MAX]; /* ETag, Allow, Content-Language, ... */
    size_t n_headers;
    bool head; /* HEAD: headers as for GET, body not to be sent */
};

/* What the route needs, known before a body byte is read. */
struct api_route_info {
    bool found;
    int status; /* 0 = go on; 404 or 405 (allow filled) otherwise */
    char allow[64];
    bool wants_body;    /* content type must be application/json */
    size_t body_max;    /* bytes; above: 413 */
    bool run_pool;      /* to be run on a worker thread */
    const char *metric; /* stable low-cardinality label: "POST /api/v1/plans" */
};

void api_match(const char *method, const char *path, struct api_route_info *ret);

/* Answers anything, refusals included. Never fails: out of memory becomes a 503 with a static body. */
void api_handle(const struct api_request *req, struct api_response *res);

/* Whether a Content-Type (may be NULL) is "application/json", with any parameters but a foreign charset. */
bool api_is_json(const char *content_type);

/* A problem+json for refusals that server/ makes itself (413, 415, 431, 503, 400 of the header guard). `slug` is one
 * of api/errors.def; `detail` NULL = the text of the caller's language, for a 413 with the limit of the route. */
void api_problem(const struct api_request *req, const char *slug, const char *detail, struct api_response *res);

void api_response_done(struct api_response *res); /* frees body */

/* The table of `suanpan plan FILE`: reads a workload or a whole request, writes at most 80 columns of text.
 * Status as api_handle would give (200, 4xx); text in *res. `language` "zh-CN" or "en"; NULL = the request's. */
void api_plan_text(const struct api_request *req, const char *language, struct api_response *res);

#endif
