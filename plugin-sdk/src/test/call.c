/*
 * A call as a tool sees it, and what comes of it.
 *
 * OPEN until the tool has had its say: it called finish(), or run() returned something else than
 * MORTISE_PENDING.  What it does with the call after that is misuse, which is told with the place
 * of mortise_test_run().  A call that is never finished stays in memory for ever, because its
 * tool may still come back to it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "../internal.h"

#define ATTACHMENT_MAX ((size_t)10 << 20)

struct fake_call {
    mortise_call face; /* first: what the tool has is the call */
    struct fake_call *next;
    mortise_test *test;
    struct pool own; /* this struct is in it */
    const char *file, *name;
    int line;
    char id[40], invocation[40];
    int64_t deadline_ms; /* on the clock; -1: none */
    int64_t cancel_ms;   /* on the clock; -1: never */
    atomic_bool cancelled;

    pthread_mutex_t lock; /* for everything below */
    pthread_cond_t changed;
    bool closed;   /* run() returned and there is nothing to wait for */
    bool finished; /* finish() was called, with … */
    mortise_status status;
    bool replied, failed; /* reply(), fail() was called */
    bool given_up;        /* it was not finished in time */
    struct pool memory;   /* dies with the call */
    struct list attachments, progress;
    mortise_test_result result;
    int fd;                        /* -1: not asked for */
    bool watched;                  /* on_cancel() was used */
    void (*on_cancel)(void *data); /* until it is called */
    void *on_cancel_data;
    bool calling_back;
    pthread_t caller; /* of the callback */
};

/* Calls that nobody finished; here, so that they are not lost. */
static struct fake_call *left_behind;

static struct fake_call *call_of(mortise_call *face)
{
    return (struct fake_call *)face;
}

mortise_test *mortise__call_test(mortise_call *face)
{
    return call_of(face)->test;
}

__attribute__((format(printf, 2, 3))) static void misuse(const struct fake_call *call,
                                                         const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    mortise__test_fail(call->file, call->line, "'%s' %s", call->name, what);
}

/* Locks; false, and a failure, when the tool has had its say.  Whoever gets false has nothing to
 * unlock. */
static bool enter(struct fake_call *call, const char *function)
{
    pthread_mutex_lock(&call->lock);
    if (!call->closed && !call->finished)
        return true;
    pthread_mutex_unlock(&call->lock);
    misuse(call, "used %s() after the call was over", function);
    return false;
}

static void leave(struct fake_call *call)
{
    pthread_mutex_unlock(&call->lock);
}

/* Texts of the result outlive the call; under its lock. */
static char *keep(struct fake_call *call, const void *bytes, size_t length)
{
    pthread_mutex_lock(&call->test->lock);
    char *copy = mortise__pool_copy(&call->test->pool, bytes, length);
    pthread_mutex_unlock(&call->test->lock);
    return copy;
}

static char *keep_text(struct fake_call *call, const char *text)
{
    return text ? keep(call, text, strlen(text)) : NULL;
}

/* ---- the answer ---- */

static mortise_status op_reply(mortise_call *face, uint32_t type, const char *text, size_t length)
{
    struct fake_call *call = call_of(face);
    if (!enter(call, "reply"))
        return MORTISE_INVALID;
    char *copy = keep(call, text ? text : "", text ? length : 0);
    call->replied = true;
    call->result.is_json = type == MORTISE_JSON_RESULT;
    call->result.text = copy;
    call->result.length = text ? length : 0;
    leave(call);
    const char *end = mortise__json_end(copy);
    bool is_json = end && mortise__json_space(end) == copy + length;
    if (type > MORTISE_JSON_RESULT || (!text && length))
        misuse(call, "gave reply() a type or a text that there is not");
    else if (type == MORTISE_JSON_RESULT && !is_json)
        misuse(call, "replied with JSON that is not valid: %.100s", copy);
    else
        return MORTISE_OK;
    return MORTISE_INVALID;
}

static void set_failure(struct fake_call *call, const mortise_error *error)
{
    mortise_test_result *result = &call->result;
    call->failed = true;
    result->category = error->category;
    result->component = keep_text(call, error->component ? error->component : "tool");
    result->code = keep_text(call, error->code ? error->code : "tool.error");
    result->message = keep(call, error->message ? error->message : "",
                           error->message ? error->message_length : 0);
    result->retry_after_ms =
        MORTISE_HAS(error, mortise_error, retry_after_ms) ? error->retry_after_ms : 0;
}

