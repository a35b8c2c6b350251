#include "conversation/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

struct history_ids {
    const char *call_id; /* of the item, which lives as long as the history */
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

static bool remember_call(struct history *history, const struct item *item)
{
    if (item->kind != ITEM_CALL || history_has_call(history, item->call_id))
        return true;
    struct history_ids *entry = calloc(1, sizeof(*entry));
    if (!entry)
        return false;
    entry->call_id = item->call_id;
    HASH_ADD_KEYPTR(hh, history->ids, entry->call_id, strlen(entry->call_id), entry);
    if (!hash_added(entry)) {
        free(entry);
        return false;
    }
    return true;
}

bool history_append(struct history *history, struct item *item, struct error *error)
{
    if (!item)
        return error_memory(error);
    if (!array_reserve(history, 1) || !remember_call(history, item)) {
        item_unref(item);
        return error_memory(error);
    }
    history->items[history->count++] = item;
    return true;
}

bool history_has_call(const struct history *history, const char *call_id)
{
    struct history_ids *entry;
    HASH_FIND(hh, history->ids, call_id, strlen(call_id), entry);
    return entry != NULL;
}

/* Results stand close behind their calls, so looking ahead is short. */
static bool is_answered(const struct history *history, size_t call)
{
    const char *id = history->items[call]->call_id;
    for (size_t i = call + 1; i < history->count; i++) {
        const struct item *item = history->items[i];
        if (item->kind == ITEM_OUTPUT && !strcmp(item->call_id, id))
            return true;
    }
    return false;
}

size_t history_first_unanswered(const struct history *history)
{
    for (size_t i = 0; i < history->count; i++)
        if (history->items[i]->kind == ITEM_CALL && !is_answered(history, i))
            return i;
    return history->count;
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
