#include "conversation/store_sqlite.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "conversation/sqlite_file.h"
#include "conversation/store_sqlite_private.h"

/* AUTOINCREMENT: a number is a lock's place, so it is never used again. */
static const char schema[] =
    "CREATE TABLE sessions ("
    " number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL,"
    " model TEXT NOT NULL, cwd TEXT NOT NULL, system TEXT, state INTEGER NOT NULL,"
    " owner INTEGER NOT NULL DEFAULT 0, created INTEGER NOT NULL, updated INTEGER NOT NULL);"
    "CREATE INDEX sessions_by_time ON sessions (updated);"
    "CREATE TABLE responses ("
    " number INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,"
    " provider TEXT NOT NULL, model TEXT NOT NULL, item_count INTEGER NOT NULL, verbatim TEXT);"
    "CREATE INDEX responses_by_session ON responses (session);"
    "CREATE TABLE items ("
    " session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE, place INTEGER NOT NULL,"
    " json TEXT NOT NULL, valid INTEGER NOT NULL, attachments TEXT, response INTEGER,"
    " PRIMARY KEY (session, place));"
    "CREATE TABLE starts ("
    " session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE, call_id TEXT NOT NULL,"
    " PRIMARY KEY (session, call_id)) WITHOUT ROWID;"
    "PRAGMA user_version = 1;";

static const char *const statements[STATEMENT_COUNT] = {
#define X(name, sql) [STATEMENT_##name] = sql,
    STATEMENTS(X)
#undef X
};

static const struct sqlite_kind kind = {.what = "session store",
                                        .schema = schema,
                                        .version = STORE_SQLITE_VERSION,
                                        .sql = statements,
                                        .statement_count = STATEMENT_COUNT};

static struct store_sqlite *self_of(struct store *store)
{
    return (struct store_sqlite *)store;
}

/* ---- opening ---- */

static void close_store(struct store *store)
{
    struct store_sqlite *self = self_of(store);
    store_lock_drop(&self->lock);
    store_sqlite_forget(self);
    sqlite_db_close(&self->db);
    free(self->lock_path);
    free(self);
}

/* ---- sessions ---- */

static bool no_session(const char *id, struct error *error)
{
    return error_set(error, ERROR_USAGE, "session '%s' not found; `mortise sessions` lists them", id);
}

bool store_sqlite_number(struct store_sqlite *self, const char *id, int64_t *number,
                         int64_t *owner, struct error *error)
{
    struct sqlite_run run = sqlite_run_begin(&self->db, STATEMENT_NUMBER_OF);
    sqlite_bind_string(&run, id);
    bool found = sqlite_run_row(&run);
    if (found) {
        *number = sqlite_integer(&run, 0);
        if (owner)
            *owner = sqlite_integer(&run, 1);
    }
    return sqlite_run_end(&run, error) && (found || no_session(id, error));
}

/* ID is a column's place in SESSION_COLUMNS. */
enum session_column { NUMBER, ID, TITLE, MODEL, CWD, SYSTEM, STATE, CREATED, UPDATED, OWNER, ITEMS };

static char *copy_column(const struct sqlite_run *run, enum session_column column)
{
    const char *text = sqlite_text(run, (int)column, NULL);
    return text ? strdup(text) : NULL;
}

static bool is_running(const struct store_sqlite *self, const struct sqlite_run *run)
{
    return sqlite_integer(run, STATE) == SESSION_RUNNING &&
           store_lock_is_held(self->lock_path, sqlite_integer(run, NUMBER));
}

static bool read_session(struct store_sqlite *self, const struct sqlite_run *run,
                         struct session *session, struct error *error)
{
    int64_t state = sqlite_integer(run, STATE);
    *session = (struct session){
        .id = copy_column(run, ID),
        .title = copy_column(run, TITLE),
        .model = copy_column(run, MODEL),
        .cwd = copy_column(run, CWD),
        .system = copy_column(run, SYSTEM),
        .state = state < 0 || state > SESSION_INTERRUPTED ? SESSION_INTERRUPTED
                                                          : (enum session_state)state,
        .created_ms = sqlite_integer(run, CREATED),
        .updated_ms = sqlite_integer(run, UPDATED),
        .item_count = (size_t)sqlite_integer(run, ITEMS),
    };
    session->crashed = session->state == SESSION_RUNNING && !is_running(self, run);
    if (session->crashed)
        session->state = SESSION_INTERRUPTED;
    bool has_system = self->db.api->column_type(run->statement, SYSTEM) != SQLITE_NULL;
    if (session->id && session->title && session->model && session->cwd &&
        (session->system || !has_system))
        return true;
    session_release(session);
    return error_memory(error);
}

