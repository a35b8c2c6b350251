#include <errno.h>
#include <string.h>

#include "base/json_write.h"
#include "command/command.h"

/* "https://user:password@host/" is shown as "https://host/".  A proxy needs no scheme, and what is
 * wrong in it may be the password. */
static void append_value(struct text *out, enum setting_id id, const char *value)
{
    const char *scheme = strstr(value, "://");
    const char *rest = scheme ? scheme + 3 : value;
    size_t authority = id == SETTING_PROXY ? strlen(rest) : strcspn(rest, "/?#");
    const char *at = scheme || id == SETTING_PROXY ? memrchr(rest, '@', authority) : NULL;
    text_append(out, value, (size_t)(rest - value));
    text_puts(out, at ? at + 1 : rest);
}

static void show(struct app *app, enum setting_id id, const char *value)
{
    const char *name = setting_definitions[id].name;
    const char *source = setting_source_name(app->settings.values[id].source);
    struct text shown = TEXT_INIT;
    struct text line = TEXT_INIT;
    append_value(&shown, id, value);
    if (shown.failed)
        output_fail(&app->out, ENOMEM);
    if (app->json) {
        text_putc(&line, '{');
        json_put_string(&line, "name", name);
        json_put_text(&line, "value", text_cstr(&shown), shown.length);
        json_put_string(&line, "source", source);
        app_print_json(app, &line);
    } else {
        output_printf(&app->out, "%-20s ", name);
        output_foreign(&app->out, text_cstr(&shown), shown.length);
        output_printf(&app->out, "  (%s)\n", source);
    }
    text_release(&shown);
}

int command_config(struct app *app, int count, char **operands)
{
    if (count > 1 || (count == 1 && strcmp(operands[0], "show") != 0))
        return command_usage(app, "config", "unknown or missing words after 'config'");
    for (int id = 0; id < SETTING_ID_COUNT; id++) {
        size_t values;
        char *const *items = settings_list(&app->settings, (enum setting_id)id, &values);
        for (size_t i = 0; i < values; i++)
            show(app, (enum setting_id)id, items[i]);
    }
    return app_flush(app);
}
