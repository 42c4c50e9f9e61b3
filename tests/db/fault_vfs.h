/* fault_vfs.h — a disk that can be made full, broken or unplugged, below SQLite.
 *
 * A shim over the default VFS. It counts writes and syncs of database and log files and can fail them from a given one
 * on; and it keeps, for every file, the bytes as of its last sync, which is what a power cut would leave at worst.
 */
#ifndef SUANPAN_TESTS_DB_FAULT_VFS_H
#define SUANPAN_TESTS_DB_FAULT_VFS_H

struct fault_vfs {
    int fail_after;     /* let so many writes and syncs pass, then fail with `code`; -1 = never */
    int code;           /* SQLITE_FULL, SQLITE_IOERR_WRITE, ... */
    int once;           /* only one failure */
    int failures;       /* that happened */
    int calls;          /* writes and syncs so far */
    int refuse_writers; /* opening for writing fails as on a read-only disk */
};

extern struct fault_vfs fault_vfs;

/* Becomes the default VFS of this process; call before anything is opened. */
void fault_vfs_install(void);

/* Writes what a power cut now would leave of `path` (only what was synced) to `to`. 0 = there was such a file. */
int fault_vfs_power_cut(const char *path, const char *to);

#endif
