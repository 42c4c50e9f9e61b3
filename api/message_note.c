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

/* A thing of the catalog by its name, a wire value by its term, anything else as it is. An argument that is called
 * "sku" wants the id. */
static const char *words_of(enum language language, const struct note_arg *a, const struct catalog *c,
                            char scratch[VALUE_MAX])
{
    const char *value = a->text, *term = message_find(language, "term.", value);
    if (term || !c || strcmp(a->name, "sku") == 0)
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

static void add_value(struct words *w, enum language language, const struct note_arg *a, const char *currency,
                      const struct catalog *catalog)
{
    char text[VALUE_MAX];
    const char *value = text;
    switch (a->kind) {
    case NOTE_NUMBER:
        message_number(text, a->number);
        break;
    case NOTE_MONEY:
        message_money(text, language, a->minor, currency);
        break;
    case NOTE_DATE:
        date_text(a->date, text);
        break;
    case NOTE_PERCENT:
        message_percent(text, a->number);
        break;
    case NOTE_TEXT:
        value = a->text ? words_of(language, a, catalog, text) : "-";
        break;
    }
    words_value(w, value);
}

/* The argument that a place "{name}" asks for; NULL where the note has none. Places mostly ask in the order in which
 * the arguments stand: the search begins at `first`. */
static const struct note_arg *argument_of(const struct note *n, const struct piece *place, unsigned first)
{
    const unsigned args = n->n_args < NOTE_ARGS_MAX ? n->n_args : NOTE_ARGS_MAX;
    const size_t len = place->n - 2;
    for (unsigned k = 0, i = first; k < args; k++, i++) {
        const struct note_arg *a = &n->args[i % args];
        if (*a->name == place->text[1] && strncmp(a->name, place->text + 1, len) == 0 && a->name[len] == '\0')
            return a;
    }
    return NULL;
}

void message_note(struct buf *out, bool json, const struct note *n, enum language language, const char *currency,
                  const struct catalog *catalog)
{
    const struct template *t = message_template(language, "note.", n->code);
    struct words w = {.out = out, .json = json, .close_gaps = language == LANG_ZH_CN};
    if (!t && n->code)
        words_add(&w, n->code, strlen(n->code));
    unsigned places = 0;
    for (size_t i = 0; t && i < t->n; i++) {
        const struct piece *p = &t->pieces[i];
        const struct note_arg *a = p->kind == PIECE_PLACE ? argument_of(n, p, places++) : NULL;
        if (a)
            add_value(&w, language, a, currency, catalog);
        else
            words_piece(&w, p);
    }
}
