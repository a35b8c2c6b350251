/* How a tool in its own process learns that its call shall stop, and how long it has. */
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "remote/serve_call.h"

#define LOOK_NS 1000000 /* how often cancelled() really looks */

static bool is_readable(int fd)
{
    struct pollfd poll_fd = {fd, POLLIN, 0};
    return poll(&poll_fd, 1, 0) > 0;
}

bool served_cancelled(mortise_call *face)
{
    struct served_call *call = served_call_of(face);
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
    served_call_unref(watch->call);
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

mortise_status served_on_cancel(mortise_call *face, void (*callback)(void *data), void *data)
{
    struct served_call *call = served_call_of(face);
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
    if (status == MORTISE_OK && served_cancelled(face))
        call_back(call);
    return status;
}

int served_cancel_fd(mortise_call *face)
{
    struct served_call *call = served_call_of(face);
    pthread_mutex_lock(&call->lock);
    int fd = call->is_open ? call->lane->cancel_fd : -1;
    pthread_mutex_unlock(&call->lock);
    return fd;
}

int64_t served_remaining_ms(mortise_call *face)
{
    const struct served_call *call = served_call_of(face);
    int64_t left_ms = call->deadline_ms - clock_ms();
    return call->deadline_ms < 0 ? -1 : left_ms > 0 ? left_ms : 0;
}

void served_wait_for_callback_locked(struct served_call *call)
{
    while (call->is_calling_back && !pthread_equal(call->caller, pthread_self()))
        pthread_cond_wait(&call->changed, &call->lock);
}
