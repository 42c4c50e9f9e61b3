/* fuzz_guard.c — "METHOD target" and header lines (tab between name and value, so that blanks stay) to the header
 * guard: what it accepts has one meaning only. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/guard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count(const struct guard_request *r, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_headers; i++)
        n += r->headers[i].name_len == strlen(name) && strncasecmp(r->headers[i].name, name, strlen(name)) == 0;
    return n;
}

static void check(const struct guard_request *r)
{
    struct guard_facts f = {0};
    struct err err = {0};
    if (guard_check(r, &f, &err) != 0) {
        if (err.code == ERR_NONE || err.detail[0] == '\0')
            abort();
        return;
    }
    size_t lengths = count(r, "Content-Length"), encodings = count(r, "Transfer-Encoding");
    if (lengths + encodings > 1 || count(r, "Host") > 1 || f.chunked != (encodings == 1) ||
        (f.chunked && f.content_length > 0))
        abort();
    if (r->target[0] != '/' || strstr(r->target, "%00") != NULL || strchr(r->target, '\n') != NULL ||
        strchr(r->target, '#') != NULL)
        abort();
    const char *path_end = r->target + strcspn(r->target, "?");
    for (const char *p = r->target; p + 2 < path_end; p++)
        if (p[0] == '%' && p[1] == '2' && (p[2] == 'f' || p[2] == 'F'))
            abort();
    if (f.has_body && strcmp(r->method, "POST") != 0 && strcmp(r->method, "PUT") != 0 &&
        strcmp(r->method, "PATCH") != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct guard_header headers[GUARD_HEADERS_MAX + 1];
    if (size > 16384)
        return 0;
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    char *end = memchr(text, '\n', size), *blank = memchr(text, ' ', size);
    char *stop = text + size;
    if (blank != NULL && (end == NULL || blank < end)) {
        struct guard_request r = {.method = text, .target = blank + 1, .headers = headers};
        *blank = '\0';
        for (char *line = end != NULL ? end + 1 : stop; line < stop && r.n_headers <= GUARD_HEADERS_MAX;) {
            char *next = memchr(line, '\n', (size_t)(stop - line));
            size_t n = (size_t)((next != NULL ? next : stop) - line);
            char *tab = memchr(line, '\t', n);
            size_t name = tab != NULL ? (size_t)(tab - line) : n;
            headers[r.n_headers++] =
                (struct guard_header){line, tab != NULL ? tab + 1 : "", name, tab != NULL ? n - name - 1 : 0};
            line += n + 1;
        }
        if (end != NULL)
            *end = '\0';
        check(&r);
    }
    free(text);
    return 0;
}
