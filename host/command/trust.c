#include "command/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_write.h"
#include "base/log.h"
#include "command/app.h"
#include "config/paths.h"

char *trust_file(struct error *error)
{
    char *path = path_data("trusted.json");
    if (path && *path)
        return path;
    if (path)
        error_set(error, ERROR_CONFIG,
                  "there is no place for the list of trusted plugins; set HOME or XDG_DATA_HOME");
    else
        error_memory(error);
    free(path);
    return NULL;
}

bool trust_is_asked(const struct app *app)
{
    const char *mode = settings_text(&app->settings, SETTING_TRUST);
    return mode && strcmp(mode, "any") != 0;
}

void trust_read(struct app *app)
{
    trust_release(app);
    char *file = trust_file(&app->trust.failure);
    if (file)
        app->trust.pins = pins_read(file, &app->trust.failure);
    free(file);
}

void trust_release(struct app *app)
{
    pins_free(app->trust.pins);
    app->trust.pins = NULL;
}

bool trust_admits(void *context, const char *path, const char *sha256, struct error *error)
{
    const struct app *app = context;
    if (app->trust.pins)
        return pins_admit(app->trust.pins, path, sha256, error);
    return error_set(error, ERROR_PLUGIN, "%s", app->trust.failure.message);
}

/* ---- looking ---- */

static bool hash_path(const char *path, char sha256[SHA256_TEXT])
{
    struct error ignored;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool hashed = fd >= 0 && sealed_hash(fd, sha256, &ignored);
    if (fd >= 0)
        close(fd);
    return hashed;
}

struct trust_view trust_view(const struct app *app, const struct plugin *plugin)
{
    struct trust_view view = {0};
    const struct pin *pin;
    const struct pins *pins = app->trust.pins;
    if (!trust_is_asked(app) && (!pins || !pins_at(pins, 0)))
        return view;
    memcpy(view.sha256, plugin->sha256, sizeof(view.sha256));
    view.word = "unpinned";
    view.words = "not trusted";
    if (!pins || (!*view.sha256 && !hash_path(plugin->path, view.sha256)))
        return view;
    enum pin_state state = pins_look(pins, plugin->path, view.sha256, &pin);
    if (state == PIN_TRUSTED) {
        view.word = view.words = "trusted";
    } else if (state == PIN_CHANGED) {
        view.word = "changed";
        view.words = "changed since it was trusted";
    }
    return view;
}

/* What became of a file that is trusted. */
static const char *look_at(const struct pin *pin)
{
    char sha256[SHA256_TEXT];
    if (access(pin->path, F_OK) != 0 && errno == ENOENT)
        return "gone";
    if (!hash_path(pin->path, sha256))
        return "unreadable";
    return strcmp(sha256, pin->sha256) == 0 ? "unchanged" : "changed";
}

static void show_json(struct app *app, const struct pin *pin)
{
    struct text line = TEXT_INIT;
    text_putc(&line, '{');
    json_put_string(&line, "name", pin->name);
    json_put_string(&line, "path", pin->path);
    json_put_string(&line, "sha256", pin->sha256);
    json_put_string(&line, "date", pin->date);
    json_put_string(&line, "state", look_at(pin));
    app_print_json(app, &line);
}

static void show(struct app *app, const struct pin *pin)
{
    struct text line = TEXT_INIT;
    text_printf(&line, "%.10s  %.16s  %-9s  %s  %s", pin->date, pin->sha256, look_at(pin),
                pin->name, pin->path);
    output_foreign(&app->out, text_cstr(&line), line.length);
    output_own(&app->out, "\n");
    if (line.failed)
        output_fail(&app->out, ENOMEM);
    text_release(&line);
}

int trust_list(struct app *app)
{
    const struct pin *pin;
    trust_read(app);
    if (!app->trust.pins)
        return app_fail(app, &app->trust.failure);
    for (size_t i = 0; (pin = pins_at(app->trust.pins, i)); i++)
        (app->json ? show_json : show)(app, pin);
    if (!app->json && !pins_at(app->trust.pins, 0))
        log_note("no plugin is trusted; `mortise plugins trust FILE` notes one");
    return app_flush(app);
}
