/*
 * sqlite_api - SQLite through a table of functions, loaded on first need.
 *
 * Commands that keep no session, and plugins that store nothing, never load it.  Thread-safe.
 */
#ifndef CONVERSATION_SQLITE_API_H
#define CONVERSATION_SQLITE_API_H

#include <sqlite3.h>

#include "base/error.h"

struct sqlite_api {
    int (*open_v2)(const char *, sqlite3 **, int, const char *);
    int (*close)(sqlite3 *);
    int (*busy_timeout)(sqlite3 *, int);
    int (*extended_errcode)(sqlite3 *);
    int (*system_errno)(sqlite3 *);
    const char *(*errmsg)(sqlite3 *);
    int (*exec)(sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *, char **);
    int (*get_autocommit)(sqlite3 *);
    int (*changes)(sqlite3 *);
    sqlite3_int64 (*last_insert_rowid)(sqlite3 *);
    int (*prepare_v2)(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
    int (*finalize)(sqlite3_stmt *);
    int (*step)(sqlite3_stmt *);
    int (*reset)(sqlite3_stmt *);
    int (*clear_bindings)(sqlite3_stmt *);
    int (*bind_int64)(sqlite3_stmt *, int, sqlite3_int64);
    int (*bind_null)(sqlite3_stmt *, int);
    int (*bind_text64)(sqlite3_stmt *, int, const char *, sqlite3_uint64, void (*)(void *),
                       unsigned char);
    int (*column_type)(sqlite3_stmt *, int);
    sqlite3_int64 (*column_int64)(sqlite3_stmt *, int);
    const unsigned char *(*column_text)(sqlite3_stmt *, int);
    int (*column_bytes)(sqlite3_stmt *, int);
};

/* NULL with *error (kind config) that names the package to install. */
const struct sqlite_api *sqlite_api(struct error *error);

#endif
