/* note.h — what an answer says in words, before it is words: a code and its figures.
 *
 * The planner never writes sentences. A reason, a warning, a gate or advice is a code (the rule's name in
 * docs/domain.md, or one of ours) with named arguments; api/ renders it from the message catalogs in zh-CN or en.
 * Text arguments point into the arena, the catalog or static storage and are never freed here.
 */
#ifndef SUANPAN_PLANNER_CORE_NOTE_H
#define SUANPAN_PLANNER_CORE_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/date.h"

#define NOTE_ARGS_MAX 8

enum note_arg_kind { NOTE_NUMBER, NOTE_TEXT, NOTE_MONEY, NOTE_DATE, NOTE_PERCENT };

struct note_arg {
    const char *name; /* placeholder {name} in the message catalogs */
    enum note_arg_kind kind;
    union {               /* by kind: a plan holds hundreds of notes */
        double number;    /* NOTE_NUMBER; NOTE_PERCENT as a share 0..1 */
        const char *text; /* NOTE_TEXT */
        int64_t minor;    /* NOTE_MONEY, in the plan's currency */
        date_t date;      /* NOTE_DATE */
    };
};

struct note {
    const char *code; /* static string, lower_snake; also the message catalog key "note.<code>" */
    double short_by;  /* by how much a limit is missed, in the rule's unit; NAN where it makes no sense */
    unsigned n_args;
    struct note_arg args[NOTE_ARGS_MAX];
};

struct note_list {
    struct arena *arena;
    struct note *items;
    size_t n, cap;
    bool unread; /* nobody will ever read it: nothing is written */
};

void note_list_init(struct note_list *l, struct arena *arena);

/* Appends; returns the note to hang arguments on. On a full arena returns a scratch note that is thrown away; NULL
 * where nobody reads the list. */
struct note *note_add(struct note_list *l, const char *code);
/* As note_add, but only once per code. */
struct note *note_add_once(struct note_list *l, const char *code);
const struct note *note_find(const struct note_list *l, const char *code);

/* Each returns its note, so that calls can be chained; of NULL nothing is said. `name` must be static. */
struct note *note_num(struct note *n, const char *name, double value);
struct note *note_text(struct note *n, const char *name, const char *value);
struct note *note_money(struct note *n, const char *name, int64_t minor);
struct note *note_date(struct note *n, const char *name, date_t value);
struct note *note_percent(struct note *n, const char *name, double share);

#endif
