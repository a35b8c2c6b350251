#include "tool/dispatch.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "tool/batch.h"
#include "tool/parts.h"

struct run {
    const struct dispatch *dispatch;
    struct dispatch_call *calls;
    size_t count;
    struct hook_outcome *outcome;
    struct batch *batch;
    struct plan *plan;           /* what runs, what waits, what has its result */
    struct hook_tool_call *seen; /* each call as the hooks see it */
    bool *is_made;               /* the result is one for PostToolCall */
    size_t delivered;            /* calls that are through, from the first */
    enum dispatch_end end;       /* DISPATCH_DONE as long as nothing ended it early */
    int64_t give_up_ms;          /* then: when to leave tools behind */
};

/* ---- before anything runs ---- */

static bool run_init(struct run *run)
{
    run->batch = batch_new(run->count);
    run->plan = calloc(run->count, sizeof(*run->plan));
    run->seen = calloc(run->count, sizeof(*run->seen));
    run->is_made = calloc(run->count, sizeof(*run->is_made));
    return run->batch && run->plan && run->seen && run->is_made;
}

static void run_release(struct run *run)
{
    for (size_t i = 0; run->seen && i < run->count; i++) {
        free(run->seen[i].arguments.data);
        free(run->seen[i].result.data);
    }
    batch_unref(run->batch);
    free(run->plan);
    free(run->seen);
    free(run->is_made);
}

static void fail_memory(struct tool_result *result)
{
    tool_result_fail(result, MORTISE_INTERNAL, "host.internal", "Internal error: out of memory");
}

static const struct tool *find_tool(const struct dispatch *dispatch, const char *name)
{
    const struct tool *tool = tool_resolve(dispatch->registry, name);
    if (tool && dispatch->offered && !dispatch->offered(dispatch->offered_data, tool))
        return NULL;
    return tool;
}

/* Finds the tool and copies the arguments; what cannot be called gets its result here. */
static void prepare(struct run *run, size_t i)
{
    const struct dispatch *dispatch = run->dispatch;
    struct dispatch_call *call = &run->calls[i];
    const struct tool *tool = find_tool(dispatch, call->name);
    run->plan[i] = (struct plan){.tool = tool, .state = PLAN_SETTLED};
    if (call->answered)
        return;
    call->result = (struct tool_result){0};
    if (!tool) {
        tool_result_unknown(&call->result, dispatch->registry, call->name, dispatch->offered,
                            dispatch->offered_data);
        return;
    }
    if (!call->valid) {
        tool_result_fail(&call->result, MORTISE_INVALID_INPUT, "tool.arguments",
                         "Invalid argument: %s", call->invalid_reason);
        return;
    }
    struct text arguments = TEXT_INIT;
    text_append(&arguments, call->arguments.data, call->arguments.length);
    run->seen[i] = (struct hook_tool_call){
        .tool = tool,
        .call_id = call->id,
        .turn = dispatch->turn,
        .index = (unsigned)i,
        .count = (unsigned)run->count,
    };
    run->seen[i].arguments.data = text_take(&arguments, &run->seen[i].arguments.length);
    if (run->seen[i].arguments.data)
        run->plan[i].state = PLAN_WAITS;
    else
        fail_memory(&call->result);
}

/* ---- results on tape ---- */

static struct slice arguments_of(const struct run *run, size_t i)
{
    return (struct slice){run->seen[i].arguments.data, run->seen[i].arguments.length};
}

/* The call has the result that its tool, its arguments or the end of the run brought. */
static void on_tape(const struct run *run, size_t i)
{
    const struct call_tape *tape = run->dispatch->tape;
    if (tape)
        tape->settled(tape->self, &run->calls[i], arguments_of(run, i), run->is_made[i]);
}

/* Whether the result is known without the tool: then the call has it. */
static bool take_known(struct run *run, size_t i)
{
    const struct call_tape *tape = run->dispatch->tape;
    if (!tape || !tape->known ||
        !tape->known(tape->self, run->dispatch, &run->calls[i], arguments_of(run, i),
                     &run->calls[i].result, &run->is_made[i]))
        return false;
    run->plan[i].state = PLAN_SETTLED;
    return true;
}

/* ---- an early end ---- */

