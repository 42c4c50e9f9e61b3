/* serving_constants.c — binds this room's constants from the catalog's parameter table. */
#include "planner/serving/serving_constants.h"

#include <stddef.h>

#include "planner/serving/serving.h"

#define SERVING_AS_FIELD(member, key) PARAM_FIELD(struct serving_constants, member, key),
static const struct param_field FIELDS[] = {SERVING_CONSTANTS(SERVING_AS_FIELD)};

int serving_constants_bind(const struct param_table *params, struct serving_constants *ret, struct err *err)
{
    return param_bind(params, FIELDS, sizeof FIELDS / sizeof FIELDS[0], ret, err);
}

size_t serving_constants_size(void)
{
    return sizeof(struct serving_constants);
}
