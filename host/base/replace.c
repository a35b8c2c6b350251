#include "base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

enum { LOCK_TRIES = 500, LOCK_WAIT_NS = 10000000 };

static char *beside(const char *file, const char *ending)
{
    struct text name = TEXT_INIT;
    text_printf(&name, "%s%s", file, ending);
    return text_take(&name, NULL);
}

/* A file of its own, for the other one is replaced. */
int replace_lock(const char *file, struct error *error)
{
    char *path = beside(file, ".lock");
    if (!path || !file_make_folders(path, error)) {
        if (!path)
            error_memory(error);
        free(path);
        return -1;
    }
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    bool locked = false;
    for (int i = 0; fd >= 0 && !locked && i < LOCK_TRIES; i++) {
        locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (!locked && errno != EWOULDBLOCK && errno != EINTR)
            break;
        if (!locked)
            nanosleep(&(struct timespec){.tv_nsec = LOCK_WAIT_NS}, NULL);
    }
    if (!locked)
        error_set(error, ERROR_CONFIG, "cannot lock '%s': %s", path,
                  errno == EWOULDBLOCK ? "another program has it: try again" : strerror(errno));
    if (!locked && fd >= 0) {
        close(fd);
        fd = -1;
    }
    free(path);
    return fd;
}

static bool cannot_write(struct error *error)
{
    return error_set(error, ERROR_CONFIG, "it cannot be written: %s", strerror(errno));
}

bool replace_file(const char *file, const char *data, size_t length, struct error *error)
{
    char *next = beside(file, ".new");
    bool ok = next || error_memory(error);
    if (ok && unlink(next) != 0 && errno != ENOENT)
        ok = cannot_write(error);
    int fd = ok ? open(next, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    if (ok && (fd < 0 || !file_write_fd(fd, data, length) || fsync(fd) != 0))
        ok = cannot_write(error);
    if (fd >= 0 && close(fd) != 0 && ok)
        ok = cannot_write(error);
    if (ok && rename(next, file) != 0)
        ok = cannot_write(error);
    if (!ok && fd >= 0)
        unlink(next);
    free(next);
    return ok;
}