static void settle(struct run *run, size_t i)
{
    call_unref(run->batch->slots[i].call);
    run->batch->slots[i].call = NULL;
    run->plan[i].state = PLAN_SETTLED;
}

static void settle_ended(struct run *run, size_t i, const char *what)
{
    bool late = run->end == DISPATCH_TIMEOUT;
    tool_result_fail(&run->calls[i].result, late ? MORTISE_TIMEOUT : MORTISE_ABORTED,
                     late ? "tool.timeout" : "tool.cancelled", "%s%s",
                     late ? "timed out" : "cancelled", what);
    settle(run, i);
    on_tape(run, i);
}

/* What has not begun never will; what runs is told, and has its grace (D4, D16). */
static void stop(struct run *run, enum dispatch_end end)
{
    if (run->end != DISPATCH_DONE)
        return;
    run->end = end;
    run->give_up_ms = clock_ms() + run->dispatch->grace_ms;
    for (size_t i = 0; i < run->count; i++) {
        struct call *call = run->batch->slots[i].call;
        if (run->plan[i].state == PLAN_SETTLED || (!call && take_known(run, i)))
            continue;
        if (!call || call_revoke(call))
            settle_ended(run, i, " before it ran");
        else
            call_cancelled(call);
    }
}

static void leave_behind(struct run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        if (run->plan[i].state != PLAN_RUNS)
            continue;
        const struct tool *tool = run->plan[i].tool;
        log_warning("plugin '%s': tool '%s' did not stop within %d ms and is left behind",
                    tool->plugin->name, tool->name, run->dispatch->grace_ms);
        call_abandon(run->batch->slots[i].call);
        settle_ended(run, i, "; the tool did not stop in time");
    }
}

static void check_end(struct run *run)
{
    const struct dispatch *dispatch = run->dispatch;
    if (run->end != DISPATCH_DONE) {
        if (clock_ms() >= run->give_up_ms)
            leave_behind(run);
    } else if (cancel_requested(dispatch->cancel)) {
        stop(run, DISPATCH_CANCELLED);
    } else if (dispatch->deadline_ms >= 0 && clock_ms() >= dispatch->deadline_ms) {
        stop(run, DISPATCH_TIMEOUT);
    }
}

/* ---- hooks ---- */

static void stop_by_hook(struct run *run, const struct hook_outcome *outcome)
{
    if (run->end == DISPATCH_DONE)
        *run->outcome = *outcome;
    stop(run, outcome->failed ? DISPATCH_HOOK_FAILED : DISPATCH_ABORTED);
}

