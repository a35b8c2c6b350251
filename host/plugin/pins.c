#include "plugin/pins.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/replace.h"

#define VERSION_KEY "mortise_trusted"

enum { VERSION = 1, MAX_BYTES = 4 << 20, MIN_DIGITS = 8 };

struct pins {
    json_t *root; /* has the texts */
    struct pin *items;
    size_t count, capacity;
};

char *pins_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (length > 3 && strcmp(name + length - 3, ".so") == 0)
        length -= 3;
    return strndup(name, length);
}

/* ---- what the file says ---- */

static bool is_digits(const char *text, size_t length)
{
    return strlen(text) == length && strspn(text, "0123456789abcdef") == length;
}

static bool read_pin(struct pins *pins, const json_t *object, struct error *error)
{
    const struct pin pin = {.name = json_member_string(object, "name"),
                            .path = json_member_string(object, "path"),
                            .sha256 = json_member_string(object, "sha256"),
                            .date = json_member_string(object, "date")};
    if (!pin.name || !pin.path || pin.path[0] != '/' || !pin.sha256 || !pin.date ||
        !is_digits(pin.sha256, SHA256_TEXT - 1))
        return error_set(error, ERROR_CONFIG,
                         "entry %zu is not a name, an absolute path, a SHA-256 and a date",
                         pins->count + 1);
    if (!array_reserve(pins, 1))
        return error_memory(error);
    pins->items[pins->count++] = pin;
    return true;
}

static bool read_root(struct pins *pins, struct error *error)
{
    size_t i;
    const json_t *entry;
    const json_t *list = json_object_get(pins->root, "plugins");
    json_int_t version = json_member_integer(pins->root, VERSION_KEY, 0);
    if (version > VERSION)
        return error_set(error, ERROR_CONFIG, "it was written by a newer version of mortise");
    if (version < 1 || !json_is_array(list))
        return error_set(error, ERROR_CONFIG,
                         "it must be an object with \"" VERSION_KEY "\" and a list \"plugins\"");
    json_array_foreach(list, i, entry)
        if (!read_pin(pins, entry, error))
            return false;
    return true;
}

static struct pins *parse(const struct text *bytes, struct error *error)
{
    struct pins *pins = calloc(1, sizeof(*pins));
    if (!pins) {
        error_memory(error);
        return NULL;
    }
    pins->root = json_parse(text_cstr(bytes), bytes->length, NULL, error);
    if (pins->root && read_root(pins, error))
        return pins;
    pins_free(pins);
    return NULL;
}

void pins_free(struct pins *pins)
{
    if (!pins)
        return;
    json_decref(pins->root);
    free(pins->items);
    free(pins);
}

const struct pin *pins_at(const struct pins *pins, size_t index)
{
    return index < pins->count ? &pins->items[index] : NULL;
}

/* ---- reading it ---- */

/* Whoever can write it, or put another one there, says what is trusted. */
static bool is_own(const char *what, const struct stat *status, struct error *error)
{
    if (status->st_uid != 0 && status->st_uid != geteuid())
        return error_set(error, ERROR_CONFIG,
                         "%s belongs to user %u, neither to root nor to you (user %u)", what,
                         (unsigned)status->st_uid, (unsigned)geteuid());
    if (status->st_mode & (S_IWGRP | S_IWOTH))
        return error_set(error, ERROR_CONFIG, "others can write %s: chmod go-w ends that", what);
    return true;
}

static bool cannot(const char *what, struct error *error)
{
    return error_set(error, ERROR_CONFIG, "it cannot be %s: %s", what, strerror(errno));
}

