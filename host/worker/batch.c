#include <stdlib.h>

#include "base/array.h"
#include "base/log.h"
#include "tool/arguments.h"
#include "tool/cap.h"
#include "worker/state.h"

/* The open calls of history, as dispatch wants them. */
struct batch {
    struct dispatch_call *items;
    size_t count;
    size_t capacity;
    struct error *reasons; /* why call i is unreadable */
};

static bool collect_open_calls(const struct history *history, struct batch *batch)
{
    for (size_t i = history_first_unanswered(history); i < history->count; i++) {
        const struct item *item = history->items[i];
        if (item->kind != ITEM_CALL || history_is_answered(history, item->call_id))
            continue;
        if (!array_reserve(batch, 1))
            return false;
        batch->items[batch->count++] = (struct dispatch_call){
            .id = item->call_id,
            .name = item->name,
            .arguments = {item->arguments.data, item->arguments.length},
            .valid = item->arguments_valid,
        };
    }
    return true;
}

/* The reason is told by the same function that refused the text when it came. */
static bool explain_invalid(struct batch *batch)
{
    batch->reasons = calloc(batch->count + 1, sizeof(*batch->reasons));
    if (!batch->reasons)
        return false;
    for (size_t i = 0; i < batch->count; i++) {
        struct dispatch_call *call = &batch->items[i];
        if (call->valid)
            continue;
        struct text ignored = TEXT_INIT;
        arguments_repair(call->arguments.data, call->arguments.length, &ignored,
                         &batch->reasons[i]);
        text_release(&ignored);
        call->invalid_reason = batch->reasons[i].message;
    }
    return true;
}

/* ---- calls that an earlier process had begun (D25) ---- */

bool worker_was_started(const struct worker *worker, const char *call_id)
{
    for (size_t i = 0; i < worker->started.count; i++)
        if (strcmp(worker->started.items[i], call_id) == 0)
            return true;
    return false;
}

static bool may_run_twice(const struct worker *worker, const char *name)
{
    const struct tool *tool = tool_resolve(worker->options.registry, name);
    return tool && (tool->meta.flags & (MORTISE_READ_ONLY | MORTISE_IDEMPOTENT));
}

static void answer_lost(const struct worker *worker, struct batch *batch)
{
    for (size_t i = 0; i < batch->count && worker->started.count; i++) {
        struct dispatch_call *call = &batch->items[i];
        if (!worker_was_started(worker, call->id) || may_run_twice(worker, call->name))
            continue;
        tool_result_fail(&call->result, MORTISE_UNAVAILABLE, "host.stopped",
                         "outcome unknown: the host stopped while it ran");
        call->answered = true;
    }
}

/* ---- results into history ---- */

static void batch_release(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        tool_result_release(&batch->items[i].result);
    free(batch->items);
    free(batch->reasons);
}

/* Keeps the whole text of a result that will be cut; NULL when there is no place for it. */
static const char *keep_whole(struct worker *worker, const struct dispatch_call *call,
                              struct text *path)
{
    const struct tool_result *result = &call->result;
    const char *type = result->is_json ? "application/json" : "text/plain; charset=utf-8";
    struct error error;
    if (!whole_has_place(worker))
        return NULL;
    if (whole_save(worker, call->id, type, result->text.data, result->text.length, path, &error))
        return path->data;
    log_warning("the whole result of '%s' is lost: %s", call->name, error.message);
    return NULL;
}

static bool cap_result(struct worker *worker, struct dispatch_call *call, struct error *error)
{
    const struct worker_options *options = &worker->options;
    size_t limit = options->result_limit(options->result_limit_data, call->name);
    struct text *text = &call->result.text;
    struct text path = TEXT_INIT;
    bool ok = text->length <= limit || result_cap(text, limit, keep_whole(worker, call, &path));
    text_release(&path);
    return ok || error_memory(error);
}

/* The user learns it too when the model does not get a part of the newest result (F75). */
static void tell_unsent(struct worker *worker, const char *name)
{
    struct text unsent = TEXT_INIT, line = TEXT_INIT;
    client_unsent(worker->options.client, worker->history.items, worker->history.count - 1, &unsent);
    if (unsent.length)
        text_printf(&line, "of the result of '%s', %s", name, text_cstr(&unsent));
    if (line.length && !line.failed)
        timeline_emit(&worker->timeline,
                      &(struct event){.kind = EVENT_STATUS,
                                      .as.status.text = {line.data, line.length}});
    text_release(&unsent);
    text_release(&line);
}

