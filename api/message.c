/* message.c — the merged message catalogs, and sentences made from them. */
#include "api/message.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/money.h"

extern const struct embed_table embed_messages;

#define LANGUAGES 2
#define KEY_MAX 160

struct message {
    char *key;
    char *text[LANGUAGES];
};

/* Written once by message_init before any thread starts, read-only afterwards. */
static struct {
    struct message *items;
    size_t n, cap;
    uint32_t *slots; /* open addressing: index + 1 of an item, 0 = free */
    size_t mask;
} catalog_of_words;

/* FNV-1a, continued over the parts of a key. */
static uint32_t hash_on(uint32_t h, const char *s)
{
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 16777619u;
    return h;
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
    *m = (struct message){.key = strdup(key)};
    m->text[language] = strdup(text);
    if (!m->key || !m->text[language])
        broken(file, "out of memory");
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
            if (!last->text[language])
                last->text[language] = items[i].text[language];
            else
                free(items[i].text[language]);
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
        size_t at = hash_on(2166136261u, catalog_of_words.items[i].key) & catalog_of_words.mask;
        while (catalog_of_words.slots[at])
            at = (at + 1) & catalog_of_words.mask;
        catalog_of_words.slots[at] = (uint32_t)i + 1;
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

const char *message_find(enum language language, const char *prefix, const char *id)
{
    if (!id || !catalog_of_words.slots)
        return NULL;
    size_t len = strlen(prefix), at = hash_on(hash_on(2166136261u, prefix), id) & catalog_of_words.mask;
    for (; catalog_of_words.slots[at]; at = (at + 1) & catalog_of_words.mask) {
        const struct message *m = &catalog_of_words.items[catalog_of_words.slots[at] - 1];
        if (strncmp(m->key, prefix, len) == 0 && strcmp(m->key + len, id) == 0)
            return m->text[language];
    }
    return NULL;
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
    char name[KEY_MAX];
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(key, "/"), key);
    const char *text = message_find(language, "assumption.", name);
    return text ? text : key;
}

/* Text between placeholders; "card(s)" is "card" after a 1 and "cards" after any other figure. */
static void add_between(struct buf *out, const char *text, size_t len, const char *figure)
{
    static const char plural[] = "(s)";
    const size_t mark = sizeof plural - 1;
    const char *at;
    while (figure && (at = memmem(text, len, plural, mark)) != NULL) {
        buf_add(out, text, (size_t)(at - text));
        if (strcmp(figure, "1") != 0)
            buf_adds(out, "s");
        len -= (size_t)(at - text) + mark;
        text = at + mark;
    }
    buf_add(out, text, len);
}

void message_render(struct buf *out, const char *template, const struct message_arg *args, size_t n)
{
    const char *figure = NULL;
    while (*template) {
        const char *open = strchr(template, '{');
        const char *close = open ? strchr(open, '}') : NULL;
        if (!close) {
            add_between(out, template, strlen(template), figure);
            return;
        }
        add_between(out, template, (size_t)(open - template), figure);
        size_t len = (size_t)(close - open - 1), i = 0;
        while (i < n && !(strlen(args[i].name) == len && memcmp(args[i].name, open + 1, len) == 0))
            i++;
        if (i < n)
            buf_adds(out, args[i].value);
        else
            buf_add(out, open, len + 2);
        figure = i < n ? args[i].value : figure;
        template = close + 1;
    }
}

/* ---- figures ----------------------------------------------------------------------------------------------- */

/* "1234567.5" -> "1,234,567.5" */
static void group_thousands(char out[48], const char *plain)
{
    size_t o = 0, digits = strcspn(plain + (*plain == '-'), ".");
    if (*plain == '-')
        out[o++] = *plain++;
    for (size_t i = 0; plain[i] && o < 46; i++) {
        if (i && i < digits && (digits - i) % 3 == 0)
            out[o++] = ',';
        out[o++] = plain[i];
    }
    out[o] = '\0';
}

static void trim_zeros(char *text)
{
    if (!strchr(text, '.'))
        return;
    size_t n = strlen(text);
    while (text[n - 1] == '0')
        text[--n] = '\0';
    if (text[n - 1] == '.')
        text[n - 1] = '\0';
}

/* How many decimals a person wants to see of a figure of this size. */
static int decimals_of(double value, double size)
{
    if (value == floor(value) || size >= 1000)
        return 0;
    return size >= 100 ? 1 : size >= 1 ? 2 : size >= 0.01 ? 3 : 5;
}

