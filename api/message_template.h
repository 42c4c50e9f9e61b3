/* message_template.h — a text with placeholders in pieces, and the putting together of a sentence from pieces and
 * values.
 *
 * A note is written for every reason, warning and gate of every option, so the templates of the catalogs are taken
 * apart once, at the start, and kept both as they are and as they stand in JSON.
 */
#ifndef SUANPAN_API_MESSAGE_TEMPLATE_H
#define SUANPAN_API_MESSAGE_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/message.h"

struct piece {
    const char *text, *json; /* of a place: "{name}", for a reader to see where nothing takes it */
    uint32_t n, n_json;
    enum { PIECE_TEXT, PIECE_PLACE, PIECE_PLURAL } kind;
};

/* Takes the next piece off a text, which is then as it stands, good for any language; false at its end. */
bool template_next(const char **text, struct piece *ret);

/* A text of the catalogs under its key. One block of malloc holds all of it, in the order in which it is read: a
 * request comes here with cold caches. */
struct template
{
    const char *key, *text;
    uint32_t key_len, n;
    struct piece pieces[];
};

/* NULL when out of memory. `close_gaps` as in struct words. */
struct template *template_compile(const char *key, const char *text, bool close_gaps);

/* The text of a key, which is `prefix` and `id` joined; NULL where there is none. */
const struct template *message_template(enum language language, const char *prefix, const char *id);

/* A sentence being written. */
struct words {
    struct buf *out;
    bool json; /* escaped as the inside of a JSON string */
    /* Where a value begins or ends in a Chinese character, the blank that a template sets off Latin text with is one
     * too many. */
    bool close_gaps;
    /* The last value: "card(s)" is "card" after a 1 and "cards" after any other. */
    enum { NO_FIGURE, ONE, ANOTHER } figure;
    size_t from; /* where it begins in the buffer */
};

void words_add(struct words *w, const char *text, size_t n);
/* A value in its place. */
void words_value(struct words *w, const char *text);
/* Any piece for which there is no value. */
void words_piece(struct words *w, const struct piece *p);
/* A word that the answer holds already; false: it is not remembered. */
bool words_again(struct words *w, const struct message_said *said, const char *of);
/* Remembers the last value as the word for `of`. */
void words_remember(const struct words *w, struct message_said *said, const char *of);

#endif
