#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What others could do with it, or NULL.  In a folder such as /tmp they cannot touch what is
 * not theirs. */
static const char *find_danger(const struct stat *status)
{
    if (status->st_uid != 0 && status->st_uid != geteuid())
        return "belongs to somebody else";
    if ((status->st_mode & (S_IWGRP | S_IWOTH)) &&
        !(S_ISDIR(status->st_mode) && (status->st_mode & S_ISVTX)))
        return "can be written by others";
    return NULL;
}

/* Whether the folders above `path`, which is cut at each of them, are safe. */
static bool folders_are_safe(char *path, char *why, size_t why_size)
{
    struct stat status;
    char *slash;
    while ((slash = strrchr(path, '/'))) {
        *slash = '\0';
        const char *folder = *path ? path : "/";
        const char *danger = stat(folder, &status) != 0 ? strerror(errno) : find_danger(&status);
        if (danger) {
            snprintf(why, why_size, "its folder '%s' %s", folder, danger);
            return false;
        }
    }
    return true;
}

static char *read_all(int fd, size_t *length)
{
    char *text = malloc(FILE_MAX_BYTES + 1);
    ssize_t n = 1;
    *length = 0;
    while (text && *length <= FILE_MAX_BYTES && n != 0) {
        n = read(fd, text + *length, FILE_MAX_BYTES + 1 - *length);
        if (n < 0 && errno != EINTR) {
            free(text);
            return NULL;
        }
        *length += n > 0 ? (size_t)n : 0;
    }
    return text;
}

char *file_read_trusted(const char *path, size_t *length, char *why, size_t why_size)
{
    char real[PATH_MAX], named[PATH_MAX], *text = NULL;
    struct stat status;
    int fd = realpath(path, real)
                 ? open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)
                 : -1;
    if (fd < 0 || fstat(fd, &status) != 0) {
        int error = errno;
        snprintf(why, why_size, "%s", strerror(error));
        if (fd >= 0)
            close(fd);
        errno = error;
        return NULL;
    }
    const char *danger = S_ISREG(status.st_mode) ? find_danger(&status) : "is no regular file";
    if (danger) {
        snprintf(why, why_size, "it %s", danger);
    } else if (snprintf(named, sizeof(named), "%s", path) < PATH_MAX && /* may be a link */
               folders_are_safe(named, why, why_size) && folders_are_safe(real, why, why_size)) {
        text = read_all(fd, length);
        if (!text)
            snprintf(why, why_size, "%s", strerror(errno));
    }
    close(fd);
    if (text && *length > FILE_MAX_BYTES) {
        snprintf(why, why_size, "it has more than %d bytes", FILE_MAX_BYTES);
        free(text);
        text = NULL;
    }
    errno = EPERM;
    return text;
}
