/* test_life.c — start, settings, the one-writer rule, hand-over of the socket, and the end. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/http/client.h"
#include "tests/http/process.h"

#define IN_FLIGHT 40

static void expect_log(const struct process *p, const char *text)
{
    char *log = process_log(p);
    cr_expect(strstr(log, text) != NULL, "the log does not say %s:\n%s", text, log);
    free(log);
}

static long metric(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at != NULL ? strtol(at + strlen(name), NULL, 10) : 0;
}

/* Until that many plans have been taken in, done or not. */
static void wait_for_plans(int port, long n)
{
    for (int i = 0; i < 1000; i++) {
        struct response r = client_ask(port, "GET", "/metrics", NULL, NULL);
        long taken = metric(r.body, "\nsuanpan_work_in_flight ") +
                     metric(r.body, "\nsuanpan_work_duration_seconds_count{route=\"POST /api/v1/plans\"} ");
        response_done(&r);
        if (taken >= n)
            return;
    }
    cr_assert_fail("%ld plans are never taken in", n);
}

Test(life, sigterm_answers_what_is_in_flight)
{
    struct process p;
    int fds[IN_FLIGHT];
    char *bytes = client_plan_bytes("06-pretrain-130b.json", NULL), close_header[16];
    process_start(&p, "--workers", "1", NULL);
    int idle = client_connect(p.port);
    client_sends(idle, "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n");
    struct response r = client_read(idle, 2, false);
    cr_assert(r.status == 200);
    response_done(&r);
    for (int i = 0; i < IN_FLIGHT; i++) {
        fds[i] = client_connect(p.port);
        client_sends(fds[i], bytes);
    }
    wait_for_plans(p.port, IN_FLIGHT); /* with one worker most are waiting their turn */
    process_signal(&p, SIGTERM);
    cr_expect(client_ended(idle, 2), "an idle connection outlives SIGTERM");
    for (int i = 0; i < IN_FLIGHT; i++) {
        r = client_read(fds[i], 20, false);
        cr_expect(r.status == 200, "request %d in flight got %d", i, r.status);
        if (i == IN_FLIGHT - 1)
            cr_expect(response_header(&r, "Connection", close_header, sizeof close_header) &&
                      strcmp(close_header, "close") == 0);
        response_done(&r);
    }
    cr_assert(process_wait(&p, 10), "the server does not leave");
    cr_expect(p.status == 0, "exit status %d", p.status);
    expect_log(&p, "event=draining in_flight=");
    char *log = process_log(&p);
    cr_expect(strstr(log, "in_flight=0") == NULL, "nothing was in flight, so nothing was shown");
    cr_expect(strstr(log, "event=stopped") != NULL);
    free(log);
    free(bytes);
    process_remove(&p);
}

Test(life, at_the_drain_limit_waiting_work_is_refused_not_dropped)
{
    enum { MANY = 150 }; /* more than one worker plans within the limit of 100 ms */
    struct process p;
    int fds[MANY], served = 0, refused = 0;
    char *bytes = client_plan_bytes("06-pretrain-130b.json", NULL);
    process_start(&p, "--workers", "1", "--max-in-flight", "1000", "--drain-limit-ms", "100", NULL);
    for (int i = 0; i < MANY; i++)
        fds[i] = client_connect(p.port);
    for (int i = 0; i < MANY; i++)
        client_sends(fds[i], bytes);
    wait_for_plans(p.port, MANY);
    process_signal(&p, SIGTERM);
    for (int i = 0; i < MANY; i++) {
        struct response r = client_read(fds[i], 20, false);
        served += r.status == 200;
        refused += r.status == 503 && strstr(r.body, "shutting_down") != NULL;
        response_done(&r);
    }
    cr_expect(served + refused == MANY, "%d served, %d refused of %d", served, refused, MANY);
    cr_expect(refused > 0, "everything was done within the limit, so nothing was shown");
    cr_assert(process_wait(&p, 10), "the server does not leave");
    cr_expect(p.status == 0, "exit status %d", p.status);
    expect_log(&p, "event=drain_limit_reached");
    free(bytes);
    process_remove(&p);
}

