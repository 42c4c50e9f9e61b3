/* test_limits.c — time, size and number: what a slow, large or numerous client may not do, and that the server is well
 * afterwards. */
#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/http/client.h"
#include "tests/http/process.h"

static void expect_well(int port)
{
    struct response r = client_ask(port, "GET", "/healthz", NULL, NULL);
    cr_assert(r.status == 200, "the server is no longer well");
    response_done(&r);
}

/* Sends a byte every 100 ms until the peer ends the connection; the seconds that took. */
static double drip(int fd, const char *text, double limit)
{
    double started = process_now();
    for (size_t i = 0; process_now() - started < limit; i++) {
        client_send(fd, &text[i % strlen(text)], 1);
        if (client_ended(fd, 0.1))
            return process_now() - started;
    }
    return limit;
}

Test(limits, a_slow_drip_is_cut_at_the_deadline)
{
    /* Each byte restarts the library's own time-out; the sweep must not care. Head and body, first and later request.
     */
    static const struct {
        const char *name, *first, *dripped;
        bool after_a_request;
        double at_most;
    } cases[] = {
        {"head", "GET /healthz HTTP/1.1\r\nHost: test\r\n", "X-A: b\r\n", false, 1.6},
        {"request line", "GET /", "a", false, 1.6},
        {"body",
         "POST /api/v1/plans HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n{",
         " ", false, 1.6},
        {"head on a kept connection", "GET /healthz HTTP/1.1\r\nHost: test\r\n", "X-A: b\r\n", true, 1.6},
        /* No line is complete, so MHD tells us nothing: idle time and deadline together. */
        {"request line on a kept connection", "GET /", "a", true, 2.8},
    };
    struct process p;
    process_start(&p, "--request-deadline-ms", "800", "--idle-timeout-s", "1", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int fd = client_connect(p.port);
        if (cases[i].after_a_request) {
            client_sends(fd, "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n");
            struct response r = client_read(fd, 2, false);
            cr_assert(r.status == 200);
            response_done(&r);
        }
        client_sends(fd, cases[i].first);
        double took = drip(fd, cases[i].dripped, 6);
        cr_expect(took >= 0.7 && took <= cases[i].at_most, "%s: cut after %.2f s", cases[i].name, took);
        close(fd);
    }
    struct response r = client_ask(p.port, "GET", "/metrics", NULL, NULL);
    cr_expect(strstr(r.body, "suanpan_http_deadline_cut_total 5\n") != NULL, "the cuts are counted");
    response_done(&r);
    process_stop(&p);
}

Test(limits, who_does_not_read_is_cut)
{
    struct process p;
    int small = 2048;
    bool cut = false;
    process_start(&p, "--write-deadline-ms", "500", NULL);
    int fd = client_connect(p.port);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    for (int i = 0; i < 400; i++)
        client_sends(fd, "GET /openapi.json HTTP/1.1\r\nHost: test\r\n\r\n");
    double started = process_now();
    while (!cut && process_now() - started < 6) {
        struct response r = client_ask(p.port, "GET", "/metrics", NULL, NULL);
        cut = strstr(r.body, "suanpan_http_deadline_cut_total 1\n") != NULL &&
              strstr(r.body, "suanpan_http_connections 1\n") != NULL;
        response_done(&r);
        usleep(50000);
    }
    cr_expect(cut, "an answer that nobody reads keeps its connection");
    cr_expect(process_now() - started > 0.4);
    close(fd);
    process_stop(&p);
}

Test(limits, a_silent_connection_is_closed)
{
    struct process p;
    process_start(&p, "--idle-timeout-s", "1", NULL);
    int fd = client_connect(p.port);
    double started = process_now();
    cr_assert(client_ended(fd, 5));
    cr_expect(process_now() - started > 0.8 && process_now() - started < 3, "closed after %.2f s",
              process_now() - started);
    close(fd);
    process_stop(&p);
}

