#include "base/queue.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

bool queue_init(struct queue *queue)
{
    *queue = (struct queue){.last = &queue->first};
    queue->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (queue->fd < 0)
        return false;
    pthread_mutex_init(&queue->lock, NULL);
    return true;
}

void queue_release(struct queue *queue)
{
    close(queue->fd);
    queue->fd = -1;
    pthread_mutex_destroy(&queue->lock);
}

/* The counter is 0 or 1 and changes under the lock only, so neither of these can fail. */
static void raise_locked(struct queue *queue)
{
    eventfd_write(queue->fd, 1);
}

static void drain_locked(struct queue *queue)
{
    uint64_t count;
    ssize_t got = read(queue->fd, &count, sizeof(count));
    (void)got;
}

void queue_push(struct queue *queue, struct queue_node *node)
{
    node->next = NULL;
    pthread_mutex_lock(&queue->lock);
    bool was_empty = !queue->first;
    *queue->last = node;
    queue->last = &node->next;
    if (was_empty)
        raise_locked(queue);
    pthread_mutex_unlock(&queue->lock);
}

struct queue_node *queue_pop(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    struct queue_node *node = queue->first;
    if (node) {
        queue->first = node->next;
        if (!queue->first) {
            queue->last = &queue->first;
            drain_locked(queue);
        }
    }
    pthread_mutex_unlock(&queue->lock);
    return node;
}