static void skip(struct run *run, size_t i, const struct hook_outcome *outcome)
{
    tool_result_fail(&run->calls[i].result, MORTISE_FORBIDDEN, "tool.skipped",
                     "Tool call skipped by hook '%s'%s%s", outcome->hook ? outcome->hook->name : "",
                     outcome->reason[0] ? ": " : "", outcome->reason);
    run->plan[i].state = PLAN_SETTLED;
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

static void respond(struct run *run, size_t i)
{
    take_back(&run->calls[i].result, &run->seen[i]);
    run->is_made[i] = true;
    run->plan[i].state = PLAN_SETTLED;
}

/* False: the batch is paused. */
static bool ask_before(struct run *run, size_t i)
{
    struct hook_outcome outcome = {0};
    hooks_pre_tool_call(run->dispatch->hooks, &run->seen[i], &outcome);
    if (outcome.failed || outcome.verdict == MORTISE_ABORT)
        stop_by_hook(run, &outcome);
    else if (outcome.verdict == MORTISE_SKIP)
        skip(run, i, &outcome);
    else if (outcome.verdict == MORTISE_RESPOND)
        respond(run, i);
    else if (outcome.verdict == MORTISE_PAUSE)
        *run->outcome = outcome;
    return outcome.failed || outcome.verdict != MORTISE_PAUSE;
}

static bool ask_all_before(struct run *run)
{
    for (size_t i = 0; i < run->count && run->end == DISPATCH_DONE; i++)
        if (run->plan[i].state == PLAN_WAITS && run->dispatch->hooks && !ask_before(run, i))
            return false;
    return true;
}

static void ask_after(struct run *run, size_t i)
{
    struct tool_result *result = &run->calls[i].result;
    struct hook_tool_call *seen = &run->seen[i];
    struct hook_outcome outcome = {0};
    seen->is_error = !result->success;
    seen->error_code = result->success ? NULL : result->code;
    seen->duration_us = result->duration_us;
    seen->attachments = result->attachments;
    seen->attachment_count = result->attachment_count;
    seen->result.data = text_take(&result->text, &seen->result.length);
    if (!seen->result.data) {
        fail_memory(result);
        return;
    }
    hooks_post_tool_call(run->dispatch->hooks, seen, &outcome);
    result->is_json = result->is_json && !seen->is_edited;
    take_back(result, seen);
    if (outcome.failed || outcome.verdict != MORTISE_CONTINUE)
        stop_by_hook(run, &outcome);
}

/* ---- results and progress, in order ---- */

void dispatch_tell_result(struct timeline *timeline, const struct dispatch_call *call)
{
    const struct tool_result *result = &call->result;
    struct event event = {.kind = EVENT_TOOL_RESULT};
    event.as.tool_result.id = call->id;
    event.as.tool_result.name = call->name;
    event.as.tool_result.success = result->success;
    event.as.tool_result.result = (struct slice){text_cstr(&result->text), result->text.length};
    event.as.tool_result.component = result->success ? NULL : result->component;
    event.as.tool_result.category = result->category;
    event.as.tool_result.code = result->success ? NULL : result->code;
    event.as.tool_result.retryable = category_is_retryable(result->category);
    event.as.tool_result.retry_after_ms = result->retry_after_ms;
    event.as.tool_result.duration_us = result->duration_us;
    struct event_part parts[RESULT_PARTS_MAX];
    event.as.tool_result.parts = parts;
    event.as.tool_result.part_count = result->attachment_count;
    for (size_t i = 0; i < result->attachment_count; i++) {
        const struct attachment *part = &result->attachments[i];
        parts[i] = (struct event_part){.mime_type = part->mime_type,
                                       .name = part->name,
                                       .uri = part->data.data ? NULL : part->uri,
                                       .bytes = part->data.length};
    }
    timeline_emit(timeline, &event);
}

static void deliver(struct run *run)
{
    while (run->delivered < run->count && run->plan[run->delivered].state == PLAN_SETTLED) {
        size_t i = run->delivered++;
        if (run->is_made[i] && run->dispatch->hooks)
            ask_after(run, i);
        dispatch_tell_result(run->dispatch->timeline, &run->calls[i]);
    }
}

static void emit_progress(const struct run *run, const struct message *message)
{
    struct event event = {.kind = EVENT_TOOL_PROGRESS};
    event.as.tool_progress.id = run->calls[message->slot].id;
    event.as.tool_progress.name = run->calls[message->slot].name;
    event.as.tool_progress.stream = message->numeric ? NULL : message->stream;
    event.as.tool_progress.text = (struct slice){message->text, message->length};
    event.as.tool_progress.done = message->done;
    event.as.tool_progress.total = message->total;
    event.as.tool_progress.notice = message->kind == MESSAGE_NOTICE;
    timeline_emit(run->dispatch->timeline, &event);
}

static void receive(struct run *run, const struct message *message)
{
    size_t i = message->slot;
    if (run->plan[i].state == PLAN_SETTLED) /* it was taken back, or left behind */
        return;
    if (message->kind != MESSAGE_DONE) {
        emit_progress(run, message);
        return;
    }
    call_take_result(run->batch->slots[i].call, &run->calls[i].result);
    run->is_made[i] = true;
    settle(run, i);
    on_tape(run, i);
}

/* ---- running ---- */

/* False: the call has its result, and the batch ends. */
static bool may_start(struct run *run, size_t i)
{
    const struct dispatch *dispatch = run->dispatch;
    if (!dispatch->starting ||
        dispatch->starting(dispatch->starting_data, &run->calls[i], dispatch->error))
        return true;
    tool_result_fail(&run->calls[i].result, MORTISE_UNAVAILABLE, "host.not_started", "not run: %s",
                     dispatch->error->message);
    run->plan[i].state = PLAN_SETTLED;
    on_tape(run, i);
    stop(run, DISPATCH_FAILED);
    return false;
}

static void start(struct run *run, size_t i)
{
    const struct dispatch *dispatch = run->dispatch;
    const struct bytes *arguments = &run->seen[i].arguments;
    if (take_known(run, i) || !may_start(run, i))
        return;
    struct call_watcher watcher = batch_watcher(run->batch, i);
    struct call *call = call_new(dispatch->registry, run->plan[i].tool, run->calls[i].id,
                                 arguments->data, arguments->length, dispatch->context,
                                 dispatch->cancel, dispatch->deadline_ms, &watcher);
    if (!call) {
        fail_memory(&run->calls[i].result);
        run->plan[i].state = PLAN_SETTLED;
        on_tape(run, i);
        return;
    }
    call_set_position(call, (unsigned)i, (unsigned)run->count);
    run->plan[i].state = PLAN_RUNS;
    if (!batch_submit(run->batch, i, call, dispatch->pool)) {
        tool_result_fail(&run->calls[i].result, MORTISE_UNAVAILABLE, "host.threads",
                         "Internal error: there is no thread to run it");
        settle(run, i);
        on_tape(run, i);
    }
}

/* Starts what may run now.  A call that has its result at once is delivered before the next one
 * is looked at: as when that took its time, what hooks say to it may end the run.  True: there was
 * one. */
static bool start_all(struct run *run)
{
    size_t i;
    while (run->end == DISPATCH_DONE &&
           (i = strategy_next(run->dispatch->strategy, run->plan, run->count)) < run->count) {
        start(run, i);
        if (run->plan[i].state == PLAN_SETTLED)
            return true;
    }
    return false;
}

static int patience_ms(const struct run *run)
{
    int64_t until_ms = run->end == DISPATCH_DONE ? run->dispatch->deadline_ms : run->give_up_ms;
    if (until_ms < 0)
        return -1;
    int64_t left_ms = until_ms - clock_ms();
    return left_ms < 0 ? 0 : left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

/* Waits for news and takes in what is there, but not without end: a tool that floods must
 * not keep its own cancel from being seen. */
static void wait_for_news(struct run *run)
{
    struct event settled = {.kind = EVENT_SETTLED};
    timeline_emit(run->dispatch->timeline, &settled);
    int cancel = run->end == DISPATCH_DONE ? cancel_fd(run->dispatch->cancel) : -1;
    struct pollfd fds[2] = {{run->batch->queue.fd, POLLIN, 0}, {cancel, POLLIN, 0}};
    poll(fds, 2, patience_ms(run));
    struct message *message;
    for (int i = 0; i < BATCH_PROGRESS_MAX && (message = batch_next(run->batch)); i++) {
        receive(run, message);
        batch_free_message(message);
    }
}

static void run_all(struct run *run)
{
    for (;;) {
        check_end(run);
        deliver(run);
        if (start_all(run))
            continue;
        if (run->delivered == run->count)
            return;
        if (run->plan[run->delivered].state != PLAN_SETTLED)
            wait_for_news(run);
    }
}

enum dispatch_end dispatch_run(const struct dispatch *dispatch, struct dispatch_call *calls,
                               size_t count, struct hook_outcome *outcome)
{
    struct run run = {.dispatch = dispatch, .calls = calls, .count = count, .outcome = outcome};
    *outcome = (struct hook_outcome){.verdict = MORTISE_CONTINUE};
    if (!count)
        return DISPATCH_DONE;
    if (!run_init(&run)) {
        for (size_t i = 0; i < count; i++) {
            if (!calls[i].answered)
                calls[i].result = (struct tool_result){0};
            fail_memory(&calls[i].result);
            dispatch_tell_result(dispatch->timeline, &calls[i]);
        }
        run_release(&run);
        return DISPATCH_DONE;
    }
    for (size_t i = 0; i < count; i++)
        prepare(&run, i);
    check_end(&run);
    if (ask_all_before(&run)) {
        run_all(&run);
    } else {
        run.end = DISPATCH_PAUSED;
        for (size_t i = 0; i < count; i++)
            tool_result_release(&calls[i].result);
    }
    run_release(&run);
    return run.end;
}
