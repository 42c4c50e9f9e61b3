/* route_path.c — strict reading of the parts of paths and of queries. */
#include <stdio.h>
#include <string.h>

#include "api/route.h"
#include "api/utf8.h"
#include "base/fault.h"

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static bool is_clean_utf8(const char *text, size_t n, bool segment)
{
    const unsigned char *s = (const unsigned char *)text;
    for (size_t i = 0; i < n;) {
        size_t len = utf8_length(text + i, n - i);
        if (len == 0 || (segment && (s[i] < 0x20 || s[i] == 0x7F || s[i] == '/')) || s[i] == 0)
            return false;
        i += len;
    }
    return true;
}

bool route_decode(const char *in, size_t n, bool plus, char *out, size_t size)
{
    size_t o = 0;
    for (size_t i = 0; i < n; i++) {
        char c = in[i];
        if (o + 1 >= size)
            return false;
        if (c == '%') {
            if (i + 2 >= n || hex(in[i + 1]) < 0 || hex(in[i + 2]) < 0)
                return false;
            c = (char)(hex(in[i + 1]) * 16 + hex(in[i + 2]));
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        out[o++] = c;
    }
    out[o] = '\0';
    return is_clean_utf8(out, o, !plus);
}

static void add_pair(const char *text, size_t n, struct arena *arena, struct query *q, struct fault_list *faults)
{
    size_t name_len = 0;
    while (name_len < n && text[name_len] != '=')
        name_len++;
    size_t value_at = name_len < n ? name_len + 1 : n;
    char *name = arena_alloc(arena, name_len + 1), *value = arena_alloc(arena, n - value_at + 1);
    if (!name || !value)
        return;
    bool sound = route_decode(text, name_len, true, name, name_len + 1) &&
                 route_decode(text + value_at, n - value_at, true, value, n - value_at + 1);
    char pointer[100];
    (void)snprintf(pointer, sizeof pointer, "?%.90s", sound ? name : "");
    if (!sound)
        fault_add(faults, pointer, "bad_encoding", "The percent-encoding is broken or is not UTF-8.");
    else if (query_get(q, name))
        fault_add(faults, pointer, "duplicate_parameter", "The parameter is given twice.");
    else if (q->n == QUERY_MAX_PAIRS)
        fault_add(faults, pointer, "too_many_parameters", "More than %d parameters.", QUERY_MAX_PAIRS);
    else
        q->pairs[q->n++] = (struct query_pair){name, value};
}

void route_query(const char *query, struct arena *arena, struct query *ret, struct fault_list *faults)
{
    ret->n = 0;
    if (query && strlen(query) > QUERY_MAX_BYTES) {
        fault_add(faults, "?", "too_long", "The query is longer than %d bytes.", QUERY_MAX_BYTES);
        return;
    }
    while (query && *query) {
        size_t n = strcspn(query, "&");
        if (n)
            add_pair(query, n, arena, ret, faults);
        query += n + (query[n] == '&');
    }
}

const char *query_get(const struct query *q, const char *name)
{
    for (size_t i = 0; i < q->n; i++)
        if (strcmp(q->pairs[i].name, name) == 0)
            return q->pairs[i].value;
    return NULL;
}
