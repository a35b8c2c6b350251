/*
 * A store of tasks: a list behind one lock, newest first, and a thread for each task that runs.
 *
 * A task's thread works without the lock and takes it for each change.  A thread that has ended is
 * joined by whoever looks next: the start of a task, or close.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* getrandom(), also where an author builds with -std=c11 */
#endif

#include <mortise/tasks.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "internal.h"

enum { RUNNING_DEFAULT = 8, KEPT_DEFAULT = 100, ID_BYTES = 16, MESSAGE_BYTES = 256 };

struct mortise_task {
    mortise_tasks *tasks;
    mortise_task *next; /* older */
    char id[2 * ID_BYTES + 1];
    char *owner;
    atomic_bool cancelled;

    mortise_status (*work)(mortise_task *task, void *data);
    void (*release)(void *data);
    void *data;
    pthread_t thread;

    /* All of this is changed under the lock of the store. */
    bool ended;  /* its thread touches it no more */
    bool joined; /* or never had a thread */
    bool has_progress;
    double done, total;
    char message[MESSAGE_BYTES];
    char *result; /* JSON, for free() */
    char *error;  /* JSON, for free() */
    mortise_status status;
};

struct mortise_tasks {
    pthread_mutex_t lock;
    mortise_task *newest;
    size_t running_limit, kept_limit;
};

/* ---- texts ---- */

/* `text` as a JSON string, for free(); NULL: no memory. */
static char *quote(const char *text, size_t length)
{
    size_t size = mortise_json_quote(NULL, 0, text, length) + 1;
    char *quoted = malloc(size);
    if (quoted)
        mortise_json_quote(quoted, size, text, length);
    return quoted;
}

/* Whose a call is: each part with its length, so that no two callers are the same text. */
static char *owner_of(mortise_call *call)
{
    static const char *const keys[] = {"tenant", "user", "session"};
    enum { COUNT = sizeof(keys) / sizeof(keys[0]), LENGTH_BYTES = 24 };
    const char *parts[COUNT];
    size_t bytes = 1, length = 0;
    for (size_t i = 0; i < COUNT; i++) {
        parts[i] = mortise_context(call, keys[i]);
        bytes += LENGTH_BYTES + (parts[i] ? strlen(parts[i]) : 0);
    }
    char *owner = malloc(bytes);
    for (size_t i = 0; owner && i < COUNT; i++)
        length += (size_t)(parts[i] ? snprintf(owner + length, bytes - length, "%zu:%s,",
                                               strlen(parts[i]), parts[i])
                                    : snprintf(owner + length, bytes - length, "-,"));
    return owner;
}

static bool make_id(char id[2 * ID_BYTES + 1])
{
    unsigned char bytes[ID_BYTES];
    ssize_t taken;
    do {
        taken = getrandom(bytes, sizeof(bytes), 0);
    } while (taken < 0 && errno == EINTR);
    for (int i = 0; i < ID_BYTES; i++)
        snprintf(id + 2 * i, 3, "%02x", bytes[i]);
    return taken == (ssize_t)sizeof(bytes);
}

/* ---- the life of a task ---- */

static void task_free(mortise_task *task)
{
    free(task->owner);
    free(task->result);
    free(task->error);
    free(task);
}

static void release_data(const mortise_task *task)
{
    if (task->release)
        task->release(task->data);
}

static void *run_task(void *argument)
{
    mortise_task *task = argument;
    mortise_status status = task->work(task, task->data);
    release_data(task);
    pthread_mutex_lock(&task->tasks->lock);
    task->status = status;
    task->ended = true;
    pthread_mutex_unlock(&task->tasks->lock);
    return NULL;
}

/* Signals are for the host's own threads. */
static bool start_thread(mortise_task *task)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&task->thread, NULL, run_task, task);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

/* Joins the threads that have ended, and forgets the oldest tasks beyond the limit.  Returns how
 * many are running. */
static size_t tidy_locked(mortise_tasks *tasks)
{
    size_t running = 0, kept = 0;
    mortise_task **place = &tasks->newest, *task;
    while ((task = *place)) {
        if (task->ended && !task->joined) {
            pthread_join(task->thread, NULL); /* it is on its last instructions */
            task->joined = true;
        }
        running += !task->ended;
        kept += task->ended;
        if (kept > tasks->kept_limit && task->ended) {
            *place = task->next;
            task_free(task);
        } else {
            place = &task->next;
        }
    }
    return running;
}

static void forget_locked(mortise_tasks *tasks, const mortise_task *task)
{
    mortise_task **place = &tasks->newest;
    while (*place != task)
        place = &(*place)->next;
    *place = task->next;
}

/* ---- the store ---- */

