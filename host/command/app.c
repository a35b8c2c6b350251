#include "command/app.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/secret.h"
#include "base/suggest.h"
#include "command/places.h"
#include "config/grant.h"
#include "config/paths.h"
#include "config/sandbox_grant.h"
#include "provider/profiles.h"
#include "record/recorder.h"
#include "remote/remote.h"

enum { MAX_INPUT_BYTES = 64 << 20, MAX_GLOB = 256 };
enum { DEFAULT_MEMORY_MB = 2048, DEFAULT_TIMEOUT_S = 600 }; /* of a plugin in its own process */
enum { CALL_MEMORY_MB = 256, CALL_TIMEOUT_S = 5 };          /* of a call in a sandbox of its own */

/* ---- output ---- */

static void before_log_line(void *argument)
{
    struct app *app = argument;
    output_end_line(&app->out);
    output_flush(&app->out);
    output_end_line(&app->notes);
    output_flush(&app->notes);
}

void app_start(struct app *app)
{
    enum color_choice choice = color_parse(settings_text(&app->settings, SETTING_COLOR));
    output_init(&app->out, STDOUT_FILENO, choice);
    output_init(&app->notes, STDERR_FILENO, choice);
    app->json = settings_flag(&app->settings, SETTING_JSON);
    int64_t verbose = settings_whole(&app->settings, SETTING_VERBOSE, 0);
    log_set_level(verbose >= 2 ? LOG_DEBUG : verbose == 1 ? LOG_NOTE : LOG_WARNING);
    log_set_before(before_log_line, app);
}

void app_finish(struct app *app)
{
    recorder_close(app->recorder);
    log_set_before(NULL, NULL);
    output_release(&app->out);
    output_release(&app->notes);
    services_unref(app->services);
    trust_release(app);
    profiles_free(app->profiles);
    settings_release(&app->settings);
    secret_clear();
}

enum exit_code exit_code_of(enum error_kind kind)
{
    switch (kind) {
    case ERROR_USAGE:
        return EXIT_USAGE;
    case ERROR_CONFIG:
    case ERROR_AUTH:
        return EXIT_CONFIG;
    case ERROR_PLUGIN:
        return EXIT_PLUGIN;
    case ERROR_BAD_REQUEST:
    case ERROR_CONTEXT_OVERFLOW:
    case ERROR_RATE_LIMIT:
    case ERROR_OVERLOADED:
    case ERROR_SERVER:
    case ERROR_STREAM_TRUNCATED:
    case ERROR_TIMEOUT:
    case ERROR_CONTENT_FILTER:
    case ERROR_TOOL_CALL_MALFORMED:
    case ERROR_NETWORK:
        return EXIT_PROVIDER;
    case ERROR_HOOK:
        return EXIT_HOOK;
    case ERROR_LIMIT:
        return EXIT_LIMIT;
    case ERROR_CANCELLED:
        return EXIT_INTERRUPTED;
    case ERROR_NONE:
    case ERROR_INTERNAL:
        break;
    }
    return EXIT_FAILED;
}

int app_fail(struct app *app, const struct error *error)
{
    (void)app; /* what it shows is flushed by the log, so that the order is kept */
    log_error("%s", error->message);
    return (int)exit_code_of(error->kind);
}

int app_flush(struct app *app)
{
    output_flush(&app->out);
    if (!app->out.failed)
        return EXIT_FINISHED;
    log_error("cannot write to standard output: %s", strerror(app->out.failure));
    return EXIT_FAILED;
}

void app_print_json(struct app *app, struct text *line)
{
    text_putc(line, '}');
    secret_redact(line);
    text_putc(line, '\n');
    if (line->failed)
        output_fail(&app->out, ENOMEM);
    output_foreign(&app->out, text_cstr(line), line->length);
    text_release(line);
}

/* ---- plugins ---- */

static char *plugin_config(void *context, const char *plugin)
{
    const struct app *app = context;
    struct text json = TEXT_INIT;
    grant_write_config(&json, settings_section(&app->settings, "plugin-config", plugin));
    return text_take(&json, NULL);
}

/* A whole or a real number that is not negative; false: it is something else. */
static bool read_limit(const json_t *limits, const char *key, double *limit)
{
    const json_t *value = json_object_get(limits, key);
    if (!value)
        return true;
    *limit = json_is_number(value) ? json_number_value(value) : -1;
    return *limit >= 0 && *limit <= 1e9;
}

/* The folder that "workspace" stands for; malloc'ed, or NULL. */
static char *workspace_of(const struct app *app)
{
    const char *said = settings_text(&app->settings, SETTING_WORKSPACE);
    return realpath(said ? said : ".", NULL);
}

