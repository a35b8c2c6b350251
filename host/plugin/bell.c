#include "plugin/bell.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct bell {
    struct host_bell face; /* first: plugins hold its address */
    pthread_mutex_t lock;  /* so that what is readable is rung */
    bool is_rung;
    int fd; /* an eventfd */
};

static void ring(struct host_bell *face)
{
    struct bell *bell = (struct bell *)face;
    pthread_mutex_lock(&bell->lock);
    bell->is_rung = true;
    if (bell->fd >= 0)
        eventfd_write(bell->fd, 1);
    pthread_mutex_unlock(&bell->lock);
}

static void free_bell(struct host_bell *face)
{
    struct bell *bell = (struct bell *)face;
    if (bell->fd >= 0)
        close(bell->fd);
    pthread_mutex_destroy(&bell->lock);
    free(bell);
}

struct bell *bell_new(void)
{
    struct bell *bell = calloc(1, sizeof(*bell));
    if (!bell)
        return NULL;
    bell->face.ring = ring;
    bell->face.free = free_bell;
    atomic_init(&bell->face.references, 1);
    pthread_mutex_init(&bell->lock, NULL);
    bell->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return bell;
}

struct host_bell *bell_face(struct bell *bell)
{
    return bell ? &bell->face : NULL;
}

bool bell_is_rung(struct bell *bell)
{
    pthread_mutex_lock(&bell->lock);
    bool is_rung = bell->is_rung;
    pthread_mutex_unlock(&bell->lock);
    return is_rung;
}

int bell_fd(const struct bell *bell)
{
    return bell->fd;
}

bool bell_silence(struct bell *bell)
{
    eventfd_t count;
    pthread_mutex_lock(&bell->lock);
    if (bell->fd >= 0)
        eventfd_read(bell->fd, &count);
    bool was_rung = bell->is_rung;
    bell->is_rung = false;
    pthread_mutex_unlock(&bell->lock);
    return was_rung;
}

void bell_remember(struct bell *bell)
{
    pthread_mutex_lock(&bell->lock);
    bell->is_rung = true;
    pthread_mutex_unlock(&bell->lock);
}
