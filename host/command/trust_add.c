/* `mortise plugins trust` and distrust (trust.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/json_write.h"
#include "base/log.h"
#include "command/app.h"
#include "plugin/elf.h"
#include "plugin/scan.h"

/* ---- files by name ---- */

struct search {
    const char *name;
    char *path; /* the first that has it */
    struct text others;
    bool no_memory;
};

static bool is_file_word(const char *word)
{
    size_t length = strlen(word);
    return strchr(word, '/') || (length > 3 && strcmp(word + length - 3, ".so") == 0);
}

static void note_path(void *context, const char *path)
{
    struct search *search = context;
    char *name = pins_name(path);
    char *real = name && strcmp(name, search->name) == 0 ? realpath(path, NULL) : NULL;
    search->no_memory |= !name;
    free(name);
    if (!search->path) {
        search->path = real;
        return;
    }
    if (real && strcmp(real, search->path) != 0)
        text_printf(&search->others, ", '%s'", real);
    free(real);
}

static void note_refusal(void *context, const char *path, const char *reason)
{
    (void)context;
    (void)path;
    (void)reason;
}

static void search_sources(struct plugin_set *set, struct search *search)
{
    const char *source;
    bool is_file;
    for (size_t i = 0; (source = plugin_set_source(set, i, &is_file)); i++)
        if (is_file)
            note_path(search, source);
        else
            scan_folder(source, true, note_path, note_refusal, search);
}

/* Where plugins are looked for; the one that is called so, malloc'ed.  NULL with *error. */
static char *find_file(struct app *app, const char *name, struct error *error)
{
    struct search search = {.name = name};
    struct plugin_set *set = app_sources(app, error);
    if (!set)
        return NULL;
    search_sources(set, &search);
    plugin_set_free(set);
    bool found = search.path && !search.others.length && !search.no_memory;
    if (search.no_memory || search.others.failed)
        error_memory(error);
    else if (!search.path)
        error_set(error, ERROR_USAGE, "no file of a plugin is called '%s'; name the file", name);
    else if (!found)
        error_set(error, ERROR_USAGE, "several plugins are called '%s'; name the file: '%s'%s",
                  name, search.path, search.others.data);
    text_release(&search.others);
    if (found)
        return search.path;
    free(search.path);
    return NULL;
}

/* ---- trusting ---- */

struct noted {
    struct pin *items;
    size_t count, capacity;
    struct arena memory;
};

static const char *keep(struct noted *noted, const char *text)
{
    return arena_copy(&noted->memory, text, strlen(text));
}

/* What is hashed is what was looked into: nothing that could not be loaded is trusted. */
static bool hash_plugin(const char *path, char sha256[SHA256_TEXT], struct error *error)
{
    struct elf_info info;
    int fd = scan_open(path, NULL, error);
    int copy = fd >= 0 ? sealed_copy(fd, "plugin", sha256, error) : -1;
    bool good = copy >= 0 && elf_inspect(copy, &info, error) && elf_is_alone(copy, error);
    if (fd >= 0)
        close(fd);
    if (copy >= 0)
        close(copy);
    return good;
}

static bool add_pin(struct noted *noted, const char *path, const char *sha256, const char *date,
                    struct error *error)
{
    char *name = pins_name(path);
    char *real = realpath(path, NULL);
    if (!real && errno != ENOMEM)
        error_set(error, ERROR_PLUGIN, "it cannot be found: %s", strerror(errno));
    else if (!name || !real || !array_reserve(noted, 1))
        error_memory(error);
    bool ok = name && real && noted->count < noted->capacity;
    if (ok) {
        struct pin *pin = &noted->items[noted->count];
        *pin = (struct pin){keep(noted, name), keep(noted, real), keep(noted, sha256), date};
        ok = (pin->name && pin->path && pin->sha256) || error_memory(error);
        noted->count += ok;
    }
    free(real);
    free(name);
    return ok;
}

static bool note(struct app *app, struct noted *noted, const char *word, const char *date,
                 struct error *error)
{
    char sha256[SHA256_TEXT];
    char *found = is_file_word(word) ? NULL : find_file(app, word, error);
    const char *path = found ? found : word;
    bool ok = found || is_file_word(word);
    if (ok && (!hash_plugin(path, sha256, error) || !add_pin(noted, path, sha256, date, error))) {
        error_prefix(error, "%s", path);
        ok = false;
    }
    free(found);
    return ok;
}

static void tell(struct app *app, const struct pin *pin)
{
    struct text line = TEXT_INIT;
    if (app->json) {
        text_putc(&line, '{');
        json_put_string(&line, "name", pin->name);
        json_put_string(&line, "path", pin->path);
        json_put_string(&line, "sha256", pin->sha256);
        json_put_string(&line, "date", pin->date);
        app_print_json(app, &line);
        return;
    }
    text_printf(&line, "trusted: %s (%s), SHA-256 %s", pin->name, pin->path, pin->sha256);
    output_foreign(&app->out, text_cstr(&line), line.length);
    output_own(&app->out, "\n");
    text_release(&line);
}

static void write_date(char *out, size_t size)
{
    struct tm utc;
    time_t now = time(NULL);
    if (!gmtime_r(&now, &utc) || !strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &utc))
        snprintf(out, size, "unknown");
}

/* Those that can be trusted are, whatever is wrong with the others. */
int trust_add(struct app *app, int count, char **words)
{
    struct noted noted = {0};
    struct error error;
    char date[32];
    int code = EXIT_FINISHED;
    arena_init(&noted.memory, NULL, 0);
    write_date(date, sizeof(date));
    for (int i = 0; i < count; i++)
        if (!note(app, &noted, words[i], date, &error))
            code = app_fail(app, &error);
    char *file = noted.count ? trust_file(&error) : NULL;
    if (file && pins_add(file, noted.items, noted.count, &error))
        for (size_t i = 0; i < noted.count; i++)
            tell(app, &noted.items[i]);
    else if (noted.count)
        code = app_fail(app, &error);
    free(file);
    free(noted.items);
    arena_release(&noted.memory);
    int flushed = app_flush(app);
    return flushed ? flushed : code;
}

/* ---- and no longer ---- */

static void tell_removed(struct app *app, const char *lines)
{
    for (size_t length; *lines; lines += length + 1) {
        length = strcspn(lines, "\n");
        output_own(&app->out, "not trusted any more: ");
        output_foreign(&app->out, lines, length);
        output_own(&app->out, "\n");
    }
}

static bool remove_one(struct app *app, const char *file, const char *word, struct error *error)
{
    struct text removed = TEXT_INIT;
    bool ok = pins_remove(file, word, &removed, error);
    if (ok && !removed.length)
        ok = error_set(error, ERROR_USAGE,
                       "nothing that is trusted is called '%s'; `mortise plugins trusted` lists it",
                       word);
    else if (ok)
        tell_removed(app, text_cstr(&removed));
    text_release(&removed);
    return ok;
}

int trust_remove(struct app *app, int count, char **words)
{
    struct error error;
    int code = EXIT_FINISHED;
    char *file = trust_file(&error);
    if (!file)
        return app_fail(app, &error);
    for (int i = 0; i < count; i++)
        if (!remove_one(app, file, words[i], &error))
            code = app_fail(app, &error);
    free(file);
    int flushed = app_flush(app);
    return flushed ? flushed : code;
}
