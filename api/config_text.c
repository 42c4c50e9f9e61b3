/* config_text.c — the configuration inside what people paste: log prefixes, two blocks in one paste, lost braces, signs
 * of a word processor, a JSON string escaped inside another. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/config_view.h"
#include "base/buf.h"

#define BLOCKS_MAX 32
#define DEPTH_MAX 32

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