/* *count is how many rows there were, up to two; the first is read. */
static bool find_with(struct store_sqlite *self, enum statement statement, const char *id,
                      struct session *session, int *count, struct error *error)
{
    struct sqlite_run run = sqlite_run_begin(&self->db, statement);
    bool ok = true;
    sqlite_bind_string(&run, id);
    for (*count = 0; ok && sqlite_run_row(&run); ++*count)
        if (*count == 0)
            ok = read_session(self, &run, session, error);
    bool ended = sqlite_run_end(&run, ok ? error : NULL);
    if (ok && !ended && *count > 0)
        session_release(session);
    return ok && ended;
}

static bool find(struct store *store, const char *id, struct session *session, struct error *error)
{
    struct store_sqlite *self = self_of(store);
    int count;
    *session = (struct session){0};
    if (!find_with(self, STATEMENT_FIND_SESSION, id, session, &count, error))
        return false;
    if (count == 0 && *id && !find_with(self, STATEMENT_FIND_BEGINNING, id, session, &count, error))
        return false;
    if (count == 1)
        return true;
    session_release(session);
    return count == 0 ? no_session(id, error)
                      : error_set(error, ERROR_USAGE,
                                  "more than one session begins with '%s'; give more of its id", id);
}

static bool latest(struct store *store, const char *cwd, bool open, struct session *session,
                   bool *found, struct error *error)
{
    struct store_sqlite *self = self_of(store);
    struct sqlite_run run = sqlite_run_begin(&self->db, STATEMENT_LATEST_SESSIONS);
    bool ok = true;
    *found = false;
    sqlite_bind_string(&run, cwd);
    sqlite_bind_integer(&run, open);
    while (ok && !*found && sqlite_run_row(&run)) {
        if (open && is_running(self, &run))
            continue;
        ok = read_session(self, &run, session, error);
        *found = ok;
    }
    bool ended = sqlite_run_end(&run, ok ? error : NULL);
    if (*found && !ended)
        session_release(session);
    *found = *found && ended;
    return ok && ended;
}

static bool list(struct store *store, bool (*each)(void *data, const struct session *session),
                 void *data, struct error *error)
{
    struct store_sqlite *self = self_of(store);
    struct sqlite_run run = sqlite_run_begin(&self->db, STATEMENT_LATEST_SESSIONS);
    bool ok = true, more = true;
    sqlite_bind_string(&run, NULL);
    sqlite_bind_integer(&run, 0);
    while (ok && more && sqlite_run_row(&run)) {
        struct session session;
        ok = read_session(self, &run, &session, error);
        more = ok && each(data, &session);
        if (ok)
            session_release(&session);
    }
    return sqlite_run_end(&run, ok ? error : NULL) && ok;
}

static bool insert_session(struct store_sqlite *self, const struct session *session, int64_t *number,
                           struct error *error)
{
    struct sqlite_run run = sqlite_run_begin(&self->db, STATEMENT_INSERT_SESSION);
    int64_t now = clock_date_ms();
    sqlite_bind_string(&run, session->id);
    sqlite_bind_string(&run, session->title ? session->title : "");
    sqlite_bind_string(&run, session->model ? session->model : "");
    sqlite_bind_string(&run, session->cwd ? session->cwd : "");
    sqlite_bind_string(&run, session->system);
    sqlite_bind_integer(&run, session->state);
    sqlite_bind_integer(&run, session->created_ms ? session->created_ms : now);
    sqlite_bind_integer(&run, session->updated_ms ? session->updated_ms : now);
    while (sqlite_run_row(&run))
        ;
    bool exists = run.code == SQLITE_CONSTRAINT_UNIQUE;
    if (!sqlite_run_end(&run, error))
        return exists ? error_set(error, ERROR_USAGE, "session '%s' is there already", session->id)
                      : false;
    *number = self->db.api->last_insert_rowid(self->db.handle);
    return true;
}

