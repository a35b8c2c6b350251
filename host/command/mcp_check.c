/*
 * mcp check: starts the MCP servers, or those that are named, and tells how they are.
 *
 * It is the bridge that starts them, as it would for a model: its plugin is loaded as ever, but
 * with its tool mcp_servers, which is called.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/log.h"
#include "base/secret.h"
#include "command/app_context.h"
#include "command/command.h"
#include "command/mcp.h"
#include "command/mcp_entry.h"
#include "command/mcp_file.h"
#include "command/signals.h"

#define BRIDGE      "mcp_bridge"
#define STATUS_TOOL "mcp_servers"

enum { POOL_GRACE_MS = 100, CANCEL_GRACE_MS = 2000, NAME_WIDTH = 16 };

/* ---- asking the bridge ---- */

struct asking {
    struct app *app;
    int name_count; /* 0: all servers */
    char **names;
    struct registry *registry;
    struct pool *pool;
    struct cancel *cancel;
    struct timeline timeline;
    struct app_context caller;
    char id[ID_SIZE];
    struct dispatch_call call;
};

static bool configure(struct app *app, const char *key, json_t *value, struct error *error)
{
    return settings_override(&app->settings, "plugin-config", BRIDGE, key, value, error);
}

/* The bridge has those that are named, or all, whatever its section says. */
static bool choose_servers(const struct asking *asking, struct error *error)
{
    json_t *names = asking->name_count ? json_array() : json_null();
    for (int i = 0; i < asking->name_count; i++) {
        bool ok = mcp_entry_name(asking->names[i], error);
        if (ok && json_array_append_new(names, json_string(asking->names[i])) == 0)
            continue;
        json_decref(names);
        return ok && error_memory(error);
    }
    return configure(asking->app, "servers", names, error);
}

static bool load(struct asking *asking, struct error *error)
{
    struct app *app = asking->app;
    if (!configure(app, "status_tool", json_true(), error) || !choose_servers(asking, error) ||
        !(asking->registry = app_load(app, error)))
        return false;
    const struct tool *tool = registry_find(asking->registry, STATUS_TOOL);
    return (tool && strcmp(tool->plugin->name, BRIDGE) == 0) ||
           error_set(error, ERROR_PLUGIN,
                     "the plugin '" BRIDGE "', which connects to MCP servers, is not loaded; "
                     "`mortise plugins` tells why, and -P names a folder that has it");
}

static enum dispatch_end run(struct asking *asking)
{
    struct hook_outcome outcome = {0};
    int64_t timeout_ms = app_milliseconds(asking->app, SETTING_TIMEOUT, -1);
    const struct dispatch dispatch = {
        .registry = asking->registry,
        .pool = asking->pool,
        .timeline = &asking->timeline,
        .context = &asking->caller.context,
        .cancel = asking->cancel,
        .deadline_ms = timeout_ms < 0 ? -1 : clock_ms() + timeout_ms,
        .grace_ms = CANCEL_GRACE_MS,
    };
    return dispatch_run(&dispatch, &asking->call, 1, &outcome);
}

/* The exit code; EXIT_FINISHED when the call has its result. */
static int ask(struct asking *asking)
{
    struct error error;
    static const char arguments[] = "{\"check\":true}";
    asking->pool = pool_new(1);
    asking->cancel = cancel_new();
    bool ok = (asking->pool && asking->cancel) || error_memory(&error);
    if (!ok || !load(asking, &error) || !app_context_init(&asking->caller, asking->app, &error))
        return app_fail(asking->app, &error);
    id_make(asking->id, "call");
    signals_watch(asking->cancel);
    asking->call.id = asking->id;
    asking->call.name = STATUS_TOOL;
    asking->call.arguments = (struct slice){arguments, strlen(arguments)};
    asking->call.valid = true;
    enum dispatch_end end = run(asking);
    if (end == DISPATCH_CANCELLED)
        return signals_received() ? 128 + signals_received() : EXIT_INTERRUPTED;
    if (end == DISPATCH_TIMEOUT)
        return EXIT_TIMEOUT;
    if (asking->call.result.success)
        return EXIT_FINISHED;
    log_error("%s", text_cstr(&asking->call.result.text));
    return EXIT_FAILED;
}

static void release(struct asking *asking)
{
    tool_result_release(&asking->call.result);
    if (asking->pool && pool_free(asking->pool, POOL_GRACE_MS) > 0)
        registry_ref(asking->registry); /* a tool that did not stop still uses it */
    if (asking->cancel)
        signals_forget(asking->cancel);
    cancel_unref(asking->cancel);
    app_context_release(&asking->caller);
    timeline_release(&asking->timeline);
    registry_unref(asking->registry);
}

/* ---- telling ---- */

static bool is_ready(const json_t *server)
{
    const char *state = json_member_string(server, "state");
    return state && strcmp(state, "ready") == 0;
}

static const char *or_else(const char *text, const char *otherwise)
{
    return text && *text ? text : otherwise;
}

static void tell_json(struct app *app, const json_t *server)
{
    struct text line = TEXT_INIT;
    text_json(&line, server);
    if (line.length) /* app_print_json() closes it */
        line.data[--line.length] = '\0';
    app_print_json(app, &line);
}

