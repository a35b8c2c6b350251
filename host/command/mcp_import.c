/* mcp add --from: the servers of another client's file. */
#include <errno.h>
#include <string.h>

#include "base/json_write.h"
#include "base/log.h"
#include "command/mcp.h"
#include "command/mcp_entry.h"
#include "command/mcp_file.h"

struct import {
    struct app *app;
    const char *path;
    struct mcp_file file; /* the user's */
    json_t *servers;      /* what there is to take */
    json_t *told;         /* what became of each: a list of [name, null or a reason] */
    size_t taken;
};

static bool note(struct import *import, const char *name, const char *reason, struct error *error)
{
    json_t *pair = json_pack("[s s?]", name, reason);
    return json_array_append_new(import->told, pair) == 0 || error_memory(error);
}

/* False: no memory.  What cannot be taken is left out, and said. */
static bool take(struct import *import, const char *name, json_t *entry, struct error *error)
{
    struct error reason;
    if (json_object_get(import->file.servers, name))
        return note(import, name, "there is one of that name already", error);
    if (!mcp_entry_name(name, &reason) || !mcp_entry_fits(entry, &reason))
        return note(import, name, reason.message, error);
    if (json_object_set(import->file.servers, name, entry) != 0)
        return error_memory(error);
    import->taken++;
    return note(import, name, NULL, error);
}

static bool take_all(struct import *import, struct error *error)
{
    const char *name;
    json_t *entry;
    json_object_foreach (import->servers, name, entry)
        if (!take(import, name, entry, error))
            return false;
    return true;
}

static bool take_named(struct import *import, int count, char **names, struct error *error)
{
    for (int i = 0; i < count; i++) {
        json_t *entry = json_object_get(import->servers, names[i]);
        if (!entry)
            return mcp_unknown_server(import->servers, names[i],
                                      "without names all that the file has are added", error);
        if (!take(import, names[i], entry, error))
            return false;
    }
    return true;
}

static void tell_one(struct import *import, const char *name, const char *reason)
{
    struct app *app = import->app;
    struct text line = TEXT_INIT;
    if (app->json) {
        text_putc(&line, '{');
        json_put_string(&line, "name", name);
        json_put_boolean(&line, "added", !reason);
        if (reason)
            json_put_string(&line, "problem", reason);
        app_print_json(app, &line);
        return;
    }
    if (reason)
        text_printf(&line, "left out: %s: %s", name, reason);
    else
        text_printf(&line, "added: %s", name);
    output_foreign(&app->out, text_cstr(&line), line.length);
    output_own(&app->out, "\n");
    if (line.failed)
        output_fail(&app->out, ENOMEM);
    text_release(&line);
}

static int tell(struct import *import, bool is_named)
{
    size_t i;
    json_t *pair;
    size_t all = json_array_size(import->told);
    json_array_foreach (import->told, i, pair)
        tell_one(import, json_string_value(json_array_get(pair, 0)),
                 json_string_value(json_array_get(pair, 1)));
    if (!import->app->json && import->taken)
        log_note("`mortise mcp check` starts them and tells what tools they have");
    else if (!import->app->json && !all)
        log_error("'%s' has no servers", import->path);
    mcp_file_warn_unused(&import->file);
    int flushed = app_flush(import->app);
    bool is_short = is_named ? import->taken < all : all && !import->taken;
    return flushed ? flushed : is_short ? EXIT_FAILED : EXIT_FINISHED;
}

int mcp_import(struct app *app, const char *path, int count, char **names)
{
    struct import import = {.app = app, .path = path, .file.lock = -1, .told = json_array()};
    struct error error;
    json_t *root = mcp_file_read(path, &import.servers, &error);
    bool ok = root && (import.told || error_memory(&error)) &&
              mcp_file_open(&import.file, true, &error) &&
              (count ? take_named(&import, count, names, &error) : take_all(&import, &error)) &&
              (!import.taken || mcp_file_save(&import.file, &error));
    int code = ok ? tell(&import, count > 0) : app_fail(app, &error);
    mcp_file_close(&import.file);
    json_decref(import.told);
    json_decref(root);
    return code;
}
