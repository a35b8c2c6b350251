/*
 * artifacts - files that a run leaves behind: so far the whole text of results that were too
 * large for the conversation (D12).
 *
 * FOLDER/OWNER/NAME; the owner is a session or a run.  Folders are 0700 and files 0600, made
 * when the first one is saved.  One thread per store.
 */
#ifndef SERVICE_ARTIFACTS_H
#define SERVICE_ARTIFACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

struct artifacts {
    const char *folder; /* outlives the store */
};

/* Writes a new file and sets `path` to where it is.  Owner and name may come from a model or a
 * server: what is no letter, digit, '.', '_' or '-' becomes '_'.  A name that is taken gets a
 * number.  False: nothing is left of it. */
bool artifacts_save(const struct artifacts *store, const char *owner, const char *name,
                    const char *data, size_t length, struct text *path, struct error *error);

#endif
