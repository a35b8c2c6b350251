#include "worker/worker.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "worker/state.h"

const char *worker_status_name(enum worker_status status)
{
    static const char *const names[] = {
        [WORKER_FINISHED] = "finished",   [WORKER_PAUSED] = "paused",
        [WORKER_LIMIT] = "limit",         [WORKER_ABORTED] = "aborted",
        [WORKER_HOOK] = "hook_failed",    [WORKER_CANCELLED] = "cancelled",
        [WORKER_TIMEOUT] = "timeout",     [WORKER_FAILED] = "failed",
    };
    return names[status];
}

void worker_result_release(struct worker_result *result)
{
    text_release(&result->text);
}

/* ---- making ---- */

static bool build_toolset(struct worker *worker)
{
    const struct worker_options *options = &worker->options;
    size_t count = registry_tool_count(options->registry);
    worker->tools.items = calloc(count + 1, sizeof(*worker->tools.items));
    if (!worker->tools.items)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct tool *tool = registry_tool(options->registry, i);
        if (options->offered && !options->offered(options->offered_data, tool))
            continue;
        worker->tools.items[worker->tools.count++] = (struct tool_definition){
            .name = tool->name,
            .description = tool->meta.description,
            .schema = tool->meta.input_schema,
        };
    }
    return true;
}

static const char *hook_context(void *data, const char *key)
{
    const struct worker *worker = data;
    const struct call_context *context = &worker->context;
    const struct {
        const char *key, *value;
    } known[] = {
        {"user", context->user ? context->user : "anonymous"},
        {"session", context->session},
        {"tenant", context->tenant},
        {"agent", context->agent},
        {"workspace", context->workspace},
        {"invocation", context->invocation},
        {"model", worker->model},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(known[i].key, key) == 0)
            return known[i].value;
    return NULL;
}

static bool id_taken(void *context, const char *id)
{
    const struct worker *worker = context;
    return history_has_call(&worker->history, id);
}

static bool admits(void *context, const struct event *event)
{
    struct worker *worker = context;
    hooks_stream(&worker->hooks, event, &worker->stream_outcome);
    return worker->stream_outcome.verdict == MORTISE_CONTINUE;
}

static bool hooks_watch_streams(const struct registry *registry)
{
    return hooks_take(registry, HOOK_stream_chunk) || hooks_take(registry, HOOK_text_delta) ||
           hooks_take(registry, HOOK_tool_call_delta);
}

static char *full_model_name(const struct client *client)
{
    struct text name = TEXT_INIT;
    text_puts(&name, client->provider);
    if (client->model[0])
        text_printf(&name, "/%s", client->model);
    return text_take(&name, NULL);
}

struct worker *worker_new(const struct worker_options *options, struct error *error)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    if (!worker) {
        error_memory(error);
        return NULL;
    }
    worker->options = *options;
    worker->context = options->context;
    worker->context.invocation = worker->invocation;
    registry_ref(options->registry);
    timeline_init(&worker->timeline);
    collect_init(&worker->collect);
    history_init(&worker->history);
    stream_init(&worker->stream, &worker->timeline);
    worker->stream.id_taken = id_taken;
    worker->stream.id_context = worker;
    worker->stream.admits = hooks_watch_streams(options->registry) ? admits : NULL;
    worker->stream.admits_context = worker;
    worker->hooks = (struct hook_setting){
        .registry = options->registry,
        .timeline = &worker->timeline,
        .context = hook_context,
        .context_data = worker,
    };
    worker->model = full_model_name(options->client);
    /* The collector is first, so that it has gathered what later handlers hear of. */
    if (!worker->model || !build_toolset(worker) ||
        !collect_register(&worker->collect, &worker->timeline)) {
        error_memory(error);
        worker_free(worker);
        return NULL;
    }
    return worker;
}

