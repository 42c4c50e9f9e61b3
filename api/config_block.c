/* config_block.c — one block in braces of a paste as JSON, also where it is JSON only nearly: trailing commas, lost
 * ones, comments, names without quotes, Python's True, None and single quotes. */
#include <string.h>

#include "api/config_view.h"
#include "base/buf.h"

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
