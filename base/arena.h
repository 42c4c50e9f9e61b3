/* arena.h — memory that lives exactly as long as one request, one snapshot or one test.
 *
 * Allocation never fails half-way: past `cap` bytes arena_alloc returns NULL and the arena remembers it
 * (arena_failed), so a long computation may check once at its end. Memory is zeroed but where room alone is asked for.
 * Not thread-safe.
 */
#ifndef SUANPAN_BASE_ARENA_H
#define SUANPAN_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

/* cap: the most bytes it will ever hand out. NULL when out of memory. */
struct arena *arena_new(size_t cap);
void arena_free(struct arena *a); /* NULL is allowed */

/* Zeroed, aligned for any type. NULL when the cap is reached, on overflow or when out of memory. */
void *arena_alloc(struct arena *a, size_t size);
void *arena_array(struct arena *a, size_t count, size_t size);
/* The same without the zeroes: for large things of which little is used, and that only after it was written. */
void *arena_room(struct arena *a, size_t count, size_t size);
/* Copies; NULL in gives NULL out. */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Doubles an array kept in the arena when it is full (old storage is left behind). Returns false past the cap.
 * Use through arena_push below. */
bool arena_grow(struct arena *a, void **items, size_t *cap, size_t n, size_t size);

/* Appends to {T *items; size_t n, cap;}; yields a pointer to the new zeroed element or NULL. */
#define arena_push(a, list)                                                                                            \
    (arena_grow((a), (void **)&(list)->items, &(list)->cap, (list)->n, sizeof *(list)->items)                          \
         ? &(list)->items[(list)->n++]                                                                                 \
         : NULL)

/* Takes everything back that was handed out; the largest block stays, so that the same work done again costs no new
 * memory. */
void arena_reset(struct arena *a);

/* For a process that makes many arenas, before its threads: blocks that are freed stay with the process for the next
 * arena, instead of going back to the system and being faulted in anew page by page. */
void arena_keep_pages(void);

bool arena_failed(const struct arena *a);
size_t arena_used(const struct arena *a);

#endif
