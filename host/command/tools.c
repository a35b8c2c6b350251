#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/json_write.h"
#include "base/log.h"
#include "base/secret.h"
#include "command/account.h"
#include "command/app_context.h"
#include "command/command.h"
#include "command/signals.h"
#include "command/tool_view.h"
#include "frontend/jsonl.h"
#include "frontend/print.h"
#include "tool/arguments.h"

enum { POOL_GRACE_MS = 100, CANCEL_GRACE_MS = 2000 };

/* ---- list ---- */

static void list_as_json(struct app *app, const struct tool *tool)
{
    struct text line = TEXT_INIT;
    text_putc(&line, '{');
    json_put_string(&line, "name", tool->name);
    json_put_string(&line, "description", tool->meta.description);
    json_put_string(&line, "plugin", tool->plugin->name);
    json_put_key(&line, "input_schema");
    text_puts(&line, tool->meta.input_schema);
    app_print_json(app, &line);
}

static int list(struct app *app, struct registry *registry)
{
    int width = tool_view_width(app, registry);
    const struct tool *tool;
    for (size_t i = 0; (tool = registry_tool(registry, i)); i++) {
        if (!app_offers(app, tool))
            continue;
        if (app->json)
            list_as_json(app, tool);
        else
            tool_view_line(&app->out, tool, width);
    }
    if (registry_tool_count(registry) == 0 && !app->json)
        log_error("no tools; put plugins into a folder and name it with -P DIR, or into %s",
                  "~/.local/share/mortise/plugins");
    return app_flush(app);
}

/* ---- show ---- */

static void show_flags(struct app *app, uint32_t flags)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } names[] = {
        {MORTISE_READ_ONLY, "read-only"},       {MORTISE_CONCURRENCY_SAFE, "concurrency-safe"},
        {MORTISE_LONG_RUNNING, "long-running"}, {MORTISE_SERIAL, "serial"},
        {MORTISE_SANDBOX_REQUIRED, "sandbox-required"}, {MORTISE_DESTRUCTIVE, "destructive"},
        {MORTISE_IDEMPOTENT, "idempotent"},     {MORTISE_OPEN_WORLD, "open-world"},
    };
    output_own(&app->out, "flags       ");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (flags & names[i].bit)
            output_printf(&app->out, " %s", names[i].name);
    output_own(&app->out, flags ? "\n" : " none\n");
}

static void show_runs(struct app *app, const struct tool *tool)
{
    struct text runs = TEXT_INIT;
    tool_view_runs(&runs, tool);
    output_own(&app->out, "runs         ");
    if (runs.failed)
        output_fail(&app->out, ENOMEM);
    output_foreign(&app->out, text_cstr(&runs), runs.length);
    output_own(&app->out, "\n");
    text_release(&runs);
}

static int show(struct app *app, const struct registry *registry, const char *name)
{
    struct error error;
    const struct tool *tool = registry_find(registry, name);
    if (!tool) {
        app_unknown_tool(registry, name, &error);
        return app_fail(app, &error);
    }
    if (app->json) {
        list_as_json(app, tool);
        return app_flush(app);
    }
    output_printf(&app->out, "%s\n", tool->name);
    output_foreign(&app->out, tool->meta.description, strlen(tool->meta.description));
    output_own(&app->out, "\n\n");
    output_printf(&app->out, "plugin       %s", tool->plugin->name);
    if (tool->plugin->version)
        output_printf(&app->out, " %s", tool->plugin->version);
    output_printf(&app->out, "\nfile         %s\n", tool->plugin->path);
    show_runs(app, tool);
    show_flags(app, tool->meta.flags);
    for (size_t i = 0; tool->meta.scopes && tool->meta.scopes[i]; i++)
        output_printf(&app->out, "scope        %s\n", tool->meta.scopes[i]);
    for (size_t i = 0; tool->meta.examples && tool->meta.examples[i]; i++) {
        output_own(&app->out, "example      ");
        output_foreign(&app->out, tool->meta.examples[i], strlen(tool->meta.examples[i]));
        output_own(&app->out, "\n");
    }
    tool_view_schema(&app->out, "input schema", tool->meta.input_schema);
    tool_view_schema(&app->out, "output schema", tool->meta.output_schema);
    return app_flush(app);
}

