/*
 * queue - messages from many threads to one, with a descriptor to wait on.
 *
 * Nodes are embedded in the messages, so a push allocates nothing and cannot fail.
 */
#ifndef BASE_QUEUE_H
#define BASE_QUEUE_H

#include <pthread.h>
#include <stdbool.h>

struct queue_node {
    struct queue_node *next;
};

struct queue {
    pthread_mutex_t lock;
    struct queue_node *first;
    struct queue_node **last;
    int fd; /* readable while something waits */
};

bool queue_init(struct queue *queue); /* false: no descriptor left */
void queue_release(struct queue *queue);
void queue_push(struct queue *queue, struct queue_node *node); /* any thread */
/* The oldest node, or NULL at once when there is none.  The owning thread only. */
struct queue_node *queue_pop(struct queue *queue);

#endif
