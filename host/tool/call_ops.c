#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/secret.h"
#include "base/utf8.h"
#include "plugin/account.h"
#include "plugin/granted.h"
#include "tool/call_private.h"
#include "tool/parts.h"

#define PROGRESS_CHUNK_MAX ((size_t)8192)
#define PROGRESS_MAX       ((size_t)1 << 20)
#define PROGRESS_NOTICE    "[mortise: tool progress truncated]"

/* The face is the first member: what the plugin holds is our call. */
static struct call *call_of(mortise_call *face)
{
    return (struct call *)face;
}

/* Locks, unless the tool has had its say.  Whoever gets false has nothing to unlock. */
static bool lock_open(struct call *call)
{
    pthread_mutex_lock(&call->lock);
    if (call->state == CALL_RUNNING || call->state == CALL_PENDING)
        return true;
    pthread_mutex_unlock(&call->lock);
    return false;
}

static void unlock(struct call *call)
{
    pthread_mutex_unlock(&call->lock);
}

/* ---- the answer ---- */

static mortise_status op_reply(mortise_call *face, uint32_t type, const char *text, size_t length)
{
    struct call *call = call_of(face);
    if (type > MORTISE_JSON_RESULT || (!text && length) || !lock_open(call))
        return MORTISE_INVALID;
    text_reset(&call->reply);
    utf8_append_clean(&call->reply, text ? text : "", length);
    secret_redact(&call->reply); /* no model needs it, and no session keeps it */
    call->replied = !call->reply.failed;
    call->is_json = type == MORTISE_JSON_RESULT;
    mortise_status status = call->replied ? MORTISE_OK : MORTISE_NO_MEMORY;
    unlock(call);
    return status;
}

/* A name into a buffer, valid and cut on a character border. */
static void copy_name(char *out, size_t size, const char *name)
{
    struct text clean = TEXT_INIT;
    utf8_append_clean(&clean, name, strlen(name));
    secret_redact(&clean);
    size_t length = utf8_cut(text_cstr(&clean), clean.length, size - 1);
    memcpy(out, text_cstr(&clean), length);
    out[length] = '\0';
    text_release(&clean);
}

/* Only where trying again makes sense; what is beyond a day means "not today". */
static int64_t retry_after_ms(const mortise_error *error, mortise_category category)
{
    const int64_t most_ms = INT64_C(24) * 60 * 60 * 1000;
    if (!MORTISE_HAS(error, mortise_error, retry_after_ms) || error->retry_after_ms <= 0 ||
        !category_is_retryable(category_name(category)))
        return 0;
    return error->retry_after_ms < most_ms ? error->retry_after_ms : most_ms;
}

static mortise_status op_fail(mortise_call *face, const mortise_error *error)
{
    struct call *call = call_of(face);
    if (!error || !MORTISE_HAS(error, mortise_error, message_length) || !lock_open(call))
        return MORTISE_FAILED;
    struct tool_result *result = &call->result;
    result->component[0] = result->code[0] = '\0';
    if (error->component)
        copy_name(result->component, sizeof(result->component), error->component);
    if (error->code)
        copy_name(result->code, sizeof(result->code), error->code);
    call->category = error->category <= MORTISE_NOT_SUPPORTED ? error->category : MORTISE_INTERNAL;
    call->retry_after_ms = retry_after_ms(error, call->category);
    text_reset(&call->failure);
    if (error->message)
        utf8_append_clean(&call->failure, error->message, error->message_length);
    secret_redact(&call->failure);
    if (!call->failure.length)
        text_puts(&call->failure, "the tool gave no reason");
    call->failed = true;
    unlock(call);
    return MORTISE_FAILED;
}

static mortise_status op_attach(mortise_call *face, const mortise_attachment *attachment)
{
    struct call *call = call_of(face);
    struct error error = ERROR_INIT;
    if (!attachment || !MORTISE_HAS(attachment, mortise_attachment, uri) || !lock_open(call))
        return MORTISE_INVALID;
    bool added = parts_attach(&call->result, attachment, &error);
    bool no_memory = error.kind == ERROR_INTERNAL;
    if (!added && !no_memory) /* under the lock: the tool is there as long as the call is open */
        log_warning("plugin '%s': tool '%s': a part is not attached: %s", call->tool->plugin->name,
                    call->tool->name, error.message);
    unlock(call);
    return added ? MORTISE_OK : no_memory ? MORTISE_NO_MEMORY : MORTISE_INVALID;
}

/* ---- progress (F38-F48) ---- */

static bool is_watched(const struct call *call)
{
    return call->watcher.progress && !atomic_load(&call->abandoned);
}

