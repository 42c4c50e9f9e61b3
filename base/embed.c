/* embed.c — finding a compiled-in file by name. */
#include "base/embed.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *key, const void *file)
{
    return strcmp(key, ((const struct embed_file *)file)->name);
}

const struct embed_file *embed_find(const struct embed_table *t, const char *name)
{
    return t->n == 0 ? NULL : bsearch(name, t->files, t->n, sizeof *t->files, by_name);
}