Test(life, grace_keeps_serving_but_is_not_ready)
{
    struct process p;
    process_start(&p, "--drain-grace-ms", "600", NULL);
    process_signal(&p, SIGTERM);
    usleep(100000);
    struct response r = client_ask(p.port, "GET", "/readyz", NULL, NULL);
    cr_expect(r.status == 503 && strstr(r.body, "shutting_down") != NULL, "%d %s", r.status, r.body);
    response_done(&r);
    r = client_ask(p.port, "GET", "/healthz", NULL, NULL);
    cr_expect(r.status == 200);
    response_done(&r);
    cr_assert(process_wait(&p, 5) && p.status == 0);
    process_remove(&p);
}

Test(life, a_second_sigterm_exits_at_once)
{
    struct process p;
    process_start(&p, "--drain-grace-ms", "60000", NULL);
    process_signal(&p, SIGTERM);
    cr_assert(!process_wait(&p, 0.2));
    process_signal(&p, SIGTERM);
    cr_assert(process_wait(&p, 2), "it is still there");
    cr_expect(p.status == 1, "exit status %d", p.status);
    process_remove(&p);
}

Test(life, a_stuck_reader_does_not_keep_the_server)
{
    /* Asks for much, reads nothing: the write never ends, the drain limit does. */
    struct process p;
    int small = 2048;
    process_start(&p, "--drain-limit-ms", "700", NULL);
    int fd = client_connect(p.port);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    for (int i = 0; i < 400; i++)
        client_sends(fd, "GET /openapi.json HTTP/1.1\r\nHost: test\r\n\r\n");
    usleep(200000);
    process_signal(&p, SIGTERM);
    cr_assert(process_wait(&p, 5), "the server waits for ever");
    cr_expect(p.status == 0);
    close(fd);
    process_remove(&p);
}

Test(life, a_second_server_on_the_same_database_refuses)
{
    struct process first, second;
    process_start(&first, NULL);
    process_start_beside(&second, &first, NULL);
    cr_assert(process_wait(&second, 10), "two servers write one database");
    cr_expect(second.status == 1, "exit status %d", second.status);
    expect_log(&second, "event=not_started");
    struct response r = client_ask(first.port, "GET", "/readyz", NULL, NULL);
    cr_expect(r.status == 200, "the first one suffers");
    response_done(&r);
    process_stop(&first);
}

Test(life, a_second_start_keeps_the_data)
{
    struct process p, again;
    process_start(&p, NULL);
    struct response r = client_ask(p.port, "GET", "/readyz", NULL, NULL), same;
    process_signal(&p, SIGTERM);
    cr_assert(process_wait(&p, 10) && p.status == 0);
    process_start_beside(&again, &p, NULL);
    char *out = NULL;
    for (int i = 0; i < 2000 && (out == NULL || strchr(out, '\n') == NULL); i++, usleep(2000)) {
        free(out);
        out = process_out(&again);
    }
    const char *colon = strstr(out, "http://127.0.0.1:");
    cr_assert(colon != NULL, "no second start: %s", process_log(&again));
    again.port = (int)strtol(colon + 17, NULL, 10);
    free(out);
    same = client_ask(again.port, "GET", "/readyz", NULL, NULL);
    cr_expect(r.status == 200 && same.status == 200 && strcmp(r.body, same.body) == 0, "%s then %s", r.body, same.body);
    response_done(&r);
    response_done(&same);
    process_stop(&again);
}

