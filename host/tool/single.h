/*
 * single - one call with its hooks, on the thread that wants its result: no pool, no queue.
 *
 *     struct single single;
 *     single_prepare(&single, &dispatch, &call, &watcher, &outcome);   PreToolCall
 *     single_run(&single);                                             the tool
 *     enum dispatch_end end = single_finish(&single);                  PostToolCall
 *
 * All three are used, in this order, whatever happened before: what has nothing left to do does
 * nothing.  Hooks are asked in the first and the last only, so a caller whose hooks must be asked
 * one at a time holds its lock there and not while the tool runs.
 *
 * What is said of dispatch_run() goes for a single call too, with these differences:
 *   - `pool`, `strategy` and `timeline` of the dispatch are not looked at: progress goes to the
 *     watcher, from the tool's threads, and the result is told to nobody.
 *   - Inside the tool's run() the thread is the tool's: neither the token nor the deadline ends
 *     it, and on_cancel is not called for them.  Another thread may do that at any time between
 *     single_prepare() and single_finish(), with call_cancelled(single.call); it needs a reference
 *     of its own.  A tool that answers late is told of either here, and is left behind when it has
 *     not stopped after the dispatch's grace.
 *
 * The caller has a reference on the registry from before the first to after the last.
 */
#ifndef TOOL_SINGLE_H
#define TOOL_SINGLE_H

#include "tool/asked.h"

struct single {
    struct call *call; /* NULL: nothing is to run, because it has its result, or has none */
    struct asked_call asked;
    struct hook_outcome *outcome;
    enum dispatch_end end;
    bool has_ended; /* single_run() did not leave it behind */
};

/* `dispatch`, `call` and `outcome` outlive it; `watcher` is copied, and may be NULL.  The call
 * has an id where there are hooks.  `outcome` is set as dispatch_run() does. */
void single_prepare(struct single *single, const struct dispatch *dispatch,
                    struct dispatch_call *call, const struct call_watcher *watcher,
                    struct hook_outcome *outcome);
/* Returns when the tool is through, or was left behind. */
void single_run(struct single *single);
/* Afterwards call->result is set, unless it is DISPATCH_PAUSED.  DISPATCH_CANCELLED and
 * DISPATCH_TIMEOUT: the tool was through after its time, or never; what it said is the result all
 * the same. */
enum dispatch_end single_finish(struct single *single);

#endif
