/* test_answers.c — what goes out besides the API's own words: coding, caching, security headers, the form's files,
 * operational endpoints, and that the published catalog follows the stored one. */
#include <criterion/criterion.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/http/client.h"
#include "tests/http/process.h"

static void expect_header(const struct response *r, const char *name, const char *value)
{
    char got[512] = "(absent)";
    response_header(r, name, got, sizeof got);
    cr_expect(strcmp(got, value) == 0, "%s: %s, not %s", name, got, value);
}

static char *inflate_all(const struct response *r, size_t *ret_len)
{
    z_stream z = {0};
    size_t size = 1 << 23;
    char *out = malloc(size);
    cr_assert(inflateInit2(&z, 15 + 16) == Z_OK);
    z.next_in = (Bytef *)r->body;
    z.avail_in = (uInt)r->body_len;
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)size;
    cr_assert(inflate(&z, Z_FINISH) == Z_STREAM_END, "not one whole gzip member");
    *ret_len = z.total_out;
    inflateEnd(&z);
    return out;
}

Test(answers, gzip_when_asked_and_worthwhile)
{
    static const struct {
        const char *method, *path, *accept;
        bool coded;
    } cases[] = {
        {"GET", "/openapi.json", "Accept-Encoding: gzip\r\n", true},
        {"GET", "/openapi.json", "Accept-Encoding: br, gzip;q=0.5\r\n", true},
        {"GET", "/openapi.json", "Accept-Encoding: gzip;q=0\r\n", false},
        {"GET", "/openapi.json", "", false},
        {"GET", "/api/v1/prices", "Accept-Encoding: gzip\r\n", true},
        {"GET", "/metrics", "Accept-Encoding: gzip\r\n", true},
        {"GET", "/healthz", "Accept-Encoding: gzip\r\n", false}, /* too small */
        {"GET", "/", "Accept-Encoding: gzip\r\n", true},
        {"GET", "/app.css", "Accept-Encoding: gzip\r\n", true},
    };
    struct process p;
    process_start(&p, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char coding[32];
        struct response plain = client_ask(p.port, cases[i].method, cases[i].path, NULL, NULL);
        struct response r = client_ask(p.port, cases[i].method, cases[i].path, cases[i].accept, NULL);
        cr_expect(r.status == 200, "%s: %d", cases[i].path, r.status);
        bool coded = response_header(&r, "Content-Encoding", coding, sizeof coding) && strcmp(coding, "gzip") == 0;
        cr_expect(coded == cases[i].coded, "%s with %s", cases[i].path, cases[i].accept);
        if (coded) {
            size_t n = 0;
            char *text = inflate_all(&r, &n);
            if (strcmp(cases[i].path, "/metrics") != 0)
                cr_expect(n == plain.body_len && memcmp(text, plain.body, n) == 0, "%s: other bytes", cases[i].path);
            cr_expect(r.body_len < n);
            free(text);
        }
        response_done(&plain);
        response_done(&r);
    }
    process_stop(&p);
}

Test(answers, a_plan_is_the_same_bytes_plain_and_coded)
{
    struct process p;
    char *plain_bytes = client_plan_bytes("01-lora-7b.json", NULL);
    char *coded_bytes = client_plan_bytes("01-lora-7b.json", "Accept-Encoding: gzip\r\n");
    process_start(&p, NULL);
    int fd = client_connect(p.port);
    client_sends(fd, plain_bytes);
    struct response plain = client_read(fd, 20, false);
    client_sends(fd, coded_bytes);
    struct response coded = client_read(fd, 20, false);
    cr_assert(plain.status == 200 && coded.status == 200, "%d %s", plain.status, plain.body);
    size_t n = 0;
    char *text = inflate_all(&coded, &n);
    cr_expect(n == plain.body_len && memcmp(text, plain.body, n) == 0);
    free(text);
    response_done(&plain);
    response_done(&coded);
    free(plain_bytes);
    free(coded_bytes);
    close(fd);
    process_stop(&p);
}

