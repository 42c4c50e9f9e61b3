/* message_note.c — a note of the planner as a sentence. */
#include <stdio.h>
#include <string.h>

#include "api/message.h"
#include "api/message_template.h"
#include "base/decimal.h"

#define VALUE_MAX 200

static const char *named(enum language language, const char *zh, const char *en)
{
    return language == LANG_ZH_CN ? zh : en;
}

/* At most `max` bytes of a text; returns where the next goes. */
static char *put(char *to, const char *s, size_t max)
{
    size_t n = strnlen(s, max);
    memcpy(to, s, n);
    return to + n;
}

/* "Hefei Xinzhan IDC, 8 x RTX 4090" */
static void sku_words(char out[VALUE_MAX], enum language language, const struct sku *s)
{
    char *at = put(out, named(language, s->provider->name_zh, s->provider->name_en), 100);
    at = put(at, named(language, " ", ", "), 2);
    at += decimal_digits((uint64_t)s->gpus_per_node, at);
    at = put(at, named(language, " × ", " x "), 4);
    *put(at, s->gpu->name, 60) = '\0';
}

/* "the line Hefei Economic Zone IDC - Tencent Cloud (Hefei)" */
static void line_words(char out[VALUE_MAX], enum language language, const struct dedicated_line *l)
{
    (void)snprintf(out, VALUE_MAX, language == LANG_ZH_CN ? "%.90s至%.90s的专线" : "the line %.90s - %.90s",
                   named(language, l->a->name_zh, l->a->name_en), named(language, l->b->name_zh, l->b->name_en));
}

/* A thing of the catalog by its name, a wire value by its term, anything else as it is. */
static const char *words_of(const struct message_speech *by, const char *value, char scratch[VALUE_MAX])
{
    const enum language language = by->language;
    const struct catalog *c = by->catalog;
    const char *term = message_find(language, "term.", value);
    if (term || !c)
        return term ? term : value;
    const struct gpu *gpu = catalog_gpu(c, value);
    if (gpu)
        return gpu->name;
    const struct provider *p = catalog_provider(c, value);
    if (p)
        return named(language, p->name_zh, p->name_en);
    const struct network *n = catalog_network(c, value);
    if (n)
        return named(language, n->name_zh, n->name_en);
    const struct storage *s = catalog_storage(c, value);
    if (s)
        return named(language, s->name_zh, s->name_en);
    for (size_t i = 0; i < c->n_lines; i++)
        if (strcmp(c->lines[i].id, value) == 0) {
            line_words(scratch, language, &c->lines[i]);
            return scratch;
        }
    const struct sku *sku = catalog_sku(c, value);
    if (!sku)
        return value;
    sku_words(scratch, language, sku);
    return scratch;
}

/* A text by its words. An argument that is called "sku" is the id, not what is called so. */
static void add_text(struct words *w, const struct note_arg *a, const struct message_speech *s)
{
    char scratch[VALUE_MAX];
    if (!a->text)
        words_value(w, "-");
    else if (strcmp(a->name, "sku") == 0)
        words_value(w, message_term(s->language, a->text));
    else if (!w->json)
        words_value(w, words_of(s, a->text, scratch));
    else if (!words_again(w, s->said, a->text)) {
        words_value(w, words_of(s, a->text, scratch));
        words_remember(w, s->said, a->text);
    }
}

static void add_value(struct words *w, const struct note_arg *a, const struct message_speech *s)
{
    char text[MESSAGE_FIGURE_MAX];
    switch (a->kind) {
    case NOTE_NUMBER:
        message_number(text, a->number);
        break;
    case NOTE_MONEY:
        message_money(text, s->language, a->minor, s->currency);
        break;
    case NOTE_DATE:
        date_text(a->date, text);
        break;
    case NOTE_PERCENT:
        message_percent(text, a->number);
        break;
    case NOTE_TEXT:
        add_text(w, a, s);
        return;
    }
    words_value(w, text);
}

/* The argument that a place "{name}" asks for; NULL where the note has none. Places mostly ask in the order in which
 * the arguments stand: the search begins at `first`. */
static const struct note_arg *argument_of(const struct note *n, const struct piece *place, unsigned first)
{
    const unsigned args = n->n_args < NOTE_ARGS_MAX ? n->n_args : NOTE_ARGS_MAX;
    const size_t len = place->n - 2;
    for (unsigned k = 0, i = first; k < args; k++, i++) {
        i = i < args ? i : 0;
        const struct note_arg *a = &n->args[i];
        if (*a->name == place->text[1] && strncmp(a->name, place->text + 1, len) == 0 && a->name[len] == '\0')
            return a;
    }
    return NULL;
}

static void write_note(struct words *w, const struct note *n, const struct message_speech *s)
{
    const struct template *t = message_template(s->language, "note.", n->code);
    unsigned places = 0;
    if (!t && n->code)
        words_add(w, n->code, strlen(n->code));
    for (size_t i = 0; t && i < t->n; i++) {
        const struct piece *p = &t->pieces[i];
        const struct note_arg *a = p->kind == PIECE_PLACE ? argument_of(n, p, places++) : NULL;
        if (a)
            add_value(w, a, s);
        else
            words_piece(w, p);
    }
}

void message_note(struct buf *out, const struct note *n, const struct message_speech *s)
{
    write_note(&(struct words){.out = out, .close_gaps = s->language == LANG_ZH_CN}, n, s);
}

void message_note_json(struct buf *out, const struct note *n, const struct message_speech *s)
{
    write_note(&(struct words){.out = out, .json = true, .close_gaps = s->language == LANG_ZH_CN}, n, s);
}