void message_number(char out[48], double value)
{
    static const double scales[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5};
    char back[48];
    size_t n = 0, o = 0;
    double size = fabs(value);
    if (!isfinite(value)) {
        memcpy(out, "-", 2);
        return;
    }
    if (size >= 1e15 || (size > 0 && size < 1e-4)) {
        (void)snprintf(out, 48, "%.3g", value);
        return;
    }
    int decimals = decimals_of(value, size);
    uint64_t scaled = (uint64_t)llround(size * scales[decimals]);
    for (; decimals > 0 && scaled % 10 == 0; decimals--)
        scaled /= 10;
    int digits = 0; /* from the last to the first, the point and the commas between them */
    for (; scaled > 0 || digits <= decimals; digits++, scaled /= 10) {
        if (digits == decimals && decimals > 0)
            back[n++] = '.';
        else if (digits > decimals && (digits - decimals) % 3 == 0)
            back[n++] = ',';
        back[n++] = (char)('0' + scaled % 10);
    }
    if (value < 0)
        out[o++] = '-';
    while (n > 0)
        out[o++] = back[--n];
    out[o] = '\0';
}

static void money_words(char *out, enum language language, int64_t minor, const char *currency)
{
    char plain[MONEY_TEXT_MAX], grouped[48];
    money_text(minor, plain);
    group_thousands(grouped, plain);
    if (language == LANG_ZH_CN && strcmp(currency, "CNY") == 0)
        snprintf(out, 64, "%s 元", grouped);
    else
        snprintf(out, 64, "%s %s", currency, grouped);
}

static void percent_words(char *out, double share)
{
    char plain[40];
    double pct = share * 100;
    if (!isfinite(pct)) {
        snprintf(out, 48, "-");
        return;
    }
    snprintf(plain, sizeof plain, fabs(pct) < 10 ? "%.1f" : "%.0f", pct);
    trim_zeros(plain);
    snprintf(out, 48, "%s%%", plain);
}

static const char *named(enum language language, const char *zh, const char *en)
{
    return language == LANG_ZH_CN ? zh : en;
}

/* "Hefei Xinzhan IDC, 8 x RTX 4090" */
static void sku_words(char out[200], enum language language, const struct sku *s)
{
    (void)snprintf(out, 200, language == LANG_ZH_CN ? "%.100s %d × %.60s" : "%.100s, %d x %.60s",
                   named(language, s->provider->name_zh, s->provider->name_en), s->gpus_per_node, s->gpu->name);
}

/* "the line Hefei Economic Zone IDC - Tencent Cloud (Hefei)" */
static const char *line_words(char out[200], enum language language, const struct dedicated_line *l)
{
    (void)snprintf(out, 200, language == LANG_ZH_CN ? "%.90s至%.90s的专线" : "the line %.90s - %.90s",
                   named(language, l->a->name_zh, l->a->name_en), named(language, l->b->name_zh, l->b->name_en));
    return out;
}

/* A thing of the catalog by its name, a wire value by its term, anything else as it is. An argument that is called
 * "sku" wants the id. */
static const char *words_of(enum language language, const struct note_arg *a, const struct catalog *c,
                            char scratch[200])
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
        if (strcmp(c->lines[i].id, value) == 0)
            return line_words(scratch, language, &c->lines[i]);
    const struct sku *sku = catalog_sku(c, value);
    if (!sku)
        return value;
    sku_words(scratch, language, sku);
    return scratch;
}

/* Where an argument ends in a Chinese character, the blank that a template sets off Latin text with is one too many. */
static void close_gaps(struct buf *out, size_t from)
{
    size_t o = from;
    for (size_t i = from; i < out->len; i++) {
        const unsigned char *s = (const unsigned char *)out->data + i;
        bool wide_before = o >= 3 && (unsigned char)out->data[o - 3] >= 0xE3 && (unsigned char)out->data[o - 3] <= 0xEF;
        bool wide_after = i + 1 < out->len && s[1] >= 0xE3 && s[1] <= 0xEF;
        if (*s == ' ' && wide_before && wide_after)
            continue;
        out->data[o++] = (char)*s;
    }
    out->len = o;
    if (out->data)
        out->data[o] = '\0';
}

void message_note(struct buf *out, enum language language, const struct note *n, const char *currency,
                  const struct catalog *catalog)
{
    struct message_arg args[NOTE_ARGS_MAX];
    char text[NOTE_ARGS_MAX][200];
    size_t from = out->len;
    for (unsigned i = 0; i < n->n_args && i < NOTE_ARGS_MAX; i++) {
        const struct note_arg *a = &n->args[i];
        args[i] = (struct message_arg){a->name, text[i]};
        switch (a->kind) {
        case NOTE_NUMBER:
            message_number(text[i], a->number);
            break;
        case NOTE_MONEY:
            money_words(text[i], language, a->minor, currency);
            break;
        case NOTE_DATE:
            date_text(a->date, text[i]);
            break;
        case NOTE_PERCENT:
            percent_words(text[i], a->number);
            break;
        case NOTE_TEXT:
            args[i].value = a->text ? words_of(language, a, catalog, text[i]) : "-";
            break;
        }
    }
    const char *template = message_find(language, "note.", n->code);
    if (template)
        message_render(out, template, args, n->n_args < NOTE_ARGS_MAX ? n->n_args : NOTE_ARGS_MAX);
    else
        buf_adds(out, n->code ? n->code : "");
    if (language == LANG_ZH_CN && !buf_failed(out))
        close_gaps(out, from);
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
