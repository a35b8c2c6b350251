/*
 * call - one run of one tool: the `mortise_call` that the plugin sees, and its result.
 *
 * call_new() … call_run() on any thread … call_take_result(), call_unref().  The tool
 * may answer later (MORTISE_PENDING): call_run() then returns at once and `done` comes
 * from the finishing thread.  Reference counted, so a tool that was left behind after a
 * cancel (D16) can still finish into memory that exists.
 *
 * WHAT THE MODEL READS of an error:
 *   a tool's own, without a component     "Execution failed: MESSAGE"   (internal)
 *                                         "Invalid argument: MESSAGE"   (invalid_input)
 *                                         "tool.CATEGORY: MESSAGE"      (the others)
 *   a structured one, with a component    "COMPONENT.CATEGORY: MESSAGE"
 *   arguments that do not fit             "Invalid argument: 'NAME' …", a line for each
 *   the host's own                        "Tool 'x' not found …", "Internal error: …"
 */
#ifndef TOOL_CALL_H
#define TOOL_CALL_H

#include "base/cancel.h"
#include "base/text.h"
#include "conversation/item.h"
#include "plugin/host_api.h"
#include "plugin/registry.h"
#include "timeline/event.h"

/* Who calls; all may be NULL.  Strings outlive the calls. */
struct call_context {
    const char *user; /* NULL: "anonymous" */
    const char *session;
    const char *tenant;
    const char *agent;
    const char *workspace;
    const char *invocation;    /* of the run; NULL: made when asked for */
    const char *const *scopes; /* what the caller holds, NULL-terminated, or NULL */
};

struct tool_result {
    bool success;
    struct text text; /* what the model sees, valid UTF-8 */
    bool is_json;
    /* of an error */
    char component[32];   /* "tool", "database", …; "host" when the tool was not asked */
    const char *category; /* static: "invalid_input", … ; NULL on success */
    char code[64];
    struct attachment *attachments; /* those with bytes first; see parts.h */
    size_t attachment_count;
    int64_t duration_us; /* 0 when the tool was not entered */
};
void tool_result_release(struct tool_result *result);
void tool_result_drop_parts(struct tool_result *result);
/* An error result of the host's own; frees what was there.  The text is the format's. */
void tool_result_fail(struct tool_result *result, mortise_category category, const char *code,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));
const char *category_name(mortise_category category); /* "not_found", …; "internal" if unknown */

struct call;

/* What a tool tells those who watch.  Borrowed; valid UTF-8; chunks are cut to size. */
struct progress {
    const char *stream; /* "stdout", …; NULL for numeric progress */
    struct slice text;
    double done, total;
    bool notice; /* "[mortise: tool progress truncated]": once per call, never to be dropped */
};

/* From the tool's own threads, perhaps several at once. */
struct call_watcher {
    /* False: there was no room, and the notice follows.  NULL function: nobody watches. */
    bool (*progress)(void *self, struct call *call, const struct progress *progress);
    void (*done)(void *self, struct call *call); /* or NULL */
    void *self;
};

/* Copies id (NULL: made when asked for) and arguments (a JSON object's text).  `tool`,
 * `context` and `registry` outlive the call (it keeps a reference on the registry).
 * `cancel` may be NULL; deadline_ms is on clock_ms(), -1: none.  NULL: no memory. */
struct call *call_new(struct registry *registry, const struct tool *tool, const char *id,
                      const char *arguments, size_t length, const struct call_context *context,
                      struct cancel *cancel, int64_t deadline_ms,
                      const struct call_watcher *watcher);
void call_set_position(struct call *call, unsigned index, unsigned count); /* in its batch */
struct call *call_ref(struct call *call);
void call_unref(struct call *call);

/* Checks scopes and the sandbox flag, decodes, enters the tool.  Every way ends in exactly
 * one `done`, from this thread or a later one, when run() has returned and, if it is
 * pending, the tool has finished. */
void call_run(struct call *call);
/* Takes back a call that call_run() has not begun: it will only report `done`.  False: too
 * late. */
bool call_revoke(struct call *call);
/* The call shall stop: from now on cancelled() is true and cancel_fd() readable, if they
 * were not so through the token.  Calls the on_cancel callback, once, on a thread of its own,
 * so that a callback that hangs holds up nobody. */
void call_cancelled(struct call *call);
/* No one waits any more: progress and the result are dropped from here on, and the reference
 * on the registry is never given back, so that the plugin stays.  `done` still comes. */
void call_abandon(struct call *call);

const char *call_id(const struct call *call); /* NULL when none was given */
/* For host/service: what the tool that is in this call was given, as a new reference, and the
 * name of its plugin (cut to the buffer).  NULL: no call of this host, or it is over, or there
 * are no services. */
struct host_services *call_services(mortise_call *face, char *plugin, size_t size);
/* After `done`: moves the result out.  On the thread that owns the registry. */
void call_take_result(struct call *call, struct tool_result *result);

/* The whole thing on this thread, waiting for a late finish: R6, T30.  Unknown names, bad
 * arguments and failures are error results too.  No arguments (length 0) are {}.  `cancel`
 * may be NULL; once it is triggered, a late finish is waited for two seconds more.  The
 * on_cancel callback is called only while a late finish is waited for: inside run() the tool
 * has cancelled() and cancel_fd(). */
void tool_call(struct registry *registry, const char *name, const char *arguments, size_t length,
               const struct call_context *context, struct cancel *cancel,
               struct tool_result *result);

/* "Tool 'x' not found", what was probably meant, and the names that exist, at most 50 (W46).
 * `offered` says which may be named; NULL: all. */
void tool_result_unknown(struct tool_result *result, const struct registry *registry,
                         const char *name, bool (*offered)(void *data, const struct tool *tool),
                         void *data);
/* Finds a tool by the name that a model used: the exact one, or the one behind a prefix
 * such as "functions." or "default_api:" when that is unambiguous. */
const struct tool *tool_resolve(const struct registry *registry, const char *name);

#endif
