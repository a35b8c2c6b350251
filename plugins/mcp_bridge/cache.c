#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mortise/json.h>

#include "buffer.h"

enum { FORMAT = 1 };

/* ---- places ---- */

static void put_folder(struct buffer *out)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/')
        buffer_printf(out, "%s/mortise/mcp", cache);
    else if (home && home[0] == '/')
        buffer_printf(out, "%s/.cache/mortise/mcp", home);
    else
        out->failed = true;
}

/* Its path, malloc'ed; NULL: there is no place for it. */
static char *path_of(const char *key)
{
    struct buffer path = BUFFER_INIT;
    put_folder(&path);
    buffer_printf(&path, "/%s.json", key);
    return buffer_take(&path);
}

static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700); /* that it failed shows when the file is made */
        *slash = '/';
    }
}

/* ---- reading ---- */

static char *read_file(const char *path)
{
    struct stat status;
    char *text = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    bool is_ours = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                   status.st_uid == geteuid() && !(status.st_mode & (S_IWGRP | S_IWOTH)) &&
                   status.st_size <= LIST_BYTES_MAX;
    if (is_ours && (text = malloc((size_t)status.st_size + 1))) {
        size_t length = 0;
        ssize_t got;
        while ((got = read(fd, text + length, (size_t)status.st_size - length)) > 0)
            length += (size_t)got;
        text[length] = '\0';
    }
    close(fd);
    return text;
}

/* How many objects a list has; 0 also for one that has something else. */
static size_t count_objects(const char *list)
{
    const char *item = NULL;
    size_t count = 0;
    while (mortise_json_next(list, &item) == MORTISE_OK)
        if (*item != '{' || ++count > LIST_TOOLS_MAX)
            return 0;
    return count;
}

static struct listing *read_listing(const char *json)
{
    const char *tools, *server = NULL;
    int64_t format = 0, expires_ms = 0;
    char era[16] = "", version[32] = "";
    if (mortise_json_integer(json, "format", &format) != MORTISE_OK || format != FORMAT ||
        mortise_json_array(json, "tools", &tools) != MORTISE_OK ||
        mortise_json_string(json, "era", era, sizeof(era)) != MORTISE_OK ||
        mortise_json_string(json, "version", version, sizeof(version)) != MORTISE_OK ||
        mortise_json_integer(json, "expires_ms", &expires_ms) == MORTISE_INVALID ||
        mortise_json_object(json, "server", &server) == MORTISE_INVALID)
        return NULL;
    size_t count = count_objects(tools), length = mortise_json_length(tools);
    if (count == 0 && length > 2)
        return NULL;
    struct listing *listing =
        listing_new(strndup(tools, length), count,
                    server ? strndup(server, mortise_json_length(server)) : NULL);
    if (!listing)
        return NULL;
    listing->is_modern = strcmp(era, "modern") == 0;
    memcpy(listing->version, version, sizeof(version));
    listing->expires_ms = expires_ms;
    return listing;
}

struct listing *cache_read(const char *key)
{
    char *path = path_of(key);
    char *text = path ? read_file(path) : NULL;
    struct listing *listing = text ? read_listing(text) : NULL;
    free(text);
    free(path);
    return listing;
}

/* ---- writing ---- */

static bool write_whole(int fd, const struct buffer *text)
{
    size_t written = 0;
    while (written < text->length) {
        ssize_t got = write(fd, text->text + written, text->length - written);
        if (got < 0 && errno != EINTR)
            return false;
        written += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static void replace(const char *path, const struct buffer *text)
{
    struct buffer other = BUFFER_INIT;
    buffer_printf(&other, "%s.XXXXXX", path);
    char *temporary = buffer_take(&other);
    int fd = temporary ? mkostemp(temporary, O_CLOEXEC) : -1;
    if (fd >= 0) {
        bool is_whole = write_whole(fd, text);
        is_whole = close(fd) == 0 && is_whole;
        if (!is_whole || rename(temporary, path) != 0)
            unlink(temporary);
    }
    free(temporary);
}

void cache_write(const char *key, const struct listing *listing)
{
    struct buffer text = BUFFER_INIT;
    char *path = path_of(key);
    buffer_printf(&text, "{\"format\":%d,\"era\":\"%s\",\"version\":\"%s\",\"expires_ms\":%" PRId64,
                  FORMAT, listing->is_modern ? "modern" : "legacy", listing->version,
                  listing->expires_ms);
    if (listing->server)
        buffer_printf(&text, ",\"server\":%s", listing->server);
    buffer_puts(&text, ",\"tools\":");
    buffer_puts(&text, listing->tools);
    buffer_puts(&text, "}\n");
    if (path && !text.failed) {
        make_folders(path);
        replace(path, &text);
    }
    buffer_release(&text);
    free(path);
}
