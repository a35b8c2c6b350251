#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK ((size_t)64 * 1024)

static bool cannot_read(const char *name, struct error *error)
{
    return error_set(error, ERROR_CONFIG, "cannot read '%s': %s", name, strerror(errno));
}

bool file_read(const char *path, size_t max, struct text *out, struct error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return cannot_read(path, error);
    bool good = file_read_fd(fd, path, max, out, error);
    close(fd);
    return good;
}

/* Room for what a regular file holds and the end of file behind it, so that it is read
 * without growing.  The size is a hint only: files grow, and those in /proc say 0. */
static void reserve_size(int fd, size_t max, struct text *out)
{
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        (uintmax_t)status.st_size <= max)
        text_reserve(out, (size_t)status.st_size + 1);
}

/* Like read(2), appending; out of memory is -1 too, with out->failed. */
static ssize_t read_some(int fd, struct text *out)
{
    ssize_t got;
    if (out->capacity - out->length < 2 && !text_reserve(out, CHUNK))
        return -1;
    do {
        got = read(fd, out->data + out->length, out->capacity - out->length - 1);
    } while (got < 0 && errno == EINTR);
    if (got > 0)
        out->length += (size_t)got;
    out->data[out->length] = '\0';
    return got;
}

bool file_read_fd(int fd, const char *name, size_t max, struct text *out, struct error *error)
{
    size_t start = out->length;
    ssize_t got;
    reserve_size(fd, max, out);
    do {
        got = read_some(fd, out);
    } while (got > 0 && out->length - start <= max);
    if (got == 0)
        return true;

    if (out->failed)
        error_memory(error);
    else if (got < 0)
        cannot_read(name, error);
    else
        error_set(error, ERROR_CONFIG, "cannot read '%s': larger than %zu bytes", name, max);
    out->length = start;
    if (out->data)
        out->data[start] = '\0';
    return false;
}

bool file_make_folders(char *path, struct error *error)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        int reason = errno;
        *slash = '/';
        if (!made)
            return error_set(error, ERROR_INTERNAL, "cannot make the folders of '%s': %s", path,
                             strerror(reason));
    }
    return true;
}

bool file_write_fd(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, data, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        data += n;
        length -= (size_t)n;
    }
    return true;
}
