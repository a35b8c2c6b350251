/*
 * sealed - the SHA-256 of a file, and copies of files that nobody can change.
 *
 * Where only known bytes may run, the bytes that were hashed have to be those that are mapped.  A
 * file gives no such promise: it can be written in place after it was read, and even pages that
 * are mapped already follow, because the linker maps the file itself; that it is the same file
 * with the same times proves nothing, for its owner can set them.  So such a file is copied into
 * memory, sealed there, hashed as the copy, and mapped from the copy.  That costs its size in
 * memory, and the linker knows it as /proc/self/fd/N: debuggers do not find its symbols, and
 * $ORIGIN leads nowhere.
 *
 * Thread-safe.
 */
#ifndef PLUGIN_SEALED_H
#define PLUGIN_SEALED_H

#include <stdbool.h>

#include "base/error.h"

#define SHA256_TEXT 65 /* of 64 hexadecimal digits, lower case, with the NUL */

/* Of all of an open file, wherever its position is.  False: it cannot be read, kind plugin. */
bool sealed_hash(int fd, char sha256[SHA256_TEXT], struct error *error);

struct sealed {
    int fd;
    char sha256[SHA256_TEXT];
};

/* A descriptor of a copy of all of an open file, and the copy's SHA-256.  `name` is what
 * /proc/PID/maps calls it.  -1 with *error, kind plugin. */
int sealed_copy(int fd, const char *name, char sha256[SHA256_TEXT], struct error *error);

#endif
