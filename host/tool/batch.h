/*
 * batch - the calls of one response that run, and the one queue on which they report.
 *
 * Made and read by the thread of the turn loop; filled by the threads of tools.  Reference
 * counted: a tool that was left behind still reports here, to nobody.  Messages of one call
 * arrive in the order in which they were sent; its end is the last.
 */
#ifndef TOOL_BATCH_H
#define TOOL_BATCH_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/pool.h"
#include "base/queue.h"
#include "tool/call.h"

#define BATCH_PROGRESS_MAX 256 /* F44; notices come on top: each call has room for its own */

enum message_kind { MESSAGE_PROGRESS, MESSAGE_NOTICE, MESSAGE_DONE };

struct message {
    struct queue_node node; /* first */
    enum message_kind kind;
    size_t slot;
    /* progress and notice */
    bool numeric;
    double done, total;
    char stream[64];
    size_t length;
    const char *text; /* of a notice: static; else behind the struct */
};

struct batch;

struct slot {
    struct batch *batch;
    size_t index;
    struct call *call; /* NULL until it is made; the batch's reference */
    struct message done, notice;
};

struct batch {
    atomic_uint references; /* the turn loop's, and one for each submitted call */
    struct queue queue;
    pthread_mutex_t lock; /* for the next three */
    pthread_cond_t room;
    unsigned queued; /* MESSAGE_PROGRESS in the queue */
    bool stalled;    /* a chunk waited in vain, and none was taken since */
    size_t count;
    struct slot slots[];
};

struct batch *batch_new(size_t count); /* NULL: no memory or no descriptor */
void batch_unref(struct batch *batch);

/* The watcher for the call of slot `index`. */
struct call_watcher batch_watcher(struct batch *batch, size_t index);
/* Has the pool run the call, whose reference becomes the slot's.  False: it will not. */
bool batch_submit(struct batch *batch, size_t index, struct call *call, struct pool *pool);

/* The next message, or NULL; give it back with batch_free_message(). */
struct message *batch_next(struct batch *batch);
void batch_free_message(struct message *message);

#endif
