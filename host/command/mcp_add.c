/* mcp add, mcp remove: the user's list of MCP servers. */
#include <errno.h>
#include <string.h>

#include "base/json_write.h"
#include "base/log.h"
#include "base/suggest.h"
#include "command/command.h"
#include "command/mcp.h"
#include "command/mcp_entry.h"
#include "command/mcp_file.h"

/* ---- add ---- */

static bool put(struct mcp_file *file, const char *name, json_t *entry, struct error *error)
{
    if (json_object_get(file->servers, name))
        return error_set(error, ERROR_USAGE,
                         "there is a server '%s' already; `mortise mcp remove %s` makes room", name,
                         name);
    return json_object_set(file->servers, name, entry) == 0 || error_memory(error);
}

static void tell_added(struct app *app, const char *name, const json_t *entry)
{
    struct text target = TEXT_INIT, line = TEXT_INIT;
    mcp_entry_target(entry, &target);
    if (app->json) {
        text_putc(&line, '{');
        json_put_string(&line, "name", name);
        json_put_boolean(&line, "added", true);
        app_print_json(app, &line);
    } else {
        text_printf(&line, "added: %s (%s)", name, text_cstr(&target));
        output_foreign(&app->out, text_cstr(&line), line.length);
        output_own(&app->out, "\n");
        if (line.failed || target.failed)
            output_fail(&app->out, ENOMEM);
        log_note("`mortise mcp check` starts it and tells what tools it has");
    }
    text_release(&line);
    text_release(&target);
}

static int add(struct app *app, const char *name, int count, char **words)
{
    struct error error;
    struct mcp_file file = {.lock = -1};
    json_t *entry =
        mcp_entry_name(name, &error) ? mcp_entry_new(&app->settings, count, words, &error) : NULL;
    bool ok = entry && mcp_file_open(&file, true, &error) && put(&file, name, entry, &error) &&
              mcp_file_save(&file, &error);
    if (ok) {
        tell_added(app, name, entry);
        mcp_file_warn_unused(&file);
    }
    mcp_file_close(&file);
    json_decref(entry);
    return ok ? app_flush(app) : app_fail(app, &error);
}

int mcp_add_command(struct app *app, int count, char **operands)
{
    const char *from = settings_text(&app->settings, SETTING_FROM);
    if (from)
        return mcp_import(app, from, count, operands);
    if (count < 2)
        return command_usage(app, "mcp", "'add' needs a name, and a URL or a command behind `--`");
    return add(app, operands[0], count - 1, operands + 1);
}

/* ---- remove ---- */

bool mcp_unknown_server(const json_t *servers, const char *name, const char *hint,
                        struct error *error)
{
    struct suggestion suggestion;
    const char *key;
    json_t *entry;
    suggestion_begin(&suggestion, name);
    json_object_foreach ((json_t *)(uintptr_t)servers, key, entry)
        suggestion_consider(&suggestion, key);
    return suggestion.best ? error_set(error, ERROR_USAGE, "no server '%s'; did you mean '%s'?",
                                       name, suggestion.best)
                           : error_set(error, ERROR_USAGE, "no server '%s'; %s", name, hint);
}

static void tell_removed(struct app *app, const char *name)
{
    struct text line = TEXT_INIT;
    if (app->json) {
        text_putc(&line, '{');
        json_put_string(&line, "name", name);
        json_put_boolean(&line, "removed", true);
        app_print_json(app, &line);
        return;
    }
    output_own(&app->out, "removed: ");
    output_foreign(&app->out, name, strlen(name));
    output_own(&app->out, "\n");
}

/* All of them or none. */
static bool take_out(struct mcp_file *file, int count, char **names, struct error *error)
{
    for (int i = 0; i < count; i++)
        if (json_object_del(file->servers, names[i]) != 0)
            return mcp_unknown_server(file->servers, names[i], MCP_LIST_HINT, error);
    return mcp_file_save(file, error);
}

int mcp_remove_command(struct app *app, int count, char **operands)
{
    struct error error;
    struct mcp_file file;
    if (count < 1)
        return command_usage(app, "mcp", "'remove' needs the name of a server");
    bool ok = mcp_file_open(&file, true, &error) && take_out(&file, count, operands, &error);
    mcp_file_close(&file);
    for (int i = 0; ok && i < count; i++)
        tell_removed(app, operands[i]);
    return ok ? app_flush(app) : app_fail(app, &error);
}
