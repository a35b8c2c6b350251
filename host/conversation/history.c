#include "conversation/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

struct history_ids {
    const char *call_id; /* of the item, which lives as long as the history */
    bool answered;
    UT_hash_handle hh;
};

void history_init(struct history *history)
{
    *history = (struct history){0};
}

void history_release(struct history *history)
{
    struct history_ids *entry, *next;
    HASH_ITER(hh, history->ids, entry, next)
    {
        HASH_DEL(history->ids, entry);
        free(entry);
    }
    for (size_t i = 0; i < history->count; i++)
        item_unref(history->items[i]);
    free(history->items);
    history_init(history);
}

/* ---- calls and their results ---- */

static struct history_ids *find(const struct history *history, const char *call_id)
{
    struct history_ids *entry;
    HASH_FIND(hh, history->ids, call_id, strlen(call_id), entry);
    return entry;
}

/* Makes room for a new call id; NULL when there is no memory. */
static struct history_ids *remember(struct history *history, const char *call_id)
{
    struct history_ids *entry = calloc(1, sizeof(*entry));
    if (!entry)
        return NULL;
    entry->call_id = call_id;
    entry->answered = true; /* until the call has entered */
    HASH_ADD_KEYPTR(hh, history->ids, entry->call_id, strlen(entry->call_id), entry);
    if (hash_added(entry))
        return entry;
    free(entry);
    return NULL;
}

static void forget(struct history *history, struct history_ids *entry)
{
    HASH_DEL(history->ids, entry);
    free(entry);
}

static bool is_open_at(const struct history *history, size_t index)
{
    const struct item *item = history->items[index];
    return item->kind == ITEM_CALL && !find(history, item->call_id)->answered;
}

static void count_pair(struct history *history, const struct item *item, bool is_new)
{
    struct history_ids *entry =
        item->kind == ITEM_CALL || item->kind == ITEM_OUTPUT ? find(history, item->call_id) : NULL;
    if (item->kind == ITEM_CALL) {
        history->unpaired |= !is_new;
        history->open_count += entry->answered;
        entry->answered = false;
    } else if (item->kind == ITEM_OUTPUT) {
        history->unpaired |= !entry || entry->answered;
        if (entry && !entry->answered)
            history->open_count--;
        if (entry)
            entry->answered = true;
    }
    while (history->first_open < history->count && !is_open_at(history, history->first_open))
        history->first_open++;
}

static bool write_down(const struct history *history, const struct item *item, struct error *error)
{
    const struct journal *journal = history->journal;
    return !journal || journal->append(journal->self, item, error);
}

bool history_append(struct history *history, struct item *item, struct error *error)
{
    if (!item)
        return error_memory(error);
    bool is_new = item->kind == ITEM_CALL && !find(history, item->call_id);
    struct history_ids *entry = NULL;
    if (!array_reserve(history, 1) || (is_new && !(entry = remember(history, item->call_id)))) {
        item_unref(item);
        return error_memory(error);
    }
    if (!write_down(history, item, error)) {
        if (entry)
            forget(history, entry);
        item_unref(item);
        return false;
    }
    history->items[history->count++] = item;
    count_pair(history, item, is_new);
    return true;
}

bool history_replace_results(struct history *history, struct item *const *results,
                             struct error *error)
{
    const struct journal *journal = history->journal;
    struct item **items = calloc(history->count + 1, sizeof(*items));
    if (!items)
        return error_memory(error);
    for (size_t i = 0; i < history->count; i++)
        items[i] = results[i] ? results[i] : history->items[i];
    bool ok = !journal || journal->replace(journal->self, items, history->count, error);
    for (size_t i = 0; ok && i < history->count; i++) {
        if (!results[i])
            continue;
        item_unref(history->items[i]);
        history->items[i] = item_ref(results[i]);
    }
    free(items);
    return ok;
}

bool history_has_call(const struct history *history, const char *call_id)
{
    return find(history, call_id) != NULL;
}

bool history_is_answered(const struct history *history, const char *call_id)
{
    const struct history_ids *entry = find(history, call_id);
    return entry && entry->answered;
}

size_t history_first_unanswered(const struct history *history)
{
    return history->first_open;
}

bool history_is_paired(const struct history *history)
{
    return !history->unpaired && history->open_count == 0;
}

/* ---- the check ---- */

struct pairing {
    const struct item *call;
    bool answered;
    UT_hash_handle hh;
};

static bool take_call(struct pairing **open, struct pairing *entry, const struct item *call,
                      struct error *error)
{
    const char *id = call->call_id;
    struct pairing *known;
    HASH_FIND(hh, *open, id, strlen(id), known);
    if (known)
        return error_set(error, ERROR_INTERNAL, "call id '%s' is used by two calls", id);
    entry->call = call;
    HASH_ADD_KEYPTR(hh, *open, id, strlen(id), entry);
    return hash_added(entry) || error_memory(error);
}

static bool take_output(struct pairing *open, const struct item *output, struct error *error)
{
    const char *id = output->call_id;
    struct pairing *known;
    HASH_FIND(hh, open, id, strlen(id), known);
    if (!known)
        return error_set(error, ERROR_INTERNAL, "result '%s' has no call before it", id);
    if (known->answered)
        return error_set(error, ERROR_INTERNAL, "call '%s' has two results", id);
    known->answered = true;
    return true;
}

/* `entries` has room for every call among the items. */
static bool check_pairs(struct pairing **open, struct pairing *entries, struct item *const *items,
                        size_t count, struct error *error)
{
    size_t calls = 0;
    for (size_t i = 0; i < count; i++) {
        if (items[i]->kind == ITEM_CALL && !take_call(open, &entries[calls++], items[i], error))
            return false;
        if (items[i]->kind == ITEM_OUTPUT && !take_output(*open, items[i], error))
            return false;
    }
    for (size_t i = 0; i < calls; i++)
        if (!entries[i].answered)
            return error_set(error, ERROR_INTERNAL, "call '%s' has no result",
                             entries[i].call->call_id);
    return true;
}

bool history_check(struct item *const *items, size_t count, struct error *error)
{
    size_t calls = 0;
    for (size_t i = 0; i < count; i++)
        calls += items[i]->kind == ITEM_CALL;
    struct pairing *entries = calloc(calls + 1, sizeof(*entries)); /* calloc(0) may be NULL */
    if (!entries)
        return error_memory(error);
    struct pairing *open = NULL;
    bool whole = check_pairs(&open, entries, items, count, error);
    HASH_CLEAR(hh, open);
    free(entries);
    return whole;
}
