/* arena.c — bump allocation in a chain of blocks; the first is small, the next ones double up to a ceiling. */
#include "base/arena.h"

#include <malloc.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_FIRST 8192
#define BLOCK_MAX ((size_t)1 << 20)
#define KEPT_BLOCK (8 << 20) /* larger ones are rare */
#define KEPT_FREE (32 << 20) /* at most so much stays behind unused */
#define ALIGNMENT alignof(max_align_t)

struct block {
    struct block *next;
    size_t size, used;
    alignas(max_align_t) unsigned char data[];
};

struct arena {
    struct block *head; /* the block being filled */
    size_t cap, handed_out, next_size;
    bool failed;
};

struct arena *arena_new(size_t cap)
{
    struct arena *a = calloc(1, sizeof *a);
    if (a == NULL)
        return NULL;
    a->cap = cap;
    a->next_size = BLOCK_FIRST;
    return a;
}

void arena_free(struct arena *a)
{
    if (a == NULL)
        return;
    for (struct block *b = a->head; b != NULL;) {
        struct block *next = b->next;
        free(b);
        b = next;
    }
    free(a);
}

void arena_reset(struct arena *a)
{
    struct block *kept = a->head;
    for (struct block *b = a->head; b != NULL; b = b->next)
        kept = b->size > kept->size ? b : kept;
    for (struct block *b = a->head; b != NULL;) {
        struct block *next = b->next;
        if (b != kept)
            free(b);
        b = next;
    }
    if (kept != NULL) {
        kept->next = NULL;
        kept->used = 0;
    }
    a->head = kept;
    a->handed_out = 0;
    a->failed = false;
}

static void *fail(struct arena *a)
{
    a->failed = true;
    return NULL;
}

/* A block that holds at least `need`. A request larger than the usual block gets one of its own behind the head, so
 * that the room left in the head is not given up. */
static struct block *add_block(struct arena *a, size_t need)
{
    size_t size = a->next_size > need ? a->next_size : need;
    if (size > SIZE_MAX - sizeof(struct block))
        return NULL;
    struct block *b = malloc(sizeof *b + size);
    if (b == NULL)
        return NULL;
    b->size = size;
    b->used = 0;
    if (a->head != NULL && need > a->next_size / 2 && a->head->size - a->head->used > 256) {
        b->next = a->head->next;
        a->head->next = b;
    } else {
        b->next = a->head;
        a->head = b;
    }
    if (a->next_size < BLOCK_MAX)
        a->next_size *= 2;
    return b;
}

static size_t aligned(size_t size)
{
    return size > 0 ? (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
}

/* As it lies. */
static void *take(struct arena *a, size_t size)
{
    if (size > SIZE_MAX - ALIGNMENT)
        return fail(a);
    const size_t need = aligned(size);
    if (need > a->cap - a->handed_out)
        return fail(a);
    struct block *b = a->head;
    if (b == NULL || b->size - b->used < need) {
        b = add_block(a, need);
        if (b == NULL)
            return fail(a);
    }
    void *p = b->data + b->used;
    b->used += need;
    a->handed_out += need;
    return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
    void *p = take(a, size);
    if (p != NULL)
        memset(p, 0, aligned(size));
    return p;
}

void *arena_room(struct arena *a, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        return fail(a);
    return take(a, total);
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        return fail(a);
    return arena_alloc(a, total);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    if (s == NULL)
        return NULL;
    n = strnlen(s, n);
    char *copy = arena_alloc(a, n + 1);
    if (copy != NULL)
        memcpy(copy, s, n);
    return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return s == NULL ? NULL : arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *text = n < 0 ? fail(a) : arena_alloc(a, (size_t)n + 1);
    if (text != NULL)
        vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    return text;
}

bool arena_grow(struct arena *a, void **items, size_t *cap, size_t n, size_t size)
{
    if (n < *cap)
        return true;
    size_t grown;
    if (__builtin_mul_overflow(*cap, 2, &grown)) {
        fail(a);
        return false;
    }
    size_t first = size > 128 ? 2 : 8; /* most lists of large things stay short */
    if (grown < first)
        grown = first;
    void *p = arena_array(a, grown, size);
    if (p == NULL)
        return false;
    if (n > 0)
        memcpy(p, *items, n * size);
    *items = p;
    *cap = grown;
    return true;
}

void arena_keep_pages(void)
{
    mallopt(M_MMAP_THRESHOLD, KEPT_BLOCK);
    mallopt(M_TRIM_THRESHOLD, KEPT_FREE);
}

bool arena_failed(const struct arena *a)
{
    return a->failed;
}

size_t arena_used(const struct arena *a)
{
    return a->handed_out;
}
