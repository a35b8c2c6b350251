#include "conversation/store_sqlite.h"

#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "conversation/store_sqlite_private.h"

/* A process that has the store open, or that died, left a file beside it that must be read too;
 * SQLite may then need one more file.  Without, it is told that nobody writes, and makes none. */
static bool is_at_rest(const char *path)
{
    struct text beside = TEXT_INIT;
    struct stat status;
    text_printf(&beside, "%s-wal", path);
    bool rests = !beside.failed && (stat(beside.data, &status) != 0 || status.st_size == 0);
    text_release(&beside);
    return rests;
}

static void put_address(struct text *out, const char *path)
{
    text_puts(out, "file:");
    for (; *path; path++)
        if (strchr("%?#", *path))
            text_printf(out, "%%%02X", (unsigned)(unsigned char)*path);
        else
            text_putc(out, *path);
    text_puts(out, "?immutable=1");
}

static bool fail(const struct sqlite_api *api, sqlite3 *handle, const char *path,
                 struct error *error)
{
    return error_set(
        error, ERROR_INTERNAL,
        "session store '%s': %s; move it away to begin a new one, or try `sqlite3 FILE "
        ".recover` on a copy of it",
        path, handle ? api->errmsg(handle) : "cannot be opened");
}

static bool is_whole(const struct sqlite_api *api, sqlite3 *handle, const char *path,
                     struct error *error)
{
    sqlite3_stmt *statement = NULL;
    bool good =
        api->prepare_v2(handle, "PRAGMA quick_check(1)", -1, &statement, NULL) == SQLITE_OK &&
        api->step(statement) == SQLITE_ROW;
    const char *said = good ? (const char *)api->column_text(statement, 0) : NULL;
    if (!good)
        fail(api, handle, path, error);
    else if (!said || strcmp(said, "ok") != 0)
        good =
            error_set(error, ERROR_INTERNAL,
                      "session store '%s' is damaged (%.200s); move it away to begin a new one, or "
                      "try `sqlite3 FILE .recover` on a copy of it",
                      path, said ? said : "no word of SQLite");
    api->finalize(statement);
    return good;
}

static bool is_known(const struct sqlite_api *api, sqlite3 *handle, const char *path,
                     struct error *error)
{
    sqlite3_stmt *statement = NULL;
    bool read = api->prepare_v2(handle, "PRAGMA user_version", -1, &statement, NULL) == SQLITE_OK &&
                api->step(statement) == SQLITE_ROW;
    long long version = read ? api->column_int64(statement, 0) : 0;
    api->finalize(statement);
    if (!read)
        return fail(api, handle, path, error);
    return version <= STORE_SQLITE_VERSION ||
           error_set(error, ERROR_CONFIG,
                     "session store '%s' was written by a newer mortise (version %lld; this one "
                     "reads up to %d)",
                     path, version, STORE_SQLITE_VERSION);
}

bool store_sqlite_check(const char *path, struct error *error)
{
    const struct sqlite_api *api = sqlite_api(error);
    struct text address = TEXT_INIT;
    sqlite3 *handle = NULL;
    if (!api)
        return false;
    if (is_at_rest(path))
        put_address(&address, path);
    else
        text_puts(&address, path);
    if (address.failed)
        return error_memory(error);
    bool good = api->open_v2(address.data, &handle,
                             SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                             NULL) == SQLITE_OK
                    ? is_known(api, handle, path, error) && is_whole(api, handle, path, error)
                    : fail(api, handle, path, error);
    api->close(handle);
    text_release(&address);
    return good;
}
