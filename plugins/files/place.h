/*
 * place - the way from what a model says to a descriptor: its path below one of the roots, and
 * the errors that say what to do instead.
 *
 * ".." is taken off the text before anything is opened, so "a/../b" is "b" whatever `a` is.
 */
#ifndef FILES_PLACE_H
#define FILES_PLACE_H

#include <limits.h>
#include <sys/stat.h>

#include "files.h"
#include "text.h"

struct place {
    int root;            /* descriptor of the root; for place_close() */
    char path[PATH_MAX]; /* below it; "." is the root itself */
    char shown[2 * PATH_MAX +
               2]; /* as the model may say it: relative in the workspace, else absolute */
    char absolute[2 * PATH_MAX + 2];
    size_t root_length; /* of `absolute`: the root, with a slash; 0: the workspace, which is not
                         * shown */
    bool names_folder;  /* it was written with a / at its end */
};

/* Where `said` is.  MORTISE_OK, and place_close() is due; or a failure that has been told. */
mortise_status place_open(struct files *files, mortise_call *call, const char *said,
                          struct place *place);
void place_close(struct place *place);

/* Appends a path below the place's root as other tools take it: from the workspace, or absolute in
 * another root; in quotes if need be. */
void place_put(const struct place *place, struct text *out, const char *path);

/* Tells why `verb` ("read", "write") cannot be done at the place, from an errno of beneath.h. */
mortise_status place_fail(mortise_call *call, const struct place *place, const char *verb,
                          int error);

/* The whole content of a regular file of at most `most` bytes, with a NUL behind it, for free();
 * NULL with errno (EFBIG: it is larger, also while it grows). */
char *place_load(int fd, const struct stat *status, size_t most, size_t *length);

/* The session's name, never NULL. */
const char *place_session(mortise_call *call);

#endif
