/* params.c — looking up and binding defaults and fitted constants. */
#include "planner/core/params.h"

#include <string.h>

const struct param *param_find(const struct param_table *t, const char *key)
{
    size_t lo = 0, hi = t->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = strcmp(t->rows[mid].key, key);
        if (c == 0)
            return &t->rows[mid];
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

int param_bind(const struct param_table *t, const struct param_field *fields, size_t n, void *ret_struct,
               struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct param *row = param_find(t, fields[i].key);
        if (row == NULL)
            return err_at(err, ERR_NOT_FOUND, fields[i].key, "no row for parameter '%s'", fields[i].key);
        memcpy((unsigned char *)ret_struct + fields[i].offset, &row->value, sizeof row->value);
    }
    return 0;
}