mortise_tasks *mortise_tasks_new(size_t running, size_t kept)
{
    mortise_tasks *tasks = calloc(1, sizeof(*tasks));
    if (!tasks)
        return NULL;
    pthread_mutex_init(&tasks->lock, NULL);
    tasks->running_limit = running > 0 ? running : RUNNING_DEFAULT;
    tasks->kept_limit = kept > 0 ? kept : KEPT_DEFAULT;
    return tasks;
}

void mortise_tasks_close(void *store)
{
    mortise_tasks *tasks = store;
    if (!tasks)
        return;
    pthread_mutex_lock(&tasks->lock);
    for (mortise_task *task = tasks->newest; task; task = task->next)
        atomic_store(&task->cancelled, true);
    pthread_mutex_unlock(&tasks->lock);
    while (tasks->newest) { /* no call is left that could add one */
        mortise_task *task = tasks->newest;
        if (!task->joined)
            pthread_join(task->thread, NULL);
        tasks->newest = task->next;
        task_free(task);
    }
    pthread_mutex_destroy(&tasks->lock);
    free(tasks);
}

/* ---- starting ---- */

/* Puts the task into the store, with a thread.  Under the lock, so that nobody sees it half made.
 */
static mortise_status begin_locked(mortise_tasks *tasks, mortise_call *call, mortise_task *task)
{
    size_t running = tidy_locked(tasks);
    if (running >= tasks->running_limit)
        return mortise_fail_as(call, MORTISE_UNAVAILABLE, "tasks.busy",
                               "%zu tasks are running, which is the limit: wait for one to end",
                               running);
    mortise_status status =
        mortise_reply_json(call, "{\"task_id\":\"%s\",\"status\":\"processing\"}", task->id);
    if (status != MORTISE_OK)
        return status;
    task->next = tasks->newest;
    tasks->newest = task;
    if (start_thread(task))
        return MORTISE_OK;
    forget_locked(tasks, task);
    return mortise_fail_as(call, MORTISE_UNAVAILABLE, "tasks.thread",
                           "no thread can be started: try again later");
}

mortise_status mortise_task_start(mortise_tasks *tasks, mortise_call *call,
                                  mortise_status (*work)(mortise_task *task, void *data),
                                  void *data, void (*release)(void *data))
{
    mortise_status status = MORTISE_NO_MEMORY;
    mortise_task *task = calloc(1, sizeof(*task));
    if (task)
        *task = (mortise_task){.tasks = tasks,
                               .work = work,
                               .data = data,
                               .release = release,
                               .owner = owner_of(call)};
    if (task && task->owner && !make_id(task->id)) {
        status = mortise_fail(call, "no random numbers: %s", strerror(errno));
    } else if (task && task->owner) {
        pthread_mutex_lock(&tasks->lock);
        status = begin_locked(tasks, call, task);
        pthread_mutex_unlock(&tasks->lock);
    }
    if (status != MORTISE_OK) {
        if (release)
            release(data);
        if (task)
            task_free(task);
    }
    return status;
}

/* ---- telling ---- */

/* The caller's own task of that id; NULL: there is none.  *no_memory: that is not known. */
static mortise_task *find_locked(mortise_tasks *tasks, mortise_call *call, const char *id,
                                 bool *no_memory)
{
    char *owner = owner_of(call);
    mortise_task *task = tasks->newest;
    *no_memory = !owner;
    while (owner && task && (strcmp(task->id, id) != 0 || strcmp(task->owner, owner) != 0))
        task = task->next;
    free(owner);
    return *no_memory ? NULL : task;
}

/* `,"progress":{…}` of a task that has told some; "" otherwise. */
static void write_progress(const mortise_task *task, char *out, size_t size)
{
    char number[64];
    size_t length = 0;
    if (task->has_progress) {
        snprintf(number, sizeof(number), ",\"progress\":{\"done\":%.15g", task->done);
        length = mortise__put(out, size, length, number, strlen(number));
        if (task->total > 0) {
            snprintf(number, sizeof(number), ",\"total\":%.15g", task->total);
            length = mortise__put(out, size, length, number, strlen(number));
        }
        if (task->message[0]) {
            length = mortise__put(out, size, length, ",\"message\":", 11);
            length += mortise_json_quote(out + length, size - length, task->message,
                                         strlen(task->message));
        }
        length = mortise__put(out, size, length, "}", 1);
    }
    mortise__put_end(out, size, length);
}

static mortise_status reply_processing(mortise_call *call, const mortise_task *task)
{
    char progress[6 * MESSAGE_BYTES + 256]; /* a byte of the message becomes 6 at most */
    write_progress(task, progress, sizeof(progress));
    return mortise_reply_json(call, "{\"task_id\":\"%s\",\"status\":\"processing\"%s}", task->id,
                              progress);
}