/* "files             ready  modern 2026-07-28  14 tools  231 ms" */
static void tell_text(struct app *app, const json_t *server)
{
    struct text line = TEXT_INIT;
    size_t tools = json_array_size(json_object_get(server, "tools"));
    json_int_t ms = json_member_integer(server, "ms", -1);
    const char *problem = json_member_string(server, "problem");
    text_printf(&line, "%-*s  ", NAME_WIDTH, or_else(json_member_string(server, "name"), "?"));
    if (is_ready(server)) {
        text_printf(
            &line, "ready  %s %s  %zu tool%s", or_else(json_member_string(server, "era"), "?"),
            or_else(json_member_string(server, "version"), "?"), tools, tools == 1 ? "" : "s");
        if (ms >= 0)
            text_printf(&line, "  %lld ms", (long long)ms);
    } else {
        text_printf(&line, "%s: %s", or_else(json_member_string(server, "state"), "failed"),
                    or_else(problem, "the bridge does not say why"));
    }
    secret_redact(&line);
    if (line.failed)
        output_fail(&app->out, ENOMEM);
    output_foreign(&app->out, text_cstr(&line), line.length);
    output_own(&app->out, "\n");
    text_release(&line);
}

/* Who is disabled need not be told of, unless somebody asks. */
static bool is_asked_for(const json_t *server, int count, char **names)
{
    const char *name = json_member_string(server, "name");
    const char *state = json_member_string(server, "state");
    for (int i = 0; i < count; i++)
        if (name && strcmp(name, names[i]) == 0)
            return true;
    return count == 0 && !(state && strcmp(state, "disabled") == 0);
}

static json_t *names_of(const json_t *servers)
{
    json_t *names = json_object();
    size_t i;
    const json_t *server;
    bool ok = names;
    json_array_foreach (servers, i, server) {
        const char *name = json_member_string(server, "name");
        ok = ok && (!name || json_object_set_new(names, name, json_null()) == 0);
    }
    if (ok)
        return names;
    json_decref(names);
    return NULL;
}

static json_t *left_out(const char *name, const json_t *entry)
{
    bool is_disabled = mcp_entry_is_disabled(entry);
    return json_pack("{s:s, s:s, s:s, s:s}", "name", name, "transport",
                     mcp_entry_is_http(entry) ? "http" : "stdio", "state",
                     is_disabled ? "disabled" : "left out", "problem",
                     is_disabled ? "its entry says so"
                                 : "the bridge cannot use its entry, and warns of it");
}

/* The bridge does not tell of the entries that it left out; they are told here. */
static bool add_left_out(json_t *servers, json_t *known, struct error *error)
{
    struct mcp_file file;
    const char *name;
    json_t *entry;
    if (getenv("MORTISE_MCP_CONFIG")) /* what is in these files the bridge alone knows */
        return true;
    bool ok = mcp_file_open(&file, false, error);
    json_object_foreach (file.servers, name, entry)
        if (!json_object_get(known, name) &&
            (json_array_append_new(servers, left_out(name, entry)) != 0 ||
             json_object_set_new(known, name, json_null()) != 0))
            ok = error_memory(error);
    mcp_file_close(&file);
    return ok;
}

static bool check_names(const json_t *known, int count, char **names, struct error *error)
{
    for (int i = 0; i < count; i++)
        if (!json_object_get(known, names[i]))
            return mcp_unknown_server(known, names[i], MCP_LIST_HINT, error);
    return true;
}

static int tell(struct app *app, const json_t *servers, int count, char **names)
{
    size_t i;
    json_t *server;
    int code = EXIT_FINISHED;
    json_array_foreach (servers, i, server) {
        if (!is_asked_for(server, count, names))
            continue;
        (app->json ? tell_json : tell_text)(app, server);
        if (!is_ready(server))
            code = EXIT_FAILED;
    }
    if (json_array_size(servers) == 0 && !app->json)
        log_error("no MCP servers; `mortise mcp add NAME -- COMMAND` adds one");
    int flushed = app_flush(app);
    return flushed ? flushed : code;
}

static int tell_result(struct app *app, const struct text *result, int count, char **names)
{
    struct error error;
    json_t *root = json_parse(text_cstr(result), result->length, NULL, &error);
    json_t *servers = json_object_get(root, "servers");
    bool ok = root && (json_is_array(servers) ||
                       error_set(&error, ERROR_PLUGIN, "the bridge gave no list of servers"));
    json_t *known = ok ? names_of(servers) : NULL;
    ok = ok && (known || error_memory(&error)) && add_left_out(servers, known, &error) &&
         check_names(known, count, names, &error);
    int code = ok ? tell(app, servers, count, names) : app_fail(app, &error);
    json_decref(known);
    json_decref(root);
    return code;
}

int mcp_check_command(struct app *app, int count, char **operands)
{
    struct asking asking = {.app = app, .name_count = count, .names = operands};
    timeline_init(&asking.timeline);
    int code = ask(&asking);
    if (code == EXIT_FINISHED)
        code = tell_result(app, &asking.call.result.text, count, operands);
    release(&asking);
    return code;
}
