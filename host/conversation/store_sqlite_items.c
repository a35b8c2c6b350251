#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "conversation/item_record.h"
#include "conversation/store_sqlite_private.h"

/* ---- writing ---- */

void store_sqlite_forget(struct store_sqlite *self)
{
    origin_unref(self->origin);
    self->origin = NULL;
}

static bool insert_response(struct store_sqlite *self, int64_t session, struct origin *origin,
                            struct error *error)
{
    struct sqlite_run run = sqlite_run_begin(&self->db, STATEMENT_INSERT_RESPONSE);
    sqlite_bind_integer(&run, session);
    sqlite_bind_string(&run, origin->provider);
    sqlite_bind_string(&run, origin->model);
    sqlite_bind_bytes(&run, origin->verbatim.data, origin->verbatim.length);
    sqlite_bind_integer(&run, (int64_t)origin->item_count);
    if (!sqlite_run_all(&run, error))
        return false;
    self->response = self->db.api->last_insert_rowid(self->db.handle);
    self->origin = origin_ref(origin);
    return true;
}

/* Items that stand together and came with one response share its row. */
static bool put_response(struct store_sqlite *self, int64_t session, struct origin *origin,
                         struct error *error)
{
    if (origin && origin == self->origin) {
        struct sqlite_run run = sqlite_run_begin(&self->db, STATEMENT_COUNT_RESPONSE);
        sqlite_bind_integer(&run, (int64_t)origin->item_count);
        sqlite_bind_integer(&run, self->response);
        return sqlite_run_all(&run, error);
    }
    store_sqlite_forget(self);
    return !origin || insert_response(self, session, origin, error);
}

static bool insert_item(struct store_sqlite *self, int64_t session, int64_t place,
                        const struct item *item, struct error *error)
{
    struct text json = TEXT_INIT, attachments = TEXT_INIT;
    item_write_json(item, &json);
    if (item->attachment_count > 0)
        attachments_write_json(item, &attachments);
    bool ok = (!json.failed && !attachments.failed) || error_memory(error);
    if (ok && put_response(self, session, item->origin, error)) {
        struct sqlite_run run = sqlite_run_begin(&self->db, STATEMENT_INSERT_ITEM);
        sqlite_bind_integer(&run, session);
        sqlite_bind_integer(&run, place);
        sqlite_bind_bytes(&run, text_cstr(&json), json.length);
        sqlite_bind_integer(&run, item->arguments_valid);
        sqlite_bind_bytes(&run, attachments.data, attachments.length);
        if (item->origin)
            sqlite_bind_integer(&run, self->response);
        ok = sqlite_run_all(&run, error);
    } else {
        ok = false;
    }
    text_release(&json);
    text_release(&attachments);
    return ok;
}

bool store_sqlite_insert(struct store_sqlite *self, int64_t number, struct item *const *items,
                         size_t count, struct error *error)
{
    struct sqlite_run run = sqlite_run_begin(&self->db, STATEMENT_NEXT_PLACE);
    sqlite_bind_integer(&run, number);
    int64_t place = sqlite_run_row(&run) ? sqlite_integer(&run, 0) : 0;
    if (!sqlite_run_end(&run, error))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!insert_item(self, number, place + (int64_t)i, items[i], error))
            return false;
    return true;
}

bool store_sqlite_insert_start(struct store_sqlite *self, int64_t number, const char *call_id,
                               struct error *error)
{
    struct sqlite_run run = sqlite_run_begin(&self->db, STATEMENT_INSERT_START);
    sqlite_bind_integer(&run, number);
    sqlite_bind_string(&run, call_id);
    return sqlite_run_all(&run, error);
}

static bool touch(struct store_sqlite *self, int64_t number, bool running, struct error *error)
{
    struct sqlite_run run = sqlite_run_begin(&self->db, STATEMENT_TOUCH);
    sqlite_bind_integer(&run, clock_date_ms());
    sqlite_bind_integer(&run, number);
    if (running)
        sqlite_bind_integer(&run, SESSION_RUNNING);
    return sqlite_run_all(&run, error);
}