Test(answers, every_answer_carries_the_guarding_headers)
{
    static const char page[] =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    static const struct {
        const char *method, *path;
        int status;
        const char *type, *policy;
    } cases[] = {
        {"GET", "/", 200, "text/html; charset=utf-8", page},
        {"GET", "/index.html", 200, "text/html; charset=utf-8", page},
        {"GET", "/app.css", 200, "text/css; charset=utf-8", page},
        {"GET", "/js/main.js", 200, "text/javascript; charset=utf-8", page},
        {"GET", "/icon.svg", 200, "image/svg+xml", page},
        {"GET", "/i18n/zh-CN.json", 200, "application/json; charset=utf-8", page},
        {"GET", "/healthz", 200, "application/json; charset=utf-8", NULL},
        {"GET", "/readyz", 200, "application/json; charset=utf-8", NULL},
        {"GET", "/metrics", 200, "text/plain; version=0.0.4; charset=utf-8", NULL},
        {"GET", "/nowhere", 404, "application/problem+json", NULL},
        {"GET", "/js/", 404, "application/problem+json", NULL},
        {"GET", "/static/app.css", 404, "application/problem+json", NULL},
        {"DELETE", "/api/v1/plans", 405, "application/problem+json", NULL},
        {"PUT", "/", 405, "application/problem+json", NULL},
        {"PATCH", "/metrics", 405, "application/problem+json", NULL},
    };
    struct process p;
    process_start(&p, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[512] = "";
        struct response r = client_ask(p.port, cases[i].method, cases[i].path, NULL, NULL);
        cr_expect(r.status == cases[i].status, "%s %s: %d", cases[i].method, cases[i].path, r.status);
        response_header(&r, "Content-Type", got, sizeof got);
        cr_expect(strncmp(got, cases[i].type, strlen(cases[i].type)) == 0, "%s: %s", cases[i].path, got);
        expect_header(&r, "X-Content-Type-Options", "nosniff");
        expect_header(&r, "Content-Security-Policy",
                      cases[i].policy != NULL ? cases[i].policy : "default-src 'none'; frame-ancestors 'none'");
        cr_expect(response_header(&r, "X-Request-Id", got, sizeof got) && strlen(got) == 16);
        cr_expect(response_header(&r, "Cache-Control", got, sizeof got));
        if (r.status == 405)
            cr_expect(response_header(&r, "Allow", got, sizeof got) && got[0] != '\0', "%s: no Allow", cases[i].path);
        response_done(&r);
    }
    process_stop(&p);
}

Test(answers, head_and_options_are_everywhere)
{
    static const char *const paths[] = {"/", "/app.css", "/healthz", "/readyz", "/openapi.json", "/api/v1/gpus"};
    struct process p;
    process_start(&p, NULL);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char length[32] = "", expected[32], allow[64] = "";
        struct response get = client_ask(p.port, "GET", paths[i], NULL, NULL);
        int fd = client_connect(p.port);
        char text[256];
        snprintf(text, sizeof text, "HEAD %s HTTP/1.1\r\nHost: test\r\n\r\nGET /healthz HTTP/1.1\r\nHost: test\r\n\r\n",
                 paths[i]);
        client_sends(fd, text);
        struct response head = client_read(fd, 3, true), next = client_read(fd, 3, false);
        cr_expect(head.status == get.status && get.status == 200, "%s: HEAD %d, GET %d", paths[i], head.status,
                  get.status);
        snprintf(expected, sizeof expected, "%zu", get.body_len);
        response_header(&head, "Content-Length", length, sizeof length);
        cr_expect(strcmp(length, expected) == 0, "%s: HEAD says %s, GET has %s", paths[i], length, expected);
        cr_expect(next.status == 200, "%s: HEAD sends a body", paths[i]);
        struct response options = client_ask(p.port, "OPTIONS", paths[i], NULL, NULL);
        cr_expect(options.status == 204 && options.body_len == 0, "%s: OPTIONS %d", paths[i], options.status);
        cr_expect(response_header(&options, "Allow", allow, sizeof allow) && strstr(allow, "GET") != NULL,
                  "%s: Allow %s", paths[i], allow);
        response_done(&get);
        response_done(&head);
        response_done(&next);
        response_done(&options);
        close(fd);
    }
    process_stop(&p);
}

Test(answers, files_of_the_form_are_not_sent_twice)
{
    static const char *const codings[] = {"", "Accept-Encoding: gzip\r\n"};
    struct process p;
    process_start(&p, NULL);
    char tags[2][64], headers[256];
    for (int i = 0; i < 2; i++) {
        struct response r = client_ask(p.port, "GET", "/app.css", codings[i], NULL);
        cr_assert(response_header(&r, "ETag", tags[i], sizeof tags[i]));
        response_done(&r);
        snprintf(headers, sizeof headers, "%sIf-None-Match: \"other\", %s\r\n", codings[i], tags[i]);
        r = client_ask(p.port, "GET", "/app.css", headers, NULL);
        cr_expect(r.status == 304 && r.body_len == 0, "%d", r.status);
        expect_header(&r, "ETag", tags[i]);
        response_done(&r);
        snprintf(headers, sizeof headers, "%sIf-None-Match: \"other\"\r\n", codings[i]);
        r = client_ask(p.port, "GET", "/app.css", headers, NULL);
        cr_expect(r.status == 200);
        response_done(&r);
    }
    cr_expect(strcmp(tags[0], tags[1]) != 0, "two representations, one tag");
    process_stop(&p);
}

