/* lockfile.h — one server per database file. */
#ifndef SUANPAN_DB_LOCKFILE_H
#define SUANPAN_DB_LOCKFILE_H

#include "base/err.h"

/* Takes DATABASE.lock with flock; the kernel gives it back when the process ends, however it ends. ERR_BUSY when
 * another process has it. The file stays behind: removing it would let two processes lock two different files. */
int lockfile_take(const char *database_path, int *ret_fd, struct err *err);
void lockfile_release(int fd); /* -1 is allowed */

#endif
