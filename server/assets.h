/* assets.h — the web form's files, from the binary: type, ETag and gzip form of each made once at start.
 *
 * A client names a file only by a key of this list; no path of its ever reaches a file system.
 */
#ifndef SUANPAN_SERVER_ASSETS_H
#define SUANPAN_SERVER_ASSETS_H

#include <stddef.h>

#include "base/embed.h"
#include "base/err.h"

struct asset {
    const char *name; /* "index.html", "css/form.css" */
    const char *type;
    const void *data;
    size_t size;
    char *gzip; /* NULL where it does not pay */
    size_t gzip_size;
    char etag[24], gzip_etag[28]; /* quoted; a coded form is another representation and has its own */
};

struct assets {
    struct asset *items;
    size_t n;
};

/* The files of `n_tables` tables under their embedded names ("index.html", "examples/01-lora-7b.json"). */
int assets_init(struct assets *a, const struct embed_table *const *tables, size_t n_tables, struct err *err);
void assets_done(struct assets *a);

/* "/" is index.html. `path` is raw; NULL when there is no such file. */
const struct asset *assets_find(const struct assets *a, const char *path);

/* Whether an If-None-Match value (NULL = absent) names this tag, by the weak comparison of RFC 9110. */
int assets_tag_matches(const char *if_none_match, const char *etag);

#endif
