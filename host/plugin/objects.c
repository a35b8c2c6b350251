#include "plugin/objects.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/text.h"
#include "plugin/sealed.h"

struct entry {
    struct object object; /* first: the address is handed out */
    struct file_key key;
    struct place *place;
    struct entry *older; /* from the same path */
    char sha256[SHA256_TEXT]; /* "": not known */
    UT_hash_handle hh;
};

/* A path that something was opened from. */
struct place {
    char *path;
    struct entry *newest;
    unsigned spellings; /* that dlopen() has seen */
    UT_hash_handle hh;
};

static struct entry *entries; /* by file */
static struct place *places;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void objects_lock(void)
{
    pthread_mutex_lock(&lock);
}

void objects_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* ---- files ---- */

struct file_id file_id_of(const struct stat *status)
{
    return (struct file_id){.device = status->st_dev,
                            .inode = status->st_ino,
                            .size = status->st_size,
                            .modified = status->st_mtim,
                            .changed = status->st_ctim};
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

struct file_key file_key_of(const struct file_id *id)
{
    return (struct file_key){(uint64_t)id->device, (uint64_t)id->inode};
}

static bool same_content(const struct file_id *a, const struct file_id *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           same_time(&a->modified, &b->modified);
}

bool file_id_equal(const struct file_id *a, const struct file_id *b)
{
    return same_content(a, b) && same_time(&a->changed, &b->changed);
}

/* A mapped file keeps its inode, so another file cannot have it; only its time of modification
 * could have been set back, and then it is left alone as well.  (Of what was mapped from a sealed
 * copy the inode can be another file's by now, which would need the same time as well.) */
bool object_is_of(const struct object *object, const struct file_id *id)
{
    return same_content(&object->file, id);
}

/* ---- the table ---- */

static struct entry *find_file(const struct file_id *id)
{
    const struct file_key key = file_key_of(id);
    struct entry *entry;
    HASH_FIND(hh, entries, &key, sizeof(key), entry);
    return entry;
}

/* The place of a path, from now on if not yet; NULL: no memory. */
static struct place *find_place(const char *path)
{
    struct place *place;
    HASH_FIND_STR(places, path, place);
    if (place)
        return place;
    place = calloc(1, sizeof(*place));
    if (place && (place->path = strdup(path))) {
        HASH_ADD_KEYPTR(hh, places, place->path, strlen(place->path), place);
        if (hash_added(place))
            return place;
        free(place->path);
    }
    free(place);
    return NULL;
}

static struct entry *new_entry(const char *path, const struct file_id *id)
{
    struct place *place = find_place(path);
    struct entry *entry = place ? calloc(1, sizeof(*entry)) : NULL;
    if (entry) {
        entry->object.file = *id;
        entry->key = file_key_of(id);
        entry->place = place;
    }
    return entry;
}

/* Of a file that was written in place, what was mapped from a sealed copy of it before is found by
 * its content only. */
static bool add_entry(struct entry *entry)
{
    struct entry *before = find_file(&entry->object.file);
    if (before)
        HASH_DEL(entries, before);
    HASH_ADD(hh, entries, key, sizeof(entry->key), entry);
    if (!hash_added(entry))
        return false;
    entry->older = entry->place->newest;
    entry->place->newest = entry;
    return true;
}

/* ---- dlopen ---- */

static bool leads_to(const char *path, const struct file_id *opened)
{
    struct stat named;
    return stat(path, &named) == 0 && opened->device == named.st_dev &&
           opened->inode == named.st_ino;
}

static bool explain_dlopen(const char *path, struct error *error)
{
    const char *message = dlerror();
    if (!message)
        message = "dlopen() gave no reason";
    size_t length = strlen(path);
    if (strncmp(message, path, length) == 0 && strncmp(message + length, ": ", 2) == 0)
        message += length + 2;
    const char *advice = "";
    if (strstr(message, "undefined symbol"))
        advice = ": link the library that has it (-Wl,-z,defs tells when the plugin is built)";
    else if (strstr(message, "cannot open shared object"))
        advice = ": install that library";
    else if (strstr(message, "version `"))
        advice = ": rebuild the plugin on this system";
    return error_set(error, ERROR_PLUGIN, "it cannot be loaded: %s%s", message, advice);
}

/* "dir/a.so", "dir/./a.so", "dir/.//./a.so", "dir/././a.so", …: one file, another name. */
static void spell(const struct place *place, struct text *out)
{
    const char *name = strrchr(place->path, '/') + 1;
    text_append(out, place->path, (size_t)(name - place->path));
    for (unsigned bits = place->spellings; bits; bits /= 2)
        text_puts(out, bits % 2 ? "./" : ".//");
    text_puts(out, name);
}

static void *map(struct place *place, struct error *error)
{
    struct text name = TEXT_INIT;
    void *handle = NULL;
    spell(place, &name);
    if (name.failed)
        error_memory(error);
    else if ((handle = dlopen(name.data, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)))
        place->spellings++;
    else
        explain_dlopen(name.data, error);
    text_release(&name);
    return handle;
}

/* From the copy that `fd` is; the next one may have its number. */
static void *map_sealed(int fd, struct error *error)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    struct place *place = find_place(path);
    if (place)
        return map(place, error);
    error_memory(error);
    return NULL;
}

