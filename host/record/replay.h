/*
 * replay - does a recorded run again: no network, no key, and, unless they are asked for, no
 * plugins.
 *
 *     replay = replay_open(path, live, &error);
 *     while (replay_next(replay, &run, &error)) {       // once for each recorded run
 *         // make or change the worker as `run` says, with replay_client() and the tapes
 *         replay_begin(replay, worker);
 *         worker_run(…) or worker_resume(…);
 *         replay_end(replay, &result);
 *     }
 *     replay_differs(replay, &error);
 *
 * Everything but the network is what it is in any run: requests are written anew and compared with
 * the recorded ones, the recorded bytes of responses go through the decoder as they were cut,
 * hooks and tools are asked.  Without `live` these are stand-ins that do what was recorded; with it
 * they are the real ones, and what they do is compared.  A request that differs ends the run with
 * an error that says where; only the first difference counts.
 *
 * A run that was cancelled or ran out of time is so again at the same place.  A recording that
 * breaks off is replayed as far as it goes.  The thread of the turn loop.
 */
#ifndef RECORD_REPLAY_H
#define RECORD_REPLAY_H

#include "config/settings.h"
#include "worker/worker.h"

struct replay;

/* NULL with *error: it cannot be read, or is no recording (kinds config and usage). */
struct replay *replay_open(const char *path, bool live, struct error *error);
void replay_free(struct replay *replay); /* NULL is fine; worker and client go first */

bool replay_is_live(const struct replay *replay);
/* Puts the recorded settings in the place of those that there are. */
bool replay_apply_settings(const struct replay *replay, struct settings *settings,
                           struct error *error);

/* One recorded run.  Borrowed until the next one. */
struct replay_run {
    bool has_prompt; /* else it was resumed */
    struct text prompt;
    bool has_system;
    struct text system;
    int64_t locked;   /* items; -1: not locked */
    bool has_history; /* it began with these items, not with what the run before left */
    struct item **items;
    size_t item_count;
    const char **started; /* ids of calls */
    size_t started_count;
    bool has_new_client; /* another model than before: replay_client() */
};
/* False: there is no more, or, with error->kind set, the recording cannot be used. */
bool replay_next(struct replay *replay, const struct replay_run **run, struct error *error);

/* What answers as the recorded model; the caller's.  NULL with *error. */
struct client *replay_client(struct replay *replay, struct error *error);
/* The stand-ins for tools and hooks at this point: a reference; NULL: no memory.  For
 * worker_options.latest too. */
struct registry *replay_registry(void *replay);
const struct hook_tape *replay_hook_tape(struct replay *replay); /* NULL: not needed */
const struct call_tape *replay_call_tape(struct replay *replay);

void replay_begin(struct replay *replay, struct worker *worker);
void replay_end(struct replay *replay, const struct worker_result *result);

/* True, and *error is set (kind internal), when something differed.  *told: a run has ended with
 * that error. */
bool replay_differs(const struct replay *replay, struct error *error, bool *told);
/* Appends "replayed 2 requests, 3 tool calls: no difference". */
void replay_summary(const struct replay *replay, struct text *out);

#endif
