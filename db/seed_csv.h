/* seed_csv.h — walks the rows of one comma-separated text. */
#ifndef SUANPAN_DB_SEED_CSV_H
#define SUANPAN_DB_SEED_CSV_H

#include <stddef.h>

#include "base/err.h"

#define SEED_CELLS_MAX 64

/* Called for every row, the header being row 1; empty lines are not rows. Cells live until it returns. */
typedef int (*seed_row_fn)(void *ctx, size_t row, const char *const *cells, size_t n, struct err *err);

/* ERR_INVALID for text that is not strict CSV or has a row longer than 64 KiB; otherwise what `fn` returned. */
int seed_csv_walk(const void *data, size_t size, seed_row_fn fn, void *ctx, struct err *err);

#endif
