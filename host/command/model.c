#include "command/model.h"

#include <stdlib.h>
#include <string.h>

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

static bool has_key(const struct app *app, const struct profile *profile)
{
    return profile_key(profile, NULL) ||
           settings_section(&app->settings, "provider-config", profile->name);
}

bool model_choose(struct app *app, struct text *model, struct error *error)
{
    const char *named = settings_text(&app->settings, SETTING_MODEL);
    if (named)
        text_puts(model, named);
    for (size_t i = 0; !named && model->length == 0 && profile_at(i); i++) {
        const struct profile *profile = profile_at(i);
        if (profile->default_model && has_key(app, profile))
            text_printf(model, "%s/%s", profile->name, profile->default_model);
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
    size_t provider_length = strcspn(model, "/");
    char provider[64];
    char *key = NULL;
    struct text key_from = TEXT_INIT;
    if (provider_length < sizeof(provider)) {
        memcpy(provider, model, provider_length);
        provider[provider_length] = '\0';
        if (!key_from_config(&app->settings, provider, &key, error))
            return NULL;
        key_describe(&app->settings, provider, &key_from);
    }
    struct client_settings settings = {
        .model = model,
        .base_url = settings_text(&app->settings, SETTING_BASE_URL),
        .key = key,
        .key_from = key_from.length ? key_from.data : NULL,
        .connect_timeout_ms = app_milliseconds(app, SETTING_CONNECT_TIMEOUT, 20000),
        .first_byte_timeout_ms = app_milliseconds(app, SETTING_FIRST_BYTE_TIMEOUT, 120000),
        .idle_timeout_ms = app_milliseconds(app, SETTING_IDLE_TIMEOUT, 120000),
        .retries = app_unsigned(app, SETTING_RETRIES, 3),
        .images = images_choice(settings_text(&app->settings, SETTING_IMAGES)),
    };
    struct client *client = client_new(&settings, error);
    free(key);
    text_release(&key_from);
    return client;
}
