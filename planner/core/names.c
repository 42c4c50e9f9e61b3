/* names.c — the one loop behind every <enum>_name and <enum>_parse. */
#include "planner/core/names.h"

#include <string.h>

const char *names_get(const char *const *names, size_t n, int value)
{
    return value < 0 || (size_t)value >= n ? NULL : names[value];
}

int names_parse(const char *const *names, size_t n, const char *name, int *ret)
{
    if (name == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (names[i] != NULL && strcmp(names[i], name) == 0) {
            *ret = (int)i;
            return 0;
        }
    return -1;
}
