/* plan_names.c — wire names of sections and phases. */
#include "planner/core/names.h"
#include "planner/core/plan.h"

static const char *const SECTIONS[SECTION_COUNT] = {
    [SECTION_COMPUTE] = "compute",
    [SECTION_NETWORK] = "network",
    [SECTION_STORAGE] = "storage",
    [SECTION_SOFTWARE] = "software",
    [SECTION_OPERATIONS] = "operations",
    [SECTION_EGRESS] = "egress",
    [SECTION_VALIDATION] = "validation",
    [SECTION_MIGRATION] = "migration",
    [SECTION_INFERENCE_RESERVE] = "inference_reserve",
};
static const char *const PHASES[PHASE_COUNT] = {
    [PHASE_VALIDATE] = "validate", [PHASE_DEVELOP] = "develop", [PHASE_PILOT] = "pilot",
    [PHASE_MIGRATE] = "migrate",   [PHASE_TRAIN] = "train",     [PHASE_SERVE] = "serve",
};

const char *section_name(enum section s)
{
    return names_get(SECTIONS, SECTION_COUNT, (int)s);
}

const char *phase_name(enum phase_code p)
{
    return names_get(PHASES, PHASE_COUNT, (int)p);
}