/* Fills in the handle.  What stays mapped without an entry is found by dlopen() itself. */
static bool open_new(struct entry *entry, int sealed, struct error *error)
{
    entry->object.handle = sealed >= 0 ? map_sealed(sealed, error) : map(entry->place, error);
    if (!entry->object.handle)
        return false;
    if (sealed < 0 && !leads_to(entry->place->path, &entry->object.file))
        return error_set(error, ERROR_PLUGIN, "it was replaced while it was loaded: try again");
    return add_entry(entry) || error_memory(error);
}

/* Not looked at are objects from other paths: a plugin may find its files beside its own. */
static struct entry *find_content(const struct entry *wanted, object_free *is_free, void *context)
{
    struct entry *entry = wanted->place->newest;
    while (entry &&
           !(strcmp(entry->sha256, wanted->sha256) == 0 && is_free(context, &entry->object)))
        entry = entry->older;
    return entry;
}

/* A file that is not mapped yet; takes over `entry`. */
static struct entry *open_unknown(struct entry *entry, int fd, bool is_sealed, object_free *is_free,
                                  void *context, struct error *error)
{
    struct entry *opened = NULL;
    bool ok = !is_free || is_sealed || sealed_hash(fd, entry->sha256, error);
    if (ok && is_free)
        opened = find_content(entry, is_free, context);
    if (ok && !opened && open_new(entry, is_sealed ? fd : -1, error))
        return entry;
    free(entry);
    return opened;
}

/* Whether what was mapped from the file is not the copy that is to be. */
static bool is_another(const struct entry *entry, const char *sha256)
{
    return sha256 && strcmp(entry->sha256, sha256) != 0;
}

const struct object *object_open(const char *path, int fd, const struct file_id *id,
                                 const char *sha256, object_free *is_free, void *context,
                                 struct error *error)
{
    struct entry *entry = find_file(id);
    if (!entry || is_another(entry, sha256)) {
        entry = new_entry(path, id);
        if (entry && sha256)
            snprintf(entry->sha256, sizeof(entry->sha256), "%s", sha256);
        if (entry)
            entry = open_unknown(entry, fd, sha256 != NULL, is_free, context, error);
        else
            error_memory(error);
    } else if (!sha256 && !same_content(&entry->object.file, id)) {
        error_set(error, ERROR_PLUGIN,
                  "it was written to while it is loaded, which can crash this process: put a new "
                  "version beside it, and rename it over this one (mv)");
        entry = NULL;
    }
    return entry ? &entry->object : NULL;
}
