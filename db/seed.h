/* seed.h — the embedded CSV files into the tables. */
#ifndef SUANPAN_DB_SEED_H
#define SUANPAN_DB_SEED_H

#include "base/embed.h"
#include "db/conn.h"

/* One transaction. An empty catalog takes every row, and a duplicate is an error. A catalog that came from another
 * seed is merged: reference rows are replaced by key, prices only added (never changed), and the revision rises.
 * The same seed again does nothing. Errors name file and row in err->pointer. */
int seed_apply(struct conn *c, const struct embed_table *seed, struct err *err);

#endif