/* Whether the call may show `length` bytes more, now.  Later, smaller chunks may still fit. */
static bool begin_showing(struct call *call, size_t length)
{
    if (!lock_open(call))
        return false;
    bool fits = !atomic_load(&call->abandoned) && length <= PROGRESS_MAX - call->progress_bytes;
    if (fits) {
        call->progress_bytes += length;
        call->showing++;
    }
    unlock(call);
    return fits;
}

/* The watcher outlives this: the call does not end before. */
static bool show_progress(struct call *call, const struct progress *progress)
{
    bool shown = call->watcher.progress(call->watcher.self, call, progress);
    pthread_mutex_lock(&call->lock);
    if (--call->showing == 0)
        pthread_cond_broadcast(&call->changed);
    pthread_mutex_unlock(&call->lock);
    return shown;
}

/* Once per call, whatever was lost and however often. */
static void notice(struct call *call, const char *stream, size_t lost)
{
    if (!lock_open(call))
        return;
    account_drop_progress(call->tool->account, lost);
    bool first = !call->progress_noticed && !atomic_load(&call->abandoned);
    call->progress_noticed = true;
    call->showing += first;
    unlock(call);
    struct progress progress = {
        .stream = stream ? stream : "progress",
        .text = {PROGRESS_NOTICE, sizeof(PROGRESS_NOTICE) - 1},
        .notice = true,
    };
    if (first)
        show_progress(call, &progress);
}

/* `length` is that of the whole text. */
static void show(struct call *call, struct progress *progress, size_t length)
{
    struct slice *text = &progress->text;
    size_t kept = utf8_cut(text->data, text->length, PROGRESS_CHUNK_MAX);
    bool whole = kept == text->length;
    text->length = kept;
    bool shown = begin_showing(call, kept) && show_progress(call, progress);
    if (!shown || !whole)
        notice(call, progress->stream, !shown ? length : length > kept ? length - kept : 0);
}

/* Text that has no place in what is left of the budget is not even looked at: to make it valid
 * makes it no shorter, and to cut it takes at most three bytes of a character. */
static bool may_fit(struct call *call, size_t length)
{
    size_t least = length < PROGRESS_CHUNK_MAX ? length : PROGRESS_CHUNK_MAX - 3;
    if (!lock_open(call))
        return false;
    bool fits = least <= PROGRESS_MAX - call->progress_bytes;
    unlock(call);
    return fits;
}

/* Text is made valid first, and not copied when it is so already. */
static void show_clean(struct call *call, struct progress *progress, const char *text,
                       size_t length)
{
    struct text clean = TEXT_INIT;
    if (!may_fit(call, text ? length : 0)) {
        notice(call, progress->stream, length);
        return;
    }
    progress->text = (struct slice){text ? text : "", text ? length : 0};
    if (progress->text.length &&
        (utf8_valid(text, length) < length || memchr(text, '\0', length))) {
        size_t enough = length < 2 * PROGRESS_CHUNK_MAX ? length : 2 * PROGRESS_CHUNK_MAX;
        utf8_append_clean(&clean, text, enough);
        progress->text = (struct slice){text_cstr(&clean), clean.length};
    }
    show(call, progress, text ? length : 0);
    text_release(&clean);
}

static void op_emit(mortise_call *face, const char *stream, const char *text, size_t length)
{
    struct call *call = call_of(face);
    if (!is_watched(call) || !text || !length)
        return;
    char label[64];
    copy_name(label, sizeof(label), stream ? stream : "stdout");
    struct progress progress = {.stream = label};
    show_clean(call, &progress, text, length);
}

static void op_progress(mortise_call *face, double done, double total, const char *message)
{
    struct call *call = call_of(face);
    if (!is_watched(call))
        return;
    struct progress progress = {
        .done = isfinite(done) ? done : 0,
        .total = isfinite(total) ? total : 0,
    };
    show_clean(call, &progress, message, message ? strlen(message) : 0);
}

/* ---- cancel and time ---- */

static bool op_cancelled(mortise_call *face)
{
    return call_is_stopped(call_of(face));
}

static mortise_status op_on_cancel(mortise_call *face, void (*callback)(void *data), void *data)
{
    struct call *call = call_of(face);
    if (!callback || !lock_open(call))
        return MORTISE_INVALID;
    bool taken = !call->watched;
    if (taken) {
        call->watched = true;
        call->on_cancel = callback;
        call->on_cancel_data = data;
    }
    unlock(call);
    if (taken && call_is_stopped(call))
        call_back(call);
    return taken ? MORTISE_OK : MORTISE_INVALID;
}

static void close_fds(int fds[2])
{
    for (int i = 0; i < 2; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        fds[i] = -1;
    }
}

/* A call stops by the token of its run or by itself (a deadline, a hook): one descriptor for
 * both, made for the few tools that ask. */