/* ---- call: as the model would, with hooks, but without a model ---- */

struct hand_call {
    struct app *app;
    struct registry *registry;
    struct pool *pool;
    struct cancel *cancel;
    struct timeline timeline;
    struct print print;
    struct jsonl jsonl;
    struct app_context caller;
    char id[ID_SIZE], invocation[ID_SIZE];
    struct text arguments;
    struct dispatch_call call;
};

static const char *hook_context(void *data, const char *key, struct arena *memory)
{
    return context_get(data, key, memory);
}

static bool start_call(struct hand_call *hand, struct error *error)
{
    struct app *app = hand->app;
    hand->pool = pool_new(1);
    hand->cancel = cancel_new();
    if (!hand->pool || !hand->cancel)
        return error_memory(error);
    if (!app_context_init(&hand->caller, app, error))
        return false;
    id_make(hand->id, "call");
    id_make(hand->invocation, "run");
    hand->caller.context.session = settings_text(&app->settings, SETTING_SESSION);
    hand->caller.context.invocation = hand->invocation;
    signals_watch(hand->cancel);
    enum print_detail detail =
        settings_flag(&app->settings, SETTING_QUIET) ? PRINT_QUIET : PRINT_NORMAL;
    bool ok = app->json ? jsonl_register(&hand->jsonl, &app->out, &hand->timeline)
                        : print_register(&hand->print, &app->out, &app->notes, detail,
                                         &hand->timeline);
    return ok || error_memory(error);
}

static enum dispatch_end dispatch_by_hand(struct hand_call *hand, struct hook_outcome *outcome)
{
    const struct hook_setting hooks = {
        .registry = hand->registry,
        .timeline = &hand->timeline,
        .context = hook_context,
        .context_data = &hand->caller.context,
    };
    int64_t timeout_ms = app_milliseconds(hand->app, SETTING_TIMEOUT, -1);
    const struct dispatch dispatch = {
        .registry = hand->registry,
        .pool = hand->pool,
        .timeline = &hand->timeline,
        .hooks = &hooks,
        .context = &hand->caller.context,
        .cancel = hand->cancel,
        .deadline_ms = timeout_ms < 0 ? -1 : clock_ms() + timeout_ms,
        .grace_ms = CANCEL_GRACE_MS,
    };
    return dispatch_run(&dispatch, &hand->call, 1, outcome);
}

static int exit_code_of_call(struct hand_call *hand, enum dispatch_end end,
                             const struct hook_outcome *outcome)
{
    switch (end) {
    case DISPATCH_DONE:
    case DISPATCH_FAILED: /* nobody is asked whether it may start */
        return hand->call.result.success ? EXIT_FINISHED : EXIT_FAILED;
    case DISPATCH_PAUSED:
        return EXIT_PAUSED;
    case DISPATCH_CANCELLED:
        return signals_received() ? 128 + signals_received() : EXIT_INTERRUPTED;
    case DISPATCH_TIMEOUT:
        return EXIT_TIMEOUT;
    case DISPATCH_ABORTED:
    case DISPATCH_HOOK_FAILED:
        break;
    }
    log_error("%s by hook '%s' at %s: %s", end == DISPATCH_ABORTED ? "stopped" : "failed",
              outcome->hook ? outcome->hook->name : "?", outcome->event, outcome->reason);
    return EXIT_HOOK;
}

/* The result is on standard output as it is, but for secrets; an error is told on standard
 * error. */