Test(limits, the_connection_limit_holds_and_recovers)
{
    /* Everybody leaves at once: without the tick cap the listening socket would never come back (pitfall P3). */
    struct process p;
    process_start(&p, "--max-connections", "2", NULL);
    for (int round = 0; round < 3; round++) {
        int first = client_connect(p.port), second = client_connect(p.port);
        client_sends(first, "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n");
        client_sends(second, "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n");
        struct response a = client_read(first, 2, false), b = client_read(second, 2, false);
        cr_assert(a.status == 200 && b.status == 200);
        response_done(&a);
        response_done(&b);
        int waiting = client_connect(p.port); /* the kernel takes it; the server does not yet */
        client_sends(waiting, "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n");
        struct pollfd quiet = {.fd = waiting, .events = POLLIN};
        cr_expect(poll(&quiet, 1, 150) == 0, "a third connection is served beyond the limit of two");
        close(first);
        close(second);
        double started = process_now();
        struct response r = client_read(waiting, 5, false);
        cr_expect(r.status == 200, "the waiting connection is never served");
        cr_expect(process_now() - started < 1, "served only after %.2f s", process_now() - started);
        response_done(&r);
        close(waiting);
    }
    expect_well(p.port);
    process_stop(&p);
}

Test(limits, one_address_may_not_take_all_connections)
{
    struct process p;
    process_start(&p, "--max-connections-per-ip", "2", NULL);
    int first = client_connect(p.port), second = client_connect(p.port), third = client_connect(p.port);
    client_sends(first, "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n");
    struct response r = client_read(first, 2, false);
    cr_expect(r.status == 200);
    response_done(&r);
    cr_expect(client_ended(third, 2), "the third connection of one address stays");
    close(first);
    close(second);
    close(third);
    process_stop(&p);
}

Test(limits, bodies_have_their_size_and_type)
{
    static const struct {
        const char *name, *headers;
        size_t length;
        bool chunked;
        int status;
    } cases[] = {
        {"at the limit, but no JSON", "Content-Type: application/json\r\n", 65536, false, 400},
        {"declared too large", "Content-Type: application/json\r\n", 65537, false, 413},
        {"200 kB", "Content-Type: application/json\r\n", 200000, false, 413},
        {"chunked too large", "Content-Type: application/json\r\n", 200000, true, 413},
        {"no type", "", 10, false, 415},
        {"form", "Content-Type: application/x-www-form-urlencoded\r\n", 10, false, 415},
        {"another charset", "Content-Type: application/json; charset=gbk\r\n", 10, false, 415},
        {"a longer name", "Content-Type: application/jsonp\r\n", 10, false, 415},
        {"our charset", "Content-Type: Application/JSON; charset=UTF-8\r\n", 10, false, 400},
    };
    struct process p;
    char head[512], *filler = malloc(1 << 20);
    memset(filler, 'x', 1 << 20);
    process_start(&p, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int fd = client_connect(p.port);
        size_t n = (size_t)snprintf(head, sizeof head,
                                    "POST /api/v1/plans HTTP/1.1\r\nHost: test\r\nAccept-Language: en\r\n%s",
                                    cases[i].headers);
        snprintf(head + n, sizeof head - n,
                 cases[i].chunked ? "Transfer-Encoding: chunked\r\n\r\n%zx\r\n" : "Content-Length: %zu\r\n\r\n",
                 cases[i].length);
        client_sends(fd, head);
        client_send(fd, filler, cases[i].length);
        if (cases[i].chunked)
            client_sends(fd, "\r\n0\r\n\r\n");
        struct response r = client_read(fd, 5, false);
        cr_expect(r.status == cases[i].status, "%s: %d, not %d", cases[i].name, r.status, cases[i].status);
        /* Refusals of the server speak the caller's language, as those of the API do, and name the limit. */
        cr_expect(r.status != 413 || strstr(r.body, "At most 64 KiB here.") != NULL, "%s: %s", cases[i].name, r.body);
        cr_expect(r.status != 415 || strstr(r.body, "Send the body with") != NULL, "%s: %s", cases[i].name, r.body);
        response_done(&r);
        /* The body was swallowed, so the connection is still good. */
        client_sends(fd, "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n");
        r = client_read(fd, 2, false);
        cr_expect(r.status == 200, "%s: the connection is lost", cases[i].name);
        response_done(&r);
        close(fd);
    }
    free(filler);
    process_stop(&p);
}

Test(limits, a_body_beyond_all_patience_ends_the_connection)
{
    /* Over a mebibyte is not swallowed: the status may be lost to a reset, the server is not (pitfall P8). */
    static const char *const heads[] = {"Content-Length: 5000000\r\n\r\n",
                                        "Transfer-Encoding: chunked\r\n\r\n4c4b40\r\n"};
    struct process p;
    char *filler = malloc(5000000);
    memset(filler, 'x', 5000000);
    process_start(&p, NULL);
    for (size_t i = 0; i < 2; i++) {
        int fd = client_connect(p.port);
        client_sends(fd, "POST /api/v1/plans HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n");
        client_sends(fd, heads[i]);
        client_send(fd, filler, 5000000);
        struct response r = client_read(fd, 3, false);
        cr_expect(r.status == 413 || r.status == 0, "%d", r.status);
        cr_expect(client_ended(fd, 3), "the connection lives on");
        response_done(&r);
        close(fd);
        expect_well(p.port);
    }
    free(filler);
    process_stop(&p);
}

