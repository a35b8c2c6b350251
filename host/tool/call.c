#include "tool/call.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "plugin/account.h"
#include "plugin/granted.h"
#include "schema/decode.h"
#include "tool/call_private.h"

static const struct call_context nobody;

/* ---- making and freeing ---- */

struct call *call_new(struct registry *registry, const struct tool *tool, const char *id,
                      const char *arguments, size_t length, const struct call_context *context,
                      struct cancel *cancel, int64_t deadline_ms,
                      const struct call_watcher *watcher)
{
    struct call *call = malloc(sizeof(*call));
    if (!call)
        return NULL;
    memset(call, 0, offsetof(struct call, storage));
    call->face =
        (mortise_call){.size = sizeof(call->face), .ops = &call_ops, .tool = tool->instance};
    atomic_init(&call->references, 1);
    call->tool = tool;
    call->context = context ? context : &nobody;
    call->deadline_ms = deadline_ms;
    if (watcher)
        call->watcher = *watcher;
    call->count = 1;
    call->cancel_fds[0] = call->cancel_fds[1] = -1;
    pthread_mutex_init(&call->lock, NULL);
    pthread_cond_init(&call->changed, NULL);
    arena_init(&call->memory, call->storage, sizeof(call->storage));
    call->arguments = length ? arena_copy(&call->memory, arguments, length) : "{}";
    call->arguments_length = length ? length : 2;
    call->id = id ? arena_copy(&call->memory, id, strlen(id)) : NULL;
    call->cancel = cancel_ref(cancel);
    if (!call->arguments || (id && !call->id)) {
        call_unref(call);
        return NULL;
    }
    call->registry = registry_ref(registry);
    return call;
}

void call_set_position(struct call *call, unsigned index, unsigned count)
{
    call->index = index;
    call->count = count;
}

struct call *call_ref(struct call *call)
{
    atomic_fetch_add_explicit(&call->references, 1, memory_order_relaxed);
    return call;
}

static void free_call(struct call *call)
{
    if (!call)
        return;
    pthread_cond_destroy(&call->changed);
    pthread_mutex_destroy(&call->lock);
    free(call);
}

/* The last calls that answered late are kept for a while: a plugin that finishes one of them
 * again finds an ended call, and not memory that is something else by now. */
static void keep_for_a_while(struct call *call)
{
    static _Atomic(struct call *) kept[64];
    static atomic_uint next;
    unsigned place = atomic_fetch_add(&next, 1) % (sizeof(kept) / sizeof(kept[0]));
    free_call(atomic_exchange(&kept[place], call));
}

/* A tool that was left behind may end on a thread of its own plugin.  To close the plugin
 * from there would break the promise of [load], so the reference on it is never given back. */
static void keep_for_ever(struct call *call)
{
    static _Atomic(struct call *) kept;
    call->older = atomic_load(&kept);
    while (!atomic_compare_exchange_weak(&kept, &call->older, call))
        ;
}

void call_unref(struct call *call)
{
    if (!call || atomic_fetch_sub_explicit(&call->references, 1, memory_order_acq_rel) != 1)
        return;
    cancel_unref(call->cancel);
    arena_release(&call->memory);
    text_release(&call->reply);
    text_release(&call->failure);
    tool_result_release(&call->result);
    for (int i = 0; i < 2; i++)
        if (call->cancel_fds[i] >= 0)
            close(call->cancel_fds[i]);
    if (atomic_load(&call->abandoned)) {
        keep_for_ever(call);
        return;
    }
    registry_unref(call->registry);
    if (call->late)
        keep_for_a_while(call);
    else
        free_call(call);
}

const char *call_id(const struct call *call)
{
    return call->id;
}

void call_take_result(struct call *call, struct tool_result *result)
{
    pthread_mutex_lock(&call->lock);
    *result = call->result;
    call->result = (struct tool_result){0};
    struct registry *registry = call->registry;
    call->registry = NULL;
    pthread_mutex_unlock(&call->lock);
    registry_unref(registry);
}

/* ---- ending ---- */

/* Before the call ends.  The callback runs on another thread with data of the tool's: the tool must
 * not see its call end, and free that data, before it is through; it may itself finish the call.
 * And whoever watches is there until the call ends. */
static void wait_for_others_locked(struct call *call)
{
    while (call->showing || (call->calling_back && !pthread_equal(call->caller, pthread_self())))
        pthread_cond_wait(&call->changed, &call->lock);
}

static const char *owner_locked(struct call *call)
{
    if (!call->owner[0])
        snprintf(call->owner, sizeof(call->owner), "plugin '%.64s': tool '%.64s'",
                 call->tool->plugin->name, call->tool->name);
    return call->owner;
}

/* How long it is inside the tool by now, at least 1; 0: it was not entered. */
static int64_t inside_ns(const struct call *call)
{
    int64_t entered_ns = atomic_load_explicit(&call->entered_ns, memory_order_relaxed);
    return entered_ns ? clock_ns() - entered_ns + 1 : 0;
}

