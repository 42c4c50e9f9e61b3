/* snapshot.c — publishing a catalog to readers that never wait for storage.
 *
 * Taking a reference is two steps, read the pointer and raise the count, and between them the publisher could free what
 * was read. A mutex held for exactly these two steps closes the gap: a few nanoseconds, never across I/O. Dropping
 * a reference needs no lock.
 */
#include "db/snapshot.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct snapshot {
    atomic_size_t refs;
    struct catalog *catalog;
};

struct snapshot_cell {
    pthread_mutex_t mutex;
    struct snapshot *current;
};

struct snapshot_cell *snapshot_cell_new(void)
{
    struct snapshot_cell *cell = calloc(1, sizeof *cell);
    if (cell && pthread_mutex_init(&cell->mutex, NULL) != 0) {
        free(cell);
        cell = NULL;
    }
    return cell;
}

static struct snapshot *swap(struct snapshot_cell *cell, struct snapshot *next)
{
    pthread_mutex_lock(&cell->mutex);
    struct snapshot *previous = cell->current;
    cell->current = next;
    pthread_mutex_unlock(&cell->mutex);
    return previous;
}

void snapshot_cell_free(struct snapshot_cell *cell)
{
    if (!cell)
        return;
    snapshot_unref(swap(cell, NULL));
    pthread_mutex_destroy(&cell->mutex);
    free(cell);
}

int snapshot_publish(struct snapshot_cell *cell, struct catalog *catalog)
{
    struct snapshot *s = calloc(1, sizeof *s);
    if (!s)
        return -1;
    atomic_init(&s->refs, 1); /* the cell's own */
    s->catalog = catalog;
    snapshot_unref(swap(cell, s));
    return 0;
}

struct snapshot *snapshot_ref(struct snapshot_cell *cell)
{
    pthread_mutex_lock(&cell->mutex);
    struct snapshot *s = cell->current;
    if (s)
        atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    pthread_mutex_unlock(&cell->mutex);
    return s;
}

void snapshot_unref(struct snapshot *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    arena_free(s->catalog->arena); /* owns the catalog itself, too */
    free(s);
}

const struct catalog *snapshot_catalog(const struct snapshot *s)
{
    return s->catalog;
}
