/* json_scan.c — depth, node count and string length of a JSON body, bounded before it is parsed. */
#include "api/json_scan.h"

#include <stdbool.h>
#include <string.h>

struct scan {
    const char *bytes;
    size_t len, at;
    int depth;
    size_t nodes;
    const char *key; /* last string seen, and how long: a member's name when ':' follows it */
    size_t key_len;
    bool value_of_key;
};

void json_place_at(const char *bytes, size_t len, size_t position, struct json_place *ret)
{
    if (position > len)
        position = len;
    *ret = (struct json_place){.line = 1, .column = 1, .position = position};
    for (size_t i = 0; i < position; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '\n') {
            ret->line++;
            ret->column = 1;
        } else if ((c & 0xC0) != 0x80) {
            ret->column++;
        }
    }
}

static bool is_pasted(const struct scan *s, const char *const *pasted)
{
    if (!s->value_of_key || !pasted)
        return false;
    for (; *pasted; pasted++)
        if (strlen(*pasted) == s->key_len && memcmp(*pasted, s->key, s->key_len) == 0)
            return true;
    return false;
}

/* At an opening quote: moves behind the closing one. */
static enum json_scan_result skip_string(struct scan *s, const char *const *pasted)
{
    size_t start = ++s->at;
    size_t max = is_pasted(s, pasted) ? JSON_PASTED_MAX : JSON_STRING_MAX;
    while (s->at < s->len && s->bytes[s->at] != '"') {
        s->at += s->bytes[s->at] == '\\' && s->at + 1 < s->len ? 2 : 1;
        if (s->at - start > max)
            return JSON_SCAN_LONG;
    }
    s->key = s->bytes + start;
    s->key_len = s->at - start;
    s->value_of_key = false;
    if (s->at < s->len)
        s->at++;
    return JSON_SCAN_OK;
}

static enum json_scan_result scan_step(struct scan *s, const char *const *pasted)
{
    switch (s->bytes[s->at]) {
    case '"':
        return skip_string(s, pasted);
    case '{':
    case '[':
        s->nodes++;
        s->value_of_key = false;
        if (++s->depth > JSON_DEPTH_MAX)
            return JSON_SCAN_DEEP;
        break;
    case '}':
    case ']':
        s->depth--;
        break;
    case ':':
        s->value_of_key = true;
        break;
    case ',':
        s->nodes++;
        s->value_of_key = false;
        break;
    default:
        break;
    }
    s->at++;
    return JSON_SCAN_OK;
}

enum json_scan_result json_scan(const char *bytes, size_t len, const char *const *pasted, struct json_place *ret_place)
{
    struct scan s = {.bytes = bytes, .len = len};
    while (s.at < s.len) {
        size_t before = s.at;
        enum json_scan_result r = scan_step(&s, pasted);
        if (r == JSON_SCAN_OK && s.nodes > JSON_NODES_MAX)
            r = JSON_SCAN_MANY;
        if (r != JSON_SCAN_OK) {
            json_place_at(bytes, len, before, ret_place);
            return r;
        }
    }
    return JSON_SCAN_OK;
}
