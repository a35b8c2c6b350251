/*
 * repair - a list of items that may have been damaged, as history can hold it: every result stands
 * behind its call, no call has two, and a call whose result was lost has one that says so
 * (FAULTS 119, 120).
 *
 * Calls that nothing was built on yet stay open: they are run, or answered, before the next
 * request (D6, D25).  A call is lost when the conversation went on behind it.
 */
#ifndef CONVERSATION_REPAIR_H
#define CONVERSATION_REPAIR_H

#include "conversation/item.h"

/* Owns its references; `items` is malloc'ed. */
struct item_run {
    struct item **items;
    size_t count, capacity;
};

/* Each change is a line of the log; *dropped is how many items are gone.  What needs no repair
 * is left as it is.  False: no memory, and the list may be half repaired. */
bool items_repair(struct item_run *run, size_t *dropped, struct error *error);

#endif