static bool create(struct store *store, const struct session *session, struct item *const *items,
                   size_t count, const char *const *started, size_t started_count,
                   struct error *error)
{
    struct store_sqlite *self = self_of(store);
    int64_t number = 0;
    store_sqlite_forget(self);
    if (!sqlite_db_begin(&self->db, error))
        return false;
    bool good = insert_session(self, session, &number, error) &&
                store_sqlite_insert(self, number, items, count, error);
    for (size_t i = 0; good && i < started_count; i++)
        good = store_sqlite_insert_start(self, number, started[i], error);
    if (sqlite_db_end(&self->db, good, error))
        return true;
    store_sqlite_forget(self);
    return false;
}

/* One change of a row that has to be there. */
static bool change(struct store_sqlite *self, struct sqlite_run *run, const char *id,
                   struct error *error)
{
    return sqlite_run_all(run, error) &&
           (self->db.api->changes(self->db.handle) > 0 || no_session(id, error));
}

static bool update(struct store *store, const char *id, const char *title, const char *model,
                   const char *system, struct error *error)
{
    struct store_sqlite *self = self_of(store);
    struct sqlite_run run = sqlite_run_begin(&self->db, STATEMENT_UPDATE);
    sqlite_bind_string(&run, title);
    sqlite_bind_string(&run, model);
    sqlite_bind_string(&run, system);
    sqlite_bind_string(&run, id);
    return change(self, &run, id, error);
}

static bool set_state(struct store *store, const char *id, enum session_state state,
                      struct error *error)
{
    struct store_sqlite *self = self_of(store);
    struct sqlite_run run = sqlite_run_begin(&self->db, STATEMENT_SET_STATE);
    sqlite_bind_integer(&run, state);
    sqlite_bind_string(&run, id);
    return change(self, &run, id, error);
}

/* ---- the run lock ---- */

static bool busy(const char *id, int64_t owner, struct error *error)
{
    return owner > 0 ? error_set(error, ERROR_INTERNAL,
                                 "session '%s' is busy: process %lld is running it", id,
                                 (long long)owner)
                     : error_set(error, ERROR_INTERNAL,
                                 "session '%s' is busy: another process is running it", id);
}

static bool acquire(struct store *store, const char *id, struct error *error)
{
    struct store_sqlite *self = self_of(store);
    int64_t number, owner;
    bool held = false;
    if (!store_sqlite_number(self, id, &number, &owner, error) ||
        !store_lock_take(&self->lock, self->lock_path, number, &held, error))
        return false;
    if (held)
        return busy(id, owner, error);
    struct sqlite_run run = sqlite_run_begin(&self->db, STATEMENT_SET_OWNER);
    sqlite_bind_integer(&run, getpid());
    sqlite_bind_integer(&run, number);
    if (change(self, &run, id, error))
        return true;
    store_lock_drop(&self->lock);
    return false;
}

static void release(struct store *store)
{
    store_lock_drop(&self_of(store)->lock);
}

static bool remove_session(struct store *store, const char *id, struct error *error)
{
    struct store_sqlite *self = self_of(store);
    int64_t number, owner;
    bool held = false;
    struct store_lock lock = STORE_LOCK_INIT;
    if (!store_sqlite_number(self, id, &number, &owner, error) ||
        !store_lock_take(&lock, self->lock_path, number, &held, error))
        return false;
    if (held)
        return busy(id, owner, error);
    struct sqlite_run run = sqlite_run_begin(&self->db, STATEMENT_REMOVE);
    sqlite_bind_integer(&run, number);
    bool removed = change(self, &run, id, error);
    store_sqlite_forget(self);
    store_lock_drop(&lock);
    return removed;
}

static const struct store_ops ops = {
    .close = close_store,
    .create = create,
    .find = find,
    .latest = latest,
    .list = list,
    .append = store_sqlite_append,
    .call_started = store_sqlite_call_started,
    .replace = store_sqlite_replace,
    .load = store_sqlite_load,
    .update = update,
    .set_state = set_state,
    .remove = remove_session,
    .acquire = acquire,
    .release = release,
};

struct store *store_sqlite_open(const char *path, bool create_it, struct error *error)
{
    struct store_sqlite *self = calloc(1, sizeof(*self));
    if (!self) {
        error_memory(error);
        return NULL;
    }
    self->store.ops = &ops;
    self->lock = (struct store_lock)STORE_LOCK_INIT;
    self->lock_path = sqlite_file_lock_path(path);
    if (self->lock_path
            ? sqlite_file_open(&self->db, &kind, path, self->lock_path, create_it, error)
            : error_memory(error))
        return &self->store;
    close_store(&self->store);
    return NULL;
}
