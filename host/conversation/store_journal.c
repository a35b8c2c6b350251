#include "conversation/store_journal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static void drop_pending(struct store_journal *journal)
{
    for (size_t i = 0; i < journal->pending_count; i++)
        item_unref(journal->pending[i]);
    journal->pending_count = 0;
}

/* ---- the session itself ---- */

static bool set_title(struct store_journal *journal, struct item *const *items, size_t count,
                      bool *titled, struct error *error)
{
    *titled = false;
    for (size_t i = 0; i < count && !*titled; i++) {
        if (items[i]->kind != ITEM_MESSAGE || items[i]->role != ROLE_USER)
            continue;
        char *title = session_title(items[i]);
        if (!title)
            return error_memory(error);
        free(journal->session.title);
        journal->session.title = title;
        *titled = true;
    }
    return true;
}

static bool is_untitled(const struct store_journal *journal)
{
    return !journal->session.title || !*journal->session.title;
}

/* Acquired right behind its birth: nobody else knows the id of a new one, and one that a user
 * named is refused by whichever of two comes second. */
static bool create(struct store_journal *journal, struct item *const *items, size_t count,
                   struct error *error)
{
    struct store *store = journal->store;
    struct session *session = &journal->session;
    bool titled;
    session->state = SESSION_RUNNING;
    if (!set_title(journal, items, count, &titled, error) ||
        !store->ops->create(store, session, items, count, NULL, 0, error) ||
        !store->ops->acquire(store, session->id, error) ||
        !store->ops->set_state(store, session->id, SESSION_RUNNING, error))
        return false;
    journal->exists = true;
    return true;
}

static bool write_items(struct store_journal *journal, struct item *const *items, size_t count,
                        struct error *error)
{
    struct store *store = journal->store;
    bool titled = false;
    if (!journal->exists)
        return create(journal, items, count, error);
    if (is_untitled(journal) && !set_title(journal, items, count, &titled, error))
        return false;
    return store->ops->append(store, journal->session.id, items, count, error) &&
           (!titled || store->ops->update(store, journal->session.id, journal->session.title, NULL,
                                          NULL, error));
}

/* ---- the journal ---- */

/* What could not be written stays: it is in history, and comes first when the next item does. */
static bool flush(struct store_journal *journal, struct error *error)
{
    if (journal->pending_count == 0)
        return true;
    if (!write_items(journal, journal->pending, journal->pending_count, error))
        return false;
    drop_pending(journal);
    return true;
}

static bool keep(struct store_journal *journal, const struct item *item, struct error *error)
{
    if (!array_grow(&journal->pending, &journal->pending_capacity, journal->pending_count, 1,
                    sizeof(struct item *)))
        return error_memory(error);
    journal->pending[journal->pending_count++] = item_ref((struct item *)(uintptr_t)item);
    return true;
}

/* A response is written when its last item has come: half of one is not what the model said. */
static bool is_last_of_response(struct store_journal *journal, const struct item *item)
{
    if (item->origin != journal->origin) {
        origin_unref(journal->origin);
        journal->origin = origin_ref(item->origin);
        journal->origin_items = 0;
    }
    journal->origin_items++;
    return !item->origin || journal->origin_items >= item->origin->item_count;
}

static bool append(void *self, const struct item *item, struct error *error)
{
    struct store_journal *journal = self;
    if (journal->pending_count > 0 && journal->pending[0]->origin != item->origin &&
        !flush(journal, error))
        return false;
    if (!keep(journal, item, error))
        return false;
    if (!is_last_of_response(journal, item) || flush(journal, error))
        return true;
    item_unref(journal->pending[--journal->pending_count]); /* it does not enter history */
    journal->origin_items--;
    return false;
}

static bool call_started(void *self, const char *call_id, struct error *error)
{
    struct store_journal *journal = self;
    if (!flush(journal, error))
        return false;
    return !journal->exists || journal->store->ops->call_started(journal->store, journal->session.id,
                                                                 call_id, error);
}

static bool replace(void *self, struct item *const *items, size_t count, struct error *error)
{
    struct store_journal *journal = self;
    drop_pending(journal);
    if (!journal->exists)
        return count == 0 || create(journal, items, count, error);
    return journal->store->ops->replace(journal->store, journal->session.id, items, count, error);
}

void store_journal_init(struct store_journal *journal, struct store *store,
                        const struct session *session, bool exists)
{
    *journal = (struct store_journal){
        .journal = {.append = append, .call_started = call_started, .replace = replace,
                    .self = journal},
        .store = store,
        .session = *session,
        .exists = exists,
    };
}

void store_journal_release(struct store_journal *journal)
{
    drop_pending(journal);
    free(journal->pending);
    origin_unref(journal->origin);
    if (journal->exists)
        journal->store->ops->release(journal->store);
    session_release(&journal->session);
    *journal = (struct store_journal){0};
}

bool store_journal_set_state(struct store_journal *journal, enum session_state state,
                             struct error *error)
{
    if (!journal->store || !flush(journal, error))
        return false;
    return !journal->exists || journal->store->ops->set_state(journal->store, journal->session.id,
                                                              state, error);
}
