/* lockfile.c — see lockfile.h. */
#include "db/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

static int write_owner(int fd)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    return ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n, 0) == n ? 0 : -1;
}

int lockfile_take(const char *database_path, int *ret_fd, struct err *err)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s.lock", database_path) >= sizeof path)
        return err_set(err, ERR_RANGE, "the database path is too long");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_set(err, ERR_IO, "cannot open the lock file (errno %d)", errno);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        char owner[16] = "";
        ssize_t n = errno == EWOULDBLOCK ? pread(fd, owner, sizeof owner - 1, 0) : -1;
        int busy = n >= 0;
        close(fd);
        for (ssize_t i = 0; i < n; i++)
            if (owner[i] < '0' || owner[i] > '9')
                owner[i] = '\0';
        return busy ? err_set(err, ERR_BUSY, "the database is in use by process %s", owner[0] ? owner : "(unknown)")
                    : err_set(err, ERR_IO, "cannot lock the lock file");
    }
    if (write_owner(fd) != 0) {
        int cause = errno;
        close(fd);
        return err_set(err, cause == ENOSPC ? ERR_FULL : ERR_IO, "cannot write the lock file (errno %d)", cause);
    }
    *ret_fd = fd;
    return 0;
}

void lockfile_release(int fd)
{
    if (fd >= 0)
        close(fd);
}
