/* config_text.c — the configuration inside what people paste: log prefixes, two blocks in one paste, blank lines,
 * trailing commas, Python's True, None and single quotes, a JSON string escaped inside another. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/config_view.h"
#include "base/buf.h"

#define BLOCKS_MAX 32

/* Behind the block that opens at `at`; 0 when it never closes. */
static size_t block_end(const char *s, size_t at)
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

static json_t *parse_block(const char *s, size_t n)
{
    struct buf clean;
    buf_init(&clean, 4 * n + 64);
    json_t *v = json_loadb(s, n, 0, NULL);
    for (size_t i = 0; !v && i < n;)
        i = s[i] == '"' || s[i] == '\'' ? copy_string(&clean, s, n, i) : copy_token(&clean, s, n, i);
    if (!v && clean.data)
        v = json_loadb(clean.data, clean.len, 0, NULL);
    buf_done(&clean);
    if (v && !json_is_object(v)) {
        json_decref(v);
        v = NULL;
    }
    return v;
}

static bool has_dimensions(json_t *block)
{
    static const char *const names[] = {"hidden_size", "d_model",           "n_embd",      "n_embed",
                                        "dim",         "num_hidden_layers", "n_layer",     "n_layers",
                                        "num_layers",  "decoder_layers",    "block_count", NULL};
    struct config_view view;
    const char *why;
    return config_view_of(block, &view, &why) && config_number(&view, names) > 0;
}

static json_t *first_configuration(const char *text)
{
    json_t *fallback = NULL;
    size_t blocks = 0;
    for (size_t at = 0; text[at] && blocks < BLOCKS_MAX; at++) {
        size_t end = text[at] == '{' ? block_end(text, at) : 0;
        if (!end)
            continue;
        blocks++;
        json_t *v = parse_block(text + at, end - at);
        if (v && has_dimensions(v)) {
            json_decref(fallback);
            return v;
        }
        if (v && !fallback)
            fallback = v;
        else
            json_decref(v);
        if (v)
            at = end - 1;
    }
    return fallback;
}

/* "-1.5e9", "true", "silu": one bare value; NULL for none. *ret_len: how long it is. */
static json_t *bare_value(const char *s, size_t *ret_len)
{
    char *end;
    size_t quote = *s == '"' || *s == '\'';
    size_t n = strspn(s + quote, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-");
    *ret_len = quote + n + (quote && s[quote + n] == *s);
    if (n == 0 || n > 60)
        return NULL;
    char plain[64];
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) /* Python's 32_000 */
        if (s[quote + i] != '_')
            plain[kept++] = s[quote + i];
    plain[kept] = '\0';
    if (kept < n && strspn(plain, "0123456789") == kept)
        return json_integer((json_int_t)strtoll(plain, NULL, 10));
    double number = strtod(s + quote, &end);
    if (end == s + quote + n)
        return strcspn(s + quote, ".eE") >= n ? json_integer((json_int_t)strtoll(s + quote, NULL, 10))
                                              : json_real(number);
    if ((n == 4 && strncasecmp(s + quote, "true", 4) == 0) || (n == 5 && strncasecmp(s + quote, "false", 5) == 0))
        return json_boolean(n == 4);
    return json_stringn(s + quote, n);
}

/* What stands between a name and its value: ":", "=", "u32 =" of a GGUF dump, " ....... " of Megatron's arguments, a
 * tab or a bar of a table. The value's start; NULL for none. */
static const char *behind_sign(const char *p)
{
    static const char *const types[] = {"u32", "u64", "i32", "i64", "f32", "str", "bool"};
    size_t gap = strspn(p, " \t");
    bool column = memchr(p, '\t', gap) != NULL && p[gap] >= '0' && p[gap] <= '9';
    p += gap;
    if (column)
        return p;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strncmp(p, types[i], strlen(types[i])) == 0 && strchr(" \t", p[strlen(types[i])]))
            p += strlen(types[i]) + strspn(p + strlen(types[i]), " \t");
    size_t dots = strspn(p, ".");
    if (dots >= 2 && p[dots] == ' ')
        return p + dots + strspn(p + dots, " \t");
    return (*p == ':' || *p == '=' || *p == '|') && p[1] != '=' ? p + 1 + strspn(p + 1, " \t") : NULL;
}

/* Pairs without braces: "hidden_size: 4096", "dim=4096, n_layers=32", "--num-layers 32 --hidden-size 4096". */
static json_t *from_pairs(const char *text)
{
    static const char name_bytes[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    json_t *o = json_object();
    for (const char *p = text; *p && json_object_size(o) < 200;) {
        bool option = p[0] == '-' && p[1] == '-';
        p += option ? 2 : 0;
        size_t n = strspn(p, name_bytes);
        if (n == 0) {
            p += *p != '\0';
            continue;
        }
        const char *after = p + n + (p[n] == '"' || p[n] == '\'');
        const char *behind = behind_sign(after), *at = behind ? behind : after + strspn(after, " \t");
        size_t len = 0;
        bool pair = (behind || (option && at > after)) && n < 60 && strspn(p, "0123456789") < n;
        json_t *v = pair ? bare_value(at, &len) : NULL;
        if (v && json_is_string(v) && behind_sign(at + len)) { /* "loader: n_layer = 32": the value is the name */
            json_decref(v);
            v = NULL;
        }
        if (v) {
            char name[64];
            for (size_t i = 0; i < n; i++)
                name[i] = p[i] == '-' ? '_' : p[i];
            name[n] = '\0';
            if (json_object_get(o, name))
                json_decref(v); /* the first says what the model is */
            else
                json_object_set_new(o, name, v);
            p = at + len;
        } else {
            p += n;
        }
    }
    if (has_dimensions(o))
        return o;
    json_decref(o);
    return NULL;
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
    json_t *v = plain.data ? first_configuration(plain.data) : NULL;
    if (!v && plain.data)
        v = from_pairs(plain.data);
    buf_done(&plain);
    return v;
}

json_t *config_from_text(const char *text)
{
    json_t *v = first_configuration(text);
    if (!v)
        v = from_pairs(text);
    if (!v)
        v = from_typed(text);
    if (v || !strstr(text, "\\\""))
        return v;
    /* escaped inside another string: a notebook, a log record */
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
    v = plain.data ? first_configuration(plain.data) : NULL;
    if (!v && plain.data)
        v = from_pairs(plain.data);
    buf_done(&plain);
    return v;
}