Test(answers, catalog_reads_are_not_sent_twice)
{
    static const char *const codings[] = {"", "Accept-Encoding: gzip\r\n"};
    struct process p;
    process_start(&p, NULL);
    for (int i = 0; i < 2; i++) {
        char tag[128], headers[256];
        struct response r = client_ask(p.port, "GET", "/api/v1/prices", codings[i], NULL);
        cr_assert(r.status == 200 && response_header(&r, "ETag", tag, sizeof tag));
        cr_expect((strncmp(tag, "W/", 2) == 0) == (i == 1), "the coded form is only equivalent: %s", tag);
        response_done(&r);
        snprintf(headers, sizeof headers, "%sIf-None-Match: %s\r\n", codings[i], tag);
        r = client_ask(p.port, "GET", "/api/v1/prices", headers, NULL);
        cr_expect(r.status == 304 && r.body_len == 0, "%d for %s", r.status, tag);
        response_done(&r);
    }
    process_stop(&p);
}

Test(answers, a_half_closed_client_gets_its_answer)
{
    struct process p;
    char *bytes = client_plan_bytes("01-lora-7b.json", NULL);
    process_start(&p, NULL);
    int fd = client_connect(p.port);
    client_sends(fd, bytes);
    shutdown(fd, SHUT_WR);
    struct response r = client_read(fd, 20, false);
    cr_expect(r.status == 200, "%d", r.status);
    response_done(&r);
    cr_expect(client_ended(fd, 3));
    close(fd);
    free(bytes);
    process_stop(&p);
}

Test(answers, pipelined_plans_come_in_order)
{
    struct process p;
    char *first = client_plan_bytes("01-lora-7b.json", NULL),
         *second = client_plan_bytes("07-serve-7b-50-users.json", NULL);
    size_t size = strlen(first) + strlen(second) + 64;
    char *both = malloc(size);
    snprintf(both, size, "%s%sGET /healthz HTTP/1.1\r\nHost: test\r\n\r\n", first, second);
    process_start(&p, NULL);
    int fd = client_connect(p.port);
    client_sends(fd, both);
    struct response a = client_read(fd, 20, false), b = client_read(fd, 20, false), c = client_read(fd, 5, false);
    cr_assert(a.status == 200 && b.status == 200 && c.status == 200, "%d %d %d", a.status, b.status, c.status);
    cr_expect(strstr(a.body, "\"plan_id\"") != NULL && strstr(b.body, "\"plan_id\"") != NULL &&
              strcmp(a.body, b.body) != 0);
    cr_expect(strstr(c.body, "alive") != NULL, "out of order");
    response_done(&a);
    response_done(&b);
    response_done(&c);
    free(first);
    free(second);
    free(both);
    close(fd);
    process_stop(&p);
}

