#include "service/artifacts.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { MAX_NAME_BYTES = 100, MAX_TRIES = 1000 };

/* One component of a path, whatever the name was. */
static void append_component(struct text *path, const char *name)
{
    size_t length = strnlen(name, MAX_NAME_BYTES);
    text_putc(path, '/');
    for (size_t i = 0; i < length; i++) {
        bool plain = isalnum((unsigned char)name[i]) || strchr("_-", name[i]) ||
                     (name[i] == '.' && i > 0);
        text_putc(path, plain ? name[i] : '_');
    }
    if (length == 0)
        text_putc(path, '_');
}

/* A file that did not exist before; the path ends in its number if it needed one. */
static int create_file(struct text *path)
{
    size_t length = path->length;
    for (int number = 1; number <= MAX_TRIES && !path->failed; number++) {
        int fd = open(path->data, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
        path->length = length;
        text_printf(path, ".%d", number);
    }
    return -1;
}

bool artifacts_save(const struct artifacts *store, const char *owner, const char *name,
                    const char *data, size_t length, struct text *path, struct error *error)
{
    text_reset(path);
    text_puts(path, store->folder);
    append_component(path, owner);
    append_component(path, name);
    if (path->failed)
        return error_memory(error);
    if (!file_make_folders(path->data, error))
        return false;
    int fd = create_file(path);
    bool ok = fd >= 0 && file_write_fd(fd, data, length);
    int reason = errno;
    if (fd >= 0 && close(fd) != 0 && ok) {
        ok = false;
        reason = errno;
    }
    if (ok)
        return true;
    if (fd >= 0)
        unlink(path->data);
    return error_set(error, ERROR_INTERNAL, "cannot write '%s': %s", text_cstr(path),
                     strerror(reason));
}
