/*
 * subscriber - typed callbacks for those who follow a run, registered with one call.
 *
 * Blocks come with a scope: a pointer of the subscriber's own, made fresh when a block begins
 * and freed after it ended, one for each block and subscriber, so that blocks which arrive
 * mixed do not get in each other's way.  All callbacks are optional and run on the thread of
 * the turn loop.  What they are given is borrowed for the length of the call.
 */
#ifndef TIMELINE_SUBSCRIBER_H
#define TIMELINE_SUBSCRIBER_H

#include <jansson.h>

#include "timeline/timeline.h"

enum block_phase { BLOCK_BEGINS, BLOCK_GROWS, BLOCK_ENDS };

struct text_block {
    enum block_phase phase;
    unsigned index;
    struct slice text; /* GROWS: what is new; ENDS: the whole, empty if that is not known */
    bool aborted;      /* ENDS: the response broke off, or the attempt is made again */
};

struct tool_use_block {
    enum block_phase phase;
    unsigned index;
    const char *id;
    const char *name;
    struct slice json; /* as `text` above: fragments, or the whole */
    bool aborted;
};

/* A call that came whole. */
struct tool_use {
    const char *id;
    const char *name;
    const json_t *input; /* an object; NULL: what the model wrote is none */
    struct slice text;   /* what the model wrote */
};

struct subscriber {
    void *self; /* the first argument of every callback */

    /* Scopes; without a constructor, or when it returns NULL, the scope is NULL. */
    void *(*text_scope)(void *self);
    void (*text_scope_free)(void *self, void *scope);
    void (*text_block)(void *self, void *scope, const struct text_block *block);
    /* After the end of a text block that was not aborted, also when it is empty. */
    void (*text_complete)(void *self, struct slice text);

    void *(*thinking_scope)(void *self);
    void (*thinking_scope_free)(void *self, void *scope);
    void (*thinking_block)(void *self, void *scope, const struct text_block *block);

    void *(*tool_use_scope)(void *self);
    void (*tool_use_scope_free)(void *self, void *scope);
    void (*tool_use_block)(void *self, void *scope, const struct tool_use_block *block);
    /* After the end of a tool use block that was not aborted; whether the call may be run is
     * not known before the response is whole (D3). */
    void (*tool_call_complete)(void *self, const struct tool_use *call);

    void (*turn_start)(void *self, unsigned turn);
    /* Once per request, right before turn_end, with the numbers of its last attempt; not at
     * all when the server told none. */
    void (*usage)(void *self, const struct usage *usage);
    void (*turn_end)(void *self, unsigned turn);
    void (*ping)(void *self);
    void (*status)(void *self, struct slice text);
    void (*error)(void *self, const struct error *error);
};

/* Copies `subscriber`; what it keeps is freed with the timeline.  False: no memory. */
bool timeline_subscribe(struct timeline *timeline, const struct subscriber *subscriber);

#endif
