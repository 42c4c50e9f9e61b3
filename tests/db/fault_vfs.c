/* fault_vfs.c — see fault_vfs.h. */
#include "tests/db/fault_vfs.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/db/scratch.h"

struct fault_vfs fault_vfs = {.fail_after = -1};

enum { IMAGES_MAX = 16 };

struct image { /* a file as of its last sync */
    char path[512];
    unsigned char *data;
    size_t n;
};

static struct image images[IMAGES_MAX];
static sqlite3_vfs *real;
static sqlite3_vfs shim;

struct shim_file {
    sqlite3_file base;
    char path[512];
    sqlite3_file *under; /* behind this struct */
};

static struct shim_file *of(sqlite3_file *f)
{
    return (struct shim_file *)f;
}

static int fault(void)
{
    struct fault_vfs *v = &fault_vfs;
    v->calls++;
    if (v->fail_after < 0 || v->calls <= v->fail_after || (v->once && v->failures > 0))
        return SQLITE_OK;
    v->failures++;
    return v->code;
}

static struct image *image_of(const char *path)
{
    for (int i = 0; i < IMAGES_MAX; i++)
        if (images[i].path[0] == '\0' || strcmp(images[i].path, path) == 0) {
            snprintf(images[i].path, sizeof images[i].path, "%s", path);
            return &images[i];
        }
    for (int i = 0; i < IMAGES_MAX; i++) /* of files long gone */
        free(images[i].data);
    memset(images, 0, sizeof images);
    return image_of(path);
}

static void remember(struct shim_file *f)
{
    sqlite3_int64 size = 0;
    struct image *image = image_of(f->path);
    f->under->pMethods->xFileSize(f->under, &size);
    image->data = realloc(image->data, (size_t)size + 1);
    image->n = (size_t)size;
    f->under->pMethods->xRead(f->under, image->data, (int)size, 0);
}

static int on_close(sqlite3_file *f)
{
    return of(f)->under->pMethods->xClose(of(f)->under);
}
static int on_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
    return of(f)->under->pMethods->xRead(of(f)->under, p, n, at);
}
static int on_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    int rc = fault();
    return rc ? rc : of(f)->under->pMethods->xWrite(of(f)->under, p, n, at);
}
static int on_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    return of(f)->under->pMethods->xTruncate(of(f)->under, size);
}
static int on_sync(sqlite3_file *f, int flags)
{
    int rc = fault();
    if (rc == SQLITE_OK)
        rc = of(f)->under->pMethods->xSync(of(f)->under, flags);
    if (rc == SQLITE_OK)
        remember(of(f));
    return rc;
}
static int on_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return of(f)->under->pMethods->xFileSize(of(f)->under, size);
}
static int on_lock(sqlite3_file *f, int level)
{
    return of(f)->under->pMethods->xLock(of(f)->under, level);
}
static int on_unlock(sqlite3_file *f, int level)
{
    return of(f)->under->pMethods->xUnlock(of(f)->under, level);
}
static int on_reserved(sqlite3_file *f, int *out)
{
    return of(f)->under->pMethods->xCheckReservedLock(of(f)->under, out);
}
static int on_control(sqlite3_file *f, int op, void *arg)
{
    return of(f)->under->pMethods->xFileControl(of(f)->under, op, arg);
}
static int on_sector(sqlite3_file *f)
{
    return of(f)->under->pMethods->xSectorSize(of(f)->under);
}
static int on_characteristics(sqlite3_file *f)
{
    return of(f)->under->pMethods->xDeviceCharacteristics(of(f)->under);
}
static int on_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
    return of(f)->under->pMethods->xShmMap(of(f)->under, page, size, extend, out);
}
static int on_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return of(f)->under->pMethods->xShmLock(of(f)->under, offset, n, flags);
}
static void on_shm_barrier(sqlite3_file *f)
{
    of(f)->under->pMethods->xShmBarrier(of(f)->under);
}
static int on_shm_unmap(sqlite3_file *f, int remove)
{
    return of(f)->under->pMethods->xShmUnmap(of(f)->under, remove);
}

static const sqlite3_io_methods methods = {2,
                                           on_close,
                                           on_read,
                                           on_write,
                                           on_truncate,
                                           on_sync,
                                           on_size,
                                           on_lock,
                                           on_unlock,
                                           on_reserved,
                                           on_control,
                                           on_sector,
                                           on_characteristics,
                                           on_shm_map,
                                           on_shm_lock,
                                           on_shm_barrier,
                                           on_shm_unmap,
                                           NULL,
                                           NULL};

static int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
    struct shim_file *s = of(f);
    (void)vfs;
    f->pMethods = NULL;
    if (fault_vfs.refuse_writers && (flags & SQLITE_OPEN_READWRITE))
        return SQLITE_CANTOPEN;
    s->under = (sqlite3_file *)(s + 1);
    snprintf(s->path, sizeof s->path, "%s", name ? name : "");
    int rc = real->xOpen(real, name, s->under, flags, out);
    if (s->under->pMethods)
        f->pMethods = &methods;
    return rc;
}

static int on_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    return real->xDelete(real, name, sync);
}

void fault_vfs_install(void)
{
    real = sqlite3_vfs_find(NULL);
    shim = *real;
    shim.zName = "fault";
    shim.szOsFile = (int)sizeof(struct shim_file) + real->szOsFile;
    shim.xOpen = on_open;
    shim.xDelete = on_delete;
    shim.pNext = NULL;
    sqlite3_vfs_register(&shim, 1);
}

int fault_vfs_power_cut(const char *path, const char *to)
{
    for (int i = 0; i < IMAGES_MAX; i++)
        if (strcmp(images[i].path, path) == 0) {
            scratch_write(to, images[i].data, images[i].n);
            return 0;
        }
    return -1;
}
