/* test_guard.c — the header guard by table: one row a rule, and the ordinary requests that must pass. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "server/guard.h"

struct row {
    const char *name, *method, *target;
    struct guard_header headers[6];
    size_t n;
    int rc;
    bool has_body, chunked;
};

#define H(name, value)                                                                                                 \
    {                                                                                                                  \
        name, value, sizeof name - 1, sizeof value - 1                                                                 \
    }
#define HOST H("Host", "a")

Test(guard, accepts_and_refuses_by_table)
{
    static const struct row rows[] = {
        {"plain", "GET", "/", {HOST}, 1, 0, false, false},
        {"query", "GET", "/api/v1/plans?a=1&b=%E5%90%88&c", {HOST}, 1, 0, false, false},
        {"empty pairs differ", "GET", "/x?a=1&", {HOST}, 1, 0, false, false},
        {"body", "POST", "/x", {HOST, H("content-length", "12")}, 2, 0, true, false},
        {"chunked", "POST", "/x", {HOST, H("Transfer-Encoding", "Chunked")}, 2, 0, true, true},
        {"no body though length", "GET", "/x", {HOST, H("Content-Length", "0")}, 2, 0, false, false},
        {"delete", "DELETE", "/x", {HOST}, 1, 0, false, false},
        {"options", "OPTIONS", "/x", {HOST}, 1, 0, false, false},
        {"utf-8 value", "GET", "/", {HOST, H("X-A", "\xe5\x90\x88")}, 2, 0, false, false},
        {"tab in a value", "GET", "/", {HOST, H("X-A", "a\tb")}, 2, 0, false, false},
        {"method cut by NUL", "G", "/", {HOST}, 1, -1, false, false},
        {"longer method", "GETX", "/", {HOST}, 1, -1, false, false},
        {"small method", "post", "/", {HOST}, 1, -1, false, false},
        {"trace", "TRACE", "/", {HOST}, 1, -1, false, false},
        {"connect", "CONNECT", "a:443", {HOST}, 1, -1, false, false},
        {"two lengths", "POST", "/", {HOST, H("Content-Length", "1"), H("CONTENT-LENGTH", "1")}, 3, -1, false, false},
        {"two encodings",
         "POST",
         "/",
         {HOST, H("Transfer-Encoding", "chunked"), H("transfer-encoding", "chunked")},
         3,
         -1,
         false,
         false},
        {"both", "POST", "/", {HOST, H("Content-Length", "1"), H("Transfer-Encoding", "chunked")}, 3, -1, false, false},
        {"identity", "POST", "/", {HOST, H("Transfer-Encoding", "identity")}, 2, -1, false, false},
        {"list of encodings", "POST", "/", {HOST, H("Transfer-Encoding", "gzip, chunked")}, 2, -1, false, false},
        {"two hosts", "GET", "/", {HOST, H("host", "b")}, 2, -1, false, false},
        {"space before the colon", "POST", "/", {HOST, H("Content-Length ", "31")}, 2, -1, false, false},
        {"tab before the colon", "POST", "/", {HOST, H("Content-Length\t", "31")}, 2, -1, false, false},
        {"no name", "GET", "/", {HOST, H("", "x")}, 2, -1, false, false},
        {"control in a name", "GET", "/", {HOST, H("X\x01", "x")}, 2, -1, false, false},
        {"high byte in a name", "GET", "/", {HOST, H("X\xc3", "x")}, 2, -1, false, false},
        {"NUL in a name", "GET", "/", {HOST, H("X\0Y", "x")}, 2, -1, false, false},
        {"NUL in a value", "GET", "/", {HOST, H("X", "a\0b")}, 2, -1, false, false},
        {"line feed in a value", "GET", "/", {HOST, H("X", "a\nb")}, 2, -1, false, false},
        {"DEL in a value", "GET", "/", {HOST, H("X", "\x7f")}, 2, -1, false, false},
        {"signed length", "POST", "/", {HOST, H("Content-Length", "+1")}, 2, -1, false, false},
        {"empty length", "POST", "/", {HOST, H("Content-Length", "")}, 2, -1, false, false},
        {"hex length", "POST", "/", {HOST, H("Content-Length", "0x10")}, 2, -1, false, false},
        {"length of 16 digits", "POST", "/", {HOST, H("Content-Length", "1000000000000000")}, 2, -1, false, false},
        {"GET with a body", "GET", "/", {HOST, H("Content-Length", "1")}, 2, -1, false, false},
        {"DELETE with a body", "DELETE", "/", {HOST, H("Transfer-Encoding", "chunked")}, 2, -1, false, false},
        {"relative", "GET", "x", {HOST}, 1, -1, false, false},
        {"star", "OPTIONS", "*", {HOST}, 1, -1, false, false},
        {"absolute form", "GET", "http://a/", {HOST}, 1, -1, false, false},
        {"empty target", "GET", "", {HOST}, 1, -1, false, false},
        {"escaped NUL", "GET", "/a%00", {HOST}, 1, -1, false, false},
        {"escaped slash", "GET", "/a%2fb", {HOST}, 1, -1, false, false},
        {"escaped slash in the query is data", "GET", "/a?b=%2F", {HOST}, 1, 0, false, false},
        {"bad escape", "GET", "/a%4g", {HOST}, 1, -1, false, false},
        {"escape cut off", "GET", "/a%4", {HOST}, 1, -1, false, false},
        {"escape cut off by the query", "GET", "/a%4?b=1", {HOST}, 1, -1, false, false},
        {"escape at the very end", "GET", "/a%41", {HOST}, 1, 0, false, false},
        {"bad escape in the query", "GET", "/a?b=%", {HOST}, 1, -1, false, false},
        {"control in the path", "GET", "/a\x01", {HOST}, 1, -1, false, false},
        {"fragment", "GET", "/a#b", {HOST}, 1, -1, false, false},
        {"repeated parameter", "GET", "/a?b=1&c=2&b=3", {HOST}, 1, -1, false, false},
        {"prefix of a parameter", "GET", "/a?b=1&bb=2", {HOST}, 1, 0, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        const struct guard_request request = {row->method, row->target, row->headers, row->n};
        struct guard_facts facts = {0};
        struct err err = {0};
        int rc = guard_check(&request, &facts, &err);
        cr_expect(rc == row->rc, "%s: %d %s", row->name, rc, err.detail);
        cr_expect((rc == 0) == (err.code == ERR_NONE), "%s: error and result differ", row->name);
        if (rc == 0)
            cr_expect(facts.has_body == row->has_body && facts.chunked == row->chunked, "%s: facts", row->name);
    }
}

Test(guard, limits_are_exact)
{
    char target[GUARD_QUERY_MAX + 64];
    struct guard_header headers[GUARD_HEADERS_MAX];
    struct guard_facts facts;
    struct err err = {0};
    for (size_t i = 0; i < GUARD_HEADERS_MAX; i++)
        headers[i] = (struct guard_header)H("X-A", "1");
    struct guard_request request = {"GET", "/", headers, GUARD_HEADERS_MAX};
    cr_expect(guard_check(&request, &facts, &err) == 0);
    request.n_headers++;
    cr_expect(guard_check(&request, &facts, &err) == -1);

    request = (struct guard_request){"GET", target, headers, 1};
    for (int extra = 0; extra <= 1; extra++) {
        memset(target, 'a', sizeof target);
        target[0] = '/';
        target[GUARD_PATH_MAX + extra] = '\0';
        cr_expect(guard_check(&request, &facts, &err) == -extra, "path of %d", GUARD_PATH_MAX + extra);
        memset(target, 'a', sizeof target);
        memcpy(target, "/?", 2);
        target[2 + GUARD_QUERY_MAX + extra] = '\0';
        cr_expect(guard_check(&request, &facts, &err) == -extra, "query of %d", GUARD_QUERY_MAX + extra);
        size_t n = 2;
        for (int i = 0; i < GUARD_QUERY_PAIRS_MAX + extra; i++)
            n += (size_t)snprintf(target + n, sizeof target - n, "%sp%d=1", i > 0 ? "&" : "", i);
        cr_expect(guard_check(&request, &facts, &err) == -extra, "%d parameters", GUARD_QUERY_PAIRS_MAX + extra);
    }
}
