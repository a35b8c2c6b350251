/*
 * wire_walk - the items of a conversation in the order in which a request has them: what the
 * assistant said and called, then the results of those calls in call order, then what follows.
 *
 * For formats whose assistant speaks in runs; the writer puts each thing, and opens and closes
 * what its format has around them.  One thread: the one that runs the turn loop.
 */
#ifndef PROVIDER_WIRE_WALK_H
#define PROVIDER_WIRE_WALK_H

#include "provider/wire_write.h"

/* The writer's functions; each gets the writer's own state. */
struct wire_walk {
    int (*state)(const void *self); /* what place->state is to be */
    void (*message)(void *self, size_t index);
    void (*call)(void *self, size_t index);
    /* `count` items from `at` on are a response that goes back to the letter (D15). */
    void (*verbatim)(void *self, size_t at, size_t count);
    /* The results of the calls among the items of [from, to). */
    void (*outputs)(void *self, size_t from, size_t to);
};

/* From item place->next on; `place` is kept at the last item that all before it is settled for.
 * Reasoning that does not go back to the letter is left out. */
void wire_walk(const struct wire_writer *writer, struct wire_place *place,
               const struct wire_walk *walk, void *self);

/* Calls `put` with each call among the items of [from, to) and the index of its result, in call
 * order; the results should stand from `place` on. */
void wire_each_output(const struct request *request, size_t from, size_t to, size_t place,
                      void (*put)(void *data, const struct item *call, size_t output), void *data);

#endif