static mortise_status op_fail(mortise_call *face, const mortise_error *error)
{
    struct fake_call *call = call_of(face);
    if (!enter(call, "fail"))
        return MORTISE_FAILED;
    bool is_error = error && MORTISE_HAS(error, mortise_error, message_length) &&
                    error->category <= MORTISE_NOT_SUPPORTED;
    if (is_error)
        set_failure(call, error);
    leave(call);
    if (!is_error)
        misuse(call, "gave fail() no error, or an unknown category");
    return MORTISE_FAILED;
}

mortise_status mortise__call_refuse(mortise_call *face, mortise_status status, const char *format,
                                    ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    op_fail(face, &(mortise_error){.size = sizeof(mortise_error),
                                   .category = mortise__test_category(status),
                                   .message = text,
                                   .message_length = strlen(text)});
    return status;
}

static mortise_status op_attach(mortise_call *face, const mortise_attachment *attachment)
{
    struct fake_call *call = call_of(face);
    if (!attachment || !MORTISE_HAS(attachment, mortise_attachment, uri) ||
        (!attachment->data && !attachment->uri) || attachment->length > ATTACHMENT_MAX ||
        !enter(call, "attach"))
        return MORTISE_INVALID;
    mortise_attachment *copy = mortise__list_add(&call->attachments, sizeof(*copy));
    *copy = (mortise_attachment){
        .size = sizeof(*copy),
        .mime_type = keep_text(call, attachment->mime_type ? attachment->mime_type
                                                           : "application/octet-stream"),
        .name = keep_text(call, attachment->name),
        .uri = keep_text(call, attachment->uri),
        .data = attachment->data ? keep(call, attachment->data, attachment->length) : NULL,
        .length = attachment->data ? attachment->length : 0,
    };
    leave(call);
    return MORTISE_OK;
}

static void op_emit(mortise_call *face, const char *stream, const char *text, size_t length)
{
    struct fake_call *call = call_of(face);
    if (!text || !length || !enter(call, "emit"))
        return;
    mortise_test_progress *chunk = mortise__list_add(&call->progress, sizeof(*chunk));
    chunk->stream = keep_text(call, stream ? stream : "stdout");
    chunk->text = keep(call, text, length);
    chunk->length = length;
    leave(call);
}

static void op_progress(mortise_call *face, double done, double total, const char *message)
{
    struct fake_call *call = call_of(face);
    if (!enter(call, "progress"))
        return;
    mortise_test_progress *step = mortise__list_add(&call->progress, sizeof(*step));
    step->text = keep_text(call, message ? message : "");
    step->length = strlen(step->text);
    step->done = done;
    step->total = total;
    leave(call);
}

/* ---- cancel and time ---- */

static bool op_cancelled(mortise_call *face)
{
    struct fake_call *call = call_of(face);
    if (!enter(call, "cancelled"))
        return true;
    leave(call);
    return atomic_load(&call->cancelled);
}

/* Calls the callback, once, if the call is still open. */
static void call_back(struct fake_call *call)
{
    pthread_mutex_lock(&call->lock);
    void (*callback)(void *data) = call->closed || call->finished ? NULL : call->on_cancel;
    if (callback) {
        call->on_cancel = NULL;
        call->calling_back = true;
        call->caller = pthread_self();
        pthread_mutex_unlock(&call->lock);
        callback(call->on_cancel_data);
        pthread_mutex_lock(&call->lock);
        call->calling_back = false;
        pthread_cond_broadcast(&call->changed);
    }
    pthread_mutex_unlock(&call->lock);
}

/* A callback is over before its call is; it may itself finish the call. */
static void wait_for_callback_locked(struct fake_call *call)
{
    while (call->calling_back && !pthread_equal(call->caller, pthread_self()))
        pthread_cond_wait(&call->changed, &call->lock);
}

static mortise_status op_on_cancel(mortise_call *face, void (*callback)(void *data), void *data)
{
    struct fake_call *call = call_of(face);
    if (!enter(call, "on_cancel"))
        return MORTISE_INVALID;
    bool taken = callback && !call->watched;
    if (taken) {
        call->watched = true;
        call->on_cancel = callback;
        call->on_cancel_data = data;
    }
    leave(call);
    if (!taken)
        misuse(call, "used on_cancel() twice, or without a function");
    else if (atomic_load(&call->cancelled))
        call_back(call);
    return taken ? MORTISE_OK : MORTISE_INVALID;
}

static int op_cancel_fd(mortise_call *face)
{
    struct fake_call *call = call_of(face);
    if (!enter(call, "cancel_fd"))
        return -1;
    if (call->fd < 0)
        call->fd = eventfd(atomic_load(&call->cancelled), EFD_CLOEXEC | EFD_NONBLOCK);
    int fd = call->fd;
    leave(call);
    return fd;
}

