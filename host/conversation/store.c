#include "conversation/store.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/utf8.h"

enum { TITLE_BYTES = 60, MAX_ID_BYTES = 64 };

const char *session_state_name(enum session_state state)
{
    static const char *const names[] = {
#define X(name, text) [SESSION_##name] = text,
        SESSION_STATES(X)
#undef X
    };
    return names[state];
}

void session_release(struct session *session)
{
    free(session->id);
    free(session->title);
    free(session->model);
    free(session->cwd);
    free(session->system);
    *session = (struct session){0};
}

void session_items_release(struct session_items *items)
{
    for (size_t i = 0; i < items->count; i++)
        item_unref(items->items[i]);
    for (size_t i = 0; i < items->started_count; i++)
        free(items->started[i]);
    free(items->items);
    free(items->started);
    *items = (struct session_items){0};
}

void store_close(struct store *store)
{
    if (store)
        store->ops->close(store);
}

bool session_id_is_good(const char *id)
{
    size_t length = strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");
    return length > 0 && length <= MAX_ID_BYTES && id[length] == '\0' && id[0] != '-';
}

/* ---- titles ---- */

/* Blanks become one space each run of them; a word that does not fit ends it. */
char *session_title(const struct item *prompt)
{
    struct text text = TEXT_INIT, title = TEXT_INIT;
    item_append_text(prompt, &text);
    size_t fits = 0; /* up to the last word that is whole */
    for (size_t i = 0; i < text.length && title.length <= TITLE_BYTES; i++) {
        bool blank = isspace((unsigned char)text.data[i]);
        if (blank && title.length > 0 && title.data[title.length - 1] != ' ') {
            fits = title.length;
            text_putc(&title, ' ');
        } else if (!blank) {
            text_putc(&title, text.data[i]);
        }
    }
    if (title.length > TITLE_BYTES)
        title.length = fits ? fits : utf8_cut(title.data, title.length, TITLE_BYTES);
    while (title.length > 0 && title.data[title.length - 1] == ' ')
        title.length--;
    text_putc(&title, '\0');
    bool failed = text.failed;
    text_release(&text);
    char *made = text_take(&title, NULL);
    if (failed) {
        free(made);
        return NULL;
    }
    return made;
}

/* ---- items ---- */

bool session_items_add(struct session_items *items, struct item *item, struct error *error)
{
    if (!item || !array_reserve(items, 1)) {
        item_unref(item);
        return error_memory(error);
    }
    items->items[items->count++] = item;
    return true;
}

bool session_items_add_started(struct session_items *items, const char *call_id,
                               struct error *error)
{
    char **grown = realloc(items->started, (items->started_count + 1) * sizeof(*grown));
    char *copy = grown ? strdup(call_id) : NULL;
    if (grown)
        items->started = grown;
    if (!copy)
        return error_memory(error);
    items->started[items->started_count++] = copy;
    return true;
}

struct seen_call {
    const char *id;
    bool answered;
    UT_hash_handle hh;
};

static bool see_call(struct seen_call **seen, const struct item *call, bool *keep)
{
    struct seen_call *known;
    HASH_FIND(hh, *seen, call->call_id, strlen(call->call_id), known);
    *keep = !known;
    if (known)
        return true;
    struct seen_call *entry = calloc(1, sizeof(*entry));
    if (!entry)
        return false;
    entry->id = call->call_id;
    HASH_ADD_KEYPTR(hh, *seen, entry->id, strlen(entry->id), entry);
    if (hash_added(entry))
        return true;
    free(entry);
    return false;
}

static bool see_result(struct seen_call *seen, const struct item *result)
{
    struct seen_call *known;
    HASH_FIND(hh, seen, result->call_id, strlen(result->call_id), known);
    bool keep = known && !known->answered;
    if (keep)
        known->answered = true;
    return keep;
}

static bool drop_strays(struct session_items *items, struct seen_call **seen)
{
    size_t kept = 0;
    bool ok = true;
    for (size_t i = 0; i < items->count; i++) {
        struct item *item = items->items[i];
        bool keep = true;
        if (ok && item->kind == ITEM_CALL)
            ok = see_call(seen, item, &keep);
        else if (ok && item->kind == ITEM_OUTPUT)
            keep = see_result(*seen, item);
        if (keep) {
            items->items[kept++] = item;
            continue;
        }
        log_warning("stored %s '%s' is left out: %s",
                    item->kind == ITEM_CALL ? "call" : "result", item->call_id,
                    item->kind == ITEM_CALL ? "there is another one" : "its call is not there");
        item_unref(item);
        items->skipped++;
    }
    items->count = kept;
    return ok;
}

static void drop_answered(struct session_items *items, struct seen_call *seen)
{
    size_t kept = 0;
    for (size_t i = 0; i < items->started_count; i++) {
        struct seen_call *known;
        HASH_FIND(hh, seen, items->started[i], strlen(items->started[i]), known);
        if (known && !known->answered)
            items->started[kept++] = items->started[i];
        else
            free(items->started[i]);
    }
    items->started_count = kept;
}

/* A response that lost an item goes back in the neutral form: its own one would show what is
 * not there any more, such as a call without a result. */
static void check_origins(struct session_items *items)
{
    for (size_t i = 0; i < items->count;) {
        struct origin *origin = items->items[i]->origin;
        size_t end = i + 1;
        while (end < items->count && items->items[end]->origin == origin)
            end++;
        if (origin && origin->item_count != end - i && origin->verbatim.data) {
            free(origin->verbatim.data);
            origin->verbatim = (struct bytes){0};
        }
        i = end;
    }
}

bool session_items_settle(struct session_items *items, struct error *error)
{
    struct seen_call *seen = NULL, *entry, *next;
    bool ok = drop_strays(items, &seen);
    if (ok) {
        drop_answered(items, seen);
        check_origins(items);
    }
    HASH_ITER(hh, seen, entry, next)
    {
        HASH_DEL(seen, entry);
        free(entry);
    }
    return ok || error_memory(error);
}
