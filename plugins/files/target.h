/*
 * target - a file that is about to be written: its folder's descriptor, its name there, and what
 * it holds now.
 *
 * The folder is resolved once; everything after that is done in its descriptor, so that renaming
 * folders or links meanwhile moves nothing out of the root.  The file is written under another
 * name and renamed: whoever reads sees the old content or the new one.  The caller holds
 * `files->writing` from target_open() to target_close().
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

/* `make_folders`: those that are missing are made.  MORTISE_OK and target_close() is due, or a
 * failure that has been told. */
mortise_status target_open(mortise_call *call, const struct place *place, bool make_folders,
                           struct target *target);

/* MORTISE_OK if the session has read what the file holds, all of it with `whole`; or a failure that
 * tells what to do. */
mortise_status target_check_seen(struct files *files, mortise_call *call,
                                 const struct target *target, bool whole);

/* Puts the content in its place.  A file that has appeared or changed since target_open() is left
 * alone.  MORTISE_OK, or a failure that has been told. */
mortise_status target_save(struct files *files, mortise_call *call, const struct target *target,
                           const char *data, size_t length);

void target_close(struct target *target);

/* The lines of a text. */
uint64_t target_lines(const char *data, size_t length);

#endif
