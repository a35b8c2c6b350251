/*
 * database - where memory and state are: one SQLite file, opened when it is first used and then
 * kept; and one in memory for the state of runs without a session, which leaves nothing behind.
 *
 * One user at a time: database_take() waits for the others of this process, and SQLite for other
 * processes.
 */
#ifndef SERVICE_DATABASE_H
#define SERVICE_DATABASE_H

#include <pthread.h>
#include <stdbool.h>

#include "base/error.h"
#include "conversation/sqlite_db.h"

/* What is searched is kept twice: as it is, and cut into threes of characters, by which also
 * languages without spaces are found. */
#define DATABASE_STATEMENTS(X)                                                                     \
    X(STATE_GET, "SELECT json FROM state WHERE owner = ?1 AND plugin = ?2 AND key = ?3")           \
    X(STATE_SET, "INSERT INTO state (owner, plugin, key, json) VALUES (?1, ?2, ?3, ?4)"            \
                 " ON CONFLICT DO UPDATE SET json = excluded.json")                                \
    X(STATE_ADD, "INSERT OR IGNORE INTO state (owner, plugin, key, json) VALUES (?1, ?2, ?3, ?4)") \
    X(STATE_CHANGE, "UPDATE state SET json = ?5"                                                   \
                    " WHERE owner = ?1 AND plugin = ?2 AND key = ?3 AND json = ?4")                \
    X(STATE_REMOVE, "DELETE FROM state WHERE owner = ?1 AND plugin = ?2 AND key = ?3"              \
                    " AND (?4 IS NULL OR json = ?4)")                                              \
    X(STATE_KEYS, "SELECT key FROM state WHERE owner = ?1 AND plugin = ?2 AND key >= ?3"           \
                  " ORDER BY key")                                                                 \
    X(STATE_FORGET, "DELETE FROM state WHERE owner = ?1")                                          \
    X(MEMORY_ADD, "INSERT INTO memory (owner, saved, text) VALUES (?1, ?2, ?3)")                   \
    X(MEMORY_GET, "SELECT saved, text FROM memory WHERE id = ?1 AND owner = ?2")                   \
    X(MEMORY_SCAN, "SELECT id, text FROM memory WHERE owner = ?1")                                 \
    X(MEMORY_COUNT, "SELECT count(*) FROM memory WHERE owner = ?1")                                \
    X(MEMORY_REMOVE, "DELETE FROM memory WHERE id = ?1")                                           \
    X(WORDS_ADD, "INSERT INTO memory_words (rowid, text) VALUES (?1, ?2)")                         \
    X(WORDS_REMOVE, "INSERT INTO memory_words (memory_words, rowid, text)"                         \
                    " VALUES ('delete', ?1, ?2)")                                                  \
    X(WORDS_FIND, "SELECT m.id, length(m.text) FROM memory_words"                                  \
                  " JOIN memory m ON m.id = memory_words.rowid"                                    \
                  " WHERE memory_words MATCH ?1 AND m.owner = ?2"                                  \
                  " ORDER BY memory_words.rowid DESC LIMIT 5000")

enum database_statement {
#define X(name, sql) DATABASE_##name,
    DATABASE_STATEMENTS(X)
#undef X
        DATABASE_STATEMENT_COUNT
};

struct database {
    char *path; /* NULL: there is no place */
    pthread_mutex_t lock;
    struct sqlite_db file;   /* open once its handle is set */
    struct sqlite_db memory; /* the same tables */
    bool can_search;         /* the table of words is there */
};

void database_init(struct database *database);
void database_release(struct database *database);

/* `lasts`: the one in the file.  NULL with *error: nothing is taken. */
struct sqlite_db *database_take(struct database *database, bool lasts, struct error *error);
/* The file, with the table of words. */
struct sqlite_db *database_take_words(struct database *database, struct error *error);
void database_give(struct database *database);

/* Removes the state of an owner from the file at `path`, if that is there.  *any is set when there
 * was some. */
bool database_forget(const char *path, const char *owner, bool *any, struct error *error);

#endif
