#include "plugin/account_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"

#define VERSION_KEY "mortise_accounts"

enum {
    VERSION = 1,
    MAX_BYTES = 64 << 20,
    SUM_UP_BYTES = 128 << 10,
    LOCK_TRIES = 250,
    LOCK_WAIT_NS = 2000000
};

static const struct {
    const char *key;
    size_t offset;
} numbers[] = {
    {"calls", offsetof(struct account_sum, calls)},
    {"errors", offsetof(struct account_sum, errors)},
    {"total_ns", offsetof(struct account_sum, total_ns)},
    {"max_ns", offsetof(struct account_sum, max_ns)},
    {"bytes_in", offsetof(struct account_sum, bytes_in)},
    {"bytes_out", offsetof(struct account_sum, bytes_out)},
    {"progress_dropped", offsetof(struct account_sum, progress_dropped)},
};
enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };

static int64_t *number_of(struct account_sum *sum, size_t index)
{
    return (int64_t *)(void *)((char *)sum + numbers[index].offset);
}

/* ---- one tool ---- */

static int64_t read_number(const json_t *object, const char *key)
{
    json_int_t value = json_member_integer(object, key, 0);
    return value > 0 ? value : 0;
}

static void read_sum(const json_t *object, struct account_sum *sum)
{
    const char *key;
    json_t *count;
    *sum = (struct account_sum){0};
    for (size_t i = 0; i < NUMBERS; i++)
        *number_of(sum, i) = read_number(object, numbers[i].key);
    json_t *times = json_object_get(object, "times");
    json_object_foreach (times, key, count) {
        char *end;
        unsigned long bucket = strtoul(key, &end, 10);
        if (end != key && !*end && bucket < ACCOUNT_BUCKETS)
            sum->times[bucket] = read_number(times, key);
    }
}

static json_t *write_sum(struct account_sum *sum)
{
    json_t *object = json_object();
    json_t *times = json_object();
    bool ok = object && times;
    for (size_t i = 0; ok && i < NUMBERS; i++)
        ok = json_object_set_new(object, numbers[i].key, json_integer(*number_of(sum, i))) == 0;
    for (size_t i = 0; ok && i < ACCOUNT_BUCKETS; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%zu", i);
        ok = !sum->times[i] || json_object_set_new(times, key, json_integer(sum->times[i])) == 0;
    }
    ok = ok && json_object_set(object, "times", times) == 0;
    json_decref(times);
    if (ok)
        return object;
    json_decref(object);
    return NULL;
}

/* ---- books: what a line says, and what all of them come to ---- */

static json_t *empty_book(struct error *error)
{
    json_t *book = json_pack("{s:i, s:{}}", VERSION_KEY, VERSION, "plugins");
    if (!book)
        error_memory(error);
    return book;
}

/* The object under `key`, which is made if there is none; borrowed.  NULL: no memory. */
static json_t *object_of(json_t *parent, const char *key)
{
    json_t *object = json_object_get(parent, key);
    if (object)
        return object;
    return json_object_set_new(parent, key, json_object()) == 0 ? json_object_get(parent, key)
                                                                : NULL;
}

static bool add_sum(json_t *book, const char *plugin, const char *tool,
                    const struct account_sum *more)
{
    struct account_sum sum;
    json_t *tools = object_of(json_object_get(book, "plugins"), plugin);
    if (!tools)
        return false;
    read_sum(json_object_get(tools, tool), &sum);
    account_sum_add(&sum, more);
    return json_object_set_new(tools, tool, write_sum(&sum)) == 0;
}

static bool add_book(json_t *book, json_t *more)
{
    const char *plugin, *tool;
    json_t *tools, *account;
    struct account_sum sum;
    json_object_foreach (json_object_get(more, "plugins"), plugin, tools) {
        json_object_foreach (tools, tool, account) {
            read_sum(account, &sum);
            if (!add_sum(book, plugin, tool, &sum))
                return false;
        }
    }
    return true;
}

/* A line that is no JSON is one that was torn. */
static bool add_line(json_t *book, const char *path, const char *line, size_t length,
                     struct error *error)
{
    json_t *more = json_parse(line, length, NULL, error);
    if (!more)
        return error->kind != ERROR_INTERNAL;
    bool known = json_member_integer(more, VERSION_KEY, VERSION) == VERSION;
    bool added = known && add_book(book, more);
    json_decref(more);
    if (!known)
        return error_set(error, ERROR_CONFIG,
                         "'%s' was written by a newer version; remove it to begin anew", path);
    return added || error_memory(error);
}

static json_t *sum_up(const char *path, const struct text *lines, struct error *error)
{
    json_t *book = empty_book(error);
    const char *line = text_cstr(lines), *end;
    bool ok = book != NULL;
    for (; ok && (end = strchr(line, '\n')); line = end + 1)
        ok = add_line(book, path, line, (size_t)(end - line), error);
    if (ok)
        return book;
    json_decref(book);
    return NULL;
}

static bool is_missing(const char *path)
{
    return access(path, F_OK) != 0 && errno == ENOENT;
}

json_t *account_file_read(const char *path, struct error *error)
{
    struct text lines = TEXT_INIT;
    if (is_missing(path))
        return empty_book(error);
    json_t *book = file_read(path, MAX_BYTES, &lines, error) ? sum_up(path, &lines, error) : NULL;
    text_release(&lines);
    return book;
}

