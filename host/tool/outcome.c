#include <stdio.h>

#include "base/json.h"
#include "base/json_check.h"
#include "base/log.h"
#include "tool/call_private.h"
#include "tool/output.h"
#include "tool/parts.h"

/* What a failing status means when the tool said nothing more. */
static const struct {
    mortise_status status;
    mortise_category category;
    const char *message;
} silent[] = {
    {MORTISE_OK, MORTISE_INTERNAL, ""}, /* never silent: only after fail() */
    {MORTISE_FAILED, MORTISE_INTERNAL, "the tool gave no reason"},
    {MORTISE_CANCELLED, MORTISE_ABORTED, "the tool stopped because the call was cancelled"},
    {MORTISE_UNSUPPORTED, MORTISE_NOT_SUPPORTED, "this is not supported"},
    {MORTISE_NO_MEMORY, MORTISE_INTERNAL, "out of memory"},
    {MORTISE_DENIED, MORTISE_FORBIDDEN, "this is not allowed"},
    {MORTISE_NOT_FOUND, MORTISE_MISSING, "not found"},
    {MORTISE_INVALID, MORTISE_INVALID_INPUT, "the tool cannot use what it was given"},
    {MORTISE_CONFLICT, MORTISE_UNAVAILABLE, "somebody else was faster; try again"},
};

static void settle_unknown(struct call *call, mortise_status status)
{
    const struct tool *tool = call->tool;
    log_warning("plugin '%s': tool '%s' ended with status %d, which is none", tool->plugin->name,
                tool->name, (int)status);
    tool_result_fail(&call->result, MORTISE_INTERNAL, "tool.bad_status",
                     "Internal error: tool '%s' of plugin '%s' ended with the unknown status %d",
                     tool->name, tool->plugin->name, (int)status);
}

/* The shorthand of a tool has the short forms; whoever names a component gets it shown. */
static void write_prefix(struct text *out, const char *component, mortise_category category)
{
    bool plain = !strcmp(component, "tool") || !strcmp(component, "host");
    if (plain && category == MORTISE_INTERNAL)
        text_puts(out, "Execution failed: ");
    else if (plain && category == MORTISE_INVALID_INPUT)
        text_puts(out, "Invalid argument: ");
    else
        text_printf(out, "%s.%s: ", component, category_name(category));
}

/* " (try again in 3 s)" */
static void write_wait(struct text *out, int64_t wait_ms)
{
    if (wait_ms < 1000)
        text_printf(out, " (try again in %lld ms)", (long long)wait_ms);
    else
        text_printf(out, " (try again in %lld s)", (long long)(wait_ms + 999) / 1000);
}

static void settle_failure(struct call *call, mortise_category category, const char *message)
{
    struct tool_result *result = &call->result;
    if (!result->component[0])
        snprintf(result->component, sizeof(result->component), "tool");
    if (!result->code[0])
        snprintf(result->code, sizeof(result->code), "tool.error");
    result->category = category_name(category);
    write_prefix(&result->text, result->component, category);
    if (message)
        text_puts(&result->text, message);
    else
        text_append(&result->text, call->failure.data, call->failure.length);
    result->retry_after_ms = call->retry_after_ms;
    if (result->retry_after_ms)
        write_wait(&result->text, result->retry_after_ms);
    parts_order(result);
}

/* jansson says where; what it repaired was half of a surrogate pair. */
static void settle_bad_json(struct call *call)
{
    const struct tool *tool = call->tool;
    struct error error = ERROR_INIT;
    json_t *value = json_parse(text_cstr(&call->reply), call->reply.length, NULL, &error);
    const char *why = value ? "it has a lone surrogate" : error.message;
    log_warning("plugin '%s': tool '%s' replied with JSON that is not valid: %s",
                tool->plugin->name, tool->name, why);
    tool_result_fail(&call->result, MORTISE_INTERNAL, "tool.bad_json",
                     "Internal error: tool '%s' replied with JSON that is not valid: %s",
                     tool->name, why);
    json_decref(value);
}

/* It is JSON, but holds something that it must not. */
static void settle_bad(struct call *call, const char *code, const char *what,
                       const struct error *error)
{
    const struct tool *tool = call->tool;
    if (error->kind == ERROR_INTERNAL) {
        tool_result_fail(&call->result, MORTISE_INTERNAL, "host.internal", "Internal error: %s",
                         error->message);
        return;
    }
    log_warning("plugin '%s': tool '%s' replied with %s: %s", tool->plugin->name, tool->name, what,
                error->message);
    tool_result_fail(&call->result, MORTISE_INTERNAL, code,
                     "Internal error: tool '%s' replied with %s: %s", tool->name, what,
                     error->message);
}

static bool has_good_output(const struct call *call, struct error *error)
{
    const struct tool_result *result = &call->result;
    return !result->is_json ||
           output_fits(call->tool, text_cstr(&result->text), result->text.length, error);
}

static void settle_success(struct call *call)
{
    struct tool_result *result = &call->result;
    struct error error = ERROR_INIT;
    if (call->is_json && !json_is_valid(text_cstr(&call->reply), call->reply.length)) {
        settle_bad_json(call);
        return;
    }
    result->success = true;
    result->component[0] = result->code[0] = '\0'; /* of a fail() that did not count */
    result->is_json = call->is_json;
    result->text = call->reply;
    call->reply = (struct text)TEXT_INIT;
    if (result->is_json && !parts_take_json(result, &error))
        settle_bad(call, "tool.bad_part", "a part that cannot be used", &error);
    else if (!has_good_output(call, &error))
        settle_bad(call, "tool.bad_output", "something that its output schema does not allow",
                   &error);
    parts_order(result);
}

void call_settle_locked(struct call *call, mortise_status status)
{
    /* fail() without a reply() and with MORTISE_OK is a forgotten `return`. */
    if (status == MORTISE_OK && (call->replied || !call->failed)) {
        settle_success(call);
        return;
    }
    for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
        if (silent[i].status != status)
            continue;
        if (call->failed)
            settle_failure(call, call->category, NULL);
        else
            settle_failure(call, silent[i].category, silent[i].message);
        return;
    }
    settle_unknown(call, status);
}
