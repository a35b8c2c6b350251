#include "tool/asked.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "tool/parts.h"

void asked_no_memory(struct tool_result *result)
{
    tool_result_fail(result, MORTISE_INTERNAL, "host.internal", "Internal error: out of memory");
}

/* ---- before it runs ---- */

static const struct tool *find_tool(const struct dispatch *dispatch, const char *name)
{
    const struct tool *tool = tool_resolve(dispatch->registry, name);
    if (tool && dispatch->offered && !dispatch->offered(dispatch->offered_data, tool))
        return NULL;
    return tool;
}

/* Hooks may look at the arguments after the tool has run, and replace them before: a copy. */
static bool show(struct asked_call *asked, size_t index, size_t count)
{
    const struct dispatch_call *call = asked->call;
    const struct hook_setting *hooks = asked->dispatch->hooks;
    asked->seen.tool = asked->tool;
    asked->seen.call_id = call->id;
    asked->seen.turn = asked->dispatch->turn;
    asked->seen.index = (unsigned)index;
    asked->seen.count = (unsigned)count;
    asked->is_watched = hooks && (hooks_take(hooks->registry, HOOK_pre_tool_call) ||
                                  hooks_take(hooks->registry, HOOK_post_tool_call));
    if (!asked->is_watched)
        return true;
    struct text arguments = TEXT_INIT;
    text_append(&arguments, call->arguments.data, call->arguments.length);
    asked->seen.arguments.data = text_take(&arguments, &asked->seen.arguments.length);
    return asked->seen.arguments.data;
}

bool asked_prepare(struct asked_call *asked, const struct dispatch *dispatch,
                   struct dispatch_call *call, size_t index, size_t count)
{
    *asked = (struct asked_call){.dispatch = dispatch, .call = call};
    asked->tool = find_tool(dispatch, call->name);
    if (call->answered)
        return false;
    call->result = (struct tool_result){0};
    if (!asked->tool)
        tool_result_unknown(&call->result, dispatch->registry, call->name, dispatch->offered,
                            dispatch->offered_data);
    else if (!call->valid)
        tool_result_fail(&call->result, MORTISE_INVALID_INPUT, "tool.arguments",
                         "Invalid argument: %s", call->invalid_reason);
    else if (show(asked, index, count))
        return true;
    else
        asked_no_memory(&call->result);
    return false;
}

void asked_release(struct asked_call *asked)
{
    free(asked->seen.arguments.data);
    free(asked->seen.result.data);
}

/* ---- results on tape ---- */

static struct slice arguments_of(const struct asked_call *asked)
{
    const struct bytes *edited = &asked->seen.arguments;
    return edited->data ? (struct slice){edited->data, edited->length} : asked->call->arguments;
}

/* The call has the result that its tool, its arguments or the end of the run brought. */
static void on_tape(const struct asked_call *asked)
{
    const struct call_tape *tape = asked->dispatch->tape;
    if (tape)
        tape->settled(tape->self, asked->call, arguments_of(asked), asked->is_made);
}

bool asked_known(struct asked_call *asked)
{
    const struct call_tape *tape = asked->dispatch->tape;
    return tape && tape->known &&
           tape->known(tape->self, asked->dispatch, asked->call, arguments_of(asked),
                       &asked->call->result, &asked->is_made);
}

/* ---- hooks ---- */

static void skip(struct asked_call *asked, const struct hook_outcome *outcome)
{
    tool_result_fail(&asked->call->result, MORTISE_FORBIDDEN, "tool.skipped",
                     "Tool call skipped by hook '%s'%s%s", outcome->hook ? outcome->hook->name : "",
                     outcome->reason[0] ? ": " : "", outcome->reason);
}

/* Moves what the hooks left into the result. */
static void take_back(struct tool_result *result, struct hook_tool_call *seen)
{
    bool was_error = result->category != NULL;
    size_t length = seen->result.length;
    result->text =
        (struct text){.data = seen->result.data, .length = length, .capacity = length + 1};
    seen->result = (struct bytes){0};
    result->success = !seen->is_error;
    if (!seen->attachment_count)
        tool_result_drop_parts(result); /* they belonged to what a hook took away */
    if (seen->is_error == was_error)
        return;
    result->category = seen->is_error ? category_name(MORTISE_INTERNAL) : NULL;
    result->retry_after_ms = 0;
    snprintf(result->component, sizeof(result->component), "%s", seen->is_error ? "hook" : "");
    snprintf(result->code, sizeof(result->code), "%s", seen->is_error ? "hook.error" : "");
}

