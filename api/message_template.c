/* message_template.c — templates taken apart, sentences put together. */
#include "api/message_template.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/json_write.h"

static const char plural[] = "(s)";
#define PLURAL_LEN (sizeof plural - 1)

bool template_next(const char **text, struct piece *ret)
{
    const char *from = *text, *open = strchr(from, '{'), *close = open ? strchr(open, '}') : NULL;
    const char *end = close ? open : from + strlen(from),
               *mark = memmem(from, (size_t)(end - from), plural, PLURAL_LEN);
    *ret = (struct piece){.kind = PIECE_TEXT, .text = from};
    if (mark == from) {
        ret->kind = PIECE_PLURAL;
        end = from + PLURAL_LEN;
    } else if (mark) {
        end = mark;
    } else if (open == from && close) {
        ret->kind = PIECE_PLACE;
        end = close + 1;
    }
    ret->n = (uint32_t)(end - from);
    *text = end;
    return ret->n > 0;
}

/* ---- putting together */

/* Chinese characters, kana, hangul and full-width forms: all are three bytes, of which the first tells. */
static bool starts_wide(const char *s)
{
    return (unsigned char)*s >= 0xE3 && (unsigned char)*s <= 0xEF;
}

static bool ends_wide(const struct buf *b, size_t len)
{
    return len >= 3 && starts_wide(b->data + len - 3);
}

/* At the seam to what is written already: leaves out a blank that stands between two Chinese characters, whichever side
 * it is on. */
static void close_seam(struct buf *out, const char **s, size_t *n)
{
    if (**s == ' ') {
        bool gap = *n > 1 && starts_wide(*s + 1) && ends_wide(out, out->len);
        *s += gap;
        *n -= gap;
    } else if (starts_wide(*s) && out->len > 0 && out->data[out->len - 1] == ' ' && ends_wide(out, out->len - 1)) {
        out->len--;
    }
}

/* `ready`: escaped already where this has to be. */
static void add_part(struct words *w, const char *s, size_t n, bool ready)
{
    if (w->close_gaps && n > 0)
        close_seam(w->out, &s, &n);
    if (w->json && !ready) {
        jw_escape(w->out, s, n);
        return;
    }
    char *to = buf_room(w->out, n);
    if (!to)
        return;
    memcpy(to, s, n);
    buf_wrote(w->out, to + n);
}

/* How much of a text stands before its first inner blank that a Chinese character follows. */
static size_t before_gap(const char *s, size_t n)
{
    const char *end = s + n, *at = s;
    while (at + 2 < end && (at = memchr(at + 1, ' ', (size_t)(end - at - 2))) != NULL)
        if (starts_wide(at + 1))
            return (size_t)(at - s);
    return n;
}

void words_add(struct words *w, const char *s, size_t n)
{
    for (size_t part; n > 0; s += part, n -= part) {
        part = w->close_gaps ? before_gap(s, n) : n;
        add_part(w, s, part, false);
    }
}

void words_value(struct words *w, const char *text)
{
    size_t n = strlen(text);
    w->figure = n == 1 && *text == '1' ? ONE : ANOTHER;
    if (w->close_gaps && n > 0)
        close_seam(w->out, &text, &n);
    w->from = w->out->len;
    words_add(w, text, n);
}

void words_piece(struct words *w, const struct piece *p)
{
    if (p->kind != PIECE_PLURAL || w->figure == NO_FIGURE)
        add_part(w, w->json ? p->json : p->text, w->json ? p->n_json : p->n, true);
    else if (w->figure == ANOTHER)
        add_part(w, "s", 1, true);
}

/* Texts of the catalog begin at multiples of 16. */
static size_t place_of(const char *of)
{
    return ((uintptr_t)of >> 4 ^ (uintptr_t)of >> 10) % MESSAGE_SAID_MAX;
}

bool words_again(struct words *w, const struct message_said *said, const char *of)
{
    const struct message_said *s = &said[place_of(of)];
    if (s->of != of || !buf_room(w->out, s->to - s->from)) /* room first: then the word stays where it is */
        return false;
    add_part(w, w->out->data + s->from, s->to - s->from, true);
    w->figure = ANOTHER;
    return true;
}

/* No figure, and nothing whose ends a neighbour may change. */
void words_remember(const struct words *w, struct message_said *said, const char *of)
{
    const struct buf *out = w->out;
    if (w->figure == ANOTHER && !out->failed && out->len > w->from && out->data[w->from] != ' ' &&
        out->data[out->len - 1] != ' ')
        said[place_of(of)] = (struct message_said){of, w->from, out->len};
}

/* ---- once, at the start */

/* Puts a text behind the others, each with an end of its own; returns its length. */
static uint32_t keep(struct words *w, const char *text, size_t n)
{
    size_t from = w->out->len;
    words_add(w, text, n);
    n = w->out->len - from;
    buf_addc(w->out, '\0');
    return (uint32_t)n;
}

/* A piece as it will be written; as JSON only where that is another text, which is then longer. */
static struct piece keep_piece(const struct piece *p, bool close_gaps, struct buf *texts)
{
    struct piece kept = {.kind = p->kind};
    kept.n = keep(&(struct words){.out = texts, .close_gaps = close_gaps}, p->text, p->n);
    const size_t plain_end = texts->len;
    kept.n_json = keep(&(struct words){.out = texts, .json = true, .close_gaps = close_gaps}, p->text, p->n);
    if (kept.n_json == kept.n)
        texts->len = plain_end;
    return kept;
}

/* Appends the texts to the template and points its parts at them, in the order in which they were kept. */
static struct template *complete(struct template *t, const struct buf *texts)
{
    const size_t size = sizeof *t + t->n * sizeof *t->pieces;
    struct template *whole = buf_failed(texts) ? NULL : realloc(t, size + texts->len);
    if (!whole) {
        free(t);
        return NULL;
    }
    const char *at = memcpy((char *)whole + size, texts->data, texts->len);
    whole->key = at;
    at += whole->key_len + 1;
    for (struct piece *p = whole->pieces; p < whole->pieces + whole->n; p++) {
        p->text = p->json = at;
        at += p->n + 1;
        if (p->n_json == p->n)
            continue;
        p->json = at;
        at += p->n_json + 1;
    }
    whole->text = at;
    return whole;
}

struct template *template_compile(const char *key, const char *text, bool close_gaps)
{
    struct buf texts;
    struct piece p;
    size_t n = 0;
    for (const char *at = text; template_next(&at, &p);)
        n++;
    struct template *t = calloc(1, sizeof *t + n * sizeof *t->pieces);
    if (!t)
        return NULL;
    buf_init(&texts, UINT32_MAX);
    t->key_len = keep(&(struct words){.out = &texts}, key, strlen(key));
    for (const char *at = text; template_next(&at, &p);)
        t->pieces[t->n++] = keep_piece(&p, close_gaps, &texts);
    buf_add(&texts, text, strlen(text) + 1);
    t = complete(t, &texts);
    buf_done(&texts);
    return t;
}
