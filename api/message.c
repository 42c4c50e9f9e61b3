/* message.c — the merged message catalogs, and sentences made from them. */
#include "api/message.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/message_template.h"
#include "base/embed.h"

extern const struct embed_table embed_messages;

#define LANGUAGES 2
#define KEY_MAX 160

struct message {
    char *key;
    size_t key_len;
    char *text[LANGUAGES];
    struct template *template[LANGUAGES];
};

struct slot {
    uint32_t hash, item; /* index + 1 of an item, 0 = free */
};

/* Written once by message_init before any thread starts, read-only afterwards. */
static struct {
    struct message *items;
    size_t n, cap;
    struct slot *slots; /* open addressing */
    size_t mask;
} catalog_of_words;

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

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct message *)a)->key, ((const struct message *)b)->key);
}

/* One item a text for now; join_languages makes pairs of them. */
static void add_text(const char *file, const char *key, const char *text, enum language language)
{
    if (catalog_of_words.n == catalog_of_words.cap) {
        size_t cap = catalog_of_words.cap ? 2 * catalog_of_words.cap : 1024;
        struct message *grown = realloc(catalog_of_words.items, cap * sizeof *grown);
        if (!grown)
            broken(file, "out of memory");
        catalog_of_words.items = grown;
        catalog_of_words.cap = cap;
    }
    struct message *m = &catalog_of_words.items[catalog_of_words.n++];
    *m = (struct message){.key = strdup(key), .key_len = strlen(key)};
    m->text[language] = strdup(text);
    m->template[language] = template_compile(text, language == LANG_ZH_CN);
    if (!m->key || !m->text[language] || !m->template[language])
        broken(file, "out of memory");
    if (m->key_len > KEY_MAX)
        broken(file, key);
}

/* A key in two files keeps one of its texts: lint's business, not worth a dead service. */
static void join_languages(void)
{
    struct message *items = catalog_of_words.items;
    size_t kept = 0;
    for (size_t i = 0; i < catalog_of_words.n; i++) {
        struct message *last = kept ? &items[kept - 1] : NULL;
        if (!last || strcmp(last->key, items[i].key) != 0) {
            items[kept++] = items[i];
            continue;
        }
        for (int language = 0; language < LANGUAGES; language++) {
            if (!last->text[language]) {
                last->text[language] = items[i].text[language];
                last->template[language] = items[i].template[language];
            } else {
                free(items[i].text[language]);
                template_done(items[i].template[language]);
            }
        }
        free(items[i].key);
    }
    catalog_of_words.n = kept;
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

static void index_keys(void)
{
    size_t size = 16;
    while (size < 3 * catalog_of_words.n)
        size *= 2;
    catalog_of_words.slots = calloc(size, sizeof *catalog_of_words.slots);
    if (!catalog_of_words.slots)
        broken("index", "out of memory");
    catalog_of_words.mask = size - 1;
    for (size_t i = 0; i < catalog_of_words.n; i++) {
        uint32_t hash = hash_of(catalog_of_words.items[i].key, catalog_of_words.items[i].key_len);
        size_t at = hash & catalog_of_words.mask;
        while (catalog_of_words.slots[at].item)
            at = (at + 1) & catalog_of_words.mask;
        catalog_of_words.slots[at] = (struct slot){hash, (uint32_t)i + 1};
    }
}

void message_init(void)
{
    if (catalog_of_words.n)
        return;
    for (size_t i = 0; i < embed_messages.n; i++)
        merge_file(&embed_messages.files[i]);
    if (catalog_of_words.n)
        qsort(catalog_of_words.items, catalog_of_words.n, sizeof *catalog_of_words.items, by_key);
    join_languages();
    index_keys();
}

/* The message whose key is `prefix` and the first `after` bytes of `id`. */
static const struct message *find(const char *prefix, const char *id, size_t after)
{
    char key[KEY_MAX];
    const size_t before = strlen(prefix), n = before + after;
    if (!catalog_of_words.slots || n > sizeof key)
        return NULL;
    memcpy(key, prefix, before);
    memcpy(key + before, id, after);
    const uint32_t hash = hash_of(key, n);
    for (size_t at = hash;; at++) {
        const struct slot *slot = &catalog_of_words.slots[at & catalog_of_words.mask];
        if (slot->item == 0)
            return NULL;
        const struct message *m = &catalog_of_words.items[slot->item - 1];
        if (slot->hash == hash && m->key_len == n && memcmp(m->key, key, n) == 0)
            return m;
    }
}

const char *message_find(enum language language, const char *prefix, const char *id)
{
    const struct message *m = id ? find(prefix, id, strlen(id)) : NULL;
    return m ? m->text[language] : NULL;
}

const struct template *message_template(enum language language, const char *prefix, const char *id)
{
    const struct message *m = id ? find(prefix, id, strlen(id)) : NULL;
    return m ? m->template[language] : NULL;
}

const char *message_key_at(enum language language, size_t i)
{
    for (size_t at = 0; at < catalog_of_words.n; at++)
        if (catalog_of_words.items[at].text[language] && i-- == 0)
            return catalog_of_words.items[at].key;
    return NULL;
}

const char *message_term(enum language language, const char *value)
{
    const char *term = message_find(language, "term.", value);
    return term ? term : value;
}

const char *message_assumption(enum language language, const char *key)
{
    const struct message *m = find("assumption.", key, strcspn(key, "/"));
    return m && m->text[language] ? m->text[language] : key;
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
