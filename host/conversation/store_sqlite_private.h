/* store_sqlite_private - what store_sqlite.c (sessions) and store_sqlite_items.c share. */
#ifndef CONVERSATION_STORE_SQLITE_PRIVATE_H
#define CONVERSATION_STORE_SQLITE_PRIVATE_H

#include "conversation/sqlite_db.h"
#include "conversation/store.h"
#include "conversation/store_lock.h"

/* PRAGMA user_version of a store. */
enum { STORE_SQLITE_VERSION = 1 };

#define SESSION_COLUMNS                                                                            \
    "SELECT number, id, title, model, cwd, system, state, created, updated, owner,"                \
    " (SELECT count(*) FROM items WHERE session = number) FROM sessions "

#define STATEMENTS(X)                                                                              \
    X(INSERT_SESSION, "INSERT INTO sessions (id, title, model, cwd, system, state, created,"       \
                      " updated) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")                         \
    X(FIND_SESSION, SESSION_COLUMNS "WHERE id = ?1")                                               \
    X(FIND_BEGINNING, SESSION_COLUMNS "WHERE substr(id, 1, length(?1)) = ?1 LIMIT 2")              \
    X(LATEST_SESSIONS, SESSION_COLUMNS "WHERE (?1 IS NULL OR cwd = ?1) AND (?2 = 0 OR state <> 0)" \
                                       " ORDER BY updated DESC, number DESC")                      \
    X(NUMBER_OF, "SELECT number, owner FROM sessions WHERE id = ?1")                               \
    X(TOUCH, "UPDATE sessions SET updated = ?1, state = coalesce(?3, state) WHERE number = ?2")    \
    X(UPDATE, "UPDATE sessions SET title = coalesce(?1, title), model = coalesce(?2, model),"      \
              " system = coalesce(?3, system) WHERE id = ?4")                                      \
    X(SET_STATE, "UPDATE sessions SET state = ?1 WHERE id = ?2")                                   \
    X(SET_OWNER, "UPDATE sessions SET owner = ?1 WHERE number = ?2")                               \
    X(REMOVE, "DELETE FROM sessions WHERE number = ?1")                                            \
    X(NEXT_PLACE, "SELECT coalesce(max(place) + 1, 0) FROM items WHERE session = ?1")              \
    X(INSERT_ITEM, "INSERT INTO items (session, place, json, valid, attachments, response)"        \
                   " VALUES (?1, ?2, ?3, ?4, ?5, ?6)")                                             \
    X(INSERT_RESPONSE, "INSERT INTO responses (session, provider, model, verbatim, item_count)"    \
                       " VALUES (?1, ?2, ?3, ?4, ?5)")                                             \
    X(COUNT_RESPONSE, "UPDATE responses SET item_count = ?1 WHERE number = ?2")                    \
    X(INSERT_START, "INSERT OR IGNORE INTO starts (session, call_id) VALUES (?1, ?2)")             \
    X(CLEAR_ITEMS, "DELETE FROM items WHERE session = ?1")                                         \
    X(CLEAR_RESPONSES, "DELETE FROM responses WHERE session = ?1")                                 \
    X(LOAD_ITEMS, "SELECT i.place, i.json, i.valid, i.attachments, i.response, r.provider,"        \
                  " r.model, r.item_count, r.verbatim FROM items i"                                \
                  " LEFT JOIN responses r ON r.number = i.response"                                \
                  " WHERE i.session = ?1 ORDER BY i.place")                                        \
    X(LOAD_STARTS, "SELECT call_id FROM starts WHERE session = ?1")

enum statement {
#define X(name, sql) STATEMENT_##name,
    STATEMENTS(X)
#undef X
        STATEMENT_COUNT
};

struct store_sqlite {
    struct store store;
    struct sqlite_db db;
    char *lock_path;
    struct store_lock lock; /* of the session that was acquired */
    /* The response that the last item belonged to: one that goes on is the same row. */
    struct origin *origin;
    int64_t response;
};

/* Kind usage when there is no such session.  `owner` may be NULL. */
bool store_sqlite_number(struct store_sqlite *self, const char *id, int64_t *number,
                         int64_t *owner, struct error *error);

/* Within a transaction: behind the items that are there. */
bool store_sqlite_insert(struct store_sqlite *self, int64_t number, struct item *const *items,
                         size_t count, struct error *error);
bool store_sqlite_insert_start(struct store_sqlite *self, int64_t number, const char *call_id,
                               struct error *error);
/* What is remembered of the last item is not so (another session, a rollback). */
void store_sqlite_forget(struct store_sqlite *self);

bool store_sqlite_append(struct store *store, const char *id, struct item *const *items,
                         size_t count, struct error *error);
bool store_sqlite_call_started(struct store *store, const char *id, const char *call_id,
                               struct error *error);
bool store_sqlite_replace(struct store *store, const char *id, struct item *const *items,
                          size_t count, struct error *error);
bool store_sqlite_load(struct store *store, const char *id, struct session_items *items,
                       struct error *error);

#endif
