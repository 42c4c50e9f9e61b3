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

#include "base/buf.h"
#include "planner/core/workload.h"

struct piece {
    enum { PIECE_TEXT, PIECE_PLACE, PIECE_PLURAL } kind;
    size_t n, n_json;
    const char *text, *json; /* of a place: "{name}", for a reader to see where nothing takes it */
};

/* Takes the next piece off a template, which is then as it stands, good for any language; false at its end. */
bool template_next(const char **template, struct piece *ret);

struct template
{
    char *all; /* the texts of the pieces */
    size_t n;
    struct piece pieces[];
};

/* All pieces at once; NULL when out of memory. `close_gaps` as in struct words. */
struct template *template_compile(const char *text, bool close_gaps);
void template_done(struct template *t);

/* Of the catalogs; NULL where message_find gives NULL. */
const struct template *message_template(enum language language, const char *prefix, const char *id);

/* A sentence being written. */
struct words {
    struct buf *out;
    bool json; /* escaped as the inside of a JSON string */
    /* Where a value begins or ends in a Chinese character, the blank that a template sets off Latin text with is one
     * too many. */
    bool close_gaps;
    enum {
        NO_FIGURE,
        ONE,
        ANOTHER
    } figure; /* the last value: "card(s)" is "card" after a 1 and "cards" after any
                 other */
};

void words_add(struct words *w, const char *text, size_t n);
/* A value in its place. */
void words_value(struct words *w, const char *text);
/* Any piece for which there is no value. */
void words_piece(struct words *w, const struct piece *p);

#endif
