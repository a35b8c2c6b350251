#include <string.h>

#include "command/command.h"

int command_config(struct app *app, int count, char **operands)
{
    if (count > 1 || (count == 1 && strcmp(operands[0], "show") != 0))
        return command_usage(app, "config", "unknown words after 'config'");
    for (int id = 0; id < SETTING_ID_COUNT; id++) {
        size_t values;
        char *const *items = settings_list(&app->settings, (enum setting_id)id, &values);
        for (size_t i = 0; i < values; i++) {
            output_printf(&app->out, "%-20s ", setting_definitions[id].name);
            output_foreign(&app->out, items[i], strlen(items[i]));
            output_printf(&app->out, "  (%s)\n",
                          setting_source_name(app->settings.values[id].source));
        }
    }
    return app_flush(app);
}
