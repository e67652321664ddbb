/* Preloaded into a broker: the system says EIO to one operation on what lies below one directory.
 *
 * The file that FAILING_DISK names tells which, "fsync /a/directory"; while it is not there the disk is well. With
 * "slow /a/directory" each operation takes long, as on a disk that others keep busy, and none fails.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLOW_FSYNC_US 500000
#define SLOW_OTHER_US 3000

static int fails(const char *operation, const char *path)
{
    const char *order = getenv("FAILING_DISK");
    char told[PATH_MAX + 16];
    long fd, size;
    size_t length = strlen(operation);

    if (order == NULL || (fd = syscall(SYS_openat, AT_FDCWD, order, O_RDONLY | O_CLOEXEC)) < 0)
        return 0;
    size = syscall(SYS_read, fd, told, sizeof told - 1);
    syscall(SYS_close, fd);
    if (size <= (long)length + 1)
        return 0;
    told[size] = '\0';
    if (strncmp(told, "slow ", 5) == 0) {
        if (strncmp(path, told + 5, size - 5) == 0)
            usleep(strcmp(operation, "fsync") == 0 ? SLOW_FSYNC_US : SLOW_OTHER_US);
        return 0;
    }
    if (strncmp(told, operation, length) != 0 || told[length] != ' ')
        return 0;
    if (strncmp(path, told + length + 1, size - length - 1) != 0)
        return 0;
    errno = EIO;
    return 1;
}

static int fails_on(const char *operation, int fd)
{
    char link[40], path[PATH_MAX];
    ssize_t size;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    size = readlink(link, path, sizeof path - 1);
    if (size < 0)
        return 0;
    path[size] = '\0';
    return fails(operation, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    return fails_on("write", fd) ? -1 : REAL(pwrite)(fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
    return fails_on("write", fd) ? -1 : REAL(pwrite64)(fd, data, size, at);
}

int fsync(int fd)
{
    return fails_on("fsync", fd) ? -1 : REAL(fsync)(fd);
}

int rename(const char *from, const char *to)
{
    return fails("rename", from) ? -1 : REAL(rename)(from, to);
}
