#include "service/artifact_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/id.h"
#include "service/artifact_folder.h"
#include "service/owner.h"

enum { KEPT_SECONDS = 7 * 24 * 60 * 60 };

void artifact_release(struct artifact *artifact)
{
    free(artifact->name);
    free(artifact->mime_type);
    *artifact = (struct artifact){0};
}

void artifact_list_release(struct artifact_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        artifact_release(&list->items[i]);
    free(list->items);
    *list = (struct artifact_list){0};
}

/* ---- runs without a session ---- */

static bool is_old(int runs, const char *name, time_t now)
{
    struct stat status;
    return fstatat(runs, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode) &&
           now - status.st_mtim.tv_sec > KEPT_SECONDS;
}

static void clean(const char *folder_of_all)
{
    int folder = artifact_folder_open(folder_of_all, OWNER_RUNS, NULL, false);
    DIR *runs = folder >= 0 ? fdopendir(folder) : NULL;
    const struct dirent *entry;
    time_t now = time(NULL);
    while (runs && (entry = readdir(runs)))
        if (entry->d_name[0] != '.' && is_old(folder, entry->d_name, now))
            artifact_folder_remove(folder, entry->d_name); /* what stays is tried again */
    if (runs)
        closedir(runs);
    else if (folder >= 0)
        close(folder);
}

/* Once per process, and only by those who make more of them. */
static void clean_once(struct artifact_store *store, const char *owner)
{
    if (strncmp(owner, OWNER_RUNS "/", sizeof(OWNER_RUNS)) == 0 &&
        !atomic_exchange(&store->is_clean, true))
        clean(store->folder);
}

/* ---- saving ---- */

struct saving {
    int folder; /* of the versions */
    int file;
    char draft[ID_SIZE + 1]; /* its name until it is whole; "" when there is none */
};

static bool cannot_keep(const char *name, struct error *error)
{
    return error_set(error, ERROR_INTERNAL, "cannot keep '%s': %s", name, strerror(errno));
}

