/* listen.c — see listen.h. Our own socket, so that backlog, close-on-exec and hand-over are ours too. */
#include "server/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define INHERITED_FD 3
#define FILES_BESIDES 64 /* database, event loop, logs */

int listen_is_loopback(const char *host)
{
    return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0 || strcmp(host, "localhost") == 0;
}

void listen_forbid_cores(void)
{
    const struct rlimit none = {0};
    (void)setrlimit(RLIMIT_CORE, &none); /* lowering cannot fail */
}

static int bound_port(int fd, int *ret, struct err *err)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    char service[16];
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0 ||
        getnameinfo((struct sockaddr *)&address, size, NULL, 0, service, sizeof service, NI_NUMERICSERV) != 0)
        return err_set(err, ERR_IO, "the listening socket has no address");
    *ret = (int)strtol(service, NULL, 10);
    return 0;
}

static int inherited(int *ret_fd, struct err *err)
{
    const char *count = getenv("LISTEN_FDS"), *pid = getenv("LISTEN_PID");
    int accepting = 0;
    socklen_t size = sizeof accepting;
    if (count == NULL || (pid != NULL && strtol(pid, NULL, 10) != (long)getpid())) {
        *ret_fd = -1;
        return 0;
    }
    if (strcmp(count, "1") != 0)
        return err_set(err, ERR_INVALID, "LISTEN_FDS must be 1");
    if (getsockopt(INHERITED_FD, SOL_SOCKET, SO_ACCEPTCONN, &accepting, &size) != 0 || accepting != 1)
        return err_set(err, ERR_INVALID, "descriptor 3 is no listening socket, though LISTEN_FDS says so");
    if (fcntl(INHERITED_FD, F_SETFD, FD_CLOEXEC) != 0 || fcntl(INHERITED_FD, F_SETFL, O_NONBLOCK) != 0)
        return err_set(err, ERR_IO, "descriptor 3 cannot be set up: errno %d", errno);
    *ret_fd = INHERITED_FD;
    return 0;
}

static int bind_one(const struct addrinfo *address, int backlog, int *ret_fd)
{
    int on = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(fd, address->ai_addr, address->ai_addrlen) != 0 || listen(fd, backlog) != 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    *ret_fd = fd;
    return 0;
}

int listen_open(const char *host, int64_t port, int64_t backlog, int *ret_fd, int *ret_port, struct err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *list = NULL;
    char service[16];
    int fd = -1, failure = 0;
    if (inherited(&fd, err) != 0)
        return -1;
    if (fd < 0) {
        snprintf(service, sizeof service, "%d", (int)port);
        if (getaddrinfo(host, service, &hints, &list) != 0)
            return err_at(err, ERR_INVALID, host, "is no address to listen on");
        for (const struct addrinfo *a = list; a != NULL && fd < 0; a = a->ai_next)
            if (bind_one(a, (int)backlog, &fd) != 0)
                failure = errno;
        freeaddrinfo(list);
    }
    if (fd < 0)
        return failure == EADDRINUSE
                   ? err_at(err, ERR_CONFLICT, host, "port %d is taken; choose another with --port", (int)port)
                   : err_at(err, ERR_IO, host, "cannot listen on port %d: errno %d", (int)port, failure);
    if (bound_port(fd, ret_port, err) != 0) {
        close(fd);
        return -1;
    }
    *ret_fd = fd;
    return 0;
}

int listen_raise_files(int64_t connections, struct err *err)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)connections + FILES_BESIDES;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return err_set(err, ERR_IO, "RLIMIT_NOFILE cannot be read");
    if (limit.rlim_cur >= wanted)
        return 0;
    if (limit.rlim_max < wanted)
        return err_set(err, ERR_LIMIT,
                       "%lld connections need %llu open files, but only %llu are allowed: lower max-connections",
                       (long long)connections, (unsigned long long)wanted, (unsigned long long)limit.rlim_max);
    limit.rlim_cur = wanted;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? 0 : err_set(err, ERR_IO, "RLIMIT_NOFILE cannot be raised");
}
