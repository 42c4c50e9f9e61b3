/* scratch.h — a folder of its own for one test, and the few things done to files in it. */
#ifndef SUANPAN_TESTS_DB_SCRATCH_H
#define SUANPAN_TESTS_DB_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "db/db.h"

struct scratch {
    char folder[256];
    char db[300]; /* path of a database that does not exist yet */
};

void scratch_make(struct scratch *s);
void scratch_remove(struct scratch *s);
void scratch_path(const struct scratch *s, const char *name, char out[300]);

/* Whole file; *ret_n bytes, malloc'd. Ends the test when it cannot be read. */
unsigned char *scratch_read(const char *path, size_t *ret_n);
void scratch_write(const char *path, const void *data, size_t n);
bool scratch_exists(const char *path);
void scratch_copy(const char *from, const char *to);

/* Runs SQL as nobody but a test may: behind the engine's back, on a closed database. */
void scratch_meddle(const char *path, const char *sql);

/* The configuration of a server: shipped migrations and seed, file created. */
struct db_config scratch_config(const struct scratch *s);
/* Opens or ends the test with the reason. */
struct db *scratch_open(const struct db_ops *ops, const struct db_config *config);

#endif