/* The one place where a tool's result enters history, and where it is capped (D12). */
static bool store_result(struct worker *worker, struct dispatch_call *call, struct error *error)
{
    struct tool_result *result = &call->result;
    limits_note_result(worker, call);
    if (!cap_result(worker, call, error))
        return false;
    struct item *item =
        item_output(call->id, text_cstr(&result->text), result->text.length, !result->success);
    if (item)
        item_take_attachments(item, &result->attachments, &result->attachment_count);
    if (!history_append(&worker->history, item, error))
        return false;
    if (item->attachment_count)
        tell_unsent(worker, call->name);
    return true;
}

static bool store_results(struct worker *worker, struct batch *batch, struct error *error)
{
    for (size_t i = 0; i < batch->count; i++)
        if (!store_result(worker, &batch->items[i], error))
            return false;
    return true;
}

static bool note_start(void *data, const struct dispatch_call *call, struct error *error)
{
    const struct worker *worker = data;
    const struct journal *journal = worker->options.journal;
    if (journal->call_started(journal->self, call->id, error))
        return true;
    error->kind = ERROR_INTERNAL;
    return false;
}

static enum step fail_tools(struct worker *worker, const struct error *error)
{
    worker->result->tools_failed = true;
    return run_fail(worker, WORKER_FAILED, error);
}

static enum step after(struct worker *worker, enum dispatch_end end,
                       const struct hook_outcome *outcome, const struct error *failure)
{
    struct error error;
    switch (end) {
    case DISPATCH_DONE:
        return STEP_ON;
    case DISPATCH_PAUSED:
        return run_end(worker, WORKER_PAUSED);
    case DISPATCH_ABORTED:
    case DISPATCH_HOOK_FAILED:
        return run_stopped_by_hook(worker, outcome, outcome->event);
    case DISPATCH_CANCELLED:
    case DISPATCH_TIMEOUT:
        if (run_interrupted(worker))
            return STEP_END;
        break;
    case DISPATCH_FAILED:
        return fail_tools(worker, failure);
    }
    error_set(&error, ERROR_INTERNAL, "the calls of a response ended in an unknown way");
    return fail_tools(worker, &error);
}

enum step batch_run(struct worker *worker)
{
    const struct worker_options *options = &worker->options;
    struct batch batch = {0};
    struct hook_outcome outcome = {0};
    struct error error, failure = ERROR_INIT;
    struct dispatch dispatch = {
        .registry = options->registry,
        .pool = options->pool,
        .timeline = &worker->timeline,
        .hooks = &worker->hooks,
        .context = &worker->context,
        .offered = options->offered,
        .offered_data = options->offered_data,
        .cancel = worker->cancel,
        .deadline_ms = worker->deadline_ms,
        .grace_ms = 2000,
        .strategy = options->strategy,
        .turn = worker->turn,
        .starting = options->journal ? note_start : NULL,
        .starting_data = worker,
        .error = &failure,
        .tape = options->call_tape,
    };
    enum step step;
    if (!collect_open_calls(&worker->history, &batch) || !explain_invalid(&batch)) {
        error_memory(&error);
        step = fail_tools(worker, &error);
    } else {
        answer_lost(worker, &batch);
        enum dispatch_end end = dispatch_run(&dispatch, batch.items, batch.count, &outcome);
        if (end != DISPATCH_PAUSED && !store_results(worker, &batch, &error))
            step = fail_tools(worker, &error);
        else
            step = after(worker, end, &outcome, &failure);
    }
    batch_release(&batch);
    return step;
}

bool batch_refuse(struct worker *worker, const char *why, struct error *error)
{
    struct batch batch = {0};
    bool ok = collect_open_calls(&worker->history, &batch) || error_memory(error);
    for (size_t i = 0; ok && i < batch.count; i++) {
        struct dispatch_call *call = &batch.items[i];
        tool_result_fail(&call->result, MORTISE_ABORTED, "call.not_run", "not run: %s", why);
        dispatch_tell_result(&worker->timeline, call);
    }
    ok = ok && store_results(worker, &batch, error);
    batch_release(&batch);
    return ok;
}
