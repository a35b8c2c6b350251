/*
 * history - the items of a session, in order; it only grows.
 *
 * One thread: the one that runs the turn loop.
 */
#ifndef CONVERSATION_HISTORY_H
#define CONVERSATION_HISTORY_H

#include "conversation/item.h"
#include "conversation/journal.h"

struct history {
    struct item **items;
    size_t count;
    size_t capacity;
    const struct journal *journal; /* asked before an item enters; NULL: nobody is */
    struct history_ids *ids; /* every call id that was ever seen, and whether it is answered */
    size_t first_open;       /* the first call without a result, or count */
    size_t open_count;       /* calls without a result */
    bool unpaired;           /* it holds a result without its call, or an id used twice */
};

void history_init(struct history *history);
void history_release(struct history *history);

/* Takes over the caller's reference, also when it fails.  `item` may be NULL (no memory
 * to make it): that fails too, so a constructor can stand in the argument list.  With a
 * journal the item is written down first; if that fails, history stays as it was. */
bool history_append(struct history *history, struct item *item, struct error *error);

/* `results` has one entry for each item: the result that takes the place of the one that is
 * there, for the same call, or NULL.  Written down first; keeps references.  False: nothing was
 * replaced. */
bool history_replace_results(struct history *history, struct item *const *results,
                             struct error *error);

/* Whether a call with this id is stored. */
bool history_has_call(const struct history *history, const char *call_id);

/* Whether the newest call with this id has its result. */
bool history_is_answered(const struct history *history, const char *call_id);

/* The index of the first call that has no result, or history->count.  Known at once, like
 * history_is_paired(): every append keeps count. */
size_t history_first_unanswered(const struct history *history);
/* Whether history_check() of all items would succeed. */
bool history_is_paired(const struct history *history);

/* Whether every call has exactly one result behind it and every result a call before it.
 * A provider checks the lists that a hook has edited; false names the id (kind internal). */
bool history_check(struct item *const *items, size_t count, struct error *error);

#endif
