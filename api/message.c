/* message.c — the merged message catalogs, and sentences made from them. */
#include "api/message.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json_write.h"
#include "api/message_template.h"
#include "base/embed.h"

extern const struct embed_table embed_messages;

#define LANGUAGES 2
#define KEY_MAX 160

struct slot {
    struct template *text; /* NULL = free */
    uint32_t hash;
};

/* Written once by message_init before any thread starts, read-only afterwards. */
static struct catalog_of_words {
    struct slot *slots; /* open addressing */
    size_t size, n;     /* a power of two; how many are taken */
} catalogs[LANGUAGES];

/* Eight bytes at a step: a plan asks for some hundred sentences. */
static uint32_t hash_of(const char *key, size_t n)
{
    const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t h = n * odd, part;
    for (; n >= sizeof part; key += sizeof part, n -= sizeof part) {
        memcpy(&part, key, sizeof part);
        h = (h ^ part) * odd;
        h ^= h >> 32;
    }
    for (part = 0; n > 0; n--)
        part = part << 8 | (unsigned char)*key++;
    h = (h ^ part) * odd;
    return (uint32_t)(h >> 32);
}

static void broken(const char *file, const char *why)
{
    fprintf(stderr, "message catalog %s: %s\n", file, why);
    abort();
}

/* The slot of a key, taken or free. */
static struct slot *slot_of(const struct catalog_of_words *c, const char *key, size_t n, uint32_t hash)
{
    for (size_t at = hash;; at++) {
        struct slot *slot = &c->slots[at & (c->size - 1)];
        if (!slot->text || (slot->hash == hash && slot->text->key_len == n && memcmp(slot->text->key, key, n) == 0))
            return slot;
    }
}

/* Twice the room, so that at least half of it is always free. */
static void grow(struct catalog_of_words *c)
{
    struct catalog_of_words grown = {.size = c->size > 0 ? 2 * c->size : 1024, .n = c->n};
    grown.slots = calloc(grown.size, sizeof *grown.slots);
    if (!grown.slots)
        broken("index", "out of memory");
    for (size_t i = 0; i < c->size; i++)
        if (c->slots[i].text)
            *slot_of(&grown, c->slots[i].text->key, c->slots[i].text->key_len, c->slots[i].hash) = c->slots[i];
    free(c->slots);
    *c = grown;
}

/* A key in two files keeps its first text: lint's business, not worth a dead service. */
static void add_text(const char *file, const char *key, const char *text, enum language language)
{
    struct catalog_of_words *c = &catalogs[language];
    const size_t n = strlen(key);
    const uint32_t hash = hash_of(key, n);
    if (2 * c->n >= c->size)
        grow(c);
    struct slot *slot = slot_of(c, key, n, hash);
    if (slot->text)
        return;
    *slot = (struct slot){template_compile(key, text, language == LANG_ZH_CN), hash};
    if (!slot->text)
        broken(file, "out of memory");
    c->n++;
}

static void merge_file(const struct embed_file *f)
{
    json_error_t why;
    json_t *root = json_loadb((const char *)f->data, f->size, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(root))
        broken(f->name, root ? "no object" : why.text);
    enum language language = strstr(f->name, ".zh-CN.json") ? LANG_ZH_CN : LANG_EN;
    const char *key;
    json_t *text;
    json_object_foreach(root, key, text)
    {
        if (!json_is_string(text))
            broken(f->name, key);
        add_text(f->name, key, json_string_value(text), language);
    }
    json_decref(root);
}

void message_init(void)
{
    if (catalogs[LANG_EN].n)
        return;
    for (size_t i = 0; i < embed_messages.n; i++)
        merge_file(&embed_messages.files[i]);
}

/* The text whose key is `prefix` and the first `after` bytes of `id`. */
static const struct template *find(enum language language, const char *prefix, const char *id, size_t after)
{
    char key[KEY_MAX];
    const size_t before = strlen(prefix), n = before + after;
    if (catalogs[language].n == 0 || n > sizeof key)
        return NULL;
    memcpy(key, prefix, before);
    memcpy(key + before, id, after);
    return slot_of(&catalogs[language], key, n, hash_of(key, n))->text;
}

const struct template *message_template(enum language language, const char *prefix, const char *id)
{
    return id ? find(language, prefix, id, strlen(id)) : NULL;
}

const char *message_find(enum language language, const char *prefix, const char *id)
{
    const struct template *t = message_template(language, prefix, id);
    return t ? t->text : NULL;
}

const char *message_key_at(enum language language, size_t i)
{
    const struct catalog_of_words *c = &catalogs[language];
    for (size_t at = 0; at < c->size; at++)
        if (c->slots[at].text && i-- == 0)
            return c->slots[at].text->key;
    return NULL;
}

const char *message_term(enum language language, const char *value)
{
    const char *term = message_find(language, "term.", value);
    return term ? term : value;
}

void message_assumption_json(struct buf *out, enum language language, const char *key)
{
    const struct template *t = find(language, "assumption.", key, strcspn(key, "/"));
    if (!t)
        jw_escape(out, key, strlen(key));
    for (size_t i = 0; t && i < t->n; i++)
        words_piece(&(struct words){.out = out, .json = true}, &t->pieces[i]);
}

void message_render(struct buf *out, const char *template, const struct message_arg *args, size_t n)
{
    struct words w = {.out = out};
    for (struct piece p; template_next(&template, &p);) {
        size_t i = p.kind == PIECE_PLACE ? 0 : n;
        while (i < n && !(strncmp(args[i].name, p.text + 1, p.n - 2) == 0 && args[i].name[p.n - 2] == '\0'))
            i++;
        if (i < n)
            words_value(&w, args[i].value);
        else
            words_piece(&w, &p);
    }
}

/* ---- language ---------------------------------------------------------------------------------------------- */

enum language message_language(const char *accept_language)
{
    double best = 0;
    enum language chosen = LANG_ZH_CN;
    for (const char *p = accept_language; p && *p;) {
        p += strspn(p, " \t,");
        size_t len = strcspn(p, ",");
        size_t tag = strcspn(p, ",; \t");
        double q = 1;
        const char *at = memmem(p, len, "q=", 2);
        if (at)
            q = strtod(at + 2, NULL);
        bool english = tag >= 2 && strncasecmp(p, "en", 2) == 0 && (tag == 2 || p[2] == '-');
        bool chinese =
            (tag >= 2 && strncasecmp(p, "zh", 2) == 0 && (tag == 2 || p[2] == '-')) || (tag == 1 && *p == '*');
        if ((english || chinese) && q > best) {
            best = q;
            chosen = english ? LANG_EN : LANG_ZH_CN;
        }
        p += len;
    }
    return chosen;
}
