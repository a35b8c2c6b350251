#include <stdlib.h>

#include "base/json_write.h"
#include "command/command.h"
#include "command/model.h"

static const char *source_of(const struct profile *profile)
{
    return !profile->is_own                                     ? "built in"
           : profile_find(profile->name, strlen(profile->name)) ? "built in, with changes of the "
                                                                  "configuration"
                                                                : "configuration";
}

/* Whether a key is there, never the key. */
static void list_key(struct app *app, const struct profile *profile)
{
    if (profile->key_from) {
        output_printf(&app->out, "  key        of a %s that the configuration names\n",
                      profile->key_from);
        return;
    }
    if (!profile->key_env) {
        output_own(&app->out, "  key        none needed\n");
        return;
    }
    output_printf(&app->out, "  key        %s", profile->key_env);
    if (profile->key_env_too)
        output_printf(&app->out, " or %s", profile->key_env_too);
    output_printf(&app->out, " (%s%s)\n", profile_key(profile, NULL) ? "set" : "not set",
                  profile->key_is_optional ? "; none needed" : "");
    if (profile->aws_service)
        output_own(&app->out, "             or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
                              "AWS_PROFILE of ~/.aws/credentials\n");
}

static void list_server(struct app *app, const struct profile *profile)
{
    output_own(&app->out, "  server     ");
    if (profile->base_url)
        output_foreign(&app->out, profile->base_url, strlen(profile->base_url));
    if (profile->base_url_env)
        output_printf(&app->out, profile->base_url ? " (%s)" : "%s", profile->base_url_env);
    output_own(&app->out, "\n");
}

/* The names alone: a value may be secret. */
static void list_pairs(struct app *app, const char *label, const struct profile_pair *pair)
{
    for (; pair && pair->name; pair++) {
        output_printf(&app->out, "  %-10s ", label);
        output_foreign(&app->out, pair->name, strlen(pair->name));
        output_own(&app->out, "\n");
    }
}

static void list_for_people(struct app *app, const struct profile *profile)
{
    output_printf(&app->out, "%s\n  ", profile->name);
    output_foreign(&app->out, profile->summary, strlen(profile->summary));
    output_own(&app->out, "\n");
    if (!profile->wire)
        return;
    if (profile->is_own)
        output_printf(&app->out, "  from       %s\n", source_of(profile));
    list_key(app, profile);
    list_server(app, profile);
    if (profile->is_own) {
        list_pairs(app, "header", profile->headers);
        list_pairs(app, "query", profile->query);
    }
    if (profile->default_model) {
        output_printf(&app->out, "  default    -m %s/", profile->name);
        output_foreign(&app->out, profile->default_model, strlen(profile->default_model));
        output_own(&app->out, "\n");
    }
}

static void put_names(struct text *line, const char *key, const struct profile_pair *pair)
{
    json_put_key(line, key);
    text_putc(line, '[');
    for (size_t i = 0; pair && pair[i].name; i++) {
        text_puts(line, i ? "," : "");
        text_json_string(line, pair[i].name, strlen(pair[i].name));
    }
    text_putc(line, ']');
}

static void list_json(struct app *app, const struct profile *profile)
{
    struct text line = TEXT_INIT;
    text_putc(&line, '{');
    json_put_string(&line, "name", profile->name);
    json_put_string(&line, "summary", profile->summary);
    json_put_string(&line, "source", source_of(profile));
    json_put_string(&line, "like", profile->like);
    json_put_string(&line, "format", profile->wire ? profile->wire->name : NULL);
    json_put_string(&line, "key_env", profile->key_env);
    json_put_string(&line, "key_env_too", profile->key_env_too);
    json_put_string(&line, "key_from", profile->key_from);
    json_put_boolean(&line, "key_set", profile->key_from || profile_key(profile, NULL));
    json_put_boolean(&line, "key_needed",
                     profile->key_from || (profile->key_env && !profile->key_is_optional &&
                                           !profile->aws_service));
    json_put_string(&line, "signed_for", profile->aws_service);
    json_put_string(&line, "base_url", profile->base_url);
    json_put_string(&line, "base_url_env", profile->base_url_env);
    put_names(&line, "headers", profile->headers);
    put_names(&line, "query", profile->query);
    json_put_string(&line, "default_model", profile->default_model);
    app_print_json(app, &line);
}

int command_providers(struct app *app, int count, char **operands)
{
    const struct profile *profile;
    struct error error;
    (void)operands;
    if (count > 0)
        return command_usage(app, "providers", "'providers' takes nothing");
    const struct profiles *profiles = model_profiles(app, &error);
    if (!profiles)
        return app_fail(app, &error);
    for (size_t i = 0; (profile = profiles_at(profiles, i)); i++)
        (app->json ? list_json : list_for_people)(app, profile);
    return app_flush(app);
}
