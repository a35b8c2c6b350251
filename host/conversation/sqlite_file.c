#include "conversation/sqlite_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "conversation/store_lock.h"

enum { SETUP_LOCK = 0, LEAST_BYTES = 512 };

static bool make_file(const char *path, struct error *error)
{
    char *copy = strdup(path);
    bool made = copy ? file_make_folders(copy, error) : error_memory(error);
    free(copy);
    if (!made) {
        if (error->kind == ERROR_INTERNAL && errno != ENOMEM)
            error->kind = ERROR_CONFIG;
        return false;
    }
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd < 0)
        return error_set(error, ERROR_CONFIG, "cannot make '%s': %s", path, strerror(errno));
    close(fd);
    return true;
}

static bool create_schema(struct sqlite_db *db, const struct sqlite_kind *kind, struct error *error)
{
    int64_t tables;
    if (!sqlite_db_integer(db, "SELECT count(*) FROM sqlite_schema", &tables, error))
        return false;
    if (tables > 0)
        return error_set(error, ERROR_CONFIG, "%s '%s' is a database of another program", db->what,
                         db->path);
    bool good = sqlite_db_begin(db, error) && sqlite_db_exec(db, kind->schema, error);
    return sqlite_db_end(db, good, error);
}

static bool upgrade(struct sqlite_db *db, const struct sqlite_kind *kind, const char *lock_path,
                    struct error *error)
{
    struct store_lock setup = STORE_LOCK_INIT;
    int64_t version;
    if (!store_lock_wait(&setup, lock_path, SETUP_LOCK, error))
        return false;
    bool good = sqlite_db_integer(db, "PRAGMA user_version", &version, error) &&
                (version == kind->version || create_schema(db, kind, error));
    store_lock_drop(&setup);
    return good;
}

static bool check_version(struct sqlite_db *db, const struct sqlite_kind *kind,
                          const char *lock_path, struct error *error)
{
    int64_t version;
    if (!sqlite_db_integer(db, "PRAGMA user_version", &version, error))
        return false;
    if (version > kind->version)
        return error_set(error, ERROR_CONFIG,
                         "%s '%s' was written by a newer mortise (version %lld; this one reads up "
                         "to %lld)",
                         db->what, db->path, (long long)version, (long long)kind->version);
    return version == kind->version || upgrade(db, kind, lock_path, error);
}

bool sqlite_file_open(struct sqlite_db *db, const struct sqlite_kind *kind, const char *path,
                      const char *lock_path, bool create, struct error *error)
{
    struct stat status;
    *db = (struct sqlite_db){0};
    error_clear(error);
    bool missing = stat(path, &status) != 0 && errno == ENOENT;
    if (missing && !create)
        return false;
    if (missing && !make_file(path, error))
        return false;
    /* SQLite takes what is left of so short a file for a new one. */
    if (!missing && status.st_size > 0 && status.st_size < LEAST_BYTES)
        return error_set(error, ERROR_INTERNAL,
                         "%s '%s' is damaged: it was cut; move it away to begin a new one",
                         kind->what, path);
    if (!missing && (status.st_mode & 077))
        log_warning("%s '%s' can be used by others; chmod 600 ends that", kind->what, path);
    if (!sqlite_db_open(db, kind, path, error))
        return false;
    if (check_version(db, kind, lock_path, error))
        return true;
    sqlite_db_close(db);
    return false;
}

char *sqlite_file_lock_path(const char *path)
{
    struct text text = TEXT_INIT;
    text_printf(&text, "%s-lock", path);
    return text_take(&text, NULL);
}