static bool clear(struct store_sqlite *self, int64_t number, struct error *error)
{
    static const enum statement statements[] = {STATEMENT_CLEAR_ITEMS, STATEMENT_CLEAR_RESPONSES};
    for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++) {
        struct sqlite_run run = sqlite_run_begin(&self->db, statements[i]);
        sqlite_bind_integer(&run, number);
        if (!sqlite_run_all(&run, error))
            return false;
    }
    return true;
}

/* The changes of one transaction: `from_scratch`, then the items. */
static bool write_items(struct store *store, const char *id, bool from_scratch,
                        struct item *const *items, size_t count, struct error *error)
{
    struct store_sqlite *self = (struct store_sqlite *)store;
    int64_t number;
    if (!sqlite_db_begin(&self->db, error))
        return false;
    if (from_scratch)
        store_sqlite_forget(self);
    bool good = store_sqlite_number(self, id, &number, NULL, error) &&
                (!from_scratch || clear(self, number, error)) &&
                store_sqlite_insert(self, number, items, count, error) &&
                touch(self, number, !from_scratch, error);
    if (sqlite_db_end(&self->db, good, error))
        return true;
    store_sqlite_forget(self);
    return false;
}

bool store_sqlite_append(struct store *store, const char *id, struct item *const *items,
                         size_t count, struct error *error)
{
    return write_items(store, id, false, items, count, error);
}

bool store_sqlite_replace(struct store *store, const char *id, struct item *const *items,
                          size_t count, struct error *error)
{
    return write_items(store, id, true, items, count, error);
}

bool store_sqlite_call_started(struct store *store, const char *id, const char *call_id,
                               struct error *error)
{
    struct store_sqlite *self = (struct store_sqlite *)store;
    int64_t number;
    if (!sqlite_db_begin(&self->db, error))
        return false;
    bool good = store_sqlite_number(self, id, &number, NULL, error) &&
                store_sqlite_insert_start(self, number, call_id, error);
    return sqlite_db_end(&self->db, good, error);
}

/* ---- reading ---- */

enum item_column { PLACE, JSON, VALID, ATTACHMENTS, RESPONSE, PROVIDER, MODEL, ITEM_COUNT, VERBATIM };

struct loading {
    struct sqlite_run run;
    const char *id; /* of the session, for messages */
    struct session_items *items;
    struct origin *origin; /* of the row before */
    int64_t response;
    int64_t next_place;
};

static bool column_is_null(const struct loading *loading, enum item_column column)
{
    return loading->run.db->api->column_type(loading->run.statement, (int)column) == SQLITE_NULL;
}

static bool copy_verbatim(struct loading *loading, struct origin *origin)
{
    struct text copy = TEXT_INIT;
    size_t length;
    const char *verbatim = sqlite_text(&loading->run, VERBATIM, &length);
    if (column_is_null(loading, VERBATIM))
        return true;
    if (!verbatim)
        return false;
    text_append(&copy, verbatim, length);
    origin->verbatim.data = text_take(&copy, &origin->verbatim.length);
    return origin->verbatim.data != NULL;
}

/* The origin that the rows of one response share: NULL for an item that has none. */
static bool find_origin(struct loading *loading, struct error *error)
{
    int64_t response = column_is_null(loading, RESPONSE) ? 0 : sqlite_integer(&loading->run, RESPONSE);
    if (response == loading->response)
        return true;
    origin_unref(loading->origin);
    loading->origin = NULL;
    loading->response = response;
    if (response == 0 || column_is_null(loading, PROVIDER) || column_is_null(loading, MODEL))
        return true;
    const char *provider = sqlite_text(&loading->run, PROVIDER, NULL);
    const char *model = sqlite_text(&loading->run, MODEL, NULL);
    struct origin *origin = provider && model ? origin_new(provider, model) : NULL;
    if (!origin || !copy_verbatim(loading, origin)) {
        origin_unref(origin);
        return error_memory(error);
    }
    origin->item_count = (size_t)sqlite_integer(&loading->run, ITEM_COUNT);
    loading->origin = origin;
    return true;
}