static bool write_draft(struct saving *saving, const void *data, size_t length)
{
    char id[ID_SIZE];
    id_make(id, "new");
    snprintf(saving->draft, sizeof(saving->draft), ".%s", id);
    saving->file = openat(saving->folder, saving->draft,
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (saving->file < 0) {
        saving->draft[0] = '\0';
        return false;
    }
    return file_write_fd(saving->file, data, length) && fsync(saving->file) == 0;
}

/* Under the lock, so that no two get the same number. */
static bool publish_locked(struct saving *saving, const char *name, const char *mime_type,
                           uint32_t *version, struct text *file, struct error *error)
{
    struct artifact latest;
    if (!artifact_folder_find(saving->folder, 0, &latest, error))
        return false;
    *version = latest.version + 1;
    artifact_release(&latest);
    if (*version == 0)
        return error_set(error, ERROR_INTERNAL, "'%s' has too many versions", name);
    artifact_file_name(file, *version, mime_type);
    if (file->failed)
        return error_memory(error);
    if (renameat(saving->folder, saving->draft, saving->folder, file->data) != 0)
        return cannot_keep(name, error);
    saving->draft[0] = '\0';
    return true;
}

static bool publish(struct saving *saving, const char *name, const char *mime_type,
                    uint32_t *version, struct text *file, struct error *error)
{
    int locked;
    do {
        locked = flock(saving->folder, LOCK_EX);
    } while (locked != 0 && errno == EINTR);
    if (locked != 0)
        return cannot_keep(name, error);
    bool ok = publish_locked(saving, name, mime_type, version, file, error);
    flock(saving->folder, LOCK_UN);
    return ok;
}

/* What is left of a save that failed goes. */
static void end_saving(struct saving *saving)
{
    if (saving->draft[0])
        unlinkat(saving->folder, saving->draft, 0);
    if (saving->file >= 0)
        close(saving->file);
    if (saving->folder >= 0)
        close(saving->folder);
}

bool artifact_store_save(struct artifact_store *store, const char *owner, const char *name,
                         const char *mime_type, const void *data, size_t length, uint32_t *version,
                         struct text *path, struct error *error)
{
    struct saving saving = {.file = -1};
    struct text file = TEXT_INIT;
    uint32_t number;
    clean_once(store, owner);
    saving.folder = artifact_folder_open(store->folder, owner, name, true);
    bool ok =
        (saving.folder >= 0 && write_draft(&saving, data, length)) || cannot_keep(name, error);
    ok = ok && publish(&saving, name, mime_type, &number, &file, error);
    end_saving(&saving);
    if (ok && version)
        *version = number;
    if (ok && path) {
        text_reset(path);
        text_printf(path, "%s/%s/%s/%s", store->folder, owner, name, file.data);
        ok = !path->failed || error_memory(error);
    }
    text_release(&file);
    return ok;
}

/* ---- loading ---- */

static bool cannot_read(const char *name, struct error *error)
{
    return error_set(error, ERROR_INTERNAL, "cannot read '%s': %s", name, strerror(errno));
}

static bool read_version(int folder, const char *name, const struct artifact *artifact,
                         struct text *data, struct error *error)
{
    struct text file = TEXT_INIT;
    artifact_file_name(&file, artifact->version, artifact->mime_type);
    int fd = file.failed ? -1 : openat(folder, file.data, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    bool ok = fd >= 0       ? file_read_fd(fd, name, SIZE_MAX / 2, data, error)
              : file.failed ? error_memory(error)
                            : cannot_read(name, error);
    if (fd >= 0)
        close(fd);
    text_release(&file);
    return ok;
}

bool artifact_store_load(const struct artifact_store *store, const char *owner, const char *name,
                         uint32_t version, struct artifact *artifact, struct text *data,
                         struct error *error)
{
    *artifact = (struct artifact){0};
    int folder = artifact_folder_open(store->folder, owner, name, false);
    if (folder < 0)
        return errno == ENOENT || cannot_read(name, error);
    bool ok = artifact_folder_find(folder, version, artifact, error);
    if (ok && artifact->version) {
        artifact->name = strdup(name);
        ok = artifact->name ? read_version(folder, name, artifact, data, error)
                            : error_memory(error);
        artifact->length = data->length;
    }
    close(folder);
    if (!ok)
        artifact_release(artifact);
    return ok;
}

void artifact_store_path(const struct artifact_store *store, const char *owner,
                         const struct artifact *artifact, struct text *path)
{
    text_printf(path, "%s/%s/%s/", store->folder, owner, artifact->name);
    artifact_file_name(path, artifact->version, artifact->mime_type);
}

/* ---- listing ---- */

static bool add_latest(int owner, const char *name, struct artifact_list *list, struct error *error)
{
    struct artifact artifact = {0};
    int folder = openat(owner, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) /* something else, or it was removed meanwhile */
        return true;
    bool ok = artifact_folder_find(folder, 0, &artifact, error);
    close(folder);
    if (!ok || !artifact.version)
        return ok;
    artifact.name = strdup(name);
    if (artifact.name && array_reserve(list, 1)) {
        list->items[list->count++] = artifact;
        return true;
    }
    artifact_release(&artifact);
    return error_memory(error);
}

static int by_name(const void *left, const void *right)
{
    const struct artifact *a = left, *b = right;
    return strcmp(a->name, b->name);
}

bool artifact_store_list(const struct artifact_store *store, const char *owner,
                         struct artifact_list *list, struct error *error)
{
    int folder = artifact_folder_open(store->folder, owner, NULL, false);
    DIR *entries = folder >= 0 ? fdopendir(folder) : NULL;
    if (!entries) {
        bool missing = folder < 0 && errno == ENOENT;
        bool ok = missing || cannot_read(owner, error);
        if (folder >= 0)
            close(folder);
        return ok;
    }
    const struct dirent *entry;
    bool ok = true;
    while (ok && (entry = readdir(entries))) /* no name of an artifact begins with '.' */
        if (!artifact_name_problem(entry->d_name))
            ok = add_latest(dirfd(entries), entry->d_name, list, error);
    closedir(entries);
    if (list->count)
        qsort(list->items, list->count, sizeof(*list->items), by_name);
    return ok;
}

/* ---- forgetting ---- */

bool artifact_store_forget(const char *folder, const char *owner, bool *any, struct error *error)
{
    struct text path = TEXT_INIT;
    bool ok = true;
    text_printf(&path, "%s/%s", folder, owner);
    if (path.failed)
        ok = error_memory(error);
    else if (artifact_folder_remove(AT_FDCWD, path.data))
        *any = true;
    else if (errno != ENOENT)
        ok = error_set(error, ERROR_INTERNAL, "cannot remove '%s': %s", path.data, strerror(errno));
    text_release(&path);
    return ok;
}