static mortise_status reply_status_locked(mortise_call *call, const mortise_task *task)
{
    if (!task->ended)
        return reply_processing(call, task);
    if (task->status == MORTISE_OK)
        return mortise_reply_json(call,
                                  "{\"task_id\":\"%s\",\"status\":\"completed\",\"result\":%s}",
                                  task->id, task->result ? task->result : "null");
    const char *error = task->status == MORTISE_CANCELLED   ? "\"cancelled\""
                        : task->status == MORTISE_NO_MEMORY ? "\"out of memory\""
                        : task->error                       ? task->error
                                                            : "\"it gave no reason\"";
    return mortise_reply_json(call, "{\"task_id\":\"%s\",\"status\":\"failed\",\"error\":%s}",
                              task->id, error);
}

static mortise_status reply_about(mortise_tasks *tasks, mortise_call *call, const char *id,
                                  bool cancel)
{
    bool no_memory;
    mortise_status status;
    pthread_mutex_lock(&tasks->lock);
    mortise_task *task = find_locked(tasks, call, id, &no_memory);
    if (task && cancel)
        atomic_store(&task->cancelled, true);
    if (no_memory)
        status = MORTISE_NO_MEMORY;
    else if (task)
        status = reply_status_locked(call, task);
    else
        status = mortise_reply_json(call, "{\"error\":\"Task not found\"}");
    pthread_mutex_unlock(&tasks->lock);
    return status;
}

mortise_status mortise_task_reply_status(mortise_tasks *tasks, mortise_call *call, const char *id)
{
    return reply_about(tasks, call, id, false);
}

mortise_status mortise_task_cancel(mortise_tasks *tasks, mortise_call *call, const char *id)
{
    return reply_about(tasks, call, id, true);
}

/* ---- in the work ---- */

bool mortise_task_cancelled(mortise_task *task)
{
    return atomic_load_explicit(&task->cancelled, memory_order_relaxed);
}

void mortise_task_progress(mortise_task *task, double done, double total, const char *message)
{
    pthread_mutex_lock(&task->tasks->lock);
    task->has_progress = true;
    task->done = isfinite(done) ? done : 0;
    task->total = isfinite(total) ? total : 0;
    snprintf(task->message, sizeof(task->message), "%s", message ? message : "");
    pthread_mutex_unlock(&task->tasks->lock);
}

/* Puts `text`, or what was there, away. */
static void keep(mortise_task *task, char **place, char *text)
{
    pthread_mutex_lock(&task->tasks->lock);
    char *old = *place;
    *place = text;
    pthread_mutex_unlock(&task->tasks->lock);
    free(old);
}

mortise_status mortise_task_reply(mortise_task *task, const char *format, ...)
{
    struct mortise__text text;
    va_list args;
    va_start(args, format);
    mortise__text_format(&text, format, args);
    va_end(args);
    char *quoted = text.bytes ? quote(text.bytes, text.length) : NULL;
    mortise__text_release(&text);
    if (!quoted)
        return MORTISE_NO_MEMORY;
    keep(task, &task->result, quoted);
    return MORTISE_OK;
}

/* Whether there is one JSON value in `text`, and nothing else. */
static bool is_json(const char *text)
{
    const char *end = mortise__json_end(text);
    return end && *mortise__json_space(end) == '\0';
}

mortise_status mortise_task_reply_json(mortise_task *task, const char *format, ...)
{
    struct mortise__text text;
    va_list args;
    va_start(args, format);
    mortise__text_format(&text, format, args);
    va_end(args);
    mortise_status status = MORTISE_NO_MEMORY;
    char *copy = text.bytes ? malloc(text.length + 1) : NULL;
    if (copy) {
        memcpy(copy, text.bytes, text.length + 1);
        status = is_json(copy) ? MORTISE_OK : MORTISE_INVALID;
    }
    mortise__text_release(&text);
    if (status == MORTISE_INVALID &&
        mortise_task_fail(task, "its result is not valid JSON") == MORTISE_NO_MEMORY)
        status = MORTISE_NO_MEMORY;
    if (status == MORTISE_OK)
        keep(task, &task->result, copy);
    else
        free(copy);
    return status;
}

mortise_status mortise_task_fail(mortise_task *task, const char *format, ...)
{
    struct mortise__text text;
    va_list args;
    va_start(args, format);
    mortise__text_format(&text, format, args);
    va_end(args);
    char *quoted = text.bytes ? quote(text.bytes, text.length) : NULL;
    mortise__text_release(&text);
    keep(task, &task->error, quoted);
    return quoted ? MORTISE_FAILED : MORTISE_NO_MEMORY;
}
