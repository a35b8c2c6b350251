/*
 * target - a file that is about to be written: its folder's descriptor, its name there, and what
 * it holds now.
 *
 * The folder is resolved once; everything after that is done in its descriptor, so that renaming
 * folders or links meanwhile moves nothing out of the root.  The file is written under another
 * name and renamed: whoever reads sees the old content or the new one.  From target_open() to
 * target_close() `files->writing` is held.
 */
#ifndef FILES_TARGET_H
#define FILES_TARGET_H

#include "place.h"

struct target {
    const struct place *place;
    int folder;
    char name[NAME_MAX + 1];
    bool exists;
    struct stat status; /* if it exists: … */
    char *data;         /* … what it holds; for target_close() */
    size_t length;
    size_t folders_made;
};

/* Has `change` do its work with the target, which has its `what`, while no other call writes.
 * `make_folders`: those that are missing are made.  Its result, or a failure that has been told. */
typedef mortise_status target_change(struct files *files, mortise_call *call, struct target *target,
                                     const void *what);
mortise_status target_with(struct files *files, mortise_call *call, const char *path,
                           bool make_folders, target_change *change, const void *what);

/* MORTISE_OK if the session has read what the file holds, all of it with `whole`; or a failure that
 * tells what to do. */
mortise_status target_check_seen(struct files *files, mortise_call *call,
                                 const struct target *target, bool whole);

/* Puts the content in its place.  A file that has appeared or changed since target_open() is left
 * alone.  MORTISE_OK, or a failure that has been told. */
mortise_status target_save(struct files *files, mortise_call *call, const struct target *target,
                           const char *data, size_t length);

/* The lines of a text. */
uint64_t target_lines(const char *data, size_t length);

#endif
