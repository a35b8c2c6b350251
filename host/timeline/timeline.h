/*
 * timeline - hands each event to those who asked for its kind, in the order in which they
 * registered.
 *
 * One thread: the one that runs the turn loop.  A handler may not register others.
 */
#ifndef TIMELINE_TIMELINE_H
#define TIMELINE_TIMELINE_H

#include "timeline/event.h"

typedef void timeline_handler(void *self, const struct event *event);

struct timeline_entry {
    uint32_t kinds;
    timeline_handler *handler;
    void *self;
    void (*release)(void *self); /* with the timeline; or NULL */
};

struct timeline {
    struct timeline_entry *items;
    size_t count;
    size_t capacity;
};

void timeline_init(struct timeline *timeline);
void timeline_release(struct timeline *timeline);

/* `kinds` is made of EVENT_BIT()s.  False when there is no memory. */
bool timeline_add(struct timeline *timeline, uint32_t kinds, timeline_handler *handler, void *self);
/* The same, for a handler whose `self` the timeline releases in the end. */
bool timeline_add_owned(struct timeline *timeline, uint32_t kinds, timeline_handler *handler,
                        void *self, void (*release)(void *self));
void timeline_emit(const struct timeline *timeline, const struct event *event);

#endif
