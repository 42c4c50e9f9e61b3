/* names.h — wire name <-> enum value, for the small tables of this room. */
#ifndef SUANPAN_PLANNER_CORE_NAMES_H
#define SUANPAN_PLANNER_CORE_NAMES_H

#include <stddef.h>

/* `names[i]` is the name of value i; NULL where a value has none. */
const char *names_get(const char *const *names, size_t n, int value);
int names_parse(const char *const *names, size_t n, const char *name, int *ret);

#endif
