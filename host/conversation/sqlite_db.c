#include "conversation/sqlite_db.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

enum { BUSY_TIMEOUT_MS = 10000, BUSY_PAUSE_MS = 2 };

/* ---- errors ---- */

static const char *advice(int code)
{
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return "; the file is damaged: move it away to begin a new one, or try "
               "`sqlite3 FILE .recover` on a copy of it";
    case SQLITE_FULL:
        return "; nothing that was stored is lost";
    case SQLITE_BUSY:
        return "; another process keeps it locked";
    default:
        return "";
    }
}

/* "session store 'PATH': WHAT", with advice where there is any.  Returns false. */
static bool fail(struct sqlite_db *db, int code, struct error *error)
{
    if ((code & 0xff) == SQLITE_NOMEM)
        return error_memory(error);
    int reason = db->handle ? db->api->system_errno(db->handle) : 0;
    bool no_access = (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY ||
                     (code & 0xff) == SQLITE_PERM;
    bool full = reason == ENOSPC && (code & 0xff) == SQLITE_IOERR;
    return error_set(error, no_access ? ERROR_CONFIG : ERROR_INTERNAL, "%s '%s': %s%s%s%s",
                     db->what, db->path,
                     full         ? "the disk is full"
                     : db->handle ? db->api->errmsg(db->handle)
                                  : "cannot be opened",
                     no_access && reason ? ": " : "", no_access && reason ? strerror(reason) : "",
                     advice(full ? SQLITE_FULL : code));
}

bool sqlite_db_exec(struct sqlite_db *db, const char *sql, struct error *error)
{
    int code = db->api->exec(db->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ||
           fail(db, db->api->extended_errcode(db->handle), error);
}

bool sqlite_db_integer(struct sqlite_db *db, const char *sql, int64_t *value, struct error *error)
{
    sqlite3_stmt *statement;
    int code = db->api->prepare_v2(db->handle, sql, -1, &statement, NULL);
    if (code != SQLITE_OK)
        return fail(db, code, error);
    code = db->api->step(statement);
    if (code == SQLITE_ROW)
        *value = db->api->column_int64(statement, 0);
    bool good = code == SQLITE_ROW || fail(db, code, error);
    db->api->finalize(statement);
    return good;
}

/* ---- opening ---- */

/* Two that make one file a WAL at the same moment cannot both wait for each other, so SQLite does
 * not let them wait at all. */
static bool set_up(struct sqlite_db *db, struct error *error)
{
    static const char sql[] = "PRAGMA trusted_schema = OFF; PRAGMA foreign_keys = ON;"
                              "PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL;";
    int64_t end_ms = clock_ms() + BUSY_TIMEOUT_MS;
    db->api->busy_timeout(db->handle, BUSY_TIMEOUT_MS);
    for (;;) {
        int code = db->api->exec(db->handle, sql, NULL, NULL, NULL);
        if (code == SQLITE_OK)
            return true;
        if (code != SQLITE_BUSY || clock_ms() >= end_ms)
            return fail(db, db->api->extended_errcode(db->handle), error);
        nanosleep(&(struct timespec){.tv_nsec = BUSY_PAUSE_MS * 1000000}, NULL);
    }
}

bool sqlite_db_open(struct sqlite_db *db, const struct sqlite_kind *kind, const char *path,
                    struct error *error)
{
    *db = (struct sqlite_db){.api = sqlite_api(error),
                             .what = kind->what,
                             .sql = kind->sql,
                             .statement_count = kind->statement_count};
    if (!db->api)
        return false;
    db->path = strdup(path);
    db->statements = calloc(kind->statement_count, sizeof(*db->statements));
    if (!db->path || !db->statements) {
        sqlite_db_close(db);
        return error_memory(error);
    }
    int code = db->api->open_v2(path, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK) {
        fail(db, code, error);
        sqlite_db_close(db);
        return false;
    }
    if (set_up(db, error))
        return true;
    sqlite_db_close(db);
    return false;
}

void sqlite_db_close(struct sqlite_db *db)
{
    for (size_t i = 0; db->statements && i < db->statement_count; i++)
        db->api->finalize(db->statements[i]);
    if (db->handle)
        db->api->close(db->handle);
    free(db->statements);
    free(db->path);
    *db = (struct sqlite_db){0};
}

/* ---- transactions ---- */

bool sqlite_db_begin(struct sqlite_db *db, struct error *error)
{
    return sqlite_db_exec(db, "BEGIN IMMEDIATE", error);
}

bool sqlite_db_end(struct sqlite_db *db, bool good, struct error *error)
{
    if (good && sqlite_db_exec(db, "COMMIT", error))
        return true;
    if (!db->api->get_autocommit(db->handle)) /* some errors have rolled back already */
        db->api->exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

/* ---- statements ---- */

struct sqlite_run sqlite_run_begin(struct sqlite_db *db, size_t number)
{
    struct sqlite_run run = {.db = db, .next = 1, .code = SQLITE_OK};
    if (!db->statements[number])
        run.code = db->api->prepare_v2(db->handle, db->sql[number], -1, &db->statements[number],
                                       NULL);
    run.statement = db->statements[number];
    return run;
}

static void bound(struct sqlite_run *run, int code)
{
    run->next++;
    if (code != SQLITE_OK && run->code == SQLITE_OK)
        run->code = code;
}

void sqlite_bind_integer(struct sqlite_run *run, int64_t value)
{
    if (run->statement)
        bound(run, run->db->api->bind_int64(run->statement, run->next, value));
}

/* SQLite copies: the text may be gone before the statement is reset. */
void sqlite_bind_bytes(struct sqlite_run *run, const char *data, size_t length)
{
    if (!run->statement)
        return;
    bound(run, data ? run->db->api->bind_text64(run->statement, run->next, data, length,
                                                SQLITE_TRANSIENT, SQLITE_UTF8)
                    : run->db->api->bind_null(run->statement, run->next));
}

void sqlite_bind_string(struct sqlite_run *run, const char *text)
{
    sqlite_bind_bytes(run, text, text ? strlen(text) : 0);
}

bool sqlite_run_row(struct sqlite_run *run)
{
    if (run->code != SQLITE_OK)
        return false;
    int code = run->db->api->step(run->statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        run->code = run->db->api->extended_errcode(run->db->handle);
    return code == SQLITE_ROW;
}

bool sqlite_run_end(struct sqlite_run *run, struct error *error)
{
    bool good = run->code == SQLITE_OK || fail(run->db, run->code, error);
    if (run->statement) {
        run->db->api->reset(run->statement);
        run->db->api->clear_bindings(run->statement);
    }
    return good;
}

bool sqlite_run_all(struct sqlite_run *run, struct error *error)
{
    while (sqlite_run_row(run))
        ;
    return sqlite_run_end(run, error);
}

int64_t sqlite_integer(const struct sqlite_run *run, int column)
{
    return run->db->api->column_int64(run->statement, column);
}

const char *sqlite_text(const struct sqlite_run *run, int column, size_t *length)
{
    const char *text = (const char *)run->db->api->column_text(run->statement, column);
    if (length)
        *length = text ? (size_t)run->db->api->column_bytes(run->statement, column) : 0;
    return text;
}
