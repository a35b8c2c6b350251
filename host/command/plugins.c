#include <string.h>

#include "base/json_write.h"
#include "base/log.h"
#include "command/command.h"
#include "plugin/hooks.h"
#include "plugin/loader.h"

static void list_loaded(struct app *app, const struct plugin *plugin)
{
    output_printf(&app->out, "%s %s  %zu tool%s, %zu hook%s  ", plugin->name,
                  plugin->version ? plugin->version : "", plugin->tool_count,
                  plugin->tool_count == 1 ? "" : "s", plugin->hook_count,
                  plugin->hook_count == 1 ? "" : "s");
    output_foreign(&app->out, plugin->path, strlen(plugin->path));
    output_own(&app->out, "\n");
}

static void list_loaded_json(struct app *app, const struct plugin *plugin)
{
    struct text line = TEXT_INIT;
    text_putc(&line, '{');
    json_put_string(&line, "name", plugin->name);
    json_put_string(&line, "version", plugin->version);
    json_put_string(&line, "path", plugin->path);
    json_put_boolean(&line, "loaded", true);
    json_put_integer(&line, "tools", (int64_t)plugin->tool_count);
    json_put_integer(&line, "hooks", (int64_t)plugin->hook_count);
    app_print_json(app, &line);
}

static void list_refused_json(struct app *app, const struct refusal *refusal)
{
    struct text line = TEXT_INIT;
    text_putc(&line, '{');
    json_put_string(&line, "path", refusal->path);
    json_put_boolean(&line, "loaded", false);
    json_put_string(&line, "reason", refusal->reason);
    app_print_json(app, &line);
}

/* Refusals were told on standard error when they happened; programs get them here too. */
static int list(struct app *app, const struct registry *registry)
{
    const struct plugin *plugin;
    const struct refusal *refusal;
    for (size_t i = 0; (plugin = registry_plugin(registry, i)); i++)
        if (app->json)
            list_loaded_json(app, plugin);
        else
            list_loaded(app, plugin);
    for (size_t i = 0; app->json && (refusal = registry_refusal(registry, i)); i++)
        list_refused_json(app, refusal);
    return app_flush(app);
}

static const struct plugin *find(const struct registry *registry, const char *name)
{
    const struct plugin *plugin;
    for (size_t i = 0; (plugin = registry_plugin(registry, i)); i++)
        if (strcmp(plugin->name, name) == 0)
            return plugin;
    return NULL;
}

static void show_hook(struct app *app, const struct hook *hook)
{
    output_printf(&app->out, "hook     %s, priority %d:", hook->name, (int)hook->table->priority);
    for (int event = 0; event < HOOK_EVENT_COUNT; event++)
        if (hook_takes(hook, (enum hook_event)event))
            output_printf(&app->out, " %s", hook_event_name((enum hook_event)event));
    output_own(&app->out, "\n");
}

static int show(struct app *app, const struct registry *registry, const char *name)
{
    struct error error;
    const struct plugin *plugin = find(registry, name);
    const struct tool *tool;
    const struct hook *hook;
    if (!plugin) {
        error_set(&error, ERROR_USAGE, "plugin '%s' is not loaded; `mortise plugins` lists them",
                  name);
        return app_fail(app, &error);
    }
    output_printf(&app->out, "%s %s\nfile     ", plugin->name,
                  plugin->version ? plugin->version : "");
    output_foreign(&app->out, plugin->path, strlen(plugin->path));
    output_own(&app->out, "\n");
    for (size_t i = 0; (tool = registry_tool(registry, i)); i++)
        if (tool->plugin == plugin) {
            output_printf(&app->out, "tool     %s: ", tool->name);
            output_foreign(&app->out, tool->meta.description,
                           strcspn(tool->meta.description, "\n"));
            output_own(&app->out, "\n");
        }
    for (size_t i = 0; (hook = registry_hook(registry, i)); i++)
        if (hook->plugin == plugin)
            show_hook(app, hook);
    return app_flush(app);
}

/* Reads the files only; none of their code runs. */
static int check(struct app *app, int count, char **files)
{
    int code = EXIT_FINISHED;
    for (int i = 0; i < count; i++) {
        mortise_stamp stamp;
        struct error error;
        if (loader_check(files[i], &stamp, &error)) {
            output_foreign(&app->out, files[i], strlen(files[i]));
            output_printf(&app->out, ": good, for plugin interface %u.%u\n", stamp.abi_major,
                          stamp.abi_minor);
        } else {
            log_error("%s: %s", files[i], error.message);
            code = EXIT_PLUGIN;
        }
    }
    int flushed = app_flush(app);
    return flushed ? flushed : code;
}

int command_plugins(struct app *app, int count, char **operands)
{
    const char *verb = count > 0 ? operands[0] : "list";
    bool is_show = strcmp(verb, "show") == 0 && count == 2;
    struct error error;
    if (strcmp(verb, "check") == 0 && count > 1)
        return check(app, count - 1, operands + 1);
    if (!is_show && (strcmp(verb, "list") != 0 || count > 1))
        return command_usage(app, "plugins", "unknown words after 'plugins'");
    struct registry *registry = app_load(app, &error);
    if (!registry)
        return app_fail(app, &error);
    int code = is_show ? show(app, registry, operands[1]) : list(app, registry);
    registry_unref(registry);
    return code;
}