static int64_t op_remaining_ms(mortise_call *face)
{
    struct fake_call *call = call_of(face);
    if (!enter(call, "remaining_ms"))
        return 0;
    leave(call);
    int64_t left = call->deadline_ms - mortise__test_now_ms();
    return call->deadline_ms < 0 ? -1 : left > 0 ? left : 0;
}

static void cancel(struct fake_call *call)
{
    pthread_mutex_lock(&call->lock);
    atomic_store(&call->cancelled, true);
    if (call->fd >= 0)
        eventfd_write(call->fd, 1);
    pthread_mutex_unlock(&call->lock);
    call_back(call);
}

/* Until the call is over or that time has come; false: it is over. */
static bool wait_until_locked(struct fake_call *call, int64_t ms)
{
    struct timespec until = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (!call->closed && !call->finished && mortise__test_now_ms() < ms)
        pthread_cond_timedwait(&call->changed, &call->lock, &until);
    return !call->closed && !call->finished;
}

static void *cancel_later(void *argument)
{
    struct fake_call *call = argument;
    pthread_mutex_lock(&call->lock);
    bool open = wait_until_locked(call, call->cancel_ms);
    pthread_mutex_unlock(&call->lock);
    if (open)
        cancel(call);
    return NULL;
}

/* ---- context, memory, services ---- */

static const char *op_context(mortise_call *face, const char *key)
{
    struct fake_call *call = call_of(face);
    const char *value;
    if (!key || !enter(call, "context"))
        return NULL;
    leave(call);
    if (mortise__test_context(call->test, key, &value))
        return value;
    if (strcmp(key, "call") == 0)
        return call->id;
    if (strcmp(key, "invocation") == 0)
        return call->invocation;
    return mortise__test_default_context(call->test, key);
}

static void *op_alloc(mortise_call *face, size_t bytes)
{
    struct fake_call *call = call_of(face);
    if (!enter(call, "alloc"))
        return NULL;
    void *memory = mortise__pool_take(&call->memory, bytes);
    leave(call);
    return memory;
}

static const void *op_service(mortise_call *face, const char *id)
{
    struct fake_call *call = call_of(face);
    if (!id || !enter(call, "service"))
        return NULL;
    leave(call);
    return mortise__test_service(call->test, id);
}

static void op_finish(mortise_call *face, mortise_status status)
{
    struct fake_call *call = call_of(face);
    pthread_mutex_lock(&call->lock);
    wait_for_callback_locked(call);
    bool first = !call->finished && !call->closed;
    if (first) {
        call->finished = true;
        call->status = status;
        pthread_cond_broadcast(&call->changed);
    }
    pthread_mutex_unlock(&call->lock);
    if (!first)
        misuse(call, "finished a call that was over");
}

static const mortise_call_ops call_ops = {
    .size = sizeof(mortise_call_ops),
    .reply = op_reply,
    .fail = op_fail,
    .attach = op_attach,
    .emit = op_emit,
    .progress = op_progress,
    .cancelled = op_cancelled,
    .on_cancel = op_on_cancel,
    .cancel_fd = op_cancel_fd,
    .remaining_ms = op_remaining_ms,
    .context = op_context,
    .alloc = op_alloc,
    .finish = op_finish,
    .service = op_service,
};

/* ---- running ---- */

static struct fake_call *call_new(mortise_test *test, const char *file, int line,
                                  const mortise_tool *tool)
{
    struct pool own = {0};
    struct fake_call *call = mortise__pool_take(&own, sizeof(*call));
    const char *name = mortise__pool_text(&own, tool->meta->name);
    pthread_mutex_lock(&test->lock);
    int64_t now = mortise__test_now_ms();
    *call = (struct fake_call){
        .face = {.size = sizeof(mortise_call), .ops = &call_ops, .tool = tool},
        .next = test->calls,
        .test = test,
        .own = own,
        .file = file,
        .name = name,
        .line = line,
        .cancelled = test->cancel_ms == 0,
        .deadline_ms = test->deadline_ms < 0 ? -1 : now + test->deadline_ms,
        .cancel_ms = test->cancel_ms <= 0 ? -1 : now + test->cancel_ms,
        .fd = -1,
        .result = {.text = "", .component = "tool", .code = "tool.error", .message = ""},
    };
    if (call->deadline_ms >= 0 && (call->cancel_ms < 0 || call->cancel_ms > call->deadline_ms))
        call->cancel_ms = call->deadline_ms;
    test->cancel_ms = test->deadline_ms = -1;
    test->calls = call;
    pthread_mutex_unlock(&test->lock);

    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&call->lock, NULL);
    pthread_cond_init(&call->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    mortise__test_make_id(call->id, "call");
    mortise__test_make_id(call->invocation, "run");
    call->result.call = op_context(&call->face, "call");
    call->result.invocation = op_context(&call->face, "invocation");
    return call;
}

