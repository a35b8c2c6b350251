#include "conversation/store.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/utf8.h"
#include "conversation/history.h"
#include "conversation/repair.h"

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

/* Of calls that were started, those that are still open. */
static bool drop_answered(struct session_items *items)
{
    struct history history;
    size_t kept = 0;
    bool ok = true;
    history_init(&history);
    for (size_t i = 0; ok && i < items->count; i++)
        ok = history_append(&history, item_ref(items->items[i]), NULL);
    for (size_t i = 0; i < items->started_count; i++) {
        char *id = items->started[i];
        if (history_has_call(&history, id) && !history_is_answered(&history, id))
            items->started[kept++] = id;
        else
            free(id);
    }
    items->started_count = kept;
    history_release(&history);
    return ok;
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
    struct item_run run = {items->items, items->count, items->capacity};
    size_t dropped;
    bool ok = items_repair(&run, &dropped, error);
    items->items = run.items;
    items->count = run.count;
    items->capacity = run.capacity;
    items->skipped += dropped;
    if (!ok)
        return false;
    check_origins(items);
    return !items->started_count || drop_answered(items) || error_memory(error);
}