static void count_end_locked(struct call *call, int64_t duration_ns)
{
    const struct tool_result *result = &call->result;
    size_t bytes = result->text.length;
    for (size_t i = 0; i < result->attachment_count; i++)
        bytes += result->attachments[i].data.length;
    account_count(call->tool->account, &(struct account_call){.success = result->success,
                                                              .duration_ns = duration_ns,
                                                              .bytes_in = call->arguments_length,
                                                              .bytes_out = bytes});
}

/* All that needs the tool happens here: whoever waits for the end may let the registry go. */
static void end_locked(struct call *call, mortise_status status)
{
    int64_t duration_ns = inside_ns(call);
    call->state = CALL_ENDED;
    if (duration_ns) {
        call_settle_locked(call, status);
        call->result.duration_us = duration_ns > 1000 ? duration_ns / 1000 : 1;
        tool_leave(call->tool);
    }
    if (!atomic_load(&call->abandoned))
        count_end_locked(call, duration_ns);
    pthread_cond_broadcast(&call->changed);
}

/* After end_locked(), without the lock.  Gives the tool's own reference back. */
static void announce(struct call *call)
{
    if (call->watcher.done)
        call->watcher.done(call->watcher.self, call);
    call_unref(call);
}

void call_finish(struct call *call, mortise_status status)
{
    pthread_mutex_lock(&call->lock);
    wait_for_others_locked(call);
    bool pending = call->state == CALL_PENDING;
    if (pending) {
        end_locked(call, status);
    } else if (call->state == CALL_RUNNING) {
        call->early = status;
        call->state = CALL_FINISHED;
    } else {
        /* The tool may be gone by now, but not before run() has returned. */
        const char *owner = call->state == CALL_FINISHED ? owner_locked(call) : call->owner;
        log_warning("%s finished a call that was over: ignored", *owner ? owner : "a plugin");
    }
    pthread_mutex_unlock(&call->lock);
    if (pending)
        announce(call);
}

/* run() has returned. */
static void returned(struct call *call, mortise_status status)
{
    pthread_mutex_lock(&call->lock);
    wait_for_others_locked(call);
    bool finished = call->state == CALL_FINISHED;
    bool pending = status == MORTISE_PENDING && !finished;
    if (status == MORTISE_PENDING) {
        call->late = true;
        owner_locked(call);
    } else if (finished) {
        log_warning("%s used finish() and did not return MORTISE_PENDING", owner_locked(call));
    }
    if (pending)
        call->state = CALL_PENDING;
    else
        end_locked(call, finished ? call->early : status);
    pthread_mutex_unlock(&call->lock);
    if (!pending)
        announce(call);
}

/* ---- running ---- */

bool call_is_stopped(const struct call *call)
{
    return atomic_load_explicit(&call->stopped, memory_order_relaxed) ||
           cancel_requested(call->cancel);
}

static bool is_stopped(void *call)
{
    return call_is_stopped(call);
}

static bool holds(const char *const *scopes, const char *scope)
{
    while (scopes && *scopes && strcmp(*scopes, scope) != 0)
        scopes++;
    return scopes && *scopes;
}

static bool refuse_scopes(struct call *call, const char *who, struct text *scopes)
{
    bool allowed = !scopes->length && !scopes->failed;
    if (!allowed)
        tool_result_fail(&call->result, MORTISE_FORBIDDEN, "tool.scopes",
                         "Tool '%s' is not allowed here: %s the scopes %s", call->tool->name, who,
                         text_cstr(scopes));
    text_release(scopes);
    return allowed;
}

/* What the caller lacks is for the caller to get; what the plugin was not granted, for the
 * operator to grant. */
static bool check_scopes(struct call *call)
{
    struct text missing = TEXT_INIT, withheld = TEXT_INIT;
    if (!call->tool->meta.scopes)
        return true;
    pthread_mutex_lock(&call->lock); /* the caller's scopes go when the call is abandoned */
    for (const char *const *scope = call->tool->meta.scopes; *scope; scope++) {
        struct text *list = !holds(call->context->scopes, *scope)         ? &missing
                            : !granted_has(call->tool->plugin, *scope) ? &withheld
                                                                          : NULL;
        if (list)
            text_printf(list, "%s%s", list->length ? ", " : "", *scope);
    }
    pthread_mutex_unlock(&call->lock);
    bool granted = refuse_scopes(call, "its plugin is not granted", &withheld);
    return refuse_scopes(call, "the caller lacks", &missing) && granted;
}

static bool check_sandbox(struct call *call)
{
    if (!(call->tool->meta.flags & MORTISE_SANDBOX_REQUIRED) || call->tool->is_confined)
        return true;
    tool_result_fail(&call->result, MORTISE_NOT_SUPPORTED, "tool.sandbox",
                     "Tool '%s' may only run in a sandbox, and this host has none: it was not run",
                     call->tool->name);
    return false;
}

