/*
 * store_journal - the journal of one session in a store.
 *
 * The session is created, and acquired, with its first item, unless it was there before.
 */
#ifndef CONVERSATION_STORE_JOURNAL_H
#define CONVERSATION_STORE_JOURNAL_H

#include "conversation/journal.h"
#include "conversation/store.h"

struct store_journal {
    struct journal journal; /* for worker_options; set by store_journal_init() */
    struct store *store;    /* borrowed */
    struct session session; /* owned */
    bool exists;            /* it is in the store, and acquired */
    struct item **pending;  /* of a response that is not whole yet */
    size_t pending_count, pending_capacity;
    struct origin *origin;  /* of the response that comes, and how many items came of it */
    size_t origin_items;
};

/* Takes over the session's members.  `exists`: the caller has acquired it. */
void store_journal_init(struct store_journal *journal, struct store *store,
                        const struct session *session, bool exists);
/* Gives the session back. */
void store_journal_release(struct store_journal *journal);

/* How the run goes or went; before there is a session it does nothing. */
bool store_journal_set_state(struct store_journal *journal, enum session_state state,
                             struct error *error);

#endif
