/* routes.c — the route table, everything this folder answers as data, and the match against it. It knows the handlers;
 * they do not know it. */
#include <stdio.h>
#include <string.h>

#include "api/catalog_read.h"
#include "api/handlers.h"
#include "api/route.h"

#define KIB ((size_t)1024)

/* The list and the single item of one collection. */
#define READS(name, collection)                                                                                        \
    {"GET", "/api/v1/" name, "GET /api/v1/" name, ROUTE_CATALOG, 0, handle_list, &(collection)},                       \
    {                                                                                                                  \
        "GET", "/api/v1/" name "/{id}", "GET /api/v1/" name "/{id}", ROUTE_CATALOG, 0, handle_item, &(collection)      \
    }

static const struct route routes[] = {
    {"POST", "/api/v1/plans", "POST /api/v1/plans", ROUTE_BODY | ROUTE_POOL | ROUTE_CATALOG, 64 * KIB, handle_plan_post,
     NULL},
    {"GET", "/api/v1/plans", "GET /api/v1/plans", ROUTE_POOL | ROUTE_CATALOG, 0, handle_plan_get, NULL},
    {"GET", "/api/v1/plans.json", "GET /api/v1/plans.json", ROUTE_POOL | ROUTE_CATALOG, 0, handle_plan_get, "json"},
    {"GET", "/api/v1/plans.csv", "GET /api/v1/plans.csv", ROUTE_POOL | ROUTE_CATALOG, 0, handle_plan_get, "csv"},
    {"POST", "/api/v1/estimates", "POST /api/v1/estimates", ROUTE_BODY | ROUTE_POOL | ROUTE_CATALOG, 64 * KIB,
     handle_estimate, NULL},
    {"POST", "/api/v1/diagnoses", "POST /api/v1/diagnoses", ROUTE_BODY | ROUTE_POOL | ROUTE_CATALOG, 1024 * KIB,
     handle_diagnosis, NULL},
    READS("models", collection_models),
    READS("gpus", collection_gpus),
    READS("links", collection_links),
    READS("providers", collection_providers),
    READS("networks", collection_networks),
    READS("storages", collection_storages),
    READS("schedulers", collection_schedulers),
    READS("skus", collection_skus),
    READS("prices", collection_prices),
    READS("fx-rates", collection_fx_rates),
    READS("tax-codes", collection_tax_codes),
    READS("lines", collection_lines),
    READS("assumptions", collection_assumptions),
    {"GET", "/openapi.json", "GET /openapi.json", 0, 0, handle_openapi, NULL},
};

/* -1: the path is not properly encoded; 0: another path; 1: this one. */
static int match_path(const char *template, const char *path, char ret_id[SEGMENT_MAX])
{
    while (*template == '/' && *path == '/') {
        size_t t = strcspn(++template, "/"), p = strcspn(++path, "/");
        char segment[SEGMENT_MAX];
        if (!route_decode(path, p, false, segment, sizeof segment))
            return p < SEGMENT_MAX ? -1 : 0;
        if (*template == '{' && *segment) {
            if (ret_id)
                memcpy(ret_id, segment, sizeof segment);
        } else if (strlen(segment) != t || memcmp(segment, template, t) != 0) {
            return 0;
        }
        template += t;
        path += p;
    }
    return *template == '\0' && *path == '\0';
}

static bool path_is_encoded(const char *path)
{
    if (*path != '/' || strlen(path) > PATH_MAX_BYTES)
        return false;
    while (*path == '/') {
        size_t n = strcspn(++path, "/");
        char segment[PATH_MAX_BYTES + 1];
        if (!route_decode(path, n, false, segment, sizeof segment))
            return false;
        path += n;
    }
    return *path == '\0';
}

const struct route *route_find(const char *method, const char *path, char ret_id[SEGMENT_MAX], int *ret_status,
                               char ret_allow[64])
{
    const struct route *found = NULL;
    bool head = strcmp(method, "HEAD") == 0, get = false, post = false;
    ret_allow[0] = '\0';
    if (!path_is_encoded(path)) {
        *ret_status = 400;
        return NULL;
    }
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        const struct route *r = &routes[i];
        if (match_path(r->path, path, ret_id) != 1)
            continue;
        get = get || strcmp(r->method, "GET") == 0;
        post = post || strcmp(r->method, "POST") == 0;
        if (strcmp(r->method, head ? "GET" : method) == 0)
            found = r;
    }
    *ret_status = !get && !post ? 404 : found ? 0 : strcmp(method, "OPTIONS") == 0 ? 204 : 405;
    if (*ret_status && *ret_status != 404)
        (void)snprintf(ret_allow, 64, "%s%sOPTIONS", get ? "GET, HEAD, " : "", post ? "POST, " : "");
    return found;
}
