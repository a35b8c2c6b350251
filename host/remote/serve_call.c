/*
 * One call of a tool in its own process, from its arguments to its end.
 *
 * What it says of its result is kept until it ends and sent with the end; everything else goes to
 * the host at once.  A call that answers later may still be named by its plugin when it is over,
 * so the last of these are kept for a while.
 */
#include "remote/serve_call.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "schema/decode.h"

#define REPLY_MAX (PARCEL_MESSAGE_MAX - ((size_t)1 << 20))

static const mortise_call_ops served_ops;

struct served_call *served_call_of(mortise_call *face)
{
    return face && face->ops == &served_ops ? (struct served_call *)face : NULL;
}

/* ---- life ---- */

void served_call_unref(struct served_call *call)
{
    if (!call || atomic_fetch_sub(&call->refs, 1) != 1)
        return;
    arena_release(&call->memory);
    text_release(&call->reply);
    text_release(&call->message);
    text_release(&call->component);
    text_release(&call->code);
    if (call->over_fd >= 0)
        close(call->over_fd);
    pthread_mutex_destroy(&call->lock);
    pthread_cond_destroy(&call->changed);
    free(call);
}

static void keep_for_a_while(struct served_call *call)
{
    static _Atomic(struct served_call *) kept[64];
    static atomic_uint next;
    served_call_unref(atomic_exchange(&kept[atomic_fetch_add(&next, 1) % 64], call));
}

/* ---- the result ---- */

static mortise_status op_reply(mortise_call *face, uint32_t type, const char *text, size_t length)
{
    struct served_call *call = served_call_of(face);
    if (type > MORTISE_JSON_RESULT || (!text && length) || length > REPLY_MAX)
        return MORTISE_INVALID;
    mortise_status status = MORTISE_INVALID;
    pthread_mutex_lock(&call->lock);
    if (call->is_open) {
        text_reset(&call->reply);
        text_append(&call->reply, text, length);
        call->type = type;
        call->has_replied = !call->reply.failed;
        status = call->has_replied ? MORTISE_OK : MORTISE_NO_MEMORY;
    }
    pthread_mutex_unlock(&call->lock);
    return status;
}

static bool copy_text(struct text *out, const char *text)
{
    text_reset(out);
    if (text)
        text_append(out, text, strnlen(text, 1000));
    return text;
}

static mortise_status op_fail(mortise_call *face, const mortise_error *error)
{
    struct served_call *call = served_call_of(face);
    if (!error || !MORTISE_HAS(error, mortise_error, message_length))
        return MORTISE_FAILED;
    size_t length = error->message_length < REPLY_MAX / 2 ? error->message_length : REPLY_MAX / 2;
    pthread_mutex_lock(&call->lock);
    if (call->is_open) {
        call->category = error->category;
        call->has_component = copy_text(&call->component, error->component);
        call->has_code = copy_text(&call->code, error->code);
        text_reset(&call->message);
        if (error->message)
            text_append(&call->message, error->message, length);
        call->retry_after_ms =
            MORTISE_HAS(error, mortise_error, retry_after_ms) ? error->retry_after_ms : 0;
        call->has_failed = true;
    }
    pthread_mutex_unlock(&call->lock);
    return MORTISE_FAILED;
}

/* ---- the end ---- */

static void op_finish(mortise_call *face, mortise_status status)
{
    struct served_call *call = served_call_of(face);
    pthread_mutex_lock(&call->lock);
    served_wait_for_callback_locked(call);
    bool first = call->is_open && !call->is_finished;
    if (first) {
        call->is_finished = true;
        call->status = status;
        call->is_open = false;
        pthread_cond_broadcast(&call->changed);
    }
    pthread_mutex_unlock(&call->lock);
    if (!first)
        log_warning("plugin '%s': tool '%s' finished a call that was over: ignored",
                    call->tool->plugin->name, call->tool->name);
}

static const mortise_call_ops served_ops = {
    .size = sizeof(mortise_call_ops),
    .reply = op_reply,
    .fail = op_fail,
    .attach = served_attach,
    .emit = served_emit,
    .progress = served_progress,
    .cancelled = served_cancelled,
    .on_cancel = served_on_cancel,
    .cancel_fd = served_cancel_fd,
    .remaining_ms = served_remaining_ms,
    .context = served_context,
    .alloc = served_call_alloc,
    .finish = op_finish,
    .service = served_service,
};

/* Waits until a tool that is pending has finished, and shuts the call. */
static mortise_status settle(struct served_call *call, mortise_status status)
{
    pthread_mutex_lock(&call->lock);
    call->is_late = status == MORTISE_PENDING || call->is_finished;
    while (status == MORTISE_PENDING && !call->is_finished)
        pthread_cond_wait(&call->changed, &call->lock);
    served_wait_for_callback_locked(call);
    if (call->is_finished)
        status = call->status;
    call->is_open = false;
    if (call->over_fd >= 0)
        eventfd_write(call->over_fd, 1);
    pthread_mutex_unlock(&call->lock);
    return status;
}

