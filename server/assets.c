/* assets.c — see assets.h. */
#include "server/assets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "server/gzip.h"

static const char *type_of(const char *name)
{
    static const struct {
        const char *suffix, *type;
    } types[] = {{".html", "text/html; charset=utf-8"},
                 {".css", "text/css; charset=utf-8"},
                 {".js", "text/javascript; charset=utf-8"},
                 {".mjs", "text/javascript; charset=utf-8"},
                 {".json", "application/json; charset=utf-8"},
                 {".svg", "image/svg+xml"},
                 {".png", "image/png"},
                 {".ico", "image/x-icon"},
                 {".webmanifest", "application/manifest+json"},
                 {".txt", "text/plain; charset=utf-8"},
                 {".woff2", "font/woff2"}};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot != NULL && i < sizeof types / sizeof *types; i++)
        if (strcmp(dot, types[i].suffix) == 0)
            return types[i].type;
    return "application/octet-stream";
}

static void prepare(struct asset *item, const struct embed_file *f)
{
    char hex[SHA256_HEX];
    sha256_hex(f->data, f->size, hex);
    item->name = f->name;
    item->type = type_of(f->name);
    item->data = f->data;
    item->size = f->size;
    snprintf(item->etag, sizeof item->etag, "\"%.16s\"", hex);
    snprintf(item->gzip_etag, sizeof item->gzip_etag, "\"%.16s-gz\"", hex);
    if (gzip_worthwhile(item->type, item->size) && gzip_encode(f->data, f->size, &item->gzip, &item->gzip_size) != 0)
        item->gzip = NULL;
}

int assets_init(struct assets *a, const struct embed_table *const *tables, size_t n_tables, struct err *err)
{
    size_t n = 1;
    for (size_t t = 0; t < n_tables; t++)
        n += tables[t]->n;
    a->n = 0;
    a->items = calloc(n, sizeof *a->items);
    if (a->items == NULL)
        return err_set(err, ERR_NOMEM, "no memory for the static files");
    for (size_t t = 0; t < n_tables; t++)
        for (size_t i = 0; i < tables[t]->n; i++)
            prepare(&a->items[a->n++], &tables[t]->files[i]);
    return 0;
}

void assets_done(struct assets *a)
{
    for (size_t i = 0; i < a->n; i++)
        free(a->items[i].gzip);
    free(a->items);
    *a = (struct assets){0};
}

const struct asset *assets_find(const struct assets *a, const char *path)
{
    const char *name = strcmp(path, "/") == 0 ? "index.html" : path + (path[0] == '/');
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->items[i].name, name) == 0)
            return &a->items[i];
    return NULL;
}

int assets_tag_matches(const char *if_none_match, const char *etag)
{
    if (if_none_match == NULL)
        return 0;
    for (const char *p = if_none_match; *p != '\0';) {
        p += strspn(p, " \t,");
        if (*p == '*')
            return 1;
        if (strncmp(p, "W/", 2) == 0)
            p += 2;
        size_t n = strcspn(p, ", \t");
        if (n == strlen(etag) && strncmp(p, etag, n) == 0)
            return 1;
        p += n;
    }
    return 0;
}