Test(answers, metrics_and_log_tell_what_happened)
{
    struct process p;
    char id[32] = "", wanted[128];
    process_start(&p, NULL);
    for (int i = 0; i < 3; i++) {
        struct response r = client_ask(p.port, "GET", "/api/v1/gpus", NULL, NULL);
        cr_assert(r.status == 200);
        response_done(&r);
    }
    struct response refused =
        client_ask(p.port, "POST", "/api/v1/plans", "Content-Type: application/json\r\n", "{\"workload\":");
    cr_expect(refused.status == 400);
    response_header(&refused, "X-Request-Id", id, sizeof id);
    cr_expect(strstr(refused.body, id) != NULL, "the problem does not name its request");
    response_done(&refused);
    struct response odd = client_ask(p.port, "GET", "/a%22b%20level=error%0Aevent=forged", NULL, NULL);
    response_done(&odd);
    struct response m = client_ask(p.port, "GET", "/metrics", NULL, NULL);
    static const char *const lines[] = {
        "suanpan_http_requests_total{route=\"GET /api/v1/gpus\",status=\"200\"} 3\n",
        "suanpan_http_requests_total{route=\"POST /api/v1/plans\",status=\"400\"} 1\n",
        "suanpan_http_request_duration_seconds_count{route=\"GET /api/v1/gpus\"} 3\n",
        "suanpan_work_duration_seconds_count{route=\"POST /api/v1/plans\"} 1\n",
        "suanpan_work_in_flight 0\n",
        "suanpan_ready 1\n",
        "suanpan_db_corrupt 0\n",
        "suanpan_db_writable 1\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect(strstr(m.body, lines[i]) != NULL, "no line %s", lines[i]);
    response_done(&m);
    char *log = process_log(&p);
    snprintf(wanted, sizeof wanted, "event=request req=%s method=POST path=/api/v1/plans status=400 ms=", id);
    cr_expect(strstr(log, wanted) != NULL, "no access line %s in\n%s", wanted, log);
    cr_expect(strstr(log, "\nevent=forged") == NULL && strstr(log, " level=error") == NULL,
              "the log can be forged:\n%s", log);
    free(log);
    process_stop(&p);
}

static long long ready_revision(int port)
{
    struct response r = client_ask(port, "GET", "/readyz", NULL, NULL);
    const char *at = strstr(r.body, "\"catalog_revision\":");
    long long revision = at != NULL ? strtoll(at + 19, NULL, 10) : -1;
    response_done(&r);
    return revision;
}

static void alter(const struct process *p, const char *sql)
{
    sqlite3 *db = NULL;
    cr_assert(sqlite3_open(p->db, &db) == SQLITE_OK);
    sqlite3_busy_timeout(db, 2000);
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    cr_assert(rc == SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static bool becomes_ready(int port, int status)
{
    for (int i = 0; i < 100; i++, usleep(50000)) {
        struct response r = client_ask(port, "GET", "/readyz", NULL, NULL);
        bool reached = r.status == status;
        response_done(&r);
        if (reached)
            return true;
    }
    return false;
}

Test(answers, a_failing_database_turns_readiness_red_and_plans_go_on)
{
    struct process p;
    char *bytes = client_plan_bytes("01-lora-7b.json", NULL);
    process_start(&p, "--catalog-poll-ms", "100", NULL);
    alter(&p, "ALTER TABLE catalog_meta RENAME TO gone");
    cr_expect(becomes_ready(p.port, 503), "still ready without its table");
    int fd = client_connect(p.port);
    client_sends(fd, bytes);
    struct response r = client_read(fd, 20, false);
    cr_expect(r.status == 200, "plans stop with the database: %d", r.status);
    response_done(&r);
    close(fd);
    char *log = process_log(&p);
    cr_expect(strstr(log, "level=error event=catalog_refresh_failed") != NULL);
    free(log);
    alter(&p, "ALTER TABLE gone RENAME TO catalog_meta");
    cr_expect(becomes_ready(p.port, 200), "not ready again");
    free(bytes);
    process_stop(&p);
}

Test(answers, sighup_looks_at_the_catalog_at_once)
{
    struct process p;
    process_start(&p, "--catalog-poll-ms", "3600000", NULL);
    long long before = ready_revision(p.port), after = before;
    alter(&p, "UPDATE catalog_meta SET revision = revision + 1");
    usleep(300000);
    cr_expect(ready_revision(p.port) == before, "it looks without being asked");
    process_signal(&p, SIGHUP);
    for (int i = 0; i < 100 && after == before; i++, usleep(20000))
        after = ready_revision(p.port);
    cr_expect(after == before + 1);
    process_stop(&p);
}

Test(answers, the_published_catalog_follows_the_stored_one)
{
    struct process p;
    process_start(&p, "--catalog-poll-ms", "100", NULL);
    long long before = ready_revision(p.port), after = before;
    cr_assert(before >= 1);
    /* Against the one-writer rule, on purpose: a stand-in for another instance's commit. */
    alter(&p, "UPDATE catalog_meta SET revision = revision + 1");
    for (int i = 0; i < 100 && after == before; i++, usleep(50000))
        after = ready_revision(p.port);
    cr_expect(after == before + 1, "%lld after %lld", after, before);
    char *log = process_log(&p);
    cr_expect(strstr(log, "event=catalog_reloaded revision=") != NULL);
    free(log);
    struct response m = client_ask(p.port, "GET", "/metrics", NULL, NULL);
    char line[64];
    snprintf(line, sizeof line, "suanpan_catalog_revision %lld\n", after);
    cr_expect(strstr(m.body, line) != NULL);
    response_done(&m);
    process_stop(&p);
}
