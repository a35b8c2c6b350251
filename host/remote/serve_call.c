/*
 * One call of a tool in its own process: the mortise_call that the plugin sees there.
 *
 * What it says of its result is kept until it ends and sent with the end; everything else goes to
 * the host at once.  A call that answers later may still be named by its plugin when it is over,
 * so the last of these are kept for a while.
 */
#include <poll.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "remote/serve_private.h"
#include "schema/decode.h"

#define STORAGE      1024
#define CHUNK_MAX    ((size_t)16384) /* the host cuts at the half of it */
#define REPLY_MAX    (PARCEL_MESSAGE_MAX - ((size_t)1 << 20))
#define LOOK_NS      1000000 /* how often cancelled() really looks */

struct answer {
    char *key, *value; /* the value may be NULL */
    struct answer *next;
};

struct served_call {
    mortise_call face; /* first: the plugin has its address */
    atomic_uint refs;
    struct served_lane *lane;
    const struct tool *tool;
    uint64_t number;
    int64_t deadline_ms; /* -1: none */
    atomic_bool is_stopped;
    atomic_int_least64_t looked_ns;

    pthread_mutex_t lock; /* recursive, taken after the lane's */
    pthread_cond_t changed;
    bool is_open; /* the tool may have its say */
    bool is_late; /* run() returned MORTISE_PENDING */
    bool is_finished;
    mortise_status status;
    struct arena memory;
    struct answer *answers;

    struct text reply;
    uint32_t type;
    bool has_replied;
    struct text message, component, code;
    bool has_failed, has_component, has_code;
    mortise_category category;
    int64_t retry_after_ms;

    void (*on_cancel)(void *data);
    void *on_cancel_data;
    bool is_watched, is_calling_back;
    pthread_t caller;
    int over_fd; /* readable once it is over, for the thread that waits; -1 */
    alignas(max_align_t) char storage[STORAGE];
};

static struct served_call *call_of(mortise_call *face)
{
    return (struct served_call *)face;
}

/* ---- life ---- */

static void unref(struct served_call *call)
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
    unref(atomic_exchange(&kept[atomic_fetch_add(&next, 1) % 64], call));
}

static bool is_open(struct served_call *call)
{
    pthread_mutex_lock(&call->lock);
    bool open = call->is_open;
    pthread_mutex_unlock(&call->lock);
    return open;
}

/* ---- the result ---- */

