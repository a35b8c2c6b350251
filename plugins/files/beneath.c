#include "beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* As many as the kernel allows. */
#define LINKS_MOST 40
/* Folders on the way, without openat2: each is a descriptor while it is gone. */
#define DEPTH_MOST 128
/* Somebody renames folders while ".." of a link is followed: the kernel says so, and it is tried
 * again. */
#define TRIES      64

#define NO_FOLLOW  (O_NOFOLLOW | O_CLOEXEC | O_NOCTTY)

/* ---- name by name ------------------------------------------------------------------------- */

struct way {
    int root;
    int stack[DEPTH_MOST]; /* the folders below the root that are open */
    size_t depth;
    char rest[2 * PATH_MAX]; /* what is still to go */
    int links;
};

static int top(const struct way *way)
{
    return way->depth ? way->stack[way->depth - 1] : way->root;
}

static void leave(struct way *way, size_t depth)
{
    while (way->depth > depth)
        close(way->stack[--way->depth]);
}

/* Cuts the next name off `rest`; false: there is none. */
static bool next_name(struct way *way, char name[NAME_MAX + 1], int *error)
{
    char *at = way->rest + strspn(way->rest, "/");
    size_t length = strcspn(at, "/");
    *error = length > NAME_MAX ? ENAMETOOLONG : 0;
    if (!length || *error)
        return false;
    memcpy(name, at, length);
    name[length] = '\0';
    at += length;
    memmove(way->rest, at, strlen(at) + 1);
    return true;
}

static bool is_last(const struct way *way)
{
    return way->rest[strspn(way->rest, "/")] == '\0';
}

/* Puts the target of the link in the place of its name; 0 or an errno. */
static int follow(struct way *way, int link)
{
    char target[PATH_MAX];
    ssize_t length = readlinkat(link, "", target, sizeof(target));
    size_t rest = strlen(way->rest);
    if (length < 0)
        return errno;
    if (++way->links > LINKS_MOST)
        return ELOOP;
    if (length == 0 || target[0] == '/')
        return EXDEV;
    if ((size_t)length >= sizeof(target) || (size_t)length + rest + 2 > sizeof(way->rest))
        return ENAMETOOLONG;
    memmove(way->rest + length + 1, way->rest, rest + 1);
    memcpy(way->rest, target, (size_t)length);
    way->rest[length] = '/';
    return 0;
}

static int push(struct way *way, int folder)
{
    if (way->depth == DEPTH_MOST) {
        close(folder);
        return ENAMETOOLONG;
    }
    way->stack[way->depth++] = folder;
    return 0;
}

/* One name: 0, with the descriptor in *fd if it was the last; or an errno. */
static int step(struct way *way, const char *name, int flags, int *fd)
{
    struct stat status;
    if (strcmp(name, ".") == 0)
        return 0;
    if (strcmp(name, "..") == 0) {
        if (!way->depth)
            return EXDEV;
        leave(way, way->depth - 1);
        return 0;
    }
    int at = openat(top(way), name, O_PATH | NO_FOLLOW);
    if (at < 0 || fstat(at, &status) != 0) {
        int error = errno;
        if (at >= 0)
            close(at);
        return error;
    }
    if (S_ISLNK(status.st_mode)) {
        int error = follow(way, at);
        close(at);
        return error;
    }
    if (!is_last(way) || S_ISDIR(status.st_mode))
        return push(way, at);
    close(at);
    *fd = openat(top(way), name, flags | NO_FOLLOW);
    return *fd < 0 ? errno : 0;
}

static int open_by_names(int root, const char *path, int flags)
{
    struct way way = {.root = root};
    char name[NAME_MAX + 1];
    int error = 0, fd = -1;
    size_t length = strlen(path);
    if (path[0] == '/' || length == 0 || length >= PATH_MAX) {
        errno = path[0] == '/' ? EXDEV : length ? ENAMETOOLONG : ENOENT;
        return -1;
    }
    memcpy(way.rest, path, length + 1);
    while (!error && fd < 0 && next_name(&way, name, &error))
        error = step(&way, name, flags, &fd);
    if (!error && fd < 0) { /* it ended at a folder */
        fd = openat(top(&way), ".", flags | NO_FOLLOW);
        error = fd < 0 ? errno : 0;
    }
    leave(&way, 0);
    errno = error;
    return fd;
}

