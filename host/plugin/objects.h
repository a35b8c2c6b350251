/*
 * objects - the shared objects that this process has mapped, which is for ever.
 *
 * dlopen() takes a path that it has seen for the object that it has, whatever the file is by
 * now, and a file that it has mapped for that object, whatever was written into it.  So what
 * was opened is remembered by its file and by its path: a file that took another one's place is
 * opened under another spelling of its path, and one that was written to is refused.  A reload
 * can ask for the content as well: what was loaded from that path before is not mapped again,
 * so that going to and fro between versions takes no memory.
 *
 * What is in here lives as long as the process.  Every function needs objects_lock().
 */
#ifndef PLUGIN_OBJECTS_H
#define PLUGIN_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"

/* Which file, and which state of it. */
struct file_id {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified; /* its content, as far as its owner admits */
    struct timespec changed;  /* or anything else of it */
};

struct file_id file_id_of(const struct stat *status);

/* Which file, however it looks by now: a key of hash tables, without gaps between its members. */
struct file_key {
    uint64_t device, inode;
};
struct file_key file_key_of(const struct file_id *id);
/* Whether it is one file, and nothing was done to it. */
bool file_id_equal(const struct file_id *a, const struct file_id *b);

/* One at a time in the process: constructors, factories, close() of plugins, and this table.
 * May be taken again by the thread that has it. */
void objects_lock(void);
void objects_unlock(void);

struct object {
    void *handle;
    struct file_id file;
};

/* Whether an object may stand in for a file with the same content. */
typedef bool object_free(void *context, const struct object *object);

/* The object of a file whose path is `path` (with a slash) and which `id` was read from.  `is_free`
 * NULL: its content is not looked at, and it need not be open.  `sha256` (or NULL): `fd` is a copy
 * of it (sealed.h), which is mapped in its place, and need not stay open.  NULL with *error, kind plugin:
 * dlopen()'s reason, or the file changed. */
const struct object *object_open(const char *path, int fd, const struct file_id *id,
                                 const char *sha256, object_free *is_free, void *context,
                                 struct error *error);

/* Whether it was opened from this very file, and that is as it was then but for its names and
 * its permissions. */
bool object_is_of(const struct object *object, const struct file_id *id);

#endif
