/* snapshot.h — the published catalog: one atomic pointer, counted references, readers never lock storage. */
#ifndef SUANPAN_DB_SNAPSHOT_H
#define SUANPAN_DB_SNAPSHOT_H

#include "planner/core/catalog.h"

struct snapshot;      /* one catalog with its count */
struct snapshot_cell; /* where the current one is published */

struct snapshot_cell *snapshot_cell_new(void);
void snapshot_cell_free(struct snapshot_cell *cell);
/* Takes ownership of `catalog`; the previous one goes when its last reference does. -1 when out of memory. */
int snapshot_publish(struct snapshot_cell *cell, struct catalog *catalog);
struct snapshot *snapshot_ref(struct snapshot_cell *cell); /* NULL before the first publish */
void snapshot_unref(struct snapshot *s);                   /* NULL is allowed */
const struct catalog *snapshot_catalog(const struct snapshot *s);

#endif
