/* config_text.c — the configuration inside what people paste: log prefixes, two blocks in one paste, blank lines,
 * trailing commas, Python's True, None and single quotes, a JSON string escaped inside another. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/config_view.h"
#include "base/buf.h"

#define BLOCKS_MAX 32
#define DEPTH_MAX 32

/* Behind the block that opens at `at`; 0 when it never closes. */
size_t config_block_end(const char *s, size_t at)
{
    int depth = 0;
    char quote = 0;
    for (size_t i = at; s[i]; i++) {
        if (quote) {
            if (s[i] == '\\' && s[i + 1])
                i++;
            else if (s[i] == quote)
                quote = 0;
        } else if (s[i] == '"') {
            quote = s[i];
        } else if (s[i] == '{' || s[i] == '[') {
            depth++;
        } else if ((s[i] == '}' || s[i] == ']') && --depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

static bool word_at(const char *s, size_t n, size_t at, const char *word)
{
    size_t len = strlen(word);
    bool before = at == 0 || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.", s[at - 1]);
    return before && at + len <= n && memcmp(s + at, word, len) == 0;
}

/* Copies a string in either kind of quotes as a JSON one; returns the index behind it. */
static size_t copy_string(struct buf *out, const char *s, size_t n, size_t i)
{
    char quote = s[i++];
    buf_addc(out, '"');
    while (i < n && s[i] != quote) {
        if (s[i] == '\\' && i + 1 < n) {
            if (s[i + 1] == '\'')
                i++;
            else
                buf_addc(out, s[i++]);
        } else if (s[i] == '"') {
            buf_addc(out, '\\');
        }
        buf_addc(out, s[i] == '\n' ? ' ' : s[i]);
        i++;
    }
    buf_addc(out, '"');
    return i + 1;
}

/* What JSON does not know, as JSON does. */
static size_t copy_token(struct buf *out, const char *s, size_t n, size_t i)
{
    static const char *const words[][2] = {{"True", "true"},
                                           {"False", "false"},
                                           {"None", "null"},
                                           {"NaN", "null"},
                                           {"Infinity", "null"},
                                           {"-Infinity", "null"},
                                           {"torch.bfloat16", "\"bfloat16\""},
                                           {"torch.float16", "\"float16\""},
                                           {"torch.float32", "\"float32\""}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (word_at(s, n, i, words[k][0])) {
            buf_adds(out, words[k][1]);
            return i + strlen(words[k][0]);
        }
    if (s[i] == ',') { /* trailing comma */
        size_t next = i + 1 + strspn(s + i + 1, " \t\r\n");
        if (next < n && (s[next] == '}' || s[next] == ']'))
            return next;
    }
    if ((s[i] == '/' && i + 1 < n && s[i + 1] == '/') || s[i] == '#') /* comment */
        return i + strcspn(s + i, "\n");
    buf_addc(out, s[i]);
    return i + 1;
}

static char last_sign(const struct buf *out)
{
    size_t n = out->len;
    while (n > 0 && strchr(" \t\r\n", out->data[n - 1]))
        n--;
    return n > 0 ? out->data[n - 1] : '\0';
}

/* hidden_size: 4096 without quotes around the name (JSON5). How long the name is; 0 for none. */
static size_t bare_name(const struct buf *out, const char *s, size_t n, size_t i)
{
    size_t len = strspn(s + i, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    char before = last_sign(out);
    if (len == 0 || i + len >= n || (before != '{' && before != ',' && before != '\0'))
        return 0;
    size_t sign = i + len + strspn(s + i + len, " \t");
    return sign < n && s[sign] == ':' ? len : 0;
}

/* One string, name or token; returns the index behind it. */
static size_t copy_part(struct buf *out, const char *s, size_t n, size_t i)
{
    size_t name = bare_name(out, s, n, i);
    if (s[i] == '"' || s[i] == '\'' || name > 0) {
        char before = last_sign(out);
        if (before && !strchr("{[,:", before)) /* a lost comma */
            buf_addc(out, ',');
    }
    if (s[i] == '"' || s[i] == '\'')
        return copy_string(out, s, n, i);
    if (name == 0)
        return copy_token(out, s, n, i);
    buf_addc(out, '"');
    buf_add(out, s + i, name);
    buf_addc(out, '"');
    return i + name;
}

json_t *config_block(const char *s, size_t n)
{
    struct buf clean;
    buf_init(&clean, 4 * n + 64);
    json_t *v = json_loadb(s, n, 0, NULL);
    for (size_t i = 0; !v && i < n;)
        i = copy_part(&clean, s, n, i);
    if (!v && clean.data)
        v = json_loadb(clean.data, clean.len, 0, NULL);
    buf_done(&clean);
    if (v && !json_is_object(v)) {
        json_decref(v);
        v = NULL;
    }
    return v;
}

bool config_has_dimensions(json_t *block)
{
    static const char *const names[] = {
        "hidden_size", "d_model",    "n_embd",         "n_embed",     "dim",       "num_hidden_layers",      "n_layer",
        "n_layers",    "num_layers", "decoder_layers", "block_count", "model_dim", "num_transformer_layers", NULL};
    struct config_view view;
    const char *why;
    return config_view_of(block, &view, &why) && config_number(&view, names) > 0;
}

/* The block at `at` of a text whose every line begins with as many bytes as stand before it: a log, a diff, a
 * quotation, numbered lines. */
static json_t *without_prefixes(const char *text, size_t at)
{
    size_t line = at;
    while (line > 0 && text[line - 1] != '\n')
        line--;
    size_t column = at - line;
    if (column == 0)
        return NULL;
    struct buf bare;
    buf_init(&bare, strlen(text + at) + 1);
    for (const char *p = text + at; *p;) {
        size_t n = strcspn(p, "\n") + 1;
        if (p[n - 1] == '\0')
            n--;
        size_t skip = p == text + at ? 0 : n - (n > 0 && p[n - 1] == '\n') < column ? n - 1 : column;
        buf_add(&bare, p + skip, n - skip);
        p += n;
    }
    size_t end = bare.data ? config_block_end(bare.data, 0) : 0;
    json_t *v = end ? config_block(bare.data, end) : NULL;
    buf_done(&bare);
    return v;
}

/* How far a text goes and which braces are then open. */
struct extent {
    size_t len, depth;
    char open[DEPTH_MAX];
};

/* *ret_all: to where the outermost brace closes, or to the end; *ret_members: to the last whole member. */
static void measure(const char *s, struct extent *ret_all, struct extent *ret_members)
{
    struct extent e = {.len = 0};
    bool quoted = false;
    ret_members->len = 0;
    while (s[e.len]) {
        char c = s[e.len++];
        if (quoted && c == '\\' && s[e.len])
            e.len++;
        else if (c == '"')
            quoted = !quoted;
        if (quoted || c == '"')
            continue;
        if ((c == '{' || c == '[') && e.depth < DEPTH_MAX)
            e.open[e.depth++] = c;
        else if ((c == '}' || c == ']') && e.depth > 0)
            e.depth--;
        if (c == ',' || c == '}' || c == ']')
            *ret_members = e;
        if (e.depth == 0)
            break;
    }
    *ret_all = e;
}

static json_t *closed(const char *s, const struct extent *e)
{
    struct buf whole;
    buf_init(&whole, e->len + DEPTH_MAX + 1);
    buf_add(&whole, s, e->len);
    for (size_t n = e->depth; n > 0; n--)
        buf_addc(&whole, e->open[n - 1] == '{' ? '}' : ']');
    json_t *v = whole.data ? config_block(whole.data, whole.len) : NULL;
    buf_done(&whole);
    return v;
}

/* Whether the block at `at` is the value of a quoted name: then it is a part of something whose braces are lost. */
static bool is_member(const char *text, size_t at)
{
    while (at > 0 && strchr(" \t\r\n", text[at - 1]))
        at--;
    return at > 1 && text[at - 1] == ':' && (text[at - 2] == '"' || text[at - 2] == '\'');
}

/* Whether it is named as a part without quotes ("text_config: {...}"): pairs around it say the rest. */
static bool is_named_part(const char *text, size_t at)
{
    static const char end[] = "_config";
    static const char *const wholes[] = {"model_config", "hf_config"};
    while (at > 0 && strchr(" \t:=", text[at - 1]))
        at--;
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        if (at >= strlen(wholes[i]) && strncmp(text + at - strlen(wholes[i]), wholes[i], strlen(wholes[i])) == 0)
            return false;
    return at >= sizeof end && strncmp(text + at - (sizeof end - 1), end, sizeof end - 1) == 0;
}

/* What a paste that lost its first brace, its last ones or its end says: from the first name to the last whole member.
 * NULL when that is nothing. */
static json_t *completed(const char *text)
{
    const char *from = strpbrk(text, "\"{");
    if (!from || (*from == '{' && is_named_part(text, (size_t)(from - text))))
        return NULL;
    struct buf whole;
    struct extent all, members;
    buf_init(&whole, strlen(from) + 2);
    if (*from == '"')
        buf_addc(&whole, '{');
    buf_adds(&whole, from);
    buf_addc(&whole, '\0');
    json_t *v = NULL;
    if (whole.data) {
        measure(whole.data, &all, &members);
        v = closed(whole.data, &all);
        if (!v && members.len > 0 && !strchr(whole.data + members.len, '{')) /* no part is lost, only members */
            v = closed(whole.data, &members);
    }
    buf_done(&whole);
    return v;
}

/* `v` or, where it is no configuration, `otherwise`; the other one is let go. */
static json_t *better(json_t *v, json_t *otherwise)
{
    bool first = v && (config_has_dimensions(v) || !otherwise || !config_has_dimensions(otherwise));
    json_decref(first ? otherwise : v);
    return first ? v : otherwise;
}

/* `repair`: what lost its braces is completed. An empty object: only a part of something broken is there. */
static json_t *first_configuration(const char *text, bool repair)
{
    json_t *fallback = NULL;
    size_t blocks = 0;
    for (size_t at = 0; text[at] && blocks < BLOCKS_MAX; at++) {
        if (text[at] != '{')
            continue;
        size_t end = config_block_end(text, at);
        blocks++;
        if (end && is_named_part(text, at)) {
            at = end - 1;
            continue;
        }
        json_t *v = end ? config_block(text + at, end - at) : NULL;
        if (!v)
            v = without_prefixes(text, at);
        if (v && config_has_dimensions(v)) {
            json_decref(fallback);
            if (!is_member(text, at))
                return v;
            json_decref(v); /* a part may say another size than the whole: the whole or nothing */
            v = repair ? completed(text) : NULL;
            return v ? v : json_object();
        }
        if (v && !fallback)
            fallback = v;
        else
            json_decref(v);
        if (v && end)
            at = end - 1;
    }
    return better(fallback, repair && strchr(text, '"') ? completed(text) : NULL);
}

/* What a word processor or a Chinese input method makes of quotes, commas and colons. */
static void as_typed(const char *text, struct buf *out)
{
    static const char *const signs[][2] = {{"\u201c", "\""}, {"\u201d", "\""}, {"\u2018", "'"}, {"\u2019", "'"},
                                           {"\uff0c", ","},  {"\uff1a", ":"},  {"\uff5b", "{"}, {"\uff5d", "}"},
                                           {"\u00a0", " "},  {"&quot;", "\""}};
    while (*text) {
        size_t k = 0, n = sizeof signs / sizeof *signs;
        while (k < n && strncmp(text, signs[k][0], strlen(signs[k][0])) != 0)
            k++;
        if (k < n) {
            buf_adds(out, signs[k][1]);
            text += strlen(signs[k][0]);
        } else {
            buf_addc(out, *text++);
        }
    }
}

static json_t *from_typed(const char *text)
{
    struct buf plain;
    buf_init(&plain, 2 * strlen(text) + 64);
    as_typed(text, &plain);
    buf_addc(&plain, '\0');
    json_t *v = plain.data ? first_configuration(plain.data, true) : NULL;
    bool part = v && json_object_size(v) == 0; /* of something broken: its pairs are no model's */
    if (plain.data && !part && (!v || !config_has_dimensions(v)))
        v = better(v, config_from_pairs(plain.data));
    buf_done(&plain);
    return v;
}

/* Escaped inside another string: a notebook, a log record. */
static json_t *from_escaped(const char *text)
{
    struct buf plain;
    buf_init(&plain, strlen(text) + 1);
    for (const char *p = text; *p; p++) {
        if (*p == '\\' && (p[1] == '"' || p[1] == '\\'))
            buf_addc(&plain, *++p);
        else if (*p == '\\' && p[1] == 'n')
            buf_addc(&plain, (p++, '\n'));
        else
            buf_addc(&plain, *p);
    }
    json_t *v = plain.data ? first_configuration(plain.data, true) : NULL;
    if (!v && plain.data)
        v = config_from_pairs(plain.data);
    buf_done(&plain);
    return v;
}

json_t *config_from_member(json_t *record)
{
    const char *name;
    json_t *member;
    if (config_has_dimensions(record))
        return NULL;
    json_object_foreach(record, name, member)
    {
        const char *text = json_string_value(member);
        json_t *v = text && strchr(text, '{') ? config_from_text(text) : NULL;
        if (v && config_has_dimensions(v))
            return v;
        json_decref(v);
    }
    return NULL;
}

json_t *config_from_text(const char *text)
{
    json_t *v = first_configuration(text, false), *inside = v ? config_from_member(v) : NULL;
    if (inside) {
        json_decref(v);
        return inside;
    }
    if (!v || !config_has_dimensions(v))
        v = better(v, from_typed(text));
    return v || !strstr(text, "\\\"") ? v : from_escaped(text);
}
