#include <stdlib.h>

#include "command/command.h"
#include "provider/provider.h"

/* Whether a key is there, never the key. */
static void list_key(struct app *app, const struct profile *profile)
{
    if (!profile->key_env) {
        output_own(&app->out, "  key        none needed\n");
        return;
    }
    const char *value = getenv(profile->key_env);
    output_printf(&app->out, "  key        %s (%s)\n", profile->key_env,
                  value && *value ? "set" : "not set");
}

int command_providers(struct app *app, int count, char **operands)
{
    const struct profile *profile;
    (void)operands;
    if (count > 0)
        return command_usage(app, "providers", "'providers' takes nothing");
    for (size_t i = 0; (profile = profile_at(i)); i++) {
        output_printf(&app->out, "%s\n  %s\n", profile->name, profile->summary);
        if (!profile->wire)
            continue;
        list_key(app, profile);
        output_printf(&app->out, "  server     %s", profile->base_url);
        if (profile->base_url_env)
            output_printf(&app->out, " (%s)", profile->base_url_env);
        output_own(&app->out, "\n");
        if (profile->default_model)
            output_printf(&app->out, "  default    -m %s/%s\n", profile->name,
                          profile->default_model);
    }
    return app_flush(app);
}
