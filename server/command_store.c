/* command_store.c — `suanpan check`, `suanpan backup FILE`, `suanpan version`: what an operator does to the database.
 * Both open it read-only, so they run beside a serving process.
 */
#include <stdio.h>
#include <stdlib.h>

#include "planner/offers/engine.h"
#include "server/command.h"
#include "server/store.h"

extern const struct embed_table embed_migrations;

static int complain(const char *what, const struct err *err)
{
    fprintf(stderr, "suanpan: %s: %s%s%s (%s)\n", what, err->pointer, err->pointer[0] != '\0' ? ": " : "", err->detail,
            err_name(err->code));
    return 1;
}

static int open_quietly(const struct config *config, struct store *ret, struct err *err)
{
    const struct store_options options = {.path = config->db, .read_only = true};
    return store_open(&options, ret, err);
}

int command_check(const struct config *config)
{
    struct store store;
    struct db_status status;
    struct err err = {0};
    if (open_quietly(config, &store, &err) != 0)
        return complain(config->db, &err);
    int rc = store.ops->check(store.db, &err);
    if (rc == 0)
        rc = store.ops->status(store.db, &status, &err);
    store_close(&store);
    if (rc != 0)
        return complain(config->db, &err);
    printf("%s: sound; schema %d, catalog revision %lld\n", config->db, status.schema_version,
           (long long)status.catalog_revision);
    return 0;
}

int command_backup(const struct config *config, const char *to)
{
    struct store store;
    struct err err = {0};
    if (open_quietly(config, &store, &err) != 0)
        return complain(config->db, &err);
    int rc = store.ops->backup(store.db, to, &err);
    store_close(&store);
    if (rc != 0)
        return complain(to, &err);
    printf("%s: backup of %s, checked\n", to, config->db);
    return 0;
}

int command_version(void)
{
    long schema = 0; /* migrations are numbered, and sorted by name */
    if (embed_migrations.n > 0)
        schema = strtol(embed_migrations.files[embed_migrations.n - 1].name, NULL, 10);
    printf("suanpan: engine %s, schema %ld\n", engine_version(), schema);
    return 0;
}
