#include "command/server.h"

#include <stdlib.h>
#include <string.h>

#include "config/key.h"

enum { LIST_TIMEOUT_MS = 30000 };

const struct profile *server_profile(const struct profiles *profiles, const char *model,
                                     struct error *error)
{
    size_t length = strcspn(model, "/");
    const struct profile *profile = profiles_find(profiles, model, length);
    if (!profile)
        error_set(error, ERROR_USAGE, "no provider '%.*s'; `mortise providers` lists them",
                  length > 64 ? 64 : (int)length, model);
    else if (!profile->wire)
        error_set(error, ERROR_USAGE, "'%s' is no server that could be asked", profile->name);
    return profile && profile->wire ? profile : NULL;
}

bool server_has_key(const struct profile *profile)
{
    return profile->key_from || profile_key(profile, NULL);
}

bool server_needs_no_key(const struct profile *profile)
{
    return profile->is_own && (!profile->key_env || profile->key_is_optional);
}

bool server_init(struct server *server, const struct app *app, const struct profile *profile,
                 struct error *error)
{
    const char *base_url = settings_text(&app->settings, SETTING_BASE_URL);
    *server = (struct server){.profile = profile};
    if (key_from_config(&app->settings, profile->name, &server->configured, error) &&
        profile_take_key(profile, server->configured, &server->key, &server->key_from, error) &&
        profile_base_url(profile, base_url, &server->base_url, error) &&
        profile_pairs_read(profile, &server->pairs, error))
        return true;
    server_release(server);
    return false;
}

void server_release(struct server *server)
{
    text_release(&server->base_url);
    free(server->configured);
    profile_pairs_release(&server->pairs);
    *server = (struct server){0};
}

/* Which key it was that was refused, or which is missing. */
static void name_key(const struct server *server, struct error *error)
{
    const struct error said = *error;
    if (said.kind != ERROR_AUTH || !server->profile->key_env)
        return;
    if (server->key)
        error_set(error, said.kind, "the key in %s is refused: %s", server->key_from, said.message);
    else
        error_set(error, said.kind, "it wants a key: set %s (%s)", server->profile->key_env,
                  said.message);
    error->status = said.status;
}

bool server_models(const struct server *server, const struct app *app, struct model_list *list,
                   struct http_get **get, struct error *error)
{
    const struct http_get_settings settings = {
        .profile = server->profile,
        .base_url = text_cstr(&server->base_url),
        .query = server->pairs.query.data,
        .headers = (const char *const *)server->pairs.headers,
        .key = server->key,
        .network = app_network(&app->settings),
        .connect_timeout_ms = app_milliseconds(app, SETTING_CONNECT_TIMEOUT, 20000),
        .timeout_ms = LIST_TIMEOUT_MS,
    };
    struct http_get *made = NULL;
    bool ok = server->profile->wire->models
                  ? (made = http_get_new(&settings, error)) &&
                        models_read(made, server->profile, list, error)
                  : error_set(error, ERROR_USAGE, "its models cannot be listed here");
    if (!ok)
        name_key(server, error);
    if (get)
        *get = made;
    else
        http_get_free(made);
    return ok;
}
