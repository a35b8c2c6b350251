/* elf_symbols_resolve() of elf.h: would dlopen() find every symbol? */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "plugin/elf.h"
#include "plugin/elf_file.h"

#define MAX_LIBRARIES 64

/* The object, or a library that comes with it (`file`), or one of the system (`handle`). */
struct library {
    void *handle;
    struct elf_file *file;
    int fd;
    char *path;
};

struct libraries {
    struct library items[MAX_LIBRARIES];
    size_t count;
};

static void release(struct libraries *libraries)
{
    for (size_t i = 0; i < libraries->count; i++) {
        struct library *library = &libraries->items[i];
        if (library->handle)
            dlclose(library->handle);
        if (library->fd >= 0)
            close(library->fd);
        free(library->file);
        free(library->path);
    }
}

/* Takes over `fd` and `path`. */
static bool add_file(struct libraries *libraries, int fd, char *path, struct error *error)
{
    struct elf_file *file = malloc(sizeof(*file));
    struct library *library = &libraries->items[libraries->count++];
    *library = (struct library){.file = file, .fd = fd, .path = path};
    if (!file || !path)
        return error_memory(error);
    return elf_file_open(file, fd, error) && elf_file_read(file, error);
}

static bool is_known(const struct libraries *libraries, const char *path)
{
    for (size_t i = 0; i < libraries->count; i++)
        if (libraries->items[i].path && strcmp(libraries->items[i].path, path) == 0)
            return true;
    return false;
}

/* ---- finding one library ---- */

/* The path that a name with $ORIGIN stands for; NULL when it is not absolute. */
static char *expand(const char *name, size_t length, const char *of)
{
    static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
    const char *slash = strrchr(of, '/');
    struct text path = TEXT_INIT;
    for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
        size_t prefix = strlen(origins[i]);
        if (length < prefix || strncmp(name, origins[i], prefix) != 0)
            continue;
        text_append(&path, of, slash ? (size_t)(slash - of) : 0);
        name += prefix;
        length -= prefix;
        break;
    }
    text_append(&path, name, length);
    if (path.length && path.data[0] == '/')
        return text_take(&path, NULL);
    text_release(&path);
    return NULL;
}

/* What of the library's own search path has it, as an absolute path; NULL: nothing. */
static char *search(const struct library *of, const char *name)
{
    if (strchr(name, '/'))
        return expand(name, strlen(name), of->path);
    char paths[ELF_MAX_STRING];
    if (!of->file->runpath || !elf_file_string(of->file, of->file->runpath, paths))
        return NULL;
    for (const char *at = paths; *at;) {
        size_t length = strcspn(at, ":");
        char *folder = expand(at, length, of->path);
        struct text path = TEXT_INIT;
        text_printf(&path, "%s/%s", folder ? folder : "", name);
        bool found = folder && !path.failed && access(text_cstr(&path), F_OK) == 0;
        free(folder);
        if (found)
            return text_take(&path, NULL);
        text_release(&path);
        at += length + (at[length] == ':');
    }
    return NULL;
}

/* ---- all libraries ---- */

static bool missing(const char *name, struct error *error)
{
    return error_set(error, ERROR_PLUGIN,
                     "it needs the library '%.200s', which is not there: install it", name);
}

static bool add_needed(struct libraries *libraries, const struct library *of, const char *name,
                       struct error *error)
{
    char *path = search(of, name);
    if (path && is_known(libraries, path)) {
        free(path);
        return true;
    }
    if (libraries->count == MAX_LIBRARIES) {
        free(path);
        return error_set(error, ERROR_PLUGIN, "it needs more than %d libraries", MAX_LIBRARIES);
    }
    if (path) {
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (add_file(libraries, fd, path, error))
            return true;
        return fd < 0 ? missing(name, error) : false;
    }
    void *handle = strchr(name, '/') ? NULL : dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!handle)
        return missing(name, error);
    libraries->items[libraries->count++] = (struct library){.handle = handle, .fd = -1};
    return true;
}

/* The list grows while it is walked: libraries that come with the object need others. */
static bool add_all_needed(struct libraries *libraries, struct error *error)
{
    for (size_t i = 0; i < libraries->count; i++) {
        const struct library *library = &libraries->items[i];
        for (size_t k = 0; library->file && k < library->file->needed_count; k++) {
            char name[ELF_MAX_STRING];
            if (elf_file_string(library->file, library->file->needed[k], name) &&
                !add_needed(libraries, library, name, error))
                return false;
        }
    }
    return true;
}

static bool is_defined(struct libraries *libraries, const char *name)
{
    if (dlsym(RTLD_DEFAULT, name))
        return true;
    for (size_t i = 0; i < libraries->count; i++) {
        struct library *library = &libraries->items[i];
        Elf64_Sym symbol;
        if (library->handle ? dlsym(library->handle, name) != NULL
                            : elf_file_find(library->file, name, &symbol))
            return true;
    }
    return false;
}

/* Names that are too long to be read are left to dlopen(). */
static bool check_undefined(struct libraries *libraries, struct error *error)
{
    struct elf_file *file = libraries->items[0].file;
    uint64_t end = elf_file_undefined_end(file);
    Elf64_Sym symbol;
    for (uint64_t i = 1; i < end && elf_file_symbol(file, i, &symbol); i++) {
        char name[ELF_MAX_STRING];
        if (symbol.st_shndx != SHN_UNDEF || ELF64_ST_BIND(symbol.st_info) != STB_GLOBAL ||
            !elf_file_string(file, symbol.st_name, name) || !*name)
            continue;
        if (!is_defined(libraries, name))
            return error_set(error, ERROR_PLUGIN,
                             "it needs the symbol '%.200s', which nothing defines: link the "
                             "library that has it (-Wl,-z,defs tells when the plugin is built)",
                             name);
    }
    return true;
}

/* A descriptor's own path, for $ORIGIN. */
static char *path_of(int fd)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof(path) - 1);
    return strndup(path, length > 0 ? (size_t)length : 0);
}

bool elf_symbols_resolve(int fd, struct error *error)
{
    struct libraries libraries = {.count = 0};
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return error_set(error, ERROR_PLUGIN, "it cannot be read: no descriptor is left");
    bool good = add_file(&libraries, own, path_of(fd), error) &&
                add_all_needed(&libraries, error) && check_undefined(&libraries, error);
    release(&libraries);
    return good;
}
