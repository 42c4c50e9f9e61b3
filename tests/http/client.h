/* client.h — HTTP by hand over a raw socket: what a test sends is exactly what goes out. */
#ifndef SUANPAN_TESTS_HTTP_CLIENT_H
#define SUANPAN_TESTS_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

struct response {
    int status;      /* 0: the connection ended, or was silent, before a whole response */
    char head[8192]; /* status line and headers */
    char *body;
    size_t body_len;
};

int client_connect(int port);
void client_send(int fd, const void *data, size_t n); /* a closed peer is no failure here */
void client_sends(int fd, const char *text);
void client_reset(int fd); /* closes with RST */

/* Reads one response (of a HEAD request: `head_only`). Waits at most `seconds` for it. */
struct response client_read(int fd, double seconds, bool head_only);
void response_done(struct response *r);
/* True when the peer closes within `seconds` and sends nothing more. */
bool client_ended(int fd, double seconds);
/* The value of a header, copied into out; false when absent. */
bool response_header(const struct response *r, const char *name, char *out, size_t size);

/* One request on one connection: "GET /path" plus header lines (each ended by CRLF) and a body. */
struct response client_ask(int port, const char *method, const char *path, const char *headers, const char *body);
/* The JSON of examples/NAME as a plan request's text; free it. */
char *client_plan_request(const char *name);
/* POST /api/v1/plans with that body, as bytes to send; free it. */
char *client_plan_bytes(const char *name, const char *headers);

#endif
