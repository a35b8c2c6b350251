#include <string.h>

#include "base/json_write.h"
#include "conversation/item_line.h"
#include "conversation/store_transfer.h"

static void write_header(const struct session *session, struct text *line)
{
    text_putc(line, '{');
    json_put_integer(line, "mortise_session", 1);
    json_put_string(line, "id", session->id);
    json_put_integer(line, "created_ms", session->created_ms);
    json_put_integer(line, "updated_ms", session->updated_ms);
    json_put_string(line, "title", session->title);
    json_put_string(line, "model", session->model);
    json_put_string(line, "cwd", session->cwd);
    if (session->system)
        json_put_string(line, "system", session->system);
    json_put_string(line, "state", session_state_name(session->state));
    text_puts(line, "}\n");
}

static bool is_started(const struct session_items *items, const struct item *call)
{
    for (size_t i = 0; i < items->started_count; i++)
        if (strcmp(items->started[i], call->call_id) == 0)
            return true;
    return false;
}

static void write_item(const struct session_items *items, size_t index, struct text *line)
{
    const struct item *item = items->items[index];
    item_line_write(item, index > 0 ? items->items[index - 1] : NULL,
                    item->kind == ITEM_CALL && is_started(items, item), line);
    text_putc(line, '\n');
}

bool session_export(struct store *store, const char *id,
                    void (*write)(void *data, const char *line, size_t length), void *data,
                    size_t *skipped, struct error *error)
{
    struct session session;
    struct session_items items;
    struct text line = TEXT_INIT;
    if (!store->ops->find(store, id, &session, error))
        return false;
    bool ok = store->ops->load(store, session.id, &items, error);
    *skipped = ok ? items.skipped : 0;
    if (ok)
        write_header(&session, &line);
    for (size_t i = 0; ok && i <= items.count; i++) {
        ok = !line.failed || error_memory(error);
        if (ok)
            write(data, line.data, line.length);
        text_reset(&line);
        if (ok && i < items.count)
            write_item(&items, i, &line);
    }
    text_release(&line);
    session_items_release(&items);
    session_release(&session);
    return ok;
}
