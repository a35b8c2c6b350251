#include "remote/remote.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/secret.h"
#include "remote/rules.h"

#define LOAD_MS       30000 /* what a factory may take */
#define CLOSE_MS      2000  /* what close() may take */
#define DEATHS_MAX    5
#define FIRST_WAIT_MS 100
#define SLICE_MS      20

/* ---- loading in the process ---- */

static enum serve_for purpose_of(const struct remote *remote)
{
    return remote->confines                ? SERVE_CALLS
           : remote->isolation.is_sandbox ? SERVE_IN_SANDBOX
                                          : SERVE_PLUGIN;
}

static bool send_load(const struct remote *remote, struct child *child, struct error *error)
{
    const mortise_host *host = host_api_face(remote->api);
    struct text message = TEXT_INIT;
    parcel_begin(&message, PARCEL_LOAD);
    parcel_put_u32(&message, (uint32_t)getpid());
    parcel_put_string(&message, remote->path);
    parcel_put_string(&message, host->config(host));
    parcel_put_bytes(&message, &remote->file, sizeof(remote->file));
    parcel_put_string(&message, remote->sha256);
    parcel_put_u32(&message, (uint32_t)log_level());
    parcel_put_u32(&message, secret_memory_is_hidden());
    parcel_put_i64(&message, remote->isolation.memory_bytes);
    parcel_put_u32(&message, purpose_of(remote));
    parcel_put_string(&message, remote->isolation.grants);
    parcel_put_i64(&message, remote->isolation.call_memory_bytes);
    parcel_put_i64(&message, remote->isolation.call_timeout_ms);
    parcel_put_string(&message, child->scratch);
    bool sent = parcel_send(child->control, &message, LOAD_MS);
    text_release(&message);
    return sent || error_set(error, ERROR_PLUGIN, "its process takes nothing: %s", strerror(errno));
}

static bool lost_while_loading(struct child *child, struct error *error)
{
    if (!child_ends(child, CHILD_DYING_MS))
        child_kill(child, "closed its connection");
    child_reap(child);
    return error_set(error, ERROR_PLUGIN, "its process %s while it was loaded", child->death);
}

/* Waits for the next message.  The process may log and ask for secrets meanwhile. */
static bool hear_first(struct child *child, struct parcel *message, struct error *error)
{
    int64_t until_ms = clock_ms() + LOAD_MS;
    for (;;) {
        enum parcel_next next = parcel_next(&child->in, message);
        bool is_word = message->type == PARCEL_FACE || message->type == PARCEL_REFUSED;
        if (next == PARCEL_NEXT && is_word)
            return true;
        if (next == PARCEL_WRONG || (next == PARCEL_NEXT && !child_hear(child, message)))
            child_kill(child, "sent a message that is wrong");
        if (next == PARCEL_NEXT)
            continue;
        struct pollfd fds[2] = {{child->control, POLLIN, 0}, {child->output, POLLIN, 0}};
        int64_t left_ms = until_ms - clock_ms();
        if (left_ms <= 0) {
            child_kill(child, "took longer than %d s", LOAD_MS / 1000);
            return lost_while_loading(child, error);
        }
        poll(fds, 2, (int)left_ms);
        if (fds[1].revents)
            child_take_output(child);
        if (fds[0].revents && parcel_read(child->control, &child->in, 0) <= 0)
            return lost_while_loading(child, error);
    }
}

static bool hear_refusal(struct parcel *message, struct error *error)
{
    const char *reason = parcel_needed(message);
    return error_set(error, ERROR_PLUGIN, "%s",
                     parcel_ends(message) ? reason : "it gave no reason that can be read");
}

/* What it says of itself now must be what it said first: all else was made of that. */
static bool hear_face(struct remote *remote, struct parcel *message, struct error *error)
{
    if (remote->confines)
        return remote_fits(remote, message, error);
    if (remote->words.length)
        return (message->left == remote->words.length &&
                memcmp(message->data, remote->words.data, message->left) == 0) ||
               error_set(error, ERROR_PLUGIN,
                         "it says something else of itself than when it was loaded: load it anew");
    text_append(&remote->words, message->data, message->left);
    if (remote->words.failed)
        return error_memory(error);
    return remote_read_face(remote, message) ||
           error_set(error, ERROR_PLUGIN, "what its process says of it cannot be read");
}

/* A process in which the plugin is loaded; NULL with *error. */
static struct child *start(struct remote *remote, struct error *error)
{
    struct parcel message = {0};
    struct child *child = child_start(remote->path, remote->api, remote->isolation.memory_bytes,
                                      purpose_of(remote), error);
    if (child)
        child->has_no_network = remote->has_no_network;
    bool ok = child && send_load(remote, child, error) && hear_first(child, &message, error) &&
              (message.type == PARCEL_FACE ? hear_face(remote, &message, error)
                                         : hear_refusal(&message, error));
    if (ok) {
        child_watch(child);
        return child;
    }
    if (child) { /* its requests (fetcher.h) have references, and would keep it */
        child_kill(child, "is not needed any more");
        child_reap(child);
    }
    child_unref(child);
    return NULL;
}

/* ---- dying and starting again ---- */

/* The pause before the next start is 0, then 100 ms, and doubles. */
static void note_death_locked(struct remote *remote)
{
    unsigned deaths = atomic_fetch_add(&remote->deaths, 1) + 1;
    int64_t pause_ms = deaths < 2 ? 0 : (int64_t)FIRST_WAIT_MS << (deaths - 2);
    remote->not_before_ms = clock_ms() + pause_ms;
    if (deaths < DEATHS_MAX)
        return;
    atomic_store(&remote->is_set_aside, true);
    log_warning("plugin '%s' is set aside: its process failed %d times, and the last time it %s",
                remote->face.name, DEATHS_MAX, remote->death);
}

