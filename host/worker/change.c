#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "conversation/repair.h"
#include "worker/state.h"

/* ---- the lock ---- */

void worker_lock(struct worker *worker)
{
    if (worker->state == WORKER_CACHE_LOCKED)
        return;
    worker->state = WORKER_CACHE_LOCKED;
    worker->locked = worker->history.count;
    prefix_restart(&worker->prefix);
}

void worker_unlock(struct worker *worker)
{
    worker->state = WORKER_MUTABLE;
    worker->locked = 0;
    worker_take_latest(worker);
}

static bool refuse_locked(const struct worker *worker, const char *what, struct error *error)
{
    if (worker->state == WORKER_MUTABLE)
        return false;
    error_set(error, ERROR_USAGE,
              "%s cannot be changed while the worker is locked; unlock it first", what);
    return true;
}

/* ---- system prompt, tools, settings ---- */

bool worker_set_system(struct worker *worker, const char *system, struct error *error)
{
    if (refuse_locked(worker, "the system prompt", error))
        return false;
    char *copy = system ? strdup(system) : NULL;
    if (system && !copy)
        return error_memory(error);
    free(worker->system);
    worker->system = copy;
    request_start_reset(&worker->start);
    return true;
}

bool worker_set_registry(struct worker *worker, struct registry *registry, struct error *error)
{
    return worker_use_registry(worker, registry, error);
}

void worker_take_latest(struct worker *worker)
{
    const struct worker_options *options = &worker->options;
    struct registry *latest = options->latest ? options->latest(options->latest_data) : NULL;
    struct error error;
    if (latest && latest != options->registry && !worker_use_registry(worker, latest, &error))
        log_debug("plugins that were loaded anew are not used yet: %s", error.message);
    registry_unref(latest);
}

void worker_set_config(struct worker *worker, const struct request_config *config)
{
    worker->options.config = *config;
}

/* ---- history ---- */

static void release_items(struct item **items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        item_unref(items[i]);
}

bool worker_push_item(struct worker *worker, struct item *item, struct error *error)
{
    if (refuse_locked(worker, "history", error)) {
        item_unref(item);
        return false;
    }
    bool is_known = item && item->call_id && history_has_call(&worker->history, item->call_id);
    if (item && item->kind == ITEM_CALL && is_known)
        error_set(error, ERROR_USAGE, "there is a call '%s' already", item->call_id);
    else if (item && item->kind == ITEM_OUTPUT && !is_known)
        error_set(error, ERROR_USAGE, "result '%s' has no call before it", item->call_id);
    else if (item && item->kind == ITEM_OUTPUT &&
             history_is_answered(&worker->history, item->call_id))
        error_set(error, ERROR_USAGE, "call '%s' has a result already", item->call_id);
    else
        return history_append(&worker->history, item, error);
    item_unref(item);
    return false;
}

static bool fill(struct history *history, const struct item_run *run, struct error *error)
{
    for (size_t i = 0; i < run->count; i++)
        if (!history_append(history, item_ref(run->items[i]), error))
            return false;
    return true;
}

/* A list of its own that has been repaired; released also when this fails. */
static bool copy_repaired(struct item_run *run, struct item *const *items, size_t count,
                          struct error *error)
{
    size_t dropped;
    *run = (struct item_run){0};
    if (!array_reserve(run, count + 1))
        return error_memory(error);
    for (; run->count < count; run->count++)
        run->items[run->count] = item_ref(items[run->count]);
    return items_repair(run, &dropped, error);
}

static void release_run(struct item_run *run)
{
    release_items(run->items, run->count);
    free(run->items);
}

/* The new history stands and is written down before the old one goes. */
static bool set_history(struct worker *worker, const struct item_run *run, struct error *error)
{
    const struct journal *journal = worker->options.journal;
    struct history history;
    history_init(&history);
    if (!fill(&history, run, error) ||
        (journal && !journal->replace(journal->self, history.items, history.count, error))) {
        history_release(&history);
        return false;
    }
    history.journal = journal;
    history_release(&worker->history);
    worker->history = history;
    request_start_reset(&worker->start);
    return true;
}

bool worker_set_history(struct worker *worker, struct item **items, size_t count,
                        struct error *error)
{
    struct item_run run = {0};
    bool ok = !refuse_locked(worker, "history", error) &&
              copy_repaired(&run, items, count, error) && set_history(worker, &run, error);
    release_run(&run);
    release_items(items, count);
    return ok;
}

bool worker_clear_history(struct worker *worker, struct error *error)
{
    return worker_set_history(worker, NULL, 0, error);
}

/* ---- what an earlier process left ---- */

static bool remember_started(struct worker *worker, const char *call_id)
{
    char *copy = strdup(call_id);
    if (!copy || !array_reserve(&worker->started, 1)) {
        free(copy);
        return false;
    }
    worker->started.items[worker->started.count++] = copy;
    return true;
}

static bool restore(struct worker *worker, struct item *const *items, size_t count,
                    const char *const *started, size_t started_count, struct error *error)
{
    struct item_run run;
    bool ok = copy_repaired(&run, items, count, error) && fill(&worker->history, &run, error);
    release_run(&run);
    for (size_t i = 0; ok && i < started_count; i++)
        ok = remember_started(worker, started[i]) || error_memory(error);
    return ok;
}

bool worker_restore(struct worker *worker, struct item *const *items, size_t count,
                    const char *const *started, size_t started_count, struct error *error)
{
    struct history *history = &worker->history;
    if (worker->has_run || history->count)
        return error_set(error, ERROR_USAGE,
                         "a conversation can be restored only before anything "
                         "else is in history");
    if (refuse_locked(worker, "history", error))
        return false;
    history->journal = NULL; /* it is written down already */
    bool ok = restore(worker, items, count, started, started_count, error);
    if (!ok)
        history_release(history);
    history->journal = worker->options.journal;
    return ok;
}
