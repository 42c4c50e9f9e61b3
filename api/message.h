/* message.h — every word the service says, in both languages, from the files of api/messages.
 *
 * Keys: "note.<code>" for what the planner notes, "fault.<code>" for what is wrong with a member, "error.<slug>" for
 * problem titles, "term.<id>" for the names of wire values, "assumption.<name>" for assumptions, "text.<id>" for the
 * rest. Placeholders are {name}.
 */
#ifndef SUANPAN_API_MESSAGE_H
#define SUANPAN_API_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "planner/core/catalog.h"
#include "planner/core/note.h"
#include "planner/core/workload.h"

/* Merges the embedded catalogs; called by api_init. A catalog that cannot be read is a broken build: it aborts. */
void message_init(void);

/* NULL when there is no such key. `prefix` and `id` are joined as they are: message_find(LANG_EN, "note.", code). */
const char *message_find(enum language language, const char *prefix, const char *id);

struct message_arg {
    const char *name, *value;
};

/* The template with its placeholders filled; one that has no argument stays visible as {name}. */
void message_render(struct buf *out, const char *template, const struct message_arg *args, size_t n);

/* A word of a JSON answer, the text it stands for and where in the buffer it is, not to be looked up again. */
struct message_said {
    const char *of;
    size_t from, to;
};
#define MESSAGE_SAID_MAX 256

/* What the words of a note depend on beside it. */
struct message_speech {
    enum language language;
    const char *currency; /* of its money */
    const struct catalog *catalog;
    struct message_said *said; /* MESSAGE_SAID_MAX, all zero at the beginning of an answer; only for JSON */
};

/* A note in words, as it is or as the inside of a JSON string. Without a text, the code itself. */
void message_note(struct buf *out, const struct note *n, const struct message_speech *s);
void message_note_json(struct buf *out, const struct note *n, const struct message_speech *s);

/* A wire value as people call it ("single_machine" -> "单机"); the value itself where there is no term. */
const char *message_term(enum language language, const char *value);

/* An assumption in words by its key ("train.restart_hours", "train.watts_per_tflop/ada"), as the inside of a JSON
 * string; the key where it has none. */
void message_assumption_json(struct buf *out, enum language language, const char *key);

/* Figures as people write them: 12,345 / 61.3 / 0.0042, 1,234.50 元 / USD 1,234.50, 2.5% / 61%. */
#define MESSAGE_FIGURE_MAX 48
#define MESSAGE_CURRENCY_MAX 8
void message_number(char out[MESSAGE_FIGURE_MAX], double value);
void message_money(char out[MESSAGE_FIGURE_MAX], enum language language, int64_t minor, const char *currency);
void message_percent(char out[MESSAGE_FIGURE_MAX], double share);

/* All keys, for tests: NULL past the end. */
const char *message_key_at(enum language language, size_t i);

/* "zh-CN" or "en" of an Accept-Language header by its q values; LANG_ZH_CN when it says nothing of either. */
enum language message_language(const char *accept_language);

#endif
