/* note.c — collecting notes. A full arena yields a scratch note inside the list's own storage class: see scratch(). */
#include "planner/core/note.h"

#include <math.h>
#include <string.h>

void note_list_init(struct note_list *l, struct arena *arena)
{
    *l = (struct note_list){.arena = arena};
}

/* Where a note goes when the arena is full: nobody reads it (arena_failed is checked at the end of the request), but
 * the caller may still hang arguments on it. Thread-local, because planning runs on several threads. */
static struct note *scratch(void)
{
    static _Thread_local struct note thrown_away;
    return &thrown_away;
}

struct note *note_add(struct note_list *l, const char *code)
{
    if (l->unread)
        return NULL;
    struct note *n = arena_push(l->arena, l);
    if (n == NULL)
        n = scratch();
    *n = (struct note){.code = code, .short_by = NAN};
    return n;
}

struct note *note_add_once(struct note_list *l, const char *code)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->items[i].code, code) == 0)
            return &l->items[i];
    return note_add(l, code);
}

const struct note *note_find(const struct note_list *l, const char *code)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->items[i].code, code) == 0)
            return &l->items[i];
    return NULL;
}

/* Where the arguments of no note go. */
static struct note_arg *unsaid(void)
{
    return scratch()->args;
}

/* The argument of this name (said again on a note found by note_add_once), a fresh one, or the last when full. */
static struct note_arg *argument(struct note *n, const char *name, enum note_arg_kind kind)
{
    struct note_arg *arg = NULL;
    if (n == NULL)
        return unsaid();
    for (unsigned i = 0; i < n->n_args && arg == NULL; i++)
        if (n->args[i].name[0] == name[0] && strcmp(n->args[i].name, name) == 0)
            arg = &n->args[i];
    if (arg == NULL)
        arg = &n->args[n->n_args < NOTE_ARGS_MAX ? n->n_args++ : NOTE_ARGS_MAX - 1];
    *arg = (struct note_arg){.name = name, .kind = kind};
    return arg;
}

struct note *note_num(struct note *n, const char *name, double value)
{
    argument(n, name, NOTE_NUMBER)->number = value;
    return n;
}

struct note *note_text(struct note *n, const char *name, const char *value)
{
    argument(n, name, NOTE_TEXT)->text = value;
    return n;
}

struct note *note_money(struct note *n, const char *name, int64_t minor)
{
    argument(n, name, NOTE_MONEY)->minor = minor;
    return n;
}

struct note *note_date(struct note *n, const char *name, date_t value)
{
    argument(n, name, NOTE_DATE)->date = value;
    return n;
}

struct note *note_percent(struct note *n, const char *name, double share)
{
    argument(n, name, NOTE_PERCENT)->number = share;
    return n;
}