void asked_before(struct asked_call *asked, struct hook_outcome *outcome)
{
    outcome->verdict = MORTISE_CONTINUE;
    if (!asked->is_watched)
        return;
    hooks_pre_tool_call(asked->dispatch->hooks, &asked->seen, outcome);
    if (outcome->verdict == MORTISE_SKIP) {
        skip(asked, outcome);
    } else if (outcome->verdict == MORTISE_RESPOND) {
        take_back(&asked->call->result, &asked->seen);
        asked->is_made = true;
    }
}

void asked_after(struct asked_call *asked, struct hook_outcome *outcome)
{
    struct tool_result *result = &asked->call->result;
    struct hook_tool_call *seen = &asked->seen;
    outcome->verdict = MORTISE_CONTINUE;
    if (!asked->is_made || !asked->is_watched)
        return;
    seen->is_error = !result->success;
    seen->error_code = result->success ? NULL : result->code;
    seen->duration_us = result->duration_us;
    seen->attachments = result->attachments;
    seen->attachment_count = result->attachment_count;
    seen->result.data = text_take(&result->text, &seen->result.length);
    if (!seen->result.data) {
        asked_no_memory(result);
        return;
    }
    hooks_post_tool_call(asked->dispatch->hooks, seen, outcome);
    result->is_json = result->is_json && !seen->is_edited;
    take_back(result, seen);
}

enum dispatch_end asked_end(const struct hook_outcome *outcome)
{
    return outcome->failed ? DISPATCH_HOOK_FAILED : DISPATCH_ABORTED;
}

/* ---- to its tool and back ---- */

static void fail_on_tape(struct asked_call *asked)
{
    asked_no_memory(&asked->call->result);
    on_tape(asked);
}

static bool may_start(struct asked_call *asked)
{
    const struct dispatch *dispatch = asked->dispatch;
    if (!dispatch->starting ||
        dispatch->starting(dispatch->starting_data, asked->call, dispatch->error))
        return true;
    tool_result_fail(&asked->call->result, MORTISE_UNAVAILABLE, "host.not_started", "not run: %s",
                     dispatch->error->message);
    on_tape(asked);
    return false;
}

struct call *asked_start(struct asked_call *asked, const struct call_watcher *watcher,
                         enum dispatch_end *end)
{
    const struct dispatch *dispatch = asked->dispatch;
    if (asked_known(asked))
        return NULL;
    if (!may_start(asked)) {
        *end = DISPATCH_FAILED;
        return NULL;
    }
    struct slice arguments = arguments_of(asked);
    struct call *call = call_new(dispatch->registry, asked->tool, asked->call->id, arguments.data,
                                 arguments.length, dispatch->context, dispatch->cancel,
                                 dispatch->deadline_ms, watcher);
    if (call)
        call_set_position(call, asked->seen.index, asked->seen.count);
    else
        fail_on_tape(asked);
    return call;
}

void asked_take(struct asked_call *asked, struct call *call)
{
    call_take_result(call, &asked->call->result);
    asked->is_made = true;
    on_tape(asked);
}

void asked_ended(struct asked_call *asked, enum dispatch_end end, const char *what)
{
    bool late = end == DISPATCH_TIMEOUT;
    tool_result_fail(&asked->call->result, late ? MORTISE_TIMEOUT : MORTISE_ABORTED,
                     late ? "tool.timeout" : "tool.cancelled", "%s%s",
                     late ? "timed out" : "cancelled", what);
    on_tape(asked);
}

void asked_left_behind(struct asked_call *asked, struct call *call, enum dispatch_end end)
{
    const struct tool *tool = asked->tool;
    log_warning("plugin '%s': tool '%s' did not stop within %d ms and is left behind",
                tool->plugin->name, tool->name, asked->dispatch->grace_ms);
    call_abandon(call);
    asked_ended(asked, end, "; the tool did not stop in time");
}

void asked_unrun(struct asked_call *asked)
{
    tool_result_fail(&asked->call->result, MORTISE_UNAVAILABLE, "host.threads",
                     "Internal error: there is no thread to run it");
    on_tape(asked);
}
