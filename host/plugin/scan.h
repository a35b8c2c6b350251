/*
 * scan - which files in a folder are candidates, in what order, and may they be trusted.
 *
 * Taken: DIR/NAME.so and DIR/NAME/NAME.so, no dotfiles, sorted bytewise.  A folder or file
 * that others can write, or that belongs to neither root nor the user, is refused: so is
 * everything in such a folder.  Looked at is what was opened, never a path once more.  The
 * folders above are not looked at: whoever may rename those can do more than this.
 */
#ifndef PLUGIN_SCAN_H
#define PLUGIN_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "plugin/objects.h"

typedef void scan_found(void *context, const char *path);
typedef void scan_refused(void *context, const char *path, const char *reason);

/* Calls back for each candidate and for each folder that is refused; the candidates
 * themselves are not opened.  A folder that does not exist is no candidate and no refusal
 * when `optional`. */
void scan_folder(const char *folder, bool optional, scan_found *found, scan_refused *refused,
                 void *context);

/* Opens a plugin file for reading, after the checks on the file, and tells which it is (`id` may
 * be NULL).  -1 with *error, kind plugin: no such file, a link to nothing, no regular file, a
 * permission, an owner. */
int scan_open(const char *path, struct file_id *id, struct error *error);

#endif
