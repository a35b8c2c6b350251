#include "base/cancel.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* cancel_trigger() runs in signal handlers, where only lock-free atomics are allowed. */
_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "atomic_bool must be lock-free");

struct cancel {
    atomic_uint references;
    atomic_bool requested;
    int fd;
};

struct cancel *cancel_new(void)
{
    struct cancel *cancel = malloc(sizeof(*cancel));
    if (!cancel)
        return NULL;
    cancel->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (cancel->fd < 0) {
        free(cancel);
        return NULL;
    }
    atomic_init(&cancel->references, 1);
    atomic_init(&cancel->requested, false);
    return cancel;
}

struct cancel *cancel_ref(struct cancel *cancel)
{
    if (cancel)
        atomic_fetch_add_explicit(&cancel->references, 1, memory_order_relaxed);
    return cancel;
}

void cancel_unref(struct cancel *cancel)
{
    if (!cancel || atomic_fetch_sub_explicit(&cancel->references, 1, memory_order_acq_rel) != 1)
        return;
    close(cancel->fd);
    free(cancel);
}

void cancel_trigger(struct cancel *cancel)
{
    if (!cancel || atomic_exchange(&cancel->requested, true))
        return;
    int saved = errno; /* a signal handler must not change it */
    ssize_t written;
    do {
        written = write(cancel->fd, &(uint64_t){1}, sizeof(uint64_t));
    } while (written < 0 && errno == EINTR);
    errno = saved;
}

bool cancel_requested(const struct cancel *cancel)
{
    return cancel && atomic_load_explicit(&cancel->requested, memory_order_acquire);
}

int cancel_fd(const struct cancel *cancel)
{
    return cancel ? cancel->fd : -1;
}