static int finish_call(struct hand_call *hand, enum dispatch_end end,
                       const struct hook_outcome *outcome)
{
    struct tool_result *result = &hand->call.result;
    int code = exit_code_of_call(hand, end, outcome);
    secret_redact(&result->text);
    if (result->text.failed)
        output_fail(&hand->app->out, ENOMEM);
    if (!hand->app->json && result->success) {
        output_foreign(&hand->app->out, text_cstr(&result->text), result->text.length);
        output_end_line(&hand->app->out);
    } else if (!hand->app->json && end != DISPATCH_PAUSED) {
        log_error("%s", result->text.length ? text_cstr(&result->text) : "the call failed");
    }
    int flushed = app_flush(hand->app);
    return flushed ? flushed : code;
}

static void keep_account(const struct hand_call *hand)
{
    struct account_news news;
    account_news_take(&news, hand->registry);
    account_news_keep(&news, hand->app);
    account_news_release(&news);
}

static int run_call(struct hand_call *hand)
{
    struct error error;
    struct hook_outcome outcome = {0};
    struct error reason;
    struct dispatch_call *call = &hand->call;
    struct text repaired = TEXT_INIT;
    if (!start_call(hand, &error))
        return app_fail(hand->app, &error);
    call->id = hand->id;
    call->valid =
        arguments_repair(text_cstr(&hand->arguments), hand->arguments.length, &repaired, &reason);
    const struct text *text = call->valid ? &repaired : &hand->arguments;
    call->arguments = (struct slice){text_cstr(text), text->length};
    call->invalid_reason = reason.message;
    struct event event = {.kind = EVENT_TOOL_CALL};
    event.as.tool_call.id = call->id;
    event.as.tool_call.name = call->name;
    event.as.tool_call.arguments = call->arguments;
    event.as.tool_call.valid = call->valid;
    event.as.tool_call.long_running = tool_is_long_running(hand->registry, call->name);
    timeline_emit(&hand->timeline, &event);
    enum dispatch_end end = dispatch_by_hand(hand, &outcome);
    int code = finish_call(hand, end, &outcome);
    keep_account(hand);
    text_release(&repaired);
    return code;
}

static bool read_arguments(struct hand_call *hand, const char *json, struct error *error)
{
    if (json && strcmp(json, "-") == 0)
        return app_read_input(&hand->arguments, error);
    text_puts(&hand->arguments, json ? json : "{}");
    return !hand->arguments.failed || error_memory(error);
}

static int call(struct app *app, struct registry *registry, const char *name, const char *json)
{
    struct hand_call hand = {.app = app, .registry = registry, .call.name = name};
    struct error error;
    int code;
    timeline_init(&hand.timeline);
    if (!registry_find(registry, name)) {
        app_unknown_tool(registry, name, &error);
        code = app_fail(app, &error);
    } else if (!read_arguments(&hand, json, &error)) {
        code = app_fail(app, &error);
    } else {
        code = run_call(&hand);
    }
    tool_result_release(&hand.call.result);
    if (pool_free(hand.pool, POOL_GRACE_MS) > 0)
        registry_ref(registry); /* a tool that did not stop still uses it */
    signals_forget(hand.cancel);
    cancel_unref(hand.cancel);
    app_context_release(&hand.caller);
    print_release(&hand.print);
    jsonl_release(&hand.jsonl);
    timeline_release(&hand.timeline);
    text_release(&hand.arguments);
    return code;
}

int command_tools(struct app *app, int count, char **operands)
{
    const char *verb = count > 0 ? operands[0] : "list";
    bool is_show = strcmp(verb, "show") == 0 && count == 2;
    bool is_call = strcmp(verb, "call") == 0 && (count == 2 || count == 3);
    struct error error;
    if (!is_show && !is_call && (strcmp(verb, "list") != 0 || count > 1))
        return command_usage(app, "tools", "unknown or missing words after 'tools'");
    struct registry *registry = app_load(app, &error);
    if (!registry)
        return app_fail(app, &error);
    app_check_globs(app, registry);
    int code = is_show   ? show(app, registry, operands[1])
               : is_call ? call(app, registry, operands[1], count == 3 ? operands[2] : NULL)
                         : list(app, registry);
    registry_unref(registry);
    return code;
}
