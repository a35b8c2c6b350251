#include "command/plugin_reload.h"

struct told {
    plugin_reload_tell *tell;
    void *data;
    bool repeats; /* also what the reload before has told */
    bool any;
};

static void write_plugin(struct text *line, const struct plugin *plugin)
{
    text_puts(line, plugin->name);
    if (plugin->version)
        text_printf(line, " %s", plugin->version);
}

static void write_change(struct text *line, const struct plugin_change *change)
{
    switch (change->kind) {
    case PLUGIN_ADDED:
        text_puts(line, "added ");
        write_plugin(line, change->now);
        break;
    case PLUGIN_REPLACED:
        text_puts(line, "replaced ");
        write_plugin(line, change->before);
        text_puts(line, " by ");
        write_plugin(line, change->now);
        break;
    case PLUGIN_REMOVED:
        text_puts(line, "removed ");
        write_plugin(line, change->before);
        break;
    case PLUGIN_KEPT:
        text_printf(line, "%s: %s; ", change->path, change->reason);
        write_plugin(line, change->before);
        text_puts(line, " stays as it was");
        return;
    case PLUGIN_REFUSED:
        text_printf(line, "%s: %s", change->path, change->reason);
        return;
    }
    text_printf(line, " (%s)", change->path);
}

static void tell_change(void *context, const struct plugin_change *change)
{
    struct told *told = context;
    struct text line = TEXT_INIT;
    if (change->again && !told->repeats)
        return;
    write_change(&line, change);
    told->any = true;
    told->tell(told->data, text_cstr(&line), change->reason != NULL);
    text_release(&line);
}

bool plugin_reload(struct app *app, struct plugin_set *plugins, bool repeats,
                   plugin_reload_tell *tell, void *data, bool *any)
{
    struct told told = {.tell = tell, .data = data, .repeats = repeats};
    struct error error;
    if (!settings_read_sections_again(&app->settings, "plugin-config", &error)) {
        error_prefix(&error, "what was configured before holds");
        tell(data, error.message, true);
    }
    if (trust_is_asked(app))
        trust_read(app);
    bool loaded = plugin_set_reload(plugins, tell_change, &told, &error);
    if (!loaded)
        tell(data, error.message, true);
    *any = told.any;
    return loaded;
}
