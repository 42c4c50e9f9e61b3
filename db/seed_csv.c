/* seed_csv.c — libcsv's callbacks turned into whole rows. */
#include "db/seed_csv.h"

#include <csv.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROW_BYTES_MAX 65536

struct walk {
    seed_row_fn fn;
    void *ctx;
    struct err *err;
    bool failed;
    size_t row, n, used;
    const char *cells[SEED_CELLS_MAX];
    char text[ROW_BYTES_MAX];
};

static void on_field(void *s, size_t len, void *ctx)
{
    struct walk *w = ctx;
    if (w->failed)
        return;
    if (w->n == SEED_CELLS_MAX || len + 1 > sizeof w->text - w->used) {
        w->failed = true;
        err_set(w->err, ERR_INVALID, "row %zu: too long", w->row + 1);
        return;
    }
    char *cell = w->text + w->used;
    if (len > 0)
        memcpy(cell, s, len);
    cell[len] = '\0';
    w->used += len + 1;
    w->cells[w->n++] = cell;
}

static void on_row(int c, void *ctx)
{
    struct walk *w = ctx;
    (void)c;
    if (w->failed)
        return;
    w->row++;
    if (w->fn(w->ctx, w->row, w->cells, w->n, w->err) != 0)
        w->failed = true;
    w->n = 0;
    w->used = 0;
}

int seed_csv_walk(const void *data, size_t size, seed_row_fn fn, void *ctx, struct err *err)
{
    struct csv_parser parser;
    struct walk *w = calloc(1, sizeof *w);
    if (!w || csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0) {
        free(w);
        return err_set(err, ERR_NOMEM, "CSV reader");
    }
    if (size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0) { /* the mark that Excel puts in front */
        data = (const unsigned char *)data + 3;
        size -= 3;
    }
    w->fn = fn;
    w->ctx = ctx;
    w->err = err;
    bool whole =
        csv_parse(&parser, data, size, on_field, on_row, w) == size && csv_fini(&parser, on_field, on_row, w) == 0;
    if (!whole && !w->failed) {
        w->failed = true;
        err_set(err, ERR_INVALID, "row %zu: %s", w->row + 1, csv_strerror(csv_error(&parser)));
    }
    csv_free(&parser);
    int rc = w->failed ? -1 : 0;
    free(w);
    return rc;
}