static void drop_locked(struct remote *remote)
{
    struct child *child = remote->child;
    child_reap(child);
    snprintf(remote->death, sizeof(remote->death), "%s", child->death);
    remote->child = NULL;
    note_death_locked(remote);
    child_unref(child);
}

void remote_lost(struct remote *remote, struct child *child, char *death, size_t size)
{
    child_reap(child);
    snprintf(death, size, "%s", child->death);
    pthread_mutex_lock(&remote->lock);
    if (remote->child == child)
        drop_locked(remote);
    pthread_mutex_unlock(&remote->lock);
}

void remote_worked(struct remote *remote)
{
    if (atomic_load_explicit(&remote->deaths, memory_order_relaxed))
        atomic_store(&remote->deaths, 0);
}

/* Without the lock, which it takes back. */
static void wait_locked(struct remote *remote)
{
    const struct timespec until = clock_after_ms(SLICE_MS);
    pthread_cond_clockwait(&remote->started, &remote->lock, CLOCK_MONOTONIC, &until);
}

static void start_locked(struct remote *remote, struct error *error)
{
    remote->is_starting = true;
    pthread_mutex_unlock(&remote->lock);
    struct child *child = start(remote, error);
    pthread_mutex_lock(&remote->lock);
    remote->is_starting = false;
    remote->child = child;
    if (!child) {
        snprintf(remote->death, sizeof(remote->death), "did not start: %.200s", error->message);
        note_death_locked(remote);
    }
    pthread_cond_broadcast(&remote->started);
}

static bool is_there_locked(struct remote *remote)
{
    if (remote->child && atomic_load(&remote->child->is_over))
        drop_locked(remote);
    return remote->child;
}

/* False with *error. */
static bool find_child_locked(struct remote *remote, bool (*stopped)(void *data), void *data,
                              struct error *error)
{
    while (!is_there_locked(remote)) {
        if (atomic_load(&remote->is_set_aside))
            return error_set(error, ERROR_PLUGIN,
                             "plugin '%s' is set aside: its process failed %d times, and the last "
                             "time it %s; it is started again when it is loaded anew",
                             remote->face.name, DEATHS_MAX, remote->death);
        if (stopped && stopped(data))
            return error_set(error, ERROR_CANCELLED, "cancelled before it ran");
        if (remote->is_starting || clock_ms() < remote->not_before_ms) {
            wait_locked(remote);
            continue;
        }
        start_locked(remote, error);
        if (!remote->child) {
            error_prefix(error, "plugin '%s' cannot be started again", remote->face.name);
            return false;
        }
    }
    return true;
}

struct child *remote_child(struct remote *remote, bool (*stopped)(void *data), void *data,
                           struct error *error)
{
    struct child *child = NULL;
    pthread_mutex_lock(&remote->lock);
    if (find_child_locked(remote, stopped, data, error))
        child = child_ref(remote->child);
    pthread_mutex_unlock(&remote->lock);
    return child;
}

/* ---- life ---- */

static void free_remote(struct remote *remote)
{
    pthread_mutex_destroy(&remote->lock);
    pthread_cond_destroy(&remote->started);
    text_release(&remote->words);
    arena_release(&remote->memory);
    free(remote);
}

/* No call is left: the plugin may do what its close() does, and then its process goes. */
static void close_remote(mortise_plugin *face)
{
    struct remote *remote = (struct remote *)face;
    struct child *child = remote->child;
    if (child) {
        struct text message = TEXT_INIT;
        parcel_begin(&message, PARCEL_CLOSE);
        pthread_mutex_lock(&child->lock);
        bool sent = parcel_send(child->control, &message, 0);
        pthread_mutex_unlock(&child->lock);
        text_release(&message);
        if (!sent || !child_ends(child, CLOSE_MS))
            child_kill(child, "did not end in time");
        child_finish(child);
        child_unref(child);
    }
    free_remote(remote);
}

struct remote *remote_new(const struct isolation *isolation, const char *path,
                          const struct file_id *id, const char *sha256, struct host_api *api,
                          struct error *error)
{
    struct remote *remote = calloc(1, sizeof(*remote));
    if (!remote) {
        error_memory(error);
        return NULL;
    }
    arena_init(&remote->memory, NULL, 0);
    pthread_mutex_init(&remote->lock, NULL);
    pthread_cond_init(&remote->started, NULL);
    remote->face = (mortise_plugin){.size = sizeof(remote->face), .close = close_remote};
    remote->isolation = *isolation;
    remote->file = *id;
    remote->api = api;
    remote->path = arena_copy(&remote->memory, path, strlen(path));
    remote->sha256 = sha256 ? arena_copy(&remote->memory, sha256, strlen(sha256)) : NULL;
    if (isolation->grants)
        remote->isolation.grants =
            arena_copy(&remote->memory, isolation->grants, strlen(isolation->grants));
    if (remote->path && (!isolation->grants || remote->isolation.grants) &&
        (!sha256 || remote->sha256))
        return remote;
    free_remote(remote);
    error_memory(error);
    return NULL;
}

mortise_plugin *remote_isolate(const struct isolation *isolation, const char *path,
                               const struct file_id *id, const char *sha256, struct host_api *api,
                               const atomic_bool **is_set_aside, struct error *error)
{
    struct remote *remote = remote_new(isolation, path, id, sha256, api, error);
    if (remote)
        remote->has_no_network = isolation->is_sandbox && !rules_have_network(isolation->grants);
    if (remote && (remote->child = start(remote, error))) {
        *is_set_aside = &remote->is_set_aside;
        return &remote->face;
    }
    if (remote)
        free_remote(remote);
    return NULL;
}
