#include <errno.h>
#include <string.h>

#include "base/json_write.h"
#include "base/log.h"
#include "command/command.h"
#include "command/model.h"
#include "command/server.h"
#include "provider/local_server.h"

static void show(struct app *app, const struct profile *profile, const struct model *model)
{
    struct text name = TEXT_INIT;
    struct text line = TEXT_INIT;
    text_printf(&name, "%s/%s", profile->name, model->id);
    if (app->json) {
        text_putc(&line, '{');
        json_put_text(&line, "model", text_cstr(&name), name.length);
        json_put_string(&line, "provider", profile->name);
        json_put_string(&line, "id", model->id);
        json_put_integer(&line, "created", model->created);
        app_print_json(app, &line);
    } else {
        output_foreign(&app->out, text_cstr(&name), name.length);
        output_own(&app->out, "\n");
    }
    if (name.failed)
        output_fail(&app->out, ENOMEM);
    text_release(&name);
}

static void show_all(struct app *app, const struct profile *profile, const struct model_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        show(app, profile, &list->items[i]);
    if (list->left_out)
        log_warning("models of '%s': %zu name%s that no model can have %s left out", profile->name,
                    list->left_out, list->left_out == 1 ? "" : "s",
                    list->left_out == 1 ? "was" : "were");
}

/* What came before it failed is shown too. */
static int list_one(struct app *app, const struct profile *profile)
{
    struct server server;
    struct model_list list = {0};
    struct error error;
    bool ok = server_init(&server, app, profile, &error);
    if (ok) {
        ok = server_models(&server, app, &list, NULL, &error);
        server_release(&server);
    }
    show_all(app, profile, &list);
    if (ok && list.count == 0 && !app->json)
        log_warning("models of '%s': the server has none", profile->name);
    model_list_release(&list);
    if (ok)
        return EXIT_FINISHED;
    error_prefix(&error, "models of '%s'", profile->name);
    return app_fail(app, &error);
}

static bool list_local(struct app *app, const struct profile *profile)
{
    struct local_server server;
    bool found = profile->is_tried && local_server_try(profile, &server);
    if (found) {
        show_all(app, profile, &server.models);
        local_server_release(&server);
    }
    return found;
}

/* All that a run could use: those with a key, the user's own that need none, and what answers on
 * this machine. */
static int list_usable(struct app *app, const struct profiles *profiles)
{
    const struct profile *profile;
    bool any = false;
    int code = EXIT_FINISHED;
    for (size_t i = 0; (profile = profiles_at(profiles, i)); i++) {
        if (!profile->wire || (!server_has_key(profile) && !server_needs_no_key(profile))) {
            any = list_local(app, profile) || any;
            continue;
        }
        any = true;
        if (!profile->wire->models) {
            log_warning("models of '%s': they cannot be listed here", profile->name);
            continue;
        }
        int ended = list_one(app, profile);
        code = code == EXIT_FINISHED ? ended : code;
    }
    if (any)
        return code;
    struct error error;
    error_set(&error, ERROR_CONFIG,
              "no key is set and no model server answers on this machine; name a provider, or see "
              "`mortise providers`");
    return app_fail(app, &error);
}

int command_models(struct app *app, int count, char **operands)
{
    const char *named = count > 0 ? operands[0] : settings_text(&app->settings, SETTING_MODEL);
    const struct profile *profile = NULL;
    struct error error;
    if (count > 1)
        return command_usage(app, "models", "too many words after 'models'");
    const struct profiles *profiles = model_profiles(app, &error);
    if (!profiles || (named && !(profile = server_profile(profiles, named, &error))))
        return app_fail(app, &error);
    if (!profile && settings_text(&app->settings, SETTING_BASE_URL))
        return command_usage(app, "models", "the base URL is of one provider; name it");
    int code = profile ? list_one(app, profile) : list_usable(app, profiles);
    int flushed = app_flush(app);
    return code != EXIT_FINISHED ? code : flushed;
}