static bool read_grants(const struct app *app, const json_t *section, struct isolation *isolation,
                        struct error *error)
{
    const json_t *grants = json_object_get(section, "sandbox");
    struct text json = TEXT_INIT;
    if (!grants)
        return true;
    char *workspace = workspace_of(app);
    bool ok = sandbox_grant_write(grants, workspace, &json, error);
    free(workspace);
    if (ok)
        isolation->grants = text_take(&json, NULL);
    text_release(&json);
    return ok && (isolation->grants || error_memory(error));
}

static bool read_limits(const json_t *section, struct isolation *isolation, struct error *error)
{
    static const char *const known[] = {"memory_mb", "timeout_s", NULL};
    const json_t *limits = json_object_get(section, "limits");
    double memory_mb = DEFAULT_MEMORY_MB, timeout_s = DEFAULT_TIMEOUT_S;
    double call_memory_mb = CALL_MEMORY_MB, call_timeout_s = CALL_TIMEOUT_S;
    if ((limits && !json_is_object(limits)) || json_unknown_member(limits, known) ||
        !read_limit(limits, "memory_mb", &memory_mb) ||
        !read_limit(limits, "timeout_s", &timeout_s))
        return error_set(error, ERROR_CONFIG,
                         "its \"limits\" in the configuration must be an object with the numbers "
                         "\"memory_mb\" and \"timeout_s\", 0 for no limit");
    read_limit(limits, "memory_mb", &call_memory_mb);
    read_limit(limits, "timeout_s", &call_timeout_s);
    isolation->memory_bytes = (int64_t)(memory_mb * (1 << 20));
    isolation->timeout_ms = (int64_t)(timeout_s * 1000);
    isolation->call_memory_bytes = (int64_t)(call_memory_mb * (1 << 20));
    isolation->call_timeout_ms = (int64_t)(call_timeout_s * 1000);
    return true;
}

static bool plugin_isolation(void *context, const char *plugin, struct isolation *isolation,
                             struct error *error)
{
    const struct app *app = context;
    const json_t *section = settings_section(&app->settings, "plugin-config", plugin);
    const json_t *kind = json_object_get(section, "isolation");
    const char *name = kind ? json_string_value(kind) : NULL;
    bool is_process = name && strcmp(name, "process") == 0;
    isolation->is_sandbox = name && strcmp(name, "sandbox") == 0;
    if (kind && !is_process && !isolation->is_sandbox && (!name || strcmp(name, "none") != 0))
        return error_set(error, ERROR_CONFIG,
                         "its \"isolation\" in the configuration must be \"sandbox\", \"process\" or "
                         "\"none\"");
    isolation->is_process = is_process || isolation->is_sandbox ||
                            (!kind && settings_flag(&app->settings, SETTING_ISOLATE));
    return read_limits(section, isolation, error) &&
           read_grants(app, section, isolation, error);
}

static const json_t *plugin_scopes(void *context, const char *plugin)
{
    const struct app *app = context;
    return json_object_get(settings_section(&app->settings, "plugin-config", plugin), "scopes");
}

static void tell_refusal(void *context, const char *path, const char *reason)
{
    const struct app *app = context;
    if (!app->keeps_refusals)
        log_warning("%s: %s", path, reason);
}

/* Takes over the name; NULL: no memory, "": there is no such folder. */
static bool add_usual_folder(struct plugin_set *set, char *folder)
{
    bool ok = folder && (!*folder || plugin_set_add_folder(set, folder, true));
    free(folder);
    return ok;
}

static bool add_path_variable(struct plugin_set *set)
{
    const char *list = getenv("MORTISE_PLUGIN_PATH");
    bool ok = true;
    while (ok && list && *list) {
        size_t length = strcspn(list, ":");
        ok = add_usual_folder(set, strndup(list, length));
        list += length + (list[length] == ':');
    }
    return ok;
}

static bool add_sources(const struct app *app, struct plugin_set *set)
{
    size_t count;
    bool ok = true;
    char *const *files = settings_list(&app->settings, SETTING_PLUGIN, &count);
    for (size_t i = 0; i < count && ok; i++)
        ok = plugin_set_add_file(set, files[i]);
    char *const *folders = settings_list(&app->settings, SETTING_PLUGINS, &count);
    for (size_t i = 0; i < count && ok; i++)
        ok = plugin_set_add_folder(set, folders[i], false);
    return ok && (settings_flag(&app->settings, SETTING_NO_PLUGINS) ||
                  (add_path_variable(set) && add_usual_folder(set, path_data("plugins")) &&
                   add_usual_folder(set, path_system_plugins())));
}

