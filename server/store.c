/* store.c — see store.h. */
#include "server/store.h"

#include "base/arena.h"
#include "planner/offers/engine.h"

extern const struct embed_table embed_migrations, embed_seed;

static int publish(struct store *s, struct err *err)
{
    struct catalog *catalog = NULL;
    if (s->ops->load_catalog(s->db, &catalog, err) != 0)
        return -1;
    if (engine_bind(catalog, err) != 0) {
        arena_free(catalog->arena);
        return -1;
    }
    if (snapshot_publish(s->cell, catalog) != 0) {
        arena_free(catalog->arena);
        return err_set(err, ERR_NOMEM, "no memory to publish the catalog");
    }
    return 0;
}

int store_open(const struct store_options *options, struct store *ret, struct err *err)
{
    struct store s = {.ops = &db_sqlite};
    struct db_config config = {.path = options->path,
                               .migrations = &embed_migrations,
                               .seed = &embed_seed,
                               .read_only = options->read_only,
                               .create = options->create,
                               .quick_check_max_bytes = options->quick_check_max_bytes};
    s.cell = snapshot_cell_new();
    if (s.cell == NULL)
        return err_set(err, ERR_NOMEM, "no memory for the catalog cell");
    if (s.ops->open(&config, &s.db, err) != 0) {
        snapshot_cell_free(s.cell);
        return -1;
    }
    if (publish(&s, err) != 0) {
        store_close(&s);
        return -1;
    }
    *ret = s;
    return 0;
}

void store_close(struct store *s)
{
    if (s->cell != NULL)
        snapshot_cell_free(s->cell);
    if (s->db != NULL)
        s->ops->close(s->db);
    *s = (struct store){0};
}

int store_refresh(struct store *s, int64_t known_revision, struct db_status *ret, struct err *err)
{
    if (s->ops->status(s->db, ret, err) != 0)
        return -1;
    if (ret->catalog_revision == known_revision)
        return 0;
    return publish(s, err);
}
