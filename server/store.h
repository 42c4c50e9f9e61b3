/* store.h — the database and the published catalog as the process sees them.
 *
 * The hot path only takes a reference to the snapshot; looking at the stored revision and loading a new catalog is
 * work for a worker thread (store_refresh), one call at a time.
 */
#ifndef SUANPAN_SERVER_STORE_H
#define SUANPAN_SERVER_STORE_H

#include <stdbool.h>

#include "base/err.h"
#include "db/db.h"
#include "db/snapshot.h"

struct store {
    const struct db_ops *ops;
    struct db *db;
    struct snapshot_cell *cell;
};

struct store_options {
    const char *path;
    bool read_only; /* no lock, no migration, no seeding */
    bool create;
    int64_t quick_check_max_bytes;
};

/* Opens, migrates, seeds and publishes the first catalog. On failure nothing stays open. */
int store_open(const struct store_options *options, struct store *ret, struct err *err);
void store_close(struct store *s);

/* Publishes a new snapshot when the stored revision is no longer `known_revision`; always fills *ret. */
int store_refresh(struct store *s, int64_t known_revision, struct db_status *ret, struct err *err);

#endif
