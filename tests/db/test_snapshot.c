/* test_snapshot.c — publishing while others read: counts are exact, and nobody sees freed memory (run it under TSan).
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "db/snapshot.h"

/* A catalog that says in two places which one it is: a torn or freed one would disagree with itself. */
static struct catalog *catalog_of(int64_t revision)
{
    struct arena *arena = arena_new(1 << 16);
    struct catalog *c = arena_alloc(arena, sizeof *c);
    c->arena = arena;
    c->providers = arena_array(arena, 8, sizeof *c->providers);
    c->n_providers = 8;
    for (size_t i = 0; i < 8; i++)
        c->providers[i].queue_median_h = (double)revision;
    c->revision = revision;
    return c;
}

static int consistent(const struct catalog *c)
{
    for (size_t i = 0; i < c->n_providers; i++)
        if (c->providers[i].queue_median_h != (double)c->revision)
            return 0;
    return 1;
}

Test(snapshot, life_of_one)
{
    struct snapshot_cell *cell = snapshot_cell_new();
    cr_assert_not_null(cell);
    cr_assert_null(snapshot_ref(cell), "nothing is published yet");
    snapshot_unref(NULL);
    cr_assert_eq(snapshot_publish(cell, catalog_of(1)), 0);
    struct snapshot *one = snapshot_ref(cell), *same = snapshot_ref(cell);
    cr_assert_eq(snapshot_catalog(one), snapshot_catalog(same));
    cr_assert_eq(snapshot_publish(cell, catalog_of(2)), 0);
    cr_assert_eq(snapshot_catalog(one)->revision, 1, "who holds the old one keeps it");
    struct snapshot *two = snapshot_ref(cell);
    cr_assert_eq(snapshot_catalog(two)->revision, 2);
    snapshot_unref(one);
    cr_assert(consistent(snapshot_catalog(same)));
    snapshot_unref(same);
    snapshot_cell_free(cell);
    cr_assert(consistent(snapshot_catalog(two)), "a reference outlives the cell");
    snapshot_unref(two);
    snapshot_cell_free(NULL);
}

struct shared {
    struct snapshot_cell *cell;
    atomic_bool stop;
    atomic_int faults;
};

static void *read_on(void *arg)
{
    struct shared *s = arg;
    int64_t last = 0;
    while (!atomic_load(&s->stop)) {
        struct snapshot *held = snapshot_ref(s->cell);
        const struct catalog *c = snapshot_catalog(held);
        if (!consistent(c) || c->revision < last)
            atomic_fetch_add(&s->faults, 1);
        last = c->revision;
        snapshot_unref(held);
    }
    return NULL;
}

Test(snapshot, readers_beside_a_publisher)
{
    struct shared s = {.cell = snapshot_cell_new()};
    pthread_t threads[3];
    snapshot_publish(s.cell, catalog_of(1));
    for (int i = 0; i < 3; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, read_on, &s), 0);
    for (int64_t r = 2; r <= 2000; r++)
        snapshot_publish(s.cell, catalog_of(r));
    atomic_store(&s.stop, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    cr_assert_eq(atomic_load(&s.faults), 0);
    snapshot_cell_free(s.cell);
}
