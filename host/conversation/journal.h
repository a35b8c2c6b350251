/*
 * journal - where a conversation is written down before anything acts on it.
 *
 * The turn loop calls these on its own thread and goes on only when they return true: an item
 * is on disk before it is used, a call's start before its tool is entered, a result before
 * the next request (D25).  An error ends the run.  store.c writes sessions; tests write lists.
 */
#ifndef CONVERSATION_JOURNAL_H
#define CONVERSATION_JOURNAL_H

#include "conversation/item.h"

struct journal {
    /* The next item of history.  The items of one response come one behind the other, with the
     * final item_count of their origin; they are on disk when the last of them was taken. */
    bool (*append)(void *self, const struct item *item, struct error *error);
    /* The tool of this stored call is about to be entered. */
    bool (*call_started)(void *self, const char *call_id, struct error *error);
    /* History was set anew by hand: these are all items from now on. */
    bool (*replace)(void *self, struct item *const *items, size_t count, struct error *error);
    void *self;
};

#endif
