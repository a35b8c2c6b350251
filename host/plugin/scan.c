#include "plugin/scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"

#define SUFFIX        ".so"
#define SUFFIX_LENGTH (sizeof(SUFFIX) - 1)

/* ---- trust ---- */

/* Of the group too: who is in it can change from one day to the next. */
static bool is_trusted(const struct stat *status, const char *path, struct error *error)
{
    if (status->st_uid != 0 && status->st_uid != geteuid())
        return error_set(error, ERROR_PLUGIN,
                         "it belongs to user %u, neither to root nor to you (user %u): copy it, or "
                         "change its owner",
                         (unsigned)status->st_uid, (unsigned)geteuid());
    if (status->st_mode & (S_IWGRP | S_IWOTH))
        return error_set(error, ERROR_PLUGIN, "%s can write it: run chmod go-w '%s'",
                         status->st_mode & S_IWOTH ? "everybody" : "its group", path);
    return true;
}

static bool cannot_open(const char *path, struct error *error)
{
    int reason = errno;
    char target[PATH_MAX];
    ssize_t length = reason == ENOENT ? readlink(path, target, sizeof(target) - 1) : -1;
    if (length < 0)
        return error_set(error, ERROR_PLUGIN, "it cannot be opened: %s", strerror(reason));
    target[length] = '\0';
    return error_set(error, ERROR_PLUGIN,
                     "it is a link to '%.500s', which does not exist: remove or mend the link",
                     target);
}

int scan_open(const char *path, struct file_id *id, struct error *error)
{
    /* O_NONBLOCK: a named pipe would wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        cannot_open(path, error);
        return -1;
    }
    struct stat status;
    bool good;
    if (fstat(fd, &status) < 0)
        good = cannot_open(path, error);
    else if (!S_ISREG(status.st_mode))
        good = error_set(error, ERROR_PLUGIN, "it is %s, no regular file",
                         S_ISDIR(status.st_mode) ? "a folder" : "a device or a pipe");
    else
        good = is_trusted(&status, path, error);
    if (good && id)
        *id = file_id_of(&status);
    if (good)
        return fd;
    close(fd);
    return -1;
}

/* ---- folders ---- */

struct candidates {
    char **items;
    size_t count, capacity;
};

struct scan {
    const char *folder;
    int fd;
    struct candidates candidates; /* relative to the folder */
    scan_refused *refused;
    void *context;
    bool no_memory;
};

static bool join(struct text *path, const char *folder, const char *name)
{
    size_t length = strlen(folder);
    text_puts(path, folder);
    text_puts(path, length && folder[length - 1] == '/' ? "" : "/");
    text_puts(path, name);
    return !path->failed;
}

/* Takes over `name`. */
static void add(struct scan *scan, char *name)
{
    if (name && array_reserve(&scan->candidates, 1)) {
        scan->candidates.items[scan->candidates.count++] = name;
        return;
    }
    free(name);
    scan->no_memory = true;
}

/* An open folder that may be looked into, or -1. */
static int open_trusted(int at, const char *name, const char *path, struct error *error)
{
    struct stat status;
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0) {
        if (is_trusted(&status, path, error))
            return fd;
    } else {
        cannot_open(path, error);
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

/* NAME/NAME.so; a folder without it is none of ours, and nothing is said of it. */
static void look_into(struct scan *scan, const char *name)
{
    struct text inner = TEXT_INIT, path = TEXT_INIT;
    struct stat status;
    text_printf(&inner, "%s/%s" SUFFIX, name, name);
    if (inner.failed || !join(&path, scan->folder, name)) {
        scan->no_memory = true;
    } else if (fstatat(scan->fd, inner.data, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        struct error error = ERROR_INIT;
        int fd = open_trusted(scan->fd, name, path.data, &error);
        if (fd >= 0) {
            close(fd);
            add(scan, text_take(&inner, NULL));
        } else {
            scan->refused(scan->context, path.data, error.message);
        }
    }
    text_release(&inner);
    text_release(&path);
}

static bool is_folder(const struct scan *scan, const struct dirent *entry)
{
    struct stat status;
    if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK)
        return entry->d_type == DT_DIR;
    return fstatat(scan->fd, entry->d_name, &status, 0) == 0 && S_ISDIR(status.st_mode);
}

static void look_at(struct scan *scan, const struct dirent *entry)
{
    const char *name = entry->d_name;
    size_t length = strlen(name);
    if (name[0] == '.')
        return;
    if (is_folder(scan, entry))
        look_into(scan, name);
    else if (length > SUFFIX_LENGTH && strcmp(name + length - SUFFIX_LENGTH, SUFFIX) == 0)
        add(scan, strdup(name));
}

static int compare_names(const void *left, const void *right)
{
    char *const *a = left, *const *b = right;
    return strcmp(*a, *b);
}

static void report(struct scan *scan, scan_found *found)
{
    struct candidates *candidates = &scan->candidates;
    if (candidates->count)
        qsort(candidates->items, candidates->count, sizeof(char *), compare_names);
    for (size_t i = 0; i < candidates->count; i++) {
        struct text path = TEXT_INIT;
        if (join(&path, scan->folder, candidates->items[i]))
            found(scan->context, path.data);
        else
            scan->no_memory = true;
        text_release(&path);
        free(candidates->items[i]);
    }
    free(candidates->items);
}

void scan_folder(const char *folder, bool optional, scan_found *found, scan_refused *refused,
                 void *context)
{
    struct scan scan = {.folder = folder, .refused = refused, .context = context};
    struct error error = ERROR_INIT;
    scan.fd = open_trusted(AT_FDCWD, folder, folder, &error);
    if (scan.fd < 0) {
        if (!optional || access(folder, F_OK) == 0 || errno != ENOENT)
            refused(context, folder, error.message);
        return;
    }
    DIR *stream = fdopendir(scan.fd); /* owns the descriptor from here on */
    if (!stream) {
        close(scan.fd);
        refused(context, folder, "it cannot be read: out of memory");
        return;
    }
    for (const struct dirent *entry; (entry = readdir(stream));)
        look_at(&scan, entry);
    report(&scan, found);
    closedir(stream);
    if (scan.no_memory)
        refused(context, folder, "not all of it was looked at: out of memory");
}