Test(limits, a_body_that_may_wait_is_refused_before_it_is_sent)
{
    struct process p;
    process_start(&p, NULL);
    static const struct {
        const char *length;
        int status;
    } cases[] = {{"100000", 413}, {"50000000", 413}};
    for (size_t i = 0; i < 2; i++) {
        char head[256];
        int fd = client_connect(p.port);
        snprintf(head, sizeof head,
                 "POST /api/v1/plans HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
                 "Expect: 100-continue\r\nContent-Length: %s\r\n\r\n",
                 cases[i].length);
        client_sends(fd, head);
        struct response r = client_read(fd, 3, false);
        cr_expect(r.status == cases[i].status, "%s bytes: %d", cases[i].length, r.status);
        cr_expect(client_ended(fd, 2));
        response_done(&r);
        close(fd);
    }
    /* And one that is welcome is asked for. */
    int fd = client_connect(p.port);
    client_sends(fd, "POST /api/v1/plans HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
                     "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    struct response r = client_read(fd, 3, false);
    cr_expect(r.status == 100, "%d instead of 100", r.status);
    response_done(&r);
    client_sends(fd, "{}");
    r = client_read(fd, 3, false);
    cr_expect(r.status == 422, "%d instead of 422", r.status);
    response_done(&r);
    close(fd);
    process_stop(&p);
}

#define CROWD 24

Test(limits, overload_is_refused_with_retry_after_and_passes)
{
    struct process p;
    int fds[CROWD], served = 0, refused = 0;
    char after[16];
    char *bytes = client_plan_bytes("06-pretrain-130b.json", NULL);
    process_start(&p, "--max-in-flight", "2", "--workers", "1", NULL);
    for (int i = 0; i < CROWD; i++)
        fds[i] = client_connect(p.port);
    for (int i = 0; i < CROWD; i++)
        client_sends(fds[i], bytes);
    for (int i = 0; i < CROWD; i++) {
        struct response r = client_read(fds[i], 30, false);
        served += r.status == 200;
        if (r.status == 503 && response_header(&r, "Retry-After", after, sizeof after) && strtol(after, NULL, 10) >= 1)
            refused++;
        response_done(&r);
        close(fds[i]);
    }
    cr_expect(served >= 2, "only %d served", served);
    cr_expect(refused >= 1, "nothing refused at %d for a limit of 2", CROWD);
    cr_expect(served + refused == CROWD, "%d served, %d refused of %d", served, refused, CROWD);
    int fd = client_connect(p.port);
    client_sends(fd, bytes);
    struct response r = client_read(fd, 30, false);
    cr_expect(r.status == 200, "still refused after the crowd: %d", r.status);
    response_done(&r);
    close(fd);
    free(bytes);
    process_stop(&p);
}

Test(limits, clients_that_go_away_during_work_do_no_harm)
{
    /* Half leave politely, half with a reset, all while their plan is being made (architecture: ownership rule 7). */
    struct process p;
    char *bytes = client_plan_bytes("06-pretrain-130b.json", NULL);
    process_start(&p, "--workers", "1", NULL);
    for (int round = 0; round < 2; round++) {
        int fds[CROWD];
        for (int i = 0; i < CROWD; i++) {
            fds[i] = client_connect(p.port);
            client_sends(fds[i], bytes);
        }
        usleep(3000);
        for (int i = 0; i < CROWD; i++)
            if (i % 2 == 0)
                close(fds[i]);
            else
                client_reset(fds[i]);
    }
    free(bytes);
    /* All contexts are freed once their work is done. */
    double limit = process_now() + 20;
    bool quiet = false;
    while (!quiet && process_now() < limit) {
        struct response r = client_ask(p.port, "GET", "/metrics", NULL, NULL);
        quiet = strstr(r.body, "\nsuanpan_work_in_flight 0\n") != NULL &&
                strstr(r.body, "\nsuanpan_http_connections 1\n") != NULL;
        response_done(&r);
        usleep(20000);
    }
    cr_expect(quiet, "work or connections are left over");
    expect_well(p.port);
    process_stop(&p);
}
