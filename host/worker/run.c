#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"
#include "worker/state.h"

const char *worker_status_name(enum worker_status status)
{
    static const char *const names[] = {
        [WORKER_FINISHED] = "finished", [WORKER_PAUSED] = "paused",
        [WORKER_LIMIT] = "limit",       [WORKER_ABORTED] = "aborted",
        [WORKER_HOOK] = "hook_failed",  [WORKER_CANCELLED] = "cancelled",
        [WORKER_TIMEOUT] = "timeout",   [WORKER_FAILED] = "failed",
    };
    return names[status];
}

void worker_result_release(struct worker_result *result)
{
    text_release(&result->text);
}

void worker_result_describe(const struct worker_result *result, struct text *out)
{
    static const char *const words[] = {
        [WORKER_FINISHED] = "Finished",     [WORKER_PAUSED] = "Paused",
        [WORKER_LIMIT] = "Limit reached",   [WORKER_ABORTED] = "Aborted",
        [WORKER_HOOK] = "Hook error",       [WORKER_CANCELLED] = "Cancelled",
        [WORKER_TIMEOUT] = "Limit reached", [WORKER_FAILED] = "Client error",
    };
    text_puts(out, result->tools_failed ? "Tool error" : words[result->status]);
    if (result->error.kind != ERROR_NONE && result->status != WORKER_CANCELLED)
        text_printf(out, ": %s", result->error.message);
}

/* ---- how a run ends ---- */

enum step run_end(struct worker *worker, enum worker_status status)
{
    worker->result->status = status;
    return STEP_END;
}

enum step run_fail(struct worker *worker, enum worker_status status, const struct error *error)
{
    worker->result->error = *error;
    timeline_emit(&worker->timeline,
                  &(struct event){.kind = EVENT_ERROR, .as.error = &worker->result->error});
    return run_end(worker, status);
}

enum step run_stopped_by_hook(struct worker *worker, const struct hook_outcome *outcome,
                              const char *event)
{
    struct error error;
    const char *name = outcome->hook ? outcome->hook->name : "?";
    const char *plugin = outcome->hook ? outcome->hook->plugin->name : "?";
    const char *reason = outcome->reason[0] ? outcome->reason : "no reason given";
    if (outcome->failed)
        error_set(&error, ERROR_HOOK, "hook '%s' of plugin '%s' failed at %s: %s", name, plugin,
                  event, reason);
    else
        error_set(&error, ERROR_HOOK, "stopped by hook '%s' of plugin '%s' at %s: %s", name, plugin,
                  event, reason);
    return run_fail(worker, outcome->failed ? WORKER_HOOK : WORKER_ABORTED, &error);
}

bool run_interrupted(struct worker *worker)
{
    struct error error;
    if (cancel_requested(worker->cancel)) {
        error_set(&error, ERROR_CANCELLED, "cancelled");
        run_fail(worker, WORKER_CANCELLED, &error);
        return true;
    }
    if (worker->deadline_ms >= 0 && clock_ms() >= worker->deadline_ms) {
        error_set(&error, ERROR_TIMEOUT, "the run did not finish within its %.1f s (--timeout)",
                  (double)worker->limit_ms / 1000);
        run_fail(worker, WORKER_TIMEOUT, &error);
        return true;
    }
    return false;
}

void worker_expire(struct worker *worker, int64_t limit_ms)
{
    worker->limit_ms = limit_ms;
    worker->deadline_ms = 0;
}

/* ---- a run ---- */

static void begin(struct worker *worker, struct worker_result *result)
{
    *result = (struct worker_result){.usage = USAGE_INIT};
    error_clear(&result->error);
    worker->result = result;
    worker->pauses = 0;
    worker->cut_batches = 0;
    worker->has_run = true;
    limits_begin(worker);
    worker->interrupted = false;
    worker->limit_ms = worker->options.timeout_ms;
    worker->deadline_ms = worker->limit_ms >= 0 ? clock_ms() + worker->limit_ms : -1;
    id_make(worker->invocation, "run");
}

