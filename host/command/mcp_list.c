/* mcp list: the user's MCP servers, without what is secret of them. */
#include <errno.h>
#include <string.h>

#include "base/json_write.h"
#include "base/log.h"
#include "command/command.h"
#include "command/mcp.h"
#include "command/mcp_entry.h"
#include "command/mcp_file.h"

enum { WIDEST = 24 };

static void list_as_json(struct app *app, const char *name, const json_t *entry)
{
    struct text line = TEXT_INIT, target = TEXT_INIT;
    bool is_http = mcp_entry_is_http(entry);
    mcp_entry_target(entry, &target);
    text_putc(&line, '{');
    json_put_string(&line, "name", name);
    json_put_string(&line, "transport", is_http ? "http" : "stdio");
    json_put_text(&line, is_http ? "url" : "command", text_cstr(&target), target.length);
    json_put_key(&line, is_http ? "headers" : "env");
    mcp_entry_names(entry, true, &line);
    json_put_boolean(&line, "disabled", mcp_entry_is_disabled(entry));
    if (target.failed)
        output_fail(&app->out, ENOMEM);
    app_print_json(app, &line);
    text_release(&target);
}

static void list_as_text(struct app *app, const char *name, const json_t *entry, int width)
{
    struct text line = TEXT_INIT, target = TEXT_INIT, names = TEXT_INIT;
    bool is_http = mcp_entry_is_http(entry);
    mcp_entry_target(entry, &target);
    mcp_entry_names(entry, false, &names);
    text_printf(&line, "%-*s  %-5s  %s", width, name, is_http ? "http" : "stdio",
                text_cstr(&target));
    if (names.length)
        text_printf(&line, "  (%s %s)", is_http ? "headers" : "env", text_cstr(&names));
    if (mcp_entry_is_disabled(entry))
        text_puts(&line, "  disabled");
    if (line.failed || target.failed || names.failed)
        output_fail(&app->out, ENOMEM);
    output_foreign(&app->out, text_cstr(&line), line.length);
    output_own(&app->out, "\n");
    text_release(&line);
    text_release(&target);
    text_release(&names);
}

static int list(struct app *app, const struct mcp_file *file)
{
    const char *name;
    json_t *entry;
    int width = 0;
    json_object_foreach (file->servers, name, entry) {
        int length = (int)strnlen(name, WIDEST);
        width = length > width ? length : width;
    }
    json_object_foreach (file->servers, name, entry) {
        if (app->json)
            list_as_json(app, name, entry);
        else
            list_as_text(app, name, entry, width);
    }
    if (!app->json && json_object_size(file->servers) == 0)
        log_error("no MCP servers; `mortise mcp add NAME -- COMMAND` adds one to '%s'", file->path);
    mcp_file_warn_unused(file);
    return app_flush(app);
}

int mcp_list_command(struct app *app, int count, char **operands)
{
    struct error error;
    struct mcp_file file;
    (void)operands;
    if (count > 0)
        return command_usage(app, "mcp", "'list' takes no words");
    int code = mcp_file_open(&file, false, &error) ? list(app, &file) : app_fail(app, &error);
    mcp_file_close(&file);
    return code;
}