Test(life, the_socket_may_be_handed_over)
{
    /* systemd's way: descriptor 3 listens already. */
    struct process p = {0};
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 8) == 0);
    cr_assert(getsockname(fd, (struct sockaddr *)&at, &size) == 0);
    process_hand_over(fd);
    process_start(&p, NULL);
    close(fd);
    cr_expect(p.port == ntohs(at.sin_port), "port %d instead of the one handed over, %d", p.port, ntohs(at.sin_port));
    struct response r = client_ask(p.port, "GET", "/healthz", NULL, NULL);
    cr_expect(r.status == 200);
    response_done(&r);
    process_stop(&p);
}

Test(life, settings_are_checked_and_shown)
{
    static const struct {
        const char *environment, *flag, *value;
        int status;
        const char *says; /* on stderr, or on stdout where status is 0 */
    } cases[] = {
        {"SUANPAN_PROT=1", "--print-config", NULL, 2, "SUANPAN_PROT is no setting"},
        {"SUANPAN_PORT=x", "--print-config", NULL, 2, "SUANPAN_PORT needs a whole number"},
        {"SUANPAN_PORT=70000", "--print-config", NULL, 2, "SUANPAN_PORT needs a number from 0 to 65535"},
        {NULL, "--max-in-flight", "0", 2, "--max-in-flight needs a number from 1"},
        {NULL, "--max-in-fligth", "1", 2, "--max-in-fligth is no flag"},
        {NULL, "--log-level", "loud", 2, "log-level must be"},
        {"SUANPAN_MAX_IN_FLIGHT=7", "--print-config", NULL, 0, "max-in-flight = 7  # 1 to 10000: "},
        {"SUANPAN_PORT=9000", "--print-config", NULL, 0, "port = 9000  #"},
        {NULL, "--print-config", NULL, 0, "host = 127.0.0.1  #"},
        {NULL, "--host", "not an address", 1, "is no address to listen on"},
        {NULL, "--max-connections", "99999999", 2, "--max-connections needs"},
        {NULL, "--db", "/nonexistent/folder/x.db", 1, "event=not_started"},
        {"LISTEN_FDS=2", NULL, NULL, 1, "LISTEN_FDS must be 1"},
        {"LISTEN_FDS=1", NULL, NULL, 1, "descriptor 3 is no listening socket"},
    };
    struct process p = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        process_run(&p, cases[i].environment, "serve", "--db", p.db, cases[i].flag, cases[i].value, NULL);
        char *text = cases[i].status == 0 ? process_out(&p) : process_log(&p);
        cr_expect(p.status == cases[i].status, "case %zu: exit status %d: %s", i, p.status, text);
        cr_expect(strstr(text, cases[i].says) != NULL, "case %zu: %s", i, text);
        free(text);
    }
    process_remove(&p);
}

Test(life, too_few_open_files_are_refused_at_start)
{
    /* Better than a server that stops accepting at connection 200. */
    struct process p = {0};
    struct rlimit few = {.rlim_cur = 200, .rlim_max = 200};
    cr_assert(setrlimit(RLIMIT_NOFILE, &few) == 0);
    process_run(&p, NULL, "serve", "--port", "0", "--db", "/tmp/suanpan-http-few.db", NULL);
    cr_expect(p.status == 1, "exit status %d", p.status);
    expect_log(&p, "lower max-connections");
    process_remove(&p);
    process_start(&p, "--max-connections", "100", NULL);
    process_stop(&p);
}

Test(life, the_printed_command_can_be_pasted)
{
    struct process p;
    char command[1200], answer[65] = "";
    process_start(&p, NULL);
    char *out = process_out(&p), *line = strstr(out, "Try: ");
    cr_assert(line != NULL, "%s", out);
    snprintf(command, sizeof command, "%.*s | head -c 64", (int)strcspn(line + 5, "\n"), line + 5);
    FILE *shell = popen(command, "r");
    cr_assert(shell != NULL);
    answer[fread(answer, 1, sizeof answer - 1, shell)] = '\0';
    pclose(shell);
    cr_expect(strncmp(answer, "{\"plan_id\":\"pl_", 15) == 0, "%s gives %s", command, answer);
    free(out);
    process_stop(&p);
}

