#include <stdlib.h>

#include "base/json_write.h"
#include "command/command.h"
#include "provider/provider.h"

/* Whether a key is there, never the key. */
static void list_key(struct app *app, const struct profile *profile)
{
    if (!profile->key_env) {
        output_own(&app->out, "  key        none needed\n");
        return;
    }
    output_printf(&app->out, "  key        %s", profile->key_env);
    if (profile->key_env_too)
        output_printf(&app->out, " or %s", profile->key_env_too);
    output_printf(&app->out, " (%s)\n", profile_key(profile, NULL) ? "set" : "not set");
}

static void list_for_people(struct app *app, const struct profile *profile)
{
    output_printf(&app->out, "%s\n  %s\n", profile->name, profile->summary);
    if (!profile->wire)
        return;
    list_key(app, profile);
    output_printf(&app->out, "  server     %s", profile->base_url);
    if (profile->base_url_env)
        output_printf(&app->out, " (%s)", profile->base_url_env);
    output_own(&app->out, "\n");
    if (profile->default_model)
        output_printf(&app->out, "  default    -m %s/%s\n", profile->name, profile->default_model);
}

static void list_json(struct app *app, const struct profile *profile)
{
    struct text line = TEXT_INIT;
    text_putc(&line, '{');
    json_put_string(&line, "name", profile->name);
    json_put_string(&line, "summary", profile->summary);
    json_put_string(&line, "key_env", profile->key_env);
    json_put_string(&line, "key_env_too", profile->key_env_too);
    json_put_boolean(&line, "key_set", profile_key(profile, NULL) != NULL);
    json_put_string(&line, "base_url", profile->base_url);
    json_put_string(&line, "base_url_env", profile->base_url_env);
    json_put_string(&line, "default_model", profile->default_model);
    app_print_json(app, &line);
}

int command_providers(struct app *app, int count, char **operands)
{
    const struct profile *profile;
    (void)operands;
    if (count > 0)
        return command_usage(app, "providers", "'providers' takes nothing");
    for (size_t i = 0; (profile = profile_at(i)); i++)
        (app->json ? list_json : list_for_people)(app, profile);
    return app_flush(app);
}
