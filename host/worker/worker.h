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
#include "conversation/journal.h"
#include "plugin/registry.h"
#include "provider/provider.h"
#include "timeline/timeline.h"
#include "tool/dispatch.h"

struct worker;
struct artifact_store;

/* Everything is borrowed for the life of the worker, but `registry` and `cancel`, of which it
 * keeps a reference, and `system`, which it copies. */
struct worker_options {
    struct client *client;
    struct registry *registry;
    struct pool *pool;
    /* Asked before each request, and when the worker is unlocked, for the tools and hooks to go on
     * with: a reference, or NULL for what there is.  What a locked worker may not have is asked for
     * again later.  NULL function: they stay until worker_set_registry(). */
    struct registry *(*latest)(void *data);
    void *latest_data;
    struct cancel *cancel;     /* of the first run; may already be set (D21) */
    const char *system;        /* or NULL */
    struct request_config config;
    enum strategy strategy;
    unsigned max_turns;        /* per run (D10) */
    int64_t max_run_tokens;    /* per run, input and output added up; 0: no limit */
    unsigned max_repeats;      /* the same call with the same result, one turn after the other:
                                * once more ends the run; 0: five */
    int64_t timeout_ms;        /* per run; -1: none */
    struct call_context context;
    /* Which tools the model is offered; NULL: all. */
    bool (*offered)(void *data, const struct tool *tool);
    void *offered_data;
    /* The most bytes of a tool's result that enter history (D12). */
    size_t (*result_limit)(void *data, const char *tool);
    void *result_limit_data;
    /* Where the whole of a result goes that is above the limit; NULL: nowhere. */
    struct artifact_store *artifacts;
    /* Where the conversation is written down; NULL: nowhere. */
    const struct journal *journal;
    /* What hooks and tools do is told to, or comes from; NULL: nobody (host/record). */
    const struct hook_tape *hook_tape;
    const struct call_tape *call_tape;
};

enum worker_status {
    WORKER_FINISHED,
    WORKER_PAUSED,
    WORKER_LIMIT,     /* of turns, tokens or repeats: a further run goes on (D10) */
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
    bool tools_failed;   /* the error is of the machinery that runs tools */
    unsigned turns;      /* requests of this run */
    struct usage usage;  /* of this run, added up */
    int64_t duration_ms;
};
void worker_result_release(struct worker_result *result);
/* How the run ended, as one line: "Finished", "Paused", "Limit reached: …", "Cancelled",
 * "Aborted: …", "Hook error: …", "Tool error: …" (of the machinery, never of a tool) or
 * "Client error: …". */
void worker_result_describe(const struct worker_result *result, struct text *out);

struct worker *worker_new(const struct worker_options *options, struct error *error);
void worker_free(struct worker *worker); /* NULL is fine */

struct timeline *worker_timeline(struct worker *worker);

/* True when the run is finished, paused or at its limit; otherwise result->status and
 * ->error say how it ended.  History is valid after every ending.  `result` is overwritten. */
bool worker_run(struct worker *worker, const char *prompt, size_t length,
                struct worker_result *result);

/* Goes on with a run that was paused, interrupted or limited (W56): executes calls that have
 * no result, then asks the model; adds no item of its own. */
bool worker_resume(struct worker *worker, struct worker_result *result);

/* Ends the run that is going on, or the next one if none is (D21).  Any thread; never blocks. */
void worker_cancel(struct worker *worker);
/* The token of the run that is going on, or of the next one if none is: a reference for the
 * caller, to trigger from any thread or a signal handler.  A token that was triggered is
 * replaced when its run ends, so a program that runs again asks again.  Any thread. */
struct cancel *worker_cancel_token(struct worker *worker);

/* The time of the run that is going on is up, as if `limit_ms` had been its limit.  From its own
 * thread: for what replays a run without waiting. */
void worker_expire(struct worker *worker, int64_t limit_ms);

/* ---- locking: so that a provider's cache can be used (W4-W14, D17) ---- */

enum worker_state { WORKER_MUTABLE, WORKER_CACHE_LOCKED };
enum worker_state worker_state(const struct worker *worker);
/* From here on what is in history stays as it is, and so do tools and system prompt.  Both are
 * allowed at any time between runs and keep everything else. */
void worker_lock(struct worker *worker);
/* Takes the tools and hooks that it could not have while it was locked. */
void worker_unlock(struct worker *worker);
/* How many items are locked; 0 when mutable. */
size_t worker_locked_prefix(const struct worker *worker);

/* ---- changes between runs; while locked those marked [mutable] are refused with an error of
 * kind usage that says so, and change nothing ---- */

bool worker_set_system(struct worker *worker, const char *system, struct error *error); /* [mutable] copies; NULL: none */
/* Take over the references, also when they fail.  A result that belongs to no open call is
 * refused as an item, and a list is repaired (repair.h).  [mutable] */
bool worker_push_item(struct worker *worker, struct item *item, struct error *error);
bool worker_set_history(struct worker *worker, struct item **items, size_t count,
                        struct error *error);
bool worker_clear_history(struct worker *worker, struct error *error); /* [mutable] */
/* Another set of tools and hooks, such as after a reload; keeps a reference.  [mutable] when
 * the tools are others than before; other hooks, and other code behind tools that look the same
 * to a model, are welcome at any time.  `latest` may do it too. */
bool worker_set_registry(struct worker *worker, struct registry *registry, struct error *error);

/* What a store kept of an earlier process, repaired (repair.h): not written down again.  `started` names calls
 * whose tool may have been entered (D25); they are answered, not run again, unless their tool
 * is read-only or idempotent.  Only before the first run. */
bool worker_restore(struct worker *worker, struct item *const *items, size_t count,
                    const char *const *started, size_t started_count, struct error *error);

void worker_set_config(struct worker *worker, const struct request_config *config); /* borrowed strings */
const struct request_config *worker_config(const struct worker *worker);
/* True when the provider takes every setting that is set; else *error lists the others
 * ("Config warnings: 'top_k' is not supported by …", kind config) (W100). */
bool worker_validate(const struct worker *worker, struct error *error);

const char *worker_system(const struct worker *worker); /* or NULL */
struct registry *worker_registry(const struct worker *worker);
bool worker_is_cancelled(const struct worker *worker); /* only looks */
const struct history *worker_history(const struct worker *worker);
/* Requests so far, over all runs. */
unsigned worker_turn_count(const struct worker *worker);
/* Whether worker_restore() named this call as started. */
bool worker_was_started(const struct worker *worker, const char *call_id);
/* Whether the last run ended by anything but Finished (W59). */
bool worker_last_run_interrupted(const struct worker *worker);

#endif
