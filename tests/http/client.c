/* client.c — see client.h. */
#include "tests/http/client.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/http/process.h"

int client_connect(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert(fd >= 0);
    cr_assert(connect(fd, (struct sockaddr *)&to, sizeof to) == 0, "port %d does not accept", port);
    return fd;
}

void client_send(int fd, const void *data, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t sent = send(fd, (const char *)data + done, n - done, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        done += (size_t)sent;
    }
}

void client_sends(int fd, const char *text)
{
    client_send(fd, text, strlen(text));
}

void client_reset(int fd)
{
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close(fd);
}

/* Up to n bytes by the deadline; 0 at the end of the stream, -1 on silence or an error. */
static ssize_t receive(int fd, void *to, size_t n, double deadline)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    double left = deadline - process_now();
    if (poll(&p, 1, left > 0 ? (int)(left * 1000) + 1 : 0) <= 0)
        return -1;
    return recv(fd, to, n, 0);
}

bool response_header(const struct response *r, const char *name, char *out, size_t size)
{
    for (const char *line = strstr(r->head, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
        line += 2;
        size_t n = strlen(name);
        if (strncasecmp(line, name, n) == 0 && line[n] == ':') {
            line += n + 1;
            line += strspn(line, " ");
            snprintf(out, size, "%.*s", (int)strcspn(line, "\r"), line);
            return true;
        }
    }
    return false;
}

struct response client_read(int fd, double seconds, bool head_only)
{
    struct response r = {0};
    double deadline = process_now() + seconds;
    char length[32];
    size_t n = 0;
    /* Byte by byte, so that what follows stays in the socket for the next call. */
    while (n < sizeof r.head - 1 && (n < 4 || memcmp(r.head + n - 4, "\r\n\r\n", 4) != 0)) {
        if (receive(fd, r.head + n, 1, deadline) != 1)
            return r;
        n++;
    }
    int status = 0;
    cr_assert(sscanf(r.head, "HTTP/1.%*c %d", &status) == 1, "no status line: %.60s", r.head);
    r.body_len =
        response_header(&r, "Content-Length", length, sizeof length) && !head_only ? strtoul(length, NULL, 10) : 0;
    r.body = calloc(1, r.body_len + 1);
    for (size_t got = 0; got < r.body_len;) {
        ssize_t part = receive(fd, r.body + got, r.body_len - got, deadline);
        if (part <= 0)
            return r;
        got += (size_t)part;
    }
    r.status = status;
    return r;
}

void response_done(struct response *r)
{
    free(r->body);
    r->body = NULL;
}

bool client_ended(int fd, double seconds)
{
    char byte;
    double deadline = process_now() + seconds;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, (int)((deadline - process_now()) * 1000)) <= 0)
        return false;
    return recv(fd, &byte, 1, 0) <= 0; /* the end, or a reset */
}

struct response client_ask(int port, const char *method, const char *path, const char *headers, const char *body)
{
    char head[4096];
    int fd = client_connect(port);
    snprintf(head, sizeof head, "%s %s HTTP/1.1\r\nHost: test\r\n%s", method, path, headers != NULL ? headers : "");
    client_sends(fd, head);
    if (body != NULL) {
        snprintf(head, sizeof head, "Content-Length: %zu\r\n", strlen(body));
        client_sends(fd, head);
    }
    client_sends(fd, "\r\n");
    if (body != NULL)
        client_sends(fd, body);
    struct response r = client_read(fd, 20, strcmp(method, "HEAD") == 0);
    close(fd);
    return r;
}

char *client_plan_request(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "examples/%s", name);
    FILE *f = fopen(path, "rb");
    cr_assert(f != NULL, "%s is missing", path);
    size_t size = 1 << 16, lead = strlen("{\"workload\":");
    char *text = calloc(1, size);
    memcpy(text, "{\"workload\":", lead);
    size_t n = fread(text + lead, 1, size - lead - 2, f);
    fclose(f);
    if (strstr(text + lead, "\"workload\"") != NULL)
        memmove(text, text + lead, n + 1);
    else
        text[lead + n] = '}';
    return text;
}

char *client_plan_bytes(const char *name, const char *headers)
{
    char *body = client_plan_request(name);
    size_t size = strlen(body) + 1024;
    char *bytes = malloc(size);
    snprintf(bytes, size,
             "POST /api/v1/plans HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n%sContent-Length: "
             "%zu\r\n\r\n%s",
             headers != NULL ? headers : "", strlen(body), body);
    free(body);
    return bytes;
}