Test(life, a_taken_port_is_named)
{
    struct process first, second = {0};
    char port[8];
    process_start(&first, NULL);
    snprintf(port, sizeof port, "%d", first.port);
    process_run(&second, NULL, "serve", "--port", port, "--db", "/tmp/suanpan-http-never.db", NULL);
    cr_expect(second.status == 1);
    expect_log(&second, "is taken");
    unlink("/tmp/suanpan-http-never.db");
    process_remove(&second);
    process_stop(&first);
}

Test(life, commands_work_beside_a_serving_process)
{
    struct process p, run = {0};
    char copy[160];
    process_start(&p, NULL);
    snprintf(copy, sizeof copy, "%s/copy.db", p.folder);
    static const char *const sound = "sound; schema ";
    process_run(&run, NULL, "check", "--db", p.db, NULL);
    char *out = process_out(&run);
    cr_expect(run.status == 0 && strstr(out, sound) != NULL, "check: %d %s", run.status, out);
    free(out);
    process_run(&run, NULL, "backup", copy, "--db", p.db, NULL);
    cr_expect(run.status == 0, "backup: %d", run.status);
    process_run(&run, NULL, "check", "--db", copy, NULL);
    out = process_out(&run);
    cr_expect(run.status == 0 && strstr(out, sound) != NULL, "the backup is not sound: %s", out);
    free(out);
    process_run(&run, NULL, "plan", "examples/01-lora-7b.json", "--db", p.db, "--lang", "en", NULL);
    out = process_out(&run);
    cr_expect(run.status == 0 && strlen(out) > 200, "plan: %d %s", run.status, out);
    free(out);
    process_run(&run, NULL, "plan", "examples/01-lora-7b.json", "--json", "--db", "/nonexistent/x.db", NULL);
    out = process_out(&run);
    cr_expect(run.status == 0 && strstr(out, "\"plan_id\"") != NULL, "plan --json without a database: %d %s",
              run.status, out);
    free(out);
    process_run(&run, NULL, "plan", "/nonexistent.json", "--db", p.db, NULL);
    cr_expect(run.status == 1);
    const struct {
        const char *command, *file, *db;
    } bad[] = {{"check", NULL, "/nonexistent/x.db"},
               {"backup", "/nonexistent/copy.db", NULL},
               {"check", NULL, "README.md"},
               {"plan", "Makefile", NULL},
               {"backup", copy, "/nonexistent/x.db"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        process_run(&run, NULL, bad[i].command, "--db", bad[i].db != NULL ? bad[i].db : p.db, bad[i].file, NULL);
        out = process_log(&run);
        cr_expect(run.status == 1 && out[0] != '\0', "%s, case %zu: %d %s", bad[i].command, i, run.status, out);
        free(out);
    }
    process_run(&run, NULL, "version", NULL);
    out = process_out(&run);
    int schema = 0;
    cr_expect(run.status == 0 && sscanf(out, "suanpan: engine %*s schema %d", &schema) == 1 && schema >= 2, "%s", out);
    free(out);
    process_run(&run, NULL, "brew", NULL);
    cr_expect(run.status == 2);
    process_remove(&run);
    process_stop(&p);
}

Test(life, kill_9_loses_nothing)
{
    struct process p, again;
    process_start(&p, NULL);
    process_signal(&p, SIGKILL);
    cr_assert(process_wait(&p, 5));
    process_start_beside(&again, &p, NULL);
    char *out = NULL;
    for (int i = 0; i < 3000 && (out == NULL || strstr(out, "listens on") == NULL); i++, usleep(2000)) {
        free(out);
        out = process_out(&again);
    }
    cr_expect(strstr(out, "listens on") != NULL, "no start after kill -9: %s", process_log(&again));
    free(out);
    process_stop(&again);
}
