#include "frontend/editor_history.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { MOST_ENTRIES = 1000, LARGEST_FILE = 4 << 20, SHORTEN_ABOVE = 1 << 20 };

static const char *last_entries(const char *data, size_t length)
{
    size_t entries = 0;
    for (size_t i = length; i > 0; i--)
        if (data[i - 1] == '\n' && entries++ == MOST_ENTRIES)
            return data + i;
    return data;
}

/* In place. */
static void unescape(char *entry)
{
    char *out = entry;
    for (const char *in = entry; *in; in++) {
        if (*in == '\\' && in[1])
            *out++ = *++in == 'n' ? '\n' : *in;
        else
            *out++ = *in;
    }
    *out = '\0';
}

static bool write_whole(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, data, length);
        if (n <= 0)
            return false;
        data += n;
        length -= (size_t)n;
    }
    return true;
}

/* Another chat may append meanwhile: then its newest entry is lost, and no more. */
static void shorten(const char *path, const char *data, size_t length)
{
    struct text name = TEXT_INIT;
    text_printf(&name, "%s.%ld", path, (long)getpid());
    int fd = name.failed ? -1 : open(name.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) {
        bool written = write_whole(fd, data, length);
        if (close(fd) != 0 || !written || rename(name.data, path) != 0)
            unlink(name.data);
    }
    text_release(&name);
}

void editor_history_load(const char *path, void (*take)(void *data, const char *entry), void *data)
{
    struct text file = TEXT_INIT;
    struct error error;
    if (file_read(path, LARGEST_FILE, &file, &error) && file.length > 0) {
        const char *from = last_entries(file.data, file.length);
        if (file.length > SHORTEN_ABOVE)
            shorten(path, from, file.length - (size_t)(from - file.data));
        char *line = file.data + (from - file.data);
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            unescape(line);
            take(data, line);
        }
    }
    text_release(&file);
}

static void make_folders(const char *path)
{
    char folder[4096];
    size_t length = strlen(path);
    if (length >= sizeof(folder))
        return;
    memcpy(folder, path, length + 1);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(folder, 0700);
        *slash = '/';
    }
}

void editor_history_add(const char *path, const char *entry, size_t length)
{
    struct text line = TEXT_INIT;
    for (size_t i = 0; i < length; i++) {
        if (entry[i] == '\n' || entry[i] == '\\')
            text_putc(&line, '\\');
        text_putc(&line, entry[i] == '\n' ? 'n' : entry[i]);
    }
    text_putc(&line, '\n');
    make_folders(path);
    int fd = line.failed ? -1 : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0) {
        fchmod(fd, 0600);
        write_whole(fd, line.data, line.length); /* one write: entries do not mix */
        close(fd);
    }
    text_release(&line);
}