void worker_free(struct worker *worker)
{
    if (!worker)
        return;
    stream_release(&worker->stream);
    toolset_release(&worker->tools);
    history_release(&worker->history);
    collect_release(&worker->collect);
    timeline_release(&worker->timeline);
    registry_unref(worker->options.registry);
    free(worker->model);
    free(worker);
}

struct timeline *worker_timeline(struct worker *worker)
{
    return &worker->timeline;
}

const struct history *worker_history(const struct worker *worker)
{
    return &worker->history;
}

unsigned worker_turn_count(const struct worker *worker)
{
    return worker->turn_count;
}

bool worker_last_run_interrupted(const struct worker *worker)
{
    return worker->interrupted;
}

void worker_cancel(struct worker *worker)
{
    cancel_trigger(worker->options.cancel);
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
    if (cancel_requested(worker->options.cancel)) {
        error_set(&error, ERROR_CANCELLED, "cancelled");
        run_fail(worker, WORKER_CANCELLED, &error);
        return true;
    }
    if (worker->deadline_ms >= 0 && clock_ms() >= worker->deadline_ms) {
        error_set(&error, ERROR_TIMEOUT,
                  "the run did not finish within its %.1f s (--timeout)",
                  (double)worker->options.timeout_ms / 1000);
        run_fail(worker, WORKER_TIMEOUT, &error);
        return true;
    }
    return false;
}

/* ---- a run ---- */

static void begin(struct worker *worker, struct worker_result *result)
{
    *result = (struct worker_result){.usage = USAGE_INIT};
    error_clear(&result->error);
    worker->result = result;
    worker->pauses = 0;
    worker->cut_batches = 0;
    worker->interrupted = false;
    worker->deadline_ms =
        worker->options.timeout_ms >= 0 ? clock_ms() + worker->options.timeout_ms : -1;
    id_make(worker->invocation, "run");
}

static void announce(struct worker *worker)
{
    const char **names = calloc(worker->tools.count + 1, sizeof(*names));
    if (names)
        for (size_t i = 0; i < worker->tools.count; i++)
            names[i] = worker->tools.items[i].name;
    timeline_emit(&worker->timeline, &(struct event){
                                         .kind = EVENT_RUN_START,
                                         .as.run_start = {.session = worker->context.session,
                                                          .model = worker->model,
                                                          .tools = names,
                                                          .tool_count = names ? worker->tools.count
                                                                              : 0},
                                     });
    free(names);
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
    enum step step = STEP_ON;
    if (outcome.failed || outcome.verdict != MORTISE_CONTINUE)
        step = run_stopped_by_hook(worker, &outcome, "OnPromptSubmit");
    else if (history_first_unanswered(&worker->history) < worker->history.count)
        step = batch_run(worker);
    if (step == STEP_ON && !history_append(&worker->history, item_ref(item), &error))
        step = run_fail(worker, WORKER_FAILED, &error);
    item_unref(item);
    return step;
}

static enum step one_turn(struct worker *worker)
{
    if (run_interrupted(worker))
        return STEP_END;
    if (worker->result->turns < worker->options.max_turns)
        return turn_run(worker);
    /* A result like "paused", no error: a further run goes on from here (D10). */
    error_set(&worker->result->error, ERROR_LIMIT,
              "stopped after %u requests in one run (--max-turns)", worker->result->turns);
    return run_end(worker, WORKER_LIMIT);
}

bool worker_run(struct worker *worker, const char *prompt, size_t length,
                struct worker_result *result)
{
    int64_t start_ms = clock_ms();
    begin(worker, result);
    announce(worker);
    enum step step = run_interrupted(worker) ? STEP_END : take_prompt(worker, prompt, length);
    while (step == STEP_ON)
        step = one_turn(worker);
    bool good = result->status == WORKER_FINISHED || result->status == WORKER_PAUSED ||
                result->status == WORKER_LIMIT;
    if (!good)
        hooks_abort(&worker->hooks, result->error.message);
    worker->interrupted = result->status != WORKER_FINISHED;
    result->duration_ms = clock_ms() - start_ms;
    worker->result = NULL;
    return good;
}
