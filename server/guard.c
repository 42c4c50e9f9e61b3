/* guard.c — the rules of guard.h, cheapest first. Each stands for a row of tests/server/test_guard.c. */
#include "server/guard.h"

#include <string.h>
#include <strings.h>

static bool is_token_char(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c != 0 && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int check_method(const char *method, bool *ret_takes_body, struct err *err)
{
    static const struct {
        const char *name;
        bool takes_body;
    } known[] = {{"GET", false},  {"HEAD", false},   {"POST", true},    {"PUT", true},
                 {"PATCH", true}, {"DELETE", false}, {"OPTIONS", false}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(method, known[i].name) == 0) {
            *ret_takes_body = known[i].takes_body;
            return 0;
        }
    return err_set(err, ERR_INVALID, "unknown method");
}

/* Escapes must be whole; NUL is never meant, and an escaped slash in a path is a second opinion on its segments. */
static int check_escapes(const char *text, size_t n, bool in_path, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c <= ' ' || c == 0x7f || c == '#')
            return err_set(err, ERR_INVALID, "the request target holds byte 0x%02x unescaped", c);
        if (c != '%')
            continue;
        int high = i + 2 < n ? hex_digit(text[i + 1]) : -1;
        int low = i + 2 < n ? hex_digit(text[i + 2]) : -1;
        if (high < 0 || low < 0)
            return err_set(err, ERR_INVALID, "bad percent escape in the request target");
        int byte = high * 16 + low;
        if (byte == 0 || (in_path && byte == '/'))
            return err_set(err, ERR_INVALID, "%%%02X is not allowed in the request target", (unsigned)byte);
    }
    return 0;
}

static int check_query(const char *query, struct err *err)
{
    const char *keys[GUARD_QUERY_PAIRS_MAX];
    size_t lengths[GUARD_QUERY_PAIRS_MAX], n = 0;
    if (strlen(query) > GUARD_QUERY_MAX)
        return err_set(err, ERR_LIMIT, "the query is longer than %d bytes", GUARD_QUERY_MAX);
    if (check_escapes(query, strlen(query), false, err) != 0)
        return -1;
    for (const char *pair = query; *pair != '\0';) {
        size_t pair_len = strcspn(pair, "&"), key_len = strcspn(pair, "=&");
        if (n == GUARD_QUERY_PAIRS_MAX)
            return err_set(err, ERR_LIMIT, "more than %d query parameters", GUARD_QUERY_PAIRS_MAX);
        for (size_t i = 0; i < n; i++)
            if (lengths[i] == key_len && memcmp(keys[i], pair, key_len) == 0)
                return err_set(err, ERR_INVALID, "a query parameter is given twice");
        keys[n] = pair;
        lengths[n++] = key_len;
        pair += pair_len + (pair[pair_len] == '&');
    }
    return 0;
}

static int check_target(const char *target, struct err *err)
{
    size_t path_len = strcspn(target, "?");
    if (target[0] != '/')
        return err_set(err, ERR_INVALID, "the request target must start with a slash");
    if (path_len > GUARD_PATH_MAX)
        return err_set(err, ERR_LIMIT, "the path is longer than %d bytes", GUARD_PATH_MAX);
    if (check_escapes(target, path_len, true, err) != 0)
        return -1;
    return target[path_len] == '?' ? check_query(target + path_len + 1, err) : 0;
}

static bool named(const struct guard_header *h, const char *name)
{
    return h->name_len == strlen(name) && strncasecmp(h->name, name, h->name_len) == 0;
}

static bool valued(const struct guard_header *h, const char *value)
{
    return h->value_len == strlen(value) && strncasecmp(h->value, value, h->value_len) == 0;
}

static int check_header_characters(const struct guard_header *h, struct err *err)
{
    if (h->name_len == 0)
        return err_set(err, ERR_INVALID, "a header without a name");
    for (size_t i = 0; i < h->name_len; i++)
        if (!is_token_char((unsigned char)h->name[i]))
            return err_set(err, ERR_INVALID, "a header name holds byte 0x%02x", (unsigned char)h->name[i]);
    for (size_t i = 0; i < h->value_len; i++) {
        unsigned char c = (unsigned char)h->value[i];
        if ((c < ' ' && c != '\t') || c == 0x7f)
            return err_set(err, ERR_INVALID, "a header value holds byte 0x%02x", c);
    }
    return 0;
}

static int parse_length(const struct guard_header *h, uint64_t *ret, struct err *err)
{
    uint64_t value = 0;
    if (h->value_len == 0 || h->value_len > 15)
        return err_set(err, ERR_INVALID, "Content-Length is no plausible number");
    for (size_t i = 0; i < h->value_len; i++) {
        if (h->value[i] < '0' || h->value[i] > '9')
            return err_set(err, ERR_INVALID, "Content-Length is no number");
        value = value * 10 + (uint64_t)(h->value[i] - '0');
    }
    *ret = value;
    return 0;
}

static int check_headers(const struct guard_request *request, struct guard_facts *facts, struct err *err)
{
    unsigned lengths = 0, encodings = 0, hosts = 0;
    if (request->n_headers > GUARD_HEADERS_MAX)
        return err_set(err, ERR_LIMIT, "more than %d headers", GUARD_HEADERS_MAX);
    for (size_t i = 0; i < request->n_headers; i++) {
        const struct guard_header *h = &request->headers[i];
        if (check_header_characters(h, err) != 0)
            return -1;
        if (named(h, "Content-Length")) {
            lengths++;
            if (parse_length(h, &facts->content_length, err) != 0)
                return -1;
        } else if (named(h, "Transfer-Encoding")) {
            encodings++;
            if (!valued(h, "chunked"))
                return err_set(err, ERR_INVALID, "the only Transfer-Encoding understood is chunked");
            facts->chunked = true;
        } else if (named(h, "Host")) {
            hosts++;
        } else if (named(h, "Expect")) {
            facts->expects_continue = valued(h, "100-continue");
        }
    }
    if (lengths > 1 || encodings > 1 || hosts > 1)
        return err_set(err, ERR_INVALID, "%s is given twice",
                       lengths > 1     ? "Content-Length"
                       : encodings > 1 ? "Transfer-Encoding"
                                       : "Host");
    if (lengths > 0 && encodings > 0)
        return err_set(err, ERR_INVALID, "both Content-Length and Transfer-Encoding");
    facts->has_body = facts->chunked || facts->content_length > 0;
    return 0;
}

int guard_check(const struct guard_request *request, struct guard_facts *ret, struct err *err)
{
    bool takes_body = false;
    struct guard_facts facts = {0};
    if (check_method(request->method, &takes_body, err) != 0 || check_headers(request, &facts, err) != 0 ||
        check_target(request->target, err) != 0)
        return -1;
    if (facts.has_body && !takes_body)
        return err_set(err, ERR_INVALID, "%s takes no body", request->method);
    *ret = facts;
    return 0;
}
