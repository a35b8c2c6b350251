#include "base/json_write.h"
#include "command/command.h"
#include "plugin/hooks.h"

static void list_event(struct app *app, const struct registry *registry, enum hook_event event)
{
    const struct hook *hook;
    bool taken = false;
    output_printf(&app->out, "%-17s", hook_event_name(event));
    for (size_t i = 0; (hook = registry_hook(registry, i)); i++) {
        if (!hook_takes(hook, event))
            continue;
        output_printf(&app->out, "%s %s/%s (%d)", taken ? "," : "", hook->plugin->name, hook->name,
                      (int)hook->table->priority);
        taken = true;
    }
    output_own(&app->out, taken ? "\n" : " -\n");
}

static void list_event_json(struct app *app, const struct registry *registry,
                            enum hook_event event)
{
    const struct hook *hook;
    struct text line = TEXT_INIT;
    text_putc(&line, '{');
    json_put_string(&line, "event", hook_event_name(event));
    json_put_key(&line, "hooks");
    text_putc(&line, '[');
    const char *lead = "{";
    for (size_t i = 0; (hook = registry_hook(registry, i)); i++) {
        if (!hook_takes(hook, event))
            continue;
        text_puts(&line, lead);
        json_put_string(&line, "plugin", hook->plugin->name);
        json_put_string(&line, "hook", hook->name);
        json_put_integer(&line, "priority", hook->table->priority);
        text_putc(&line, '}');
        lead = ",{";
    }
    text_putc(&line, ']');
    app_print_json(app, &line);
}

int command_hooks(struct app *app, int count, char **operands)
{
    struct error error;
    (void)operands;
    if (count > 0)
        return command_usage(app, "hooks", "'hooks' takes nothing");
    struct registry *registry = app_load(app, &error);
    if (!registry)
        return app_fail(app, &error);
    for (int event = 0; event < HOOK_EVENT_COUNT; event++)
        (app->json ? list_event_json : list_event)(app, registry, (enum hook_event)event);
    registry_unref(registry);
    return app_flush(app);
}
