/*
 * asked - one call of a model outside of its tool: found, shown to the hooks, its result settled.
 *
 * dispatch.c (the calls of a response, on the pool) and single.c (one call, on this thread) do the
 * same with a call; what that is stands here.  Whether a call still has to run is theirs to know.
 */
#ifndef TOOL_ASKED_H
#define TOOL_ASKED_H

#include "tool/dispatch.h"

struct asked_call {
    const struct dispatch *dispatch;
    struct dispatch_call *call;
    const struct tool *tool;    /* NULL: there is none that may be used */
    struct hook_tool_call seen; /* by hooks; has a copy of the arguments only when one looks */
    bool is_watched;            /* by a hook of either event */
    bool is_made;               /* the result is one for PostToolCall */
};

/* Finds the tool.  False: the call has its result, because it was answered or cannot be called. */
bool asked_prepare(struct asked_call *asked, const struct dispatch *dispatch,
                   struct dispatch_call *call, size_t index, size_t count);
void asked_release(struct asked_call *asked); /* zeros are fine */

/* Asks PreToolCall.  After MORTISE_SKIP and MORTISE_RESPOND the call has its result. */
void asked_before(struct asked_call *asked, struct hook_outcome *outcome);
/* Asks PostToolCall, when the result is one for it. */
void asked_after(struct asked_call *asked, struct hook_outcome *outcome);
/* What a hook that neither went on nor paused makes of the run. */
enum dispatch_end asked_end(const struct hook_outcome *outcome);

/* Makes the call, in its position, after it was asked whether the result is known and whether it
 * may start.  NULL: the call has its result, and *end is DISPATCH_FAILED when it may not. */
struct call *asked_start(struct asked_call *asked, const struct call_watcher *watcher,
                         enum dispatch_end *end);
/* Whether the result is known without the tool: then the call has it. */
bool asked_known(struct asked_call *asked);
/* The tool is through: the call gets the result of it. */
void asked_take(struct asked_call *asked, struct call *call);
/* There is no result of the tool's: `what` says how far it came (" before it ran"). */
void asked_ended(struct asked_call *asked, enum dispatch_end end, const char *what);
/* The tool did not stop in time, and runs on for nobody. */
void asked_left_behind(struct asked_call *asked, struct call *call, enum dispatch_end end);
/* No thread runs it. */
void asked_unrun(struct asked_call *asked);
/* "Internal error: out of memory". */
void asked_no_memory(struct tool_result *result);

#endif