bool account_file_find(const json_t *book, const char *plugin, const char *tool,
                       struct account_sum *sum)
{
    const json_t *tools = json_object_get(json_object_get(book, "plugins"), plugin);
    const json_t *found = json_object_get(tools, tool);
    if (found)
        read_sum(found, sum);
    return found != NULL;
}

/* ---- the file, which may be replaced at any time until it is locked ---- */

static bool cannot(const char *what, const char *path, struct error *error)
{
    return error_set(error, ERROR_CONFIG, "cannot %s '%s': %s", what, path, strerror(errno));
}

static int open_file(const char *path, struct error *error)
{
    const int flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int fd = open(path, flags, 0600);
    if (fd < 0 && errno == ENOENT) {
        char *folders = strdup(path);
        bool made = folders ? file_make_folders(folders, error) : error_memory(error);
        free(folders);
        if (!made)
            return -1;
        fd = open(path, flags, 0600);
    }
    if (fd < 0)
        cannot("open", path, error);
    return fd;
}

static bool lock(int fd)
{
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = LOCK_WAIT_NS}, NULL);
    }
    errno = ETIMEDOUT;
    return false;
}

/* Whether the descriptor is that of the file that has the name now; its size. */
static bool is_current(int fd, const char *path, off_t *size)
{
    struct stat open_one, named;
    if (fstat(fd, &open_one) != 0 || stat(path, &named) != 0)
        return false;
    *size = open_one.st_size;
    return open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

/* A descriptor that holds the lock until it is closed; -1 with *error. */
static int open_locked(const char *path, off_t *size, struct error *error)
{
    for (;;) {
        int fd = open_file(path, error);
        if (fd < 0)
            return -1;
        if (!lock(fd)) {
            cannot("lock", path, error);
            close(fd);
            return -1;
        }
        if (is_current(fd, path, size))
            return fd;
        close(fd); /* another process summed up meanwhile */
    }
}

/* Writes all or nothing. */
static bool append(int fd, const char *path, off_t size, const struct text *line,
                   struct error *error)
{
    if (line->failed)
        return error_memory(error);
    if (file_write_fd(fd, line->data, line->length))
        return true;
    cannot("write", path, error);
    int ignored = ftruncate(fd, size);
    (void)ignored;
    return false;
}

/* A file with this one line takes the place of the other, whole or not at all.  Locked. */
static bool replace(const char *path, const struct text *line, struct error *error)
{
    struct text next = TEXT_INIT;
    text_printf(&next, "%s.new", path);
    if (next.failed || line->failed) {
        text_release(&next);
        return error_memory(error);
    }
    int fd = open(next.data, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && append(fd, next.data, 0, line, error);
    if (fd < 0)
        cannot("open", next.data, error);
    else if (close(fd) != 0 && ok)
        ok = cannot("write", next.data, error);
    if (ok && rename(next.data, path) != 0)
        ok = cannot("write", path, error);
    if (!ok && fd >= 0)
        unlink(next.data);
    text_release(&next);
    return ok;
}

static void write_line(struct text *line, const json_t *book)
{
    text_json(line, book);
    text_putc(line, '\n');
}

/* ---- changes ---- */

/* Each time that so many bytes have come, wherever the file began: even a long sum is not made
 * again for every line. */
static bool is_time_to_sum_up(off_t size, size_t more)
{
    return size / SUM_UP_BYTES != (size + (off_t)more) / SUM_UP_BYTES;
}

static bool sum_up_file(const char *path, struct error *error)
{
    struct text line = TEXT_INIT;
    json_t *book = account_file_read(path, error);
    bool ok = book != NULL;
    if (ok) {
        write_line(&line, book);
        ok = replace(path, &line, error);
    }
    json_decref(book);
    text_release(&line);
    return ok;
}

bool account_file_add(const char *path, const struct account_entry *entries, size_t count,
                      struct error *error)
{
    struct text line = TEXT_INIT;
    json_t *book = empty_book(error);
    bool ok = book != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_sum(book, entries[i].plugin, entries[i].tool, &entries[i].sum) ||
             error_memory(error);
    if (ok)
        write_line(&line, book);
    json_decref(book);

    off_t size;
    int fd = ok ? open_locked(path, &size, error) : -1;
    ok = fd >= 0 && append(fd, path, size, &line, error);
    if (ok && is_time_to_sum_up(size, line.length))
        ok = sum_up_file(path, error);
    if (fd >= 0)
        close(fd);
    text_release(&line);
    return ok;
}

bool account_file_forget(const char *path, const char *plugin, bool *found, struct error *error)
{
    struct text line = TEXT_INIT;
    off_t size;
    *found = false;
    if (is_missing(path))
        return true;
    int fd = open_locked(path, &size, error);
    json_t *book = fd >= 0 ? account_file_read(path, error) : NULL;
    *found = book && json_object_del(json_object_get(book, "plugins"), plugin) == 0;
    bool ok = book != NULL;
    if (*found) {
        write_line(&line, book);
        ok = replace(path, &line, error);
    }
    json_decref(book);
    if (fd >= 0)
        close(fd);
    text_release(&line);
    return ok;
}
