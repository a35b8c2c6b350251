#include "service/database.h"

#include <stdlib.h>
#include <string.h>

#include "conversation/sqlite_file.h"

/* AUTOINCREMENT: the id of an entry that was forgotten is never that of another one. */
static const char schema[] =
    "CREATE TABLE state ("
    " owner TEXT NOT NULL, plugin TEXT NOT NULL, key TEXT NOT NULL, json TEXT NOT NULL,"
    " PRIMARY KEY (owner, plugin, key)) WITHOUT ROWID;"
    "CREATE TABLE memory ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL, saved INTEGER NOT NULL,"
    " text TEXT NOT NULL);"
    "CREATE INDEX memory_by_owner ON memory (owner);"
    "PRAGMA user_version = 1;";

/* Apart from the others: a library without FTS5 can keep state all the same. */
static const char words[] = "CREATE VIRTUAL TABLE IF NOT EXISTS memory_words USING fts5("
                            "text, content = 'memory', content_rowid = 'id', tokenize = 'trigram')";

static const char *const statements[DATABASE_STATEMENT_COUNT] = {
#define X(name, sql) [DATABASE_##name] = sql,
    DATABASE_STATEMENTS(X)
#undef X
};

static const struct sqlite_kind kind = {.what = "plugin data",
                                        .schema = schema,
                                        .version = 1,
                                        .sql = statements,
                                        .statement_count = DATABASE_STATEMENT_COUNT};

void database_init(struct database *database)
{
    pthread_mutex_init(&database->lock, NULL);
}

void database_release(struct database *database)
{
    sqlite_db_close(&database->file);
    sqlite_db_close(&database->memory);
    pthread_mutex_destroy(&database->lock);
    free(database->path);
}

static bool open_file(struct sqlite_db *db, const char *path, bool create, struct error *error)
{
    char *lock_path = sqlite_file_lock_path(path);
    bool ok = lock_path ? sqlite_file_open(db, &kind, path, lock_path, create, error)
                        : error_memory(error);
    free(lock_path);
    return ok;
}

static bool open_memory(struct sqlite_db *db, struct error *error)
{
    if (!sqlite_db_open(db, &kind, ":memory:", error))
        return false;
    if (sqlite_db_exec(db, schema, error))
        return true;
    sqlite_db_close(db);
    return false;
}

struct sqlite_db *database_take(struct database *database, bool lasts, struct error *error)
{
    struct sqlite_db *db = lasts ? &database->file : &database->memory;
    pthread_mutex_lock(&database->lock);
    if (db->handle || (lasts ? open_file(db, database->path, true, error) : open_memory(db, error)))
        return db;
    pthread_mutex_unlock(&database->lock);
    return NULL;
}

static bool make_words(struct sqlite_db *db, struct error *error)
{
    if (sqlite_db_exec(db, words, error))
        return true;
    if (strstr(error->message, "no such module") || strstr(error->message, "no such tokenizer"))
        error_set(error, ERROR_CONFIG,
                  "the SQLite library cannot search: it was built without FTS5, or is older than "
                  "3.34; libsqlite3-0 of Debian has both");
    return false;
}

struct sqlite_db *database_take_words(struct database *database, struct error *error)
{
    struct sqlite_db *db = database_take(database, true, error);
    if (!db)
        return NULL;
    if (database->can_search || make_words(db, error)) {
        database->can_search = true;
        return db;
    }
    database_give(database);
    return NULL;
}

void database_give(struct database *database)
{
    pthread_mutex_unlock(&database->lock);
}

bool database_forget(const char *path, const char *owner, bool *any, struct error *error)
{
    struct sqlite_db db;
    if (!open_file(&db, path, false, error))
        return error->kind == ERROR_NONE; /* it is not there */
    struct sqlite_run run = sqlite_run_begin(&db, DATABASE_STATE_FORGET);
    sqlite_bind_string(&run, owner);
    bool ok = sqlite_run_all(&run, error);
    if (ok && db.api->changes(db.handle) > 0)
        *any = true;
    sqlite_db_close(&db);
    return ok;
}
