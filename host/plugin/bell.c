#include "plugin/bell.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct bell {
    struct host_bell face; /* first: plugins hold its address */
    atomic_bool is_rung;
    int fd; /* an eventfd */
};

static void ring(struct host_bell *face)
{
    struct bell *bell = (struct bell *)face;
    atomic_store(&bell->is_rung, true);
    ssize_t written = bell->fd >= 0 ? write(bell->fd, &(uint64_t){1}, sizeof(uint64_t)) : 0;
    (void)written; /* full is readable too */
}

static void free_bell(struct host_bell *face)
{
    struct bell *bell = (struct bell *)face;
    if (bell->fd >= 0)
        close(bell->fd);
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
    bell->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return bell;
}

struct host_bell *bell_face(struct bell *bell)
{
    return bell ? &bell->face : NULL;
}

bool bell_is_rung(const struct bell *bell)
{
    return atomic_load(&bell->is_rung);
}

int bell_fd(const struct bell *bell)
{
    return bell->fd;
}

/* Who rings meanwhile may not be heard: what it wants is looked at after this. */
bool bell_silence(struct bell *bell)
{
    uint64_t count;
    ssize_t got = bell->fd >= 0 ? read(bell->fd, &count, sizeof(count)) : 0;
    (void)got;
    return atomic_exchange(&bell->is_rung, false);
}

void bell_remember(struct bell *bell)
{
    atomic_store(&bell->is_rung, true);
}