static void announce(struct worker *worker)
{
    const char **names = calloc(worker->tools.count + 1, sizeof(*names));
    if (names)
        for (size_t i = 0; i < worker->tools.count; i++)
            names[i] = worker->tools.items[i].name;
    timeline_emit(&worker->timeline,
                  &(struct event){
                      .kind = EVENT_RUN_START,
                      .as.run_start = {.session = worker->context.session,
                                       .model = worker->model,
                                       .tools = names,
                                       .tool_count = names ? worker->tools.count : 0},
                  });
    free(names);
}

/* What an earlier run or process left open comes before anything new (W20). */
static enum step answer_open_calls(struct worker *worker)
{
    bool is_open = history_first_unanswered(&worker->history) < worker->history.count;
    return is_open ? batch_run(worker) : STEP_ON;
}

/* Asks the hooks, answers calls that are still open, stores the prompt (D6). */
static enum step take_prompt(struct worker *worker, const char *prompt, size_t length)
{
    struct error error;
    struct hook_outcome outcome = {0};
    struct item *item = item_message(ROLE_USER, PART_INPUT_TEXT, prompt, length);
    if (!item) {
        error_memory(&error);
        return run_fail(worker, WORKER_FAILED, &error);
    }
    hooks_prompt_submit(&worker->hooks, &item, &outcome);
    enum step step = outcome.failed || outcome.verdict != MORTISE_CONTINUE
                         ? run_stopped_by_hook(worker, &outcome, "OnPromptSubmit")
                         : answer_open_calls(worker);
    if (step == STEP_ON && !history_append(&worker->history, item_ref(item), &error))
        step = run_fail(worker, WORKER_FAILED, &error);
    item_unref(item);
    return step;
}

static enum step one_turn(struct worker *worker)
{
    if (run_interrupted(worker))
        return STEP_END;
    worker_take_latest(worker);
    /* A result like "paused", no error: a further run goes on from here (D10). */
    return limits_reached(worker) ? run_end(worker, WORKER_LIMIT) : turn_run(worker);
}

/* A cancel hits one run: a token that was triggered is not the next run's (D21). */
static void renew_token(struct worker *worker)
{
    struct cancel *spent = worker->cancel; /* only this thread replaces it */
    struct cancel *fresh = cancel_requested(spent) ? cancel_new() : NULL;
    if (!fresh) {
        if (cancel_requested(spent))
            log_warning("there is no new cancel token: the next run ends at once");
        return;
    }
    pthread_mutex_lock(&worker->cancel_lock);
    worker->cancel = fresh;
    pthread_mutex_unlock(&worker->cancel_lock);
    cancel_unref(spent);
}

static bool finish(struct worker *worker, int64_t start_ms)
{
    struct worker_result *result = worker->result;
    bool good = result->status == WORKER_FINISHED || result->status == WORKER_PAUSED ||
                result->status == WORKER_LIMIT;
    if (!good)
        hooks_abort(&worker->hooks, result->error.message);
    worker->interrupted = result->status != WORKER_FINISHED;
    result->duration_ms = clock_ms() - start_ms;
    worker->result = NULL;
    renew_token(worker);
    return good;
}

/* `prompt` is NULL when a run is resumed. */
static bool run(struct worker *worker, const char *prompt, size_t length,
                struct worker_result *result)
{
    int64_t start_ms = clock_ms();
    enum step step;
    worker_take_latest(worker);
    begin(worker, result);
    announce(worker);
    if (run_interrupted(worker))
        step = STEP_END;
    else
        step = prompt ? take_prompt(worker, prompt, length) : answer_open_calls(worker);
    while (step == STEP_ON)
        step = one_turn(worker);
    return finish(worker, start_ms);
}

bool worker_run(struct worker *worker, const char *prompt, size_t length,
                struct worker_result *result)
{
    return run(worker, prompt ? prompt : "", length, result);
}

bool worker_resume(struct worker *worker, struct worker_result *result)
{
    return run(worker, NULL, 0, result);
}
