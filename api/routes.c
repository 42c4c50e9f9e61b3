/* routes.c — the route table: everything this folder answers, as data. */
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

const struct route api_routes[] = {
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
const size_t api_routes_n = sizeof api_routes / sizeof *api_routes;