static mortise_status op_reply(mortise_call *face, uint32_t type, const char *text, size_t length)
{
    struct served_call *call = call_of(face);
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
    struct served_call *call = call_of(face);
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

/* ---- asking the host ---- */

static const mortise_call_ops served_ops;

/* The lane comes before the call: whoever asks has it until the answer is there. */
struct served_lane *served_call_lock(mortise_call *face)
{
    if (!face || face->ops != &served_ops)
        return NULL;
    struct served_call *call = call_of(face);
    if (!is_open(call)) /* its lane may be gone */
        return NULL;
    struct served_lane *lane = call->lane;
    pthread_mutex_lock(&lane->lock);
    if (is_open(call))
        return lane;
    pthread_mutex_unlock(&lane->lock);
    return NULL;
}

void served_call_unlock(mortise_call *face)
{
    pthread_mutex_unlock(&call_of(face)->lane->lock);
}

void *served_call_alloc(mortise_call *face, size_t bytes)
{
    struct served_call *call = call_of(face);
    pthread_mutex_lock(&call->lock);
    void *memory = call->is_open ? arena_alloc(&call->memory, bytes) : NULL;
    pthread_mutex_unlock(&call->lock);
    return memory;
}

void served_call_forget_error(mortise_call *face)
{
    struct served_call *call = call_of(face);
    pthread_mutex_lock(&call->lock);
    call->has_failed = false;
    pthread_mutex_unlock(&call->lock);
}

static mortise_status op_attach(mortise_call *face, const mortise_attachment *attachment)
{
    struct parcel answer;
    mortise_status status = MORTISE_INVALID;
    if (!attachment || !MORTISE_HAS(attachment, mortise_attachment, uri))
        return MORTISE_INVALID;
    struct served_lane *lane = served_call_lock(face);
    if (!lane)
        return MORTISE_INVALID;
    parcel_begin(&lane->out, PARCEL_ATTACH);
    parcel_put_string(&lane->out, attachment->mime_type);
    parcel_put_string(&lane->out, attachment->name);
    parcel_put_bytes(&lane->out, attachment->data, attachment->length);
    parcel_put_string(&lane->out, attachment->uri);
    if (lane_ask(lane, &answer))
        status = (mortise_status)parcel_u32(&answer);
    served_call_unlock(face);
    return status;
}

static void op_emit(mortise_call *face, const char *stream, const char *text, size_t length)
{
    struct served_lane *lane = text && length ? served_call_lock(face) : NULL;
    if (!lane)
        return;
    parcel_begin(&lane->out, PARCEL_EMIT);
    parcel_put_string(&lane->out, stream);
    parcel_put_bytes(&lane->out, text, length < CHUNK_MAX ? length : CHUNK_MAX);
    lane_send(lane);
    served_call_unlock(face);
}

static void op_progress(mortise_call *face, double done, double total, const char *message)
{
    struct served_lane *lane = served_call_lock(face);
    if (!lane)
        return;
    parcel_begin(&lane->out, PARCEL_PROGRESS);
    parcel_put_double(&lane->out, done);
    parcel_put_double(&lane->out, total);
    size_t length = message ? strlen(message) : 0;
    parcel_put_bytes(&lane->out, message, length < CHUNK_MAX ? length : CHUNK_MAX);
    lane_send(lane);
    served_call_unlock(face);
}

static const char *ask_context(struct served_call *call, struct served_lane *lane, const char *key)
{
    struct parcel answer;
    struct answer *kept = arena_alloc(&call->memory, sizeof(*kept));
    parcel_begin(&lane->out, PARCEL_CONTEXT);
    parcel_put_string(&lane->out, key);
    if (!kept || !lane_ask(lane, &answer))
        return NULL;
    parcel_u32(&answer);
    const char *value = parcel_string(&answer);
    kept->key = arena_copy(&call->memory, key, strlen(key));
    kept->value = value ? arena_copy(&call->memory, value, strlen(value)) : NULL;
    if (!kept->key)
        return NULL;
    kept->next = call->answers;
    call->answers = kept;
    return kept->value;
}

static const char *op_context(mortise_call *face, const char *key)
{
    struct served_call *call = call_of(face);
    struct served_lane *lane = key ? served_call_lock(face) : NULL;
    if (!lane)
        return NULL;
    pthread_mutex_lock(&call->lock);
    struct answer *answer = call->answers;
    while (answer && strcmp(answer->key, key) != 0)
        answer = answer->next;
    const char *value = answer ? answer->value : ask_context(call, lane, key);
    pthread_mutex_unlock(&call->lock);
    served_call_unlock(face);
    return value;
}

/* ---- cancel and time ---- */

static bool is_readable(int fd)
{
    struct pollfd poll_fd = {fd, POLLIN, 0};
    return poll(&poll_fd, 1, 0) > 0;
}

static bool op_cancelled(mortise_call *face)
{
    struct served_call *call = call_of(face);
    if (atomic_load_explicit(&call->is_stopped, memory_order_relaxed))
        return true;
    int64_t now_ns = clock_ns();
    if (now_ns - atomic_load_explicit(&call->looked_ns, memory_order_relaxed) < LOOK_NS)
        return false;
    atomic_store_explicit(&call->looked_ns, now_ns, memory_order_relaxed);
    pthread_mutex_lock(&call->lock); /* its lane is there as long as it is open */
    bool stopped = call->is_open && is_readable(call->lane->cancel_fd);
    pthread_mutex_unlock(&call->lock);
    if (stopped)
        atomic_store(&call->is_stopped, true);
    return stopped;
}

static void call_back(struct served_call *call)
{
    pthread_mutex_lock(&call->lock);
    void (*callback)(void *data) = call->is_open ? call->on_cancel : NULL;
    call->on_cancel = NULL;
    if (callback) {
        call->is_calling_back = true;
        call->caller = pthread_self();
        pthread_mutex_unlock(&call->lock);
        callback(call->on_cancel_data);
        pthread_mutex_lock(&call->lock);
        call->is_calling_back = false;
        pthread_cond_broadcast(&call->changed);
    }
    pthread_mutex_unlock(&call->lock);
}

/* The descriptor is this thread's own: that of the lane may be closed when the call is over. */
struct watch {
    struct served_call *call;
    int cancel_fd;
};

static void *watch_cancel(void *argument)
{
    struct watch *watch = argument;
    struct pollfd fds[2] = {{watch->cancel_fd, POLLIN, 0}, {watch->call->over_fd, POLLIN, 0}};
    while (poll(fds, 2, -1) < 0)
        ;
    if (fds[0].revents & POLLIN) {
        atomic_store(&watch->call->is_stopped, true);
        call_back(watch->call);
    }
    close(watch->cancel_fd);
    unref(watch->call);
    free(watch);
    return NULL;
}

static bool start_watch_locked(struct served_call *call)
{
    pthread_t thread;
    struct watch *watch = calloc(1, sizeof(*watch));
    call->over_fd = eventfd(0, EFD_CLOEXEC);
    if (watch)
        *watch = (struct watch){.call = call, .cancel_fd = dup(call->lane->cancel_fd)};
    atomic_fetch_add(&call->refs, 1);
    if (watch && call->over_fd >= 0 && watch->cancel_fd >= 0 &&
        pthread_create(&thread, NULL, watch_cancel, watch) == 0) {
        pthread_detach(thread);
        return true;
    }
    if (watch && watch->cancel_fd >= 0)
        close(watch->cancel_fd);
    free(watch);
    atomic_fetch_sub(&call->refs, 1);
    return false;
}

static mortise_status op_on_cancel(mortise_call *face, void (*callback)(void *data), void *data)
{
    struct served_call *call = call_of(face);
    mortise_status status = MORTISE_INVALID;
    if (!callback)
        return MORTISE_INVALID;
    pthread_mutex_lock(&call->lock);
    if (call->is_open && !call->is_watched) {
        call->on_cancel = callback;
        call->on_cancel_data = data;
        call->is_watched = start_watch_locked(call);
        status = call->is_watched ? MORTISE_OK : MORTISE_NO_MEMORY;
    }
    pthread_mutex_unlock(&call->lock);
    if (status == MORTISE_OK && op_cancelled(face))
        call_back(call);
    return status;
}

static int op_cancel_fd(mortise_call *face)
{
    struct served_call *call = call_of(face);
    pthread_mutex_lock(&call->lock);
    int fd = call->is_open ? call->lane->cancel_fd : -1;
    pthread_mutex_unlock(&call->lock);
    return fd;
}

static int64_t op_remaining_ms(mortise_call *face)
{
    const struct served_call *call = call_of(face);
    int64_t left_ms = call->deadline_ms - clock_ms();
    return call->deadline_ms < 0 ? -1 : left_ms > 0 ? left_ms : 0;
}

/* ---- services ---- */

static const void *op_service(mortise_call *face, const char *id)
{
    struct parcel answer;
    struct host_services *services = serve_services();
    const void *table = id && services ? services->find(services, id) : NULL;
    struct served_lane *lane = table ? served_call_lock(face) : NULL;
    if (!lane)
        return NULL;
    parcel_begin(&lane->out, PARCEL_SERVICE);
    parcel_put_string(&lane->out, id);
    if (!lane_ask(lane, &answer) || parcel_u32(&answer) != MORTISE_OK)
        table = NULL;
    served_call_unlock(face);
    return table;
}

/* ---- the end ---- */

static void wait_for_callback_locked(struct served_call *call)
{
    while (call->is_calling_back && !pthread_equal(call->caller, pthread_self()))
        pthread_cond_wait(&call->changed, &call->lock);
}

static void op_finish(mortise_call *face, mortise_status status)
{
    struct served_call *call = call_of(face);
    pthread_mutex_lock(&call->lock);
    wait_for_callback_locked(call);
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
    .attach = op_attach,
    .emit = op_emit,
    .progress = op_progress,
    .cancelled = op_cancelled,
    .on_cancel = op_on_cancel,
    .cancel_fd = op_cancel_fd,
    .remaining_ms = op_remaining_ms,
    .context = op_context,
    .alloc = served_call_alloc,
    .finish = op_finish,
    .service = op_service,
};

/* Waits until a tool that is pending has finished, and shuts the call. */
static mortise_status settle(struct served_call *call, mortise_status status)
{
    pthread_mutex_lock(&call->lock);
    call->is_late = status == MORTISE_PENDING || call->is_finished;
    while (status == MORTISE_PENDING && !call->is_finished)
        pthread_cond_wait(&call->changed, &call->lock);
    wait_for_callback_locked(call);
    if (call->is_finished)
        status = call->status;
    call->is_open = false;
    if (call->over_fd >= 0) {
        ssize_t written = write(call->over_fd, &(uint64_t){1}, sizeof(uint64_t));
        (void)written;
    }
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

/* The host has checked them by the schema that was made of the shape. */
static const void *read_arguments(struct served_call *call, const char *text)
{
    struct error error = ERROR_INIT;
    if (!call->tool->shape)
        return arena_copy(&call->memory, text, strlen(text));
    json_t *object = json_parse(text, strlen(text), NULL, &error);
    const void *args =
        object ? decode_arguments(call->tool->shape, object, &call->memory, &error) : NULL;
    json_decref(object);
    if (!args)
        op_fail(&call->face, &(mortise_error){.size = sizeof(mortise_error),
                                              .category = MORTISE_INVALID_INPUT,
                                              .code = "tool.arguments",
                                              .message = error.message,
                                              .message_length = strlen(error.message)});
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
        unref(call);
}
