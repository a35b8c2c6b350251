/* replace - a file that several programs change: by one writer at a time, and always as a whole, so
 * that readers need no lock. */
#ifndef BASE_REPLACE_H
#define BASE_REPLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Waits for its turn, some seconds at most; close() gives it back.  The lock is a file beside this
 * one, "FILE.lock", whose folders are made.  -1 with *error: kind config, or no memory. */
int replace_lock(const char *file, struct error *error);

/* Puts these bytes in its place, for the user alone (0600): whole and on the disk before they have
 * the name.  False: "it cannot be written: …", kind config, or no memory; and the file is as it
 * was. */
bool replace_file(const char *file, const char *data, size_t length, struct error *error);

#endif
