/*
 * prefix - the bytes that all requests of a locked session begin with, so that a provider can
 * serve them from its cache (D17).
 *
 * A writer lays a body out as model, tools, system prompt, items and then all that may change
 * from one request to the next.  It notes in `now` where each part ends and hands the body to
 * prefix_take(): the first body after prefix_restart() is kept, every later one is compared,
 * and other bytes are an error that says what changed.  The thread of the turn loop only.
 */
#ifndef PROVIDER_PREFIX_H
#define PROVIDER_PREFIX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

#define PREFIX_HASH_SIZE 65 /* hexadecimal, with its NUL */

enum prefix_part { PREFIX_MODEL, PREFIX_TOOLS, PREFIX_SYSTEM, PREFIX_PARTS };

/* Offsets in a body, each behind the last byte of its part. */
struct prefix_layout {
    size_t parts[PREFIX_PARTS];
    size_t *items; /* of locked items; 0: it is not on the wire */
    size_t count;
    size_t capacity;
    size_t end; /* of the whole prefix */
    /* A mark for the provider's cache that moves with the lock, so that it says nothing about
     * what changed; length 0: none. */
    size_t mark_at, mark_length;
};

struct request_prefix {
    struct prefix_layout now;  /* of the body that is being written */
    struct prefix_layout kept; /* of `bytes` */
    struct text bytes;
    char sha256[PREFIX_HASH_SIZE]; /* of `bytes`; "" before the first request */
    bool current;                  /* `bytes` are of this lock, not of one before */
};

/* All zero is an empty one. */
void prefix_release(struct request_prefix *prefix);
/* The session is locked anew: the next request is the one that others are compared with. */
void prefix_restart(struct request_prefix *prefix);

/* Before a body is written. */
void prefix_begin(struct request_prefix *prefix);
/* `end` is behind item `index`.  False: no memory. */
bool prefix_note_item(struct request_prefix *prefix, size_t index, size_t end);
/* `length` bytes were put in at `at`: what was noted behind it moves. */
void prefix_insert(struct request_prefix *prefix, size_t at, size_t length);

/* Keeps or compares the first `now.end` bytes.  False: they changed (kind internal, and the
 * message names what did), or there is no memory. */
bool prefix_take(struct request_prefix *prefix, const struct text *body, struct error *error);

#endif
