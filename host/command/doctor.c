#include "command/doctor.h"

#include <errno.h>
#include <string.h>

#include "base/json_write.h"
#include "base/secret.h"
#include "base/utf8.h"
#include "command/command.h"
#include "command/tool_view.h"
#include "plugin/registry.h"

static const struct {
    const char *word, *color;
} kinds[] = {
    [FINDING_OK] = {"ok", "\033[32m"},
    [FINDING_WARNING] = {"warning", "\033[33m"},
    [FINDING_PROBLEM] = {"problem", "\033[31m"},
};

/* ---- findings ---- */

/* On one line, whatever came from a file, a server or a plugin. */
static void show(struct doctor *doctor, enum finding finding, const char *check,
                 const char *message, const char *advice)
{
    struct output *out = &doctor->app->out;
    struct text line = TEXT_INIT;
    output_own(out, out->color ? kinds[finding].color : "");
    output_printf(out, "%-8s", kinds[finding].word);
    output_plain(out);
    text_printf(&line, " %-13s ", check);
    utf8_append_line(&line, message, strlen(message));
    if (advice) {
        text_puts(&line, "; ");
        utf8_append_line(&line, advice, strlen(advice));
    }
    text_putc(&line, '\n');
    secret_redact(&line);
    output_foreign(out, text_cstr(&line), line.length);
    if (line.failed)
        output_fail(out, ENOMEM);
    text_release(&line);
}

static void show_json(struct doctor *doctor, enum finding finding, const char *check,
                      const char *message, const char *advice)
{
    struct text line = TEXT_INIT;
    text_putc(&line, '{');
    json_put_string(&line, "status", kinds[finding].word);
    json_put_string(&line, "check", check);
    json_put_string(&line, "message", message);
    json_put_string(&line, "advice", advice);
    app_print_json(doctor->app, &line);
}

static void tell(struct doctor *doctor, enum finding finding, int code, const char *check,
                 const char *message, const char *advice)
{
    doctor->warnings += finding == FINDING_WARNING;
    doctor->problems += finding == FINDING_PROBLEM;
    if (finding == FINDING_PROBLEM && doctor->code == EXIT_FINISHED)
        doctor->code = code;
    (doctor->app->json ? show_json : show)(doctor, finding, check, message, advice);
    output_flush(&doctor->app->out); /* what follows may take its time */
}

void doctor_tell(struct doctor *doctor, enum finding finding, const char *check, const char *advice,
                 const char *format, ...)
{
    struct text message = TEXT_INIT;
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&message, format, arguments);
    va_end(arguments);
    if (message.failed)
        doctor_no_memory(doctor, check);
    else
        tell(doctor, finding, EXIT_FAILED, check, text_cstr(&message), advice);
    text_release(&message);
}

/* What a server says is not looked into. */
void doctor_fail(struct doctor *doctor, const char *check, const struct error *error,
                 const char *advice)
{
    struct error copy = *error;
    char *last = NULL;
    for (char *at = copy.message; !error->status && (at = strstr(at, "; ")); at += 2)
        last = at;
    if (last) {
        *last = '\0';
        advice = last + 2;
    }
    tell(doctor, FINDING_PROBLEM, (int)exit_code_of(error->kind), check, copy.message, advice);
}

void doctor_no_memory(struct doctor *doctor, const char *check)
{
    struct error error;
    error_memory(&error);
    doctor_fail(doctor, check, &error, "end something else and look again");
}

/* ---- plugins ---- */

static void tell_plugin(struct doctor *doctor, const struct plugin *plugin)
{
    struct text runs = TEXT_INIT;
    tool_view_plugin_runs(&runs, plugin);
    if (runs.failed)
        doctor_no_memory(doctor, "plugin");
    else
        doctor_tell(doctor, FINDING_OK, "plugin", NULL,
                    "'%s' has %zu tool%s and %zu hook%s, %s (%s)", plugin->name,
                    plugin->tool_count, plugin->tool_count == 1 ? "" : "s", plugin->hook_count,
                    plugin->hook_count == 1 ? "" : "s", text_cstr(&runs), plugin->path);
    text_release(&runs);
}

static void tell_plugins(struct doctor *doctor, const struct registry *registry)
{
    const struct plugin *plugin;
    const struct refusal *refusal;
    size_t loaded = 0;
    for (; (plugin = registry_plugin(registry, loaded)); loaded++)
        tell_plugin(doctor, plugin);
    for (size_t i = 0; (refusal = registry_refusal(registry, i)); i++) {
        struct error error;
        error_set(&error, ERROR_PLUGIN, "%s: %s", refusal->path, refusal->reason);
        doctor_fail(doctor, "plugin", &error, "mend it or take it away");
    }
    if (loaded == 0 && !settings_flag(&doctor->app->settings, SETTING_NO_PLUGINS))
        doctor_tell(doctor, FINDING_WARNING, "plugin",
                    "put plugins into ~/.local/share/mortise/plugins, or name a folder with -P DIR",
                    "none is loaded, so the model has no tools");
}

static void check_plugins(struct doctor *doctor)
{
    struct error error;
    doctor->app->keeps_refusals = true;
    doctor_trust(doctor);
    struct registry *registry = app_load(doctor->app, &error);
    if (registry)
        tell_plugins(doctor, registry);
    else
        doctor_fail(doctor, "plugin", &error, "mend it, or leave it out of -e and -P");
    registry_unref(registry);
}

/* ---- */

static void sum_up(struct doctor *doctor)
{
    struct output *notes = &doctor->app->notes;
    if (doctor->app->json || settings_flag(&doctor->app->settings, SETTING_QUIET))
        return;
    output_printf(notes, "%u problem%s, %u warning%s\n", doctor->problems,
                  doctor->problems == 1 ? "" : "s", doctor->warnings,
                  doctor->warnings == 1 ? "" : "s");
}

int command_doctor(struct app *app, int count, char **operands)
{
    struct doctor doctor = {.app = app};
    (void)operands;
    if (count > 0)
        return command_usage(app, "doctor", "'doctor' takes nothing");
    doctor_settings(&doctor);
    doctor_places(&doctor);
    check_plugins(&doctor);
    doctor_sandbox(&doctor);
    doctor_machine(&doctor);
    doctor_server(&doctor);
    int flushed = app_flush(app);
    sum_up(&doctor);
    return doctor.code != EXIT_FINISHED ? doctor.code : flushed;
}
