/* `mortise new`: a folder that builds to a plugin. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_write.h"
#include "command/command.h"
#include "command/new_name.h"
#include "command/embedded.h"
#include "config/paths.h"

/* ---- from template to text ---- */

struct replacement {
    char from[64];
    char to[3 * NEW_NAME_MAX];
};

/* The one that the text begins with, or NULL. */
static const struct replacement *at(const struct replacement *all, const char *text, size_t length)
{
    for (; *all->from; all++)
        if (length >= strlen(all->from) && memcmp(text, all->from, strlen(all->from)) == 0)
            return all;
    return NULL;
}

static void replace(const struct replacement *all, const char *text, size_t length,
                    struct text *out)
{
    while (length > 0) {
        const struct replacement *found = at(all, text, length);
        size_t taken = found ? strlen(found->from) : 1;
        if (found)
            text_puts(out, found->to);
        else
            text_putc(out, *text);
        text += taken;
        length -= taken;
    }
}

/* A tool that is called the same in C needs not say so. */
static void fill_replacements(struct replacement all[4], const struct new_name *new)
{
    struct replacement *next = all;
    memset(all, 0, 4 * sizeof(*all));
    if (strcmp(new->name, new->identifier) == 0) {
        snprintf(next->from, sizeof(next->from),
                 "MORTISE_TOOL_WITH(your_%s, (name(\"your-%s\")),", new->kind, new->kind);
        snprintf(next->to, sizeof(next->to), "MORTISE_TOOL(%s,", new->identifier);
        next++;
    }
    snprintf(next->from, sizeof(next->from), "your_%s", new->kind);
    snprintf(next->to, sizeof(next->to), "%s", new->identifier);
    next++;
    snprintf(next->from, sizeof(next->from), "your-%s", new->kind);
    snprintf(next->to, sizeof(next->to), "%s", new->name);
}

/* ---- the folder: made under another name, and renamed when it is complete ---- */

struct folder {
    char path[NEW_NAME_MAX + 32]; /* while it is not complete */
    int fd;
};

static bool folder_begin(struct folder *folder, const char *name, struct error *error)
{
    struct stat status;
    if (lstat(name, &status) == 0)
        return error_set(error, ERROR_USAGE, "'%s' is already there; take another name", name);
    snprintf(folder->path, sizeof(folder->path), ".%s.%ld", name, (long)getpid());
    folder->fd = mkdir(folder->path, 0777) == 0
                     ? open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                     : -1;
    if (folder->fd >= 0)
        return true;
    error_set(error, ERROR_INTERNAL, "cannot make the folder '%s': %s", name, strerror(errno));
    if (errno != EEXIST)
        rmdir(folder->path);
    return false;
}

static bool folder_write(const struct folder *folder, const char *path, const struct text *text,
                         struct error *error)
{
    int fd = openat(folder->fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool written = fd >= 0 && file_write_fd(fd, text->data, text->length);
    int reason = errno;
    if (fd >= 0 && close(fd) != 0 && written) { /* some disks tell only now that they are full */
        written = false;
        reason = errno;
    }
    if (!written)
        error_set(error, ERROR_INTERNAL, "cannot write '%s': %s; nothing was made", path,
                  strerror(reason));
    return written;
}

/* The paths of the templates are the only ones that can be in it. */
static void folder_remove(const struct folder *folder, const struct replacement *all,
                          const struct new_name *new)
{
    struct text path = TEXT_INIT;
    for (const struct embedded_file *file = template_files; file->kind; file++)
        if (strcmp(file->kind, new->kind) == 0) {
            text_reset(&path);
            replace(all, file->path, strlen(file->path), &path);
            unlinkat(folder->fd, text_cstr(&path), 0);
        }
    text_release(&path);
    rmdir(folder->path);
}

static bool write_file(const struct folder *folder, const struct replacement *all,
                       const struct embedded_file *file, struct error *error)
{
    struct text path = TEXT_INIT, text = TEXT_INIT;
    replace(all, file->path, strlen(file->path), &path);
    replace(all, (const char *)file->text, file->length, &text);
    bool good = path.failed || text.failed ? error_memory(error)
                                           : folder_write(folder, path.data, &text, error);
    text_release(&path);
    text_release(&text);
    return good;
}

static bool make(const struct new_name *new, struct error *error)
{
    struct folder folder;
    struct replacement all[4];
    bool good = true;
    fill_replacements(all, new);
    if (!folder_begin(&folder, new->name, error))
        return false;
    for (const struct embedded_file *file = template_files; good && file->kind; file++)
        if (strcmp(file->kind, new->kind) == 0)
            good = write_file(&folder, all, file, error);
    if (good && rename(folder.path, new->name) != 0)
        good = error_set(error, ERROR_INTERNAL, "cannot make the folder '%s': %s", new->name,
                         strerror(errno));
    if (!good)
        folder_remove(&folder, all, new);
    close(folder.fd);
    return good;
}

/* ---- what is told ---- */

/* A word of a command for the shell. */
static void put_word(struct output *out, const char *word)
{
    if (!word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=")]) {
        output_own(out, word);
        return;
    }
    output_own(out, "'");
    for (; *word; word++)
        if (*word == '\'')
            output_own(out, "'\\''");
        else
            output_foreign(out, word, 1);
    output_own(out, "'");
}

/* CMake looks into the usual prefixes by itself. */
static void put_prefix(struct output *out)
{
    char *prefix = path_prefix();
    if (prefix && *prefix && strcmp(prefix, "/usr") != 0 && strcmp(prefix, "/usr/local") != 0) {
        output_own(out, " -DCMAKE_PREFIX_PATH=");
        put_word(out, prefix);
    }
    free(prefix);
}

static void tell(struct app *app, const struct new_name *new)
{
    struct output *out = &app->out;
    output_printf(out, "%s/ has a %s, its test and a README.md\n", new->name, new->kind);
    if (strcmp(new->name, new->identifier) != 0)
        output_printf(out, "(in C it is called %s: %s is no name there, or is taken)\n", new->identifier,
                      new->name);
    output_printf(out, "  cd %s\n  cmake -B build", new->name);
    put_prefix(out);
    output_own(out, " && cmake --build build && ctest --test-dir build\n");
    if (strcmp(new->kind, "tool") == 0)
        output_printf(out, "  mortise -P build tools call %s '{\"text\": \"hello\"}'\n", new->name);
    else
        output_own(out, "  mortise -P build hooks\n");
}

static void tell_json(struct app *app, const struct new_name *new)
{
    struct text line = TEXT_INIT;
    text_putc(&line, '{');
    json_put_string(&line, "kind", new->kind);
    json_put_string(&line, "name", new->name);
    json_put_string(&line, "identifier", new->identifier);
    app_print_json(app, &line);
}

int command_new(struct app *app, int count, char **operands)
{
    struct error error;
    struct new_name new;
    if (count != 2 || (strcmp(operands[0], "tool") != 0 && strcmp(operands[0], "hook") != 0))
        return command_usage(app, "new", "say which, and its name");
    if (!new_name_make(&new, operands[0], operands[1], &error) || !make(&new, &error))
        return app_fail(app, &error);
    if (app->json)
        tell_json(app, &new);
    else
        tell(app, &new);
    return app_flush(app);
}
