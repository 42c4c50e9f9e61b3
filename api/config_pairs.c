/* config_pairs.c — a configuration as names and values without braces: YAML, Python calls, command lines, Megatron's
 * printed arguments, a GGUF dump, a table. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/config_view.h"
#include "base/buf.h"

/* "-1.5e9", "true", "silu": one bare value; NULL for none. *ret_len: how long it is. */
static json_t *bare_value(const char *s, size_t *ret_len)
{
    char *end;
    size_t quote = *s == '"' || *s == '\'';
    size_t n = strspn(s + quote, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-*");
    *ret_len = quote + n + (quote && s[quote + n] == *s);
    if (n > 60 && n < 1000) /* a letter a layer */
        return json_stringn(s + quote, n);
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

/* A bare value, or one in braces or brackets on its own line: "rope_scaling: {'type': 'linear'}". */
static json_t *pair_value(const char *s, size_t *ret_len)
{
    if (*s != '{' && *s != '[')
        return bare_value(s, ret_len);
    *ret_len = config_block_end(s, 0);
    if (*ret_len == 0)
        return NULL;
    if (*s == '{')
        return config_block(s, *ret_len);
    struct buf wrapped;
    buf_init(&wrapped, *ret_len + 16);
    buf_adds(&wrapped, "{\"list\":");
    buf_add(&wrapped, s, *ret_len);
    buf_addc(&wrapped, '}');
    json_t *o = wrapped.data ? config_block(wrapped.data, wrapped.len) : NULL, *list = json_object_get(o, "list");
    json_incref(list);
    json_decref(o);
    buf_done(&wrapped);
    return list;
}

/* ---- YAML's nesting by indentation -------------------------------------------------------------------------- */

#define NESTING_MAX 8

struct nest {
    json_t *objects[NESTING_MAX]; /* borrowed, but for the outermost */
    size_t indents[NESTING_MAX], depth;
};

static size_t indent_of(const char *text, const char *p)
{
    const char *line = p;
    while (line > text && line[-1] != '\n')
        line--;
    return strspn(line, " ");
}

/* "- silu" lines below a name. */
static json_t *listed(const char **at)
{
    json_t *list = json_array();
    for (const char *p = *at; p[strspn(p, " ")] == '-';) {
        size_t len = 0;
        p += strspn(p, " ") + 1;
        p += strspn(p, " ");
        json_t *v = bare_value(p, &len);
        if (!v || json_array_append_new(list, v) != 0)
            break;
        p += strcspn(p, "\n");
        p += *p == '\n';
        *at = p;
    }
    return list;
}

/* "text_config:" at the end of a line with more indented lines below: they are its members. NULL when it is not. */
static json_t *nested(const char *text, const char *name, const char *behind, bool taken, struct nest *in,
                      const char **ret_next)
{
    const char *next = behind ? behind + strspn(behind, " \t\r") : NULL;
    if (!next || *next != '\n' || in->depth + 1 >= NESTING_MAX || taken)
        return NULL;
    next += strspn(next, "\r\n");
    size_t indent = indent_of(text, name);
    const char *list = next;
    if (next[strspn(next, " ")] == '-' && next[strspn(next, " ") + 1] == ' ') {
        json_t *items = listed(&list);
        *ret_next = list;
        return items;
    }
    if (strspn(next, " ") <= indent)
        return NULL;
    json_t *o = json_object();
    in->depth++;
    in->objects[in->depth] = o;
    in->indents[in->depth] = indent;
    *ret_next = next;
    return o;
}

/* ---- pairs -------------------------------------------------------------------------------------------------- */

/* n < 64 */
static void name_of(const char *p, size_t n, char out[64])
{
    for (size_t i = 0; i < n; i++)
        out[i] = p[i] == '-' ? '_' : p[i];
    out[n] = '\0';
}

static bool has(json_t *o, const char *p, size_t n)
{
    char name[64];
    name_of(p, n, name);
    return json_object_get(o, name) != NULL;
}

static void put(json_t *o, const char *p, size_t n, json_t *v)
{
    char name[64];
    name_of(p, n, name);
    if (json_object_get(o, name))
        json_decref(v); /* the first says what the model is */
    else
        json_object_set_new(o, name, v);
}

/* The pair that begins with the name of n bytes at p; returns where to go on. */
static const char *read_pair(const char *text, const char *p, size_t n, bool option, bool by_indent, struct nest *in)
{
    const char *after = p + n + (p[n] == '"' || p[n] == '\'');
    const char *behind = behind_sign(after), *at = behind ? behind : after + strspn(after, " \t"), *next = NULL;
    size_t len = 0;
    bool pair = (behind || (option && at > after)) && n < 60 && strspn(p, "0123456789") < n;
    while (by_indent && in->depth > 0 && indent_of(text, p) <= in->indents[in->depth])
        in->depth--;
    json_t *parent = in->objects[in->depth],
           *v = pair && by_indent ? nested(text, p, behind, has(in->objects[in->depth], p, n), in, &next) : NULL;
    if (!v && pair)
        v = pair_value(at, &len);
    if (v && json_is_string(v) && behind_sign(at + len)) { /* "loader: n_layer = 32": the value is the name */
        json_decref(v);
        v = NULL;
    }
    if (!v)
        return p + n;
    put(parent, p, n, v);
    return next ? next : at + len;
}

static json_t *read_pairs(const char *text, bool by_indent)
{
    static const char name_bytes[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    json_t *o = json_object();
    struct nest in = {.objects = {o}};
    for (const char *p = text; *p && json_object_size(o) < 200;) {
        bool option = p[0] == '-' && p[1] == '-';
        p += option ? 2 : 0;
        size_t n = strspn(p, name_bytes);
        if (n == 0)
            p += *p != '\0';
        else
            p = read_pair(text, p, n, option, by_indent, &in);
    }
    if (config_has_dimensions(o))
        return o;
    json_decref(o);
    return NULL;
}

/* Pairs without braces: "hidden_size: 4096", "dim=4096, n_layers=32", "--num-layers 32 --hidden-size 4096". */
json_t *config_from_pairs(const char *text)
{
    json_t *o = read_pairs(text, true);
    return o ? o : read_pairs(text, false);
}
