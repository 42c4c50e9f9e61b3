/* migrate.h — brings a database to the schema this binary knows, or refuses to touch it. */
#ifndef SUANPAN_DB_MIGRATE_H
#define SUANPAN_DB_MIGRATE_H

#include "base/embed.h"
#include "db/conn.h"

/* The newest version among the embedded migrations; ERR_INTERNAL when they are not 0001, 0002, ... without a gap. */
int migrate_newest(const struct embed_table *migrations, int *ret, struct err *err);

/* Reads only: is this file ours (ERR_CONFLICT), and not from a newer binary (ERR_UNSUPPORTED)? 0 = empty file. */
int migrate_inspect(struct conn *c, const struct embed_table *migrations, int *ret_version, struct err *err);

/* Applies what is missing, one transaction a migration, version mark included. A migration that was applied with
 * another text, or a missing one, is ERR_CONFLICT. */
int migrate_run(struct conn *c, const struct embed_table *migrations, struct err *err);

/* The stored schema against the one the embedded migrations make; ERR_CORRUPT when they differ. */
int migrate_verify(struct conn *c, const struct embed_table *migrations, struct err *err);

#endif
