#include "base/clock.h"
#include "tool/call_private.h"

#define SLICE_MS        20   /* how often a waiting tool_call() looks at its token */
#define DIRECT_GRACE_MS 2000 /* D16 */

static void wait_a_slice_locked(struct call *call)
{
    const struct timespec until = clock_after_ms(SLICE_MS);
    pthread_cond_clockwait(&call->changed, &call->lock, CLOCK_MONOTONIC, &until);
}

static bool has_ended(struct call *call)
{
    pthread_mutex_lock(&call->lock);
    if (call->state != CALL_ENDED)
        wait_a_slice_locked(call);
    bool ended = call->state == CALL_ENDED;
    pthread_mutex_unlock(&call->lock);
    return ended;
}

/* False: it was cancelled and did not stop in time. */
static bool wait_for_end(struct call *call)
{
    int64_t give_up_ms = -1;
    while (!has_ended(call)) {
        if (!cancel_requested(call->cancel))
            continue;
        if (give_up_ms < 0) {
            call_cancelled(call);
            give_up_ms = clock_ms() + DIRECT_GRACE_MS;
        } else if (clock_ms() >= give_up_ms) {
            return false;
        }
    }
    return true;
}

static void run_directly(struct call *call, struct tool_result *result)
{
    call_run(call);
    if (wait_for_end(call)) {
        call_take_result(call, result);
        return;
    }
    call_abandon(call);
    tool_result_fail(result, MORTISE_ABORTED, "tool.cancelled",
                     "cancelled; the tool did not stop in time");
}

void tool_call(struct registry *registry, const char *name, const char *arguments, size_t length,
               const struct call_context *context, struct cancel *cancel,
               struct tool_result *result)
{
    *result = (struct tool_result){0};
    const struct tool *tool = registry_find(registry, name);
    if (!tool) {
        tool_result_unknown(result, registry, name, NULL, NULL);
        return;
    }
    struct call *call =
        call_new(registry, tool, NULL, arguments, length, context, cancel, -1, NULL);
    if (call)
        run_directly(call, result);
    else
        tool_result_fail(result, MORTISE_INTERNAL, "host.internal",
                         "Internal error: out of memory");
    call_unref(call);
}
