/* route.h — the static table of everything this folder answers, and the strict reading of paths and queries. */
#ifndef SUANPAN_API_ROUTE_H
#define SUANPAN_API_ROUTE_H

#include "api/api.h"
#include "planner/core/workload.h"

#define PATH_MAX_BYTES 1024
#define QUERY_MAX_PAIRS 64
#define QUERY_MAX_BYTES 4096
#define SEGMENT_MAX 128

struct query_pair {
    const char *name, *value; /* decoded, in the request's arena */
};

struct query {
    struct query_pair pairs[QUERY_MAX_PAIRS];
    size_t n;
};

/* One request on its way through a handler. */
struct call {
    const struct api_request *req;
    struct api_response *res;
    const struct route *route;
    enum language language;
    char id[SEGMENT_MAX]; /* the {id} of the path, decoded */
    struct query query;
};

enum { ROUTE_BODY = 1, ROUTE_POOL = 2, ROUTE_CATALOG = 4 };

struct route {
    const char *method; /* GET answers HEAD too */
    const char *path;   /* "/api/v1/models/{id}" */
    const char *metric;
    unsigned flags;
    size_t body_max;
    void (*handle)(struct call *c);
    const void *data; /* whatever the handler wants to know */
};

/* Finds the route; NULL with *ret_status 400, 404 or 405 (ret_allow then lists the methods). `ret_id` may be NULL.
 * OPTIONS on a known path gives NULL and 204. */
const struct route *route_find(const char *method, const char *path, char ret_id[SEGMENT_MAX], int *ret_status,
                               char ret_allow[64]);

/* Decodes %XX of one path segment or query part ('+' is a blank where `plus`). false: bad hex, NUL, '/' in a segment,
 * control bytes, not UTF-8, or longer than size - 1. */
bool route_decode(const char *in, size_t n, bool plus, char *out, size_t size);

/* Splits and decodes a query. Faults ("?name" as pointer) for bad encoding, duplicates and too many pairs. */
void route_query(const char *query, struct arena *arena, struct query *ret, struct fault_list *faults);
const char *query_get(const struct query *q, const char *name); /* NULL = absent */

#endif
