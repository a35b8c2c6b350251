#include <errno.h>
#include <string.h>

#include "base/json_write.h"
#include "base/log.h"
#include "command/account.h"
#include "command/command.h"
#include "command/tool_view.h"
#include "plugin/hooks.h"
#include "plugin/loader.h"

static void list_loaded(struct app *app, const struct plugin *plugin)
{
    output_printf(&app->out, "%s%s%s  %zu tool%s, %zu hook%s  ", plugin->name,
                  plugin->version ? " " : "", plugin->version ? plugin->version : "",
                  plugin->tool_count, plugin->tool_count == 1 ? "" : "s", plugin->hook_count,
                  plugin->hook_count == 1 ? "" : "s");
    output_foreign(&app->out, plugin->path, strlen(plugin->path));
    const struct trust_view view = trust_view(app, plugin);
    output_printf(&app->out, "%s%s\n", view.words ? "  " : "", view.words ? view.words : "");
}

/* What is known of each tool that was ever called. */
static void put_account(struct text *line, const struct registry *registry,
                        const struct plugin *plugin, const json_t *book)
{
    const struct tool *tool;
    struct account_sum sum;
    bool any = false;
    json_put_key(line, "account");
    text_putc(line, '[');
    for (size_t i = 0; (tool = registry_tool(registry, i)); i++) {
        if (tool->plugin != plugin || !account_of(book, tool, &sum))
            continue;
        text_puts(line, any ? ",{" : "{");
        any = true;
        json_put_string(line, "tool", tool->name);
        account_put_json(line, &sum);
        text_putc(line, '}');
    }
    text_putc(line, ']');
}

static void list_loaded_json(struct app *app, const struct registry *registry,
                             const struct plugin *plugin, const json_t *book)
{
    struct text line = TEXT_INIT;
    text_putc(&line, '{');
    json_put_string(&line, "name", plugin->name);
    json_put_string(&line, "version", plugin->version);
    json_put_string(&line, "path", plugin->path);
    json_put_boolean(&line, "loaded", true);
    json_put_string(&line, "isolation", tool_view_place(plugin));
    json_put_integer(&line, "tools", (int64_t)plugin->tool_count);
    json_put_integer(&line, "hooks", (int64_t)plugin->hook_count);
    const struct trust_view view = trust_view(app, plugin);
    if (view.word) {
        json_put_string(&line, "trust", view.word);
        json_put_string(&line, "sha256", view.sha256);
    }
    put_account(&line, registry, plugin, book);
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
    json_t *book = app->json ? account_book() : NULL;
    for (size_t i = 0; (plugin = registry_plugin(registry, i)); i++)
        if (app->json)
            list_loaded_json(app, registry, plugin, book);
        else
            list_loaded(app, plugin);
    for (size_t i = 0; app->json && (refusal = registry_refusal(registry, i)); i++)
        list_refused_json(app, refusal);
    json_decref(book);
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

static void show_account(struct app *app, const struct registry *registry,
                         const struct plugin *plugin, const json_t *book)
{
    struct account_table table = {0};
    const struct tool *tool;
    struct account_sum sum;
    for (size_t i = 0; (tool = registry_tool(registry, i)); i++)
        if (tool->plugin == plugin && account_of(book, tool, &sum))
            account_table_add(&table, tool->name, &sum);
    output_own(&app->out, table.rows ? "account\n" : "");
    account_table_show(&table, &app->out);
}

/* What is granted, where the configuration says so. */
static void show_scopes(struct app *app, const struct plugin *plugin)
{
    if (!plugin->scopes)
        return;
    output_own(&app->out, "scopes  ");
    for (size_t i = 0; plugin->scopes[i]; i++)
        output_printf(&app->out, " %s", plugin->scopes[i]);
    output_own(&app->out, plugin->scopes[0] ? "\n" : " none\n");
}

static void show_plugin(struct app *app, const struct registry *registry,
                        const struct plugin *plugin)
{
    const struct tool *tool;
    const struct hook *hook;
    struct text runs = TEXT_INIT;
    output_printf(&app->out, "%s%s%s\nfile     ", plugin->name, plugin->version ? " " : "",
                  plugin->version ? plugin->version : "");
    output_foreign(&app->out, plugin->path, strlen(plugin->path));
    tool_view_plugin_runs(&runs, plugin);
    if (runs.failed)
        output_fail(&app->out, ENOMEM);
    output_printf(&app->out, "\nruns     %s\n", text_cstr(&runs));
    text_release(&runs);
    const struct trust_view view = trust_view(app, plugin);
    if (view.word)
        output_printf(&app->out, "trust    %s, SHA-256 %s\n", view.words, view.sha256);
    show_scopes(app, plugin);
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
}

static int show(struct app *app, const struct registry *registry, const char *name)
{
    struct error error;
    const struct plugin *plugin = find(registry, name);
    if (!plugin) {
        error_set(&error, ERROR_USAGE, "plugin '%s' is not loaded; `mortise plugins` lists them",
                  name);
        return app_fail(app, &error);
    }
    json_t *book = account_book();
    if (app->json) {
        list_loaded_json(app, registry, plugin, book);
    } else {
        show_plugin(app, registry, plugin);
        show_account(app, registry, plugin, book);
    }
    json_decref(book);
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
    if (strcmp(verb, "reset") == 0 && count == 2)
        return account_forget(app, operands[1]);
    if (strcmp(verb, "trust") == 0 && count > 1)
        return trust_add(app, count - 1, operands + 1);
    if (strcmp(verb, "trusted") == 0 && count == 1)
        return trust_list(app);
    if (strcmp(verb, "distrust") == 0 && count > 1)
        return trust_remove(app, count - 1, operands + 1);
    if (!is_show && (strcmp(verb, "list") != 0 || count > 1))
        return command_usage(app, "plugins", "unknown or missing words after 'plugins'");
    struct registry *registry = app_load(app, &error);
    if (!registry)
        return app_fail(app, &error);
    trust_read(app);
    int code = is_show ? show(app, registry, operands[1]) : list(app, registry);
    registry_unref(registry);
    return code;
}