/* ---- with the kernel ---------------------------------------------------------------------- */

int beneath_open(int root, const char *path, int flags)
{
    static atomic_bool is_missing; /* of the process and its kernel, not of the plugin's state */
    struct open_how how = {
        .flags = (unsigned)(flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NOCTTY)), /* it is strict */
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    for (int i = 0; i < TRIES && !atomic_load(&is_missing); i++) {
        long fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
        if (fd >= 0 || (errno != ENOSYS && errno != EAGAIN && errno != EPERM))
            return (int)fd;
        if (errno == ENOSYS)
            atomic_store(&is_missing, true);
        else if (errno ==
                 EPERM) /* of the file, or a sandbox forbids the call: the other way tells */
            break;
    }
    return open_by_names(root, path, flags);
}

/* ---- what kind it is ------------------------------------------------------------------------ */

/* File systems whose files are the kernel, not data. */
static bool is_kernels(int fd)
{
    static const uint32_t magic[] = {
        PROC_SUPER_MAGIC,   SYSFS_MAGIC,         DEBUGFS_MAGIC, TRACEFS_MAGIC,  SECURITYFS_MAGIC,
        CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,  BINFMTFS_MAGIC, NSFS_MAGIC,
        EFIVARFS_MAGIC,     DEVPTS_SUPER_MAGIC,  SELINUX_MAGIC, SMACK_MAGIC,    PSTOREFS_MAGIC};
    struct statfs status;
    if (fstatfs(fd, &status) != 0)
        return true;
    for (size_t i = 0; i < sizeof(magic) / sizeof(magic[0]); i++)
        if ((uint32_t)status.f_type == magic[i])
            return true;
    return false;
}

/* 0, or why it is not read. */
static int refuse(int fd, const struct stat *status, uid_t owner)
{
    if (S_ISDIR(status->st_mode))
        return EISDIR;
    if (S_ISLNK(status->st_mode))
        return ELOOP;
    if (!S_ISREG(status->st_mode) || is_kernels(fd))
        return EMEDIUMTYPE;
    if (status->st_nlink > 1 && status->st_uid != geteuid() && status->st_uid != owner)
        return EMLINK;
    return 0;
}

static int keep_or_close(int fd, int error)
{
    if (!error)
        return fd;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

/* Opening a device or a pipe can do something, so what it is is asked before (O_PATH), and again of
 * what was opened. */
static int open_asked(int folder, const char *name, uid_t owner, struct stat *status,
                      int (*open_one)(int, const char *, int))
{
    struct stat before;
    int fd = open_one(folder, name, O_PATH);
    int error = fd < 0 || fstat(fd, &before) != 0 ? errno : refuse(fd, &before, owner);
    if (fd >= 0)
        close(fd);
    if (error)
        return keep_or_close(-1, error);
    fd = open_one(folder, name, O_RDONLY | O_NONBLOCK);
    error = fd < 0 || fstat(fd, status) != 0 ? errno : refuse(fd, status, owner);
    return keep_or_close(fd, error);
}

static int open_here(int folder, const char *name, int flags)
{
    return openat(folder, name, flags | NO_FOLLOW);
}

int beneath_open_entry(int folder, const char *name, uid_t owner, struct stat *status)
{
    return open_asked(folder, name, owner, status, open_here);
}

int beneath_open_regular(int root, const char *path, struct stat *status)
{
    struct stat own;
    if (fstat(root, &own) != 0)
        return -1;
    return open_asked(root, path, own.st_uid, status, beneath_open);
}

static int check_folder(int fd)
{
    return keep_or_close(fd, fd < 0 ? errno : is_kernels(fd) ? EMEDIUMTYPE : 0);
}

int beneath_open_folder(int root, const char *path)
{
    return check_folder(beneath_open(root, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK));
}

int beneath_open_subfolder(int folder, const char *name)
{
    return check_folder(openat(folder, name, O_RDONLY | O_DIRECTORY | O_NONBLOCK | NO_FOLLOW));
}
