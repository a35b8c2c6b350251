#include "worker/worker.h"

#include <stdlib.h>
#include <string.h>

#include "worker/state.h"

/* ---- making ---- */

static bool build_toolset(const struct worker *worker, const struct registry *registry,
                          struct toolset *tools)
{
    const struct worker_options *options = &worker->options;
    size_t count = registry_tool_count(registry);
    *tools = (struct toolset){.items = calloc(count + 1, sizeof(*tools->items))};
    if (!tools->items)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct tool *tool = registry_tool(registry, i);
        if (options->offered && !options->offered(options->offered_data, tool))
            continue;
        tools->items[tools->count++] = (struct tool_definition){
            .name = tool->name,
            .description = tool->meta.description,
            .schema = tool->meta.input_schema,
        };
    }
    return true;
}

static const char *hook_context(void *data, const char *key, struct arena *memory)
{
    const struct worker *worker = data;
    return strcmp(key, "model") == 0 ? worker->model : context_get(&worker->context, key, memory);
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

/* Whether a request says the same of both. */
static bool same_tools(const struct toolset *one, const struct toolset *other)
{
    bool same = one->count == other->count;
    for (size_t i = 0; same && i < one->count; i++)
        same = strcmp(one->items[i].name, other->items[i].name) == 0 &&
               strcmp(one->items[i].description, other->items[i].description) == 0 &&
               strcmp(one->items[i].schema, other->items[i].schema) == 0;
    return same;
}

bool worker_use_registry(struct worker *worker, struct registry *registry, struct error *error)
{
    struct toolset tools;
    if (!build_toolset(worker, registry, &tools))
        return error_memory(error);
    if (worker->state == WORKER_CACHE_LOCKED && !same_tools(&worker->tools, &tools)) {
        toolset_release(&tools);
        return error_set(error, ERROR_USAGE,
                         "the set of tools cannot be changed while the worker "
                         "is locked; unlock it first");
    }
    registry_ref(registry);
    request_start_reset(&worker->start);
    toolset_release(&worker->tools);
    registry_unref(worker->options.registry);
    worker->tools = tools;
    worker->options.registry = registry;
    worker->hooks.registry = registry;
    worker->stream.admits = hooks_watch_streams(registry) ? admits : NULL;
    return true;
}

static void set_up(struct worker *worker)
{
    worker->context = worker->options.context;
    worker->context.invocation = worker->invocation;
    pthread_mutex_init(&worker->cancel_lock, NULL);
    timeline_init(&worker->timeline);
    collect_init(&worker->collect);
    history_init(&worker->history);
    worker->history.journal = worker->options.journal;
    stream_init(&worker->stream, &worker->timeline);
    worker->stream.id_taken = id_taken;
    worker->stream.id_context = worker;
    worker->stream.admits_context = worker;
    worker->hooks = (struct hook_setting){
        .timeline = &worker->timeline,
        .context = hook_context,
        .context_data = worker,
        .tape = worker->options.hook_tape,
    };
}

/* Takes what it keeps of the options.  The collector is first on the timeline, so that it has
 * gathered what later handlers hear of. */
static bool take_options(struct worker *worker, const struct worker_options *options)
{
    worker->cancel = options->cancel ? cancel_ref(options->cancel) : cancel_new();
    worker->model = full_model_name(options->client);
    return worker->cancel && worker->model &&
           worker_use_registry(worker, options->registry, NULL) &&
           worker_set_system(worker, options->system, NULL) &&
           collect_register(&worker->collect, &worker->timeline);
}

struct worker *worker_new(const struct worker_options *options, struct error *error)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    if (!worker) {
        error_memory(error);
        return NULL;
    }
    worker->options = *options;
    worker->options.registry = NULL;
    set_up(worker);
    if (!take_options(worker, options)) {
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
    cancel_unref(worker->cancel);
    pthread_mutex_destroy(&worker->cancel_lock);
    for (size_t i = 0; i < worker->started.count; i++)
        free(worker->started.items[i]);
    free(worker->started.items);
    free(worker->system);
    prefix_release(&worker->prefix);
    request_start_reset(&worker->start);
    text_release(&worker->repeat.key);
    free(worker->model);
    free(worker);
}

/* ---- looking ---- */

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

enum worker_state worker_state(const struct worker *worker)
{
    return worker->state;
}

size_t worker_locked_prefix(const struct worker *worker)
{
    return worker->locked;
}

const char *worker_system(const struct worker *worker)
{
    return worker->system;
}

struct registry *worker_registry(const struct worker *worker)
{
    return worker->options.registry;
}

const struct request_config *worker_config(const struct worker *worker)
{
    return &worker->options.config;
}

static void add_warning(void *data, const char *line)
{
    struct text *warnings = data;
    text_printf(warnings, "%s%s", warnings->length ? ", " : "", line);
}

bool worker_validate(const struct worker *worker, struct error *error)
{
    struct text warnings = TEXT_INIT;
    client_check(worker->options.client, &worker->options.config, add_warning, &warnings);
    bool ok = warnings.length == 0;
    if (!ok)
        error_set(error, ERROR_CONFIG, "Config warnings: %s", text_cstr(&warnings));
    text_release(&warnings);
    return ok;
}

/* ---- cancelling ---- */

struct cancel *worker_cancel_token(struct worker *worker)
{
    pthread_mutex_lock(&worker->cancel_lock);
    struct cancel *token = cancel_ref(worker->cancel);
    pthread_mutex_unlock(&worker->cancel_lock);
    return token;
}

void worker_cancel(struct worker *worker)
{
    struct cancel *token = worker_cancel_token(worker);
    cancel_trigger(token);
    cancel_unref(token);
}

bool worker_is_cancelled(const struct worker *worker)
{
    return cancel_requested(worker->cancel);
}