/* NULL: it cannot be read, or (kind internal) there is no memory. */
static struct item *read_row(struct loading *loading, struct error *error)
{
    size_t length, attachments_length;
    const char *json = sqlite_text(&loading->run, JSON, &length);
    if (!json) {
        if (column_is_null(loading, JSON))
            error_set(error, ERROR_BAD_REQUEST, "it is empty");
        else
            error_memory(error);
        return NULL;
    }
    struct item *item = item_from_json(json, length, error);
    const char *attachments = sqlite_text(&loading->run, ATTACHMENTS, &attachments_length);
    if (item && attachments &&
        !attachments_read_json(item, attachments, attachments_length, error)) {
        item_unref(item);
        return NULL;
    }
    if (item)
        item->arguments_valid = sqlite_integer(&loading->run, VALID) != 0;
    return item;
}

static void skip(struct loading *loading, int64_t place, const char *why)
{
    log_warning("session '%s': item %lld is left out: %s", loading->id, (long long)place, why);
    loading->items->skipped++;
}

static bool take_row(struct loading *loading, struct error *error)
{
    struct error problem;
    int64_t place = sqlite_integer(&loading->run, PLACE);
    for (; loading->next_place < place; loading->next_place++)
        skip(loading, loading->next_place, "it is not there");
    loading->next_place = place + 1;
    if (!find_origin(loading, error))
        return false;
    struct item *item = read_row(loading, &problem);
    if (item) {
        item->origin = origin_ref(loading->origin);
        return session_items_add(loading->items, item, error);
    }
    if (problem.kind == ERROR_INTERNAL) {
        *error = problem;
        return false;
    }
    skip(loading, place, problem.message);
    return true;
}

static bool load_items(struct store_sqlite *self, const char *id, int64_t number,
                       struct session_items *items, struct error *error)
{
    struct loading loading = {
        .run = sqlite_run_begin(&self->db, STATEMENT_LOAD_ITEMS), .id = id, .items = items};
    bool ok = true;
    sqlite_bind_integer(&loading.run, number);
    while (ok && sqlite_run_row(&loading.run))
        ok = take_row(&loading, error);
    origin_unref(loading.origin);
    return sqlite_run_end(&loading.run, ok ? error : NULL) && ok;
}

static bool load_starts(struct store_sqlite *self, int64_t number, struct session_items *items,
                        struct error *error)
{
    struct sqlite_run run = sqlite_run_begin(&self->db, STATEMENT_LOAD_STARTS);
    bool ok = true;
    sqlite_bind_integer(&run, number);
    while (ok && sqlite_run_row(&run)) {
        const char *call_id = sqlite_text(&run, 0, NULL);
        ok = call_id ? session_items_add_started(items, call_id, error) : error_memory(error);
    }
    return sqlite_run_end(&run, ok ? error : NULL) && ok;
}

bool store_sqlite_load(struct store *store, const char *id, struct session_items *items,
                       struct error *error)
{
    struct store_sqlite *self = (struct store_sqlite *)store;
    int64_t number;
    *items = (struct session_items){0};
    if (store_sqlite_number(self, id, &number, NULL, error) &&
        load_items(self, id, number, items, error) && load_starts(self, number, items, error) &&
        session_items_settle(items, error)) {
        if (items->skipped > 0)
            log_warning("session '%s': %zu item%s could not be used", id, items->skipped,
                        items->skipped == 1 ? "" : "s");
        return true;
    }
    session_items_release(items);
    return false;
}
