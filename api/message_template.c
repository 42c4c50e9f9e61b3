/* message_template.c — templates taken apart, sentences put together. */
#include "api/message_template.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/json_write.h"

static const char plural[] = "(s)";
#define PLURAL_LEN (sizeof plural - 1)

bool template_next(const char **template, struct piece *ret)
{
    const char *text = *template, *open = strchr(text, '{'), *close = open ? strchr(open, '}') : NULL;
    const char *end = close ? open : text + strlen(text),
               *mark = memmem(text, (size_t)(end - text), plural, PLURAL_LEN);
    *ret = (struct piece){.kind = PIECE_TEXT, .text = text};
    if (mark == text) {
        ret->kind = PIECE_PLURAL;
        end = text + PLURAL_LEN;
    } else if (mark) {
        end = mark;
    } else if (open == text && close) {
        ret->kind = PIECE_PLACE;
        end = close + 1;
    }
    ret->n = (size_t)(end - text);
    *template = end;
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
    words_add(w, text, strlen(text));
    w->figure = strcmp(text, "1") == 0 ? ONE : ANOTHER;
}

void words_piece(struct words *w, const struct piece *p)
{
    if (p->kind != PIECE_PLURAL || w->figure == NO_FIGURE)
        add_part(w, w->json ? p->json : p->text, w->json ? p->n_json : p->n, true);
    else if (w->figure == ANOTHER)
        add_part(w, "s", 1, true);
}

/* ---- once, at the start */

/* Puts a text behind the others in `all`, each with an end of its own; returns its length. */
static size_t keep(struct words *w, const char *text, size_t n, bool json)
{
    size_t from = w->out->len;
    w->json = json;
    words_add(w, text, n);
    n = w->out->len - from;
    buf_addc(w->out, '\0');
    return n;
}

struct template *template_compile(const char *text, bool close_gaps)
{
    struct buf all;
    struct words w = {.out = &all, .close_gaps = close_gaps};
    struct piece p;
    size_t n = 0;
    for (const char *at = text; template_next(&at, &p);)
        n++;
    struct template *t = calloc(1, sizeof *t + n * sizeof *t->pieces);
    if (!t)
        return NULL;
    buf_init(&all, SIZE_MAX / 2);
    for (const char *at = text; template_next(&at, &p);) {
        t->pieces[t->n] = (struct piece){.kind = p.kind, .n = keep(&w, p.text, p.n, false)};
        t->pieces[t->n++].n_json = keep(&w, p.text, p.n, true);
    }
    const char *at = t->all = buf_take(&all, NULL);
    for (size_t i = 0; at && i < n; i++) {
        t->pieces[i].text = at;
        t->pieces[i].json = at + t->pieces[i].n + 1;
        at = t->pieces[i].json + t->pieces[i].n_json + 1;
    }
    if (at)
        return t;
    template_done(t);
    return NULL;
}

void template_done(struct template *t)
{
    if (t)
        free(t->all);
    free(t);
}
