#include "command/model.h"

#include <stdlib.h>
#include <string.h>

#include "command/server.h"
#include "config/config_file.h"
#include "config/key.h"
#include "provider/curl_api.h"
#include "provider/local_server.h"

static bool needs_network(const char *model)
{
    return strcmp(model, "offline") != 0 && strncmp(model, "script/", 7) != 0;
}

void model_preload(const char *model)
{
    if (needs_network(model))
        curl_api_preload(); /* loads beside what follows */
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

/* What is on this machine, when nothing else is set up. */
static void find_local(const struct profiles *profiles, struct text *model, struct text *where)
{
    struct local_server server;
    if (!local_server_find(profiles, &server))
        return;
    text_printf(model, "%s/%s", server.profile->name, local_server_model(&server));
    text_puts(where, text_cstr(&server.address));
    local_server_release(&server);
}

bool model_find(struct app *app, struct text *model, struct text *where, struct error *error)
{
    const char *named = settings_text(&app->settings, SETTING_MODEL);
    const struct profiles *profiles = model_profiles(app, error);
    if (!profiles)
        return false;
    if (named) {
        text_puts(model, named);
    } else {
        choose_first(profiles, server_has_key, model);
        choose_first(profiles, server_needs_no_key, model);
    }
    if (model->length == 0 && !settings_text(&app->settings, SETTING_BASE_URL))
        find_local(profiles, model, where);
    if (model->failed || where->failed)
        return error_memory(error);
    return model->length > 0 ||
           error_set(error, ERROR_CONFIG,
                     "no model: set a key (OPENAI_API_KEY, ANTHROPIC_API_KEY, …), or name a model "
                     "with -m PROVIDER/MODEL, or start a local server (Ollama, llama.cpp), or try "
                     "-m offline; `mortise providers` lists them");
}

bool model_choose(struct app *app, struct text *model, struct error *error)
{
    struct text where = TEXT_INIT;
    bool found = model_find(app, model, &where, error);
    if (found && where.length && !settings_flag(&app->settings, SETTING_QUIET)) {
        output_own(&app->notes, "no key is set: using ");
        output_foreign(&app->notes, model->data, model->length);
        output_printf(&app->notes, " on %s\n", where.data);
        output_flush(&app->notes);
    }
    text_release(&where);
    return found;
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
    struct text key_from = TEXT_INIT;
    if (!profiles || (profile && !key_from_config(&app->settings, profile->name, &key, error)))
        return NULL;
    if (profile)
        key_describe(&app->settings, profile->name, &key_from);
    struct client_settings settings = {
        .profiles = profiles,
        .model = model,
        .base_url = settings_text(&app->settings, SETTING_BASE_URL),
        .key = key,
        .key_from = key_from.length ? key_from.data : NULL,
        .connect_timeout_ms = app_milliseconds(app, SETTING_CONNECT_TIMEOUT, 20000),
        .first_byte_timeout_ms = app_milliseconds(app, SETTING_FIRST_BYTE_TIMEOUT, 120000),
        .idle_timeout_ms = app_milliseconds(app, SETTING_IDLE_TIMEOUT, 120000),
        .response_limit = settings_whole(&app->settings, SETTING_RESPONSE_LIMIT, 0),
        .network = app_network(&app->settings),
        .retries = app_unsigned(app, SETTING_RETRIES, 3),
        .images = images_choice(settings_text(&app->settings, SETTING_IMAGES)),
    };
    struct client *client = client_new(&settings, error);
    free(key);
    text_release(&key_from);
    return client;
}
