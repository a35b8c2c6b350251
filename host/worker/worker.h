/*
 * worker - one conversation with a model, with tools and hooks: state, and the turn loop.
 *
 *     struct worker *worker = worker_new(&options, &error);
 *     timeline_add(worker_timeline(worker), EVENT_ALL, show, …);
 *     worker_run(worker, prompt, length, &result);
 *
 * A *turn* is one request to the model; a *run* is one user input until it is finished,
 * ends early or fails.  A worker belongs to the thread that calls worker_run(): hooks and
 * timeline handlers are called there, never two at once.  Only worker_cancel() may be
 * called from elsewhere.
 */
#ifndef WORKER_WORKER_H
#define WORKER_WORKER_H

#include "base/pool.h"
#include "conversation/history.h"
#include "plugin/registry.h"
#include "provider/provider.h"
#include "timeline/timeline.h"
#include "tool/dispatch.h"

struct worker;
struct artifacts;

/* Everything is borrowed for the life of the worker, but `registry`, of which it keeps a
 * reference. */
struct worker_options {
    struct client *client;
    struct registry *registry;
    struct pool *pool;
    struct cancel *cancel;     /* of the run; may already be set (D21) */
    const char *system;        /* or NULL */
    struct request_config config;
    enum strategy strategy;
    unsigned max_turns;        /* per run (D10) */
    int64_t timeout_ms;        /* per run; -1: none */
    struct call_context context;
    /* Which tools the model is offered; NULL: all. */
    bool (*offered)(void *data, const struct tool *tool);
    void *offered_data;
    /* The most bytes of a tool's result that enter history (D12). */
    size_t (*result_limit)(void *data, const char *tool);
    void *result_limit_data;
    /* Where the whole of a result goes that is above the limit; NULL: nowhere. */
    const struct artifacts *artifacts;
};

enum worker_status {
    WORKER_FINISHED,
    WORKER_PAUSED,
    WORKER_LIMIT,     /* max_turns: a further run goes on (D10) */
    WORKER_ABORTED,   /* by a hook */
    WORKER_HOOK,      /* a hook failed (D26) */
    WORKER_CANCELLED,
    WORKER_TIMEOUT,   /* timeout_ms passed */
    WORKER_FAILED     /* `error` tells why */
};
const char *worker_status_name(enum worker_status status); /* "finished", … */

struct worker_result {
    enum worker_status status;
    struct text text;    /* the last answer, whole */
    struct error error;  /* kind ERROR_NONE when finished or paused */
    unsigned turns;      /* requests of this run */
    struct usage usage;  /* of this run, added up */
    int64_t duration_ms;
};
void worker_result_release(struct worker_result *result);

struct worker *worker_new(const struct worker_options *options, struct error *error);
void worker_free(struct worker *worker); /* NULL is fine */

struct timeline *worker_timeline(struct worker *worker);

/* True when the run is finished, paused or at its limit; otherwise result->status and
 * ->error say how it ended.  History is valid after every ending.  `result` is overwritten. */
bool worker_run(struct worker *worker, const char *prompt, size_t length,
                struct worker_result *result);

/* Ends the run that is going on, or the next one if none is (D21).  Any thread. */
void worker_cancel(struct worker *worker);

const struct history *worker_history(const struct worker *worker);
/* Requests so far, over all runs. */
unsigned worker_turn_count(const struct worker *worker);
/* Whether the last run ended by anything but Finished (W59). */
bool worker_last_run_interrupted(const struct worker *worker);

#endif
