/*
 * history - the items of a session, in order; it only grows.
 *
 * One thread: the one that runs the turn loop.
 */
#ifndef CONVERSATION_HISTORY_H
#define CONVERSATION_HISTORY_H

#include "conversation/item.h"

struct history {
    struct item **items;
    size_t count;
    size_t capacity;
    struct history_ids *ids; /* every call id that was ever seen, for history_has_call() */
};

void history_init(struct history *history);
void history_release(struct history *history);

/* Takes over the caller's reference, also when it fails.  `item` may be NULL (no memory
 * to make it): that fails too, so a constructor can stand in the argument list. */
bool history_append(struct history *history, struct item *item, struct error *error);

/* Whether a call with this id is stored. */
bool history_has_call(const struct history *history, const char *call_id);

/* The index of the first call that has no result, or history->count. */
size_t history_first_unanswered(const struct history *history);

/* Whether every call has exactly one result behind it and every result a call before it.
 * The provider checks before each request; false names the id (kind internal). */
bool history_check(struct item *const *items, size_t count, struct error *error);

#endif
