/*
 * dispatch - the calls of one response: asked, run as the strategy allows, answered in order.
 *
 *   1. PreToolCall for every call in call order, before any tool starts (W31).  Unknown
 *      tools and unreadable arguments get their error result without a hook (W46).
 *   2. The tools run on the pool (D8); progress, results and cancel reach this thread
 *      through one queue and are handed on in order.
 *   3. PostToolCall and the result event, one at a time, in call order, as soon as the
 *      calls before it are through (W35, F58).  PostToolCall sees every result that a tool,
 *      the check of its arguments or respond() made, also after something ended the run: it
 *      may be there to redact.
 *
 * Every call has a result when dispatch_run() returns, whatever happened (D1, D4).
 */
#ifndef TOOL_DISPATCH_H
#define TOOL_DISPATCH_H

#include "base/pool.h"
#include "plugin/hooks.h"
#include "tool/call.h"
#include "tool/strategy.h"

struct dispatch_call {
    const char *id;
    const char *name;           /* as the model wrote it */
    struct slice arguments;     /* repaired text, or the raw text … */
    bool valid;                 /* … when it could not be read */
    const char *invalid_reason; /* then: for the model, from arguments_repair() */
    bool answered;              /* `result` is set already: it is told in its turn, nothing runs */
    struct tool_result result;  /* set here */
};

struct dispatch;

/* Who is told of the results of calls that came as far as their tool, so that they can be written
 * down, or has them from there (host/record).  The thread of the turn loop. */
struct call_tape {
    /* The result of a call that would run now, or that is ended before it could: true, and its
     * tool is not asked.  *made: a tool or the check of its arguments made it.  NULL function:
     * none is known. */
    bool (*known)(void *self, const struct dispatch *dispatch, const struct dispatch_call *call,
                  struct slice arguments, struct tool_result *result, bool *made);
    /* call->result is such a result: before PostToolCall. */
    void (*settled)(void *self, const struct dispatch_call *call, struct slice arguments,
                    bool made);
    /* The whole of what is too long for the model was kept, under the name of its call or its part
     * (worker/whole.c); `whole` when it was found there.  Or, where `place` and `find` are set, it
     * is kept and found with them.  Both append the path; false: it was not. */
    void (*kept)(void *self, const char *name, const char *path, const struct text *whole);
    bool (*place)(void *self, const char *name, struct slice whole, struct text *path,
                  struct error *error);
    bool (*find)(void *self, const char *name, struct text *whole, struct text *path);
    void *self;
};

struct dispatch {
    struct registry *registry;
    struct pool *pool;
    struct timeline *timeline;
    const struct hook_setting *hooks; /* NULL: none */
    const struct call_context *context;
    /* Which tools the model may use: NULL = all.  Others are unknown to it. */
    bool (*offered)(void *data, const struct tool *tool);
    void *offered_data;
    struct cancel *cancel;
    int64_t deadline_ms; /* on clock_ms(); -1: none */
    int grace_ms;        /* how long a cancelled tool may take to return (D16) */
    enum strategy strategy;
    unsigned turn;
    /* Asked right before a call is handed to the pool (D25).  False: the call is not run, and
     * the batch ends as DISPATCH_FAILED with the error in *error.  NULL: nobody is asked. */
    bool (*starting)(void *data, const struct dispatch_call *call, struct error *error);
    void *starting_data;
    struct error *error; /* where that error goes */
    const struct call_tape *tape; /* or NULL */
};

enum dispatch_end {
    DISPATCH_DONE,
    DISPATCH_ABORTED, /* a hook ended the run: outcome has who and why */
    DISPATCH_HOOK_FAILED,
    DISPATCH_PAUSED, /* PreToolCall Pause: nothing ran, results are unset */
    DISPATCH_CANCELLED,
    DISPATCH_TIMEOUT, /* the deadline passed */
    DISPATCH_FAILED   /* `starting` said no */
};

/* Emits EVENT_TOOL_RESULT for a call that has its result. */
void dispatch_tell_result(struct timeline *timeline, const struct dispatch_call *call);

/* EVENT_TOOL_PROGRESS and EVENT_TOOL_RESULT are emitted here, EVENT_TOOL_CALL is not.  The
 * first cause of an early end is the one that is returned.  `outcome` is of the hook
 * that ended or paused it; with another end its verdict is MORTISE_CONTINUE. */
enum dispatch_end dispatch_run(const struct dispatch *dispatch, struct dispatch_call *calls,
                               size_t count, struct hook_outcome *outcome);

#endif