static void send_end(struct served_call *call, mortise_status status)
{
    struct served_lane *lane = call->lane;
    pthread_mutex_lock(&lane->lock);
    parcel_begin(&lane->out, PARCEL_FINISH);
    parcel_put_u64(&lane->out, call->number);
    parcel_put_u32(&lane->out, (uint32_t)status);
    parcel_put_u32(&lane->out, call->type);
    parcel_put_bytes(&lane->out, call->has_replied ? text_cstr(&call->reply) : NULL,
                   call->reply.length);
    parcel_put_u32(&lane->out, call->category);
    parcel_put_string(&lane->out, call->has_component ? text_cstr(&call->component) : NULL);
    parcel_put_string(&lane->out, call->has_code ? text_cstr(&call->code) : NULL);
    parcel_put_bytes(&lane->out, call->has_failed ? text_cstr(&call->message) : NULL,
                   call->message.length);
    parcel_put_i64(&lane->out, call->retry_after_ms);
    if (!lane_send(lane))
        _exit(EXIT_FAILURE); /* out of memory: the host is told by the end of this process */
    pthread_mutex_unlock(&lane->lock);
}

static void refuse_arguments(struct served_call *call, const struct error *error)
{
    static const char prefix[] = "Invalid argument: "; /* which the host writes too */
    bool is_internal = error->kind == ERROR_INTERNAL;
    const char *message = error->message;
    if (strncmp(message, prefix, sizeof(prefix) - 1) == 0)
        message += sizeof(prefix) - 1;
    op_fail(&call->face, &(mortise_error){.size = sizeof(mortise_error),
                                          .category = is_internal ? MORTISE_INTERNAL
                                                                  : MORTISE_INVALID_INPUT,
                                          .component = "host",
                                          .code = is_internal ? "host.internal" : "tool.arguments",
                                          .message = message,
                                          .message_length = strlen(message)});
}

/* What run() gets: the plugin's struct, or the text.  NULL: the call has failed. */
static const void *read_arguments(struct served_call *call, const char *text)
{
    struct error error = ERROR_INIT;
    const struct tool *tool = call->tool;
    size_t length = strlen(text);
    const void *args = NULL;
    json_t *object =
        tool->shape ? json_parse(text, length, NULL, &error) : json_parse_wide(text, length, &error);
    if (!object && error.kind != ERROR_INTERNAL)
        error_prefix(&error, "the arguments are not valid JSON");
    else if (object && tool->shape)
        args = decode_arguments(tool->shape, object, &call->memory, &error);
    else if (object && schema_check(tool->input, object, PROBLEM_ARGUMENTS, &error))
        args = arena_copy(&call->memory, text, length); /* the lane's buffer is used again */
    json_decref(object);
    if (!args)
        refuse_arguments(call, &error);
    return args;
}

static struct served_call *new_call(struct served_lane *lane)
{
    struct served_call *call = malloc(sizeof(*call));
    pthread_mutexattr_t recursive;
    if (!call)
        _exit(EXIT_FAILURE);
    memset(call, 0, offsetof(struct served_call, storage));
    atomic_init(&call->refs, 1);
    call->lane = lane;
    call->over_fd = -1;
    call->is_open = true;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&call->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    pthread_cond_init(&call->changed, NULL);
    arena_init(&call->memory, call->storage, sizeof(call->storage));
    return call;
}

void serve_call(struct served_lane *lane, struct parcel *message)
{
    struct served_call *call = new_call(lane);
    call->number = parcel_u64(message);
    uint32_t index = parcel_u32(message);
    int64_t remaining_ms = parcel_i64(message);
    const char *text = parcel_needed(message);
    if (!parcel_ends(message) || index >= lane->plugin->tool_count)
        _exit(EXIT_FAILURE);
    call->tool = lane->plugin->tools[index];
    if (call->tool->meta.flags & MORTISE_SANDBOX_REQUIRED && !serve_is_for_calls())
        _exit(EXIT_FAILURE);
    call->deadline_ms = remaining_ms < 0 ? -1 : clock_ms() + remaining_ms;
    call->face = (mortise_call){
        .size = sizeof(call->face), .ops = &served_ops, .tool = call->tool->instance};
    const void *args = read_arguments(call, text);
    mortise_status status =
        args ? call->tool->instance->run(call->tool->instance, &call->face, args)
             : MORTISE_FAILED;
    send_end(call, settle(call, status));
    if (call->is_late)
        keep_for_a_while(call);
    else
        served_call_unref(call);
}
