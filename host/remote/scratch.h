/* scratch - folders that calls in a sandbox may write to, and that go with them. */
#ifndef REMOTE_SCRATCH_H
#define REMOTE_SCRATCH_H

#include "base/error.h"

/* A new folder for this user alone, below XDG_RUNTIME_DIR, TMPDIR or /tmp; malloc'ed.  NULL with
 * *error. */
char *scratch_new(struct error *error);
/* The same below a folder of such folders. */
char *scratch_new_in(const char *folder, struct error *error);

/* Removes the folder with all that is in it, however deep and whatever its modes are, and follows no
 * link.  Nobody uses it any more.  False with errno: something is left. */
bool scratch_remove(const char *path);

#endif