struct plugin_set *app_sources(struct app *app, struct error *error)
{
    if (!app->services)
        app->services = places_services(&app->settings);
    const struct loader loader = {
        .config = plugin_config,
        .config_context = app,
        .isolation = plugin_isolation,
        .isolate = remote_isolate,
        .scopes = plugin_scopes,
        .admits = trust_is_asked(app) ? trust_admits : NULL,
        .confine = remote_confine,
        .services = services_face(app->services),
        .refused = tell_refusal,
        .refused_context = app,
    };
    struct plugin_set *set = app->services ? plugin_set_new(&loader) : NULL;
    if (set && add_sources(app, set))
        return set;
    error_memory(error);
    plugin_set_free(set);
    return NULL;
}

struct plugin_set *app_plugins(struct app *app, struct plugin_watch **watch, struct error *error)
{
    struct plugin_set *set = app_sources(app, error);
    if (trust_is_asked(app))
        trust_read(app);
    bool ok = set && (!watch || (*watch = plugin_watch_new(set, error)));
    if (ok && plugin_set_load(set, error))
        return set;
    if (ok && watch) {
        plugin_watch_free(*watch);
        *watch = NULL;
    }
    plugin_set_free(set);
    return NULL;
}

struct registry *app_load(struct app *app, struct error *error)
{
    struct plugin_set *set = app_plugins(app, NULL, error);
    struct registry *registry = set ? plugin_set_registry(set) : NULL;
    plugin_set_free(set);
    return registry;
}

/* ---- tools ---- */

/* The next glob of a list with commas, cut to the buffer; false: no more. */
static bool next_glob(const char **globs, char *glob, size_t size)
{
    if (!*globs || !**globs)
        return false;
    size_t length = strcspn(*globs, ",");
    snprintf(glob, size, "%.*s", (int)length, *globs);
    *globs += length + ((*globs)[length] == ',');
    return true;
}

static bool matches(const char *globs, const char *name)
{
    char glob[MAX_GLOB];
    while (next_glob(&globs, glob, sizeof(glob)))
        if (fnmatch(glob, name, 0) == 0)
            return true;
    return false;
}

static bool matches_any(const char *glob, const struct registry *registry)
{
    const struct tool *tool;
    for (size_t i = 0; (tool = registry_tool(registry, i)); i++)
        if (fnmatch(glob, tool->name, 0) == 0)
            return true;
    return false;
}

void app_check_globs(const struct app *app, const struct registry *registry)
{
    const char *globs = settings_text(&app->settings, SETTING_TOOLS);
    char glob[MAX_GLOB];
    struct error error;
    while (next_glob(&globs, glob, sizeof(glob)))
        if (*glob && !matches_any(glob, registry)) {
            app_unknown_tool(registry, glob, &error);
            log_warning("option '--tools': %s", error.message);
        }
}

bool app_offers(void *context, const struct tool *tool)
{
    const struct app *app = context;
    const char *globs = settings_text(&app->settings, SETTING_TOOLS);
    if (settings_flag(&app->settings, SETTING_NO_TOOLS))
        return false;
    return !globs || matches(globs, tool->name);
}

void app_unknown_tool(const struct registry *registry, const char *name, struct error *error)
{
    struct suggestion suggestion;
    const struct tool *tool;
    suggestion_begin(&suggestion, name);
    for (size_t i = 0; (tool = registry_tool(registry, i)); i++)
        suggestion_consider(&suggestion, tool->name);
    if (suggestion.best)
        error_set(error, ERROR_USAGE, "tool '%s' not found; did you mean '%s'?", name,
                  suggestion.best);
    else
        error_set(error, ERROR_USAGE, "tool '%s' not found; `mortise tools` lists them", name);
}

int64_t app_milliseconds(const struct app *app, enum setting_id id, int64_t fallback)
{
    double seconds = settings_number(&app->settings, id, -1);
    return seconds < 0 ? fallback : seconds > 1e9 ? (int64_t)1e12 : (int64_t)(seconds * 1000);
}

unsigned app_unsigned(const struct app *app, enum setting_id id, unsigned fallback)
{
    int64_t whole = settings_whole(&app->settings, id, fallback);
    return whole > UINT_MAX ? UINT_MAX : (unsigned)whole;
}

struct network_settings app_network(const struct settings *settings)
{
    return (struct network_settings){
        .proxy = settings_text(settings, SETTING_PROXY),
        .ca_file = settings_text(settings, SETTING_CA_FILE),
        .client_cert = settings_text(settings, SETTING_CLIENT_CERT),
        .client_key = settings_text(settings, SETTING_CLIENT_KEY),
    };
}

bool app_read_input(struct text *out, struct error *error)
{
    return file_read_fd(STDIN_FILENO, "standard input", MAX_INPUT_BYTES, out, error);
}
