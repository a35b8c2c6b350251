#include "tool/single.h"

#include "base/clock.h"
#include "tool/call_private.h"

#define SLICE_MS        20   /* how often a waiting call looks at its token */
#define DIRECT_GRACE_MS 2000 /* D16 */

/* ---- before the tool ---- */

/* Field by field: the room for a reason is most of it. */
static void set_none(struct hook_outcome *outcome)
{
    outcome->verdict = MORTISE_CONTINUE;
    outcome->failed = false;
    outcome->hook = NULL;
    outcome->event = NULL;
    outcome->reason[0] = '\0';
}

static enum dispatch_end ended_by(const struct dispatch *dispatch)
{
    if (cancel_requested(dispatch->cancel))
        return DISPATCH_CANCELLED;
    if (dispatch->deadline_ms >= 0 && clock_ms() >= dispatch->deadline_ms)
        return DISPATCH_TIMEOUT;
    return DISPATCH_DONE;
}

static void end_before_it_ran(struct single *single, enum dispatch_end end)
{
    single->end = end;
    if (!asked_known(&single->asked))
        asked_ended(&single->asked, end, " before it ran");
}

/* Whether the tool is to run. */
static bool ask_before(struct single *single)
{
    struct hook_outcome *outcome = single->outcome;
    asked_before(&single->asked, outcome);
    switch (outcome->verdict) {
    case MORTISE_CONTINUE:
        return true;
    case MORTISE_SKIP:
    case MORTISE_RESPOND:
        set_none(outcome); /* it ended nothing */
        return false;
    case MORTISE_PAUSE:
        single->end = DISPATCH_PAUSED;
        return false;
    default:
        end_before_it_ran(single, asked_end(outcome));
        return false;
    }
}

void single_prepare(struct single *single, const struct dispatch *dispatch,
                    struct dispatch_call *call, const struct call_watcher *watcher,
                    struct hook_outcome *outcome)
{
    single->call = NULL;
    single->outcome = outcome;
    single->end = DISPATCH_DONE;
    set_none(outcome);
    if (!asked_prepare(&single->asked, dispatch, call, 0, 1))
        return;
    enum dispatch_end end = ended_by(dispatch);
    if (end != DISPATCH_DONE)
        end_before_it_ran(single, end);
    else if (ask_before(single))
        single->call = asked_start(&single->asked, watcher, &single->end);
}

/* ---- the tool ---- */

/* Why the tool shall stop; DISPATCH_DONE: it need not. */
static enum dispatch_end stopped_by(const struct single *single)
{
    enum dispatch_end end = ended_by(single->asked.dispatch);
    return end == DISPATCH_DONE && call_is_stopped(single->call) ? DISPATCH_CANCELLED : end;
}

/* Until something changes or `until_ms` (-1: no such time), or until the token is to be looked at:
 * nobody wakes a call for that. */
static void wait_locked(struct call *call, int64_t until_ms)
{
    int64_t left_ms = until_ms < 0 ? INT64_MAX : until_ms - clock_ms();
    if (call->cancel && left_ms > SLICE_MS)
        left_ms = SLICE_MS;
    if (left_ms == INT64_MAX) {
        pthread_cond_wait(&call->changed, &call->lock);
        return;
    }
    const struct timespec until = clock_after_ms(left_ms > 0 ? left_ms : 0);
    pthread_cond_clockwait(&call->changed, &call->lock, CLOCK_MONOTONIC, &until);
}

/* False: it was told to stop, and did not in time. */
static bool wait_for_end(struct single *single)
{
    const struct dispatch *dispatch = single->asked.dispatch;
    struct call *call = single->call;
    int64_t until_ms = dispatch->deadline_ms;
    bool is_told = false;
    pthread_mutex_lock(&call->lock);
    while (call->state != CALL_ENDED && !(is_told && clock_ms() >= until_ms)) {
        single->end = is_told ? single->end : stopped_by(single);
        if (is_told || single->end == DISPATCH_DONE) {
            wait_locked(call, until_ms);
            continue;
        }
        pthread_mutex_unlock(&call->lock);
        call_cancelled(call);
        is_told = true;
        until_ms = clock_ms() + dispatch->grace_ms;
        pthread_mutex_lock(&call->lock);
    }
    bool ended = call->state == CALL_ENDED;
    pthread_mutex_unlock(&call->lock);
    return ended;
}

void single_run(struct single *single)
{
    if (!single->call)
        return;
    call_run(single->call);
    single->has_ended = wait_for_end(single);
    if (single->end == DISPATCH_DONE)
        single->end = stopped_by(single);
}

/* ---- after the tool ---- */

static void settle(struct single *single)
{
    if (single->has_ended)
        asked_take(&single->asked, single->call);
    else
        asked_left_behind(&single->asked, single->call, single->end);
    call_unref(single->call);
    single->call = NULL;
}

static void ask_after(struct single *single)
{
    struct hook_outcome outcome;
    asked_after(&single->asked, &outcome);
    if (outcome.verdict == MORTISE_CONTINUE || single->end != DISPATCH_DONE)
        return;
    *single->outcome = outcome;
    single->end = asked_end(&outcome);
}

enum dispatch_end single_finish(struct single *single)
{
    if (single->call)
        settle(single);
    ask_after(single);
    asked_release(&single->asked);
    return single->end;
}

/* ---- without hooks ---- */

void tool_call(struct registry *registry, const char *name, const char *arguments, size_t length,
               const struct call_context *context, struct cancel *cancel,
               struct tool_result *result)
{
    const struct dispatch dispatch = {.registry = registry,
                                      .context = context,
                                      .cancel = cancel,
                                      .deadline_ms = -1,
                                      .grace_ms = DIRECT_GRACE_MS};
    struct dispatch_call call = {.name = name, .arguments = {arguments, length}, .valid = true};
    struct hook_outcome outcome;
    struct single single;
    single_prepare(&single, &dispatch, &call, NULL, &outcome);
    single_run(&single);
    single_finish(&single);
    *result = call.result;
}
