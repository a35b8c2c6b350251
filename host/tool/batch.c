#include "tool/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define ROOM_WAIT_MS 100 /* F44 */

struct batch *batch_new(size_t count)
{
    struct batch *batch = calloc(1, sizeof(*batch) + count * sizeof(batch->slots[0]));
    if (!batch)
        return NULL;
    if (!queue_init(&batch->queue)) {
        free(batch);
        return NULL;
    }
    atomic_init(&batch->references, 1);
    pthread_mutex_init(&batch->lock, NULL);
    pthread_cond_init(&batch->room, NULL);
    batch->count = count;
    for (size_t i = 0; i < count; i++)
        batch->slots[i] = (struct slot){.batch = batch, .index = i};
    return batch;
}

void batch_unref(struct batch *batch)
{
    if (!batch || atomic_fetch_sub(&batch->references, 1) != 1)
        return;
    struct message *message;
    while ((message = batch_next(batch)))
        batch_free_message(message);
    queue_release(&batch->queue);
    pthread_cond_destroy(&batch->room);
    pthread_mutex_destroy(&batch->lock);
    free(batch);
}

/* ---- from the threads of tools ---- */

/* Waits for a consumer that is slow, but not again and again for one that takes nothing. */
static bool take_room(struct batch *batch)
{
    pthread_mutex_lock(&batch->lock);
    if (batch->queued >= BATCH_PROGRESS_MAX && !batch->stalled) {
        const struct timespec until = clock_after_ms(ROOM_WAIT_MS);
        while (batch->queued >= BATCH_PROGRESS_MAX && !batch->stalled)
            batch->stalled = pthread_cond_clockwait(&batch->room, &batch->lock, CLOCK_MONOTONIC,
                                                    &until) != 0;
    }
    bool room = batch->queued < BATCH_PROGRESS_MAX;
    if (room) {
        batch->queued++;
        batch->stalled = false;
    }
    pthread_mutex_unlock(&batch->lock);
    return room;
}

static void give_room(struct batch *batch)
{
    pthread_mutex_lock(&batch->lock);
    batch->queued--;
    batch->stalled = false;
    pthread_cond_signal(&batch->room);
    pthread_mutex_unlock(&batch->lock);
}

static struct message *new_progress(struct batch *batch, const struct slice *text)
{
    if (!take_room(batch))
        return NULL;
    struct message *message = malloc(sizeof(*message) + text->length + 1);
    if (!message) {
        give_room(batch);
        return NULL;
    }
    char *copy = (char *)(message + 1);
    memcpy(copy, text->data, text->length);
    copy[text->length] = '\0';
    message->kind = MESSAGE_PROGRESS;
    message->text = copy;
    return message;
}

/* The one notice of a call has its place in the slot: a full queue cannot stop it (F47). */
static struct message *own_notice(struct slot *slot, const struct slice *text)
{
    slot->notice.kind = MESSAGE_NOTICE;
    slot->notice.text = text->data;
    return &slot->notice;
}

static bool send_progress(void *self, struct call *call, const struct progress *progress)
{
    (void)call;
    struct slot *slot = self;
    const struct slice *text = &progress->text;
    struct message *message =
        progress->notice ? own_notice(slot, text) : new_progress(slot->batch, text);
    if (!message)
        return false;
    message->slot = slot->index;
    message->numeric = !progress->stream;
    message->done = progress->done;
    message->total = progress->total;
    message->length = text->length;
    snprintf(message->stream, sizeof(message->stream), "%s",
             progress->stream ? progress->stream : "");
    queue_push(&slot->batch->queue, &message->node);
    return true;
}

static void send_done(void *self, struct call *call)
{
    (void)call;
    struct slot *slot = self;
    struct batch *batch = slot->batch;
    slot->done.kind = MESSAGE_DONE;
    slot->done.slot = slot->index;
    queue_push(&batch->queue, &slot->done.node);
    batch_unref(batch);
}

static void run_call(void *argument)
{
    struct call *call = argument;
    call_run(call);
    call_unref(call);
}

/* ---- from the turn loop ---- */

struct call_watcher batch_watcher(struct batch *batch, size_t index)
{
    return (struct call_watcher){
        .progress = send_progress, .done = send_done, .self = &batch->slots[index]};
}

bool batch_submit(struct batch *batch, size_t index, struct call *call, struct pool *pool)
{
    atomic_fetch_add(&batch->references, 1);
    batch->slots[index].call = call;
    if (pool_submit(pool, run_call, call_ref(call)))
        return true;
    call_unref(call);
    atomic_fetch_sub(&batch->references, 1);
    return false;
}

struct message *batch_next(struct batch *batch)
{
    struct message *message = (struct message *)queue_pop(&batch->queue);
    if (message && message->kind == MESSAGE_PROGRESS)
        give_room(batch);
    return message;
}

void batch_free_message(struct message *message)
{
    if (message->kind == MESSAGE_PROGRESS)
        free(message);
}
