/* listen.h — the listening socket and the limits it depends on. */
#ifndef SUANPAN_SERVER_LISTEN_H
#define SUANPAN_SERVER_LISTEN_H

#include <stdint.h>

#include "base/err.h"

/* Takes over the socket of a service manager (LISTEN_FDS=1, descriptor 3) or binds host:port. The descriptor is
 * non-blocking and close-on-exec; *ret_port is the one really bound. */
int listen_open(const char *host, int64_t port, int64_t backlog, int *ret_fd, int *ret_port, struct err *err);

/* Raises RLIMIT_NOFILE to what `connections` need. ERR_LIMIT when the hard limit is lower. */
int listen_raise_files(int64_t connections, struct err *err);

/* No core dumps: they would hold what customers sent. Their loss is made up for by the sanitizer builds. */
void listen_forbid_cores(void);

/* 1 for 127.0.0.0/8, ::1 and localhost. */
int listen_is_loopback(const char *host);

#endif
