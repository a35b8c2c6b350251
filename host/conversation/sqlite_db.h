/*
 * sqlite_db - one SQLite database: opened safely, statements kept, errors told.
 *
 * One thread at a time, and never across a fork.
 */
#ifndef CONVERSATION_SQLITE_DB_H
#define CONVERSATION_SQLITE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "conversation/sqlite_api.h"

struct sqlite_db {
    const struct sqlite_api *api;
    sqlite3 *handle;
    const char *what; /* for messages: "session store" */
    char *path;
    const char *const *sql; /* the statements, by number */
    sqlite3_stmt **statements;
    size_t statement_count;
};

/* What a database holds. */
struct sqlite_kind {
    const char *what;   /* for messages: "session store" */
    const char *schema; /* makes its tables, and ends with "PRAGMA user_version = VERSION;" */
    int64_t version;
    const char *const *sql; /* the statements of sqlite_run_begin(), prepared when first used */
    size_t statement_count;
};

/* Opens the file, which is there, with every commit on disk before it returns; ":memory:" is an
 * empty database that dies with `db`.  Nothing is made or checked in it (sqlite_file.h does). */
bool sqlite_db_open(struct sqlite_db *db, const struct sqlite_kind *kind, const char *path,
                    struct error *error);
void sqlite_db_close(struct sqlite_db *db); /* fine for one that was zeroed */

bool sqlite_db_exec(struct sqlite_db *db, const char *sql, struct error *error);
/* The integer that a query gives, such as "PRAGMA user_version". */
bool sqlite_db_integer(struct sqlite_db *db, const char *sql, int64_t *value, struct error *error);

/* ---- transactions ---- */

bool sqlite_db_begin(struct sqlite_db *db, struct error *error); /* takes the write lock */
/* Commits when `good`, else rolls back.  True when it was committed. */
bool sqlite_db_end(struct sqlite_db *db, bool good, struct error *error);

/* ---- one run of a statement ---- */

/* Bound in order; NULL with *error when it cannot be prepared. */
struct sqlite_run {
    struct sqlite_db *db;
    sqlite3_stmt *statement;
    int next;
    int code; /* the first thing that went wrong, or SQLITE_OK */
};

struct sqlite_run sqlite_run_begin(struct sqlite_db *db, size_t number);
void sqlite_bind_integer(struct sqlite_run *run, int64_t value);
void sqlite_bind_string(struct sqlite_run *run, const char *text); /* NULL: null */
void sqlite_bind_bytes(struct sqlite_run *run, const char *data, size_t length);
/* The next row: false at the end, and when it failed (run->code is not SQLITE_OK). */
bool sqlite_run_row(struct sqlite_run *run);
/* Ends it.  False with *error when anything went wrong. */
bool sqlite_run_end(struct sqlite_run *run, struct error *error);
/* Runs a statement without rows to its end. */
bool sqlite_run_all(struct sqlite_run *run, struct error *error);

int64_t sqlite_integer(const struct sqlite_run *run, int column);
/* Borrowed until the next row; NULL for null and without memory.  `length` may be NULL. */
const char *sqlite_text(const struct sqlite_run *run, int column, size_t *length);

#endif