/* What run() gets: the plugin's struct, or the text.  NULL: the result says why.  In a process of its
 * own, a plugin's arguments are read there (remote/serve_call.c), by the same rules; a NUL never
 * gets so far. */
static const void *read_arguments(struct call *call)
{
    const struct tool *tool = call->tool;
    struct error error = ERROR_INIT;
    const void *args = NULL;
    if (tool->plugin->isolation.is_process &&
        !memchr(call->arguments, '\0', call->arguments_length))
        return call->arguments;
    json_t *object = tool->shape ? json_parse(call->arguments, call->arguments_length, NULL, &error)
                                 : json_parse_wide(call->arguments, call->arguments_length, &error);
    if (!object && error.kind != ERROR_INTERNAL)
        error_prefix(&error, "Invalid argument: the arguments are not valid JSON");
    else if (object && tool->shape)
        args = decode_arguments(tool->shape, object, &call->memory, &error);
    else if (object && schema_check(tool->input, object, PROBLEM_ARGUMENTS, &error))
        args = call->arguments;
    if (args && tool->is_confined) /* the struct is made where it is used */
        args = call->arguments;
    json_decref(object);

    if (!args && error.kind == ERROR_INTERNAL)
        tool_result_fail(&call->result, MORTISE_INTERNAL, "host.internal", "Internal error: %s",
                         error.message);
    else if (!args)
        tool_result_fail(&call->result, MORTISE_INVALID_INPUT, "tool.arguments", "%s",
                         error.message);
    return args;
}

static bool enter(struct call *call)
{
    if (!call_is_stopped(call) && tool_enter(call->tool, is_stopped, call))
        return true;
    tool_result_fail(&call->result, MORTISE_ABORTED, "tool.cancelled", "cancelled before it ran");
    return false;
}

static bool begin(struct call *call)
{
    pthread_mutex_lock(&call->lock);
    bool begins = call->state == CALL_NEW;
    if (begins)
        call->state = CALL_RUNNING;
    pthread_mutex_unlock(&call->lock);
    return begins;
}

void call_run(struct call *call)
{
    call_ref(call); /* the tool's, until announce() */
    if (!begin(call)) {
        announce(call);
        return;
    }
    const void *args = NULL;
    if (check_scopes(call) && check_sandbox(call))
        args = read_arguments(call);
    if (!args || !enter(call)) {
        returned(call, MORTISE_FAILED);
        return;
    }
    atomic_store_explicit(&call->entered_ns, clock_ns(), memory_order_relaxed);
    mortise_status status = call->tool->instance->run(call->tool->instance, &call->face, args);
    returned(call, status);
}

/* ---- stopping ---- */

bool call_revoke(struct call *call)
{
    struct registry *registry = NULL;
    pthread_mutex_lock(&call->lock);
    bool early = call->state == CALL_NEW;
    if (early) {
        call->state = CALL_REVOKED;
        registry = call->registry;
        call->registry = NULL;
    }
    pthread_mutex_unlock(&call->lock);
    registry_unref(registry);
    return early;
}

static bool is_open_locked(const struct call *call)
{
    return call->state == CALL_RUNNING || call->state == CALL_PENDING;
}

void call_back(struct call *call)
{
    pthread_mutex_lock(&call->lock);
    void (*callback)(void *data) = is_open_locked(call) ? call->on_cancel : NULL;
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

static void *callback_thread(void *argument)
{
    struct call *call = argument;
    call_back(call);
    call_unref(call);
    return NULL;
}

static void call_back_elsewhere(struct call *call)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
    pthread_t thread;
    bool made = pthread_create(&thread, NULL, callback_thread, call_ref(call)) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made)
        pthread_detach(thread);
    else
        callback_thread(call);
}

void call_cancelled(struct call *call)
{
    atomic_store(&call->stopped, true);
    pthread_mutex_lock(&call->lock);
    bool wanted = call->on_cancel && is_open_locked(call);
    if (call->cancel_fds[1] >= 0)
        eventfd_write(call->cancel_fds[1], 1);
    pthread_cond_broadcast(&call->changed);
    pthread_mutex_unlock(&call->lock);
    if (wanted)
        call_back_elsewhere(call);
}

void call_abandon(struct call *call)
{
    pthread_mutex_lock(&call->lock);
    if (call->state != CALL_ENDED)
        account_count(call->tool->account, &(struct account_call){.duration_ns = inside_ns(call),
                                                                  .bytes_in = call->arguments_length});
    atomic_store(&call->abandoned, true);
    call->context = &nobody;
    while (call->showing)
        pthread_cond_wait(&call->changed, &call->lock);
    pthread_mutex_unlock(&call->lock);
}
