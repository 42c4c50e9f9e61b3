/* guard.h — refuses requests whose framing or characters libmicrohttpd 0.9.75 lets through (request smuggling among
 * them), before a body byte is read. Plain data in and out, so that the whole table of cases is a unit test.
 */
#ifndef SUANPAN_SERVER_GUARD_H
#define SUANPAN_SERVER_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define GUARD_HEADERS_MAX 64
#define GUARD_PATH_MAX 1024
#define GUARD_QUERY_MAX 8192
#define GUARD_QUERY_PAIRS_MAX 32

struct guard_header {
    const char *name, *value;
    size_t name_len, value_len; /* either may hold NUL bytes */
};

struct guard_request {
    const char *method;
    const char *target; /* raw: path and query, undecoded */
    const struct guard_header *headers;
    size_t n_headers; /* as sent; more than GUARD_HEADERS_MAX is a refusal, and only that many are looked at */
};

struct guard_facts {
    bool has_body, chunked;
    bool expects_continue;   /* the client waits for our word before it sends the body */
    uint64_t content_length; /* 0 when chunked or absent */
};

/* -1: answer 400 with err->detail and close the connection. */
int guard_check(const struct guard_request *request, struct guard_facts *ret, struct err *err);

#endif