/* Waits for what is still to come after run(). */
static void settle(struct fake_call *call, mortise_status returned)
{
    pthread_mutex_lock(&call->lock);
    bool early = call->finished && returned != MORTISE_PENDING;
    if (returned == MORTISE_PENDING)
        call->given_up = wait_until_locked(call, mortise__test_now_ms() + call->test->patience_ms);
    else if (!early)
        call->status = returned;
    wait_for_callback_locked(call);
    if (call->given_up)
        call->status = MORTISE_FAILED;
    call->closed = true;
    mortise_status ended = call->status;
    bool known = mortise__test_knows(ended);
    if (!known || (ended == MORTISE_OK && call->failed && !call->replied))
        call->status = MORTISE_FAILED; /* the latter is a forgotten `return` */
    pthread_cond_broadcast(&call->changed);
    pthread_mutex_unlock(&call->lock);
    if (call->given_up)
        misuse(call, "returned MORTISE_PENDING and was not finished in time");
    if (early)
        misuse(call, "used finish() and did not return MORTISE_PENDING");
    if (!known)
        misuse(call, "ended with the status %d, which is none of a call", (int)ended);
}

static void enter_tool(struct fake_call *call, const void *args)
{
    const mortise_tool *tool = call->face.tool;
    pthread_t canceller;
    bool waits = call->cancel_ms >= 0;
    if (waits)
        waits = pthread_create(&canceller, NULL, cancel_later, call) == 0;
    if (!args && tool->meta->shape)
        args = mortise__pool_take(&call->memory, tool->meta->shape->struct_size);
    else if (!args)
        args = "{}";
    settle(call, tool->run(tool, &call->face, args));
    if (waits)
        pthread_join(canceller, NULL);
}

static void complete(struct fake_call *call)
{
    mortise_test_result *result = &call->result;
    result->status = call->status;
    if (!call->failed)
        result->category = mortise__test_category(call->status);
    result->attachments = call->attachments.items;
    result->attachment_count = call->attachments.count;
    result->progress = call->progress.items;
    result->progress_count = call->progress.count;
    if (call->status == MORTISE_CANCELLED) {
        result->category = MORTISE_ABORTED;
        result->code = "tool.cancelled";
    }
}

struct entry {
    struct fake_call *call;
    const void *args;
};

static void run_here(void *data)
{
    struct entry *entry = data;
    enter_tool(entry->call, entry->args);
    complete(entry->call);
}

/* The plugin's own copy of a tool, which has its state. */
static const mortise_tool *find_tool(const mortise_test *test, const mortise_tool *tool)
{
    for (size_t i = 0; tool && test->plugin && i < test->plugin->tool_count; i++)
        if (test->plugin->tools[i]->meta == tool->meta)
            return test->plugin->tools[i];
    return NULL;
}

const mortise_test_result *mortise__test_run(mortise_test *test, const char *file, int line,
                                             const mortise_tool *tool, const void *args)
{
    static const mortise_test_result no_result = {.status = MORTISE_FAILED,
                                                  .text = "",
                                                  .component = "tool",
                                                  .code = "tool.error",
                                                  .message = "it was not run",
                                                  .call = "",
                                                  .invocation = ""};
    tool = find_tool(test, tool);
    if (!tool) {
        mortise__test_fail(file, line, "the plugin has no such tool, or was not loaded");
        return &no_result;
    }
    struct fake_call *call = call_new(test, file, line, tool);
    struct entry entry = {call, args};
    if (mortise__test_is_confined(tool))
        mortise__test_run_confined(
            test, tool,
            &(struct confined_call){.run = run_here, .data = &entry, .result = &call->result});
    else
        run_here(&entry);
    if (!call->given_up)
        mortise__pool_release(&call->memory);
    return &call->result;
}

static void call_free(struct fake_call *call)
{
    if (call->fd >= 0)
        close(call->fd);
    mortise__list_release(&call->attachments);
    mortise__list_release(&call->progress);
    pthread_cond_destroy(&call->changed);
    pthread_mutex_destroy(&call->lock);
    struct pool own = call->own;
    mortise__pool_release(&own);
}

void mortise__test_calls_release(mortise_test *test)
{
    struct fake_call *call = test->calls;
    test->calls = NULL;
    while (call) {
        struct fake_call *next = call->next;
        if (call->given_up) {
            call->next = left_behind;
            left_behind = call;
        } else {
            call_free(call);
        }
        call = next;
    }
}
