/* catalog_load.h — the stored catalog into a snapshot. */
#ifndef SUANPAN_DB_CATALOG_LOAD_H
#define SUANPAN_DB_CATALOG_LOAD_H

#include "db/conn.h"
#include "planner/core/catalog.h"

/* One read transaction, one new arena that *ret owns; indexed. */
int catalog_load(struct conn *c, struct catalog **ret, struct err *err);

#endif