static void make_cancel_fd_locked(struct call *call)
{
    int fds[2] = {epoll_create1(EPOLL_CLOEXEC),
                  eventfd(call_is_stopped(call), EFD_CLOEXEC | EFD_NONBLOCK)};
    int token = cancel_fd(call->cancel);
    struct epoll_event readable = {.events = EPOLLIN};
    if (fds[0] < 0 || fds[1] < 0 || epoll_ctl(fds[0], EPOLL_CTL_ADD, fds[1], &readable) != 0 ||
        (token >= 0 && epoll_ctl(fds[0], EPOLL_CTL_ADD, token, &readable) != 0))
        close_fds(fds);
    call->cancel_fds[0] = fds[0];
    call->cancel_fds[1] = fds[1];
}

static int op_cancel_fd(mortise_call *face)
{
    struct call *call = call_of(face);
    if (!lock_open(call))
        return -1;
    if (call->cancel_fds[0] < 0)
        make_cancel_fd_locked(call);
    int fd = call->cancel_fds[0];
    unlock(call);
    return fd;
}

static int64_t op_remaining_ms(mortise_call *face)
{
    const struct call *call = call_of(face);
    if (call->deadline_ms < 0)
        return -1;
    int64_t left = call->deadline_ms - clock_ms();
    return left > 0 ? left : 0;
}

/* ---- context and memory ---- */

/* The id of a call that has none, its place in the batch, and the id of the run where nobody
 * gave one: made in `own`.  NULL: the key is another. */
static const char *make_answer(const struct call *call, const char *key, char own[ID_SIZE])
{
    if (strcmp(key, "call") == 0 && call->id)
        return call->id;
    if (strcmp(key, "call") == 0)
        id_make(own, "call");
    else if (strcmp(key, "invocation") == 0 && !call->context->invocation)
        id_make(own, "run");
    else if (strcmp(key, "batch_index") == 0)
        snprintf(own, ID_SIZE, "%u", call->index);
    else if (strcmp(key, "batch_size") == 0)
        snprintf(own, ID_SIZE, "%u", call->count);
    else
        return NULL;
    return own;
}

/* A copy: a tool that was left behind outlives what the strings belong to. */
static const char *answer_locked(struct call *call, const char *key)
{
    struct call_answer *answer = call->answers;
    char own[ID_SIZE];
    while (answer && strcmp(answer->key, key) != 0)
        answer = answer->next;
    if (answer)
        return answer->value;
    const char *made = make_answer(call, key, own);
    const char *value = made ? arena_copy(&call->memory, made, strlen(made))
                             : context_get(call->context, key, &call->memory);
    if (strcmp(key, "scopes") == 0)
        value = granted_of(call->tool->plugin, value, &call->memory);
    answer = value ? arena_alloc(&call->memory, sizeof(*answer)) : NULL;
    const char *copy = answer ? arena_copy(&call->memory, key, strlen(key)) : NULL;
    if (!copy)
        return NULL;
    *answer = (struct call_answer){copy, value, call->answers};
    call->answers = answer;
    return value;
}

static const char *op_context(mortise_call *face, const char *key)
{
    struct call *call = call_of(face);
    if (!key || !lock_open(call))
        return NULL;
    const char *value = answer_locked(call, key);
    unlock(call);
    return value;
}

static void *op_alloc(mortise_call *face, size_t bytes)
{
    struct call *call = call_of(face);
    if (!lock_open(call))
        return NULL;
    void *memory = arena_alloc(&call->memory, bytes);
    unlock(call);
    return memory;
}

/* ---- services ---- */

/* A reference: a tool that ends its call too early must not take them from under itself. */
static struct host_services *take_services(struct call *call, char *plugin, size_t size)
{
    struct host_services *services = NULL;
    if (!lock_open(call))
        return NULL;
    const struct plugin *owner = call->tool->plugin;
    if (owner->api)
        services = host_services_ref(host_api_services(owner->api));
    if (plugin)
        snprintf(plugin, size, "%s", owner->name);
    unlock(call);
    return services;
}

/* Whoever made up a call could make up its session as well. */
struct host_services *call_services(mortise_call *face, char *plugin, size_t size)
{
    return face && face->ops == &call_ops ? take_services(call_of(face), plugin, size) : NULL;
}

static const void *op_service(mortise_call *face, const char *id)
{
    struct host_services *services = take_services(call_of(face), NULL, 0);
    const void *table = services && id ? services->find(services, id) : NULL;
    host_services_unref(services);
    return table;
}

static void op_finish(mortise_call *face, mortise_status status)
{
    call_finish(call_of(face), status);
}

const mortise_call_ops call_ops = {
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