/* -1: *error is set, or there is none (*is_missing). */
static int open_folder(const char *file, bool *is_missing, struct error *error)
{
    struct stat status;
    const char *slash = strrchr(file, '/');
    char *folder = strndup(file, slash ? (size_t)(slash - file) + 1 : 0);
    int fd = folder ? open(*folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    *is_missing = folder && fd < 0 && errno == ENOENT;
    if (!folder)
        error_memory(error);
    else if (fd < 0 || fstat(fd, &status) != 0)
        cannot("opened", error);
    else if (is_own("its folder", &status, error))
        (void)0;
    else {
        close(fd);
        fd = -1;
    }
    free(folder);
    return fd;
}

static bool read_at(int folder, const char *name, bool *is_missing, struct text *bytes,
                    struct error *error)
{
    struct stat status;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    *is_missing = fd < 0 && errno == ENOENT;
    if (fd < 0)
        return errno == ELOOP ? error_set(error, ERROR_CONFIG, "it is a symbolic link")
                              : cannot("opened", error);
    bool ok = fstat(fd, &status) == 0 || cannot("read", error);
    if (ok && !S_ISREG(status.st_mode))
        ok = error_set(error, ERROR_CONFIG, "it is no regular file");
    ok = ok && is_own("it", &status, error) && file_read_fd(fd, name, MAX_BYTES, bytes, error);
    close(fd);
    return ok;
}

struct pins *pins_read(const char *file, struct error *error)
{
    const char *slash = strrchr(file, '/');
    struct text bytes = TEXT_INIT;
    struct pins *pins = NULL;
    bool is_missing;
    int folder = open_folder(file, &is_missing, error);
    bool ok = folder >= 0 && read_at(folder, slash ? slash + 1 : file, &is_missing, &bytes, error);
    if (folder >= 0)
        close(folder);
    if (ok)
        pins = parse(&bytes, error);
    else if (is_missing && !(pins = calloc(1, sizeof(*pins))))
        error_memory(error);
    text_release(&bytes);
    if (!pins) {
        error->kind = error->kind == ERROR_INTERNAL ? ERROR_INTERNAL : ERROR_CONFIG;
        error_prefix(error, "the list of trusted plugins '%s' cannot be used", file);
    }
    return pins;
}

/* ---- asking ---- */

static enum pin_state look(const struct pins *pins, const char *name, const char *real,
                           const char *sha256, const struct pin **pin)
{
    enum pin_state state = PIN_NONE;
    for (size_t i = 0; i < pins->count; i++) {
        const struct pin *one = &pins->items[i];
        bool same = strcmp(one->sha256, sha256) == 0;
        enum pin_state so = same && strcmp(one->name, name) == 0      ? PIN_TRUSTED
                            : !same && real && strcmp(one->path, real) == 0 ? PIN_CHANGED
                            : same                                          ? PIN_RENAMED
                                                                            : PIN_NONE;
        if (so == PIN_NONE || (so == PIN_RENAMED && state != PIN_NONE))
            continue;
        *pin = one;
        state = so;
        if (so == PIN_TRUSTED)
            break;
    }
    return state;
}

enum pin_state pins_look(const struct pins *pins, const char *path, const char *sha256,
                         const struct pin **pin)
{
    char *name = pins_name(path);
    char *real = realpath(path, NULL);
    *pin = NULL;
    enum pin_state state = name ? look(pins, name, real, sha256, pin) : PIN_NONE;
    free(real);
    free(name);
    return state;
}

bool pins_admit(const struct pins *pins, const char *path, const char *sha256, struct error *error)
{
    const struct pin *pin;
    switch (pins_look(pins, path, sha256, &pin)) {
    case PIN_TRUSTED:
        return true;
    case PIN_CHANGED:
        return error_set(error, ERROR_PLUGIN,
                         "it changed since it was trusted on %.10s; if you know why, run mortise "
                         "plugins trust '%s'",
                         pin->date, path);
    case PIN_RENAMED:
        return error_set(error, ERROR_PLUGIN,
                         "it is trusted under the name '%.64s' only; to trust it under this one "
                         "too, run mortise plugins trust '%s'",
                         pin->name, path);
    case PIN_NONE:
        break;
    }
    return error_set(error, ERROR_PLUGIN,
                     "it is not trusted; if you know where it comes from, run mortise plugins "
                     "trust '%s'",
                     path);
}

/* ---- changing it ---- */

static void write_list(struct text *out, const struct pins *pins)
{
    text_printf(out, "{\"" VERSION_KEY "\":%d,\"plugins\":[", VERSION);
    for (size_t i = 0; i < pins->count; i++) {
        const struct pin *pin = &pins->items[i];
        text_puts(out, i ? ",\n{" : "\n{");
        json_put_string(out, "name", pin->name);
        json_put_string(out, "path", pin->path);
        json_put_string(out, "sha256", pin->sha256);
        json_put_string(out, "date", pin->date);
        text_putc(out, '}');
    }
    text_puts(out, "]}\n");
}

/* Locked. */
static bool replace(const char *file, const struct pins *pins, struct error *error)
{
    struct text bytes = TEXT_INIT;
    write_list(&bytes, pins);
    bool ok = !bytes.failed || error_memory(error);
    ok = ok && replace_file(file, bytes.data, bytes.length, error);
    if (!ok && error->kind != ERROR_INTERNAL)
        error_prefix(error, "the list of trusted plugins '%s'", file);
    text_release(&bytes);
    return ok;
}

static void take_out(struct pins *pins, size_t index)
{
    pins->count--;
    memmove(&pins->items[index], &pins->items[index + 1],
            (pins->count - index) * sizeof(*pins->items));
}

static bool put(struct pins *pins, const struct pin *pin, struct error *error)
{
    for (size_t i = pins->count; i-- > 0;)
        if (strcmp(pins->items[i].path, pin->path) == 0)
            take_out(pins, i);
    if (!array_reserve(pins, 1))
        return error_memory(error);
    pins->items[pins->count++] = *pin;
    return true;
}

bool pins_add(const char *file, const struct pin *more, size_t count, struct error *error)
{
    int locked = replace_lock(file, error);
    struct pins *pins = locked >= 0 ? pins_read(file, error) : NULL;
    bool ok = pins != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = put(pins, &more[i], error);
    ok = ok && replace(file, pins, error);
    pins_free(pins);
    if (locked >= 0)
        close(locked);
    return ok;
}

static bool is_meant(const struct pin *pin, const char *word, const char *real)
{
    size_t length = strlen(word);
    return strcmp(pin->name, word) == 0 || strcmp(pin->path, word) == 0 ||
           (real && strcmp(pin->path, real) == 0) ||
           (length >= MIN_DIGITS && strncmp(pin->sha256, word, length) == 0);
}

bool pins_remove(const char *file, const char *word, struct text *removed, struct error *error)
{
    int locked = replace_lock(file, error);
    struct pins *pins = locked >= 0 ? pins_read(file, error) : NULL;
    bool ok = pins != NULL;
    char *real = ok ? realpath(word, NULL) : NULL;
    size_t before = ok ? pins->count : 0;
    for (size_t i = 0; ok && i < pins->count;) {
        if (!is_meant(&pins->items[i], word, real)) {
            i++;
            continue;
        }
        text_printf(removed, "%s (%s)\n", pins->items[i].name, pins->items[i].path);
        take_out(pins, i);
    }
    if (ok && pins->count < before)
        ok = replace(file, pins, error);
    free(real);
    pins_free(pins);
    if (locked >= 0)
        close(locked);
    return ok;
}
