/* embed.h — files compiled into the binary (migrations, seed data, static files, message catalogs, openapi.json).
 *
 * base/embed.sh writes, for a list of files, one assembler file and one table of this shape, sorted by name.
 */
#ifndef SUANPAN_BASE_EMBED_H
#define SUANPAN_BASE_EMBED_H

#include <stddef.h>

struct embed_file {
    const char *name; /* path below the folder given to embed.sh, e.g. "0001_catalog.sql" */
    const unsigned char *data;
    size_t size;
};

struct embed_table {
    const struct embed_file *files;
    size_t n;
};

/* NULL when there is no such name. */
const struct embed_file *embed_find(const struct embed_table *t, const char *name);

#endif
