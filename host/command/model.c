#include "command/model.h"

#include <stdlib.h>
#include <string.h>

#include "config/config_file.h"
#include "config/key.h"
#include "provider/curl_api.h"

static bool needs_network(const char *model)
{
    return strcmp(model, "offline") != 0 && strncmp(model, "script/", 7) != 0;
}

void model_preload(const char *model)
{
    if (needs_network(model))
        curl_api_preload(); /* loads beside what follows */
}

static bool has_key(const struct profile *profile)
{
    return profile->key_from || profile_key(profile, NULL);
}

static bool needs_none(const struct profile *profile)
{
    return profile->is_own && (!profile->key_env || profile->key_is_optional);
}

const struct profiles *model_profiles(struct app *app, struct error *error)
{
    if (app->profiles)
        return app->profiles;
    app->profiles =
        profiles_new(json_object_get(app->settings.user_file, "provider-config"), error);
    if (!app->profiles && error->kind == ERROR_CONFIG) {
        char *path = config_file_user_path(&app->settings);
        error_prefix(error, "configuration '%s'", path ? path : "config.json");
        free(path);
    }
    return app->profiles;
}

/* Appends the default model of the first provider that has one and is `ready`. */
static void choose_first(const struct profiles *profiles,
                         bool (*ready)(const struct profile *profile), struct text *model)
{
    const struct profile *profile;
    for (size_t i = 0; !model->length && (profile = profiles_at(profiles, i)); i++)
        if (profile->default_model && ready(profile))
            text_printf(model, "%s/%s", profile->name, profile->default_model);
}

bool model_choose(struct app *app, struct text *model, struct error *error)
{
    const char *named = settings_text(&app->settings, SETTING_MODEL);
    const struct profiles *profiles = model_profiles(app, error);
    if (!profiles)
        return false;
    if (named) {
        text_puts(model, named);
    } else {
        choose_first(profiles, has_key, model);
        choose_first(profiles, needs_none, model);
    }
    if (model->failed)
        return error_memory(error);
    return model->length > 0 ||
           error_set(error, ERROR_CONFIG,
                     "no model: set a key (OPENAI_API_KEY, ANTHROPIC_API_KEY, …), or name a model "
                     "with -m PROVIDER/MODEL, or try -m offline; `mortise providers` lists them");
}

static enum images_choice images_choice(const char *word)
{
    return word && strcmp(word, "on") == 0    ? IMAGES_ON
           : word && strcmp(word, "off") == 0 ? IMAGES_OFF
                                              : IMAGES_AUTO;
}

struct client *model_client(struct app *app, const char *model, struct error *error)
{
    const struct profiles *profiles = model_profiles(app, error);
    const struct profile *profile =
        profiles ? profiles_find(profiles, model, strcspn(model, "/")) : NULL;
    char *key = NULL;
    if (!profiles || (profile && !key_from_config(&app->settings, profile->name, &key, error)))
        return NULL;
    struct client_settings settings = {
        .profiles = profiles,
        .model = model,
        .base_url = settings_text(&app->settings, SETTING_BASE_URL),
        .key = key,
        .connect_timeout_ms = app_milliseconds(app, SETTING_CONNECT_TIMEOUT, 20000),
        .first_byte_timeout_ms = app_milliseconds(app, SETTING_FIRST_BYTE_TIMEOUT, 120000),
        .idle_timeout_ms = app_milliseconds(app, SETTING_IDLE_TIMEOUT, 120000),
        .retries = app_unsigned(app, SETTING_RETRIES, 3),
        .images = images_choice(settings_text(&app->settings, SETTING_IMAGES)),
    };
    struct client *client = client_new(&settings, error);
    free(key);
    return client;
}
