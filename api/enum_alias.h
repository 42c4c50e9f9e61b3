/* enum_alias.h — wire values as people also write them: other case, hyphens, common second names. */
#ifndef SUANPAN_API_ENUM_ALIAS_H
#define SUANPAN_API_ENUM_ALIAS_H

#include "planner/core/workload.h"

/* As workload_enum_parse, and the spellings of enum_alias.c besides. */
int enum_alias_parse(enum workload_enum e, const char *name, int *ret);

#endif
