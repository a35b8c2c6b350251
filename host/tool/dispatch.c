#include "tool/dispatch.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>

#include "base/clock.h"
#include "tool/asked.h"
#include "tool/batch.h"
#include "tool/parts.h"

struct run {
    const struct dispatch *dispatch;
    struct dispatch_call *calls;
    size_t count;
    struct hook_outcome *outcome;
    struct batch *batch;
    struct plan *plan;        /* what runs, what waits, what has its result */
    struct asked_call *asked; /* each call as the hooks see it */
    size_t delivered;         /* calls that are through, from the first */
    enum dispatch_end end;    /* DISPATCH_DONE as long as nothing ended it early */
    int64_t give_up_ms;       /* then: when to leave tools behind */
};

/* ---- before anything runs ---- */

static bool run_init(struct run *run)
{
    run->batch = batch_new(run->count);
    run->plan = calloc(run->count, sizeof(*run->plan));
    run->asked = calloc(run->count, sizeof(*run->asked));
    return run->batch && run->plan && run->asked;
}

static void run_release(struct run *run)
{
    for (size_t i = 0; run->asked && i < run->count; i++)
        asked_release(&run->asked[i]);
    batch_unref(run->batch);
    free(run->plan);
    free(run->asked);
}

static void prepare(struct run *run, size_t i)
{
    struct asked_call *asked = &run->asked[i];
    bool waits = asked_prepare(asked, run->dispatch, &run->calls[i], i, run->count);
    run->plan[i] = (struct plan){.tool = asked->tool, .state = waits ? PLAN_WAITS : PLAN_SETTLED};
}

/* ---- an early end ---- */

static void settle(struct run *run, size_t i)
{
    call_unref(run->batch->slots[i].call);
    run->batch->slots[i].call = NULL;
    run->plan[i].state = PLAN_SETTLED;
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
        if (run->plan[i].state == PLAN_SETTLED)
            continue;
        if (call && !call_revoke(call)) {
            call_cancelled(call);
            continue;
        }
        if (call || !asked_known(&run->asked[i]))
            asked_ended(&run->asked[i], end, " before it ran");
        settle(run, i);
    }
}

static void leave_behind(struct run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        if (run->plan[i].state != PLAN_RUNS)
            continue;
        asked_left_behind(&run->asked[i], run->batch->slots[i].call, run->end);
        settle(run, i);
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
    stop(run, asked_end(outcome));
}

/* False: the batch is paused. */
static bool ask_before(struct run *run, size_t i)
{
    struct hook_outcome outcome;
    asked_before(&run->asked[i], &outcome);
    switch (outcome.verdict) {
    case MORTISE_CONTINUE:
        return true;
    case MORTISE_SKIP:
    case MORTISE_RESPOND:
        run->plan[i].state = PLAN_SETTLED;
        return true;
    case MORTISE_PAUSE:
        *run->outcome = outcome;
        return false;
    default:
        stop_by_hook(run, &outcome);
        return true;
    }
}

static bool ask_all_before(struct run *run)
{
    for (size_t i = 0; i < run->count && run->end == DISPATCH_DONE; i++)
        if (run->plan[i].state == PLAN_WAITS && !ask_before(run, i))
            return false;
    return true;
}

static void ask_after(struct run *run, size_t i)
{
    struct hook_outcome outcome;
    asked_after(&run->asked[i], &outcome);
    if (outcome.verdict != MORTISE_CONTINUE)
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
    asked_take(&run->asked[i], run->batch->slots[i].call);
    settle(run, i);
}

/* ---- running ---- */

static void start(struct run *run, size_t i)
{
    struct call_watcher watcher = batch_watcher(run->batch, i);
    enum dispatch_end end = DISPATCH_DONE;
    struct call *call = asked_start(&run->asked[i], &watcher, &end);
    run->plan[i].state = call ? PLAN_RUNS : PLAN_SETTLED;
    if (end != DISPATCH_DONE)
        stop(run, end);
    if (call && !batch_submit(run->batch, i, call, run->dispatch->pool)) {
        asked_unrun(&run->asked[i]);
        settle(run, i);
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
            asked_no_memory(&calls[i].result);
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
