/* test_framing.c — the framing table: raw requests as files (tests/http/framing), what each must be answered, and
 * whether the connection may live on. What libmicrohttpd 0.9.75 lets through must stop at the header guard; what
 * cannot be seen from a handler is listed as such. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/http/client.h"
#include "tests/http/process.h"

static void send_file(int fd, const char *name)
{
    char path[160], *bytes = malloc(1 << 17);
    snprintf(path, sizeof path, "tests/http/framing/%s.http", name);
    FILE *f = fopen(path, "rb");
    cr_assert(f != NULL, "%s is missing", path);
    size_t n = fread(bytes, 1, 1 << 17, f);
    fclose(f);
    client_send(fd, bytes, n);
    free(bytes);
}

/* "200 400" of what came; stops at silence or the end. */
static void statuses(int fd, size_t expected, char *out, size_t size)
{
    size_t n = 0;
    snprintf(out, size, "-");
    for (size_t i = 0; i <= expected; i++) {
        /* One more than expected is waited for only briefly: it must not come. */
        struct response r = client_read(fd, i < expected ? 5 : 0.05, false);
        if (r.status != 0)
            n += (size_t)snprintf(out + n, size - n, "%s%d", n > 0 ? " " : "", r.status);
        bool ended = r.status == 0;
        response_done(&r);
        if (ended)
            break;
    }
}

Test(framing, every_row_is_answered_as_listed)
{
    struct process p;
    char line[512];
    size_t rows = 0;
    process_start(&p, "--workers", "1", NULL);
    FILE *f = fopen("tests/http/framing/cases.txt", "r");
    cr_assert(f != NULL);
    while (fgets(line, sizeof line, f) != NULL) {
        char name[64], wanted[64], ends[8], got[64];
        if (line[0] == '#')
            continue;
        cr_assert(sscanf(line, "%63[^ |] | %63[^|]| %7s", name, wanted, ends) == 3, "bad row: %s", line);
        wanted[strlen(wanted) - 1] = '\0';
        size_t expected = strcmp(wanted, "-") == 0 ? 0 : 1;
        for (const char *c = wanted; *c != '\0'; c++)
            expected += *c == ' ';
        int fd = client_connect(p.port);
        send_file(fd, name);
        statuses(fd, expected, got, sizeof got);
        cr_expect(strcmp(got, wanted) == 0, "%s: answered %s, not %s", name, got, wanted);
        bool ended = client_ended(fd, strcmp(ends, "yes") == 0 ? 2 : 0.02);
        cr_expect(ended == (strcmp(ends, "yes") == 0), "%s: the connection %s", name, ended ? "ends" : "lives on");
        close(fd);
        rows++;
    }
    fclose(f);
    cr_assert(rows > 40);
    struct response r = client_ask(p.port, "GET", "/healthz", NULL, NULL);
    cr_assert(r.status == 200, "the server is no longer well");
    response_done(&r);
    process_stop(&p);
}
